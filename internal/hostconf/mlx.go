package hostconf

import (
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/slurm"
	"railyard/internal/swconf"
	"railyard/unit"
)

// mlnxQoS processes a command line of mlnx_qos; its own option parser defines the letters.
func (r *reader) mlnxQoS(w words) {
	var dev string
	opts := options(w, "a h help version")
	for _, o := range opts {
		if o.name == "i" || o.name == "interface" {
			dev = o.value
		}
	}
	if dev == "" {
		r.wrong(w.at, "mlnx_qos", "has no -i DEVICE")
		return
	}
	n := r.net(dev, w.at)
	n.Kind = "mlx5"
	r.out.nic = n
	trust, maps := false, false
	for _, o := range opts {
		trust, maps = trust || o.name == "trust", maps || o.name == "dscp2prio"
		r.mlnxOption(n, o)
	}
	r.sharesOf(n, opts)
	if trust && maps {
		r.wrong(w.at, "mlnx_qos", "takes --trust and --dscp2prio not in one call")
	}
}

// sharesOf checks the shares of a call as the driver does (mlx5e_dbcnl_validate_ets). The shares of all sharing
// classes must add up to 100, if the sharing classes are known.
func (r *reader) sharesOf(n *swconf.HostNIC, opts []option) {
	sum, share := 0, false
	at := swconf.Place{}
	for _, o := range opts {
		if o.name == "t" || o.name == "tcbw" || o.name == "tc_bw" {
			at = o.at
		}
	}
	for i, s := range n.Sched {
		if !s.Is() || s.V == "vendor" || s.V == "ets" && !n.Share[i].Is() {
			return
		}
		if s.V == "ets" {
			sum, share = sum+n.Share[i].V, true
		}
	}
	if at.Line > 0 && share && sum != 100 {
		r.wrong(at, "--tcbw", "gives the classes that share %d %% together; they take 100", sum)
	}
}

func (r *reader) mlnxOption(n *swconf.HostNIC, o option) {
	r.mark(o.at, read)
	if vague(o.value) && o.name != "i" && o.name != "interface" {
		r.unknown(o.at, o.text, "unknown value")
		return
	}
	switch o.name {
	case "i", "interface", "a", "h", "help", "version", "P", "get_pfc":
	case "f", "pfc":
		list(r, n, o, 8, 8, func(i int, s string) bool {
			n.PFC[i] = swconf.Say(s == "1", o.at)
			return s == "0" || s == "1"
		})
	case "F", "specific_pfc":
		list(r, n, o, 8, 8, func(i int, s string) bool {
			if s != "x" {
				n.PFC[i] = swconf.Say(s == "1", o.at)
			}
			return s == "0" || s == "1" || s == "x"
		})
	case "p", "prio_tc":
		list(r, n, o, 1, 8, digits(n.TC[:], 7, o.at))
	case "prio2buffer":
		list(r, n, o, 1, 8, digits(n.Buffer[:], 7, o.at))
	case "s", "tsa":
		list(r, n, o, 1, 8, func(i int, s string) bool {
			n.Sched[i] = swconf.Say(s, o.at)
			return s == "strict" || s == "ets" || s == "vendor"
		})
	case "t", "tcbw", "tc_bw":
		list(r, n, o, 1, 8, func(i int, s string) bool {
			v, err := strconv.Atoi(s)
			n.Share[i] = swconf.Say(v, o.at)
			return err == nil && v >= 0 && v <= 100
		})
	case "r", "ratelimit":
		list(r, n, o, 1, 8, func(i int, s string) bool {
			v, err := strconv.Atoi(s)
			n.Limit[i] = swconf.Say(v, o.at)
			return err == nil && v >= 0 && v <= 1_000_000
		})
	case "buffer_size":
		list(r, n, o, 1, 8, func(i int, s string) bool {
			v, err := strconv.ParseInt(s, 10, 32)
			n.Size[i] = swconf.Say(unit.Bytes(v), o.at)
			return err == nil && v >= 0
		})
	case "cable_len":
		if v, ok := r.within(o.value, 0xffff, "--cable_len", o.at); ok {
			n.Cable = swconf.Say(int(v), o.at)
		}
	case "trust":
		r.trust(n, o.value, o.at)
	case "d", "dcbx":
		if o.value != "get" {
			n.DCBX = swconf.Say(o.value, o.at)
			if o.value != "os" && o.value != "fw" {
				r.wrong(o.at, "--dcbx", "is %s; it takes os, fw or get", field.Quote(o.value))
			}
		}
	case "dscp2prio":
		r.dscp2prio(n, o)
	default:
		r.unknown(o.at, o.text, "no option of mlnx_qos")
	}
}

// digits sets values up to a limit.
func digits(to []swconf.Said[uint8], most int, at swconf.Place) func(int, string) bool {
	return func(i int, s string) bool {
		v, err := strconv.Atoi(s)
		to[i] = swconf.Say(uint8(v), at)
		return err == nil && v >= 0 && v <= most
	}
}

// list parses values separated by commas. An invalid value makes all values invalid, because the tool then does
// nothing.
func list(r *reader, n *swconf.HostNIC, o option, least, most int, set func(i int, s string) bool) {
	was := *n
	parts := strings.Split(o.value, ",")
	if len(parts) < least || len(parts) > most {
		r.wrong(o.at, "--"+o.name, "has %d values; it takes %d", len(parts), most)
		return
	}
	for i, s := range parts {
		if !set(i, strings.TrimSpace(s)) {
			*n = was
			r.wrong(o.at, "--"+o.name, "has %s, which it does not take", field.Quote(s))
			return
		}
	}
}

// dscp2prio maps a DSCP to a priority: set,30,2, del,30,2 or flush. The first map makes a NIC trust DSCPs
// (the driver's APP table, which mlnx_qos shows as trust).
func (r *reader) dscp2prio(n *swconf.HostNIC, o option) {
	if o.value == "flush" {
		n.DSCP = [64]swconf.Said[uint8]{}
		n.Trust = swconf.Say("pcp", o.at)
		return
	}
	parts := strings.Split(o.value, ",")
	if len(parts) != 3 || parts[0] != "set" && parts[0] != "del" {
		r.wrong(o.at, "--dscp2prio", "is %s; it takes set,DSCP,PRIORITY, del,DSCP,PRIORITY or flush",
			field.Quote(o.value))
		return
	}
	d, err := strconv.Atoi(strings.TrimSpace(parts[1]))
	p, err2 := strconv.Atoi(strings.TrimSpace(parts[2]))
	if err != nil || err2 != nil || d < 0 || d > 63 || p < 0 || p > 7 {
		r.wrong(o.at, "--dscp2prio", "is %s; DSCPs are 0 to 63, priorities 0 to 7", field.Quote(o.value))
		return
	}
	if parts[0] == "del" {
		p = 0
	}
	n.DSCP[d] = swconf.Say(uint8(p), o.at)
	if !n.Trust.Is() {
		n.Trust = swconf.Say("dscp", o.at)
	}
}

// cmaToS takes a command line of cma_roce_tos.
func (r *reader) cmaToS(w words) {
	dev, named := "mlx5_0", false // the tool's own default
	for _, o := range options(w, "h") {
		switch o.name {
		case "d", "t":
			if named = true; o.name == "d" {
				dev = o.value
			}
		case "p", "h":
		default:
			r.unknown(o.at, o.text, "no option of cma_roce_tos")
		}
	}
	if !named { // whether the tool is installed
		r.mark(w.at, passed)
		return
	}
	n := r.rdma(dev, w.at)
	r.out.nic, r.out.answers = n, []string{"/sys/kernel/config/rdma_cm/" + dev + "/ports/1/default_roce_tos"}
	for _, o := range options(w, "h") {
		if o.name == "t" {
			r.write("/sys/kernel/config/rdma_cm/"+dev+"/ports/1/default_roce_tos", o.value, o.at)
		}
	}
	r.mark(w.at, read)
}

// cmaMode takes a command line of cma_roce_mode.
func (r *reader) cmaMode(w words) {
	dev, mode := "mlx5_0", option{}
	for _, o := range options(w, "h") {
		switch o.name {
		case "d":
			dev = o.value
		case "m":
			mode = o
		}
	}
	n := r.rdma(dev, w.at)
	r.out.answers = []string{"/sys/kernel/config/rdma_cm/" + dev + "/ports/1/default_roce_mode"}
	r.mark(w.at, read)
	if mode.value != "" {
		r.roceMode(n, mode.value, mode.at)
	}
}

// mlxconfig takes settings of firmware: -d DEVICE set NAME=VALUE ... They take effect at the next reset.
func (r *reader) mlxconfig(w words) {
	dev, set := swconf.Every, false
	for _, o := range options(w, "y yes e b") {
		switch {
		case o.name == "d" || o.name == "dev":
			dev = o.value
		case o.name == "" && (o.text == "set" || o.text == "s"):
			set = true
		case o.name == "" && set:
			name, value, _ := strings.Cut(o.text, "=")
			r.firmware(r.mst(dev, w.at), name, value, o.at)
		}
	}
	r.mark(w.at, passed)
}

// mst returns the NIC of a device in the notation of Mellanox's firmware tools: an RDMA device, or one identified only
// by PCI numbers, which applies to all.
func (r *reader) mst(dev string, at swconf.Place) *swconf.HostNIC {
	if !strings.HasPrefix(dev, "mlx5_") {
		dev = swconf.Every
	}
	n := r.rdma(dev, at)
	n.Kind = "mlx5"
	return n
}

// firmware takes a setting of firmware: RPG_AI_RATE_P1, CNP_DSCP_P1, ROCE_CC_PRIO_MASK_P1.
func (r *reader) firmware(n *swconf.HostNIC, name, value string, at swconf.Place) {
	port := strings.TrimSuffix(name, "_P1")
	if port == name {
		if strings.HasSuffix(name, "_P2") || !strings.HasPrefix(name, "ROCE_") {
			r.mark(at, passed) // another port's, or not congestion control
			return
		}
	}
	low := strings.ToLower(port)
	switch {
	case port == "ROCE_CC_PRIO_MASK":
		v, ok := r.within(value, 255, name, at)
		for i := range n.NP {
			if ok {
				n.NP[i] = swconf.Say(v>>i&1 == 1, at)
				n.RP[i] = n.NP[i]
			}
		}
	case port == "ROCE_CC_ALGORITHM":
		if v, _, _ := strings.Cut(value, "("); v != "ECN" && v != "0" {
			r.unknown(at, name+"="+value, "congestion control by %s is not considered", field.Clip(v))
			return
		}
	case port == "LLDP_NB_DCBX" || strings.HasPrefix(port, "LLDP_") || strings.HasPrefix(port, "DCBX_") ||
		strings.HasPrefix(port, "KEEP_") || strings.HasPrefix(port, "ROCE_RTT") || port == "ROCE_CONTROL":
		r.mark(at, passed)
		return
	case low == "cnp_dscp" || low == "cnp_802p_prio" || low == "min_time_between_cnps":
		r.cc(n, true, low, value, at)
	case strings.Contains(port, "LOSSLESS") || strings.Contains(port, "PFC"):
		r.unknown(at, name+"="+slurm.Open(value), "unknown setting of firmware: PFC is set with mlnx_qos or dcb")
		return
	case paramNamed(low) != nil:
		r.cc(n, false, low, value, at)
	default:
		r.mark(at, passed)
		return
	}
	r.mark(at, read)
}

// mlxreg processes a register that is set: QPTS has the trust state.
func (r *reader) mlxreg(w words) {
	dev, reg, set := swconf.Every, "", option{}
	for _, o := range options(w, "y yes") {
		switch o.name {
		case "d", "device":
			dev = o.value
		case "reg_name":
			reg = strings.ToUpper(o.value)
		case "set", "s":
			set = o
		}
	}
	r.mark(w.at, passed)
	if set.value == "" {
		return
	}
	n := r.mst(dev, w.at)
	for _, f := range strings.Split(set.value, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(f), "=")
		switch {
		case reg == "QPTS" && name == "trust_state": // 1: PCP, 2: DSCP
			n.Trust = swconf.Say(map[bool]string{true: "dscp", false: "pcp"}[value == "2" || value == "0x2"], set.at)
			r.mark(w.at, read)
		case reg == "QPTS" && name == "local_port":
		case reg == "ROCE_ACCL" && strings.HasSuffix(name, "_en"):
			r.mark(w.at, read)
			r.assume("%s:%d: %s=%s is not simulated", set.at.File, set.at.Line, name, slurm.Open(value))
		default:
			r.unknown(set.at, reg+" "+f, "unknown register")
		}
	}
}
