package window

import (
	"railyard/transport"
	"railyard/unit"
)

// Stall adds up the time in which a window blocked a sender that had data.
type Stall struct {
	total, since unit.Time
	shut         bool
}

// Note begins or ends a stall.
func (s *Stall) Note(now unit.Time, shut bool) {
	switch {
	case shut && !s.shut:
		s.since = now
	case s.shut && !shut:
		s.total += now - s.since
	}
	s.shut = shut
}

// Held returns the time of all stalls until now.
func (s *Stall) Held(now unit.Time) transport.Held {
	if s.shut {
		return transport.Held{Window: s.total + now - s.since}
	}
	return transport.Held{Window: s.total}
}
