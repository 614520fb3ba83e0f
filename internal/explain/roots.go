package explain

import (
	"cmp"
	"slices"

	"railyard/internal/result"
	"railyard/internal/topo"
	"railyard/unit"
)

// rootKind is the kind of a pause's root.
type rootKind uint8

const (
	egress   rootKind = iota // the queues of an egress port
	receiver                 // a server that takes its data too slowly, behind a port
	circular                 // paused ports that wait for one another
)

func (k rootKind) String() string {
	return [...]string{result.RootEgress, result.RootReceiver, result.RootCircular}[k]
}

// rootShare is the part of a pause that is due to a root.
type rootShare struct {
	port  int32
	kind  rootKind
	share float64
	queue float64 // mean bytes held by the root meanwhile
}

const (
	// mostRoots is the maximum number of roots of one pause; the part of others is distributed in proportion.
	mostRoots = 16
	// mostPasses bounds the pauses of a port that what waits there is put down to: the last ones.
	mostPasses = 8
)

// tracer follows pauses to their roots.
type tracer struct {
	r      *reading
	pauses pauseIndex
	busy   map[*pauseSpan]bool // pauses being followed: a repeated one closes a cycle
}

type rootKey struct {
	port int32
	kind rootKind
}

// traceRoots fills in the roots of all pauses.
//
// A switch pauses a port for as long as the bytes of its link hold an ingress counter up. They are in egress queues,
// each with its share of them over the pause. What of such a queue is there because its port was paused too is put down
// to the roots of those pauses, and the rest to the queue itself: it holds bytes because more came than its link takes.
func (r *reading) traceRoots(p pauseIndex) {
	t := &tracer{r: r, pauses: p, busy: map[*pauseSpan]bool{}}
	ports := make([]int32, 0, len(p))
	for port := range p {
		ports = append(ports, port)
	}
	slices.Sort(ports)
	for _, port := range ports {
		for i := range p[port] {
			t.follow(port, &p[port][i])
		}
	}
	for _, port := range ports {
		for i := range p[port] {
			s := &p[port][i]
			if s.cause = -1; len(s.roots) > 0 && s.roots[0].kind != receiver {
				s.cause = s.roots[0].port
			}
		}
	}
}

// follow returns the roots of a pause.
func (t *tracer) follow(port int32, s *pauseSpan) []rootShare {
	if s.roots != nil {
		return s.roots
	}
	t.busy[s] = true
	defer delete(t.busy, s)
	switch {
	case s.hold != nil && len(s.hold.By) > 0:
		s.roots = t.held(s.hold)
	case s.by >= 0: // the location of the bytes was not recorded
		s.roots = []rootShare{{port: s.by, share: 1}}
	case t.r.server(t.r.peerPort(port)):
		s.roots = []rootShare{{port: port, kind: receiver, share: 1}}
	default:
		s.roots = []rootShare{{port: t.r.peerPort(port), share: 1}}
	}
	return s.roots
}

// held returns the roots for the bytes of a link.
func (t *tracer) held(h *Hold) []rootShare {
	sums := map[rootKey]rootShare{}
	add := func(x rootShare, part float64) {
		if part <= 0 {
			return
		}
		k := rootKey{x.port, x.kind}
		at := sums[k]
		at.port, at.kind = x.port, x.kind
		at.queue += part * x.queue
		at.share += part
		sums[k] = at
	}
	kind := egress
	if t.r.server(h.Port) {
		kind = receiver
	}
	for i := range h.By {
		x := &h.By[i]
		own := rootShare{port: x.Port, kind: kind, queue: float64(x.Queue)}
		passed, all := t.passes(x, h.To)
		if all == 0 {
			add(own, x.Share)
			continue
		}
		add(own, x.Share*(1-x.Passed))
		for _, s := range passed {
			part := x.Share * x.Passed * float64(min(s.to, h.To)-s.from) / float64(all)
			if t.busy[s] {
				add(rootShare{port: t.r.ring(x.Port), kind: circular, queue: float64(x.Queue)}, part)
				continue
			}
			for _, root := range t.follow(x.Port, s) {
				add(root, part*root.share)
			}
		}
	}
	roots := make([]rootShare, 0, len(sums))
	for _, x := range sums {
		x.queue /= x.share
		roots = append(roots, x)
	}
	slices.SortFunc(roots, func(a, b rootShare) int {
		return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.kind, b.kind), cmp.Compare(a.port, b.port))
	})
	roots = roots[:min(len(roots), mostRoots)]
	sum := 0.0
	for _, x := range roots {
		sum += x.share
	}
	for i := range roots {
		roots[i].share /= sum
	}
	return roots
}

// passes returns the last pauses of a port that packets which waited there until a time have waited through, and how
// long those were together.
func (t *tracer) passes(x *Holder, until unit.Time) (spans []*pauseSpan, all unit.Time) {
	if x.Passed <= 0 {
		return nil, 0
	}
	list := t.pauses.within(x.Port, x.Since, until)
	for i := max(0, len(list)-mostPasses); i < len(list); i++ {
		s := &list[i]
		spans = append(spans, s)
		all += min(s.to, until) - s.from
	}
	return spans, all
}

// ring returns the port by which a circular dependency is named that a port is part of: the first that was paused.
func (r *reading) ring(port int32) int32 {
	for i := range r.seen.Chains.All {
		c := &r.seen.Chains.All[i]
		for _, p := range c.Ports {
			if p.Port == port {
				return c.Ports[c.First].Port
			}
		}
	}
	return port
}

// server reports whether a port is a server's.
func (r *reading) server(port int32) bool {
	return int(port) < len(r.seen.Ports) && r.graph.Nodes[r.seen.Ports[port].Node].Role == topo.Host
}

// mainRoot returns the root that most of some pauses is due to.
func mainRoot(spans []pauseSpan) (top rootShare, ok bool) {
	took := map[rootKey]float64{}
	most := 0.0
	for i := range spans {
		for _, x := range spans[i].roots {
			k := rootKey{x.port, x.kind}
			took[k] += x.share * float64(spans[i].to-spans[i].from)
			if d := took[k]; d > most || d == most && x.port < top.port {
				top, most, ok = x, d, true
			}
		}
	}
	return top, ok
}

// rootRows spells the roots of pauses out. The rows of one pause add up to its time.
func (r *reading) rootRows() (rows []result.PauseRootRow) {
	pauses := r.pauseIntervals()
	ports := make([]int32, 0, len(pauses))
	for port := range pauses {
		ports = append(ports, port)
	}
	slices.Sort(ports)
	for _, port := range ports {
		for i := range pauses[port] {
			s := &pauses[port][i]
			first, left := len(rows), s.to-s.from
			for _, x := range s.roots {
				d := unit.Time(x.share * float64(s.to-s.from))
				left -= d
				rows = append(rows, result.PauseRootRow{From: int64(s.from), To: int64(s.to), Port: port, By: s.by,
					Root: x.port, Kind: x.kind.String(), Time: int64(d), Bytes: int64(x.queue)})
			}
			rows[first].Time += int64(left) // the largest has what division leaves
		}
	}
	slices.SortStableFunc(rows, func(a, b result.PauseRootRow) int { return cmp.Compare(a.From, b.From) })
	return rows
}

// heldRows spells out whose bytes were in queues that ports were paused for.
func (r *reading) heldRows() []result.PauseHeldRow {
	rows := make([]result.PauseHeldRow, len(r.seen.Held))
	for i, x := range r.seen.Held {
		rows[i] = result.PauseHeldRow{At: int64(x.At), Port: x.Port, QP: x.Conn, Bytes: int64(x.Bytes)}
	}
	return rows
}

// pauseRoots fills in what pauses were for, and ranks it.
func (r *reading) pauseRoots(s *result.Summary, t *result.Tables) {
	if len(t.Pauses) == 0 {
		return
	}
	t.PauseRoots, t.PauseHeld = r.rootRows(), r.heldRows()
	t.Pauses = slices.Clone(t.Pauses)
	pauses := r.pauseIntervals()
	for i := range t.Pauses {
		p := &t.Pauses[i]
		if at := unit.Time(p.At); p.What == "pause" {
			if list := pauses.within(p.Port, at, at+1); len(list) > 0 && list[0].from == at {
				p.Cause = list[0].by
			}
		}
	}
	s.PauseRoots = result.RankPauses(t.PauseRoots, t.PauseHeld, 0, int64(r.seen.At), t.Ports, t.QPs)
}
