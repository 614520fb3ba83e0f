package fabric

import (
	"railyard/internal/engine"
	"railyard/internal/route"
	"railyard/roce"
	"railyard/unit"
)

// pauseFrame is a PFC frame for one priority in an event's operand: 3 bits of priority, 16 of quanta, and 13 that
// no real frame has. The 13 bits name the sender's port that holds the bytes. The paused switch therefore need not
// read the state of the pausing one.
type pauseFrame uint32

// maxPorts is the number of ports of a switch that a pauseFrame can address.
const maxPorts = 1<<13 - 1

func (f pauseFrame) priority() int { return int(f & 7) }
func (f pauseFrame) quanta() int   { return int(f >> 3 & roce.MaxQuanta) }

// cause returns the index of the port that holds the bytes among its switch's ports, -1 for none.
func (f pauseFrame) cause() int { return int(f>>19) - 1 }

// pauseFor makes a frame that pauses the peer of a port. quanta 0 resumes the peer.
func (n *Net) pauseFor(port int32, prio, quanta int) pauseFrame {
	place := -1
	if quanta != 0 {
		place = n.holder(n.slot(port, prio))
	}
	return pauseFrame(prio | quanta<<3 | (place+1)<<19)
}

// sendPause sends a PFC frame for ingress slot (port x 8 + priority) and arms
// the refresh that repeats it while the congestion lasts.
func (n *Net) sendPause(slot int32) {
	port, prio := n.portOf(slot), n.classOf(slot)
	if n.Ports[port].Flags&flagDown != 0 {
		return // SetLink sends it after the repair
	}
	sw := &n.Sw[n.Ports[port].Node]
	n.PauseFrames++
	n.Stats[port].PauseSent++
	quanta := roce.MaxQuanta
	if sw.Spec != nil {
		quanta = int(sw.Spec.PFCQuanta)
	}
	n.sendPFC(port, n.pauseFor(port, prio, quanta))
	// Half the peer's pause time leaves room for the frame to reach it. It follows the last one.
	again := n.Q.Now() + roce.PauseTime(quanta, n.Ports[n.Ports[port].Peer].Rate)/2
	n.refresh.Arm(engine.Node(n.node[port]), slot, KindRefresh, max(again, n.Ports[port].BusyUntil))
}

func (n *Net) resume(slot int32) {
	port, prio := n.portOf(slot), n.classOf(slot)
	n.ing[slot].pausing = false
	n.refresh.Disarm(slot)
	n.trace("xon", port, prio)
	if n.Ports[port].Flags&flagDown == 0 {
		n.Stats[port].ResumeSent++
		n.sendPFC(port, n.pauseFor(port, prio, 0))
	}
}

// sendPFC puts a 64-byte MAC control frame on the wire after the frame being sent, if any, before everything
// queued. It takes effect at the peer after the peer's response time.
func (n *Net) sendPFC(port int32, f pauseFrame) {
	tx := &n.Ports[port]
	start := max(n.Q.Now(), tx.BusyUntil)
	ser := n.wire(tx, roce.PFCLen)
	tx.BusyUntil = start + ser
	tx.TxBytes += roce.PFCLen + roce.PreambleIFG
	c := &n.cfg[port]
	if tx.Flags&flagTapOut != 0 {
		n.TapPFC(start, port, true, f.priority(), f.quanta())
	}
	if tx.Flags&flagTapIn != 0 {
		n.TapPFC(start+ser+c.prop, tx.Peer, false, f.priority(), f.quanta())
	}
	at := start + ser + c.prop + c.response
	if tx.Flags&flagLeaves != 0 {
		n.send(Letter{event: n.Q.Elsewhere(engine.Node(tx.Node), at, KindPFC, tx.Peer, int32(f))})
		return
	}
	n.Q.Push(engine.Node(tx.Node), at, KindPFC, tx.Peer, int32(f))
}

// SendPause and SendResume let a host's receive side pause its switch.
func (n *Net) SendPause(port int32, prio int) {
	n.Pauses++
	n.sendPause(n.slot(port, prio))
}

// SendResume ends a pause of SendPause.
func (n *Net) SendResume(port int32, prio int) { n.resume(n.slot(port, prio)) }

// Storm makes the receiver at a port pause its peer continuously, as a NIC with hung firmware or PCIe does, or ends
// that.
func (n *Net) Storm(port int32, prio int, on bool) {
	slot := n.slot(port, prio)
	if !on {
		n.resume(slot)
		return
	}
	n.ing[slot].pausing = true
	n.sendPause(slot)
}

// gotPFC applies a pause frame to the transmit side of port. quanta 0 resumes; other values pause for that time
// from now (IEEE 802.1Q 36.1.3).
func (n *Net) gotPFC(port int32, f pauseFrame) {
	prio, quanta := f.priority(), f.quanta()
	slot := n.slot(port, prio)
	if n.Ports[port].Flags&flagDown != 0 {
		return // the link broke while it was in flight
	}
	if n.storms != nil {
		n.storms[slot].got++
	}
	if quanta == 0 {
		n.unpause(port, prio)
		return
	}
	n.Stats[port].PauseGot++
	if n.causes[slot] = -1; f.cause() >= 0 {
		n.causes[slot] = n.Sw[n.node[n.Ports[port].Peer]].ports[f.cause()]
	}
	if n.cfg[port].noPFC&(1<<prio) != 0 {
		return
	}
	until := n.Q.Now() + roce.PauseTime(quanta, n.Ports[port].Rate)
	n.expire.Arm(engine.Node(n.node[port]), slot, KindExpire, until)
	tx := &n.Ports[port]
	if tx.Paused&(1<<prio) == 0 {
		if tx.Paused == 0 {
			n.Stats[port].pausedSince = n.Q.Now()
		}
		tx.Paused |= 1 << prio
		if n.rings != nil && n.Sw[tx.Node].Spec != nil {
			n.giveWay(n.Q.Now(), port, prio)
		}
		n.trace("pause", port, prio)
	} else if n.Repaused != nil {
		n.Repaused(port, prio)
	}
}

// unpause lets a priority send again.
func (n *Net) unpause(port int32, prio int) {
	slot := n.slot(port, prio)
	n.expire.Disarm(slot)
	tx := &n.Ports[port]
	if tx.Paused&(1<<prio) == 0 {
		return
	}
	tx.Paused &^= 1 << prio
	if n.storms != nil {
		n.storms[slot].resumed = true
	}
	if tx.Paused == 0 {
		st := &n.Stats[port]
		st.PausedFor += n.Q.Now() - st.pausedSince
	}
	n.trace("resume", port, prio)
	n.Kick(port, tx)
}

// Kick arms a service event for a port that may have packets to send.
func (n *Net) Kick(port int32, tx *route.Port) {
	if tx.Armed {
		return
	}
	if tx.NonEmpty&^tx.Paused == 0 && n.Sw[tx.Node].Spec != nil {
		return
	}
	tx.Armed = true
	n.Q.Push(engine.Node(tx.Node), max(tx.BusyUntil, n.Q.Now()), engine.Kind(tx.Service), port, 0)
}

// PausedFor returns how long a port has been paused up to now.
func (n *Net) PausedFor(port int32) unit.Time {
	st := &n.Stats[port]
	if n.Ports[port].Paused != 0 {
		return st.PausedFor + n.Q.Now() - st.pausedSince
	}
	return st.PausedFor
}

// PauseCause returns an egress port of the peer switch. It held most bytes of this link when the switch sent the
// last pause of this port's priority. It is -1 without a pause, or for a pause by a NIC.
func (n *Net) PauseCause(port int32, prio int) int32 { return n.causes[n.slot(port, prio)] }
