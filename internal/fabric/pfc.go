package fabric

import (
	"railyard/internal/engine"
	"railyard/internal/route"
	"railyard/roce"
	"railyard/unit"
)

// sendPause sends a PFC frame for ingress slot (port x 8 + priority) and arms
// the refresh that repeats it while the congestion lasts.
func (n *Net) sendPause(slot int32) {
	port, prio := n.portOf(slot), int32(n.classOf(slot))
	if n.Ports[port].Flags&flagDown != 0 {
		return // SetDown sends it when the cable is whole again
	}
	sw := &n.Sw[n.Ports[port].Node]
	n.PauseFrames++
	n.Stats[port].PauseSent++
	quanta := int32(roce.MaxQuanta)
	if sw.Spec != nil {
		quanta = int32(sw.Spec.PFCQuanta)
	}
	n.sendPFC(port, prio|quanta<<8)
	// Half the pause time leaves room for the frame to reach the peer. It comes after the last one.
	again := n.Q.Now() + roce.PauseTime(int(quanta), n.cfg[port].rate)/2
	n.refresh.Arm(slot, KindRefresh, max(again, n.Ports[port].BusyUntil))
}

func (n *Net) resume(slot int32) {
	port, prio := n.portOf(slot), int32(n.classOf(slot))
	n.ing[slot].pausing = false
	n.refresh.Disarm(slot)
	n.trace("xon", port, int(prio))
	if n.Ports[port].Flags&flagDown == 0 {
		n.Stats[port].ResumeSent++
		n.sendPFC(port, prio)
	}
}

// sendPFC puts a 64-byte MAC control frame on the wire behind the frame being
// sent, if any, ahead of everything queued. It takes effect at the peer after
// the peer's response time.
func (n *Net) sendPFC(port, arg int32) {
	op := &n.Ports[port]
	start := max(n.Q.Now(), op.BusyUntil)
	ser := n.wire(op, port, roce.PFCLen)
	op.BusyUntil = start + ser
	op.TxBytes += roce.PFCLen + roce.PreambleIFG
	c := &n.cfg[port]
	if op.Flags&flagTapOut != 0 {
		n.TapPFC(start, port, true, int(arg&0xff), int(arg>>8))
	}
	if op.Flags&flagTapIn != 0 {
		n.TapPFC(start+ser+c.prop, op.Peer, false, int(arg&0xff), int(arg>>8))
	}
	n.Q.Push(start+ser+c.prop+c.response, KindPFC, op.Peer, arg)
}

// SendPause and SendResume let a host's receive side pause its switch.
func (n *Net) SendPause(port int32, prio int) { n.sendPause(n.slot(port, prio)) }

// SendResume ends a pause of SendPause.
func (n *Net) SendResume(port int32, prio int) { n.resume(n.slot(port, prio)) }

// gotPFC applies a pause frame to the transmit side of port: quanta 0 resumes,
// anything else pauses for so long from now (IEEE 802.1Q 36.1.3).
func (n *Net) gotPFC(port int32, prio, quanta int) {
	slot := n.slot(port, prio)
	if n.storms != nil {
		n.storms[slot].got++
	}
	if quanta == 0 {
		n.unpause(port, prio)
		return
	}
	n.Stats[port].PauseGot++
	if n.cfg[port].noPFC&(1<<prio) != 0 {
		return
	}
	until := n.Q.Now() + roce.PauseTime(quanta, n.cfg[port].rate)
	n.expire.Arm(slot, KindExpire, until)
	op := &n.Ports[port]
	if op.Paused&(1<<prio) == 0 {
		if op.Paused == 0 {
			n.Stats[port].pausedSince = n.Q.Now()
		}
		op.Paused |= 1 << prio
		n.trace("pause", port, prio)
	}
}

// unpause lets a priority send again.
func (n *Net) unpause(port int32, prio int) {
	slot := n.slot(port, prio)
	n.expire.Disarm(slot)
	op := &n.Ports[port]
	if op.Paused&(1<<prio) == 0 {
		return
	}
	op.Paused &^= 1 << prio
	if n.storms != nil {
		n.storms[slot].resumed = true
	}
	if op.Paused == 0 {
		st := &n.Stats[port]
		st.PausedFor += n.Q.Now() - st.pausedSince
	}
	n.trace("resume", port, prio)
	n.Kick(port, op)
}

// Kick arms a service event for a port that may have something to send.
func (n *Net) Kick(port int32, op *route.Port) {
	if op.Armed {
		return
	}
	if n.Sw[op.Node].Spec != nil && op.NonEmpty&^op.Paused == 0 {
		return
	}
	op.Armed = true
	n.Q.Push(max(op.BusyUntil, n.Q.Now()), engine.Kind(op.Service), port, 0)
}

// PausedFor returns how long a port has been paused up to now.
func (n *Net) PausedFor(port int32) unit.Time {
	st := &n.Stats[port]
	if n.Ports[port].Paused != 0 {
		return st.PausedFor + n.Q.Now() - st.pausedSince
	}
	return st.PausedFor
}

// PauseCause returns the egress port of the peer switch whose congestion made
// it pause this port's priority last, or -1.
func (n *Net) PauseCause(port int32, prio int) int32 {
	peer := n.Ports[port].Peer
	return n.ing[n.slot(peer, prio)].cause
}
