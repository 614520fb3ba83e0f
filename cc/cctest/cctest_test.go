package cctest

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"railyard/cc"
	"railyard/unit"
)

const line = 100 * unit.Gbps

// broken maps the suite's message to a controller that breaks the rule of that message.
var broken = map[string]func(s *sound) cc.Controller{
	"a rate of 0":          func(s *sound) cc.Controller { return &tooSlow{s} },
	"a rate of 200Gbps":    func(s *sound) cc.Controller { return &tooFast{s} },
	"a window of 1B":       func(s *sound) cc.Controller { return &narrow{s} },
	"that no ack":          func(s *sound) cc.Controller { return &deaf{s} },
	"a budget of -1B":      func(s *sound) cc.Controller { return &indebted{s} },
	"is armed for":         func(s *sound) cc.Controller { return &stuck{s} },
	"without an input":     func(s *sound) cc.Controller { return &restless{sound: s} },
	"the same inputs gave": func(s *sound) cc.Controller { return &shared{s} },
	"that had no input":    func(s *sound) cc.Controller { return &contagious{s} },
	"signal window is":     func(s *sound) cc.Controller { return &silent{s} },
	"counter cuts is":      func(s *sound) cc.Controller { return &forgetful{s} },
	"cuts as before":       func(s *sound) cc.Controller { return &modest{s} },
	"allocations for":      func(s *sound) cc.Controller { return &wasteful{s, nil} },
}

// The suite accepts a correct controller and reports the broken rule of each broken one.
func TestBrokenControllersAreCaught(t *testing.T) {
	if os.Getenv("RAILYARD_BROKEN") != "" {
		t.Skip("within itself")
	}
	sayings := []string{"sound", "nor CNPGap"}
	for says := range broken {
		sayings = append(sayings, says)
	}
	for _, says := range sayings {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestOne$", "-rapid.nofailfile", "-rapid.shrinktime=0s")
		cmd.Env = append(os.Environ(), "RAILYARD_BROKEN="+says)
		out, err := cmd.CombinedOutput()
		switch {
		case says == "sound" && err != nil:
			t.Errorf("a sound controller: %v\n%s", err, out)
		case says != "sound" && (err == nil || !strings.Contains(string(out), says)):
			t.Errorf("%q is not said of the controller that breaks it: %v\n%s", says, err, out)
		}
	}
}

// TestOne runs the suite on one controller of broken, in a process of its own.
func TestOne(t *testing.T) {
	says := os.Getenv("RAILYARD_BROKEN")
	if says == "" {
		t.Skip("for TestBrokenControllersAreCaught")
	}
	alg := &cc.Algorithm{Name: "test", Signals: []cc.Term{{Name: cc.SignalWindow}},
		Counters: []cc.Term{{Name: cc.CounterCuts}}}
	if says == "nor CNPGap" {
		alg.Needs.Hears = cc.Marking
	}
	Run(t, alg, line, func(p cc.Path) cc.Controller {
		s := &sound{path: p, window: 64}
		if build := broken[says]; build != nil {
			return build(s)
		}
		return s
	})
}

// sound is a correct controller: a loss halves its window, and an acknowledgement adds one packet.
type sound struct {
	path   cc.Path
	window unit.Bytes // packets
	cuts   int64
}

func (s *sound) OnCNP(unit.Time)               {}
func (s *sound) OnAck(unit.Time, *cc.Ack)      { s.window = min(s.window+1, 1000) }
func (s *sound) OnBytes(unit.Time, unit.Bytes) {}
func (s *sound) OnTimer(unit.Time)             {}
func (s *sound) WantsAcks() bool               { return true }

func (s *sound) OnLoss(unit.Time, cc.Loss) {
	if s.window > 1 {
		s.window, s.cuts = s.window/2, s.cuts+1
	}
}

func (s *sound) Decision() cc.Decision {
	return cc.Decision{Rate: s.path.Line, Window: s.window * s.path.MTU, TimerAt: unit.Never}
}

func (s *sound) Signal(_ unit.Time, name string) (float64, bool) {
	if name != cc.SignalWindow {
		return 0, false
	}
	return float64(s.window * s.path.MTU), true
}

func (s *sound) Counter(name string) (int64, bool) {
	if name != cc.CounterCuts {
		return 0, false
	}
	return s.cuts, true
}

type tooSlow struct{ *sound }

func (c *tooSlow) Decision() cc.Decision {
	d := c.sound.Decision()
	if c.cuts > 3 {
		d.Rate = 0
	}
	return d
}

type tooFast struct{ *sound }

func (c *tooFast) Decision() cc.Decision {
	d := c.sound.Decision()
	d.Rate *= 2
	return d
}

type narrow struct{ *sound }

func (c *narrow) Decision() cc.Decision {
	d := c.sound.Decision()
	if c.window < 64 {
		d.Window = 1
	}
	return d
}

type deaf struct{ *sound }

func (c *deaf) WantsAcks() bool { return false }

type indebted struct{ *sound }

func (c *indebted) Decision() cc.Decision {
	d := c.sound.Decision()
	d.Budget = -1
	return d
}

type stuck struct{ *sound }

func (c *stuck) Decision() cc.Decision {
	d := c.sound.Decision()
	d.TimerAt = unit.Microsecond
	return d
}

// restless changes its decision each time that Decision is called.
type restless struct {
	*sound
	asked int64
}

func (c *restless) Signal(now unit.Time, name string) (float64, bool) {
	c.asked++
	return c.sound.Signal(now, name)
}

func (c *restless) Decision() cc.Decision {
	d := c.sound.Decision()
	d.Budget = unit.Bytes(c.asked)
	return d
}

// shared and contagious have a number in common that one's inputs change.
var common unit.Bytes

type shared struct{ *sound }

func (c *shared) OnAck(unit.Time, *cc.Ack) {
	common++
	c.window += common % 100
}

type contagious struct{ *sound }

func (c *contagious) OnAck(unit.Time, *cc.Ack) { common = 1 }

func (c *contagious) Decision() cc.Decision {
	d := c.sound.Decision()
	d.Budget = common
	return d
}

type silent struct{ *sound }

func (c *silent) Signal(unit.Time, string) (float64, bool) { return 0, false }

// forgetful resets its counters after each acknowledgement.
type forgetful struct{ *sound }

func (c *forgetful) OnAck(now unit.Time, a *cc.Ack) {
	c.sound.OnAck(now, a)
	c.cuts = 0
}

type modest struct{ *sound }

func (c *modest) Counter(name string) (int64, bool) { return 0, name == cc.CounterCuts }

type wasteful struct {
	*sound
	log []byte
}

func (c *wasteful) OnAck(now unit.Time, a *cc.Ack) {
	c.log = make([]byte, 100)
	c.sound.OnAck(now, a)
}
