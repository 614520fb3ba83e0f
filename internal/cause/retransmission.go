package cause

import (
	"fmt"

	"railyard/unit"
)

// shortTimeout is the exponent of the local ACK timeout that remedies name: 4.2 ms, far above round trips within a
// building (IBTA 9.7.6.1.3: 4.096 us x 2^n).
const shortTimeout = 10

var retransmission = Cause{ID: Retransmission, Key: "sent_again", Name: "retransmission",
	About: "lost packets are detected and retransmitted",
	Color: "#7b4a22", Loss: true, Trigger: false,
	Advice:  "find what loses packets",
	Without: func(f *Facts) Change { return noLoss(f) },
	Remedies: func(f *Facts) (all []Change) {
		if f.Lossless && f.Headroom > 0 && f.Lost.Known && f.Lost.Full > 0 {
			all = append(all, Change{Says: "the headroom that links need", Needs: "buffer for it",
				Set: []string{"switch.queues." + f.Queue + ".headroom=0B"}})
		}
		if f.full() && f.ToLossless != "" && f.Transport == "roce" && !f.Trims {
			all = append(all, Change{Says: "a DSCP that PFC protects (NCCL_IB_TC is four times the DSCP)", Set: []string{f.ToLossless}})
		}
		early := "transport.nak_after=0" // without overtaking, a gap is immediately a loss
		switch inOrder := !f.Overtakes && f.NakAfter > 0; {
		case f.Transport == "roce" && f.Recovery == "go-back-n":
			c := Change{Says: "selective retransmission", Needs: "NICs that keep packets ahead of a gap",
				Set: selective(f)}
			if inOrder {
				c.Set = append(c.Set, early)
			}
			all = append(all, c)
		case f.Transport == "roce" && inOrder:
			all = append(all, Change{Says: "NAK at the first gap", Needs: "paths on which packets stay in order",
				Set: []string{early}})
		}
		if f.Lost.Timeouts > 0 && f.Timeout > shortTimeout && !f.Far {
			all = append(all, Change{Says: fmt.Sprintf("a local ACK timeout of %s (NCCL_IB_TIMEOUT=%d)",
				(4096 * unit.Nanosecond << shortTimeout).Show(), shortTimeout),
				Needs: "outages shorter than transport.retries of them",
				Set:   []string{fmt.Sprintf("transport.timeout=%d", shortTimeout)}})
		}
		if f.Lost.Down > 0 && !f.Circuits {
			all = append(all, edit("repair what failed", NoFailures))
		}
		if f.bitErrors() {
			all = append(all, edit("replace the cables and transceivers with bit errors", NoBitErrors))
		}
		if f.full() && !f.Lossless && !f.Trims && f.Transport == "roce" && f.Queue != "" {
			all = append(all, Change{Says: "PFC for the queue of data", Needs: "buffer for headroom",
				Set: []string{"switch.pfc=true", "switch.queues." + f.Queue + ".lossless=true"}})
		}
		return all
	}}

// noLoss removes the causes of packet loss. In a run that was not simulated, these are the possible causes.
func noLoss(f *Facts) (c Change) {
	if f.bitErrors() {
		c = Change{Says: "no bit errors", Edits: []Edit{NoBitErrors}}
	}
	and := func(says string, e Edit, also ...ID) {
		if c.Says != "" {
			c.Says += ", "
		}
		c.Says, c.Edits, c.Also = c.Says+says, append(c.Edits, e), append(c.Also, also...)
	}
	if !f.Circuits && (f.Lost.Down > 0 || !f.Lost.Known && f.Events) {
		and("no failure", NoFailures, FailedCapacity)
	}
	if f.full() {
		and("buffers without limit", NoLimits, Trimmed, Pause)
	}
	if c.Says == "" && f.Lost.Down > 0 {
		return Change{Impossible: "packets are lost in circuits that move"}
	}
	if c.Says == "" {
		return Change{Impossible: "no packet was lost"}
	}
	return c
}

// bitErrors reports whether packets are corrupted.
func (f *Facts) bitErrors() bool { return f.Lost.BitErrors > 0 || !f.Lost.Known && f.BitErrors }

// full reports whether queues drop packets.
func (f *Facts) full() bool { return f.Lost.Full > 0 || !f.Lost.Known && !f.Lossless }
