package hostconf

import (
	"regexp"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
)

// marks are phrases of configurations of a host's NICs.
var marks = []string{"mlnx_qos ", "cma_roce_tos", "cma_roce_mode", "/ecn/roce_np", "/ecn/roce_rp",
	"NCCL_IB_", "UCX_IB_", "NVSHMEM_IB_", "MORI_RDMA_", "roceOptimized:", "cc_params/", "/qos/",
	"ethernets:\n", "Pause parameters for", "FEC parameters for", "ethtool --set-fec", "lldptool\t",
	"/tc/1/traffic_class", "nicctl ", "bnxt_setupcc", "bnxtqos", "niccli ", "lldptool ", "dcb pfc",
	"dcb app",
	"dcb ets", "config/bnxt_re/", "config/rdma_cm", "Priority trust state:", "hca_id:", "active_mtu:",
	"prio-pfc ",
	"Classification type", "DCQCN profile id", "IEEE 8021QAZ", " ==> ", "netdev ", "NCCL_CROSS_NIC",
	"ROCE_CC_PRIO_MASK", "RPG_AI_RATE", "mlxconfig ", "mlxreg ", "ip link set", "GID\t", "show_gids",
	"\tv2\t", "ibdev2netdev"}

// outputs are beginnings of lines that tools print and no script has.
var outputs = regexp.MustCompile(`(?m)^\s*(?:Priority trust state: \w|DCBX mode: |PFC configuration:\s*$|` +
	`hca_id:\s|active_mtu:\s|prio-pfc 0:|dscp-prio \S+:\d|Classification type\s+:|ROCE device\s+:|` +
	`IEEE 8021QAZ |` +
	`\w+ port \d+ ==> |link \w+/\d+ state|GID\[\s*\d+\]:|DEV\tPORT|` +
	`(?:Pause|FEC) parameters for |Port buffer size = |Priority Buffer\s*$|PFC TLV\s*$|` +
	`\w+\t\d+\t\d+\t[0-9a-f]{4}:|/?sys/\S+:\d|[A-Z][A-Z_]+_P[12]\s+\S|` +
	`\d+: [\w.@-]+: <|Static hostname:)`)

// Looks counts the phrases of a host's configuration in a text; 0: it is none.
func Looks(text string) int { return swconf.Searched(text).Score(marks...) }

// kind detects the kind of a text: a script (or a file of variables), a tool's output, or neither.
func kind(text string) string {
	first := ""
	for line := range strings.Lines(text) { // a script may write a unit
		if s := strings.TrimSpace(line); s != "" && s[0] != '#' && s[0] != ';' {
			first = line
			break
		}
	}
	switch {
	case strings.HasPrefix(text, "#!"):
		return "script"
	case unitLike.MatchString(first):
		return "unit"
	case udevLike.MatchString(text):
		return "udev"
	case manifestLike.MatchString(text):
		return "manifest"
	case outputs.MatchString(text):
		return "output"
	case Looks(text) > 0:
		return "script"
	}
	return ""
}

// ofSwitch are lines of switches' configurations that hosts' do not have.
var ofSwitch = regexp.MustCompile(`(?m)^\s*(?:interface \S|router bgp|class-map |policy-map |vlan \d|` +
	`nv set |set class-of)`)

// labelled is a containerlab topology, whose nodes may be Linux hosts that run ip link.
var labelled = regexp.MustCompile(
	`(?m)^topology:\s*(?:#.*)?\n(?:\s*(?:#.*)?\n)*\s+(?:nodes|links|kinds|defaults|groups):`)

// telling is the number of bytes from which the kind of a file is recognized.
const telling = 256 << 10

// Is reports whether a text is a host's, for texts that could be a switch's as well.
func Is(text []byte) bool {
	s := string(cli.Decode(text[:min(len(text), telling)&^1]))
	return !strings.HasPrefix(strings.TrimSpace(s), "{") && Looks(s) > 0 && !ofSwitch.MatchString(s) &&
		!labelled.MatchString(s) && !cli.Document(s)
}
