package nxos

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/unit"
)

var kinds = []string{"Ethernet", "port-channel", "loopback", "Vlan", "mgmt", "nve", "vfc", "fc",
	"san-port-channel", "tunnel", "sup-eth"}

// portName writes a name in full: "e1/3" and "Ethernet 1/3" are Ethernet1/3.
func portName(s string) (string, error) {
	s = strings.ReplaceAll(s, " ", "")
	i := strings.IndexFunc(s, func(r rune) bool { return r >= '0' && r <= '9' })
	if i <= 0 {
		return "", fmt.Errorf("%q is not an interface; they are named like Ethernet1/3", s)
	}
	head, tail := strings.ToLower(s[:i]), s[i:]
	if head == "po" {
		head = "port-channel"
	}
	for _, k := range kinds {
		if strings.HasPrefix(strings.ToLower(k), head) {
			if k == "Ethernet" && !strings.Contains(tail, "/") {
				break
			}
			if of, sub, is := strings.Cut(tail, "."); is { // a subinterface
				if n, err := strconv.Atoi(sub); err != nil || n < 1 {
					break
				}
				tail = of
			}
			for _, part := range strings.Split(tail, "/") {
				if n, err := strconv.Atoi(part); err != nil || n < 0 {
					return "", fmt.Errorf("%q is not an interface; they are named like Ethernet1/3", s)
				}
			}
			return k + s[i:], nil
		}
	}
	return "", fmt.Errorf("%q is not an interface; they are named like Ethernet1/3", s)
}

// maxRange bounds "interface Ethernet1/1-9999999".
const maxRange = 4096

// portRange reads "Ethernet1/1-4, Ethernet1/7" into full names.
func portRange(s string) ([]string, error) {
	var out []string
	for _, part := range strings.Split(s, ",") {
		part = strings.ReplaceAll(strings.TrimSpace(part), " ", "")
		dash := -1 // the dash of a range; the name port-channel contains one
		for i := 1; i+1 < len(part); i++ {
			if part[i] == '-' && digit(part[i-1]) && digit(part[i+1]) || part[i] == '-' && digit(part[i-1]) {
				dash = i
			}
		}
		if dash < 0 {
			n, err := portName(part)
			if err != nil {
				return nil, err
			}
			out = append(out, n)
			continue
		}
		first, err := portName(part[:dash])
		if err != nil {
			return nil, err
		}
		cut := strings.LastIndexFunc(first, func(r rune) bool { return r < '0' || r > '9' }) + 1
		from, err1 := strconv.Atoi(first[cut:])
		last := part[dash+1:]
		to, err2 := strconv.Atoi(last[strings.LastIndexFunc(last, func(r rune) bool {
			return r < '0' || r > '9'
		})+1:])
		if err1 != nil || err2 != nil || to < from || to-from > maxRange {
			return nil, fmt.Errorf("%q is not a range of interfaces; write Ethernet1/1-4", part)
		}
		for ; from <= to; from++ {
			out = append(out, first[:cut]+strconv.Itoa(from))
		}
	}
	return out, nil
}

// channelNumber is the number of a port channel's name.
func channelNumber(name string) (n int, ok bool) {
	tail, ok := strings.CutPrefix(name, "port-channel")
	n, err := strconv.Atoi(tail)
	return n, ok && err == nil
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// frontPanel is the port number of a fixed switch: Ethernet1/3 is 3.
func frontPanel(name string) int {
	tail, ok := strings.CutPrefix(name, "Ethernet1/")
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSuffix(tail, "/1"))
	if err != nil {
		return 0
	}
	return n
}

func (p *parser) badPort(m *cli.Match, name string, err error) {
	p.fault(m, name, swconf.Error, "bad-value", err.Error(), "the switch refuses the line",
		"name an interface such as Ethernet1/3")
}

// fits reports an unsupported MTU; "no" removes any number.
func (p *parser) fits(m *cli.Match) bool {
	if m.No || m.Int("n") <= jumbo {
		return true
	}
	p.fault(m, "n", swconf.Error, "bad-value",
		fmt.Sprintf("%q is not an MTU of at most %d bytes", m.Word("n"), jumbo),
		"the switch refuses the line", "mtu 9216")
	return false
}

func (p *parser) openInterface(m *cli.Match) *cli.Mode {
	if !p.c.Room(p.c.At(m, "name"), 1) {
		return nil
	}
	names, err := portRange(m.Word("name"))
	if err == nil && !p.c.Room(p.c.At(m, "name"), len(names)) {
		return nil
	}
	if err != nil {
		p.badPort(m, "name", err)
		return p.interfaceMode(nil)
	}
	if m.No { // "no" resets the port to a port without configuration
		for _, n := range names {
			if port := p.named(n); port != nil {
				*port = swconf.Port{Name: n, At: port.At, Number: port.Number, Parent: port.Parent}
				p.ports[port] = &applied{}
				delete(p.inherits, port)
				p.blocks = slices.DeleteFunc(p.blocks, func(b ifBlock) bool { return b.port == port })
			}
		}
		return nil
	}
	var ports []*swconf.Port
	for _, n := range names {
		port := p.named(n)
		if port == nil {
			port = p.newPort(n, p.c.At(m, "interface"))
		}
		ports = append(ports, port)
	}
	return p.interfaceMode(ports)
}

// named returns an interface that was opened before, or nil.
func (p *parser) named(name string) *swconf.Port {
	if strings.Contains(name, ".") {
		return p.subs[name]
	}
	if number, bundle := channelNumber(name); bundle {
		return p.c.Bundle(number)
	}
	return p.c.Port(name)
}

// newPort returns an interface without settings.
func (p *parser) newPort(name string, at swconf.Place) *swconf.Port {
	port := &swconf.Port{Name: name, At: at, Number: frontPanel(name)}
	p.ports[port] = &applied{}
	number, bundle := channelNumber(name)
	of, _, sub := strings.Cut(name, ".")
	switch {
	case sub:
		port.Parent, p.subs[name] = of, port
		p.c.Subs = append(p.c.Subs, port)
	case bundle:
		port.Number = number
		p.c.Bundles = append(p.c.Bundles, port)
	case strings.HasPrefix(name, "Ethernet"):
		p.c.Ports = append(p.c.Ports, port)
	}
	return port
}

// opened are the interfaces of a line, and the settings below it; for a profile, that one.
type opened struct {
	ports   []*swconf.Port
	profile *profile
	applied
}

// below returns the interface that a line belongs to.
func below(m *cli.Match) *opened { return m.Of.(*opened) }

func (p *parser) interfaceMode(ports []*swconf.Port) *cli.Mode {
	o := &opened{ports: ports}
	for _, q := range ports {
		p.blocks = append(p.blocks, ifBlock{q, &o.applied})
	}
	return p.modes.port.Of(o)
}

// portRules is the table of lines below interfaces.
func (p *parser) portRules() *cli.Mode {
	r := cli.NewMode("config-if")
	each := func(f func(*swconf.Port, *cli.Match)) func(*cli.Match) {
		return func(m *cli.Match) {
			ports := below(m).ports
			if !p.c.Room(p.c.At(m, "interface"), len(ports)) {
				return
			}
			for _, port := range ports {
				f(port, m)
			}
		}
	}
	r.Set("[no] description <text...>", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.Desc, "text", m.Word("text"))
	}))
	r.Set("[no] mtu <n:int>", each(func(q *swconf.Port, m *cli.Match) {
		if p.fits(m) {
			swconf.Assign(p.c, m, &q.MTU, "n", unit.Bytes(m.Int("n")))
		}
	}))
	r.Set("[no] speed <mbps:int>", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.Speed, "mbps", unit.Rate(min(m.Int("mbps"), 1e8))*unit.Mbps)
	}))
	r.Set("speed auto [ <speeds...> ]", each(func(q *swconf.Port, _ *cli.Match) {
		q.Speed = swconf.Said[unit.Rate]{}
	}))
	r.Set("[no] fec <mode>", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.FEC, "mode", m.Word("mode"))
	}))
	r.Set("[no] negotiate auto [ <speed> ]", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Switch(p.c, m, &q.Nego, "auto", true)
	}))
	r.Set("[no] shutdown [ force ]", each(func(q *swconf.Port, m *cli.Match) {
		q.Down = swconf.SaidAt(p.c, m, "shutdown", !m.No)
	}))
	address := each(func(q *swconf.Port, m *cli.Match) {
		if m.No && !m.Has("prefix") {
			q.Addrs = nil
			return
		}
		text := m.Word("prefix")
		if m.Has("mask") {
			text += "/" + bitsOf(m.Word("mask"))
		}
		pre, err := netip.ParsePrefix(text)
		if err != nil {
			p.fault(m, "prefix", swconf.Error, "bad-value",
				fmt.Sprintf("%q is not an address with a prefix length", text),
				"the switch refuses the line", "write it as 10.0.0.0/31")
			return
		}
		if q.Addrs = swconf.Without(q.Addrs, pre, true); !m.No {
			q.Addrs = append(q.Addrs, swconf.SaidAt(p.c, m, "prefix", pre))
		}
	})
	const more = "[ secondary ] [ route-preference <pref:int> ] [ tag <tag:int> ]"
	r.Set("[no] ip address <prefix> "+more, address)
	r.Set("[no] ip address <prefix> <mask> "+more, address)
	r.Set("[no] ipv6 address use-link-local-only", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Switch(p.c, m, &q.LinkOnly, "ipv6", true)
	}))
	r.Set("[no] ipv6 link-local use-bia", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Switch(p.c, m, &q.LinkOnly, "ipv6", true)
	}))
	r.Set("[no] switchport access vlan <n:int>", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.VLAN, "n", int(min(m.Int("n"), 1e6)))
	}))
	r.Set("[no] switchport trunk allowed vlan <list...>", each(p.trunk))
	r.Set("[no] channel-group <n:int> [ force ] [ mode <mode:active|on|passive> ]",
		each(func(q *swconf.Port, m *cli.Match) {
			swconf.Assign(p.c, m, &q.Channel, "n", int(min(m.Int("n"), 1e6)))
		}))
	r.Set("[no] lacp min-links <n:int>", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.Least, "n", int(min(m.Int("n"), 1e6)))
	}))
	r.Set("[no] priority-flow-control mode <mode:auto|on|off> [ send-tlv ]",
		each(func(q *swconf.Port, m *cli.Match) {
			mode := map[string]swconf.PFCMode{
				"auto": swconf.PFCAuto,
				"on":   swconf.PFCOn,
				"off":  swconf.PFCOff,
			}[m.Word("mode")]
			swconf.Assign(p.c, m, &q.PFC, "mode", mode)
		}))
	r.Set("[no] priority-flow-control watch-dog", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Switch(p.c, m, &q.Watchdog, "watch-dog", true)
	}))
	r.Set("[no] priority-flow-control watch-dog-interval <state:on|off> [ disable-action ] [ interface-multiplier <n:int> ]", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Switch(p.c, m, &q.Watchdog, "state", m.Word("state") == "on")
	}))
	r.Set("[no] lldp <what:transmit|receive>", each(func(q *swconf.Port, m *cli.Match) {
		q.LLDPOff = swconf.SaidAt(p.c, m, "what", m.No && !m.Default)
	}))
	r.Set("[no] lldp dcbx version <v:ieee|cee|auto>", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.DCBX, "v", m.Word("v"))
	}))
	r.Set("[no] encapsulation dot1q <n:int>", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.Tag, "n", int(min(m.Int("n"), 1e6)))
	}))
	r.Set("[no] vrf member <name>", each(func(q *swconf.Port, m *cli.Match) {
		if swconf.Assign(p.c, m, &q.VRF, "name", m.Word("name")); !m.No { // a change of VRF removes addresses
			q.Addrs = nil
		}
	}))
	r.Set("[no] inherit port-profile <name>", func(m *cli.Match) {
		for _, q := range below(m).ports {
			p.inherit(q, m)
		}
		p.c.Refer(m, "port-profile", "name")
	})
	p.servicePolicy(r, func(m *cli.Match) *applied { return &below(m).applied })
	r.Set("[no] ip access-group <name> <dir:in|out>", each(func(q *swconf.Port, m *cli.Match) {
		if m.Word("dir") == "out" && !m.No {
			p.ports[q].egress = append(p.ports[q].egress, p.c.At(m, "name"))
		} else if m.No && m.Word("dir") != "in" {
			p.ports[q].egress = nil
		}
	}))
	r.Set("[no] switchport", each(func(q *swconf.Port, m *cli.Match) {
		p.layer2[q] = swconf.Say(!m.No, p.c.At(m, "switchport"))
	}))
	r.Set("[no] vpc <id:int>", p.pass)
	p.open(r, "hsrp <group:int> [ ipv4 ] [ ipv6 ]", "authentication", "bfd", "follow", "ip", "mac-address",
		"name", "preempt", "priority", "timers", "track")
	p.open(r, "member vni <id> [ associate-vrf ]", "ingress-replication", "mcast-group", "multisite",
		"peer-ip", "peer-vtep", "spine-anycast-gateway", "suppress-arp")
	segment := cli.NewMode("evpn-es")
	segment.Set("[no] esi <id> [ tag <tag> ]", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.ESI, "id", m.Word("id"))
	}))
	segment.Set("[no] esi system-mac <mac> <n:int>", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Assign(p.c, m, &q.ESI, "mac", m.Word("mac")+" "+m.Word("n"))
	}))
	segment.Set("[no] system-mac <mac>", p.pass) // a part of the identifier
	r.On("[no] ethernet-segment [ <id> ]", func(m *cli.Match) *cli.Mode {
		for _, q := range below(m).ports {
			swconf.Switch(p.c, m, &q.Segment, "ethernet-segment", true)
		}
		return segment.Of(below(m))
	})
	r.Set("[no] evpn multisite <what:fabric-tracking|dci-tracking>", p.pass)
	r.Set("[no] evpn multihoming core-tracking", each(func(q *swconf.Port, m *cli.Match) {
		swconf.Switch(p.c, m, &q.Core, "core-tracking", true)
	}))
	r.Set("[no] host-reachability protocol bgp", func(m *cli.Match) {
		swconf.Switch(p.c, m, &p.c.VTEP, "host-reachability", true)
	})
	p.interfaceLines(r)
	r.Families(p.pass, portFamilies)
	return r
}

// bitsOf returns the length of a prefix whose mask is written as an address, or the mask if it is not one.
func bitsOf(mask string) string {
	a, err := netip.ParseAddr(mask)
	if err != nil || !a.Is4() {
		return mask
	}
	b := a.As4()
	n := binary.BigEndian.Uint32(b[:])
	if ones := bits.LeadingZeros32(^n); n == ^uint32(0)<<(32-ones) {
		return strconv.Itoa(ones)
	}
	return mask
}

// ifBlock is one interface block. Its policies become the port's when all is parsed, because a port may be opened
// several times and in ranges.
type ifBlock struct {
	port *swconf.Port
	a    *applied
}
