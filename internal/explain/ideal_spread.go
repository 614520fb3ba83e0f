package explain

import (
	"slices"

	"railyard/roce"
	"railyard/unit"
)

// packetRun is n equal packets.
type packetRun struct {
	op         roce.Opcode
	payload, n int
}

// spread returns how long a message takes whose packets go side by side. Packets of one size stay in order; the last
// one, of another size, overtakes others where possible. So the message completes no earlier than the other packets
// alone, than the last one alone after the NIC's departures, and than each stage has sent all of them, and the last
// two.
func (w *way) spread(runs []packetRun) unit.Time {
	tail := &runs[len(runs)-1]
	if len(runs) == 1 && tail.n == 1 {
		w.run(tail.op, tail.payload, 1)
		return w.done
	}
	for i, narrow := 0, w.narrows(); narrow && i < len(runs); i++ {
		if runs[i].op == roce.WriteFirst {
			runs[i].op = runs[i+1].op // it is longer by its RETH, and others overtake it
		}
	}
	tail.n--
	// from the end of a frame to the end of the message
	least := slices.Repeat([]unit.Time{unit.Never}, len(w.path))
	first, all := unit.Never, unit.Time(0) // PCIe at the receiver
	var before, busy []unit.Time
	size := unit.Bytes(0)
	for _, r := range runs {
		if r.n == 0 {
			continue // the last packet is its own run
		}
		size = w.size(r.op, r.payload)
		turns := w.newTurns(size, unit.Bytes(r.payload))
		for left := r.n; left > 0; left-- {
			if skipped := turns.skip(left); skipped > 0 {
				for h := range busy {
					busy[h] += unit.Time(skipped) * w.takes(h, size)
				}
				all += unit.Time(skipped) * w.writes(r.payload)
				left -= skipped
			}
			w.send(size, unit.Bytes(r.payload))
			if before == nil {
				before, busy = slices.Clone(w.last), make([]unit.Time, len(w.path))
				w.rest(least, size)
				first = w.arrived
			}
			for h := range busy {
				busy[h] += w.takes(h, size)
			}
			all += w.writes(r.payload)
		}
	}
	short := &way{path: w.path, cut: w.cut, pcie: w.pcie, into: w.into, fetched: w.fetched,
		last: make([]unit.Time, len(w.path)), free: slices.Clone(w.free)}
	for h := range short.free[1:] {
		short.free[h+1] = make([]unit.Time, w.path[h+1].ports)
	}
	end := w.size(tail.op, tail.payload)
	short.send(end, unit.Bytes(tail.payload))
	short.rest(least, end)
	done := max(w.done, short.done)
	for h, s := range w.path {
		from := min(before[h], short.last[h])
		done = max(done, from+(busy[h]+short.takes(h, end))/unit.Time(s.ports)+least[h])
		if s.ports == 1 {
			done = max(done, min(w.last[h], short.last[h])+w.takes(h, size)+w.takes(h, end)+least[h])
		}
	}
	if w.into > 0 {
		done = max(done, min(first, short.arrived)+all+w.writes(tail.payload))
	}
	return done
}

// narrows reports whether packets that were side by side get behind one another.
func (w *way) narrows() bool {
	for h := range w.path[1:] {
		if w.path[h+1].ports < w.path[h].ports {
			return true
		}
	}
	return false
}

// rest lowers the minimum remaining time after each stage by the remaining time of the last packet.
func (w *way) rest(least []unit.Time, size unit.Bytes) {
	for h := range w.path {
		least[h] = min(least[h], w.done-w.last[h]-w.takes(h, size))
	}
}

// takes returns how long a frame occupies a port of a stage.
func (w *way) takes(h int, size unit.Bytes) unit.Time {
	return unit.Serialize(size+roce.PreambleIFG, w.path[h].rate)
}

// writes returns how long a payload takes from the NIC to memory.
func (w *way) writes(payload int) unit.Time {
	if w.into == 0 {
		return 0
	}
	return unit.Serialize(unit.Bytes(payload), w.into)
}

// turns follows equal packets over a path in cycles, in which each port of a stage has the same number. Once every
// stage follows the previous cycle at the pace of the slowest stage so far, two cycles in a row, it stays so.
type turns struct {
	w           *way
	cycle       int         // packets
	paces       []unit.Time // by part of the state: of a cycle
	state, next []unit.Time
	in, steady  int // packets of this cycle; cycles in a row
}

// mostTurns is the maximum cycle length.
const mostTurns = 1 << 14

func (w *way) newTurns(size, payload unit.Bytes) *turns {
	t := &turns{w: w, cycle: 1}
	for _, s := range w.path {
		for a, b := t.cycle, s.ports; ; a, b = b, a%b {
			if b == 0 {
				t.cycle *= s.ports / a
				break
			}
		}
		if t.cycle > mostTurns {
			return &turns{w: w}
		}
	}
	pace := unit.Time(0)
	if w.pcie > 0 {
		pace = unit.Time(t.cycle) * unit.Serialize(payload, w.pcie)
	}
	var stages []unit.Time
	for h := range w.path {
		pace = max(pace, unit.Time(t.cycle/w.path[h].ports)*w.takes(h, size))
		stages = append(stages, pace)
	}
	written := unit.Time(0)
	if w.into > 0 {
		written = max(pace, unit.Time(t.cycle)*unit.Serialize(payload, w.into))
		t.paces = append(t.paces, written)
	} else {
		t.paces = append(t.paces, pace)
	}
	fetched := unit.Time(0)
	if w.pcie > 0 {
		fetched = stages[0]
	}
	t.paces = append(t.paces, pace, written, fetched)
	for h := range w.path {
		for range w.free[h] {
			t.paces = append(t.paces, stages[h])
		}
		t.paces = append(t.paces, stages[h])
	}
	return t
}

// times is the complete state of a path.
func (w *way) times(f func(*unit.Time)) {
	f(&w.done)
	f(&w.arrived)
	f(&w.written)
	f(&w.fetched)
	for h := range w.path {
		for p := range w.free[h] {
			f(&w.free[h][p])
		}
		f(&w.last[h])
	}
}

// skip is called before each packet, with the number of remaining packets. In the steady state it skips whole cycles,
// leaves at least one packet, and returns the number of skipped packets.
func (t *turns) skip(left int) int {
	if t.cycle == 0 {
		return 0
	}
	if t.in++; t.in <= t.cycle && t.state != nil {
		return 0
	}
	t.in, t.next = 1, t.next[:0]
	t.w.times(func(x *unit.Time) { t.next = append(t.next, *x) })
	alike := t.state != nil
	for i := range t.state {
		alike = alike && t.next[i]-t.state[i] == t.paces[i]
	}
	if t.steady++; !alike {
		t.steady = 0
	}
	t.state, t.next = t.next, t.state
	cycles := (left - 1) / t.cycle
	if t.steady < 2 || cycles == 0 {
		return 0
	}
	i := 0
	t.w.times(func(x *unit.Time) { *x += unit.Time(cycles) * t.paces[i]; i++ })
	skipped := cycles * t.cycle
	t.cycle = 0 // less than another cycle is left
	return skipped
}
