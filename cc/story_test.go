package cc_test

import (
	"fmt"
	"testing"

	"railyard/cc"
	"railyard/internal/story"
	"railyard/unit"
)

// reaction is a sender that always has data, and a page about its rate.
type reaction struct {
	*story.Page
	c     *cc.DCQCN
	p     cc.DCQCNParams
	now   unit.Time
	left  unit.Bytes // of the byte counter
	stage string     // stage of the current increase
	steps int        // steps not yet described
	last  func()     // describes the last step
}

func react(p cc.DCQCNParams, preface string) *reaction {
	return &reaction{Page: story.Open(preface), c: cc.NewDCQCN(&p, hundred), p: p, left: p.ByteCounter}
}

const hundred = 100 * unit.Gbps

// say describes an event and the rate after it.
func (r *reaction) say(what string) {
	rate, target := r.c.Rates()
	r.Tell(r.now, "%-32s rate %v, target %v, alpha %.3f", what, rate, target, r.c.Alpha(r.now))
}

// until runs timer and byte counter until a time.
func (r *reaction) until(end unit.Time) {
	for {
		d := r.c.Decision()
		full := unit.Never // expiry of the byte counter
		if d.Budget > 0 {
			full = r.now + unit.Serialize(r.left, d.Rate)
		}
		next := min(d.TimerAt, full)
		if next > end || next == unit.Never {
			r.sent(d, end)
			return
		}
		cuts := r.c.Cuts
		_, before := r.c.Rates()
		r.sent(d, next)
		if full < d.TimerAt {
			r.left = r.p.ByteCounter
			r.c.OnBytes(r.now, r.p.ByteCounter)
		} else {
			r.c.OnTimer(r.now)
		}
		if r.c.Cuts > cuts {
			r.left = r.p.ByteCounter
			r.say("the check finds it and cuts")
			continue
		}
		_, after := r.c.Rates()
		r.step(after - before)
	}
}

// sent advances the time and counts the bytes sent.
func (r *reaction) sent(d cc.Decision, to unit.Time) {
	if d.Budget > 0 && to < unit.Second {
		r.left = max(0, r.left-unit.InTime(d.Rate, to-r.now))
	}
	if to < unit.Second {
		r.now = to
	}
}

// step describes an increase by how much the target rose. Of steps with equal rises it describes the first and the
// last.
func (r *reaction) step(up unit.Rate) {
	stage := "half the way to the target"
	switch _, target := r.c.Rates(); {
	case up == r.p.AI:
		stage = "additive increase"
	case up > 0 && target < hundred:
		stage = "hyper increase"
	case up > 0:
		stage = r.stage // cut short by the line rate
	}
	now := r.now
	if r.c.Decision().Rate == hundred {
		stage = "back at line rate"
	}
	if stage != r.stage || up == 0 {
		r.flush()
		r.stage = stage
		r.say(stage)
		return
	}
	r.steps++
	rate, target := r.c.Rates()
	r.last = func() {
		r.Tell(now, "    %-28s rate %v, target %v", fmt.Sprintf("and %d more like it", r.steps), rate, target)
	}
}

// flush describes the last of the omitted steps.
func (r *reaction) flush() {
	if r.steps > 0 {
		r.last()
	}
	r.steps = 0
}

func TestStories(t *testing.T) {
	const us = unit.Microsecond
	t.Run("dcqcn-paper", func(t *testing.T) {
		r := react(cc.DCQCNPaper(hundred), `
			DCQCN as the paper has it: a train of CNPs, and the way back (SIGCOMM 2015, section 3.1).
			Four CNPs come 50 us apart: each cuts the rate by alpha/2 at once, and the rate before becomes the target.
			Then they end. The timer (55 us) and the byte counter (10 MB) count: the first five events of either go
			half the way to the target (fast recovery), then the target rises by 100 Mbit/s an event (additive), and
			by more and more when both have passed five (hyper). Alpha falls by 1/256 every 55 us without a CNP.`)
		r.say("a sender at line rate")
		for i := range unit.Time(4) {
			r.until(100*us + i*50*us)
			r.c.OnCNP(r.now)
			r.left = r.p.ByteCounter
			r.say("CNP")
		}
		r.until(unit.Second - 1)
		r.Check(t, "dcqcn-paper")
	})
	t.Run("dcqcn-nic", func(t *testing.T) {
		r := react(cc.DCQCNNIC(hundred), `
			DCQCN as a NIC has it: a train of CNPs, and the way back (HPCC rdma-hw.cc 618 to 737).
			At 100 Gbit/s. A CNP only leaves a mark: every 4 us from the first one on the NIC looks for it and cuts
			by alpha/2, and alpha moves every 1 us. Four CNPs come 4 us apart, then they end. The target stays what
			the rate was before the first cut, line rate, so that the timer (300 us) goes half the way to it.`)
		r.say("a sender at line rate")
		for i := range unit.Time(4) {
			r.until(100*us + i*4*us)
			r.c.OnCNP(r.now)
			r.say("CNP")
		}
		r.until(150 * us)
		r.say("no CNP for a while")
		r.until(unit.Second - 1)
		r.Check(t, "dcqcn-nic")
	})
	t.Run("dcqcn-nic-two-trains", func(t *testing.T) {
		r := react(cc.DCQCNNIC(hundred), `
			DCQCN as a NIC has it: a second train of CNPs comes while it recovers from the first.
			The timer has raised the rate in between, so the first cut of the second train takes the rate that it
			finds for its target (clamp_tgt_rate_after_time_inc). From there to line rate it is half the way once
			(rpg_threshold 1), then 20 Mbit/s once, then 200 Mbit/s every 300 us (docs/references.md, dcqcn-nic).`)
		r.say("a sender at line rate")
		for _, train := range []unit.Time{100 * us, 1501 * us} {
			for i := range unit.Time(5) {
				r.until(train + i*4*us)
				r.c.OnCNP(r.now)
				r.say("CNP")
			}
		}
		r.until(unit.Second - 1)
		r.Check(t, "dcqcn-nic-two-trains")
	})
}
