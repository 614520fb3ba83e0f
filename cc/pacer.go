package cc

import "railyard/unit"

// Pacer turns a controller's decisions into the pace of one sender. It caches
// the decision, so that the per-packet path calls the controller only when the
// byte budget is used up. Simulated NICs and real sockets share it, and with it
// what they tell a controller.
//
// The first cache line of 64 bytes is what each packet reads (TestPacerLines).
type Pacer struct {
	Window unit.Bytes // most bytes in flight; zero is no window
	Rate   unit.Rate  // what is allowed now, at most Line
	Line   unit.Rate
	NextAt unit.Time // not before
	credit *Credit   // nil for a controller that needs none
	clock  *clock    // nil for a controller that wants no acknowledgements
	budget int64
	left   int64 // of the budget

	Ctl   Controller
	Every int        // every so many packets ask for an acknowledgement; zero: as the window needs
	MTU   unit.Bytes // payload of a full packet
	Timer unit.Time  // when OnTimer is due
	own   unit.Time  // when the controller wants OnTimer
	cycle uint32
	Named bool // answers name the packet that they are about, rc.Config.Named
}

// Start makes the pacer obey a controller, from its beginning; Decide comes next.
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

// Decide reads the controller's decision and reports whether the rate changed.
// A raise also shortens what is left of the wait for the next packet, as with a
// token bucket: at a NIC's lowest rate the gap behind one packet is longer than
// the time to the next raise. A cut leaves the packet in line where it is.
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

// arm makes Timer the earlier of the controller's and the account's.
func (p *Pacer) arm() {
	if p.Timer = p.own; p.credit != nil {
		p.Timer = min(p.own, p.credit.at)
	}
}

// OnTimer runs what Timer was armed for; Decide comes next, and Ask where there is an account.
func (p *Pacer) OnTimer(now unit.Time) {
	if p.credit != nil {
		if p.credit.tick(now); p.own > now {
			return
		}
	}
	p.Ctl.OnTimer(now)
}

// Spent counts bytes towards the budget. It returns true when the budget was
// used up and the controller told: Decide comes next.
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

// Delay puts the next packet behind one of so many wire bytes; burst is how far
// the pace may have fallen behind and still catch up.
func (p *Pacer) Delay(now unit.Time, wire int64, burst unit.Time) {
	p.NextAt = max(p.NextAt, now-burst) + unit.Serialize(unit.Bytes(wire), p.Rate)
}

// Full reports that the window is used up.
func (p *Pacer) Full(inFlight unit.Bytes) bool { return p.Window > 0 && inFlight >= p.Window }

// Acked reports that the controller wants acknowledgements: Asks is for those.
func (p *Pacer) Acked() bool { return p.clock != nil }

// Asks reports that the packet that leaves now must ask for an acknowledgement: it fills the window, or
// an eighth of the window has not asked, or as many packets as the controller wants. If only full windows
// asked, a sender would stand still for a round trip between any two.
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

// Blocked reports that the window lets no new packet go. Where it has shrunk below what is under way
// and none of that asked for an acknowledgement, one more packet goes and asks.
func (p *Pacer) Blocked(inFlight unit.Bytes) bool {
	return p.Full(inFlight) && (p.clock == nil || p.clock.owed)
}

// Launched notes a request packet that leaves now: whether it asks for an acknowledgement, and
// whether it went before.
func (p *Pacer) Launched(now unit.Time, psn uint32, asks, again bool) {
	if p.clock != nil {
		p.clock.launched(now, psn, asks, again)
	}
}

// Acknowledged tells the controller of newly acknowledged bytes; una is the oldest PSN that is not
// acknowledged now. An ACK's own PSN says whose answer it is, or the one that it names; other answers (a
// NAK, READ data) are no packet's that is timed, and have una for it. What else the answer says is in a.
// It returns false for a controller that wants no acknowledgements; else Decide comes next.
func (p *Pacer) Acknowledged(now unit.Time, una, psn uint32, a Ack) bool {
	if p.clock == nil {
		return false
	}
	p.clock.ack = a
	p.clock.ack.RTT = p.clock.answered(now, una, psn)
	p.Ctl.OnAck(now, &p.clock.ack)
	return true
}

// Credited reports that the sender needs credit: what follows is for those.
func (p *Pacer) Credited() bool { return p.credit != nil }

// Bounded reports that a window or credit may stop the sender.
func (p *Pacer) Bounded() bool { return p.Window > 0 || p.credit != nil }

// Broke reports that no credit is left: nothing may go, lost packets neither.
func (p *Pacer) Broke() bool { return p.credit != nil && p.credit.spent() }

// Empties reports that a packet of so many wire bytes, which leaves now, leaves no credit.
func (p *Pacer) Empties(wire int64) bool { return p.credit != nil && p.credit.empties(wire) }

// Begin starts a burst: something is posted while nothing was under way. Ask comes next.
func (p *Pacer) Begin(now unit.Time) { p.credit.begin(now) }

// Charge counts a packet of so many wire bytes. It returns true when Ask should be called.
func (p *Pacer) Charge(wire int64) bool { return p.credit.charge(wire) }

// Granted takes what the receiver has granted in all; false: that is old news. Ask comes next.
func (p *Pacer) Granted(now unit.Time, total int64) bool { return p.credit.take(now, total) }

// Ahead returns the bytes of backlog that Ask needs to know.
func (p *Pacer) Ahead() int64 { return p.credit.window }

// Ask says what a request should ask for in all, given what there is to send; ok is false where none is due.
// It may have moved Timer.
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
