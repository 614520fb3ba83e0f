package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/swconf"
	"railyard/unit"
)

// entered is the place at which the commands of a language are entered.
var entered = map[swconf.OS]string{swconf.NXOS: "configure terminal", swconf.EOS: "configure",
	swconf.Dell: "configure terminal", swconf.FRR: "vtysh, configure terminal",
	swconf.SONiC: "in the shell; those of BGP in vtysh, configure terminal",
	swconf.NVUE:  "in the shell, then nv config apply", swconf.Junos: "configure, then commit"}

// Commands prints the commands that fix findings, file by file. Findings are comments of the file's language, and
// the remedies of those without commands. A command that fixes several findings is printed once.
func Commands(w io.Writer, list []swconf.Finding, configs []*swconf.Config) {
	of := map[string]swconf.OS{}
	for _, c := range configs {
		of[c.File] = c.OS
		if c.BGP != nil && of[c.BGP.ASN.At.File] == "" {
			of[c.BGP.ASN.At.File] = swconf.FRR
		}
	}
	file, mark, known, seen := "", "#", 0, map[string]bool{}
	for i := range list {
		f := &list[i]
		mark = "!"
		if os := of[f.File]; !slices.Contains([]swconf.OS{swconf.NXOS, swconf.EOS, swconf.Dell, swconf.FRR}, os) {
			mark = "#"
		}
		if f.File != file {
			if file != "" {
				fmt.Fprintln(w)
			}
			file = f.File
			clear(seen)
			fmt.Fprintf(w, "%s %s", mark, f.File)
			if where := entered[of[f.File]]; where != "" {
				fmt.Fprintf(w, " (%s)", where)
			}
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s line %d: %s[%s]: %s\n", mark, f.Line, severities[f.Severity].name, f.Rule, f.Message)
		lines := strings.Join(f.Commands, "\n")
		switch {
		case lines == "":
			fmt.Fprintf(w, "%s no commands: %s; remedy: %s\n", mark, without(f.Rule), f.Fix)
			continue
		case seen[lines]:
			fmt.Fprintf(w, "%s commands above\n", mark)
		default:
			fmt.Fprintln(w, lines)
		}
		seen[lines], known = true, known+1
	}
	if len(list) > 0 {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s commands for %d of %s\n", mark, known, unit.Plural(len(list), "finding"))
}

// Rules whose findings without commands are not for the switch's operator alone to decide. They concern two
// switches, either of which may be wrong, or have commands in other languages or for other lines.
var (
	ofTwo = []string{"autoneg-differs", "bgp-as-mismatch", "bgp-duplicate", "address-duplicate", "channel-ends",
		"dscp-differs", "evpn-pair", "fec-differs", "link-subnet", "mlag", "mtu-differs", "pfc-deadlock",
		"pfc-mode-differs", "pfc-one-end", "host-differs", "host-fec", "host-mtu", "host-pfc-differs",
		"host-priority"}
	written = []string{"bgp-inactive", "bgp-no-multipath", "bgp-policy", "bgp-relax", "bgp-unnumbered",
		"cnp-not-strict", "ecn-missing", "lldp-off", "mtu-small", "pfc-interface", "port-down", "speed-differs",
		"watchdog-missing", "wred-average"}
)

// without is the reason why a finding has no commands.
func without(rule string) string {
	switch {
	case slices.Contains(ofTwo, rule):
		return "the change may be another switch's"
	case slices.Contains(written, rule):
		return "unknown for this line"
	}
	return "a decision"
}
