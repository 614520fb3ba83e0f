package explain

import (
	"sort"

	"railyard/unit"
)

// pauseSpan is a time in which a port was paused, and the egress port whose congestion
// made its peer do that, -1 where that is not a switch's.
type pauseSpan struct {
	from, to unit.Time
	cause    int32
}

// pauseIndex is when each port was paused, in order.
type pauseIndex map[int32][]pauseSpan

// within returns the pauses of a port that overlap a time.
func (p pauseIndex) within(port int32, from, to unit.Time) []pauseSpan {
	all := p[port]
	i := sort.Search(len(all), func(i int) bool { return all[i].to > from })
	n := sort.Search(len(all), func(i int) bool { return all[i].from >= to })
	return all[i:max(i, n)]
}

// root follows a pause's cause to the port that was congested without being paused.
func (p pauseIndex) root(port int32, at unit.Time) int32 {
	for range len(p) {
		spans := p.within(port, at, at+1)
		if len(spans) == 0 || spans[0].cause < 0 {
			break
		}
		port = spans[0].cause
	}
	return port
}

func (r *reading) pauseIntervals() pauseIndex {
	out := pauseIndex{}
	began := map[int32]pauseSpan{}
	for _, p := range r.seen.Recorded.Pauses {
		switch at := unit.Time(p.At); p.What {
		case "pause":
			if _, on := began[p.Port]; !on {
				began[p.Port] = pauseSpan{from: at, cause: p.Cause}
			}
		case "resume":
			if s, on := began[p.Port]; on {
				s.to = at
				out[p.Port] = append(out[p.Port], s)
				delete(began, p.Port)
			}
		}
	}
	for port, s := range began {
		s.to = r.seen.At
		out[port] = append(out[port], s)
	}
	return out
}
