package roce

import "railyard/unit"

// PSNMask keeps a packet sequence number in its 24 bits.
const PSNMask = 1<<24 - 1

// PSNDiff returns a-b in sequence space: positive when a is later. Two PSNs in
// flight must lie less than 2^23 apart (IBTA 9.7.2).
func PSNDiff(a, b uint32) int32 { return int32((a-b)<<8) >> 8 }

// Extend returns the 64-bit sequence number nearest to near whose low 24 bits
// are psn.
func Extend(psn uint32, near uint64) uint64 {
	return near + uint64(int64(PSNDiff(psn, uint32(near)&PSNMask)))
}

// rnrTimers are the times of the RNR NAK timer codes in units of 10 us (IBTA
// 9.7.5.2; docs/references.md, rc).
var rnrTimers = [32]int64{65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512,
	768, 1024, 1536,
	2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152}

// RNRTimer returns how long a requester waits after an RNR NAK with this code:
// 10 us for code 1 up to 491.52 ms for code 31, and 655.36 ms for code 0.
func RNRTimer(code uint8) unit.Time { return unit.Time(rnrTimers[code&31]) * 10 * unit.Microsecond }
