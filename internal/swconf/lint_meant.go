package swconf

import (
	"slices"
	"strings"

	"railyard/internal/deadlock"
	"railyard/internal/topo"
)

// ofFabrics are rules about the requirements of a RoCE fabric. A switch that is apparently not part of a RoCE
// fabric, and neither pauses nor marks packets, may omit them, so there they are advice.
var ofFabrics = []string{"bgp-no-multipath", "bgp-silent", "no-classification", "dscp-unmapped", "mtu-small",
	"cnp-not-strict", "cnp-in-roce-queue", "dscp-differs", "bgp-neighbor-missing"}

// soften turns errors that assume a RoCE fabric into warnings for switches outside one.
func (l *linter) soften() {
	if l.Graph != nil {
		return
	}
	meant := map[string]bool{}
	for _, c := range l.Configs {
		meant[c.File] = meant[c.File] || c.carriesRoCE()
	}
	for i := range l.findings {
		f := &l.findings[i]
		if f.Severity == Error && !meant[f.File] && slices.Contains(ofFabrics, f.Rule) {
			f.Severity = Warning
		}
	}
}

// advise is say for findings that a configuration alone does not prove: without a fabric they are warnings.
func (l *linter) advise(at Place, fix, format string, args ...any) {
	l.say(at, fix, format, args...)
	if f := &l.findings[len(l.findings)-1]; l.Graph == nil && f.Severity == Error {
		f.Severity = Warning
	}
}

// warn makes the findings from the n-th on warnings.
func (l *linter) warn(n int) {
	for i := range l.findings[n:] {
		l.findings[n+i].Severity = Warning
	}
}

// sayOf is say for a complete configuration, and advise for a partial one, where missing settings may be elsewhere.
func (l *linter) sayOf(c *Config) func(at Place, fix, format string, args ...any) {
	if c.Part {
		return l.advise
	}
	return l.say
}

// nothingMarks reports whether no queue of a configuration marks, or drops early: a design with pauses only.
func (c *Config) nothingMarks() bool {
	early := func(q *QoS) bool {
		return q != nil && slices.ContainsFunc(q.Queues[:], func(k Queue) bool { return k.WRED.Is() })
	}
	return !early(c.QoS) && !slices.ContainsFunc(c.Ports, func(p *Port) bool { return early(p.QoS) })
}

// carriesRoCE reports whether a configuration pauses a class of packets, or marks one.
func (c *Config) carriesRoCE() bool {
	all := []*QoS{c.QoS}
	for _, p := range c.Ports {
		if len(all) == 0 || all[len(all)-1] != p.QoS {
			all = append(all, p.QoS)
		}
	}
	return slices.ContainsFunc(all, func(q *QoS) bool { return q != nil && (q.paused() != 0 || q.marks()) })
}

// byCOS reports whether a queue of a kind of packets gets them by their 802.1p priority, while none of the kind is
// classified by its DSCP.
func (q *QoS) byCOS(belongs func(i int, q *Queue) bool) bool {
	byDSCP, byCOS := false, false
	for d := range q.DSCP {
		byDSCP = byDSCP || q.DSCP[d].Is() && belongs(int(q.DSCP[d].V), &q.Queues[q.DSCP[d].V&7])
	}
	for p := range q.COS {
		byCOS = byCOS || q.COS[p].Is() && belongs(int(q.COS[p].V), &q.Queues[q.COS[p].V&7])
	}
	return byCOS && !byDSCP
}

// meant is say if a treatment pauses or marks RoCE data, and advise if the DSCPs assumed for RoCE may belong to other
// traffic.
func (l *linter) meant(v variant) func(at Place, fix, format string, args ...any) {
	if w := v.q.Queues[l.data(v.q)].WRED; v.q.paused() != 0 || w.Is() && w.V.ECN {
		return l.say
	}
	return l.advise
}

// others describes the ports that a treatment is compared with: the ports of one switch, or switches.
func (l *linter) others() string {
	if len(l.Configs) == 1 {
		return "other ports"
	}
	return "most switches"
}

// other returns the only other configuration, nil if there are several or none.
func (l *linter) other(c *Config) *Config {
	if len(l.Configs) != 2 {
		return nil
	}
	if l.Configs[0] == c {
		return l.Configs[1]
	}
	return l.Configs[0]
}

// portsApart checks NICs whose ports form no bundle: each has its own VLAN, and none is in a channel.
func (l *linter) portsApart() {
	if l.Graph == nil {
		return
	}
	type card struct{ host, index int }
	ports := map[int]*end{} // by cable: the switch's
	l.numbered(func(i int, a, b *end) {
		for _, e := range []*end{a, b} {
			if e.port != nil {
				ports[i] = e
			}
		}
	})
	first := map[card]*end{}
	for i := range l.Graph.NICs {
		n := &l.Graph.NICs[i]
		e := ports[n.Links[0]]
		if n.Port == 0 || e == nil {
			continue
		}
		if e.port.Channel.Is() {
			l.say(e.port.Channel.At, "an access port without a channel", "%s is in port channel %d, and %s has no bundle (server.bond apart)", e.port.Name, e.port.Channel.V, l.Graph.NICName(i))
		}
		at := card{n.Host, n.Index}
		switch o := first[at]; {
		case o == nil:
			first[at] = e
		case o.port.VLAN.Is() && e.port.VLAN.Is() && o.port.VLAN.V == e.port.VLAN.V:
			l.say(e.port.VLAN.At, "a VLAN and a subnet for each port", "%s and %s of %s are in VLAN %d, and lead to one NIC without a bundle, %s", e.port.Name, o.port.Name, o.c.Name(), e.port.VLAN.V,
				l.Graph.CardName(i))
		}
	}
}

// pfcDeadlock checks whether packets of RoCE data, on their shortest paths over the fabric's links, form a circular
// pause dependency. It uses the PFC settings of both ends of each link.
func (l *linter) pfcDeadlock() {
	if l.Graph == nil {
		return
	}
	pauses := map[topo.LinkEnd]*end{} // packets sent by an end may be paused there
	down := map[int]bool{}
	l.numbered(func(i int, a, b *end) {
		for _, e := range []*end{a, b} {
			down[i] = down[i] || e.port != nil && e.port.Down.V
		}
		if prio := l.priority(a) & l.priority(b); prio != 0 {
			pauses[topo.LinkEnd{Link: i, Node: l.Graph.Links[i].A}] = a
			pauses[topo.LinkEnd{Link: i, Node: l.Graph.Links[i].B}] = b
		}
	})
	if len(pauses) == 0 {
		return
	}
	r := &deadlock.Routing{Graph: l.Graph, Routes: l.Graph.Route(down), Pauses: func(link, from int) bool {
		return pauses[topo.LinkEnd{Link: link, Node: from}] != nil
	}}
	ring, _ := deadlock.Find(r)
	if ring == nil {
		return
	}
	var ports []string
	for _, b := range ring {
		e := pauses[topo.LinkEnd{Link: b.Link, Node: b.From}]
		ports = append(ports, e.c.Name()+" "+e.port.Name)
	}
	const most = 8
	if n := len(ports); n > most {
		ports = append(ports[:most], "and more")
	}
	e := pauses[topo.LinkEnd{Link: ring[0].Link, Node: ring[0].From}]
	const fix = "no PFC for the class on one of these ports, or cables that go up and down tiers only"
	l.say(first(e.port.PFC.At, e.port.At), fix, "RoCE data (DSCP %d) on its shortest paths closes a ring of %d ports, each of which may be paused until the next one sends: %s", l.DataDSCP, len(ring),
		strings.Join(ports, ", "))
}

// priority returns the one that an end pauses and obeys for RoCE data, as a bit; 0: none.
func (l *linter) priority(e *end) uint8 {
	if e.port == nil || e.port.QoS == nil || !e.port.QoS.DSCP[l.DataDSCP].Is() {
		return 0
	}
	q := &e.port.QoS.Queues[l.data(e.port.QoS)]
	if !q.Pause.Is() {
		return 0
	}
	return e.port.Paused() & (1 << (q.Pause.V & 7))
}
