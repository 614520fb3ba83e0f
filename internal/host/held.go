package host

import "railyard/unit"

// Held is the time for which congestion control has delayed a connection's data while its port was free, by reason.
// Only one reason applies at a time.
type Held struct {
	Pace   unit.Time // the rate
	Window unit.Time // too much was in flight
	Credit unit.Time // the receiver had not granted more
}

// Sum returns the total.
func (h Held) Sum() unit.Time { return h.Pace + h.Window + h.Credit }

// Minus returns the time since an earlier value.
func (h Held) Minus(o Held) Held {
	return Held{h.Pace - o.Pace, h.Window - o.Window, h.Credit - o.Credit}
}

// Held returns the delays of a connection's packets by reason.
func (h *Hosts) Held(c int32) (all Held) {
	if e := h.endsOf(c); e != nil {
		return Held(e.send.Held(h.Net.Q.Now()))
	}
	s := &h.senders[c]
	all.Pace, all.Window, all.Credit = s.held, s.windowed, s.pace.HeldForCredit(h.Net.Q.Now())
	if s.paceAt != unit.Never {
		all.Pace += h.Net.Q.Now()
	}
	if s.stuck {
		all.Window += max(h.Net.Q.Now(), s.stuckAt) - s.stuckAt
	}
	return all
}

// Silence is the time for which a connection waited for answers until it considered packets lost. It also counts
// how often that was the local ACK timeout.
type Silence struct {
	Long     unit.Time
	Timeouts int32
}

// silent records that a packet is sent because answers are missing, after the local ACK timeout or before. A window
// that was full meanwhile did not cause the delay; the loss did.
func (h *Hosts) silent(now unit.Time, c int32, s *sender, timedOut bool) {
	if h.silences == nil {
		h.silences = map[int32]Silence{}
	}
	x, long := h.silences[c], h.cfg.RC.Timeout
	if timedOut {
		x.Timeouts++
	} else if long = 0; s.stuck {
		long = max(0, now-s.stuckAt)
	}
	if x.Long += long; s.stuck && s.stuckAt < now {
		s.windowed += max(0, now-long-s.stuckAt)
		s.stuckAt = now
	}
	h.silences[c] = x
}

// Silent returns a connection's waiting times for missing answers.
func (h *Hosts) Silent(c int32) Silence { return h.silences[c] }

// stick records that a sender with data has a full window. from is the time when its port is free.
func (s *sender) stick(from unit.Time) {
	if !s.stuck && s.full() && !s.pace.Broke() {
		s.stuck, s.stuckAt = true, from
	}
}

// unstick notes that its window has room again.
func (s *sender) unstick(now unit.Time) {
	s.stuck = false
	s.windowed += max(now, s.stuckAt) - s.stuckAt // an acknowledgement may arrive while its last packet leaves
}
