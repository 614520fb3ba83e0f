package capture

import (
	"fmt"
	"math"
	"net/netip"

	"railyard/roce"
	"railyard/unit"
)

// span is a time between two packets, which captures have in nanoseconds.
func span(us float64) unit.Time { return unit.Time(math.Round(us*1e3)) * unit.Nanosecond }

// lull ends a run of equal events, after which events are reported separately.
const lull = 20.0 // us

// run is consecutive similar events, which are reported as one.
type run struct {
	n, all       int64
	at, last     float64
	number       int64
	from, upto   uint64 // PSNs
	ev, was      roce.EV
	evs          map[roce.EV]bool
	known, moved int64 // counts of retransmitted packets: those whose first path was seen; those on another path
	least, most  float64
	tell         func(r *run) string
}

// add adds an event, and reports the run before a lull.
func (r *run) add(s *stream, us float64, number int64, psn uint64, ev roce.EV, tell func(r *run) string) {
	if r.n > 0 && us > r.last+lull {
		r.end(s)
	}
	if r.n == 0 {
		*r = run{all: r.all, at: us, number: number, from: psn, upto: psn, evs: map[roce.EV]bool{}, tell: tell}
	}
	r.n++
	r.all++
	r.from, r.upto, r.last, r.ev = min(r.from, psn), max(r.upto, psn), us, ev
	if len(r.evs) < maxPaths {
		r.evs[ev] = true
	}
}

// end reports the run.
func (r *run) end(s *stream) {
	if r.n > 0 {
		s.say(r.at, r.number, "%s", r.tell(r))
		r.n = 0
	}
}

// packets describes the packets of a run.
func (r *run) packets() string {
	if r.n == 1 {
		return fmt.Sprintf("PSN %d, EV %#x", low(r.from), uint32(r.ev))
	}
	return fmt.Sprintf("%d packets, PSN %d…%d, on %s", r.n, low(r.from), low(r.upto), unit.Plural(len(r.evs), "path"))
}

// paths describes the paths of a run.
func (r *run) paths() string {
	if len(r.evs) == 1 {
		return fmt.Sprintf("EV %#x", uint32(r.ev))
	}
	return fmt.Sprintf("%d paths", len(r.evs))
}

// writes finds unanswered WRITEs from one address to another, to a queue pair of which 16 bits are known.
func (t *Teller) writes(qp uint16, src, dst netip.Addr) *stream {
	for _, c := range t.mrcs[qp] {
		if c.more.begun && c.peer == nil && c.runs(src, dst) {
			return c
		}
	}
	return nil
}

// data finds the WRITEs of an answer: those to the queue pair named by one of its contexts.
func (m *mrcStream) data(source, dest uint16) *mrcStream {
	if m.peer != nil {
		return m.peer.more
	}
	found := m.t.writes(source, m.key.dst, m.key.src)
	if found == nil {
		found = m.t.writes(dest, m.key.dst, m.key.src)
	}
	if found == nil {
		return nil
	}
	m.peer, found.peer = found, m.stream
	m.say(m.stream.flow.last, 0, "answers the WRITEs to QP %#06x", found.key.qp)
	return found.more
}

// sack processes a SACK: arrivals, and a verdict on a path.
func (m *mrcStream) sack(us float64, number int64, k *roce.SETH, to netip.Addr) {
	w := m.flow
	w.Sacks++
	w.Cumulative = k.Cumulative
	w.WidestGap = max(w.WidestGap, int64(roce.PSNDiff(k.Upto(), k.Cumulative)))
	if k.CCType == 0 {
		w.FarLate = max(w.FarLate, int64(k.CC.OutOfOrder))
		w.Penalty = max(w.Penalty, int64(k.CC.Penalty))
		if on := k.CC.Penalty > 0; on != m.ends {
			m.ends = on
			if on {
				m.say(us, number, "the receiver requests smaller windows: penalty %d of 127", k.CC.Penalty)
			} else {
				m.say(us, number, "the receiver no longer requests smaller windows")
			}
		}
	}
	d := m.data(k.Source, k.Dest)
	if d == nil {
		return
	}
	d.acknowledged(us, k.Cumulative)
	if k.Probed {
		d.answered(us, number, uint16(k.AckOffset), k.Verdict)
		return
	}
	path := d.by(k.EV, to)
	switch {
	case path == nil:
	case k.Verdict == roce.VerdictSkipOnce:
		path.SkipOnce++
		if path.State == pathGood {
			path.State = pathSkip
		}
		m.skips.add(m.stream, us, number, 0, k.EV, func(r *run) string {
			if r.n == 1 {
				return "SKIP_ONCE: congestion on " + r.paths()
			}
			return fmt.Sprintf("SKIP_ONCE: congestion on %s, %d times", r.paths(), r.n)
		})
	case k.Verdict == roce.VerdictAlwaysSkip:
		path.AlwaysSkip++
		if path.State != pathBad {
			path.State = pathBad
			m.say(us, number, "ALWAYS_SKIP: the path of EV %#x is bad", uint32(k.EV))
		}
	}
}

// used notes that a WRITE takes a path.
func (m *mrcStream) used(us float64, number int64, path *Path) {
	if path.State == pathBad {
		m.say(us, number, "EV %#x is used again", uint32(path.ev))
	}
	path.State = pathGood
}

// nack takes a NACK.
func (m *mrcStream) nack(us float64, number int64, k *roce.NETH, to netip.Addr) {
	m.stream.flow.Naks++
	d, reason, psn := m.data(k.Source, k.Dest), k.Reason, uint64(k.PSN)
	if d != nil && d.begun {
		psn = roce.Extend(k.PSN, d.next)
		if s, ok := d.sent[psn]; ok {
			s.nacked = true
			d.sent[psn] = s
		}
		if path := d.by(k.EV, to); path != nil {
			if reason == roce.NackTrimmed || reason == roce.NackTrimmedLastHop {
				path.Trimmed++
			} else {
				path.Nacked++
			}
			if reason == roce.NackTrimmed && path.State == pathGood {
				path.State = pathSkip
			}
		}
	}
	if m.nacks[reason] == nil {
		m.nacks[reason] = &run{}
	}
	m.nacks[reason].add(m.stream, us, number, psn, k.EV, func(r *run) string {
		text := fmt.Sprintf("NACK %v: %s", reason, r.packets())
		switch reason {
		case roce.NackTrimmedLastHop:
			text += "; the receiver is busy, not the path"
		case roce.NackUnexpected:
			text += "; the connection is broken"
		}
		return text
	})
}

// ack processes a transport ACK: the responder's completions.
func (m *mrcStream) ack(us float64, number int64, h *roce.Header) {
	if h.Syndrome.IsAck() {
		m.stream.flow.Acks++
		if m.peer != nil {
			m.peer.more.acknowledged(us, h.PSN)
		}
		return
	}
	m.stream.flow.Naks++
	m.say(us, number, "%v, PSN %d, MSN %d", h.Syndrome, h.PSN, h.MSN)
}

// trimmed processes a WRITE whose payload a switch trimmed. f has its BTH, and perhaps more.
func (m *mrcStream) trimmed(us float64, p *Packet, f *roce.Frame) {
	m.flow.Trimmed++
	psn, _ := m.number(f.BTH.PSN)
	ev := roce.EVOf(&f.IP, &f.UDP)
	if path := m.path(ev, p, f); path != nil {
		path.Trimmed++
	}
	m.trims.add(m.stream, us, p.Number, psn, ev, func(r *run) string { return "trimmed by a switch: " + r.packets() })
}

// looksTrimmed reports whether a switch trimmed a WRITE with an invalid ICRC. It then has a DSCP that no complete
// WRITE of the capture has, or less payload than its headers announce.
func (t *Teller) looksTrimmed(f *roce.Frame) bool {
	n := len(f.Payload())
	switch f.BTH.Opcode {
	case roce.MRCWriteOnly, roce.MRCWriteOnlyImm:
		if n < int(f.BTH.Len) {
			return true
		}
	case roce.MRCWriteFirst, roce.MRCWriteMiddle:
		if n%leastMTU != 0 || n == 0 {
			return true
		}
	}
	return t.whole != 0 && t.whole>>f.IP.DSCP()&1 == 0
}

// leastMTU divides all path MTUs (IBTA 9.3.3).
const leastMTU = 256

// probe takes a question about a path.
func (m *mrcStream) probe(us float64, p *Packet, f *roce.Frame, id uint16) {
	m.flow.Probes++
	ev := roce.EVOf(&f.IP, &f.UDP)
	m.asked[id] = asked{ev, m.paths[pathKey{ev, f.IP.Src}], us, p.Number}
}

// answered processes the answer to a probe of this direction.
func (m *mrcStream) answered(us float64, number int64, id uint16, v roce.Verdict) {
	a, ok := m.asked[id]
	if !ok {
		return
	}
	delete(m.asked, id)
	m.flow.Answered++
	path, took := a.path, us-a.at
	if path != nil && path.State == pathBad && v != roce.VerdictAlwaysSkip {
		path.State = map[roce.Verdict]string{roce.VerdictSkipOnce: pathSkip}[v]
		if path.State == "" {
			path.State = pathGood
		}
		m.say(us, number, "probe %d answered %v after %v: EV %#x is good again", id, v, span(took), uint32(a.ev))
		return
	}
	r := &m.answers
	r.add(m.stream, us, number, 0, a.ev, func(r *run) string {
		if r.n == 1 {
			return fmt.Sprintf("probe by EV %#x answered after %v", uint32(r.ev), span(r.most))
		}
		return fmt.Sprintf("%d probes by %s answered after %v to %v", r.n, r.paths(), span(r.least), span(r.most))
	})
	if r.n == 1 {
		r.least, r.most = took, took
	}
	r.least, r.most = min(r.least, took), max(r.most, took)
}
