package sonic

import (
	"fmt"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/platform"
	"railyard/unit"
)

// pools computes the packet memory: the ingress pools together with their shared headroom, or a larger egress pool,
// such as the lossless one, which never drops.
func (p *parser) pools() {
	table := p.table("BUFFER_POOL")
	var in, out unit.Bytes
	var inAt, outAt swconf.Place
	for _, row := range values(table) {
		if f := row.get("percentage"); f != nil {
			p.number(row, "percentage", 100) // a part of the size that the switch computes
		}
		size, ok := p.number(row, "size", maxBytes)
		if !ok {
			continue
		}
		xoff, _ := p.number(row, "xoff", maxBytes)
		if kind := row.str("type"); kind == "ingress" || kind == "both" {
			in, inAt = in+unit.Bytes(size+xoff), row.get("size").at
		} else if unit.Bytes(size) > out {
			out, outAt = unit.Bytes(size), row.get("size").at
		}
	}
	for _, prof := range values(p.table("BUFFER_PROFILE")) {
		if n := prof.get("pool"); n != nil {
			p.ref("BUFFER_POOL", n)
		}
	}
	for _, name := range []string{"BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST"} {
		for _, row := range values(p.table(name)) {
			p.list(row.get("profile_list"))
		}
	}
	switch {
	case in > 0 && in >= out:
		p.c.Buffer = swconf.Say(in, inAt)
	case in > 0:
		p.c.Buffer = swconf.Say(out, outAt)
	}
}

// list records the profiles of a list, which old images write in brackets.
func (p *parser) list(n *node) {
	if n == nil || n.text == "" {
		return
	}
	for s := range strings.SplitSeq(n.text, ",") {
		p.ref("BUFFER_PROFILE", &node{at: n.at, text: s})
	}
}

// uses records the references of a row.
func (p *parser) uses(row *node) {
	p.ref("BUFFER_PROFILE", row.get("profile"))
	p.ref("SCHEDULER", row.get("scheduler"))
	p.ref("WRED_PROFILE", row.get("wred_profile"))
}

// computed is a profile that buffermgrd creates itself.
const computed = "NULL"

// dynamicModel returns the groups that the dynamic model sizes: their common threshold, and how many of them share
// one headroom (buffermgrdyn.cpp).
func (p *parser) dynamicModel() string {
	if p.model != "" {
		return p.model
	}
	p.model = "thresholds by the dynamic buffer model"
	for _, row := range values(p.table(parameters)) {
		if d := row.get("default_dynamic_th"); d != nil {
			p.model += fmt.Sprintf(", alpha %g", p.dynamic(d))
		}
		if n, ok := p.number(row, "over_subscribe_ratio", 1024); ok && n > 0 {
			p.model += fmt.Sprintf(", %d share one headroom", n)
		}
	}
	return p.model
}

const parameters = "DEFAULT_LOSSLESS_BUFFER_PARAMETER"

// group reads a priority group's buffer for a queue. Lossless groups without a profile are filled by SONiC. In the
// dynamic model it computes their headroom; otherwise it reads the headroom by speed and cable from a list of the
// device.
func (p *parser) group(port *swconf.Port, k *swconf.Queue, row *node) {
	n := row.get("profile")
	switch {
	case n != nil && n.text == computed:
		k.Sized = swconf.Say(p.dynamicModel(), n.at)
	case n != nil && p.elsewhere("BUFFER_PROFILE"):
		if k.Pause.Is() {
			k.Sized = swconf.Say("thresholds of "+plain("BUFFER_PROFILE", n.text)+" (not configured)", n.at)
		}
	case n != nil:
		prof := p.ref("BUFFER_PROFILE", n)
		if prof.str("headroom_type") == "dynamic" {
			s := "headroom by the dynamic buffer model"
			if d := prof.get("dynamic_th"); d != nil && prof.get("xoff") == nil {
				s += fmt.Sprintf(", alpha %g", p.dynamic(d))
			}
			k.Sized = swconf.Say(s, n.at)
		}
		if g, ok := p.pause(prof); ok {
			k.PG = swconf.Say(g, prof.at)
		}
	case !k.Pause.Is() || p.table("BUFFER_POOL") == nil:
	case p.table("DEVICE_METADATA").get("localhost").str("buffer_model") == "dynamic":
		k.Sized = swconf.Say(p.dynamicModel(), k.Pause.At)
	default:
		k.Sized = swconf.Say("thresholds by the device's pg_profile_lookup.ini", k.Pause.At)
		if g, ok := p.lookUp(port); ok {
			k.PG = swconf.Say(g, k.Pause.At)
		}
	}
}

// lookUp finds a port's profile in the list of a known device.
func (p *parser) lookUp(port *swconf.Port) (g swconf.Pause, ok bool) {
	host := p.table("DEVICE_METADATA").get("localhost")
	if !port.Speed.Is() || !port.CableMM.Is() {
		return g, false
	}
	key := fmt.Sprintf("%d/%s", port.Speed.V/unit.Mbps, metres(port.CableMM.V))
	for entry := range strings.FieldsSeq(platform.Of("sonic", host.str("hwsku")).Word("pg_profiles")) {
		at, what, _ := strings.Cut(entry, ":")
		if at != key {
			continue
		}
		var n [4]int64 // xon, xoff, exponent of the threshold, xon_offset
		for i, s := range strings.Split(what, ",") {
			n[i&3], _ = strconv.ParseInt(s, 10, 64)
		}
		return swconf.Pause{XOn: unit.Bytes(n[0]), Headroom: unit.Bytes(n[1]), Alpha: alpha(n[2]),
			XOnOffset: unit.Bytes(n[3])}, true
	}
	return g, false
}

// wred reads the thresholds of green packets: RoCE traffic is not coloured. Thresholds of other colours are shown if
// there are no others, and do not count as bytes of a queue.
func (p *parser) wred(n *node) swconf.WRED {
	lo, _ := p.number(n, "green_min_threshold", maxBytes)
	hi, _ := p.number(n, "green_max_threshold", maxBytes)
	w := swconf.WRED{Min: unit.Bytes(lo), Max: unit.Bytes(hi), ECN: strings.Contains(n.str("ecn"), "green") ||
		n.str("ecn") == "ecn_all"}
	w.Percent, _ = platform.Of("sonic", "").Number("drop_probability")
	if v, ok := p.number(n, "green_drop_probability", 100); ok {
		w.Percent = float64(v)
	}
	for _, colour := range []string{"yellow", "red"} {
		if n.get("green_max_threshold") == nil && n.get("green_min_threshold") == nil && w.MaxText == "" &&
			n.get(colour+"_max_threshold") != nil {
			lo, _ := p.number(n, colour+"_min_threshold", maxBytes)
			hi, _ := p.number(n, colour+"_max_threshold", maxBytes)
			w.MinText = fmt.Sprintf("%v (%s)", unit.Bytes(lo), colour)
			w.MaxText = fmt.Sprintf("%v (%s)", unit.Bytes(hi), colour)
			if v, ok := p.number(n, colour+"_drop_probability", 100); ok {
				w.Percent = float64(v)
			}
		}
	}
	w.MinAt, w.MaxAt, w.ECNAt = n.place("green_min_threshold"), n.place("green_max_threshold"), n.place("ecn")
	return w
}

// pause parses a lossless ingress profile. xoff is SONiC's word for headroom, and the static or dynamic threshold
// is where a pause begins. Lossy ones have no xoff.
func (p *parser) pause(n *node) (g swconf.Pause, lossless bool) {
	head, ok := p.number(n, "xoff", maxBytes)
	if !ok {
		return g, false
	}
	g.Headroom = unit.Bytes(head)
	if v, ok := p.number(n, "xon", maxBytes); ok {
		g.XOn = unit.Bytes(v)
	}
	g.HeadAt, g.XOffAt, g.XOnAt = n.place("xoff"), n.place("static_th"), n.place("xon")
	if n.get("static_th") != nil {
		v, _ := p.number(n, "static_th", maxBytes)
		g.XOff = unit.Bytes(v)
	} else if d := n.get("dynamic_th"); d != nil {
		g.Alpha = p.dynamic(d)
	}
	// SAI resumes at max(xon, threshold - xon_offset); offset 0 is the threshold itself, and 0 in a Pause means unset.
	if off, ok := p.number(n, "xon_offset", maxBytes); ok {
		g.XOnOffset = max(unit.Bytes(off), 1)
	}
	return g, true
}

func (p *parser) dynamic(d *node) float64 {
	v, err := strconv.ParseInt(d.text, 10, 64)
	if err != nil || v < -8 || v > 8 {
		p.bad(d, "dynamic_th %q is not an exponent from -8 to 8", d.text)
		return 1
	}
	return alpha(v)
}

func (p *parser) egressBuffer(k *swconf.Queue, prof *node) {
	if a := prof.get("packet_discard_action"); a != nil {
		if a.text != "drop" && a.text != "trim" {
			p.bad(a, "packet_discard_action %q: drop or trim are accepted", a.text)
		}
		k.Trim = swconf.Say(a.text == "trim", a.at)
	}
	if d := prof.get("dynamic_th"); d != nil {
		k.Alpha = swconf.Say(p.dynamic(d), d.at)
	} else if s := prof.get("static_th"); s != nil && !k.Pause.Is() { // a lossless queue has no limit
		if v, ok := p.number(prof, "static_th", maxBytes); ok {
			limit := unit.Bytes(v)
			if p.c.Buffer.Is() { // images write a value above the memory for no limit
				limit = min(limit, p.c.Buffer.V)
			}
			k.Limit = swconf.Say(limit, s.at)
		}
	}
}
