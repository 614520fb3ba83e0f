package reuse

import (
	"slices"

	"railyard/unit"
)

// group is messages in flight that may interact, and their common state: from the first post on an idle network until
// it is idle again.
type group struct {
	start     unit.Time
	posts     []post
	path      []*state // after each post
	heard     int      // deliveries since the last post
	ports     []int32  // by label
	label     map[int32]int32
	conns     []int32 // likewise
	connLabel map[int32]int32
	named     int // whether the name contains the connections
	called    string
	lab       *lab             // the lab that simulates it
	led       bool             // whether its packets were simulated
	shortened bool             // whether parts that repeat are left out
	draws     map[int32]uint64 // by switch: the number of its random draws
	turn      int32            // number of the current bell: bells with another number have no effect
	waits     bool             // to be settled
	over      bool
}

// post is a message of a group, or the point where it separated from others of its shape: then msg is -1.
type post struct {
	edge
	conn, msg int32
}

func newGroup(start unit.Time) *group {
	return &group{start: start, draws: map[int32]uint64{}, label: map[int32]int32{}, connLabel: map[int32]int32{}}
}

// at is a group's state.
func (g *group) at() *state { return g.path[len(g.path)-1] }

// join returns the group of a connection's next message: the union of all whose ports it uses.
func (r *Run) join(c int32) *group {
	var met []*group
	for _, p := range r.pairs[c].way {
		if g := r.owner[p]; g != nil && !slices.Contains(met, g) {
			met = append(met, g)
		}
	}
	g := (*group)(nil)
	switch len(met) {
	case 0:
		g = newGroup(r.now)
	case 1:
		g = met[0]
	default:
		g = r.merge(met)
	}
	for _, p := range r.pairs[c].way {
		r.owner[p] = g
	}
	return g
}

// merge makes one group of several, as if it had been one from the start.
func (r *Run) merge(met []*group) *group {
	n := newGroup(unit.Never)
	var msgs []int32
	for _, g := range met {
		n.start = min(n.start, g.start)
		for node, number := range g.draws {
			if old, ok := n.draws[node]; !ok || number < old {
				n.draws[node] = number
			}
		}
		n.led = n.led || g.led
		for i := range g.posts {
			if m := g.posts[i].msg; m >= 0 {
				msgs = append(msgs, m)
			}
		}
		for _, p := range g.ports {
			r.owner[p] = n
		}
		g.over = true
		g.turn++
		g.leave(r)
	}
	slices.Sort(msgs)
	var done []int64
	for _, m := range msgs {
		if r.done[m] > 0 {
			done = append(done, r.done[m])
		}
	}
	slices.Sort(done)
	k := 0
	for _, m := range msgs {
		n.heard = 0
		for ; k < len(done) && done[k] < r.posted[m]; k++ {
			n.heard++
		}
		n.follow(r, m)
	}
	n.heard = len(done) - k
	return n
}

// follow appends a message to a group's history.
func (g *group) follow(r *Run, m int32) *state {
	msg := &r.messages[m]
	e := edge{at: msg.Posted - g.start, heard: g.heard, bytes: msg.Bytes}
	e.shape = g.shape(r, msg.Conn)
	s := r.root
	if len(g.path) > 0 {
		s = g.at()
	}
	child := s.after(e)
	g.posts, g.path, g.heard = append(g.posts, post{e, msg.Conn, m}), append(g.path, child), 0
	return child
}

// post adds a message that is posted now.
func (g *group) post(r *Run, m int32) {
	was, heard := (*state)(nil), g.heard
	if len(g.path) > 0 {
		was = g.at()
	}
	child := g.follow(r, m)
	g.turn++
	if l := g.lab; l != nil {
		i := len(g.posts) - 1
		e := g.posts[i].edge
		if !child.known && child.lab == nil && l.at == was && l.now() <= e.at && heard == len(was.outs) {
			l.at, l.heard = child, 0
			child.lab, child.known = l, true
			was.rest(r, e.at)
			l.post(r, i)
		} else {
			g.leave(r)
		}
	}
	r.unsettle(g)
}

// rest leaves a state without a lab, known until a time. Groups that wait there continue by themselves.
func (s *state) rest(r *Run, until unit.Time) {
	s.lab, s.until = nil, max(s.until, until)
	for _, g := range s.waiting {
		if !g.over && g.at() == s {
			r.unsettle(g)
		}
	}
	s.waiting = s.waiting[:0]
}

// leave takes its lab from a group, and gives it to one that waits for the lab's results.
func (g *group) leave(r *Run) {
	l := g.lab
	if g.lab = nil; l == nil {
		return
	}
	s := l.at
	for i, other := range s.waiting {
		if !other.over && other.at() == s {
			s.waiting = slices.Delete(s.waiting, i, i+1)
			l.of, other.lab = other, l
			r.unsettle(other)
			return
		}
	}
	s.rest(r, l.now())
	r.drop(l)
}

// unsettle marks a group to be checked before time advances.
func (r *Run) unsettle(g *group) {
	if !g.waits {
		g.waits = true
		r.unsettled = append(r.unsettled, g)
	}
}

// settle determines the next event of all groups that have changed.
func (r *Run) settle() {
	for len(r.unsettled) > 0 {
		all := r.unsettled
		r.unsettled = nil
		for _, g := range all {
			if g.waits = false; !g.over {
				g.settle(r)
			}
		}
	}
}

// Deliveries of one instant follow the execution's own bells, as in the network.
const behind = 1 << 48

func (g *group) settle(r *Run) {
	s := g.at()
	g.turn++
	switch {
	case g.heard < len(s.outs):
		o := &s.outs[g.heard]
		_, dst := r.Hosts.Peers(g.posts[o.post].conn)
		node := int64(r.Net.Ports[r.Hosts.Ports(dst)[0]].Node)
		r.bells.Push(max(r.now, g.start+o.at), behind+node<<24+int64(g.heard), bell{of: g, turn: g.turn})
	case s.forks != nil && s.forks[g.name()].to != nil:
		r.bells.Push(max(r.now, g.start+s.forks[g.name()].at), behind, bell{of: g, turn: g.turn})
	case s.end != nil:
		r.bells.Push(max(r.now, g.start+s.end.at), 2*behind, bell{of: g, turn: g.turn})
	case g.lab != nil:
	case s.lab != nil:
		if !slices.Contains(s.waiting, g) {
			s.waiting = append(s.waiting, g)
		}
	case s.known && g.start+s.until >= r.now:
		r.bells.Push(g.start+s.until+1, 2*behind, bell{of: g, turn: g.turn})
	default:
		r.open(g)
	}
}

// due executes the next event of a group's state.
func (g *group) due(r *Run) {
	s := g.at()
	r.unsettle(g)
	switch {
	case g.heard < len(s.outs):
		o := &s.outs[g.heard]
		g.heard++
		g.hear(r, o)
	case s.forks != nil && s.forks[g.name()].to != nil:
		g.part(s.forks[g.name()])
	case s.end != nil:
		g.dissolve(r, s.end)
	}
}

// part leaves others of the group's shape.
func (g *group) part(f fork) {
	g.posts, g.path, g.heard = append(g.posts, post{edge{at: f.at, heard: g.heard}, -1, -1}), append(g.path, f.to), 0
}

// hear delivers a message, unless that has happened already: merged groups may have different delivery times.
func (g *group) hear(r *Run, o *out) {
	m := g.posts[o.post].msg
	if r.done[m] > 0 {
		return
	}
	met := o.met
	if met.Port >= 0 {
		met.Port = g.ports[met.Port]
	}
	r.deliver(m, met)
}

// dissolve ends a group.
func (g *group) dissolve(r *Run, e *ending) {
	g.over = true
	g.turn++
	for _, p := range g.ports {
		r.owner[p] = nil
	}
	r.seen.add(r, g, e)
	r.check(g)
}
