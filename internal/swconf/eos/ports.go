package eos

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/unit"
)

var portForm = regexp.MustCompile(
	`(?i)^(et|eth|ethernet|po|port-channel|lo|loopback|vl|vlan|ma|management|vx|vxlan|tunnel|tu|dps|gre|` +
		`recirc-channel|unconnectedethernet|fabric|internal|register|test)\s*([0-9].*)$`)

// openInterface opens Ethernet3, Ethernet3/1, Et1-4 and others, which are skipped.
func (p *parser) openInterface(m *cli.Match) *cli.Mode {
	f := portForm.FindStringSubmatch(m.Word("names"))
	if f != nil && !strings.HasPrefix(strings.ToLower(f[1]), "et") &&
		!strings.HasPrefix(strings.ToLower(f[1]), "po") {
		if m.No {
			return nil
		}
		if strings.HasPrefix(strings.ToLower(f[1]), "vx") {
			return p.portRules().Set("[no] vxlan source-interface <name>", func(m *cli.Match) {
				swconf.Switch(p.c, m, &p.c.VTEP, "vxlan", true)
			})
		}
		return p.interfaceMode(nil)
	}
	if !p.c.Room(p.c.At(m, "names"), 1) {
		return nil
	}
	names, ok := portRange(m.Word("names"))
	if !p.c.Room(p.c.At(m, "names"), len(names)) {
		return nil
	}
	if !ok {
		p.bad(m, "names", "an interface such as Ethernet3 or Ethernet1-4")
	}
	if m.No { // "no" resets the port to a port without configuration
		for _, n := range names {
			if q := p.known(n); q != nil {
				*q = swconf.Port{Name: n, At: q.At, Number: q.Number, Parent: q.Parent}
				p.ports[q] = &profile{}
				delete(p.uses, q)
				delete(p.routed, q)
				delete(p.mmuOwn, q)
			}
		}
		return nil
	}
	var ports []*swconf.Port
	for _, n := range names {
		ports = append(ports, p.port(m, n))
	}
	return p.interfaceMode(ports)
}

// known is the interface of a name, or nil.
func (p *parser) known(name string) *swconf.Port {
	if n, err := strconv.Atoi(strings.TrimPrefix(name, channel)); err == nil && strings.HasPrefix(name, channel) {
		return p.c.Bundle(n)
	}
	if strings.Contains(name, ".") {
		return p.c.Sub(name)
	}
	return p.c.Port(name)
}

// channel begins the names of port channels.
const channel = "Port-Channel"

// maxRange bounds a range of interfaces.
const maxRange = 4096

// portRange reads Et1-4,Et7 or Ethernet3/1 into full names.
func portRange(s string) (names []string, ok bool) {
	f := portForm.FindStringSubmatch(s)
	if f == nil {
		return nil, false
	}
	kind := kindOf(f[1])
	for _, part := range strings.Split(f[2], ",") {
		part = strings.TrimSpace(part)
		if m := portForm.FindStringSubmatch(part); m != nil { // Et1-4,Et7
			kind, part = kindOf(m[1]), m[2]
		}
		if !strings.Contains(part, "-") {
			names = append(names, kind+part)
			continue
		}
		each := spread(part)
		if each == nil {
			return nil, false
		}
		for _, n := range each {
			names = append(names, kind+n)
		}
	}
	return names, true
}

// spread is the ports of a range: 1-4, 3/1-4, 3/1-3/4, or of each of some modules: 1-4/1, 1/1-4/1.
func spread(part string) (out []string) {
	if head, tail, ok := strings.Cut(part, "."); ok && !strings.Contains(head, "-") { // of subinterfaces
		for _, n := range spread(tail) {
			out = append(out, head+"."+n)
		}
		return out
	}
	lo, hi, _ := strings.Cut(part, "-")
	if n := strings.Count(lo, "/"); n > 0 && n == strings.Count(hi, "/") && !strings.Contains(hi, "-") {
		a, b := strings.Split(lo, "/"), strings.Split(hi, "/")
		for i := range a {
			if a[i] != b[i] {
				a[i] += "-" + b[i]
			}
		}
		part = strings.Join(a, "/")
	}
	out = []string{""}
	for i, c := range strings.Split(part, "/") {
		lo, hi, ranged := strings.Cut(c, "-")
		if !ranged {
			hi = lo
		}
		a, err1 := strconv.Atoi(lo)
		b, err2 := strconv.Atoi(hi)
		if err1 != nil || err2 != nil || b < a || (b-a+1)*len(out) > maxRange+1 {
			return nil
		}
		var next []string
		for _, head := range out {
			if i > 0 {
				head += "/"
			}
			for n := a; n <= b; n++ {
				next = append(next, head+strconv.Itoa(n))
			}
		}
		out = next
	}
	return out
}

// kindOf returns a port's kind in full, for kinds that have neighbours.
func kindOf(word string) string {
	if strings.HasPrefix(strings.ToLower(word), "po") {
		return channel
	}
	return "Ethernet"
}

func (p *parser) port(m *cli.Match, name string) *swconf.Port {
	if q := p.known(name); q != nil {
		return q
	}
	q := &swconf.Port{Name: name, At: p.c.At(m, "interface")}
	p.ports[q] = &profile{}
	parent, _, part := strings.Cut(name, ".")
	switch {
	case part:
		q.Parent = parent
		p.c.Subs = append(p.c.Subs, q)
	case strings.HasPrefix(name, channel):
		q.Number, _ = strconv.Atoi(strings.TrimPrefix(name, channel))
		p.c.Bundles = append(p.c.Bundles, q)
	default:
		q.Number, _ = strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(name, "Ethernet"), "/1"))
		p.c.Ports = append(p.c.Ports, q)
	}
	return q
}

// interfaceMode is the table of lines below interfaces, opened for some. It is created once, and not for each of
// them.
func (p *parser) interfaceMode(ports []*swconf.Port) *cli.Mode {
	if p.below == nil {
		p.below = p.portRules()
	}
	return p.below.Of(ports)
}

// opened are the interfaces that a line below their command applies to.
func opened(m *cli.Match) []*swconf.Port { ports, _ := m.Of.([]*swconf.Port); return ports }

func (p *parser) portRules() *cli.Mode {
	r := cli.NewMode("config-if")
	each := func(f func(*swconf.Port, *cli.Match)) func(*cli.Match) {
		return func(m *cli.Match) {
			ports := opened(m)
			if !p.c.Room(p.c.At(m, "interface"), len(ports)) {
				return
			}
			for _, q := range ports {
				f(q, m)
			}
		}
	}
	p.ofPort(r)
	r.Set("[no] description <text...>", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.Desc, "text", m.Word("text"))
	}))
	r.Set("[no] mtu <n:int>", each(func(q *swconf.Port, m *cli.Match) {
		if n := m.Int("n"); (n < 68 || n > 1<<16) && !m.No {
			p.bad(m, "n", "an MTU from 68 to 65536 bytes")
			return
		}
		swconf.Assign(p.c, m, &q.MTU, "n", unit.Bytes(m.Int("n")))
	}))
	r.Set("[no] error-correction encoding [ <how:reed-solomon|fire-code> ]", each(encoding(p)))
	r.Set("[no] speed [ <how:auto|forced> ] <s>", each(func(q *swconf.Port, m *cli.Match) {
		if how := m.Word("how"); how != "" {
			swconf.Switch(p.c, m, &q.Nego, "how", how == "auto")
		} else {
			swconf.Switch(p.c, m, &q.Nego, "s", strings.EqualFold(m.Word("s"), "auto"))
			if m.No || !q.Nego.V { // the effect of a plain rate on it depends on the release
				q.Nego = swconf.Said[bool]{}
			}
		}
		if rate, ok := speed(m.Word("s")); m.No || strings.EqualFold(m.Word("s"), "auto") {
			q.Speed = swconf.Said[unit.Rate]{}
		} else if ok {
			q.Speed = swconf.SaidAt(p.c, m, "s", rate)
		}
	}))
	r.Set("[no] shutdown", each(func(q *swconf.Port, m *cli.Match) {
		q.Down = swconf.SaidAt(p.c, m, "shutdown", !m.No)
	}))
	r.Set("[no] ip address <prefix> [ secondary ]", each(func(q *swconf.Port, m *cli.Match) {
		p.c.Address(m, q, p.bad)
	}))
	r.Skip(p.pass, "ipv6 address virtual")
	r.Set("[no] ipv6 address <prefix> [ link-local ]", each(func(q *swconf.Port, m *cli.Match) {
		pre, err := netip.ParsePrefix(m.Word("prefix"))
		if m.No && !m.Has("prefix") || err != nil || pre.Addr().IsLinkLocalUnicast() {
			return // a link-local address excludes no other
		}
		if q.Addrs = swconf.Without(q.Addrs, pre, true); !m.No {
			q.Addrs = append(q.Addrs, swconf.SaidAt(p.c, m, "prefix", pre))
		}
	}))
	r.Set("[no] ipv6 enable", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Switch(p.c, m, &q.LinkOnly, "ipv6", true)
	}))
	r.Set("[no] service-profile <name>", each(func(q *swconf.Port, m *cli.Match) {
		if p.c.Refer(m, "qos profile", "name"); m.No {
			delete(p.uses, q)
			return
		}
		p.uses[q] = swconf.SaidAt(p.c, m, "name", m.Word("name"))
	}))
	r.Set("[no] switchport access vlan <n:int>", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.VLAN, "n", int(min(m.Int("n"), 1e6)))
	}))
	r.Set("[no] vrf [ forwarding ] <name>", each(func(q *swconf.Port, m *cli.Match) {
		if swconf.Assign(p.c, m, &q.VRF, "name", m.Word("name")); q.VRF.V == "default" {
			q.VRF = swconf.Said[string]{}
		}
	}))
	r.Set("[no] encapsulation dot1q vlan <n:int> [ inner <i:int> ]", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.Tag, "n", int(min(m.Int("n"), 1e6)))
	}))
	r.Set("[no] mlag <n:int>", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.MLAG, "n", int(min(m.Int("n"), 1e6)))
	}))
	r.Set("[no] link tracking group <name> <what:upstream|downstream>", each(func(q *swconf.Port,
		m *cli.Match) {
		p.c.Refer(m, "link tracking group", "name")
		if m.No || m.Word("what") == "upstream" {
			swconf.Switch(p.c, m, &q.Core, "link", true)
		}
	}))
	segment := cli.NewMode("ethernet-segment").Skip(p.pass, "route-target", "designated-forwarder", "mpls")
	segment.Set("[no] identifier <id>", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.ESI, "id", m.Word("id"))
	}))
	segment.Set("[no] redundancy <mode:all-active|single-active>", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Agree(p.c, m, &q.Alike, "redundancy mode", "mode")
	}))
	r.Set("[no] lacp system-id <mac>", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Agree(p.c, m, &q.Alike, "LACP system ID", "mac")
	}))
	r.On("[no] evpn ethernet-segment", func(m *cli.Match) *cli.Mode {
		for _, q := range opened(m) {
			swconf.Switch(p.c, m, &q.Segment, "ethernet-segment", true)
		}
		return segment.Of(opened(m))
	})
	r.Set("[no] channel-group <n:int> mode <mode:active|on|passive>",
		each(func(q *swconf.Port, m *cli.Match) {
			swconf.Assign(p.c, m, &q.Channel, "n", int(min(m.Int("n"), 1e6)))
		}))
	r.Set("[no] port-channel min-links <n:int>", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.Least, "n", int(min(m.Int("n"), 1e6)))
	}))
	r.Set("[no] lldp <what:transmit|receive>", each(func(q *swconf.Port, m *cli.Match) {
		q.LLDPOff = swconf.SaidAt(p.c, m, "what", m.No && !m.Default)
	}))
	r.Set("[no] dcbx mode <v:ieee|cee|none>", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.DCBX, "v", m.Word("v"))
	}))
	p.qosCommands(r, func(m *cli.Match) (out []*profile) {
		for _, q := range opened(m) {
			out = append(out, p.ports[q])
		}
		return out
	})
	r.Set("[no] switchport", each(func(q *swconf.Port, m *cli.Match) {
		p.routed[q] = swconf.SaidAt(p.c, m, "switchport", m.No && !m.Default)
	}))
	r.Families(p.pass, portFamilies)
	return r
}

// fullName is an interface's name as the switch prints it: po4 is Port-Channel4.
func fullName(s string) string {
	f := portForm.FindStringSubmatch(strings.TrimSpace(s))
	if f == nil {
		return s
	}
	kinds := map[string]string{"et": "Ethernet", "po": channel, "lo": "Loopback", "vl": "Vlan",
		"ma": "Management",
		"vx": "Vxlan"}
	return kinds[strings.ToLower(f[1][:2])] + f[2]
}

var speedForm = regexp.MustCompile(`^(\d+)g(-\d+|full)?$`)

// speed reads 400g, 400g-8, 100gfull.
func speed(s string) (unit.Rate, bool) {
	f := speedForm.FindStringSubmatch(strings.ToLower(s))
	if f == nil {
		return 0, false
	}
	n, err := strconv.Atoi(f[1])
	return unit.Rate(n) * unit.Gbps, err == nil && n < 100_000
}

// encoding parses the FEC of a port. Two lines permit both codes, and the transceiver selects one. no removes all,
// or only the named one.
func encoding(p *parser) func(*swconf.Port, *cli.Match) {
	return func(q *swconf.Port, m *cli.Match) {
		how := m.Word("how")
		switch {
		case m.Default || m.No && how != "" && q.FEC.V != how && q.FEC.V != "auto":
			q.FEC = swconf.Said[string]{}
		case m.No && how != "" && q.FEC.V == "auto":
			q.FEC = swconf.SaidAt(p.c, m, "how", map[string]string{"reed-solomon": "fire-code",
				"fire-code": "reed-solomon"}[how])
		case m.No:
			q.FEC = swconf.SaidAt(p.c, m, "encoding", "none")
		case how == "":
		case (q.FEC.V == "reed-solomon" || q.FEC.V == "fire-code") && q.FEC.V != how:
			q.FEC = swconf.SaidAt(p.c, m, "how", "auto")
		default:
			q.FEC = swconf.SaidAt(p.c, m, "how", how)
		}
	}
}
