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

// spread is how long a message takes whose packets go side by side. Those of one size stay in
// order; the last one, which is shorter, goes past others where it may. So the message is there no
// sooner than the others alone, than the last alone behind what the NIC sent, and than each stage is
// through with all of them, and with the last two.
func (w *way) spread(runs []packetRun) unit.Time {
	tail := &runs[len(runs)-1]
	if len(runs) == 1 && tail.n == 1 {
		w.run(tail.op, tail.payload, 1)
		return w.done
	}
	for i, narrow := 0, w.narrows(); narrow && i < len(runs); i++ {
		if runs[i].op == roce.WriteFirst {
			runs[i].op = runs[i+1].op // it is longer by its RETH, and others go past it
		}
	}
	tail.n--
	// from the end of a frame to that of the message
	least := slices.Repeat([]unit.Time{unit.Never}, len(w.path))
	first, all := unit.Never, unit.Time(0) // PCIe at the receiver
	var before, busy []unit.Time
	size := unit.Bytes(0)
	for _, r := range runs {
		for range r.n {
			size = w.size(r.op, r.payload)
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

// rest lowers what is left at least after each stage by what was left for the last packet.
func (w *way) rest(least []unit.Time, size unit.Bytes) {
	for h := range w.path {
		least[h] = min(least[h], w.done-w.last[h]-w.takes(h, size))
	}
}

// takes is how long a frame occupies a port of a stage.
func (w *way) takes(h int, size unit.Bytes) unit.Time {
	return unit.Serialize(size+roce.PreambleIFG, w.path[h].rate)
}

// writes is how long a payload takes from the NIC to memory.
func (w *way) writes(payload int) unit.Time {
	if w.into == 0 {
		return 0
	}
	return unit.Serialize(unit.Bytes(payload), w.into)
}
