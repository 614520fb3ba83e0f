package cause

import (
	"railyard/unit"
)

// Message is the view of a delivered message for a cause of an extension.
type Message struct {
	From, To     string // GPUs
	Bytes        unit.Bytes
	Posted, Done unit.Time
	// Retransmitted counts its retransmitted packets; 0 if the fidelity has no packets.
	Retransmitted int64
	// Hops is its path, from the sender's NIC on; several hops in a row with shares below 1 are the links among which
	// its packets choose. It is shared by all messages of a connection, and read-only.
	Hops []Hop
}

// Hop is a link on a message's path, in the message's direction.
type Hop struct {
	From, To         string // nodes
	FromTier, ToTier int    // 0: hosts, 1: leaves, and so on
	Share            float64
	Cable
}

// Cable is a link's rate and length, and the delay of propagation over it.
type Cable struct {
	Rate     unit.Rate
	LengthMM int64
	Delay    unit.Time
}

// Outside reports whether an extension added the cause.
func (c *Cause) Outside() bool { return c.Claim != nil }

// Add registers a cause of an extension after the existing ones, and assigns its number. Package extend checks it.
func Add(c *Cause) {
	c.ID, c.Loss = ID(len(all)), true
	all = append(all, c)
}

// FromOutside lists the causes of extensions.
func FromOutside() []*Cause { return all[builtIn:] }

// Take moves time to cause c from the built-in cause that contains it, at most the available time. It returns the
// moved time. A run without c is expected to save the same time. If the saving of a run without the built-in cause
// is known, that is the upper limit.
func (a *Account) Take(c *Cause, claimed unit.Time, possible bool) unit.Time {
	got := min(int64(claimed), a.Own[c.From])
	if got <= 0 {
		return 0
	}
	a.Own[c.From] -= got
	a.Own[c.ID] += got
	if possible {
		a.Saving[c.ID] += got
		if whole := a.Saving[c.From]; whole > 0 {
			a.Saving[c.ID] = min(a.Saving[c.ID], whole)
		}
	}
	return unit.Time(got)
}
