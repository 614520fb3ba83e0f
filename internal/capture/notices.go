package capture

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"time"

	"railyard/roce"
	"railyard/unit"
)

// Notices are a capture's marks and the CNPs that answer them, by queue pair.
type Notices struct {
	Packets, RoCE int64
	Marks, CNPs   int64
	Strange       int64 // CNPs without an identified queue pair
	Long          unit.Time
	Coarse        bool   // stamps are whole microseconds
	Stopped       int64  // number of the packet after which storage ended; 0: all stored
	Damaged       string // place of the first damaged byte
	Pairs         []Marked
}

// Marked is one direction of a queue pair at a port: arrival times of marked packets and departure times of their
// CNPs, since the capture began.
type Marked struct {
	Name    string
	CE, CNP []unit.Time
}

// Limits of stored state of a capture.
const (
	maxNoted = 8 << 20 // marks and CNPs
	votes    = 16      // number of acknowledgements that identify whose requests a queue pair answers
	inquired = 32      // acknowledgements that are checked for that
	parallel = 1024    // checked queue pairs between two addresses
	near     = 1 << 16 // PSNs
)

// way is a direction of a queue pair as seen at a port.
type way struct {
	port     string
	src, dst netip.Addr
	qp       uint32
}

// noted is the state of one.
type noted struct {
	way
	data    bool
	last    uint32 // PSN of a request
	ce, cnp []unit.Time
	heard   int            // acknowledgements that identified a queue pair
	tried   int            // and all
	answers map[*noted]int // queue pair whose requests each acknowledges
}

// noter reads a capture for marks and CNPs.
type noter struct {
	Notices
	start   time.Time
	coarse  bool
	kept    int
	ways    map[way]*noted
	between map[way][]*noted // by addresses, for packets without a queue pair
	order   []*noted
}

// Note reads marks and CNPs of a capture; truncated packets are sufficient.
func Note(r *Reader, progress func(packets int64)) (*Notices, error) {
	r.Heads = true
	n := &noter{coarse: true, ways: map[way]*noted{}, between: map[way][]*noted{}}
	var p Packet
	for {
		err := r.Next(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && n.Packets == 0 {
			return nil, err
		}
		if err != nil {
			n.Damaged = err.Error()
			break
		}
		n.take(&p)
		if n.kept >= maxNoted {
			n.Stopped = p.Number
			break
		}
		if progress != nil && n.Packets&0xffff == 0 {
			progress(n.Packets)
		}
	}
	n.Coarse = n.coarse && n.RoCE > 1
	n.join()
	return &n.Notices, nil
}

func (n *noter) take(p *Packet) {
	if n.Packets++; n.Packets == 1 {
		n.start = p.At
	}
	at := unit.Time(p.At.Sub(n.start)) * unit.Nanosecond
	n.Long = max(n.Long, at)
	f := &p.Frame
	if p.Err != nil || f.Kind != roce.KindRoCEv2 && f.Kind != roce.KindRoCEv1 || f.BTH.Opcode.IsMRC() {
		return
	}
	n.RoCE++
	n.coarse = n.coarse && p.At.Nanosecond()%1000 == 0
	w := n.way(way{p.Port, f.IP.Src, f.IP.Dst, f.BTH.DestQP})
	if w == nil {
		return
	}
	switch opcode := f.BTH.Opcode; {
	case opcode == roce.CNP:
		n.CNPs++
		n.kept++
		w.cnp = append(w.cnp, at)
		return
	case opcode > 0x1f:
		return
	case opcode.IsResponse():
		n.answered(w, f.BTH.PSN)
		if opcode == roce.Acknowledge || opcode == roce.AtomicAck {
			return // no NIC answers a mark on these
		}
	default:
		w.data, w.last = true, f.BTH.PSN
	}
	if f.IP.ECN() == 3 {
		n.Marks++
		n.kept++
		w.ce = append(w.ce, at)
	}
}

// way returns the state of a direction; nil beyond the limit.
func (n *noter) way(k way) *noted {
	if w := n.ways[k]; w != nil {
		return w
	}
	if len(n.order) >= maxFlows {
		return nil
	}
	w := &noted{way: k, answers: map[*noted]int{}}
	n.ways[k] = w
	n.order = append(n.order, w)
	k.qp = 0
	n.between[k] = append(n.between[k], w)
	return w
}

// against are the directions that lead back.
func (n *noter) against(w *noted) []*noted { return n.between[way{w.port, w.dst, w.src, 0}] }

// answered records that a direction acknowledges a PSN. If only one queue pair has requests near it, those are
// acknowledged.
func (n *noter) answered(w *noted, psn uint32) {
	against := n.against(w)
	if w.heard >= votes || w.tried >= inquired || len(against) > parallel {
		return
	}
	w.tried++
	var found *noted
	for _, q := range against {
		if d := (psn - q.last + near) & roce.PSNMask; !q.data || d > 2*near {
			continue
		}
		if found != nil {
			return
		}
		found = q
	}
	if found != nil {
		w.heard++
		w.answers[found]++
	}
}

// join assigns CNPs to their directions.
func (n *noter) join() {
	about := map[*noted][]unit.Time{}
	for _, w := range n.order {
		if len(w.cnp) == 0 {
			continue
		}
		if q := n.meant(w); q != nil {
			about[q] = append(about[q], w.cnp...)
		} else {
			n.Strange += int64(len(w.cnp))
		}
	}
	for _, w := range n.order {
		if len(w.ce)+len(about[w]) == 0 {
			continue
		}
		m := Marked{Name: fmt.Sprintf("%v > %v QP %#06x", w.src, w.dst, w.qp), CE: w.ce, CNP: about[w]}
		if w.port != "" {
			m.Name = w.port + " " + m.Name
		}
		slices.Sort(m.CE)
		slices.Sort(m.CNP)
		n.Pairs = append(n.Pairs, m)
	}
}

// meant returns the direction whose marks a queue pair's CNPs answer: the one it acknowledges, or the only one.
func (n *noter) meant(w *noted) *noted {
	var found []*noted
	for _, q := range n.against(w) {
		if w.answers[q] > 0 || len(w.answers) == 0 && (q.data || len(q.ce) > 0) {
			found = append(found, q)
		}
	}
	slices.SortStableFunc(found, func(a, b *noted) int { return cmp.Compare(w.answers[b], w.answers[a]) })
	if len(found) == 0 || len(found) > 1 && w.answers[found[0]] == w.answers[found[1]] {
		return nil
	}
	return found[0]
}
