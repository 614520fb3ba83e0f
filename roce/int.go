package roce

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"railyard/unit"
)

// In-band network telemetry is written by switches into passing packets. It is HPCC's header of 42 bytes (Li et
// al., SIGCOMM 2019, section 4.1; field widths from its simulator's int-header.h): the number of switches, the
// path, and five entries. The sender reserves all entries, so that no packet grows in the network. Each switch
// fills the next entry as the frame starts, and the receiver returns the header in its acknowledgement.
//
// No standard defines its position. Railyard places it after the headers of the opcode and before the payload. It
// is announced by the low two bits of the BTH's second reserved field, which receivers ignore (IBTA 9.2), so other
// receivers still parse the headers. The ICRC covers ones in its place, as for other fields that change in the
// network (IBTA A17.9.4). No switch recomputes it.

// Telemetry is the kind of telemetry in a packet.
type Telemetry uint8

// Kinds of telemetry, by their code on the wire.
const (
	NoTelemetry Telemetry = iota
	TelemetryINT
	TelemetryCSIG     // of an acknowledgement: the compact tag of the acknowledged packet
	TelemetryCSIGWide // the wide one

	// TelemetryIFA is outside the transport's headers, and no code of them: see Frame.Analyzed.
	TelemetryIFA
)

// telemetryBits are the bits of Resv7 with the kind of telemetry.
const telemetryBits = 3

// INTHops is the number of switches that the header has room for, INTLen its bytes.
const (
	INTHops = 5
	INTLen  = 2 + 8*INTHops
)

// Len returns the bytes that a sender adds for the kind: all of INT's and CSIG's, of IFA's without metadata.
func (t Telemetry) Len() int { return [8]int{0, INTLen, CSIGLen, CSIGWideLen, IFALen}[t&7] }

// Grows returns the bytes that each switch adds to the packet.
func (t Telemetry) Grows() int {
	if t == TelemetryIFA {
		return IFAHopLen
	}
	return 0
}

// INT is the header. Entries are filled from the first; Hops continues to count when all are full.
type INT struct {
	Hops uint8  // switches passed, 15 for more, too
	Path uint16 // 12 bits: exclusive or of the names of the ports passed
	Hop  [INTHops]Stamp
}

// Stamp is the packed state of one switch's egress port: rate (3 bits), time (24), bytes sent (20),
// queue (17).
type Stamp uint64

// Widths and units of a stamp's fields. The units of bytes and of the queue are larger on faster ports, by a power
// of two that depends on the rate. A fast port's byte count thus does not wrap while a sender waits.
const (
	timeBits, sentBits, queueBits = 24, 20, 17

	mostHops = 15 // four bits
	pathMask = 1<<12 - 1

	StampTime = unit.Nanosecond // the unit of time
	sentUnit  = 128             // bytes, at 25 Gbit/s and below
	queueUnit = 80              // bytes, at 25 Gbit/s and below

	// StampPeriod is the time after which a stamp's time repeats.
	StampPeriod = StampTime << timeBits
)

// stampRates are the rates that a stamp can name. The first five codes are HPCC's simulator's.
var stampRates = [8]unit.Rate{25 * unit.Gbps, 50 * unit.Gbps, 100 * unit.Gbps, 200 * unit.Gbps,
	400 * unit.Gbps, 800 * unit.Gbps, 1600 * unit.Gbps, 10 * unit.Gbps}

// stampShift is by how much a rate's units are larger.
var stampShift = [8]uint8{0, 1, 2, 3, 4, 5, 6, 0}

// StampRate returns the code of a port's rate, false for one that a stamp cannot name.
func StampRate(r unit.Rate) (code uint8, ok bool) {
	for i, x := range stampRates {
		if x == r {
			return uint8(i), true
		}
	}
	return 0, false
}

// StampRates lists the rates that a stamp can name, for a sentence.
func StampRates() string {
	var words []string
	for _, r := range append(stampRates[7:8:8], stampRates[:7]...) {
		words = append(words, r.String())
	}
	return strings.Join(words[:7], ", ") + " or " + words[7]
}

// NewStamp packs the state of a port at a time: the bytes sent before this frame and the bytes queued after it.
func NewStamp(code uint8, now unit.Time, sent, queue int64) Stamp {
	shift := stampShift[code&7]
	q := min(uint64(queue)/queueUnit>>shift, 1<<queueBits-1)
	return Stamp(code)<<61 | Stamp(now/StampTime)&(1<<timeBits-1)<<(sentBits+queueBits) |
		Stamp(uint64(sent)/sentUnit>>shift)&(1<<sentBits-1)<<queueBits | Stamp(q)
}

// Add fills the next entry; port identifies the port in Path.
func (t *INT) Add(port uint32, s Stamp) {
	if t.Hops < INTHops {
		t.Hop[t.Hops] = s
	}
	t.Hops = min(t.Hops+1, mostHops)
	t.Path ^= uint16(port * 2654435761 >> 20) // the top 12 bits of a multiplicative hash
}

// Stamps returns the filled entries.
func (t *INT) Stamps() []Stamp { return t.Hop[:min(t.Hops, INTHops)] }

// Rate returns the port's rate.
func (s Stamp) Rate() unit.Rate { return stampRates[s>>61] }

// At returns the port's time, modulo StampPeriod.
func (s Stamp) At() unit.Time { return unit.Time(s>>(sentBits+queueBits)&(1<<timeBits-1)) * StampTime }

// Sent returns the bytes that the port had sent, modulo SentPeriod.
func (s Stamp) Sent() unit.Bytes {
	return unit.Bytes(s>>queueBits&(1<<sentBits-1)) * sentUnit << stampShift[s>>61]
}

// SentPeriod is the number of bytes after which the port's count wraps.
func (s Stamp) SentPeriod() unit.Bytes { return sentUnit << sentBits << stampShift[s>>61] }

// Queue returns the bytes that waited.
func (s Stamp) Queue() unit.Bytes {
	return unit.Bytes(s&(1<<queueBits-1)) * queueUnit << stampShift[s>>61]
}

func (s Stamp) String() string {
	return fmt.Sprintf("%v at %v sent %d queue %d", s.Rate(), s.At(), int64(s.Sent()), int64(s.Queue()))
}

// append writes the header.
func (t *INT) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(t.Hops)<<12|t.Path&pathMask)
	for _, s := range t.Hop {
		b = binary.BigEndian.AppendUint64(b, uint64(s))
	}
	return b
}

// decode reads it from exactly its bytes.
func (t *INT) decode(b []byte) {
	w := binary.BigEndian.Uint16(b)
	t.Hops, t.Path = uint8(w>>12), w&pathMask
	for i := range t.Hop {
		t.Hop[i] = Stamp(binary.BigEndian.Uint64(b[2+8*i:]))
	}
}

func (t *INT) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "INT path %03x %d hops", t.Path, t.Hops)
	for i, s := range t.Stamps() {
		fmt.Fprintf(&b, ", %d: %v", i+1, s)
	}
	return b.String()
}

// masked returns the offset, from the BTH, and the length of the further bytes that the ICRC replaces by ones;
// length 0 if switches write nothing into the packet.
func masked(b []byte) (at, n int) {
	if len(b) < BTHLen || Telemetry(b[8]&telemetryBits) != TelemetryINT || Opcode(b[0]).IsMRC() {
		return 0, 0
	}
	at = int(extLens[b[0]])
	return at, min(INTLen, max(0, len(b)-at))
}

// replaced by ones in the ICRC
var ones = bytes.Repeat([]byte{0xff}, INTLen)
