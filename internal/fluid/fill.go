package fluid

import (
	"math"
	"slices"

	"railyard/unit"
)

// fill is room for setting rates.
type fill struct {
	links  []int32   // that are reached from those that changed
	in     []bool    // by link: it is among them
	left   []float64 // by link: what no flow has yet
	weight []float64 // by link: shares of flows without a rate
	flows  []int32
	done   []bool // by flow: it has its rate
	seen   []bool // by flow: it is among them
	levels Heap[level]
}

func (r *fill) init(links int) {
	r.in, r.left, r.weight = make([]bool, links), make([]float64, links), make([]float64, links)
}

// refill sets the rates of all flows that share links, also by way of others, with one that changed: all rates
// rise together until a link is full, whose flows have theirs then; the others go on.
func (n *Net) refill() {
	r := &n.round
	n.reach()
	r.levels = r.levels[:0]
	for _, l := range r.links {
		r.left[l], r.weight[l] = n.rate[l], 0
		for _, s := range n.on[l] {
			f := &n.flows[s.flow]
			r.weight[l] += float64(f.weight * f.uses[s.use].Share)
		}
		if r.weight[l] > 0 {
			r.levels.Push(level{r.left[l] / r.weight[l], l})
		}
	}
	for len(r.levels) > 0 {
		top := r.levels.Pop()
		if r.weight[top.link] <= 1e-12 {
			continue
		}
		if at := max(0, r.left[top.link]) / r.weight[top.link]; at > top.rate*(1+1e-12) {
			r.levels.Push(level{at, top.link}) // others of its flows were slower
			continue
		}
		n.freeze(top)
	}
	for _, at := range r.flows {
		f := &n.flows[at]
		r.seen[at], r.done[at] = false, false
		f.version++
		if f.rate > 0 {
			until := float64(f.at) + math.Ceil(max(0, f.left)/f.rate)
			if until < float64(unit.Never) {
				n.ends.Push(end{unit.Time(until), at, f.version})
			}
		}
	}
	for _, l := range r.links {
		r.in[l] = false
	}
	for _, l := range n.changed {
		n.marked[l] = false
	}
	r.flows, r.links, n.changed = r.flows[:0], r.links[:0], n.changed[:0]
	if len(n.ends) > 4*n.Active()+1024 {
		n.tidy()
	}
}

// reach lists links and flows that a change touches, and brings the flows up to now.
func (n *Net) reach() {
	r := &n.round
	for len(r.seen) < len(n.flows) {
		r.seen, r.done = append(r.seen, false), append(r.done, false)
	}
	for _, l := range n.changed {
		r.in[l] = true
		r.links = append(r.links, l)
	}
	for i := 0; i < len(r.links); i++ {
		for _, s := range n.on[r.links[i]] {
			if r.seen[s.flow] {
				continue
			}
			r.seen[s.flow] = true
			r.flows = append(r.flows, s.flow)
			f := &n.flows[s.flow]
			n.advance(f, n.since)
			n.Set += len(f.uses)
			for _, u := range f.uses {
				if !r.in[u.Link] {
					r.in[u.Link] = true
					r.links = append(r.links, u.Link)
				}
			}
		}
	}
	slices.Sort(r.flows)
}

// freeze gives the flows of a full link their rate.
func (n *Net) freeze(top level) {
	r := &n.round
	for _, s := range n.on[top.link] {
		if r.done[s.flow] {
			continue
		}
		r.done[s.flow] = true
		f := &n.flows[s.flow]
		f.rate, f.limit = top.rate*f.weight, top.link
		for _, u := range f.uses {
			r.left[u.Link] -= float64(f.rate * u.Share)
			r.weight[u.Link] -= float64(f.weight * u.Share)
		}
	}
	r.weight[top.link] = 0
}

// tidy drops ends that are no longer true.
func (n *Net) tidy() {
	old := n.ends
	n.ends = nil
	for _, e := range old {
		if n.flows[e.flow].version == e.version {
			n.ends.Push(e)
		}
	}
}

// level is the rate at which a link is full.
type level struct {
	rate float64
	link int32
}

// Before says which of two levels is lower.
func (l level) Before(o level) bool { return l.rate < o.rate || l.rate == o.rate && l.link < o.link }
