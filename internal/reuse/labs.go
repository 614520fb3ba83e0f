package reuse

import (
	"slices"

	"railyard/internal/explain"
	"railyard/internal/result"
	"railyard/internal/sim"
	"railyard/unit"
)

// lab is a network that simulates a group's packets.
type lab struct {
	*sim.Stand
	base  unit.Time // time of the lab's simulation at the group's first post
	of    *group
	at    *state
	heard int // deliveries in that state
	posts map[int32]int32
	told  []bool // by post: whether a state up to the current one has its delivery
	early []out  // deliveries that no state has yet
	lost  int    // posts without a delivery
	apart bool   // whether only groups of one name share its state
	got   []int32
	conns map[int32]int32 // connection numbers in the lab's simulation

	counts result.Summary // counters at the group's first post, like the following
	ports  []explain.Port
	pairs  map[int32]sim.Pair
	waits  map[[2]int32]explain.Wait
	pauses []result.PauseRow
	hops   int64

	steady   steady
	whole    bool             // whether nothing is left out
	links    []result.LinkRow // link rows up to the last jump, since the group's first post
	skipped  int64            // packet-hops
	interval unit.Time
}

// when is the time of the lab's next event, in the run's time.
func (l *lab) when() unit.Time {
	at := l.When()
	if at == unit.Never {
		return max(l.of.start+l.now(), 0)
	}
	return at - l.base + l.of.start
}

// now is the lab's time since its group's first post.
func (l *lab) now() unit.Time { return l.Now() - l.base }

// open simulates a group from its first post until now.
func (r *Run) open(g *group) {
	l := r.take(g)
	if l == nil {
		return
	}
	l.of, l.base, l.at, l.heard, l.lost = g, l.Now(), r.root, 0, 0
	l.told, l.early, l.apart = make([]bool, len(g.posts)), nil, false
	l.begin(r.seen.interval)
	for i := range g.posts {
		p := &g.posts[i]
		l.upTo(r, p.at, p.heard)
		l.tell(p.heard)
		if p.msg < 0 {
			l.apart = true
		} else {
			l.post(r, i)
		}
		l.at, l.heard = g.path[i], 0
		l.at.known = true
	}
	l.upTo(r, r.now-g.start, g.heard)
	l.at.lab, g.lab, g.led = l, l, true
	r.labs = append(r.labs, l)
	l.tell(len(l.at.outs))
	early := l.early
	l.early = nil
	for _, o := range early {
		l.tells(r, o)
	}
	if g.heard < len(l.at.outs) {
		r.unsettle(g)
	}
}

// tell marks the first n deliveries of a state as known.
func (l *lab) tell(n int) {
	for _, o := range l.at.outs[:min(n, len(l.at.outs))] {
		l.told[o.post] = true
	}
}

// tells adds a delivery to the lab's state, unless an earlier state has it. Labs differ by nanoseconds: the turn at
// a port where two packets meet depends on its earlier traffic.
func (l *lab) tells(r *Run, o out) {
	if l.told[o.post] {
		return
	}
	l.told[o.post] = true
	l.part(r)
	l.at.outs = append(l.at.outs, o)
	for _, g := range l.at.waiting {
		r.unsettle(g)
	}
	l.at.waiting = l.at.waiting[:0]
}

// part leaves a state to groups of other names once an event depended on more than their shape.
func (l *lab) part(r *Run) {
	if l.apart || !l.disturbed() {
		return
	}
	g, s := l.of, l.at
	if s.forks == nil {
		s.forks = map[string]fork{}
	}
	f := fork{l.now(), newState(l.now())}
	s.forks[g.name()] = f
	l.apart, l.at, l.heard = true, f.to, 0
	f.to.lab, f.to.known = l, true
	s.rest(r, l.now())
	if g.at() == s && g.heard == len(s.outs) {
		g.part(f)
	} else {
		r.unsettle(g)
	}
}

// upTo simulates until a time, with the given number of deliveries at it.
func (l *lab) upTo(r *Run, at unit.Time, heard int) {
	for l.step(at) {
		l.take(r)
		if l.steady.comes(l) {
			l.leap(at)
		}
	}
	for l.heard < heard && l.step(at+1) {
		l.take(r)
	}
}

// post passes a message to the lab's simulation.
func (l *lab) post(r *Run, i int) {
	p := &l.of.posts[i]
	l.Bring(l.base + p.at)
	l.take(r)
	k := &r.pairs[p.conn]
	m := l.Post(k.service, k.from, k.to, k.tag, p.bytes)
	l.posts[m] = int32(i)
	own := l.Hosts.Messages[m].Conn
	if _, had := l.conns[p.conn]; !had {
		l.conns[p.conn] = own
		l.steady.knows(l, own)
	}
	l.lost++
	for len(l.told) <= i {
		l.told = append(l.told, false)
	}
}

// take records deliveries.
func (l *lab) take(r *Run) {
	if l.Err != nil && r.err == nil {
		r.err = l.Err
	}
	for _, m := range l.got {
		met := l.Trouble(m)
		if met.Port >= 0 {
			met.Port = l.label(met.Port)
		}
		l.lost--
		l.heard++
		if o := (out{l.now(), l.posts[m], met}); l.at.lab == l {
			l.tells(r, o)
		} else { // the past is simulated again
			l.early = append(l.early, o)
		}
	}
	l.got = l.got[:0]
}

// label is the label of a port, -1 of one that the group has not.
func (l *lab) label(port int32) int32 {
	if label, ok := l.of.label[port]; ok {
		return label
	}
	return -1
}

// step runs the next event before a time of the group.
func (l *lab) step(before unit.Time) bool { return l.Step(min(before, unit.Never/2) + l.base) }

// run simulates until a time of the run, or a reportable event.
func (l *lab) run(r *Run, before unit.Time) {
	if l.over(r) {
		l.end(r)
		return
	}
	g := l.of
	long := r.count + observeEvery
	for l.step(before - g.start) {
		if len(l.got) > 0 || l.Err != nil {
			l.take(r)
			break
		}
		if r.count++; r.count > long || l.over(r) {
			break
		}
		if l.steady.comes(l) {
			l.leap(r.foresight(l) - g.start)
		}
	}
	idle := l.When() == unit.Never
	r.now = max(r.now, min(before-1, g.start+l.now()))
	if g.at() == l.at && g.heard < len(l.at.outs) {
		o := l.at.outs[g.heard]
		g.heard++
		r.unsettle(g)
		if g.hear(r, &o); g.lab != l || g.at() != l.at {
			return
		}
	}
	switch {
	case l.lost > 0 && idle:
		r.err = r.stuck()
	case l.over(r):
		l.end(r)
	}
}

// quiet reports whether nothing of the group is in flight, and it leaves no state: senders keep a reduced rate, so
// their group continues until the run ends.
func (l *lab) quiet() bool { return l.lost == 0 && l.Net.InUse() == 0 && !l.disturbed() }

// over reports whether the group ends: it is quiet, or the run is at its end and nothing is in flight.
func (l *lab) over(r *Run) bool {
	return l.quiet() || r.Exec.Done() && l.lost == 0 && l.Net.InUse() == 0
}

// parked reports whether nothing will happen until the group posts again.
func (l *lab) parked() bool { return l.lost == 0 && l.When() == unit.Never }

// disturbed reports whether an event occurred that a queue pair remembers.
func (l *lab) disturbed() bool {
	n, c, was := l.Net, &l.Hosts.Count, &l.counts
	return n.Marks+n.Drops+n.Trims > was.ECNMarks+was.Drops+was.Trims || c.CNPs > was.CNPs || c.Naks > was.Naks ||
		c.Timeouts > was.Timeouts || c.OutOfOrder > was.OutOfOrder || n.Pauses > was.PFCPauses
}

// end records the results of the group's network.
func (l *lab) end(r *Run) {
	l.part(r)
	g, s := l.of, l.at
	s.end = l.ending()
	s.rest(r, l.now())
	g.lab = nil
	r.unsettle(g)
	fresh := !l.disturbed()
	g.shortened = fresh && l.skipped > 0
	r.seen.simulated += s.end.counts.PacketHops - l.skipped
	r.close(l, fresh)
}

// take returns a lab whose network is as new.
func (r *Run) take(g *group) *lab {
	var l *lab
	if n := len(r.idle); n > 0 {
		l, r.idle = r.idle[n-1], r.idle[:n-1]
	} else {
		s, err := sim.NewStand(r.Plan, r.routes, r.seen.interval)
		if err != nil {
			r.err = err
			return nil
		}
		l = &lab{Stand: s, whole: r.whole}
		s.Delivered = func(m int32) { l.got = append(l.got, m) }
		s.Paused = func(row result.PauseRow) {
			row.At -= int64(l.base)
			l.pauses = append(l.pauses, row)
		}
	}
	r.draw(l, g)
	return l
}

// draw gives each switch of a group random draws that no other group has there, and the same ones when its history is
// simulated again.
func (r *Run) draw(l *lab, g *group) {
	for _, p := range g.ports {
		if int(p) >= len(r.Net.Ports) {
			continue
		}
		node := r.Net.Ports[p].Node
		if r.Net.Sw[node].Spec == nil {
			continue
		}
		number, ok := g.draws[node]
		if !ok {
			number = r.drawn[node]
			r.drawn[node]++
			g.draws[node] = number
		}
		l.Redraw(node, number)
	}
}

// drop ends a lab that no group needs.
func (r *Run) drop(l *lab) {
	r.seen.simulated += l.Net.PacketHops - l.hops - l.skipped
	r.close(l, false)
}

func (r *Run) close(l *lab, fresh bool) {
	l.of, l.at = nil, nil
	r.labs = slices.DeleteFunc(r.labs, func(x *lab) bool { return x == l })
	if fresh {
		r.idle = append(r.idle, l)
	}
}

// begin records the simulation's counters so far.
func (l *lab) begin(interval unit.Time) {
	l.counts, l.ports, l.hops = l.Counts(), l.Ports(), l.Net.PacketHops
	l.posts, l.conns, l.pairs, l.waits = map[int32]int32{}, map[int32]int32{}, map[int32]sim.Pair{},
		map[[2]int32]explain.Wait{}
	for c := range int32(l.Hosts.Conns()) {
		l.pairs[c] = l.Pair(c)
	}
	l.Waits(func(w explain.Wait) { l.waits[[2]int32{w.Conn, w.Port}] = w })
	l.pauses, l.links, l.skipped = l.pauses[:0], l.links[:0], 0
	l.steady.begin()
	l.interval = interval
	l.Sample(interval)
}
