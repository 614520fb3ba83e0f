package host

import (
	"railyard/cc"
	"railyard/internal/fabric"
	"railyard/roce"
	"railyard/unit"
)

// launches requests its service's telemetry in a data packet, and returns the added bytes. Tags request the available
// share of the busiest port, the longest delay, or both in turn.
func (h *Hosts) launches(s *sender, pi int32, psn uint32) int {
	sv := &h.cfg.Services[s.service]
	signal := roce.SignalABWC
	if sv.Tags == cc.SignalledDelay || sv.Tags == 0 && psn&1 != 0 {
		signal = roce.SignalDelay
	}
	h.Net.Ask(pi, sv.Telemetry, signal)
	return int(s.extra)
}

// heard returns the switches' telemetry from the packet that an acknowledgement answers; nil: none.
func (h *Hosts) heard(p *fabric.Packet) *cc.Telemetry {
	if p.Flags&fabric.FlagINT == 0 {
		return nil
	}
	t, from := &h.told, h.Net.Told(h.inHand)
	switch {
	case from.Kind == roce.TelemetryINT:
		tell(t, &from.INT)
	case from.Kind == roce.TelemetryIFA:
		analyze(t, from.Stack.Hops())
	case from.Tag.Type == roce.SignalDelay:
		t.Signal, t.Delay = cc.SignalledDelay, unit.Time(from.Tag.Signal())
		t.Most = unit.Time(from.Tag.Most())
	default:
		t.Signal, t.Share = cc.SignalledShare, from.Tag.Signal()
	}
	return t
}

// tell decodes a telemetry header for a controller.
func tell(t *cc.Telemetry, from *roce.INT) {
	t.Hops, t.Path, t.Wraps, t.Signal = int(from.Hops), from.Path, roce.StampPeriod, 0
	for i, s := range from.Stamps() {
		t.Hop[i] = cc.Hop{Rate: s.Rate(), At: s.At(), Sent: s.Sent(), Wraps: s.SentPeriod(), Queue: s.Queue()}
	}
}

// analyze decodes IFA's metadata for a controller. Of a switch's clock it copies the bits that INT has.
func analyze(t *cc.Telemetry, from []roce.IFAHop) {
	t.Hops, t.Path, t.Wraps, t.Signal = len(from), 0, roce.StampPeriod, 0
	for i := range from {
		h := &from[i]
		t.Path ^= uint16((h.Device<<12 ^ uint32(h.Egress)) * 2654435761 >> 20)
		t.Hop[i] = cc.Hop{Rate: h.Speed(), At: h.At() % roce.StampPeriod, Sent: unit.Bytes(h.Sent),
			Wraps: roce.IFASentPeriod, Queue: h.Waiting()}
	}
}
