package eos

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/unit"
)

var portForm = regexp.MustCompile(
	`(?i)^(et|eth|ethernet|po|port-channel|lo|loopback|vl|vlan|ma|management|vx|vxlan)\s*([0-9].*)$`)

// openInterface opens Ethernet3, Ethernet3/1, Et1-4 and others, which are
// passed over.
func (p *parser) openInterface(m *cli.Match) *cli.Mode {
	f := portForm.FindStringSubmatch(m.Word("names"))
	if f != nil && !strings.HasPrefix(strings.ToLower(f[1]), "et") {
		if m.No {
			return nil
		}
		if n, err := strconv.Atoi(f[2]); err == nil && strings.HasPrefix(strings.ToLower(f[1]), "po") {
			return p.interfaceMode(p.bundle(m, n))
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
	if m.No { // as a port without any configuration
		for _, n := range names {
			if q := p.c.Port(n); q != nil {
				*q = swconf.Port{Name: n, At: q.At, Number: q.Number}
				p.ports[q] = &profile{}
				delete(p.uses, q)
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

// bundle is the port channel of a number.
func (p *parser) bundle(m *cli.Match, n int) []*swconf.Port {
	q := p.c.Bundle(n)
	if q == nil && p.c.Room(p.c.At(m, "names"), 1) {
		q = &swconf.Port{Name: fmt.Sprintf("Port-Channel%d", n), Number: n, At: p.c.At(m, "interface")}
		p.ports[q] = &profile{}
		p.c.Bundles = append(p.c.Bundles, q)
	}
	if q == nil {
		return nil
	}
	return []*swconf.Port{q}
}

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
		lo, hi, ranged := strings.Cut(part, "-")
		head := ""
		if i := strings.LastIndexByte(lo, '/'); i >= 0 && ranged {
			head, lo = lo[:i+1], lo[i+1:]
		}
		if !ranged {
			names = append(names, kind+lo)
			continue
		}
		a, err1 := strconv.Atoi(lo)
		b, err2 := strconv.Atoi(hi[strings.LastIndexByte(hi, '/')+1:])
		if err1 != nil || err2 != nil || b < a || b-a > maxRange {
			return nil, false
		}
		for ; a <= b; a++ {
			names = append(names, fmt.Sprintf("%s%s%d", kind, head, a))
		}
	}
	return names, true
}

// kindOf is a port's kind in full: of those that have neighbours.
func kindOf(word string) string {
	if strings.HasPrefix(strings.ToLower(word), "po") {
		return "Port-Channel"
	}
	return "Ethernet"
}

func (p *parser) port(m *cli.Match, name string) *swconf.Port {
	if q := p.c.Port(name); q != nil {
		return q
	}
	q := &swconf.Port{Name: name, At: p.c.At(m, "interface")}
	tail := strings.TrimSuffix(strings.TrimPrefix(name, "Ethernet"), "/1")
	q.Number, _ = strconv.Atoi(tail)
	p.ports[q] = &profile{}
	p.c.Ports = append(p.c.Ports, q)
	return q
}

func (p *parser) interfaceMode(ports []*swconf.Port) *cli.Mode {
	r := cli.NewMode("config-if")
	each := func(f func(*swconf.Port, *cli.Match)) func(*cli.Match) {
		return func(m *cli.Match) {
			if !p.c.Room(p.c.At(m, "interface"), len(ports)) {
				return
			}
			for _, q := range ports {
				f(q, m)
			}
		}
	}
	p.ofPort(r, ports)
	r.Set("[no] description <text...>", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.Desc, "text", m.Word("text"))
	}))
	r.Set("[no] mtu <n:int>", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.MTU, "n", unit.Bytes(min(m.Int("n"), 1<<20)))
	}))
	r.Set("[no] speed [ forced ] <s>", each(func(q *swconf.Port, m *cli.Match) {
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
		if m.No && !m.Has("prefix") {
			q.Addrs = nil
			return
		}
		pre, err := netip.ParsePrefix(m.Word("prefix"))
		if err != nil {
			p.bad(m, "prefix", "an address with a prefix length")
			return
		}
		if q.Addrs = swconf.Without(q.Addrs, pre, true); !m.No {
			q.Addrs = append(q.Addrs, swconf.SaidAt(p.c, m, "prefix", pre))
		}
	}))
	r.Set("[no] ipv6 enable", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Switch(p.c, m, &q.LinkOnly, "ipv6", true)
	}))
	r.Set("[no] service-profile <name>", each(func(q *swconf.Port, m *cli.Match) {
		if p.use(m, "qos profile", "name"); m.No {
			delete(p.uses, q)
			return
		}
		p.uses[q] = swconf.SaidAt(p.c, m, "name", m.Word("name"))
	}))
	r.Set("[no] service-policy type qos input <name>", each(func(q *swconf.Port, m *cli.Match) {}))
	r.Set("[no] switchport access vlan <n:int>", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.VLAN, "n", int(min(m.Int("n"), 1e6)))
	}))
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
	p.qosCommands(r, func() (out []*profile) {
		for _, q := range ports {
			out = append(out, p.ports[q])
		}
		return out
	})
	r.Set("[no] switchport", func(*cli.Match) { p.c.Passed++ })
	r.Families(p.pass, portFamilies)
	return r
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
