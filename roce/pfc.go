package roce

import (
	"encoding/binary"
	"fmt"
	"strings"

	"railyard/unit"
)

// QuantumBits is the unit of pause time: 512 bit times (IEEE 802.3 annex 31B).
const QuantumBits = 512

// MaxQuanta is the longest pause of one frame.
const MaxQuanta = 0xffff

// MAC control opcodes.
const (
	opPause = 0x0001 // IEEE 802.3 annex 31B
	opPFC   = 0x0101 // IEEE 802.1Qbb, 802.3 annex 31D
)

// pauseAddress is the reserved multicast address that bridges do not forward.
var pauseAddress = MAC{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01}

// PauseTime returns how long quanta last on a link of rate r: 65,535 quanta are 83.9 us at 400 Gbit/s. One source
// says of PAUSE "for 65ms", as if a quantum were a microsecond. It is 512 bit times (IEEE 802.3 annex 31B), 65 ms
// at 0.5 Gbit/s.
func PauseTime(quanta int, r unit.Rate) unit.Time {
	return unit.Serialize(unit.Bytes(quanta)*QuantumBits/8, r)
}

// PauseFrame is a MAC control frame: priority flow control or, if Classic, a pause of the whole link with Quanta[0]
// as its time.
type PauseFrame struct {
	Classic bool
	Vector  uint8 // PFC: bit p enables priority p
	High    uint8 // PFC: the vector's upper byte, zero
	Quanta  [8]uint16
}

func (p *PauseFrame) decode(b []byte) (n int, err error) {
	*p = PauseFrame{}
	if len(b) < 4 {
		return 0, ErrTruncated
	}
	switch binary.BigEndian.Uint16(b) {
	case opPause:
		p.Classic = true
		p.Quanta[0] = binary.BigEndian.Uint16(b[2:])
		return 4, nil
	case opPFC:
		if len(b) < 20 {
			return 0, ErrTruncated
		}
		p.High, p.Vector = b[2], b[3]
		for i := range p.Quanta {
			p.Quanta[i] = binary.BigEndian.Uint16(b[4+2*i:])
		}
		return 20, nil
	}
	return 0, ErrOpcode
}

func (p *PauseFrame) append(b []byte) []byte {
	if p.Classic {
		b = binary.BigEndian.AppendUint16(b, opPause)
		return binary.BigEndian.AppendUint16(b, p.Quanta[0])
	}
	b = binary.BigEndian.AppendUint16(b, opPFC)
	b = append(b, p.High, p.Vector)
	for _, q := range p.Quanta {
		b = binary.BigEndian.AppendUint16(b, q)
	}
	return b
}

// String names each priority with its quanta.
func (p *PauseFrame) String() string {
	if p.Classic {
		return fmt.Sprintf("PAUSE quanta %d", p.Quanta[0])
	}
	var s strings.Builder
	s.WriteString("PFC")
	for i, q := range p.Quanta {
		if p.Vector>>i&1 == 0 {
			continue
		}
		if q == 0 {
			fmt.Fprintf(&s, " prio %d resume", i)
		} else {
			fmt.Fprintf(&s, " prio %d pause %d quanta", i, q)
		}
	}
	return s.String()
}

// AppendPFC appends a priority flow control frame from src, without FCS, to b. It has MAC control EtherType 0x8808,
// opcode 0x0101, the class enable vector and eight timers, padded to 60 bytes. Priority 3 alone is vector 0x0008.
// One of the source documents has 0x1000, which counts the bits from the wrong end.
func AppendPFC(b []byte, src [6]byte, vector uint8, quanta [8]uint16) []byte {
	return appendControl(b, src, &PauseFrame{Vector: vector, Quanta: quanta})
}

func appendControl(b []byte, src MAC, p *PauseFrame) []byte {
	at := len(b)
	f := Frame{Kind: KindPause, Ethernet: Ethernet{Dst: pauseAddress, Src: src, Type: TypeMACControl}, Pause: *p}
	b = f.Append(b)
	return append(b, make([]byte, PFCLen-FCSLen-(len(b)-at))...)
}
