package roce

import (
	"encoding/binary"

	"railyard/unit"
)

// QuantumBits is the unit of pause time: 512 bit times (IEEE 802.3 annex 31B).
const QuantumBits = 512

// MaxQuanta is the longest pause one frame can ask for.
const MaxQuanta = 0xffff

// PauseTime returns how long quanta last on a link of rate r: 65,535 quanta
// are 83.9 us at 400 Gbit/s.
func PauseTime(quanta int, r unit.Rate) unit.Time {
	return unit.Serialize(unit.Bytes(quanta)*QuantumBits/8, r)
}

// AppendPFC appends a priority flow control frame from src, without FCS, to b:
// MAC control EtherType 0x8808, opcode 0x0101, the class enable vector, eight
// timers, padded to 60 bytes. Priority 3 alone is vector 0x0008; one of the
// seeds prints 0x1000, which counts the bits from the wrong end.
func AppendPFC(b []byte, src [6]byte, vector uint8, quanta [8]uint16) []byte {
	b = append(b, 0x01, 0x80, 0xc2, 0x00, 0x00, 0x01)
	b = append(b, src[:]...)
	b = append(b, 0x88, 0x08, 0x01, 0x01, 0, vector)
	for _, q := range quanta {
		b = binary.BigEndian.AppendUint16(b, q)
	}
	return append(b, make([]byte, 26)...)
}
