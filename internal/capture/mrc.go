package capture

import (
	"fmt"
	"math/bits"
	"net/netip"
	"slices"
	"strings"

	"railyard/roce"
	"railyard/unit"
)

// MRCFlow is the MRC part of one direction of a queue pair: its WRITEs with their paths, or the answers to the
// other direction's WRITEs.
type MRCFlow struct {
	Writes int64 `json:"writes,omitempty"`
	// WRITEs that arrived after a later one, and not retransmitted
	OutOfOrder int64       `json:"out_of_order,omitempty"`
	Repeated   int64       `json:"repeated,omitempty"` // WRITEs that arrived twice, though not retransmitted
	Trimmed    int64       `json:"trimmed,omitempty"`  // WRITEs whose payload a switch had trimmed
	Probes     int64       `json:"probes,omitempty"`
	Answered   int64       `json:"probes_answered,omitempty"`
	Paths      []*Path     `json:"paths,omitempty"` // paths in the order of their first use
	MorePaths  int64       `json:"packets_on_more_paths,omitempty"`
	Sacks      int64       `json:"sacks,omitempty"`
	Nacks      []NackCount `json:"nacks,omitempty"`
	Cumulative uint32      `json:"cumulative_psn,omitempty"`   // cumulative PSN of the last SACK
	WidestGap  int64       `json:"widest_gap,omitempty"`       // PSNs from the cumulative to the highest
	FarLate    int64       `json:"far_out_of_order,omitempty"` // out of order at the receiver, by its reports
	Penalty    int64       `json:"penalty_peak,omitempty"`     // of 127
	Planes     *uint32     `json:"planes,omitempty"`           // planes in the last Port Status Update
	Block      string      `json:"segments,omitempty"`         // SRv6: block of the paths' segments
}

// NackCount is the number of NACKs with a reason.
type NackCount struct {
	Reason string `json:"reason"`
	N      int64  `json:"n"`
}

// Path is the statistics of the packets with one entropy value.
type Path struct {
	EV         string `json:"ev"`
	Port       string `json:"port,omitempty"`     // capturing port, or its address, if there are several ports
	Segments   string `json:"segments,omitempty"` // SRv6: the switches ahead
	Packets    int64  `json:"packets"`
	Again      int64  `json:"packets_again,omitempty"`
	Trimmed    int64  `json:"trimmed,omitempty"`   // count of trimmed arrivals, or of NACKs
	Nacked     int64  `json:"nacked,omitempty"`    // for another reason
	Lost       int64  `json:"lost,omitempty"`      // retransmitted without a NACK
	SkipOnce   int64  `json:"skip_once,omitempty"` // verdicts
	AlwaysSkip int64  `json:"always_skip,omitempty"`
	State      string `json:"state"` // state as far as this capture shows it
	ev         roce.EV
	src        netip.Addr
}

// States of paths, from verdicts and traffic.
const (
	pathGood = "GOOD"
	pathSkip = "SKIP"
	pathBad  = "ASSUMED_BAD"
)

// Limits of stored state for one direction (its paths and its packets in flight), and of checked queue pairs with
// one number.
const (
	maxPaths  = 4096
	maxSent   = 8192
	maxSameQP = 256
)

// mrcStream is a stream's state for MRC.
type mrcStream struct {
	*stream
	flow *MRCFlow

	begun    bool
	first    uint64
	next     uint64 // one above the highest PSN of a WRITE seen
	distinct int64
	sent     map[uint64]sent // the last maxSent PSNs
	open     map[uint16]*mrcMessage
	order    []*mrcMessage // in the order of their beginning
	paths    map[pathKey]*Path
	rkey     uint32 // rkey of the last WRITE,
	msn      uint16 // and its message
	ends     bool   // the penalty has begun
	asked    map[uint16]asked

	trims, agains, skips, answers run
	nacks                         [256]*run
}

// pathKey identifies a path. Planes may have equal entropy values, but have different addresses.
type pathKey struct {
	ev  roce.EV
	src netip.Addr
}

// sent is a packet in flight.
type sent struct {
	ev     roce.EV
	path   *Path
	at     float64
	nacked bool
}

// asked is an unanswered probe.
type asked struct {
	ev     roce.EV
	path   *Path
	at     float64
	number int64
}

// mrcMessage is a WRITE with its packets so far.
type mrcMessage struct {
	msn           uint16
	text          string
	first, last   uint64
	start, end    float64
	number        int64
	packets, size int64
	opening       int64 // bytes of the first packet, which precedes start
	want          int64
	ended         bool
	paths         map[roce.EV]bool
}

// mrc returns the stream's state for MRC.
func (s *stream) mrc() *mrcStream {
	if s.more == nil {
		s.flow.MRC = &MRCFlow{}
		s.more = &mrcStream{stream: s, flow: s.flow.MRC, sent: map[uint64]sent{},
			open: map[uint16]*mrcMessage{}, paths: map[pathKey]*Path{}, asked: map[uint16]asked{}}
		if same := s.t.mrcs[uint16(s.key.qp)]; len(same) < maxSameQP {
			s.t.mrcs[uint16(s.key.qp)] = append(same, s)
		}
	}
	return s.more
}

// take processes a packet whose ICRC is valid or cannot be checked.
func (m *mrcStream) take(us float64, p *Packet, f *roce.Frame) {
	if f.Tunnel {
		block, _ := roce.AppendSegments(nil, f.Outer.Dst)
		m.flow.Block = fmt.Sprintf("%08x", block)
	}
	switch h := &f.BTH; h.Opcode {
	case roce.MRCSack:
		m.sack(us, p.Number, &f.MRC.SETH, f.IP.Dst)
	case roce.MRCNack:
		m.nack(us, p.Number, &f.MRC.NETH, f.IP.Dst)
	case roce.MRCAck:
		m.ack(us, p.Number, h)
	case roce.MRCProbe:
		m.probe(us, p, f, f.MRC.PETH.ID)
	case roce.MRCEndpointRequest:
		if f.MRC.ERTH.Op == roce.PortStatusUpdate {
			m.ports(us, p.Number, f.MRC.ERTH.Ports)
			return
		}
		m.probe(us, p, f, uint16(h.PSN))
	case roce.MRCEndpointResponse:
		far := m.t.flows[flowKey{m.key.dst, m.key.src, m.key.qp}]
		if far != nil && f.MRC.EETH.Op == roce.EVProbe {
			far.mrc().answered(us, p.Number, uint16(h.PSN), roce.VerdictNone)
		}
	default:
		m.write(us, p, f)
	}
}

// path returns the state of an entropy value's path; nil beyond the limit.
func (m *mrcStream) path(ev roce.EV, p *Packet, f *roce.Frame) *Path {
	k := pathKey{ev, f.IP.Src}
	x := m.paths[k]
	if x == nil {
		if len(m.paths) >= maxPaths {
			m.flow.MorePaths++
			return nil
		}
		x = &Path{EV: fmt.Sprintf("%#x", uint32(ev)), State: pathGood, Port: p.Port, ev: ev, src: f.IP.Src}
		if f.Tunnel {
			_, path := roce.AppendSegments(nil, f.Outer.Dst)
			x.Segments = fmt.Sprintf("%x", path)
		}
		m.paths[k] = x
		m.flow.Paths = append(m.flow.Paths, x)
	}
	return x
}

// by returns the path of an entropy value named in an answer to an address: its plane's, or any that has it.
func (m *mrcStream) by(ev roce.EV, to netip.Addr) *Path {
	if x := m.paths[pathKey{ev, to}]; x != nil || len(m.also) == 0 {
		return x
	}
	for _, x := range m.flow.Paths {
		if x.ev == ev {
			return x
		}
	}
	return nil
}

// continues reports whether a WRITE with other addresses belongs to this connection, on another plane. Numbers of
// queue pairs repeat from host to host, but hardly with keys, PSNs and continued messages.
func (m *mrcStream) continues(f *roce.Frame) bool {
	h, ahead := &f.BTH, roce.PSNDiff(f.BTH.PSN, uint32(m.next))
	newer := int16(f.MRC.METH.MSN - m.msn)
	if !m.begun || h.RKey != m.rkey || ahead < -maxSent/2 || ahead > maxSent/2 || newer < -256 || newer > 256 {
		return false
	}
	_, seen := m.sent[roce.Extend(h.PSN, m.next)]
	return !seen || f.MRC.Again
}

// number extends a WRITE's PSN, and records whether it is the highest so far.
func (m *mrcStream) number(psn uint32) (n uint64, late bool) {
	if !m.begun {
		m.begun = true
		m.next = 1<<24 + uint64(psn)
		m.first = m.next
	}
	n = roce.Extend(psn, m.next)
	if late = n < m.next; !late {
		m.next = n + 1
	}
	m.first = min(m.first, n)
	return n, late
}

// write takes a packet with payload.
func (m *mrcStream) write(us float64, p *Packet, f *roce.Frame) {
	w, n := &m.stream.flow, int64(len(f.Payload()))
	m.flow.Writes++
	w.Payload += n
	m.t.whole |= 1 << f.IP.DSCP()
	m.rkey, m.msn = f.BTH.RKey, f.MRC.METH.MSN
	psn, late := m.number(f.BTH.PSN)
	ev := roce.EVOf(&f.IP, &f.UDP)
	path := m.path(ev, p, f)
	if path != nil {
		path.Packets++
		m.used(us, p.Number, path)
	}
	_, seen := m.sent[psn]
	seen = seen || late && psn+maxSent < m.next // long ago: assumed to have been seen
	switch {
	case f.MRC.Again:
		w.Again++
		m.again(us, p.Number, psn, ev, path)
	case seen:
		m.flow.Repeated++
	case late:
		m.flow.OutOfOrder++
	}
	m.sent[psn] = sent{ev: ev, path: path, at: us}
	if len(m.sent) > maxSent {
		m.forget()
	}
	if seen {
		w.payloadAgain += n
		return
	}
	m.distinct++
	m.collect(us, p.Number, psn, ev, f)
}

// forget drops packets that were sent long ago.
func (m *mrcStream) forget() {
	for psn := range m.sent {
		if psn+maxSent/2 < m.next {
			delete(m.sent, psn)
		}
	}
}

// again records a retransmission.
func (m *mrcStream) again(us float64, number int64, psn uint64, ev roce.EV, path *Path) {
	if path != nil {
		path.Again++
	}
	r := &m.agains
	r.add(m.stream, us, number, psn, ev, m.sayAgain)
	before, ok := m.sent[psn]
	if !ok {
		return
	}
	r.was = before.ev
	if r.known++; before.ev != ev {
		r.moved++
	}
	if before.path != nil && !before.nacked {
		before.path.Lost++
	}
}

func (m *mrcStream) sayAgain(r *run) string {
	switch {
	case r.n == 1 && r.known == 1 && r.moved == 1:
		return fmt.Sprintf("PSN %d retransmitted by EV %#x, was %#x", low(r.from), uint32(r.ev), uint32(r.was))
	case r.n == 1:
		return fmt.Sprintf("PSN %d retransmitted by EV %#x", low(r.from), uint32(r.ev))
	}
	text := fmt.Sprintf("%d packets retransmitted, PSN %d…%d", r.n, low(r.from), low(r.upto))
	if r.known > 0 {
		text += fmt.Sprintf(", %d of %d by another path than before", r.moved, r.known)
	}
	return text
}

// collect adds a new packet to its message.
func (m *mrcStream) collect(us float64, number int64, psn uint64, ev roce.EV, f *roce.Frame) {
	h, msn := &f.BTH, f.MRC.METH.MSN
	x := m.open[msn]
	if x == nil {
		x = &mrcMessage{msn: msn, first: psn, last: psn, start: us, number: number, want: int64(h.Len),
			text: fmt.Sprintf("WRITE va %#x rkey %#x", h.VA, h.RKey), paths: map[roce.EV]bool{}}
		m.open[msn] = x
		if m.order = append(m.order, x); len(m.order) > maxOpen {
			m.close(m.order[0], us, "no acknowledgement in the capture")
		}
	}
	if psn < x.first {
		x.first, x.text = psn, fmt.Sprintf("WRITE va %#x rkey %#x", h.VA, h.RKey)
	}
	x.last, x.end = max(x.last, psn), us
	if x.packets++; x.packets == 1 {
		x.opening = int64(len(f.Payload()))
	}
	x.size += int64(len(f.Payload()))
	if len(x.paths) < maxPaths {
		x.paths[ev] = true
	}
	if h.Opcode.Ends() {
		m.stream.flow.Messages++
		x.ended = true
		if h.Opcode.HasMRCImm() {
			x.text += fmt.Sprintf(" imm %#x", h.Imm)
		}
	}
}

// close reports a message and removes it.
func (m *mrcStream) close(x *mrcMessage, us float64, end string) {
	text := fmt.Sprintf("%s: message %d, %v", x.text, x.msn, unit.Bytes(x.size))
	if x.size < x.want {
		text += fmt.Sprintf(" of %v", unit.Bytes(x.want))
	}
	text += fmt.Sprintf(", PSN %d", low(x.first))
	if x.last > x.first {
		text += fmt.Sprintf("…%d, %d packets by %s in %v", low(x.last), x.packets,
			unit.Plural(len(x.paths), "path"),
			span(x.end-x.start))
		if x.end > x.start {
			text += fmt.Sprintf(" (%.2f Gbit/s)", float64(x.size-x.opening)*8/(x.end-x.start)/1e3)
		}
	}
	m.say(x.start, x.number, "%s, %s", text, end)
	delete(m.open, x.msn)
	m.order = slices.DeleteFunc(m.order, func(y *mrcMessage) bool { return y == x })
}

// acknowledged reports the messages all of whose packets have arrived.
func (m *mrcStream) acknowledged(us float64, psn uint32) {
	if !m.begun {
		return
	}
	n := roce.Extend(psn, m.next)
	for i := 0; i < len(m.order); {
		if x := m.order[i]; x.ended && x.last <= n {
			m.close(x, us, fmt.Sprintf("acknowledged %s later", span(max(0, us-x.end))))
			continue
		}
		i++
	}
}

// ports takes a Port Status Update.
func (m *mrcStream) ports(us float64, number int64, mask uint32) {
	was := m.flow.Planes
	m.flow.Planes = &mask
	text := ""
	if was == nil {
		text = ": can be reached by " + planes(mask)
	} else {
		if down := *was &^ mask; down != 0 {
			text = " without " + planes(down)
		}
		if up := mask &^ *was; up != 0 {
			text += " with " + planes(up) + " again"
		}
	}
	if text != "" {
		m.say(us, number, "Port Status Update%s", text)
	}
}

// planes lists the planes of a mask.
func planes(mask uint32) string {
	text := ""
	for ; mask != 0; mask &= mask - 1 {
		text += fmt.Sprintf(", %d", bits.TrailingZeros32(mask))
	}
	switch strings.Count(text, ",") {
	case 0:
		return "no plane"
	case 1:
		return "plane" + text[1:]
	}
	return "planes" + text[1:]
}

// finish closes the stream at the end of the capture.
func (m *mrcStream) finish(us float64) {
	for _, r := range append([]*run{&m.trims, &m.agains, &m.skips, &m.answers}, m.nacks[:]...) {
		if r != nil {
			r.end(m.stream)
		}
	}
	for _, x := range slices.Clone(m.order) {
		m.stream.flow.Unfinished++
		end := "no acknowledgement in the capture"
		if !x.ended {
			end = "its end is not in the capture"
		}
		m.close(x, us, end)
	}
	for _, id := range sortedKeys(m.asked) {
		a := m.asked[id]
		m.say(a.at, a.number, "probe %d by EV %#x has no answer in the capture", id, uint32(a.ev))
	}
	for _, x := range m.flow.Paths {
		if len(m.also) > 0 && x.Port == "" {
			x.Port = x.src.String()
		}
	}
	if m.begun {
		m.stream.flow.Missing += max(0, int64(m.next-m.first)-m.distinct)
	}
	for i, r := range m.nacks {
		if r != nil {
			m.flow.Nacks = append(m.flow.Nacks, NackCount{roce.NackReason(i).String(), r.all})
		}
	}
}

func sortedKeys[V any](m map[uint16]V) []uint16 {
	keys := make([]uint16, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
