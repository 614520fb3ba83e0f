package hostconf

import (
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/swconf"
	"railyard/unit"
)

// dcb takes a command line of iproute2's dcb: dcb pfc set dev eth0 prio-pfc all:off 3:on.
func (r *reader) dcb(w words) {
	for strings.HasPrefix(w.text(0), "-") {
		w = w.from(1)
	}
	what, verb, dev := w.text(0), w.text(1), ""
	for i := range w.all {
		if w.text(i) == "dev" {
			dev = w.text(i + 1)
		}
	}
	r.mark(w.at, read)
	if dev == "" {
		r.unknown(w.at, "dcb "+w.String(), "no device is named")
		return
	}
	n := r.net(dev, w.at)
	r.out.nic = n
	if verb == "show" || verb == "help" {
		return
	}
	if what == "app" && verb == "flush" {
		n.DSCP = [64]swconf.Said[uint8]{}
		return
	}
	key := ""
	for i := 2; i < len(w.all); i++ {
		switch t := w.text(i); {
		case t == "dev":
			i++
		case strings.Contains(t, ":"):
			r.dcbItem(n, what, verb, key, t, w.at)
		case what == "apptrust" && key == "order":
			if !n.Trust.Is() || n.Trust.At != w.at {
				r.trust(n, t, w.at)
			}
		case what == "dcbx":
			r.dcbx(n, t, w.at)
		case key == "delay" || key == "macsec-bypass" || key == "default-prio":
			key = ""
		default:
			key = t
		}
	}
}

// dcbx reads which side negotiates: the host, or the firmware.
func (r *reader) dcbx(n *swconf.HostNIC, word string, at swconf.Place) {
	switch word {
	case "host":
		n.DCBX = swconf.Say("os", at)
	case "lld-managed":
		n.DCBX = swconf.Say("fw", at)
	case "cee", "ieee", "static":
	default:
		r.unknown(at, word, "unknown word of dcb dcbx")
	}
}

// dcbItem processes one mapping, such as 3:on after prio-pfc.
func (r *reader) dcbItem(n *swconf.HostNIC, what, verb, key, item string, at swconf.Place) {
	k, v, _ := strings.Cut(item, ":")
	if vague(item) {
		r.unknown(at, key+" "+item, "unknown value")
		return
	}
	switch key {
	case "dscp-prio":
		set, err := swconf.DSCPs(k)
		if x, err2 := strconv.ParseInt(k, 0, 8); err2 == nil && strings.HasPrefix(k, "0x") && x < 64 {
			set, err = [64]bool{}, nil
			set[x] = true
		}
		p, err2 := strconv.ParseUint(v, 0, 3)
		if err != nil || err2 != nil {
			r.wrong(at, "dscp-prio", "is %s; it takes DSCP:PRIORITY", field.Quote(item))
			return
		}
		for d, in := range set {
			if in {
				if verb == "del" {
					p = 0
				}
				n.DSCP[d] = swconf.Say(uint8(p), at)
				if !n.Trust.Is() {
					n.Trust = swconf.Say("dscp", at)
				}
			}
		}
		return
	case "dgram-port-prio", "stream-port-prio", "port-prio", "ethtype-prio", "pcp-prio":
		return // a rule for frames without RoCE's DSCP
	}
	first, end := 0, 8
	if k != "all" {
		i, err := strconv.ParseUint(k, 0, 3)
		if err != nil {
			r.wrong(at, key, "has %s; priorities and classes are 0 to 7, or all", field.Quote(item))
			return
		}
		first, end = int(i), int(i)+1
	}
	for i := first; i < end; i++ {
		if !r.dcbValue(n, key, i, v, at) {
			return
		}
	}
}

// dcbValue sets what belongs to one priority, class or buffer.
func (r *reader) dcbValue(n *swconf.HostNIC, key string, i int, v string, at swconf.Place) bool {
	num, err := strconv.ParseInt(v, 0, 32)
	ok := err == nil && num >= 0
	switch key {
	case "prio-pfc":
		on, known := yes(v)
		n.PFC[i], ok = swconf.Say(on, at), known
	case "prio-tc":
		n.TC[i], ok = swconf.Say(uint8(num), at), ok && num < 8
	case "tc-tsa":
		n.Sched[i], ok = swconf.Say(v, at), slices.Contains([]string{"ets", "strict", "cbs", "vendor"}, v)
	case "tc-bw":
		n.Share[i], ok = swconf.Say(int(num), at), ok && num <= 100
	case "prio-buffer":
		n.Buffer[i], ok = swconf.Say(uint8(num), at), ok && num < 8
	case "buffer-size":
		size, err := unit.ParseBytes(v + map[bool]string{true: "B"}[err == nil])
		n.Size[i], ok = swconf.Say(size, at), err == nil
	case "tc-maxrate", "reco-tc-tsa", "reco-tc-bw", "reco-prio-tc", "pg-bw":
		return true
	default:
		r.unknown(at, key, "unknown word of dcb")
		return false
	}
	if !ok {
		r.wrong(at, key, "is %s for %d, which it does not take", field.Quote(v), i)
	}
	return ok
}

// lldptool takes a command line of lldpad's tool: -T -i eth0 -V PFC enabled=3.
func (r *reader) lldptool(w words) {
	r.mark(w.at, read)
	dev, tlv, sets, clears := "", "", false, false
	var rest []option
	for i := 0; i < len(w.all); i++ {
		switch t := w.text(i); t {
		case "-ti", "-Ti": // letters in one
			sets = t[1] == 'T'
			i++
			dev = w.text(i)
		case "-T", "set-tlv":
			sets = true
		case "-t", "-L", "-l", "-n", "-q", "-S", "-c", "get-tlv":
		case "-d":
			clears = true
		case "-i":
			i++
			dev = w.text(i)
		case "-V":
			i++
			tlv = strings.ToUpper(w.text(i))
		default:
			if dev2, ok := strings.CutPrefix(t, "-i"); ok {
				dev = dev2
				continue
			}
			name, value, _ := strings.Cut(t, "=")
			rest = append(rest, option{name: name, value: strings.Trim(value, `"`), at: place(w.all[i].At), text: t})
		}
	}
	if !sets {
		if dev != "" && (tlv == "PFC" || tlv == "ETS-CFG" || tlv == "APP") { // its output follows
			r.out.nic = r.net(dev, w.at)
		}
		return
	}
	n := r.net(dev, w.at)
	for _, o := range rest {
		r.tlv(n, tlv, o, clears)
	}
}

// tlv processes one setting of a TLV.
func (r *reader) tlv(n *swconf.HostNIC, tlv string, o option, clears bool) {
	if vague(o.value) {
		r.unknown(o.at, o.text, "unknown value")
		return
	}
	switch {
	case tlv == "PFC" && o.name == "enabled":
		r.pfcList(n, o.value, o.at)
	case o.name == "willing":
		on, ok := yes(o.value)
		n.Willing = swconf.Say(on, o.at)
		if !ok {
			r.wrong(o.at, "willing", "is %s; it takes yes or no", field.Quote(o.value))
		}
	case tlv == "APP" && o.name == "app":
		r.app(n, o.value, o.at, clears)
	case tlv == "ETS-CFG" && o.name == "tsa":
		r.pairsOf("tc-tsa", n, o)
	case tlv == "ETS-CFG" && o.name == "up2tc":
		r.pairsOf("prio-tc", n, o)
	case tlv == "ETS-CFG" && o.name == "tcbw":
		for i, s := range strings.Split(o.value, ",") {
			if i < 8 && !r.dcbValue(n, "tc-bw", i, strings.TrimSuffix(s, "%"), o.at) {
				return
			}
		}
	case tlv == "ETS-REC", o.name == "enableTx", o.name == "delay", o.name == "mode", o.name == "adminStatus":
	default:
		r.unknown(o.at, tlv+" "+o.text, "unknown setting of lldptool")
	}
}

// pairsOf takes 0:ets,1:strict.
func (r *reader) pairsOf(key string, n *swconf.HostNIC, o option) {
	for _, item := range strings.Split(o.value, ",") {
		r.dcbItem(n, "ets", "set", key, item, o.at)
	}
}

// pfcList turns PFC on for the priorities of a list, and off for all other priorities: 3, 3,4, none.
func (r *reader) pfcList(n *swconf.HostNIC, s string, at swconf.Place) {
	var on [8]bool
	for _, p := range strings.FieldsFunc(s, func(c rune) bool { return c == ',' || c == ' ' }) {
		i, err := strconv.ParseUint(p, 0, 3)
		if err != nil && !strings.EqualFold(p, "none") && p != "0xFF" {
			r.wrong(at, "PFC", "is on for %s; priorities are 0 to 7, or none", field.Quote(p))
			return
		}
		if err == nil {
			on[i] = true
		}
	}
	for i := range n.PFC {
		n.PFC[i] = swconf.Say(on[i], at)
	}
}

// app processes an entry of the APP table: PRIORITY,SELECTOR,PROTOCOL, of which selector 5 is a DSCP.
func (r *reader) app(n *swconf.HostNIC, s string, at swconf.Place, clears bool) {
	var v [3]uint64
	parts := strings.Split(s, ",")
	for i := range v {
		var err error
		if i >= len(parts) {
			err = strconv.ErrSyntax
		} else {
			v[i], err = strconv.ParseUint(strings.TrimSpace(parts[i]), 0, 16)
		}
		if err != nil || v[0] > 7 || v[1] == 5 && v[2] > 63 {
			r.wrong(at, "app", "is %s; it takes PRIORITY,SELECTOR,PROTOCOL", field.Quote(s))
			return
		}
	}
	if v[1] != 5 {
		return
	}
	if clears {
		v[0] = 0
	}
	n.DSCP[v[2]] = swconf.Say(uint8(v[0]), at)
	if !n.Trust.Is() {
		n.Trust = swconf.Say("dscp", at)
	}
}
