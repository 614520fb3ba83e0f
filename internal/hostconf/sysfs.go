package hostconf

import (
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/slurm"
	"railyard/internal/swconf"
	"railyard/unit"
)

// sysPath reports whether a path is below a directory of /sys that has to do with NICs.
func sysPath(p string) bool {
	for _, head := range []string{"/sys/class/net/", "/sys/class/infiniband/", "/sys/kernel/config/",
		"/sys/kernel/debug/bnxt_re/", "/sys/kernel/debug/mlx5/", "/sys/devices/"} {
		if strings.HasPrefix(p, head) {
			return true
		}
	}
	return false
}

// write processes the content written to a file of /sys.
func (r *reader) write(p, value string, at swconf.Place) {
	parts := strings.Split(strings.Trim(p, "/"), "/")
	r.mark(at, read)
	switch {
	case vague(value):
		r.unknown(at, slurm.Open(p), "unknown value: %s", slurm.Open(value))
		return
	case len(parts) > 3 && strings.HasPrefix(p, "/sys/class/net/"):
		r.netFile(r.net(parts[3], at), parts[4:], value, at)
		return
	case len(parts) > 3 && strings.HasPrefix(p, "/sys/class/infiniband/"):
		r.rdmaFile(r.rdma(parts[3], at), parts[4:], value, at)
		return
	case len(parts) > 4 && strings.HasPrefix(p, "/sys/kernel/config/rdma_cm/"):
		r.cmFile(r.rdma(parts[4], at), last(parts), value, at)
		return
	case len(parts) > 4 && strings.HasPrefix(p, "/sys/kernel/config/bnxt_re/"):
		r.bnxtFile(r.rdma(parts[4], at), last(parts), value, at)
		return
	}
	if i := slices.Index(parts, "cc_params"); i > 0 && i+2 == len(parts) {
		r.debugFile(r.mst(swconf.Every, at), parts[i-1], last(parts), value, at)
		return
	}
	if i := slices.Index(parts, "net"); i >= 0 && i+2 < len(parts) { // /sys/devices/.../net/eth0/ecn/...
		r.netFile(r.net(parts[i+1], at), parts[i+2:], value, at)
		return
	}
	r.unknown(at, slurm.Open(p), "unknown setting of a NIC")
}

func last(parts []string) string { return parts[len(parts)-1] }

// netFile takes a file of a network device: ecn/roce_np/enable/3, ecn/roce_rp/rpg_ai_rate, mtu, qos/trust.
func (r *reader) netFile(n *swconf.HostNIC, parts []string, value string, at swconf.Place) {
	if len(parts) == 0 {
		return
	}
	what := strings.Join(parts, "/")
	switch {
	case len(parts) == 4 && parts[0] == "ecn" && parts[2] == "enable":
		n.Kind = "mlx5"
		r.enable(n, parts[1], parts[3], value, at)
	case len(parts) == 3 && parts[0] == "ecn" && (parts[1] == "roce_np" || parts[1] == "roce_rp"):
		n.Kind = "mlx5"
		r.cc(n, parts[1] == "roce_np", parts[2], value, at)
	case what == "mtu":
		r.mtu(n, value, at)
	case what == "qos/trust":
		r.trust(n, value, at)
	case what == "qos/pfc" && len(value) > 0: // mlx4: a mask
		r.mask(n, value, at)
	case what == "qos/buffer_size" || what == "qos/prio2buffer":
		r.mlnxOption(n, option{name: parts[1], value: value, at: at, text: what})
	case what == "settings/force_local_lb_disable", what == "address", what == "operstate", what == "speed",
		what == "device/vendor", parts[0] == "queues", what == "flags", what == "carrier",
		parts[0] == "statistics",
		what == "ifindex", what == "ifalias", what == "duplex", what == "tx_queue_len", parts[0] == "device":
		r.set(at, passed)
	default:
		r.unknown(at, what, "unknown setting of a network device")
	}
}

// debugFile processes a parameter of congestion control below debugfs (drivers/infiniband/hw/mlx5/cong.c), of a NIC
// identified by its PCI address.
func (r *reader) debugFile(n *swconf.HostNIC, pci, name, value string, at swconf.Place) {
	r.assume("no file names the NIC at %s: its settings apply to every NIC", slurm.Open(pci))
	short, np := strings.CutPrefix(name, "np_")
	short = strings.TrimPrefix(short, "rp_")
	switch {
	case name == "cc_enable": // both halves, all priorities
		for _, half := range []string{"roce_np", "roce_rp"} {
			r.enable(n, half, "*", value, at)
		}
	case name == "np_cnp_prio":
		r.cc(n, true, "cnp_802p_prio", value, at)
	case name == "np_cnp_prio_mode" || name == "rtt_resp_dscp":
		r.set(at, passed)
	case name == "rp_clamp_tgt_rate_ati":
		r.cc(n, false, "clamp_tgt_rate_after_time_inc", value, at)
	case !np && paramNamed("rpg_"+short) != nil:
		r.cc(n, false, "rpg_"+short, value, at)
	default:
		r.cc(n, np, short, value, at)
	}
}

// enable turns half of congestion control on for a priority.
func (r *reader) enable(n *swconf.HostNIC, half, prio, value string, at swconf.Place) {
	on, ok := yes(value)
	if !ok {
		r.wrong(at, half+"/enable/"+prio, "is %s; it takes 0 or 1", field.Quote(value))
		return
	}
	to := &n.NP
	if half == "roce_rp" {
		to = &n.RP
	}
	if i, err := strconv.Atoi(prio); err == nil && i >= 0 && i < 8 {
		to[i] = swconf.Say(on, at)
		return
	}
	if !vague(prio) && prio != "*" {
		r.wrong(at, half+"/enable/"+slurm.Open(prio), "is not a priority; they are 0 to 7")
		return
	}
	for i := range to {
		to[i] = swconf.Say(on, at)
	}
}

// yes reads 0 and 1, as numbers in any form and as words.
func yes(s string) (on, ok bool) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "1", "0x1", "on", "yes", "enable", "enabled", "true", "true(1)", "y":
		return true, true
	case "0", "0x0", "off", "no", "disable", "disabled", "false", "false(0)", "n":
		return false, true
	}
	return false, false
}

// cc takes a parameter of congestion control.
func (r *reader) cc(n *swconf.HostNIC, np bool, name, value string, at swconf.Place) {
	switch {
	case np && name == "cnp_dscp":
		if v, ok := r.small(value, 63, "cnp_dscp", at); ok {
			n.CNPDSCP = swconf.Say(v, at)
		}
	case np && name == "cnp_802p_prio":
		if v, ok := r.small(value, 7, "cnp_802p_prio", at); ok {
			n.CNPPrio = swconf.Say(v, at)
		}
	default:
		p := paramNamed(name)
		if p == nil || p.np != np {
			r.unknown(at, name, "unknown parameter of DCQCN")
			return
		}
		if v, ok := r.within(value, p.most, name, at); ok {
			n.SetParam(name, v, at)
		}
	}
}

// within is a number from 0 to most.
func (r *reader) within(value string, most int64, what string, at swconf.Place) (int64, bool) {
	s := strings.TrimSpace(value)
	if i := strings.IndexByte(s, '('); i > 0 && strings.HasSuffix(s, ")") { // True(1)
		s = s[i+1 : len(s)-1]
	}
	v, err := strconv.ParseInt(s, 0, 64)
	if err != nil || v < 0 || v > most {
		r.wrong(at, what, "is %s; it takes 0 to %d", field.Quote(value), most)
		return 0, false
	}
	return v, true
}

func (r *reader) small(value string, most int64, what string, at swconf.Place) (uint8, bool) {
	v, ok := r.within(value, most, what, at)
	return uint8(v), ok
}

// mtu is a network device's.
func (r *reader) mtu(n *swconf.HostNIC, value string, at swconf.Place) {
	if v, ok := r.within(value, 65536, "mtu", at); ok {
		n.MTU = swconf.Say(unit.Bytes(v), at)
	}
}

// trust reads which field decides priorities.
func (r *reader) trust(n *swconf.HostNIC, value string, at swconf.Place) {
	switch v := strings.ToLower(value); v {
	case "dscp", "pcp":
		n.Trust = swconf.Say(v, at)
	default:
		r.wrong(at, "trust", "is %s; it takes dscp or pcp", field.Quote(value))
	}
}

// mask turns PFC on for a set of priorities.
func (r *reader) mask(n *swconf.HostNIC, value string, at swconf.Place) {
	if v, ok := r.within(value, 255, "the mask of PFC priorities", at); ok {
		for i := range n.PFC {
			n.PFC[i] = swconf.Say(v>>i&1 == 1, at)
		}
	}
}

// rdmaFile takes a file of an RDMA device: tc/1/traffic_class.
func (r *reader) rdmaFile(n *swconf.HostNIC, parts []string, value string, at swconf.Place) {
	what := strings.Join(parts, "/")
	switch {
	case len(parts) == 3 && parts[0] == "tc" && parts[2] == "traffic_class":
		value = strings.TrimPrefix(value, "Global tclass=")
		value, more, filtered := strings.Cut(strings.TrimPrefix(value, "tclass="), ",")
		if filtered {
			r.unknown(at, what, "a traffic class for some addresses only (%s) is not considered", field.Clip(more))
			return
		}
		if v, ok := r.small(value, 255, "traffic_class", at); ok {
			n.Class = swconf.Say(v, at)
		}
	case len(parts) == 5 && parts[0] == "ports" && parts[3] == "types": // gid_attrs/types/3: RoCE v2
		if i, err := strconv.Atoi(parts[4]); err == nil {
			n.GIDs = append(n.GIDs, swconf.Say(swconf.HostGID{Index: i, V2: strings.Contains(value, "v2")}, at))
		}
	case len(parts) == 5 && parts[3] == "ndevs":
		r.pairs[n.RDMA] = value
	case len(parts) > 3 && (parts[2] == "hw_counters" || parts[2] == "counters"), len(parts) > 0 && parts[0] != "tc":
		r.set(at, passed)
	default:
		r.unknown(at, what, "unknown setting of an RDMA device")
	}
}

// cmFile takes a file of rdma_cm: default_roce_tos, default_roce_mode.
func (r *reader) cmFile(n *swconf.HostNIC, name, value string, at swconf.Place) {
	switch name {
	case "default_roce_tos":
		if v, ok := r.small(value, 255, name, at); ok {
			n.ToS = swconf.Say(v, at)
		}
	case "default_roce_mode":
		r.roceMode(n, value, at)
	default:
		r.unknown(at, name, "unknown setting of rdma_cm")
	}
}

// roceMode is the version that rdma_cm connects with.
func (r *reader) roceMode(n *swconf.HostNIC, value string, at swconf.Place) {
	switch strings.ToLower(strings.ReplaceAll(value, " ", "")) {
	case "rocev2", "2":
		n.Mode = swconf.Say("RoCE v2", at)
	case "rocev1", "ib/rocev1", "1":
		n.Mode = swconf.Say("RoCE v1", at)
	default:
		r.wrong(at, "default_roce_mode", "is %s; it takes RoCE v1 or RoCE v2", field.Quote(value))
	}
}
