package capture

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"

	"railyard/roce"
)

// Event is one event in a capture.
type Event struct {
	Micros float64 `json:"us"` // since the first packet of the capture
	Packet int64   `json:"packet"`
	Who    string  `json:"who"`
	Text   string  `json:"text"`
	Times  int     `json:"times,omitempty"` // number of consecutive repetitions
	Until  float64 `json:"until_us,omitempty"`
}

// Flow sums up one direction of a queue pair.
type Flow struct {
	Src          string   `json:"src"`
	Dst          string   `json:"dst"`
	QP           uint32   `json:"dest_qp"`
	Packets      int64    `json:"packets"`
	Payload      int64    `json:"payload_bytes"`
	Messages     int64    `json:"messages"`
	Unfinished   int64    `json:"messages_unfinished"`
	Again        int64    `json:"packets_again"`
	Missing      int64    `json:"packets_missing"` // not captured before packets with higher PSNs
	Late         int64    `json:"packets_late"`    // of these, captured afterwards: retransmitted or reordered
	Acks         int64    `json:"acks"`
	Naks         int64    `json:"naks"`
	CNPs         int64    `json:"cnps"`
	Grants       int64    `json:"credit_grants,omitempty"`
	Requests     int64    `json:"credit_requests,omitempty"`
	Credit       uint64   `json:"credit_bytes,omitempty"` // total granted or requested, in the last of them
	CE           int64    `json:"ce_marked"`
	Told         int64    `json:"telemetry_packets,omitempty"` // packets with telemetry
	ToldBytes    int64    `json:"telemetry_bytes,omitempty"`
	ToldQueue    int64    `json:"telemetry_queue_peak,omitempty"` // longest queue in the telemetry, bytes
	FarDelay     int64    `json:"far_delay_ns,omitempty"`         // longest in acknowledgements
	BadICRC      int64    `json:"bad_icrc"`
	Trimmed      int64    `json:"trimmed,omitempty"`           // packets with payload trimmed by a switch, except MRC's
	Elsewhere    int64    `json:"packets_elsewhere,omitempty"` // seen at another point of the capture, too
	SourcePorts  []uint16 `json:"source_ports"`
	Gbps         float64  `json:"payload_gbps"`   // payload rate from its first to its last packet
	Also         []string `json:"also,omitempty"` // other addresses of its path
	MRC          *MRCFlow `json:"mrc,omitempty"`
	first, last  float64
	sourcePorts  map[uint16]bool
	payloadAgain int64
	opening      int64 // bytes of the first packet, which precedes its stamp
}

// Story is the decoded contents of a capture.
type Story struct {
	Packets   int64      `json:"packets"`
	RoCE      int64      `json:"roce"`
	Pause     int64      `json:"pause"`
	LLDP      int64      `json:"lldp"`
	Other     int64      `json:"other"`  // TCP included
	Broken    int64      `json:"broken"` // RoCE by its port, but not a valid packet
	Cut       int64      `json:"cut_short"`
	ICRCGood  int64      `json:"icrc_good"`
	ICRCBad   int64      `json:"icrc_bad"`
	Seconds   float64    `json:"seconds"`
	Flows     []*Flow    `json:"flows"`
	TCP       []*TCPFlow `json:"tcp,omitempty"`
	Events    []Event    `json:"events"`
	Omitted   int64      `json:"events_omitted"`
	Untracked int64      `json:"packets_untracked"` // packets beyond the limit of tracked flows
	Damaged   string     `json:"damaged,omitempty"`
}

// Teller decodes packets into events one by one.
type Teller struct {
	Story  Story
	limit  int
	emit   func(Event)
	start  time.Time
	began  bool
	flows  map[flowKey]*stream
	order  []*stream
	held   Event // the last event, while it may repeat
	holds  bool
	frames [1]roce.Frame
	whole  uint64 // DSCPs of MRC's WRITEs that arrived complete
	tcps   map[tcpKey]*TCPFlow
	mrcs   map[uint16][]*stream // MRC streams by the low bits of their queue pair's number
}

// flowKey names one direction of a queue pair.
type flowKey struct {
	src, dst netip.Addr
	qp       uint32
}

// maxFlows bounds the memory for a capture.
const maxFlows = 1 << 16

// NewTeller returns a teller that passes on up to limit events.
func NewTeller(limit int, emit func(Event)) *Teller {
	return &Teller{limit: limit, emit: emit, flows: map[flowKey]*stream{}, mrcs: map[uint16][]*stream{}}
}

// Tell reads a capture to its end and reports its messages. progress, unless nil, receives the number of packets.
func (t *Teller) Tell(r *Reader, progress func(packets int64)) error {
	var p Packet
	for {
		err := r.Next(&p)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Story.Damaged = err.Error()
			}
			break
		}
		if progress != nil && p.Number%4096 == 0 {
			progress(p.Number)
		}
		t.take(&p)
	}
	t.finish()
	if t.Story.Packets == 0 && t.Story.Damaged != "" {
		return errors.New(t.Story.Damaged)
	}
	return nil
}

func (t *Teller) take(p *Packet) {
	s := &t.Story
	s.Packets++
	if !t.began {
		t.start, t.began = p.At, true
	}
	us := float64(p.At.Sub(t.start).Nanoseconds()) / 1e3
	s.Seconds = max(s.Seconds, us/1e6)
	if p.Cut {
		s.Cut++
	}
	switch f := &p.Frame; {
	case f.Kind == roce.KindPause && p.Err == nil:
		s.Pause++
		t.say(Event{Micros: us, Packet: p.Number, Who: f.Src.String(), Text: f.Pause.String()})
	case f.Kind == roce.KindLLDP:
		s.LLDP++
		var l roce.LLDP
		if l.Decode(f.LLDP) == nil {
			t.say(Event{Micros: us, Packet: p.Number, Who: f.Src.String(), Text: l.String()})
		}
	case f.Kind != roce.KindRoCEv2 && f.Kind != roce.KindRoCEv1:
		if s.Other++; p.TCP != nil {
			t.tcp(us, p)
		}
	case p.Err == roce.ErrTruncated && !p.Cut && f.BTH.Opcode.IsMRCWrite():
		s.RoCE++
		if st := t.stream(us, f); st != nil { // even the headers are trimmed
			st.flow.Packets++
			st.mrc().trimmed(us, p, f)
		}
	case p.Err != nil && !(p.Cut && (p.Err == roce.ErrTruncated || p.Err == roce.ErrLength)):
		s.Broken++
		t.say(Event{Micros: us, Packet: p.Number, Who: fmt.Sprintf("%v > %v", f.IP.Src, f.IP.Dst),
			Text: "no RoCE packet: " + p.Err.Error()})
	case p.Err != nil:
		s.RoCE++ // headers may be complete, but the end of the packet is missing
	default:
		var frames []roce.Frame
		if !p.Cut {
			frames = split(f)
		}
		if frames == nil {
			t.frames[0] = *f
			frames = t.frames[:]
		}
		for i := range frames {
			s.RoCE++
			t.roce(us, p, &frames[i])
		}
	}
}

// stream returns the queue pair direction of a packet; nil beyond the limit.
func (t *Teller) stream(us float64, f *roce.Frame) *stream {
	k := flowKey{f.IP.Src, f.IP.Dst, f.BTH.DestQP}
	st := t.flows[k]
	if st == nil && f.BTH.Opcode.IsMRC() {
		if st = t.otherPlane(k, f); st != nil {
			st.also = append(st.also, k)
			st.flow.Also = append(st.flow.Also, fmt.Sprintf("%v > %v", k.src, k.dst))
			t.flows[k] = st
		}
	}
	if st == nil {
		if len(t.flows) >= maxFlows {
			t.Story.Untracked++
			return nil
		}
		st = newStream(t, k, us)
		t.flows[k] = st
		t.order = append(t.order, st)
	}
	return st
}

// roce processes one complete RoCE packet.
func (t *Teller) roce(us float64, p *Packet, f *roce.Frame) {
	st := t.stream(us, f)
	if st == nil {
		return
	}
	if !p.Cut && f.Exact {
		if f.ComputeICRC() == f.ICRC {
			t.Story.ICRCGood++
		} else if f.BTH.Opcode.IsMRCWrite() && t.looksTrimmed(f) {
			st.flow.Packets++
			st.mrc().trimmed(us, p, f)
			return
		} else if lacksPayload(f) {
			st.trimmed(us, p, f)
			return
		} else {
			t.Story.ICRCBad++
			st.flow.BadICRC++
			t.say(Event{Micros: us, Packet: p.Number, Who: st.who,
				Text: fmt.Sprintf("ICRC %08x is wrong, should be %08x: %v", f.ICRC, f.ComputeICRC(), f.BTH.Opcode)})
			return // its contents are not reliable
		}
	}
	st.take(us, p, f)
}

// say reports an event; a run of equal ones becomes one.
func (t *Teller) say(e Event) {
	if t.holds && t.held.Who == e.Who && t.held.Text == e.Text {
		t.held.Times = max(1, t.held.Times) + 1
		t.held.Until = e.Micros
		return
	}
	t.release()
	t.held, t.holds = e, true
}

func (t *Teller) release() {
	if !t.holds {
		return
	}
	t.holds = false
	if t.limit <= 0 {
		t.Story.Omitted++
		return
	}
	t.limit--
	t.emit(t.held)
}

// finish closes events that the capture left open.
func (t *Teller) finish() {
	for _, st := range t.order {
		st.finish(t.Story.Seconds * 1e6)
		t.Story.Flows = append(t.Story.Flows, &st.flow)
	}
	t.release()
}
