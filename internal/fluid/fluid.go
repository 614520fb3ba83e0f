// Package fluid transfers bytes as flows that share links max-min fairly (Bertsekas and Gallager, Data Networks,
// 6.5.2): no flow can go faster without slowing an equal or slower one. It is an upper bound of a fabric under any
// pacing, and the model of replays of a run.
//
//	n := fluid.New([]float64{0.0125, 0.0125}) // two links of 100 Gbit/s, in bytes per picosecond
//	n.Start(0, 7, 1e6, 1, []fluid.Use{{Link: 0, Share: 1}, {Link: 1, Share: 0.5}})
//	for _, ok := n.Next(unit.Never); ok; _, ok = n.Next(unit.Never) {
//		at, flow, tag := n.End()
//	}
package fluid

import (
	"math"
	"slices"

	"railyard/unit"
)

// Use is a link that a flow crosses, and with which share of its bytes.
type Use struct {
	Link  int32
	Share float64
	// Holds: bytes beyond the link's rate are queued in a switch, which pauses the links before it when its buffer
	// is full. Uses up to the last one with Holds set are in the order of the path.
	Holds bool
}

// Net is links and the active flows on them. Times passed to it never decrease.
type Net struct {
	// Grain is the time by which rates may follow a change late; with 0 every change counts immediately.
	Grain unit.Time
	// Limits records which link limits each flow for how long.
	Limits bool
	// Pauses: only pauses slow senders (PFC without congestion control). A full link then delays all flows that
	// share an earlier link with one of its flows, because they are in one queue. The n flows that begin on one
	// link count 1/n of their weights, because their NIC serves them in turn.
	Pauses bool
	// Set counts the links of flows whose rates were set. The work is proportional to this count.
	Set int
	// Yield returns the part of its rate that a link carries under excess demand of its flows; nil: all.
	Yield func(link int32, asked float64) float64
	// Own is the number of a flow's first links that belong to its sender. The rate of these links is the flow's
	// demand.
	Own int
	// Rated receives the tags of flows whose rate, or limiting link, has changed; may be nil. It must not change
	// the network.
	Rated func(tag int32, rate float64, limit int32)
	// Booked receives a link's traffic between two times, in bytes per picosecond; may be nil.
	Booked func(link int32, from, to unit.Time, rate float64)

	rate []float64 // by link, bytes per picosecond
	most []float64 // by link: the part of its rate that flows can get
	load []float64 // by link: rates of its flows
	// loadedAt is, by link, the time until which traffic was passed to Booked.
	loadedAt []unit.Time
	on       [][]seat // by link: uses of the flows that cross it
	flows    []flow
	free     []int32                // numbers of flows that have ended
	ends     Heap[unit.Time, int32] // ends of flows without changes, with the version for which they are valid

	changed []int32 // links whose flows have changed since rates were set
	marked  []bool  // by link: whether it is marked
	since   unit.Time
	round   fill
}

// seat is a flow at a link, with the index of its use.
type seat struct{ flow, use int32 }

type flow struct {
	tag     int32
	version int32
	uses    []Use
	seats   []int32 // by use: its index among the link's uses
	left    float64 // bytes, at
	weight  float64
	at      unit.Time
	rate    float64 // bytes per picosecond
	began   unit.Time
	limit   int32 // link that limits it; -1: none yet
	limits  []Limit
	full    bool      // another link limits it, and its first one is also full
	busy    unit.Time // duration
}

// Limit is the time for which a link limited a flow.
type Limit struct {
	Link int32
	Time unit.Time
}

// New builds links with rates in bytes per picosecond.
func New(rates []float64) *Net {
	k := len(rates)
	n := &Net{rate: slices.Clone(rates), most: slices.Clone(rates), load: make([]float64, k), on: make([][]seat, k),
		marked: make([]bool, k), loadedAt: make([]unit.Time, k)}
	n.round.grow(k)
	return n
}

// Add creates another link and returns its number.
func (n *Net) Add(rate float64) int32 {
	n.rate, n.most, n.load = append(n.rate, rate), append(n.most, rate), append(n.load, 0)
	n.on, n.marked, n.loadedAt = append(n.on, nil), append(n.marked, false), append(n.loadedAt, 0)
	n.round.grow(len(n.rate))
	return int32(len(n.rate) - 1)
}

// Touch has rates on a link set anew: its Yield has changed.
func (n *Net) Touch(now unit.Time, link int32) { n.change(now, link) }

// Part returns which part of its rate a link's flows get.
func (n *Net) Part(link int32) float64 {
	if n.rate[link] <= 0 {
		return 1
	}
	return n.most[link] / n.rate[link]
}

// Flows returns the number of flows that cross a link.
func (n *Net) Flows(link int32) int { return len(n.on[link]) }

// Each calls f with the tags of a link's flows.
func (n *Net) Each(link int32, f func(tag int32)) {
	for _, s := range n.on[link] {
		f(n.flows[s.flow].tag)
	}
}

// Active returns the number of active flows.
func (n *Net) Active() int { return len(n.flows) - len(n.free) }

// Start begins a flow. On shared links its part is proportional to its weight; 1 for equal parts.
func (n *Net) Start(now unit.Time, tag int32, bytes, weight float64, uses []Use) int32 {
	var at int32
	if last := len(n.free) - 1; last >= 0 {
		at, n.free = n.free[last], n.free[:last]
	} else {
		at = int32(len(n.flows))
		n.flows = append(n.flows, flow{})
	}
	f := &n.flows[at]
	*f = flow{tag: tag, version: f.version + 1, uses: uses, seats: f.seats[:0], left: bytes, weight: weight,
		at: now, began: now,
		limit: -1, limits: f.limits[:0]}
	n.seat(now, at)
	if len(uses) == 0 {
		f.rate = math.Inf(1)
		n.ends.Push(now, int64(at), f.version)
	}
	return at
}

// seat puts a flow on its links.
func (n *Net) seat(now unit.Time, at int32) {
	f := &n.flows[at]
	for i, u := range f.uses {
		f.seats = append(f.seats, int32(len(n.on[u.Link])))
		n.on[u.Link] = append(n.on[u.Link], seat{at, int32(i)})
		n.change(now, u.Link)
	}
}

// Move moves the remaining bytes of a flow to other links.
func (n *Net) Move(now unit.Time, at int32, uses []Use) {
	f := &n.flows[at]
	n.advance(f, now)
	n.unseat(now, f)
	f.uses, f.seats, f.rate, f.limit, f.version = uses, f.seats[:0], 0, -1, f.version+1
	n.seat(now, at)
}

// SetRate changes a link.
func (n *Net) SetRate(now unit.Time, link int32, rate float64) {
	if n.rate[link] != rate {
		n.rate[link], n.most[link] = rate, rate
		n.change(now, link)
	}
}

// change notes that rates are to be set anew.
func (n *Net) change(now unit.Time, link int32) {
	if len(n.changed) == 0 {
		n.since = now
	}
	if !n.marked[link] {
		n.marked[link] = true
		n.changed = append(n.changed, link)
	}
}

// Next returns the end of the next flow, or the other time if that is not later. Rates include changes until then.
func (n *Net) Next(other unit.Time) (at unit.Time, flow bool) {
	for {
		if at, flow = n.next(); !flow || other <= at {
			at, flow = other, false
		}
		if !n.Settle(at) {
			return at, flow
		}
	}
}

// Settle updates rates if changes must count before a time, and reports whether it did.
func (n *Net) Settle(at unit.Time) bool {
	if len(n.changed) == 0 || at != unit.Never && at <= n.since+n.Grain {
		return false
	}
	n.refill()
	return true
}

// Ends returns when the next flow ends by the last rates, unit.Never without one.
func (n *Net) Ends() unit.Time {
	at, _ := n.next()
	return at
}

func (n *Net) next() (unit.Time, bool) {
	for len(n.ends) > 0 {
		e := n.ends[0]
		if n.flows[e.Then].version == e.Of {
			return e.At, true
		}
		n.ends.Pop()
	}
	return unit.Never, false
}

// Rate returns the rate of a link, bytes per picosecond.
func (n *Net) Rate(link int32) float64 { return n.rate[link] }

// Close frees the memory of flows. The rates of links remain.
func (n *Net) Close() { *n = Net{rate: n.rate} }

// End removes the flow that ends next. It returns the time, number and tag.
func (n *Net) End() (at unit.Time, number, tag int32) {
	e := n.ends.Pop()
	at, number = e.At, int32(e.Then)
	f := &n.flows[number]
	n.advance(f, at)
	tag = f.tag
	n.remove(at, number)
	return at, number, tag
}

// Stop removes a flow before its end and returns the number of its remaining bytes.
func (n *Net) Stop(now unit.Time, at int32) float64 {
	f := &n.flows[at]
	n.advance(f, now)
	left := max(0, f.left)
	n.remove(now, at)
	return left
}

// Sends returns the rate of a flow, in bytes per picosecond.
func (n *Net) Sends(at int32) float64 { return n.flows[at].rate }

// LimitsOf returns which links limited a flow until rates were last set, in the order in which they first did. It
// is valid until the flow has ended and another one begins.
func (n *Net) LimitsOf(at int32) []Limit { return n.flows[at].limits }

// nearlyFull is the part of its rate from which a link counts as full in addition to the one that limits a flow.
const nearlyFull = 0.95

// BusyOf returns how long a flow was limited by a link other than its first while its first was also full. Its
// sender then had no spare rate. See LimitsOf.
func (n *Net) BusyOf(at int32) unit.Time { return n.flows[at].busy }

// advance brings a flow's bytes up to a time.
func (n *Net) advance(f *flow, now unit.Time) {
	if now <= f.at {
		return
	}
	d := now - f.at
	if f.left -= float64(f.rate * float64(d)); n.Limits && f.limit >= 0 {
		f.book(f.limit, d)
		if f.full {
			f.busy += d
		}
	}
	f.at = now
}

func (f *flow) book(link int32, d unit.Time) {
	for i := range f.limits {
		if f.limits[i].Link == link {
			f.limits[i].Time += d
			return
		}
	}
	f.limits = append(f.limits, Limit{link, d})
}

// remove takes a flow away.
func (n *Net) remove(now unit.Time, at int32) {
	f := &n.flows[at]
	n.unseat(now, f)
	f.version++
	f.uses = nil
	n.free = append(n.free, at)
}

// unseat removes a flow from its links.
func (n *Net) unseat(now unit.Time, f *flow) {
	for i, u := range f.uses {
		list, place := n.on[u.Link], f.seats[i]
		last := len(list) - 1
		moved := list[last]
		list[place] = moved
		n.flows[moved.flow].seats[moved.use] = place
		n.on[u.Link] = list[:last]
		n.change(now, u.Link)
	}
	n.carry(f, -f.rate, now)
}
