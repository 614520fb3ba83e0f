package fluid

import (
	"math"
	"slices"

	"railyard/unit"
)

// fill is room for setting rates.
type fill struct {
	links  []int32   // links whose flows get new rates
	in     []bool    // by link: whether it is in links
	left   []float64 // by link: rate not yet given to a flow
	weight []float64 // by link: shares of flows without a rate
	flows  []int32
	seen   []bool                  // by flow: whether it is in flows
	done   []bool                  // by flow: whether it has its new rate
	rate   []float64               // by flow: that
	limit  []int32                 // by flow: link that limits the new rate
	more   []float64               // by link that keeps its position: load that new rates add
	others []int32                 // those links
	levels Heap[float64, struct{}] // rates at which links are full

	part   []float64 // by flow: its weight
	first  []float64 // by link: weights of flows that begin there
	paused []int32   // paused links, in order of discovery
	held   []bool    // by link: whether it is held
}

// slack is the relative difference below which a link is full: sums of rates are not exact.
const slack = 1e-9

func (r *fill) grow(links int) {
	more := links - len(r.in)
	r.in, r.held = append(r.in, make([]bool, more)...), append(r.held, make([]bool, more)...)
	r.left, r.weight = append(r.left, make([]float64, more)...), append(r.weight, make([]float64, more)...)
	r.more, r.first = append(r.more, make([]float64, more)...), append(r.first, make([]float64, more)...)
}

// refill sets the rates of flows that a change can affect: those on changed links, those on full links that these
// cross, and so on. All rates rise together until a link is full. The rates of its flows are then final; the others
// continue to rise. Links that are not full limit no flow. They are considered only if new rates would fill them.
func (n *Net) refill() {
	r := &n.round
	for _, l := range n.changed {
		r.in[l] = true
		r.links = append(r.links, l)
	}
	for at := 0; at < len(r.links); {
		at = n.reach(at)
		n.share()
		n.burst()
	}
	slices.Sort(r.flows)
	for _, at := range r.flows {
		n.commit(at)
	}
	if n.Limits {
		n.busy()
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

// busy records flows whose first link is full in addition to the limiting one.
func (n *Net) busy() {
	for _, at := range n.round.flows {
		f := &n.flows[at]
		n.advance(f, n.since)
		first := f.uses[0].Link
		f.full = f.limit != first && n.load[first] > nearlyFull*n.most[first]
	}
}

// reach lists the flows of links from a position of the list on, and the full links that these flows cross. It
// lists all crossed links if pauses block flows.
func (n *Net) reach(from int) int {
	r := &n.round
	for len(r.seen) < len(n.flows) {
		r.seen, r.done = append(r.seen, false), append(r.done, false)
		r.rate, r.limit, r.part = append(r.rate, 0), append(r.limit, 0), append(r.part, 0)
	}
	for ; from < len(r.links); from++ {
		for _, s := range n.on[r.links[from]] {
			if r.seen[s.flow] {
				continue
			}
			r.seen[s.flow] = true
			r.flows = append(r.flows, s.flow)
			for _, u := range n.flows[s.flow].uses {
				if l := u.Link; !r.in[l] && (n.Pauses || n.load[l] >= n.most[l]*(1-slack)) {
					r.in[l] = true
					r.links = append(r.links, l)
				}
			}
		}
	}
	return from
}

// share gives the listed flows their rates on the listed links.
func (n *Net) share() {
	r := &n.round
	r.levels = r.levels[:0]
	for _, at := range r.flows {
		r.done[at] = false
		n.Set += len(n.flows[at].uses)
	}
	n.parts()
	for _, l := range r.links {
		r.weight[l], r.held[l] = 0, false
		for _, s := range n.on[l] {
			r.weight[l] += float64(r.part[s.flow] * n.flows[s.flow].uses[s.use].Share)
		}
		n.most[l] = n.rate[l]
		if n.Yield != nil && len(n.on[l]) > 0 {
			if asked := n.asked(l); asked > n.rate[l]*(1+slack) {
				n.most[l] *= n.Yield(l, asked)
			}
		}
		if r.left[l] = n.most[l]; r.weight[l] > 0 {
			r.levels.Push(r.left[l]/r.weight[l], int64(l), struct{}{})
		}
	}
	for len(r.levels) > 0 {
		first := r.levels.Pop()
		top := level{first.At, int32(first.Then)}
		if r.weight[top.link] <= 1e-12 {
			continue
		}
		if at := max(0, r.left[top.link]) / r.weight[top.link]; at > top.rate*(1+1e-12) {
			r.levels.Push(at, first.Then, struct{}{}) // other flows of the link were slower
			continue
		}
		n.freeze(top)
	}
}

// Crowded reports whether flows demand more of a link than it can carry.
func (n *Net) Crowded(link int32) bool { return n.asked(link) > n.rate[link]*(1+slack) }

// asked returns the demand of flows on a link: the rate that their sender's own links, or another limiting link,
// permit.
func (n *Net) asked(link int32) (sum float64) {
	for _, s := range n.on[link] {
		f := &n.flows[s.flow]
		least := math.Inf(1)
		for _, u := range f.uses[:min(n.Own, len(f.uses))] {
			least = min(least, n.rate[u.Link]/float64(len(n.on[u.Link])))
		}
		if f.limit >= 0 && f.limit != link {
			least = min(least, f.rate)
		}
		sum += float64(least * f.uses[s.use].Share)
	}
	return sum
}

// parts finds the weights of flows.
func (n *Net) parts() {
	r := &n.round
	if n.Pauses {
		for _, at := range r.flows {
			if f := &n.flows[at]; len(f.uses) > 0 {
				r.first[f.uses[0].Link] = 0
			}
		}
		for _, at := range r.flows {
			if f := &n.flows[at]; len(f.uses) > 0 {
				r.first[f.uses[0].Link]++
			}
		}
	}
	for _, at := range r.flows {
		f := &n.flows[at]
		if r.part[at] = f.weight; n.Pauses && len(f.uses) > 0 {
			r.part[at] /= r.first[f.uses[0].Link]
		}
	}
}

// freeze fixes the rate of a full link's flows and, if pauses block flows, of those that wait for them.
func (n *Net) freeze(top level) {
	r := &n.round
	r.held[top.link] = true
	r.paused = append(r.paused[:0], top.link)
	for i := 0; i < len(r.paused); i++ {
		for _, s := range n.on[r.paused[i]] {
			f := &n.flows[s.flow]
			if n.Pauses && f.uses[s.use].Holds && n.rate[top.link] > 0 {
				for _, u := range f.uses[:s.use] {
					if !r.held[u.Link] {
						r.held[u.Link] = true
						r.paused = append(r.paused, u.Link)
					}
				}
			}
			if r.done[s.flow] {
				continue
			}
			r.done[s.flow] = true
			rate := float64(top.rate * r.part[s.flow])
			r.rate[s.flow], r.limit[s.flow] = rate, top.link
			for _, u := range f.uses {
				if r.in[u.Link] {
					r.left[u.Link] -= float64(rate * u.Share)
					r.weight[u.Link] -= float64(r.part[s.flow] * u.Share)
				}
			}
		}
	}
	r.weight[top.link] = 0
}

// burst lists the other links that new rates would overfill.
func (n *Net) burst() {
	r := &n.round
	for _, at := range r.flows {
		f := &n.flows[at]
		if r.rate[at] <= f.rate {
			continue
		}
		for _, u := range f.uses {
			if !r.in[u.Link] && r.more[u.Link] == 0 {
				r.others = append(r.others, u.Link)
			}
			if !r.in[u.Link] {
				r.more[u.Link] += float64((r.rate[at] - f.rate) * u.Share)
			}
		}
	}
	for _, l := range r.others {
		if n.load[l]+r.more[l] > n.most[l]*(1+slack) {
			r.in[l] = true
			r.links = append(r.links, l)
		}
		r.more[l] = 0
	}
	r.others = r.others[:0]
}

// commit sets a flow's computed rate.
func (n *Net) commit(at int32) {
	r, f := &n.round, &n.flows[at]
	r.seen[at], r.done[at] = false, false
	if f.rate == r.rate[at] && f.limit == r.limit[at] {
		return
	}
	n.advance(f, n.since)
	if n.Rated != nil {
		n.Rated(f.tag, r.rate[at], r.limit[at])
	}
	same := f.rate == r.rate[at]
	if f.limit = r.limit[at]; same {
		return // its end time does not change
	}
	n.carry(f, r.rate[at]-f.rate, n.since)
	f.rate = r.rate[at]
	f.version++
	if f.rate > 0 {
		until := float64(f.at) + math.Ceil(max(0, f.left)/f.rate)
		if until < float64(unit.Never) {
			n.ends.Push(unit.Time(until), int64(at), f.version)
		}
	}
}

// carry adds a flow's rate to its links from a time on.
func (n *Net) carry(f *flow, rate float64, now unit.Time) {
	for _, u := range f.uses {
		n.book(u.Link, now)
		if n.load[u.Link] += float64(rate * u.Share); len(n.on[u.Link]) == 0 {
			n.load[u.Link] = 0 // the rest of rounding errors
		}
	}
}

// book reports a link's traffic until a time.
func (n *Net) book(link int32, now unit.Time) {
	if n.Booked == nil {
		return
	}
	if since := n.loadedAt[link]; now > since && n.load[link] > 0 {
		n.Booked(link, since, now, n.load[link])
	}
	n.loadedAt[link] = max(n.loadedAt[link], now)
}

// Book reports the traffic of all links until a time.
func (n *Net) Book(now unit.Time) {
	for l := range n.load {
		n.book(int32(l), now)
	}
}

// tidy removes outdated ends.
func (n *Net) tidy() {
	old := n.ends
	n.ends = nil
	for _, e := range old {
		if n.flows[e.Then].version == e.Of {
			n.ends.Push(e.At, e.Then, e.Of)
		}
	}
}

// level is the rate at which a link is full.
type level struct {
	rate float64
	link int32
}
