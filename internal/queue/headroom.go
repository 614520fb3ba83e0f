package queue

import (
	"railyard/roce"
	"railyard/unit"
)

// Headroom returns the ingress bytes per lossless class that must be free when xOFF is crossed, so that nothing is
// lost until the peer stops.
//
// The peer keeps sending at line rate for a time d after the pause decision. It is the sum of the switch's current
// frame, which delays the pause frame, the pause frame, the link in both directions, the peer's response time and
// the switch's pipeline. Add the frame that crossed the threshold and the last one the peer starts. With full
// frames one MTU less loses packets.
func Headroom(rate unit.Rate, prop, response, pipeline unit.Time, mtu unit.Bytes) unit.Bytes {
	frame := mtu + roce.PreambleIFG
	d := unit.Serialize(frame, rate) + unit.Serialize(roce.PFCLen+roce.PreambleIFG, rate) + 2*prop +
		response + pipeline
	return 2*mtu + unit.InTime(rate, d)*mtu/frame
}

// Reserve returns the headroom of a port for a class: the configured value, else the link's requirement, and 0 for a
// lossy class.
func (s *Spec) Reserve(class int, rate unit.Rate, prop, response, pipeline unit.Time) unit.Bytes {
	c := &s.Queues[class]
	switch {
	case !c.Lossless:
		return 0
	case c.Headroom > 0:
		return c.Headroom
	}
	return Headroom(rate, prop, response, pipeline, s.MTU)
}

// Response returns how long a port of rate r may take to act on a pause: the
// budget of IEEE 802.3 31B.3.7 (docs/references.md, pfc).
func Response(r unit.Rate) unit.Time { return roce.PauseTime(quanta(r), r) }

// quanta returns that budget, in units of 512 bit times.
func quanta(r unit.Rate) int {
	switch {
	case r <= 10*unit.Gbps:
		return 67
	case r <= 25*unit.Gbps:
		return 80
	case r <= 40*unit.Gbps:
		return 118
	case r <= 50*unit.Gbps:
		return 147
	case r <= 100*unit.Gbps:
		return 394
	case r <= 200*unit.Gbps:
		return 453
	}
	return 905
}
