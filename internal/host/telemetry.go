package host

import (
	"railyard/cc"
	"railyard/internal/fabric"
	"railyard/roce"
)

// launches gives a data packet its telemetry header, and returns the bytes that this takes.
func (s *sender) launches(net *fabric.Net, pi int32) int {
	net.ClearINT(pi)
	return int(s.extra)
}

// heard returns what switches wrote into the packet that an acknowledgement answers; nil: nothing.
func (h *Hosts) heard(p *fabric.Packet) *cc.Telemetry {
	if p.Flags&fabric.FlagINT == 0 {
		return nil
	}
	t := &h.told
	Tell(t, h.Net.INT(h.inHand))
	return t
}

// Tell decodes a telemetry header for a controller.
func Tell(t *cc.Telemetry, from *roce.INT) {
	t.Hops, t.Path, t.Wraps = int(from.Hops), from.Path, roce.StampPeriod
	for i, s := range from.Stamps() {
		t.Hop[i] = cc.Hop{Rate: s.Rate(), At: s.At(), Sent: s.Sent(), Wraps: s.SentPeriod(), Queue: s.Queue()}
	}
}
