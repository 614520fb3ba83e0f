package flows

import (
	"slices"

	"railyard/internal/result"
	"railyard/unit"
)

// series is the traffic of links over time, in intervals that double when a table would exceed its limit.
type series struct {
	bytes    []float64 // total by port
	slots    [][]slot  // by port; nil: not recorded
	count    int
	interval unit.Time
	most     int
}

type slot struct {
	at    int64 // in intervals
	bytes float64
}

func (s *series) init(ports int, interval unit.Time, most int) {
	*s = series{bytes: make([]float64, ports), interval: interval, most: max(most, 4*ports)}
}

// booked adds a link's traffic between two times; working ports of a set have equal parts of it.
func (r *Run) booked(link int32, from, to unit.Time, rate float64) {
	if int(link) < len(r.series.bytes) {
		r.series.add(link, from, to, rate)
		return
	}
	ports := r.links.ports[link]
	sum := 0.0
	for _, p := range ports {
		sum += r.portRate(p)
	}
	for _, p := range ports {
		if of := r.portRate(p); of > 0 {
			r.series.add(p, from, to, rate*(of/sum))
		}
	}
}

func (s *series) add(port int32, from, to unit.Time, rate float64) {
	s.bytes[port] += rate * float64(to-from)
	if s.slots == nil {
		return
	}
	for int(int64(to-from)/int64(s.interval)) > s.most/4 {
		s.double()
	}
	for from < to {
		at := int64(from / s.interval)
		until := min(to, unit.Time(at+1)*s.interval)
		bytes := rate * float64(until-from)
		if n := len(s.slots[port]); n > 0 && s.slots[port][n-1].at == at {
			s.slots[port][n-1].bytes += bytes
		} else {
			s.slots[port] = append(s.slots[port], slot{at, bytes})
			s.count++
		}
		from = until
	}
	for s.count > s.most {
		s.double()
	}
}

// double folds neighbouring intervals together.
func (s *series) double() {
	s.interval, s.count = 2*s.interval, 0
	for p, all := range s.slots {
		out := all[:0]
		for _, x := range all {
			x.at /= 2
			if n := len(out); n > 0 && out[n-1].at == x.at {
				out[n-1].bytes += x.bytes
			} else {
				out = append(out, x)
			}
		}
		s.slots[p] = out
		s.count += len(out)
	}
}

// rows are the intervals in the order of time and port.
func (s *series) rows(until unit.Time) []result.LinkRow {
	keys := make([]uint64, 0, s.count) // an interval and a port each: numbers sort in half the time of rows
	for p, all := range s.slots {
		for _, x := range all {
			keys = append(keys, uint64(x.at)<<32|uint64(p))
		}
	}
	slices.Sort(keys)
	rows, next := make([]result.LinkRow, len(keys)), make([]int32, len(s.slots))
	for i, k := range keys {
		p := int32(uint32(k))
		x := s.slots[p][next[p]]
		next[p]++
		start := unit.Time(x.at) * s.interval
		rows[i] = result.LinkRow{Start: int64(start), Length: int64(min(s.interval, until-start)), Port: p,
			Bytes: int64(x.bytes)}
	}
	return rows
}
