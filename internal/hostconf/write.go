package hostconf

import (
	"fmt"
	"strings"

	"railyard/internal/swconf"
)

// Text is a file to be written.
type Text struct{ Path, Text string }

// Write writes the files of a host from Make: a script for its NICs, and NCCL's variables.
func Write(h *swconf.Host) []Text {
	var b strings.Builder
	kind := ""
	if len(h.NICs) > 0 {
		kind = h.NICs[0].Kind
	}
	fmt.Fprintf(&b, "#!/bin/bash\n# %s: its NICs' half of the fabric (%s). What is set here is lost at a reboot.\n",
		h.Name(), titles[kind])
	fmt.Fprintf(&b, "# NICs are called as systems call them; ibdev2netdev and rdma link print their names.\nset -e\n\n")
	if len(h.NICs) > 0 {
		n := h.NICs[0]
		switch kind {
		case "bnxt":
			broadcom(&b, n)
		case "ionic":
			pensando(&b, n)
		default:
			connectX(&b, n)
		}
		for _, n := range h.NICs {
			fmt.Fprintf(&b, "set_nic %s %s\n", n.Dev, n.RDMA)
		}
	}
	var env strings.Builder
	fmt.Fprint(&env, "# NCCL's variables (/etc/nccl.conf, or the job's environment)\n")
	for _, v := range h.Env {
		fmt.Fprintf(&env, "%s=%s\n", v.Name, v.Value)
	}
	return []Text{{h.Name() + ".sh", b.String()}, {h.Name() + ".nccl.conf", env.String()}}
}

// titles are the kinds' names.
var titles = map[string]string{"mlx5": "NVIDIA ConnectX", "bnxt": "Broadcom Thor", "ionic": "AMD Pensando Pollara"}

// begin opens the function that sets a NIC.
func begin(b *strings.Builder, n *swconf.HostNIC) func(format string, args ...any) {
	line := func(format string, args ...any) { fmt.Fprintf(b, "  "+format+"\n", args...) }
	fmt.Fprintln(b, "set_nic() { # network device, RDMA device")
	line(`ip link set dev "$1" mtu %d`, int64(n.MTU.V))
	return line
}

// bools are 0,0,0,1,0,0,0,0.
func bools(list [8]swconf.Said[bool]) string {
	var s []string
	for _, v := range list {
		s = append(s, map[bool]string{true: "1", false: "0"}[v.V])
	}
	return strings.Join(s, ",")
}

func connectX(b *strings.Builder, n *swconf.HostNIC) {
	line := begin(b, n)
	line(`ethtool -A "$1" rx off tx off || true # "not modified" is not a failure`)
	line(`mlnx_qos -i "$1" --trust %s`, n.Trust.V)
	line(`mlnx_qos -i "$1" --pfc %s`, bools(n.PFC))
	for d, p := range n.DSCP {
		if p.Is() {
			line(`mlnx_qos -i "$1" --dscp2prio set,%d,%d`, d, p.V)
		}
	}
	line(`cma_roce_mode -d "$2" -p 1 -m 2`)
	line(`cma_roce_tos -d "$2" -t %d`, n.ToS.V)
	line(`echo %d > "/sys/class/infiniband/$2/tc/1/traffic_class"`, n.Class.V)
	ecn := func(half, file string, v int64) { line(`echo %d > "/sys/class/net/$1/ecn/%s/%s"`, v, half, file) }
	for i := range 8 {
		if n.NP[i].Is() {
			ecn("roce_np", fmt.Sprintf("enable/%d", i), int64(bit(n.NP[i].V)))
		}
		if n.RP[i].Is() {
			ecn("roce_rp", fmt.Sprintf("enable/%d", i), int64(bit(n.RP[i].V)))
		}
	}
	ecn("roce_np", "cnp_dscp", int64(n.CNPDSCP.V))
	ecn("roce_np", "cnp_802p_prio", int64(n.CNPPrio.V))
	for _, p := range n.Params {
		half := "roce_rp"
		if paramNamed(p.Name).np {
			half = "roce_np"
		}
		ecn(half, p.Name, p.V)
	}
	fmt.Fprint(b, "}\n\n")
}

func bit(v bool) int {
	if v {
		return 1
	}
	return 0
}

func broadcom(b *strings.Builder, n *swconf.HostNIC) {
	line := begin(b, n)
	mask, _, _ := n.Paused()
	mode := 3
	if mask == 0 {
		mode = 2
	}
	line(`bnxt_setupcc.sh -d "$2" -i "$1" -m %d -s %d -p %d -r %d -c %d -C 1`, mode, n.Data.V,
		n.CNPDSCP.V, n.Prio.V,
		n.CNPPrio.V)
	fmt.Fprint(b, "}\n\n")
}

func pensando(b *strings.Builder, n *swconf.HostNIC) {
	fmt.Fprintln(b, "nicctl update port --all --pause-type pfc --rx-pause enable --tx-pause enable")
	fmt.Fprintln(b, "nicctl update qos --classification-type dscp")
	fmt.Fprintln(b, "nicctl update qos dscp-to-priority --dscp 0-63 --priority 0")
	for d, p := range n.DSCP {
		if p.V != 0 {
			fmt.Fprintf(b, "nicctl update qos dscp-to-priority --dscp %d --priority %d\n", d, p.V)
		}
	}
	for i, p := range n.PFC {
		fmt.Fprintf(b, "nicctl update qos pfc --priority %d --no-drop %s\n", i,
			map[bool]string{true: "enable", false: "disable"}[p.V])
	}
	var prios, shares, limits []string
	for i := range n.TC {
		if n.TC[i].Is() {
			prios = append(prios, fmt.Sprint(i))
			shares = append(shares, fmt.Sprint(n.Share[i].V))
			limits = append(limits, fmt.Sprint(n.Limit[i].V))
		}
	}
	fmt.Fprintf(b, "nicctl update qos scheduling --priority %s --dwrr %s --rate-limit %s\n\n",
		strings.Join(prios, ","), strings.Join(shares, ","), strings.Join(limits, ","))
	line := begin(b, n)
	line(`nicctl update dcqcn -r "$2" -i 1 --cnp-dscp %d`, n.CNPDSCP.V)
	fmt.Fprint(b, "}\n\n")
}
