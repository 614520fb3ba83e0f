package nvue

import (
	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/tree"
	"railyard/unit"
)

// trim is the settings of packet trimming (NVIDIA's guide, the chapter of that name). Packets for which there is no
// buffer are trimmed, get another DSCP and use another switch priority.
type trim struct {
	on       swconf.Said[bool]
	profile  swconf.Said[bool] // the default profile, which RoCE's lossy-multi-tc also sets
	size     swconf.Said[unit.Bytes]
	dscp     swconf.Said[uint8]
	priority swconf.Said[int]
	server   swconf.Said[bool] // ports to servers give trimmed packets a separate DSCP
	classes  map[*swconf.Port]*[queue.Classes]swconf.Said[bool]
}

func (p *parser) trimRows(g *tree.Grammar) {
	const path = "system forwarding packet-trim"
	t := &p.qos.trim
	t.classes = map[*swconf.Port]*[queue.Classes]swconf.Said[bool]{}
	toggle(g, path, func(m *tree.Match) {
		t.on = tree.Say(m, "v", isOn(m))
		p.about(m.At(""))
	})
	standing := func(m *tree.Match) {
		t.profile = tree.Say(m, "", true)
		p.about(m.At(""))
	}
	g.Add(path+" profile packet-trim-default", standing)
	g.Add(path+" packet-trim-default", standing)
	g.Add(path+" size <n:int>", func(m *tree.Match) {
		if n := m.Int("n"); n < 256 || n > 1024 || n%4 != 0 {
			p.bad(m, "n", "a size from 256 to 1024 bytes, in steps of 4")
		} else {
			t.size = tree.Say(m, "n", unit.Bytes(n))
		}
	})
	g.Add(path+" remark dscp <n:int>", func(m *tree.Match) {
		if n, ok := p.one(m, "n", 64, "a DSCP from 0 to 63, or port-level"); ok {
			t.dscp = tree.Say(m, "n", uint8(n))
		}
	})
	g.Add(path+" switch-priority <n:int>", func(m *tree.Match) {
		if n, ok := p.one(m, "n", 8, aPriority); ok {
			t.priority = tree.Say(m, "n", n)
		}
	})
	g.Pass(path+" remark dscp port-level", path+" service-port", path+" traffic-class")
	g.Add("interface <if> packet-trim egress-eligibility traffic-class <list>", func(m *tree.Match) {
		q := p.port(m)
		if q == nil {
			return
		}
		if t.classes[q] == nil {
			t.classes[q] = new([queue.Classes]swconf.Said[bool])
		}
		for _, i := range p.within(m, "list", queue.Classes, aClass) {
			t.classes[q][i] = tree.Say(m, "list", true)
		}
	})
	g.Add("interface <if> qos remark profile lossy-multi-tc-host-group", func(m *tree.Match) {
		p.port(m)
		t.server = tree.Say(m, "", true)
	})
}

// trims returns the classes of a port whose packets are trimmed.
func (p *parser) trims(port *swconf.Port) (list [queue.Classes]swconf.Said[bool]) {
	t := &p.qos.trim
	standing := t.profile
	if p.qos.multi() && !standing.Is() {
		standing = swconf.Say(true, p.qos.mode.At)
	}
	if !t.on.V && (t.on.Is() || !standing.Is()) {
		return list
	}
	if own := t.classes[port]; own != nil {
		return *own
	}
	for i := range list {
		if standing.Is() && multiMarks[i] == 1 {
			list[i] = standing
		}
	}
	return list
}

// trimming describes the size of trimmed packets.
func (p *parser) trimming() {
	t, to := &p.qos.trim, &p.c.Trim
	at := t.on.At
	switch {
	case t.profile.Is():
		at = t.profile.At
	case p.qos.multi():
		at = p.qos.mode.At
	case !t.on.V:
		return
	}
	if t.on.Is() && !t.on.V {
		return
	}
	to.Size, to.DSCP = t.size, t.dscp
	priority := t.priority
	if t.profile.Is() || p.qos.multi() {
		if !to.Size.Is() {
			to.Size = swconf.Say(unit.Bytes(known.Int("trim_size")), at)
		}
		if !to.DSCP.Is() {
			to.DSCP = swconf.Say(uint8(known.Int("trim_dscp")), at)
		}
		if !priority.Is() {
			priority = swconf.Say(known.Int("trim_priority"), at)
		}
		if t.server.Is() {
			to.LastHop = swconf.Say(uint8(known.Int("trim_dscp_servers")), t.server.At)
		}
	}
	if priority.Is() {
		to.Queue = swconf.Say(p.qos.class(priority.V), priority.At)
	}
}
