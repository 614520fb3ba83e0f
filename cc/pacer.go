package cc

import "railyard/unit"

// Pacer turns a controller's decisions into the pace of one sender. It caches
// the decision, so that the per-packet path calls the controller only when the
// byte budget is used up. Simulated NICs and real sockets share it.
type Pacer struct {
	Ctl    Controller
	Line   unit.Rate
	Rate   unit.Rate  // what is allowed now, at most Line
	Window unit.Bytes // most bytes in flight; zero is no window
	NextAt unit.Time  // not before
	Timer  unit.Time  // when the controller wants OnTimer

	budget int64
	left   int64 // of the budget
	cycle  uint32
}

// Decide reads the controller's decision and reports whether the rate changed.
// A raise also shortens what is left of the wait for the next packet, as with a
// token bucket: at a NIC's lowest rate the gap behind one packet is longer than
// the time to the next raise. A cut leaves the packet in line where it is.
func (p *Pacer) Decide(now unit.Time) (changed bool) {
	d := p.Ctl.Decision()
	r := min(d.Rate, p.Line)
	changed = r != p.Rate
	if r > p.Rate && p.NextAt > now {
		p.NextAt = now + unit.Time(float64(p.NextAt-now)*(float64(p.Rate)/float64(r)))
	}
	p.Rate, p.Window, p.Timer = r, d.Window, d.TimerAt
	if d.Cycle != p.cycle || p.budget != int64(d.Budget) {
		p.cycle, p.left = d.Cycle, int64(d.Budget)
	}
	p.budget = int64(d.Budget)
	return changed
}

// Spent counts bytes towards the budget. It returns true when the budget was
// used up and the controller told: Decide comes next.
func (p *Pacer) Spent(now unit.Time, wire int64) bool {
	if p.budget <= 0 {
		return false
	}
	if p.left -= wire; p.left > 0 {
		return false
	}
	p.left += p.budget
	p.Ctl.OnBytes(now, unit.Bytes(p.budget))
	return true
}

// Delay puts the next packet behind one of so many wire bytes; burst is how far
// the pace may have fallen behind and still catch up.
func (p *Pacer) Delay(now unit.Time, wire int64, burst unit.Time) {
	p.NextAt = max(p.NextAt, now-burst) + unit.Serialize(unit.Bytes(wire), p.Rate)
}
