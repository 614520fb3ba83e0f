package frr

import (
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
)

// talker reads the neighbours of one router bgp, of the switch or of a VRF.
type talker struct {
	*parser
	b     *swconf.BGP
	peers *swconf.Peers
}

// peer returns the neighbour that a line is about; no makes none.
func (p *talker) peer(m *cli.Match) *swconf.Neighbor {
	if m.No {
		return p.peers.Known(m.Word("peer"))
	}
	return p.peers.Get(p.b, m.Word("peer"), p.c.At(m, "peer"))
}

// known returns the neighbor or group of a line. FRR requires that other lines create it: with its AS, its
// interface or its group.
func (p *talker) known(m *cli.Match) *swconf.Neighbor { return p.peers.Known(m.Word("peer")) }

func (p *talker) neighborRules(r *cli.Mode) {
	r.Set("no neighbor <peer>", p.drop)
	r.Set("[no] neighbor <peer> peer-group", func(m *cli.Match) {
		if m.No {
			p.drop(m)
			return
		}
		p.peers.Group(m.Word("peer"), p.c.At(m, "peer"))
		p.c.Define("peer-group", m.Word("peer"), p.c.At(m, "peer"), false)
	})
	r.Set("[no] neighbor <peer> peer-group <group>", func(m *cli.Match) {
		p.join(p.peer(m), m)
		p.prune(m)
	})
	r.Set("[no] neighbor <peer> interface [ v6only ] [ peer-group <group> ] [ remote-as <as> ]",
		func(m *cli.Match) {
			if m.No {
				p.drop(m)
				return
			}
			n := p.peer(m)
			if m.Has("group") {
				p.join(n, m)
			}
			if m.Has("as") {
				n.Remote = p.remote(m)
			}
		})
	r.Set("[no] neighbor <peer> interface <if>", p.pass) // interface of a link-local address
	r.Set("[no] neighbor <peer> remote-as <as>", func(m *cli.Match) {
		if m.No { // FRR: which deletes the neighbour
			p.drop(m)
			return
		}
		p.peer(m).Remote = p.remote(m)
	})
	r.Set("[no] neighbor <peer> shutdown [ <why...> ]", func(m *cli.Match) {
		swconf.Switch(p.c, m, &p.known(m).Down, "shutdown", true)
		p.prune(m)
	})
	r.Set("[no] neighbor <peer> local-as <as> [ no-prepend ] [ replace-as ] [ dual-as ]", func(m *cli.Match) {
		swconf.Assign(p.c, m, &p.known(m).Local, "as", m.Word("as"))
		p.prune(m)
	})
	r.Set("[no] bgp listen range <prefix> peer-group <group>", func(m *cli.Match) { p.c.Refer(m, "peer-group", "group") })
	p.policies(r, swconf.IPv4) // below router bgp they are IPv4's
	r.Families(p.pass, map[string]string{"neighbor <peer>": neighborWords})
}

// remote reads the AS of a neighbour.
func (p *talker) remote(m *cli.Match) swconf.Said[string] {
	switch m.Word("as") {
	case "external", "internal", "auto":
	default:
		if _, ok := swconf.ASN(m.Word("as")); !ok {
			p.bad(m, "as", "an AS number from 1 to 4294967295, external, internal or auto")
		}
	}
	return swconf.SaidAt(p.c, m, "as", m.Word("as"))
}

func (p *talker) join(n *swconf.Neighbor, m *cli.Match) {
	swconf.Assign(p.c, m, &n.Group, "group", m.Word("group"))
	p.c.Refer(m, "peer-group", "group")
}

// prune removes a neighbour whose last setting a line removes.
func (p *talker) prune(m *cli.Match) {
	if m.No {
		p.peers.Prune(p.b, m.Word("peer"))
	}
}

// drop removes a neighbour or a peer group.
func (p *talker) drop(m *cli.Match) {
	p.peers.Remove(p.b, m.Word("peer"))
	p.c.Undefine("peer-group", m.Word("peer"))
}

// family reads an address family.
func (p *talker) family(of swconf.Family) *cli.Mode {
	r := cli.NewMode("config-router-af")
	p.announced(r, p.b, of == swconf.IPv4)
	p.policies(r, of)
	r.Families(p.pass, map[string]string{"neighbor <peer>": neighborWords})
	return r.Families(p.pass, familyFamilies)
}

// policies parses the families that neighbours exchange, and their filters.
func (p *talker) policies(r *cli.Mode, of swconf.Family) {
	r.Set("[no] neighbor <peer> activate", func(m *cli.Match) {
		n := p.peer(m)
		if n.On |= of; m.No {
			n.On &^= of
		}
		if of == swconf.IPv4 {
			n.Off = m.No && !m.Default
		}
		p.prune(m)
	})
	r.Set("[no] neighbor <peer> allowas-in [ <n:int> ] [ origin ]", func(m *cli.Match) {
		p.known(m).Loops = !m.No
		p.prune(m)
	})
	for _, kind := range []string{"route-map", "prefix-list", "filter-list", "distribute-list"} {
		r.Set("[no] neighbor <peer> "+kind+" <name> <dir:in|out>", func(m *cli.Match) {
			if kind == "route-map" || kind == "prefix-list" {
				p.c.Refer(m, kind, "name")
			}
			d := swconf.Directions // such a "no" with fewer words means both directions
			switch m.Word("dir") {
			case "in":
				d = swconf.Inbound
			case "out":
				d = swconf.Outbound
			}
			n := p.known(m)
			if n.Policed |= d; m.No {
				n.Policed &^= d
			}
			p.prune(m)
		})
	}
	for _, what := range []string{"default-originate route-map", "unsuppress-map", "advertise-map"} {
		r.Set("[no] neighbor <peer> "+what+" <name> [ <more...> ]", p.applied)
	}
}
