package explain

import "railyard/unit"

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
		if end := p.stops(i); end != unit.Never && (last < 0 || end >= p.stops(last)) {
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
