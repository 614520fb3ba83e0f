package cc

import "railyard/unit"

// Pacer turns a controller's decisions into the pace of one sender. It caches the decision, so the controller is
// called only when the byte budget is used up. Simulated NICs and real sockets share the Pacer, so both pass equal
// inputs to a controller.
//
// The first cache line of 64 bytes holds the fields that each packet reads (TestPacerLines).
type Pacer struct {
	Window unit.Bytes // most bytes in flight; zero is no window
	Rate   unit.Rate  // rate allowed now, at most Line
	Line   unit.Rate
	NextAt unit.Time // not before
	credit *Credit   // nil for a controller that needs none
	clock  *clock    // nil for a controller that uses no acknowledgements
	budget int64
	left   int64 // rest of the budget

	Ctl   Controller
	Every int        // one in every N packets requests an acknowledgement; zero: as the window needs
	MTU   unit.Bytes // payload of a full packet
	Timer unit.Time  // time of the next OnTimer
	own   unit.Time  // time of the controller's own timer
	cycle uint32
	Named bool // answers name the packet that they are about, rc.Config.Named
}

// Start makes the pacer obey a controller from its beginning; the next call is Decide.
func (p *Pacer) Start(ctl Controller) {
	*p = Pacer{Ctl: ctl, Line: p.Line, MTU: p.MTU, Rate: p.Rate, Named: p.Named}
	if ctl.WantsAcks() {
		p.clock = &clock{named: p.Named}
		if a, ok := ctl.(Asker); ok {
			p.Every = a.AsksEvery()
		}
	}
	if c, ok := ctl.(Credited); ok {
		p.credit = c.Credit()
	}
}

// SetLine changes the ceiling: the port has another rate. Decide comes next.
func (p *Pacer) SetLine(now unit.Time, line unit.Rate) {
	p.Line = line
	if l, ok := p.Ctl.(Liner); ok {
		l.OnLine(now, line)
	}
}

// Decide reads the controller's decision and reports whether the rate changed. A rate increase also shortens the
// remaining wait for the next packet, as with a token bucket. At a NIC's lowest rate, a packet's gap is longer than
// the time to the next increase. A reduction does not delay the packet that is already scheduled.
func (p *Pacer) Decide(now unit.Time) (changed bool) {
	d := p.Ctl.Decision()
	r := min(d.Rate, p.Line)
	changed = r != p.Rate
	if r > p.Rate && p.NextAt > now {
		p.NextAt = now + unit.Time(float64(p.NextAt-now)*(float64(p.Rate)/float64(r)))
	}
	p.Rate, p.Window, p.own = r, d.Window, d.TimerAt
	p.arm()
	if d.Cycle != p.cycle || p.budget != int64(d.Budget) {
		p.cycle, p.left = d.Cycle, int64(d.Budget)
	}
	p.budget = int64(d.Budget)
	return changed
}

// arm sets Timer to the earlier timer of the controller and the account.
func (p *Pacer) arm() {
	if p.Timer = p.own; p.credit != nil {
		p.Timer = min(p.own, p.credit.at)
	}
}

// OnTimer runs the controller's timer. The next call is Decide, and Ask if there is an account.
func (p *Pacer) OnTimer(now unit.Time) {
	if p.credit != nil {
		if p.credit.tick(now); p.own > now {
			return
		}
	}
	p.Ctl.OnTimer(now)
}

// Spent counts bytes towards the budget. It returns true when the budget was used up and the controller was called; the
// next call is Decide.
func (p *Pacer) Spent(now unit.Time, wire int64) bool {
	if p.budget <= 0 {
		return false
	}
	if p.left -= wire; p.left > 0 {
		return false
	}
	p.left += p.budget
	p.Ctl.OnBytes(now, unit.Bytes(p.budget))
	return true
}

// Charged reports that packets count: towards a budget, or by their pace.
func (p *Pacer) Charged() bool { return p.budget > 0 || p.Rate < p.Line }

// Delay schedules the next packet after one of the given bytes on the wire. burst is the maximum backlog of the
// pace that may be sent at once.
func (p *Pacer) Delay(now unit.Time, wire int64, burst unit.Time) {
	p.NextAt = max(p.NextAt, now-burst) + unit.Serialize(unit.Bytes(wire), p.Rate)
}

// Full reports that the window is used up.
func (p *Pacer) Full(inFlight unit.Bytes) bool { return p.Window > 0 && inFlight >= p.Window }

// Acked reports whether the controller uses acknowledgements; Asks is only for such controllers.
func (p *Pacer) Acked() bool { return p.clock != nil }

// Asks reports whether the outgoing packet must request an acknowledgement. It must if it fills the window, if an
// eighth of the window has passed without a request, or if the controller's number of packets has. If only full
// windows requested one, a sender would be idle for a round trip between two windows.
func (p *Pacer) Asks(inFlight unit.Bytes) bool {
	if p.clock == nil {
		return false
	}
	if p.Every > 0 && p.clock.mute+1 >= p.Every {
		return true
	}
	if p.Window == 0 {
		return false
	}
	return inFlight >= p.Window || unit.Bytes(p.clock.mute+1)*p.MTU*8 >= p.Window
}

// Blocked reports whether the window permits no new packet. The window may have shrunk below the data in flight
// while no packet in flight has a request. Then one more packet is sent with a request.
func (p *Pacer) Blocked(inFlight unit.Bytes) bool {
	return p.Full(inFlight) && (p.clock == nil || p.clock.owed)
}

// Launched records an outgoing request packet: whether it requests an acknowledgement, and whether it is a
// retransmission.
func (p *Pacer) Launched(now unit.Time, psn uint32, asks, again bool) {
	if p.clock != nil {
		p.clock.launched(now, psn, asks, again)
	}
}

// Trimmed records that a switch trimmed a packet in flight. Launched is called later, with its retransmission.
func (p *Pacer) Trimmed(psn uint32) {
	if p.clock != nil {
		p.clock.trimmed(psn)
	}
}

// Lost passes a lost packet to the controller; inFlight is the payload in flight without it. The next call is Decide.
func (p *Pacer) Lost(now unit.Time, l Loss, inFlight unit.Bytes) {
	if f, ok := p.Ctl.(Flight); ok {
		f.OnFlight(inFlight + p.MTU)
	}
	p.Ctl.OnLoss(now, l)
}

// Acknowledged passes newly acknowledged bytes to the controller; una is the oldest unacknowledged PSN. The
// acknowledged packet is identified by the ACK's own PSN, or by the PSN that the ACK names. Other answers (a NAK,
// READ data) acknowledge no measured packet; psn is then una. a holds the other fields of the answer. It returns
// false for a controller that does not use acknowledgements; else the next call is Decide.
func (p *Pacer) Acknowledged(now unit.Time, una, psn uint32, a Ack) bool {
	if p.clock == nil {
		return false
	}
	p.clock.ack = a
	p.clock.ack.RTT = p.clock.answered(now, una, psn)
	p.Ctl.OnAck(now, &p.clock.ack)
	return true
}

// Credited reports whether the sender needs credit; the following methods are only for such senders.
func (p *Pacer) Credited() bool { return p.credit != nil }

// Bounded reports that a window or credit may stop the sender.
func (p *Pacer) Bounded() bool { return p.Window > 0 || p.credit != nil }

// Broke reports whether the credit is used up: no packet may be sent, not even a lost one.
func (p *Pacer) Broke() bool { return p.credit != nil && p.credit.spent() }

// Empties reports whether the outgoing packet, of the given bytes on the wire, uses the last credit.
func (p *Pacer) Empties(wire int64) bool { return p.credit != nil && p.credit.empties(wire) }

// Begin starts a burst: data are posted while nothing was in flight. The next call is Ask.
func (p *Pacer) Begin(now unit.Time) { p.credit.begin(now) }

// Charge subtracts a packet of the given bytes on the wire. It reports whether Ask should be called.
func (p *Pacer) Charge(wire int64) bool { return p.credit.charge(wire) }

// Granted processes the receiver's total grant; false if the grant is outdated. The next call is Ask.
func (p *Pacer) Granted(now unit.Time, total int64) bool { return p.credit.take(now, total) }

// Ahead returns the bytes of backlog that Ask includes.
func (p *Pacer) Ahead() int64 { return p.credit.window }

// Ask returns the total to request for the given backlog; ok is false if no request is due. It may have moved
// Timer.
func (p *Pacer) Ask(now unit.Time, backlog int64) (total int64, ok bool) {
	if backlog > 0 && p.credit.spent() {
		p.credit.hold(now)
	} else {
		p.credit.rest(now)
	}
	total, ok = p.credit.ask(now, backlog)
	p.arm()
	return total, ok
}

// HeldForCredit returns how long the sender has waited for credit so far.
func (p *Pacer) HeldForCredit(now unit.Time) unit.Time {
	if p.credit == nil {
		return 0
	}
	return p.credit.Held(now)
}
