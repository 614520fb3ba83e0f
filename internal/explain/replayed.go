package explain

import (
	"math"
	"slices"

	"railyard/internal/cause"
	"railyard/internal/fluid"
	"railyard/internal/topo"
	"railyard/unit"
)

// starts, stops and freedBy are the start and end of each operation in a replay, and the operation whose end released
// it.
func (p *replay) starts(op int32) unit.Time {
	if i := p.ahead.In(op); i >= 0 {
		return p.x.Start[i]
	}
	return p.ahead.Start[op]
}

func (p *replay) stops(op int32) unit.Time {
	if i := p.ahead.In(op); i >= 0 {
		return p.x.End[i]
	}
	return p.ahead.End[op]
}

func (p *replay) freedBy(op int32) int32 {
	i := p.ahead.In(op)
	if i < 0 {
		return p.ahead.Cause[op]
	}
	if before := p.x.Cause[i]; before >= 0 {
		return p.ahead.Of(before)
	}
	return -1
}

// lastIn returns which of some operations ended last in a replay, -1 for none.
func (p *replay) lastIn(ops [2]int32) int32 {
	if last, ok := p.lasts[ops]; ok {
		return last
	}
	last := int32(-1)
	for i := ops[0]; i < ops[1]; i++ {
		if end := p.stops(i); end != unit.Never && (last < 0 || end >= p.stops(last)) &&
			!p.m.b.r.exec.Work.Background(i) {
			last = i
		}
	}
	if p.lasts == nil {
		p.lasts = map[[2]int32]int32{}
	}
	p.lasts[ops] = last
	return last
}

// ends returns when some operations had ended in a replay.
func (p *replay) ends(ops [2]int32) unit.Time {
	if last := p.lastIn(ops); last >= 0 {
		return p.stops(last)
	}
	return 0
}

// spans are the start and end of each collective in a replay, and its last operation.
func (p *replay) spans() {
	n := len(p.m.b.r.dag.Colls)
	p.from, p.to, p.lastOf = make([]unit.Time, n), make([]unit.Time, n), make([]int32, n)
	for c := range p.from {
		p.from[c], p.lastOf[c] = unit.Never, -1
	}
	for i := range p.m.b.r.dag.Ops {
		c, end := p.m.b.r.dag.Ops[i].Coll, p.stops(int32(i))
		if c < 0 || end == unit.Never {
			continue
		}
		if p.from[c] = min(p.from[c], p.starts(int32(i))); p.lastOf[c] < 0 || end > p.to[c] {
			p.to[c], p.lastOf[c] = end, int32(i)
		}
	}
}

// latency returns what a message takes beyond its time on the slowest link in a replay.
func (m *model) latency(x int32, v without) unit.Time {
	msg := &m.b.r.seen.Messages[x]
	c := m.b.share.cost(msg.Conn, msg.Bytes)
	switch {
	case v.has(cause.Latency):
		return c.kept
	case v.stays:
		return c.fast
	}
	return c.whole
}

// shared is the share of a flow's time for which links that several NICs send over limited it, and of these the
// receiver's, while the sender could have sent more.
func (p *replay) shared(number int32) (other, into float64) {
	var all, of, receiver unit.Time
	for _, l := range p.net.LimitsOf(number) {
		if all += l.Time; p.m.shared[l.Link] {
			of += l.Time
			if ports := p.m.portsOf(l.Link); len(ports) > 0 && p.m.b.r.peer(ports[0]).Role == topo.Host {
				receiver += l.Time
			}
		}
	}
	busy := p.net.BusyOf(number)
	share := func(of unit.Time) float64 { return float64(max(0, of-busy)) / float64(max(1, all)) }
	return share(of), share(receiver)
}

// filledBy returns how long a message's largest window limited it, of what did.
func (m *model) filledBy(x int32, limits []fluid.Limit) unit.Time {
	w := m.ways[m.b.r.seen.Messages[x].Conn].window
	if i := slices.IndexFunc(limits, func(l fluid.Limit) bool { return l.Link == w }); i >= 0 {
		return limits[i].Time
	}
	return 0
}

// alone returns how long bytes take over links that nobody else uses.
func (m *model) alone(n *fluid.Net, uses []fluid.Use, bytes float64) unit.Time {
	least := math.Inf(1)
	for _, u := range uses {
		if rate := n.Rate(u.Link); rate > 0 && u.Share > 0 {
			least = min(least, rate/u.Share)
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return unit.Time(math.Ceil(bytes / least)) // as the fluid rounds
}

// over returns the path of a connection, its last one after the replay.
func (p *replay) over(c int32) []fluid.Use {
	if p.uses != nil && p.uses[c] != nil {
		return p.uses[c]
	}
	return p.m.over(c, p.now, p.v)
}
