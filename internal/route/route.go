package route

import "railyard/unit"

// Port is the transmitting side of a port: the 64 bytes that every packet touches. Path choice reads a port's load
// from it; the fabric updates it.
type Port struct {
	BusyUntil unit.Time // the last accepted frame, gap included, is out then
	Flight    unit.Time // propagation plus the peer's pipeline
	TxBytes   int64     // wire bytes sent, preamble and gap included
	TxFrames  int64
	Rate      unit.Rate
	PsPerByte int32 // picoseconds per byte; 0 if not a whole number: then Rate applies
	Peer      int32 // port at the other end
	Node      int32 // owner
	Queued    int32 // bytes waiting
	NonEmpty  uint8 // classes with packets waiting
	Paused    uint8 // classes the peer has paused
	Armed     bool  // a service event is pending
	Down      bool
	Arrive    uint8 // event kind of an arrival at the peer
	Service   uint8 // event kind that serves this port
	Flags     uint8
	Strict    uint8 // classes with strict priority
}

// drain returns how long a port takes to send bytes.
func (p *Port) drain(bytes int32) unit.Time {
	if p.PsPerByte != 0 {
		return unit.Time(bytes) * unit.Time(p.PsPerByte)
	}
	return unit.Serialize(unit.Bytes(bytes), p.Rate)
}

// wait returns the queueing time of a packet that arrives now.
func (p *Port) wait(now unit.Time) unit.Time { return max(p.BusyUntil-now, 0) + p.drain(p.Queued) }

// Hash mixes a flow's 5-tuple digest with a switch's seed.
func Hash(flow, seed uint32) uint32 {
	h := flow ^ seed
	h ^= h >> 16
	h *= 0x7feb352d
	h ^= h >> 15
	h *= 0x846ca68b
	return h ^ h>>16
}

// Hashed returns which of n ports a flow's hash picks at a switch.
func Hashed(flow, seed uint32, n int) int { return int(uint64(Hash(flow, seed)) * uint64(n) >> 32) }
