package swconf

import (
	"strings"

	"railyard/internal/deadlock"
	"railyard/internal/topo"
)

// pfcDeadlock looks whether packets of RoCE data, on their shortest ways over the cables of the fabric, close
// a ring of buffers that PFC makes wait for one another, as the texts of both ends of each cable say.
func (l *linter) pfcDeadlock() {
	if l.Graph == nil {
		return
	}
	pauses := map[topo.LinkEnd]*end{} // what an end sends may be paused there
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
	l.say(first(e.port.PFC.At, e.port.At), fix, "RoCE data (DSCP %d) on its shortest ways closes a ring of %d ports, each of which may be paused until the next one sends: %s", l.DataDSCP, len(ring),
		strings.Join(ports, ", "))
}

// priority is the one that an end pauses and obeys for RoCE data, as a bit; 0: none.
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
