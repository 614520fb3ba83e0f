package reuse

import (
	"encoding/binary"
	"fmt"
	"slices"

	"railyard/internal/explain"
	"railyard/internal/host"
	"railyard/internal/result"
	"railyard/internal/sim"
	"railyard/internal/topo"
	"railyard/unit"
)

// state is a group's state after a history of posts, which are the edges from the root to here. Groups that are equal
// up to the names of ports and connections have one state.
type state struct {
	first   edge // most have one edge
	child   *state
	more    map[edge]*state
	outs    []out     // deliveries before the next post
	known   bool      // was simulated
	until   unit.Time // without a lab: simulated until this time
	lab     *lab      // the lab that simulates it
	waiting []*group  // groups that wait for the lab's results
	end     *ending   // nil: the group continues, or its end is not known yet
	forks   map[string]fork
}

// fork is the point where groups of one name separate from others: effects of congestion depend on turns where packets
// meet, and so on more than a group's shape.
type fork struct {
	at unit.Time
	to *state
}

// edge is a post as a group sees it; times are since its first post.
type edge struct {
	at    unit.Time
	heard int   // deliveries since the post before
	shape int32 // see Run.shape
	bytes unit.Bytes
}

// out is a delivery: the number of a group's post, and its delays.
type out struct {
	at   unit.Time
	post int32
	met  explain.Trouble // Port: a label
}

// ending is the results of a group's network after its last packet.
type ending struct {
	at     unit.Time
	counts result.Summary
	links  []result.LinkRow  // Start: since the first post; Port: a label, here and below
	pauses []result.PauseRow // likewise
	ports  []portCount
	pairs  []sim.Pair // by label of connections
	waits  []explain.Wait
}

type portCount struct {
	used  bool
	bytes unit.Bytes
	explain.PortPackets
}

func newState(at unit.Time) *state { return &state{until: at} }

// after returns the state after an edge.
func (s *state) after(e edge) *state {
	switch {
	case s.child == nil:
		s.first, s.child = e, newState(e.at)
		return s.child
	case s.first == e:
		return s.child
	}
	next := s.more[e]
	if next == nil {
		next = newState(e.at)
		if s.more == nil {
			s.more = map[edge]*state{}
		}
		s.more[e] = next
	}
	return next
}

// name distinguishes groups of one shape by their connections.
func (g *group) name() string {
	if g.named == len(g.conns) {
		return g.called
	}
	var b []byte
	for _, c := range g.conns {
		b = binary.AppendUvarint(b, uint64(c))
	}
	g.named, g.called = len(g.conns), string(b)
	return g.called
}

// way lists the resources that a connection shares with others: ports there and back, and its NICs.
func (r *Run) way(c int32) (way []int32) {
	seen := map[int32]bool{}
	add := func(ports ...int32) {
		for _, p := range ports {
			if !seen[p] {
				seen[p] = true
				way = append(way, p)
			}
		}
	}
	for _, leaf := range r.Hosts.Leaves(c) {
		add(leaf)
		if r.rules.Hashed {
			add(r.Hosts.PathFrom(c, leaf)...)
			continue
		}
		for _, ports := range r.Hosts.ChoicesFrom(c, leaf) {
			add(ports...)
		}
	}
	add(r.Hosts.Back(c)...)
	src, dst := r.Hosts.Peers(c)
	nics, buses := int32(len(r.Net.Ports)), int32(len(r.Net.Ports)+2*len(r.Graph.NICs))
	add(nics+2*src, nics+2*dst+1)
	for i, b := range r.Setup.Buses {
		if slices.Contains(b.NICs, src) {
			add(buses + 2*int32(i))
		}
		if slices.Contains(b.NICs, dst) {
			add(buses + 2*int32(i) + 1)
		}
	}
	return way
}

// classify numbers classes of equal ports: one rate and delay, at devices of one kind.
func (r *Run) classify() {
	known, links := map[string]int32{}, r.Ports()
	r.classes = make([]int32, len(r.owner))
	for i := range r.classes {
		name := "NIC"
		if i < len(r.Net.Ports) {
			p := &r.Net.Ports[i]
			end := topo.LinkEnd{Link: int(links[i].Link), Node: int(links[i].Node)}
			name = fmt.Sprintf("%d %d %p %p %v %v", r.Net.Rate(int32(i)), p.Flight, r.Net.Sw[p.Node].Spec,
				r.Net.Sw[r.Net.Ports[p.Peer].Node].Spec, r.Setup.PFC[end], r.Setup.Headroom[end])
		} else if nic := (i - len(r.Net.Ports)) / 2; nic < len(r.Graph.NICs) {
			name = fmt.Sprintf("NIC %d %v", len(r.Graph.NICs[nic].Links), marking(r.Setup.Host.Markings[int32(nic)]))
		} else {
			b := r.Setup.Buses[nic-len(r.Graph.NICs)]
			name = fmt.Sprintf("bus %d of %d", b.Rate, len(b.NICs))
		}
		c, ok := known[name]
		if !ok {
			c = int32(len(known))
			known[name] = c
		}
		r.classes[i] = c
	}
}

// marking returns a NIC's deviating packet marking.
func marking(m host.Marking) string {
	say := func(k *host.Mark) string {
		if k == nil {
			return "as others"
		}
		return fmt.Sprint(*k)
	}
	return say(m.Data) + ", " + say(m.CNP)
}

// shape is a number for the view of a group on one of its connections: a known connection by its label, a new one
// by the labels of ports that the group has, and the classes of its other ports. These get labels.
func (g *group) shape(r *Run, c int32) int32 {
	if label, ok := g.connLabel[c]; ok {
		return -1 - label
	}
	g.connLabel[c] = int32(len(g.conns))
	g.conns = append(g.conns, c)
	var b []byte
	b = append(b, byte(r.pairs[c].service))
	for _, p := range r.pairs[c].way {
		label, ok := g.label[p]
		if !ok {
			g.label[p] = int32(len(g.ports))
			g.ports = append(g.ports, p)
			b = binary.AppendUvarint(append(b, 1), uint64(r.classes[p]))
			continue
		}
		b = binary.AppendUvarint(append(b, 0), uint64(label))
	}
	s, ok := r.shapes[string(b)]
	if !ok {
		s = int32(len(r.shapes))
		r.shapes[string(b)] = s
	}
	return s
}
