package capture

import (
	"encoding/binary"
	"fmt"
	"slices"

	"railyard/roce"
	"railyard/unit"
)

// stream tracks one direction of a queue pair: its requests, and its answers to the other direction's requests.
type stream struct {
	t    *Teller
	key  flowKey
	who  string
	flow Flow
	peer *stream // the other direction, once known

	started bool
	loose   bool   // a READ's length in packets is not known: the next PSN may be any
	next    uint64 // one above the highest PSN seen
	replay  struct {
		on         bool
		from, upto uint64
		packets    int64
		at         float64
		number     int64
	}
	more   *mrcStream // state for packets of MRC
	also   []flowKey  // other addresses: planes of MRC
	points [2]points  // outstanding messages: of requests, and of all other types
	msg    *message   // being sent
	open   []*message // sent, or waiting for data, and not acknowledged; oldest first
	gaps   gaps       // requests that were not captured
}

// message is one request with all its packets.
type message struct {
	text          string
	opcode        roce.Opcode
	first, last   uint64
	start, end    float64
	packet        int64
	packets, size int64
	opening       int64 // bytes of the first packet, which precedes start
	whole         bool
	ended         bool   // its last packet was captured
	want          int64  // READ: requested bytes
	upto          uint64 // READ: the address behind them
	rkey          uint32
	gaps          gaps // READ: answers that were not captured
}

// maxOpen bounds the messages that wait for an acknowledgement, which the capture may lack.
const maxOpen = 4096

func newStream(t *Teller, k flowKey, us float64) *stream {
	return &stream{t: t, key: k, who: fmt.Sprintf("%v > %v QP %#06x", k.src, k.dst, k.qp),
		flow: Flow{Src: k.src.String(), Dst: k.dst.String(), QP: k.qp, first: us, sourcePorts: map[uint16]bool{}}}
}

func (s *stream) say(us float64, number int64, format string, args ...any) {
	s.t.say(Event{Micros: us, Packet: number, Who: s.who, Text: fmt.Sprintf(format, args...)})
}

// points counts a stream's packets at each capture point, by the point's number.
type points map[int]int64

// most returns the count of the point with the most packets.
func (p points) most() (n int64) {
	for _, k := range p {
		n = max(n, k)
	}
	return n
}

// elsewhere reports whether a packet has been seen at another point of the same capture. This point has then had as
// many packets as the maximum there, and a request was seen before.
func (s *stream) elsewhere(p *Packet, h *roce.Header) bool {
	kind, seen := 1, true
	if !h.Opcode.IsResponse() && h.Opcode <= 0x1f {
		kind = 0
		seen = s.started && roce.Extend(h.PSN, s.next) < s.next
	}
	if h.Opcode.IsMRC() { // MRC's planes have entries of their own
		return false
	}
	if s.points[kind] == nil {
		s.points[kind] = points{}
	}
	most := s.points[kind].most()
	s.points[kind][p.Point]++
	return seen && s.points[kind][p.Point] <= most
}

func (s *stream) take(us float64, p *Packet, f *roce.Frame) {
	w, number := &s.flow, p.Number
	if s.elsewhere(p, &f.BTH) {
		w.Elsewhere++
		return
	}
	if w.Packets++; w.Packets == 1 {
		w.opening = int64(len(f.Payload()))
	}
	w.last = us
	if len(w.sourcePorts) < 1024 {
		w.sourcePorts[f.UDP.SrcPort] = true
	}
	if f.IP.ECN() == 3 {
		if w.CE++; w.CE == 1 {
			s.say(us, number, "first congestion experienced mark, on PSN %d", f.BTH.PSN)
		}
	}
	if f.Tagged {
		s.tagged(us, number, f)
	}
	if f.Analyzed {
		s.analyzed(us, number, f)
	}
	if f.BTH.Telemetry != roce.NoTelemetry {
		s.told(us, number, &f.BTH)
	}
	opcode := f.BTH.Opcode
	switch {
	case opcode == roce.CNP:
		w.CNPs++
		s.say(us, number, "CNP: congestion reported")
	case opcode == roce.CreditGrant:
		w.Grants++
		w.Credit = max(w.Credit, f.BTH.Credit)
	case opcode == roce.CreditRequest:
		w.Requests++
		w.Credit = max(w.Credit, f.BTH.Credit)
		s.say(us, number, "credit requested, %d bytes in total", f.BTH.Credit)
	case opcode.IsMRC():
		s.mrc().take(us, p, f)
	case opcode > 0x1f:
		w.Payload += int64(len(f.Payload()))
		if opcode.Ends() {
			w.Messages++
		}
	case opcode.IsResponse():
		s.answer(us, number, f)
	default:
		s.request(us, number, f)
	}
}

// tagged processes a tag of congestion signaling, and reports the first.
func (s *stream) tagged(us float64, number int64, f *roce.Frame) {
	w := &s.flow
	w.ToldBytes += int64(f.CSIG.Len())
	if w.Told++; w.Told == 1 {
		s.say(us, number, "telemetry: %v", &f.CSIG)
	}
}

// analyzed processes IFA's headers, and reports the first, the first metadata and the first queue.
func (s *stream) analyzed(us float64, number int64, f *roce.Frame) {
	w, queue := &s.flow, s.flow.ToldQueue
	w.Told++
	w.ToldBytes += int64(f.IFA.Len())
	hops, _ := f.IFA.Hops()
	for i := range hops {
		w.ToldQueue = max(w.ToldQueue, int64(hops[i].Waiting()))
	}
	switch {
	case w.Told == 1:
		s.say(us, number, "telemetry: %v", &f.IFA)
	case queue == 0 && w.ToldQueue > 0:
		s.say(us, number, "telemetry: first queue, on PSN %d: %v", f.BTH.PSN, &f.IFA)
	}
}

// told processes telemetry, and reports the first header that a switch has written.
func (s *stream) told(us float64, number int64, h *roce.Header) {
	w, first := &s.flow, s.flow.ToldQueue == 0
	w.Told++
	w.ToldBytes += int64(h.Telemetry.Len())
	for _, stamp := range h.INT.Stamps() { // none in a reflected tag
		w.ToldQueue = max(w.ToldQueue, int64(stamp.Queue()))
	}
	switch {
	case w.Told == 1:
		if h.Telemetry != roce.TelemetryINT {
			s.say(us, number, "telemetry: %v reflected", &h.Reflected)
			return
		}
		s.say(us, number, "telemetry: %v", &h.INT)
	case first && w.ToldQueue > 0:
		s.say(us, number, "telemetry: first queue, on PSN %d: %v", h.PSN, &h.INT)
	}
}

// request follows PSNs and collects messages.
func (s *stream) request(us float64, number int64, f *roce.Frame) {
	h := &f.BTH
	if !s.started {
		s.started = true
		s.next = 1<<24 + uint64(h.PSN)
	}
	n := roce.Extend(h.PSN, s.next)
	s.flow.Payload += int64(len(f.Payload()))
	if h.Opcode == roce.ReadRequest && s.repeats(h) {
		s.again(us, number, n, f)
		return
	}
	if s.loose && n > s.next {
		s.next = n
	}
	s.loose = false
	switch {
	case n > s.next:
		s.endReplay()
		s.flow.Missing += int64(n - s.next)
		s.gaps.skip(s.next, n)
		s.say(us, number, "gap: PSN %d expected, %d received (%d missing here)", low(s.next), h.PSN, n-s.next)
	case n < s.next:
		s.again(us, number, n, f)
		return
	default:
		s.endReplay()
	}
	s.next = n + 1
	s.collect(us, number, n, f)
	if h.Opcode == roce.ReadRequest {
		s.loose = true
	}
}

// again follows packets whose PSN, or a later one, has been seen.
func (s *stream) again(us float64, number int64, n uint64, f *roce.Frame) {
	if s.flow.Again++; s.gaps.fill(n) {
		s.flow.Late++
		s.late(us, number, n, f)
	} else {
		s.flow.payloadAgain += int64(len(f.Payload()))
		s.repeated(us, n)
	}
	r := &s.replay
	if !r.on {
		r.on, r.from, r.upto, r.packets, r.at, r.number = true, n, n, 0, us, number
	}
	r.from, r.upto = min(r.from, n), max(r.upto, n)
	r.packets++
}

func (s *stream) endReplay() {
	r := &s.replay
	if !r.on {
		return
	}
	r.on = false
	if r.packets == 1 {
		s.say(r.at, r.number, "PSN %d retransmitted", low(r.from))
		return
	}
	s.say(r.at, r.number, "goes back: PSN %d…%d retransmitted, %s", low(r.from),
		low(r.upto), unit.Plural(r.packets, "packet"))
}

// collect adds a new packet to its message.
func (s *stream) collect(us float64, number int64, n uint64, f *roce.Frame) {
	h := &f.BTH
	if opens(h) && s.msg != nil { // its end is in a gap
		s.keep(us, s.msg)
		s.msg = nil
	}
	if s.msg == nil {
		s.msg = begin(us, number, n, h)
	}
	m := s.msg
	m.last, m.end = n, us
	if m.packets++; m.packets == 1 {
		m.opening = int64(len(f.Payload()))
	}
	m.size += int64(len(f.Payload()))
	if h.Opcode.HasImm() {
		m.text += fmt.Sprintf(" imm %#x", h.Imm)
	}
	if h.Opcode.HasIETH() {
		m.text += fmt.Sprintf(" invalidates %#x", h.InvKey)
	}
	if h.Opcode.Ends() {
		s.flow.Messages++
		s.msg, m.ended = nil, true
		s.keep(us, m)
	}
}

// keep adds a message to those that wait for an acknowledgement.
func (s *stream) keep(us float64, m *message) {
	if s.open = append(s.open, m); len(s.open) > maxOpen {
		s.tell(s.open[0], us, "no acknowledgement in the capture")
		s.open = s.open[1:]
	}
}

// opens reports whether a packet is the first of its message.
func opens(h *roce.Header) bool {
	return h.Opcode.HasRETH() || h.Opcode.IsAtomic() || h.Opcode == roce.SendFirst || h.Opcode == roce.SendOnly ||
		h.Opcode == roce.SendOnlyImm || h.Opcode == roce.SendOnlyInv
}

// begin returns the message of the first packet that is captured of it.
func begin(us float64, number int64, n uint64, h *roce.Header) *message {
	m := &message{text: describe(h), opcode: h.Opcode, first: n, last: n, start: us, end: us, packet: number,
		whole: opens(h)}
	if h.Opcode == roce.ReadRequest {
		m.want, m.upto, m.rkey = int64(h.Len), h.VA+uint64(h.Len), h.RKey
	}
	return m
}

// describe names a message by its first packet.
func describe(h *roce.Header) string {
	switch {
	case h.Opcode == roce.ReadRequest:
		return fmt.Sprintf("READ va %#x rkey %#x", h.VA, h.RKey)
	case h.Opcode.HasRETH():
		return fmt.Sprintf("WRITE va %#x rkey %#x", h.VA, h.RKey)
	case h.Opcode == roce.FetchAdd:
		return fmt.Sprintf("FETCH_ADD %d va %#x rkey %#x", h.SwapAdd, h.VA, h.RKey)
	case h.Opcode == roce.CompareSwap:
		return fmt.Sprintf("CMP_SWAP %d for %d va %#x rkey %#x", h.SwapAdd, h.Compare, h.VA, h.RKey)
	case h.Opcode.IsSend():
		return "SEND"
	}
	return "the end of a WRITE"
}

// kept processes a NIC's report of its delay of received packets.
func (s *stream) kept(us float64, number, ns int64) {
	if ns > 0 && s.flow.FarDelay == 0 {
		s.say(us, number, "the NIC keeps what arrives now for %d ns", ns)
	}
	s.flow.FarDelay = max(s.flow.FarDelay, ns)
}

// answer processes a responder's packet, which belongs to the requests of the other direction.
func (s *stream) answer(us float64, number int64, f *roce.Frame) {
	h := &f.BTH
	if h.Opcode == roce.Acknowledge && len(f.Payload()) == roce.FarDelayLen {
		s.kept(us, number, int64(binary.BigEndian.Uint32(f.Payload())))
	} else {
		s.flow.Payload += int64(len(f.Payload()))
	}
	if s.peer == nil {
		s.findPeer(h.PSN)
	}
	if h.Opcode == roce.Acknowledge {
		switch {
		case h.Syndrome.IsGood(): // an ACK while packets are missing
			s.flow.Acks++
		case h.Syndrome.IsTrimmed(): // package rc defines the MSN
			s.flow.Naks++
			s.say(us, number, "%v: PSN %d", h.Syndrome, (h.PSN+h.MSN>>8)&roce.PSNMask)
		case h.Syndrome == roce.NakMissing:
			s.flow.Naks++
			s.say(us, number, "NAK: %s missing from PSN %d on", unit.Plural(h.MSN&0xff, "packet"),
				(h.PSN+h.MSN>>8)&roce.PSNMask)
		default:
			s.flow.Naks++
			s.say(us, number, "%v, PSN %d, MSN %d", h.Syndrome, h.PSN, h.MSN)
		}
	}
	q := s.peer
	if q == nil {
		return
	}
	n := roce.Extend(h.PSN, q.next)
	switch {
	case h.Opcode == roce.AtomicAck:
		q.acknowledged(us, n, fmt.Sprintf(", was %d", h.Orig), true)
	case h.Opcode.IsReadResponse():
		q.data(us, n, h, int64(len(f.Payload())))
	case h.Syndrome.IsAck():
		q.acknowledged(us, n, "", false)
	case n > 0:
		q.acknowledged(us, n-1, "", false)
	}
}

// data tracks the answers to the oldest unfinished READ.
func (s *stream) data(us float64, n uint64, h *roce.Header, payload int64) {
	s.acknowledged(us, n-1, "", false)
	for _, m := range s.open {
		if m.opcode == roce.ReadRequest && n >= m.first {
			switch {
			case m.size == 0: // the packets that follow belong to the answer
				m.gaps.skip(m.first, n)
				m.size, m.packets, m.last = payload, 1, n
			case n > m.last:
				m.gaps.skip(m.last+1, n)
				m.size, m.packets, m.last = m.size+payload, m.packets+1, n
			case m.gaps.fill(n):
				m.size, m.packets = m.size+payload, m.packets+1
			}
			if s.next <= n {
				s.next = n + 1
			}
			if h.Opcode.Ends() && m.size >= m.want {
				m.end = us
				s.acknowledged(us, n, "", true)
			}
			return
		}
	}
}

// acknowledged reports every message that ends at or before n. READs and atomics end only with their own answer.
func (s *stream) acknowledged(us float64, n uint64, extra string, own bool) {
	for len(s.open) > 0 && s.open[0].last <= n {
		m := s.open[0]
		if answered := m.opcode == roce.ReadRequest || m.opcode.IsAtomic(); answered && !own {
			return
		}
		s.open = s.open[1:]
		s.endReplay()
		if m.opcode == roce.ReadRequest {
			s.tell(m, us, "answered in full")
			continue
		}
		s.tell(m, us, fmt.Sprintf("acknowledged %s later%s", unit.Time((us-m.end)*1e6), extra))
	}
}

// tell emits the event of a message.
func (s *stream) tell(m *message, us float64, end string) {
	text := fmt.Sprintf("%s: %v, PSN %d", m.text, unit.Bytes(m.size), low(m.first))
	if m.size < m.want {
		text = fmt.Sprintf("%s: %v of %v, PSN %d", m.text, unit.Bytes(m.size), unit.Bytes(m.want), low(m.first))
	}
	if m.last > m.first {
		text += fmt.Sprintf("…%d, %s in %v", low(m.last), unit.Plural(m.packets, "packet"),
			unit.Time((m.end-m.start)*1e6))
		if m.end > m.start {
			text += fmt.Sprintf(" (%.2f Gbit/s)", float64(m.size-m.opening)*8/(m.end-m.start)/1e3)
		}
	}
	if !m.whole {
		text += ", began before the capture"
	}
	s.say(m.start, m.packet, "%s, %s", text, end)
}

// findPeer finds the direction to whose requests an answer with this PSN can belong: from the answer's destination
// to its source, with that PSN sent recently.
func (s *stream) findPeer(psn uint32) {
	var found *stream
	for _, c := range s.t.order {
		if c.key.src != s.key.dst || c.key.dst != s.key.src || !c.started || c.peer != nil && c.peer != s {
			continue
		}
		n := roce.Extend(psn, c.next)
		low := c.next - 1
		if len(c.open) > 0 {
			low = c.open[0].first
		}
		if n+1 < low || n > c.next+1<<16 {
			continue
		}
		if found != nil {
			return // ambiguous between two: a later answer will decide
		}
		found = c
	}
	if found != nil {
		s.peer, found.peer = found, s
		s.say(s.flow.last, 0, "answers the requests to QP %#06x", found.key.qp)
	}
}

// finish closes the stream at the end of the capture.
func (s *stream) finish(us float64) {
	s.endReplay()
	if s.more != nil {
		s.more.finish(us)
	}
	for _, m := range s.open {
		s.flow.Unfinished++
		s.tell(m, us, "no acknowledgement in the capture")
	}
	if m := s.msg; m != nil {
		s.flow.Unfinished++
		s.tell(m, us, "its end is not in the capture")
	}
	w := &s.flow
	for p := range w.sourcePorts {
		w.SourcePorts = append(w.SourcePorts, p)
	}
	slices.Sort(w.SourcePorts)
	if w.last > w.first {
		w.Gbps = float64(max(0, w.Payload-w.payloadAgain-w.opening)) * 8 / (w.last - w.first) / 1e3
	}
}

// low cuts a sequence number to the wire's 24 bits.
func low(n uint64) uint64 { return n & roce.PSNMask }
