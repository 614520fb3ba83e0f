package mrc

import (
	"railyard/param"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// wire is the protocol on real datagrams (transport.Wire).
type wire struct{}

func (wire) Encode(p *transport.Packet, h *roce.Header, m *roce.MRC, from, to uint16) {
	Encode(p, h, m, from, to)
}

func (wire) Decode(now unit.Time, h *roce.Header, m *roce.MRC, payload int, p *transport.Packet) bool {
	return Decode(now, h, m, payload, p)
}

func (wire) Numbered(p *transport.Packet) bool { return p.Code != AboutConnection }

func (wire) Tracks() int { return parameters.Read(Protocol.Defaults).Window }

// Values returns the parameters by which sockets differ from NICs: one entropy value for each source port, one for
// all segments of a system call, fewer SACKs, and timeouts for processes that wait for a processor. A measured
// timeout is at least a quarter of the fixed one that RC would have.
func (wire) Values(s transport.Sockets) param.Values {
	k := parameters.Read(Protocol.Defaults)
	k.EVs, k.Active, k.Burst = s.Ports, max(s.Planes, s.Ports/2), s.Segments
	k.AckEvery, k.Immediates = 16, s.Immediates
	k.Floor, k.AckDelay = max(s.Timeout/4, unit.Millisecond), unit.Millisecond
	k.ProbeEvery = 10 * unit.Millisecond
	return parameters.Values(k)
}
