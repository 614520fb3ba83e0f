package explain

import (
	"cmp"
	"slices"
	"sort"

	"railyard/unit"
)

// Hold is a period in which a switch kept the sender at one of its ports paused, with the location of the bytes that
// kept the port's counter above xON.
type Hold struct {
	Port     int32 // the switch's, by which the bytes came
	Priority int32
	From, To unit.Time
	By       []Holder
}

// Holder is an egress port whose queues held bytes of a Hold.
type Holder struct {
	Port  int32
	Share float64    // of the bytes that came by the hold's port, over its time; shares of one hold add up to 1
	Queue unit.Bytes // in the port's queues, of all ingresses, mean of the hold's ends
	// Passed is the share of that queue caused by pauses of the port itself: the data that it would have sent
	// meanwhile.
	Passed float64
	Since  unit.Time // the packet that waited longest was queued
}

// Held is the bytes of one connection in an egress port's queues at a time.
type Held struct {
	At    unit.Time
	Port  int32
	Conn  int32
	Bytes unit.Bytes
}

// pauseSpan is a time in which a port was paused. Spans of one port do not overlap: where several priorities
// were, the one that was paused first has the time.
type pauseSpan struct {
	from, to unit.Time
	cause    int32       // root of the largest part; -1 for a server
	by       int32       // egress port of the peer with most of the bytes; -1: a server, or unknown
	hold     *Hold       // nil: the peer is a server, or it is not known
	roots    []rootShare // which cause it, by share, largest first
}

// pauseIndex lists the pauses of each port, in order of time.
type pauseIndex map[int32][]pauseSpan

// within returns the pauses of a port that overlap a time.
func (p pauseIndex) within(port int32, from, to unit.Time) []pauseSpan {
	all := p[port]
	i := sort.Search(len(all), func(i int) bool { return all[i].to > from })
	n := sort.Search(len(all), func(i int) bool { return all[i].from >= to })
	return all[i:max(i, n)]
}

// elsewhere returns the pause time of a port between two times that is due to roots other than its own.
func (p pauseIndex) elsewhere(port int32, from, to unit.Time, own func(root int32) bool) (sum unit.Time) {
	for _, s := range p.within(port, from, to) {
		part := 0.0
		for _, x := range s.roots {
			if x.kind != egress || !own(x.port) {
				part += x.share
			}
		}
		sum += unit.Time(part * float64(min(s.to, to)-max(s.from, from)))
	}
	return sum
}

// pauseIntervals returns when ports were paused, with the roots of each pause.
func (r *reading) pauseIntervals() pauseIndex {
	if r.paused == nil {
		r.paused = r.pauseSpans()
		r.traceRoots(r.paused)
	}
	return r.paused
}

// pauseSpans pairs pauses with their ends; a pause without an end lasts until now, or until the end of the recording.
func (r *reading) pauseSpans() pauseIndex {
	type class struct{ port, priority int32 }
	holds := map[class][]*Hold{}
	for i := range r.seen.Holds {
		h := &r.seen.Holds[i]
		k := class{h.Port, h.Priority}
		holds[k] = append(holds[k], h)
	}
	for _, list := range holds {
		slices.SortStableFunc(list, func(a, b *Hold) int { return cmp.Compare(a.From, b.From) })
	}
	out, on, order := pauseIndex{}, map[class]pauseSpan{}, map[int32][]class{}
	begin := func(k class, at unit.Time, cause int32) {
		s := pauseSpan{from: at, cause: cause, by: cause}
		list := holds[class{r.peerPort(k.port), k.priority}]
		if i := sort.Search(len(list), func(i int) bool { return list[i].From > at }); i > 0 {
			if s.hold = list[i-1]; len(s.hold.By) > 0 && !r.server(s.hold.Port) {
				s.by = s.hold.By[0].Port
			}
		}
		on[k] = s
		order[k.port] = append(order[k.port], k)
	}
	end := func(k class, at unit.Time) {
		s, open := on[k]
		if !open {
			return
		}
		first := order[k.port][0] == k
		order[k.port] = slices.DeleteFunc(order[k.port], func(x class) bool { return x == k })
		delete(on, k)
		if !first {
			return // another priority had the time
		}
		if s.to = at; s.to > s.from {
			out[k.port] = append(out[k.port], s)
		}
		if next := order[k.port]; len(next) > 0 {
			s := on[next[0]]
			s.from = at
			on[next[0]] = s
		}
	}
	last := r.seen.At
	if r.seen.PausesUntil > 0 {
		last = r.seen.PausesUntil
	}
	for _, p := range r.seen.Recorded.Pauses {
		k := class{p.Port, p.Priority}
		switch at := unit.Time(p.At); p.What {
		case "pause":
			if _, open := on[k]; !open {
				begin(k, at, p.Cause)
			}
		case "resume":
			end(k, at)
		}
	}
	var left []class
	for k := range on {
		left = append(left, k)
	}
	slices.SortFunc(left, func(a, b class) int {
		return cmp.Or(cmp.Compare(a.port, b.port),
			cmp.Compare(slices.Index(order[a.port], a), slices.Index(order[b.port], b)))
	})
	for _, k := range left {
		end(k, last)
	}
	return out
}

// peerPort is the port at the other end of a port's link.
func (r *reading) peerPort(port int32) int32 {
	if int(port) >= len(r.seen.Ports) {
		return -1
	}
	return r.seen.Ports[port].Peer
}

// pauseChain lists the ports through which a port was paused, from its peer's on: each held most of the bytes of the
// previous pause. The root of most of its pauses is last; a server if that paused it.
func (r *reading) pauseChain(port int32) (chain []string) {
	pauses := r.pauseIntervals()
	root, ok := mainRoot(pauses[port])
	if !ok {
		return nil
	}
	for seen := map[int32]bool{}; !seen[port] && len(pauses[port]) > 0; {
		if seen[port] = true; port == root.port && root.kind != egress {
			break
		}
		took := map[int32]unit.Time{}
		next, most := int32(-1), unit.Time(0)
		for _, s := range pauses[port] {
			took[s.by] += s.to - s.from
			if d := took[s.by]; d > most || d == most && s.by < next {
				next, most = s.by, d
			}
		}
		if next < 0 || next == root.port && root.kind == egress {
			break
		}
		chain = append(chain, r.portName(next))
		port = next
	}
	if root.kind == receiver {
		return append(chain, r.peer(root.port).Name)
	}
	if n := len(chain); n == 0 || chain[n-1] != r.portName(root.port) {
		chain = append(chain, r.portName(root.port))
	}
	return chain
}
