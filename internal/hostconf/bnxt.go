package hostconf

import (
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/slurm"
	"railyard/internal/swconf"
)

// setupCC processes a command line of Broadcom's bnxt_setupcc.sh as the script does: one class for RoCE and one for the
// rest, PFC for the first, ECN (its version 236.1.155.0).
func (r *reader) setupCC(w words) {
	by := map[byte]option{}
	var devs []string
	for i := 0; i < len(w.all); i++ {
		t := w.text(i)
		if len(t) < 2 || t[0] != '-' {
			r.unknown(w.at, "bnxt_setupcc.sh "+slurm.Open(t), "no option of bnxt_setupcc.sh")
			return
		}
		o := option{value: t[2:], at: place(w.all[i].At), text: t}
		if o.value == "" {
			i++
			o.value = w.text(i)
		}
		if t[1] == 'i' {
			devs = append(devs, o.value)
			continue
		}
		if !strings.ContainsRune("rscpdvCmbtu", rune(t[1])) {
			r.unknown(o.at, t, "no option of bnxt_setupcc.sh")
		}
		if vague(o.value) && t[1] != 'd' {
			r.unknown(o.at, t+" "+slurm.Open(o.value), "unknown value")
			return
		}
		by[t[1]] = o
	}
	if len(devs) == 0 || by['r'].value == "" {
		r.wrong(w.at, "bnxt_setupcc.sh", "takes -i DEVICE and -r PRIORITY")
		return
	}
	r.mark(w.at, read)
	for _, dev := range devs {
		n := r.net(dev, w.at)
		n.Kind = "bnxt"
		if d := by['d'].value; d != "" && wild(d) != swconf.Every && wild(dev) != swconf.Every {
			r.pairs[d] = dev
		}
		r.setUp(n, by, w.at)
	}
}

// setUp applies the script's options.
func (r *reader) setUp(n *swconf.HostNIC, by map[byte]option, at swconf.Place) {
	refused := false
	number := func(letter byte, most int64) (uint8, bool) {
		o, ok := by[letter]
		if !ok {
			return 0, false
		}
		v, ok := r.small(o.value, most, "-"+string(letter), o.at)
		refused = refused || !ok
		return v, ok
	}
	prio, _ := number('r', 7)
	dscp, marked := number('s', 63)
	cnpPrio, cp := number('c', 7)
	cnp, cd := number('p', 63)
	if refused {
		return
	}
	pfc, cc := by['m'].value != "2", by['m'].value != "1"
	n.Trust = swconf.Say("dscp", at)
	if by['v'].value == "1" {
		n.Trust = swconf.Say("pcp", at)
	}
	n.Prio = swconf.Say(prio, at)
	for i := range n.PFC {
		n.PFC[i] = swconf.Say(pfc && i == int(prio), at)
		n.TC[i] = swconf.Say(uint8(0), at)
	}
	share := 50
	if o, ok := by['b']; ok {
		v, err := strconv.Atoi(o.value)
		if err != nil || v < 1 || v > 99 {
			r.wrong(o.at, "-b", "is %s; it takes 1 to 99", field.Quote(o.value))
			return
		}
		share = v
	}
	n.TC[prio] = swconf.Say(uint8(1), at)
	n.Sched[0], n.Sched[1] = swconf.Say("ets", at), swconf.Say("ets", at)
	n.Share[0], n.Share[1] = swconf.Say(100-share, at), swconf.Say(share, at)
	if marked {
		n.Data, n.DSCP[dscp] = swconf.Say(dscp, at), swconf.Say(prio, at)
		n.ToS = swconf.Say(dscp<<2, at)
	}
	if cp {
		n.CNPPrio = swconf.Say(cnpPrio, at)
		if by['C'].value == "1" && cc {
			n.TC[cnpPrio], n.Sched[2] = swconf.Say(uint8(2), at), swconf.Say("strict", at)
		}
	}
	if cd {
		n.CNPDSCP = swconf.Say(cnp, at)
		if cp {
			n.DSCP[cnp] = swconf.Say(cnpPrio, at)
		}
	}
	n.CC, n.Marking = swconf.Say(cc, at), swconf.Say(cc, at)
	n.Pause = swconf.Say(false, at) // ethtool -A
	n.Mode = swconf.Say("RoCE v2", at)
}

// bnxtQoS takes a command line of bnxtqos: -dev=eth0 set_pfc enabled=3.
func (r *reader) bnxtQoS(w words) {
	dev := swconf.Every
	clears := false
	for i := range w.all {
		t := w.text(i)
		if d, ok := strings.CutPrefix(t, "-dev="); ok {
			dev = d
		}
		clears = clears || t == "-d"
	}
	n := r.net(dev, w.at)
	n.Kind = "bnxt"
	r.out.nic = n
	r.mark(w.at, read)
	for i := range w.all {
		o := option{at: place(w.all[i].At), text: w.text(i)}
		o.name, o.value, _ = strings.Cut(o.text, "=")
		switch o.name {
		case "-dev", "-d", "set_pfc", "set_ets", "set_apptlv", "get_qos":
		case "enabled":
			r.tlv(n, "PFC", o, false)
		case "app":
			r.tlv(n, "APP", o, clears)
		case "tsa", "tcbw":
			r.tlv(n, "ETS-CFG", o, false)
		case "priority2tc", "up2tc":
			o.name = "up2tc"
			r.tlv(n, "ETS-CFG", o, false)
		default:
			r.unknown(o.at, o.text, "unknown setting of bnxtqos")
		}
	}
}

// niccli takes a command line of Broadcom's newer tool: --dev N qos --pfc --enable 3.
func (r *reader) niccli(w words) {
	i := 0
	for i < len(w.all) && w.text(i) != "qos" {
		i++
	}
	if i == len(w.all) {
		return
	}
	n := r.net(swconf.Every, w.at) // an algorithm with an unknown number
	n.Kind = "bnxt"
	r.out.nic = n
	r.mark(w.at, read)
	opts := options(w.from(i+1), "ets pfc apptlv add del show")
	what, clears := "", false
	for _, o := range opts {
		switch o.name {
		case "ets", "pfc", "apptlv":
			what = o.name
		case "del":
			clears = true
		case "add", "show":
		case "enable":
			o.name = "enabled"
			r.tlv(n, "PFC", o, false)
		case "app":
			r.tlv(n, "APP", o, clears)
		case "tsa", "up2tc", "tcbw":
			r.tlv(n, "ETS-CFG", o, false)
		default:
			r.unknown(o.at, what+" "+o.text, "unknown setting of niccli")
		}
	}
}

// bnxtFile takes a file of bnxt_re's settings below configfs.
func (r *reader) bnxtFile(n *swconf.HostNIC, name, value string, at swconf.Place) {
	n.Kind = "bnxt"
	flag := func(to *swconf.Said[bool]) {
		v, ok := yes(value)
		if !ok {
			r.wrong(at, name, "is %s; it takes 0x0 or 0x1", field.Quote(value))
			return
		}
		*to = swconf.Say(v, at)
	}
	number := func(to *swconf.Said[uint8], most int64) {
		if v, ok := r.small(value, most, name, at); ok {
			*to = swconf.Say(v, at)
		}
	}
	switch name {
	case "ecn_enable":
		flag(&n.CC)
	case "ecn_marking":
		flag(&n.Marking)
	case "roce_dscp":
		number(&n.Data, 63)
	case "cnp_dscp":
		number(&n.CNPDSCP, 63)
	case "roce_prio":
		number(&n.Prio, 7)
	case "cnp_prio":
		number(&n.CNPPrio, 7)
	case "disable_prio_vlan_tx":
		v, ok := yes(value)
		if ok && !n.Trust.Is() {
			n.Trust = swconf.Say(map[bool]string{true: "dscp", false: "pcp"}[v], at)
		}
	case "apply", "advanced":
	case "cc_mode":
		if v, ok := r.within(value, 255, name, at); ok && v != 1 {
			r.unknown(at, name+" "+value, "only cc_mode 1 (DCQCN) is supported")
		}
	default: // parameters of its own algorithm, whose meanings are not public
		if v, ok := r.within(value, 1<<40, name, at); ok {
			n.SetParam(name, v, at)
		}
	}
}
