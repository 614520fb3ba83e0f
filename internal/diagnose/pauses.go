package diagnose

import (
	"cmp"
	"math"
	"slices"

	"railyard/internal/counters"
	"railyard/unit"
)

// Pause is one port's pauses of its peer: an edge of the graph of pauses. Its direction is that of the frames,
// opposite to the data.
type Pause struct {
	From, To  *Port // To stops sending
	Class     int   // priority, -1 if only the sum of all is shown
	Sent, Got Reading
}

// Frames returns how many pauses that were, by the end that shows more.
func (p *Pause) Frames() uint64 { return max(p.Sent.Grew, p.Got.Grew) }

// PerSecond returns how many a second.
func (p *Pause) PerSecond() float64 {
	if p.Sent.Grew >= p.Got.Grew && p.Sent.Is {
		return p.Sent.PerSecond()
	}
	return p.Got.PerSecond()
}

// Seen is the reading of the end that shows more.
func (p *Pause) Seen() Reading {
	if p.Sent.Is && p.Sent.Grew >= p.Got.Grew {
		return p.Sent
	}
	return p.Got
}

// contradicted reports whether one end of the link counted pauses between the two times and the other none.
func (p *Pause) contradicted() bool {
	return p.Sent.Two && p.Got.Two && (p.Sent.Some() && p.Got.None() || p.Sent.None() && p.Got.Some())
}

// took returns the time that the pauses stopped the peer, by the counters of time at ends that counted the frames. It
// has none where they are not shown or counted nothing.
func (p *Pause) took() (most Reading) {
	if p.Class < 0 {
		return most
	}
	got, sent := p.To.read(rxDur(p.Class)), p.From.read(txDur(p.Class))
	for _, r := range []struct{ frames, time Reading }{{p.Got, got}, {p.Sent, sent}} {
		if r.frames.Some() && r.time.Some() && r.time.Two && r.time.Grew > most.Grew {
			most = r.time
		}
	}
	return most
}

// leastPaused is the share of the interval below which pauses are no finding: they cost less than that of the rate.
const leastPaused = 0.001

// brief reports whether the pauses are known to have stopped the peer for too short a time to be a finding. Their count
// decides where no time is known.
func (p *Pause) brief() bool {
	took, over := p.took(), max(p.To.On.Over, p.From.On.Over)
	return took.Is && over > 0 && float64(took.Grew) < leastPaused*float64(over)/float64(unit.Microsecond)
}

// noteBrief notes such pauses.
func (f *Fabric) noteBrief(p *Pause) {
	took := unit.Time(p.took().Grew) * unit.Microsecond
	f.note("%v sent %s of %s to %v, which stopped it for %s of %s: less than %g %%, no finding", p.From,
		unit.Plural(p.Frames(), "pause"), classWord(p.Class), p.To, took.Show(),
		max(p.To.On.Over, p.From.On.Over).Show(), 100*leastPaused)
}

// Chain is the root of pauses and the ports that they reach.
type Chain struct {
	Class   int
	Root    *Device
	Port    *Port   // the root port: the NIC's, or the egress of a congested switch; nil
	First   []Pause // pauses sent by the root itself
	Way     []Pause // from the root up, at each step the one with most frames
	Reaches []*Port // ports that stop sending because of it, directly or not
	Hosts   int     // among them
	Frames  uint64  // of First
}

// NIC reports whether it begins at a host, which forwards nothing: the pauses are its own. A device without counters
// that its links do not show to be a switch counts as one.
func (c *Chain) NIC() bool { return c.Root.Kind != Switch }

// brief reports whether all pauses of the root are brief.
func (c *Chain) brief() bool {
	return !slices.ContainsFunc(c.First, func(p Pause) bool { return !p.brief() })
}

// findPauses lists the pauses between ports, in the order of devices and ports.
func (f *Fabric) findPauses() {
	for _, d := range f.Devices {
		for _, p := range d.Ports {
			f.pausesOf(p)
			if p.Peer != nil && f.byName[p.Peer.On.Name] != p.Peer.On { // the device is unknown
				f.pausesOf(p.Peer)
			}
		}
	}
}

// pausesOf lists the pauses that a port sends.
func (f *Fabric) pausesOf(p *Port) {
	if p.Peer == nil {
		return
	}
	any, sum := false, Pause{From: p, To: p.Peer, Class: -1, Sent: p.read(allTxPFC), Got: p.Peer.read(allRxPFC)}
	for k := range counters.Priorities {
		x := Pause{From: p, To: p.Peer, Class: k, Sent: p.read(txPFC(k)), Got: p.Peer.read(rxPFC(k))}
		any = any || x.Sent.Is || x.Got.Is
		if x.Frames() > 0 {
			f.Pauses = append(f.Pauses, x)
		}
	}
	if any || sum.Frames() == 0 {
		return
	}
	for k := range counters.Priorities { // one lossless class: the sum belongs to it
		if f.Lossless == 1<<k {
			sum.Class = k
		}
	}
	f.Pauses = append(f.Pauses, sum)
}

// from are the pauses that a device sends, and onto those that reach it, of one class.
func (f *Fabric) from(d *Device, class int) (out []Pause) {
	for _, x := range f.Pauses {
		if x.From.On == d && x.Class == class {
			out = append(out, x)
		}
	}
	return out
}

func (f *Fabric) onto(d *Device, class int) (out []Pause) {
	for _, x := range f.Pauses {
		if x.To.On == d && x.Class == class {
			out = append(out, x)
		}
	}
	return out
}

// findChains follows pauses to their roots. A paused switch pauses others because its queue cannot drain: it propagates
// pauses. A switch that sends pauses and receives none is a root; so is every NIC, because it forwards nothing.
func (f *Fabric) findChains() {
	type key struct {
		d     *Device
		class int
	}
	seen := map[key]bool{}
	for _, x := range f.Pauses {
		k := key{x.From.On, x.Class}
		if seen[k] {
			continue
		}
		seen[k] = true
		if x.From.On.Kind == Switch && len(f.onto(x.From.On, x.Class)) > 0 && !f.alsoItself(x.From.On, x.Class) {
			continue
		}
		f.Chains = append(f.Chains, f.chain(x.From.On, x.Class))
	}
	f.unbegun()
	slices.SortStableFunc(f.Chains, func(a, b Chain) int {
		return cmp.Or(cmp.Compare(len(b.Reaches), len(a.Reaches)), cmp.Compare(b.Frames, a.Frames))
	})
}

// unbegun adds a beginning to classes in which every switch that pauses is paused itself: traffic in several
// directions. It is assumed to be the switch with the largest excess of sent over received pauses.
func (f *Fabric) unbegun() {
	for k := -1; k < counters.Priorities; k++ {
		if slices.ContainsFunc(f.Chains, func(c Chain) bool { return c.Class == k }) {
			continue
		}
		var best *Device
		most := int64(math.MinInt64)
		for _, d := range f.Devices {
			more := int64(0)
			for _, x := range f.from(d, k) {
				more += int64(x.Frames())
			}
			if more == 0 {
				continue
			}
			for _, x := range f.onto(d, k) {
				more -= int64(x.Frames())
			}
			if more > most {
				best, most = d, more
			}
		}
		if best != nil {
			f.Chains = append(f.Chains, f.chain(best, k))
		}
	}
}

// alsoItself reports whether a paused switch is a root all the same: an unpaused port marks or drops more than all
// paused ones, whose queues grow as well.
func (f *Fabric) alsoItself(d *Device, class int) bool {
	p := f.congested(d, class)
	if p == nil || p.paused(class) {
		return false
	}
	held := uint64(0)
	for _, q := range d.Ports {
		if q.paused(class) {
			held += q.read(marked(class)).Grew + q.read(dropped(class)).Grew
		}
	}
	return p.read(marked(class)).Grew+p.read(dropped(class)).Grew > held
}

// paused reports whether a port has received pauses.
func (p *Port) paused(class int) bool {
	return p.read(rxPFC(class)).Some() || p.Peer != nil && p.Peer.read(txPFC(class)).Some()
}

// chain returns what begins at a device.
func (f *Fabric) chain(root *Device, class int) Chain {
	c := Chain{Class: class, Root: root, First: f.from(root, class)}
	for _, x := range c.First {
		c.Frames += x.Frames()
	}
	reached := map[*Device]bool{root: true}
	todo := []*Device{root}
	stopped := map[*Port]bool{}
	for len(todo) > 0 {
		d := todo[0]
		todo = todo[1:]
		for _, x := range f.from(d, class) {
			if !stopped[x.To] {
				stopped[x.To] = true
				c.Reaches = append(c.Reaches, x.To)
				if x.To.On.Kind != Switch { // as Chain.NIC: some hosts have no counters
					c.Hosts++
				}
			}
			if !reached[x.To.On] {
				reached[x.To.On] = true
				if x.To.On.Kind == Switch {
					todo = append(todo, x.To.On)
				}
			}
		}
	}
	c.Way = f.way(root, class)
	if c.NIC() {
		c.Port = c.First[0].From
	} else {
		c.Port = f.congested(root, class)
	}
	return c
}

// way goes up from a root, at each step along the pause with most frames, towards ports not yet visited.
func (f *Fabric) way(root *Device, class int) (out []Pause) {
	been := map[*Device]bool{root: true}
	for d := root; ; {
		var best *Pause
		for _, x := range f.from(d, class) {
			if !been[x.To.On] && (best == nil || x.Frames() > best.Frames()) {
				best = &x
			}
		}
		if best == nil {
			return out
		}
		out = append(out, *best)
		d = best.To.On
		been[d] = true
		if d.Kind == Host {
			return out
		}
	}
}

// congested returns the egress of a switch where a class is queued: the one with most packets marked or dropped, else
// with the longest queue, else with the highest load, else with most bytes or packets sent. Data that arrive at a port
// do not leave by it: a port that is the only one to send pauses is excluded.
func (f *Fabric) congested(d *Device, class int) *Port {
	if class < 0 {
		return nil
	}
	var best *Port
	sends := map[*Port]bool{}
	for _, x := range f.from(d, class) {
		sends[x.From] = true
	}
	for _, p := range d.Ports {
		if len(sends) == 1 && sends[p] {
			continue
		}
		sent := p.read(txBytes(class)).Grew + p.sent().Grew + p.sentPackets().Grew
		if p.Seen() && sent > 0 && (best == nil || p.busier(best, class)) {
			best = p
		}
	}
	return best
}

// busier compares two egress ports by how congested a class is there.
func (p *Port) busier(q *Port, class int) bool {
	for _, m := range []meter{marked(class), dropped(class), peak(class)} {
		if a, b := p.read(m), q.read(m); a.Grew != b.Grew {
			return a.Grew > b.Grew
		}
	}
	a, b := p.read(txBytes(class)), q.read(txBytes(class))
	if !a.Is || !b.Is {
		a, b = p.sent(), q.sent()
	}
	x, y := p.load(a), q.load(b)
	if x < 0 || y < 0 {
		x, y = p.sends(), q.sends()
	}
	if x >= 0 && y >= 0 && x != y {
		return x > y
	}
	if !a.Is || !b.Is {
		a, b = p.sentPackets(), q.sentPackets()
	}
	return a.Grew > b.Grew
}
