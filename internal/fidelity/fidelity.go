package fidelity

import (
	"fmt"
	"strings"

	"railyard/internal/exec"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/sim"
	"railyard/unit"
)

// Run is one run of a plan.
type Run interface {
	// Go simulates to the end, or until the observer stops it. An error means that the workload can never finish.
	Go(exec.Observer) error
	// Interrupted reports whether the observer stopped it.
	Interrupted() bool
	// Failed returns the connection that gave up for good although the run continued, nil for none.
	Failed() error
	// Outcome returns the content of the run directory, also for a run that has not ended.
	Outcome(version string) (s *result.Summary, t *result.Tables, limits []string)
}

// Capturer is a run whose packets can be recorded.
type Capturer interface {
	Capture(ports []string, from, to unit.Time) (*Capture, error)
}

// Capture is the packets that were recorded.
type Capture = sim.Capture

// Counter is a run whose devices can report the counters of real ones. Call Census before Go.
type Counter interface {
	Census() *Census
}

// Census returns their counters.
type Census = sim.Census

// Tracker is a run that can follow packets hop by hop.
type Tracker interface {
	Follow(packets []Named) (*Follower, error)
}

// Follower returns the traces of packets, Named parses a packet's name.
type (
	Follower = sim.Follower
	Named    = sim.Named
)

// ParseNamed reads QP/PSN.
func ParseNamed(s string) (Named, error) { return sim.ParseNamed(s) }

// Cost is the estimated need of a run before it is built.
type Cost struct {
	Memory  unit.Bytes
	Seconds float64
	Causes  float64 // seconds of dividing lost time among causes
	Ahead   float64 // of Seconds: the one-time part for trials of one step
	Words   string
}

// Fidelity is one way to simulate.
type Fidelity struct {
	Name  string // the value of Summary.Fidelity
	Words string
	Offer string // what it is, where packets take long
	// Refuse returns why it cannot simulate a plan, before it builds the run; nil: it can.
	Refuse func(*scenario.Plan) error
	// Prepare estimates the run of a plan; build makes it.
	Prepare func(*scenario.Plan) (c Cost, build func() (Run, error))
	// Before returns the cost of Prepare itself, zero if it is small; may be nil.
	Before func(*scenario.Plan) Cost
}

// All lists the fidelities, the usual one first.
var All = []*Fidelity{&packet, &again, &flow, &auto}

// Default is the name of the usual one.
const Default = "packet"

// Lookup finds a fidelity by its name.
func Lookup(name string) (*Fidelity, error) {
	var names []string
	for _, f := range All {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return nil, fmt.Errorf("no fidelity %q; there is %s", name, strings.Join(names, ", "))
}

// Simulation is a run that is ready to start.
type Simulation struct {
	Run
	Cost  Cost       // as estimated
	Limit unit.Bytes // limit of memory, 0 for none
}

// Parted is a run that several cores can share.
type Parted interface {
	// Cores sets the number of cores, before it starts.
	Cores(n int)
	// Undivided returns the reason why only one core can be used, "" if several can.
	Undivided() string
}

// Share runs on several cores, a part of the network each: up to the given number that memory permits. It returns the
// reason for a single core, "" for several. Results are the same.
func (s *Simulation) Share(cores int) (why string) {
	p, ok := s.Run.(Parted)
	if !ok {
		return "only packets are simulated on several"
	}
	if most := int(s.Limit / max(1, s.Cost.Memory)); s.Limit > 0 && cores > most {
		cores, why = most, "each would need memory of its own"
	}
	if p.Cores(max(1, cores)); cores > 1 {
		why = p.Undivided()
	}
	return why
}

// New builds the run of a plan. If it would need more than limit of memory the error is an ErrMemory, and nothing
// has been built. 0 is no limit.
func New(name string, p *scenario.Plan, limit unit.Bytes) (*Simulation, error) {
	_, build, err := Prepare(name, p, limit)
	if err != nil {
		return nil, err
	}
	return build()
}

// Prepare estimates the run of a plan, which build creates; its errors are the errors of New.
func Prepare(name string, p *scenario.Plan, limit unit.Bytes) (c Cost, build func() (*Simulation, error), err error) {
	f, err := Lookup(name)
	if err != nil {
		return c, nil, err
	}
	if f.Refuse != nil {
		if err := f.Refuse(p); err != nil {
			return c, nil, err
		}
	}
	if c = f.before(p); limit > 0 && c.Memory > limit {
		return c, nil, &ErrMemory{c.Memory, limit, name}
	}
	c, run := f.Prepare(p)
	if limit > 0 && c.Memory > limit {
		return c, nil, &ErrMemory{c.Memory, limit, name}
	}
	return c, func() (*Simulation, error) {
		r, err := run()
		if err != nil {
			return nil, err
		}
		return &Simulation{r, c, limit}, nil
	}, nil
}

// Before returns the cost of the estimate itself if that is large.
func Before(name string, p *scenario.Plan) (Cost, error) {
	f, err := Lookup(name)
	if err != nil {
		return Cost{}, err
	}
	return f.before(p), nil
}

func (f *Fidelity) before(p *scenario.Plan) Cost {
	if f.Before == nil {
		return Cost{}
	}
	return f.Before(p)
}

// ErrMemory is returned when a run needs more memory than available.
type ErrMemory struct {
	Need, Have unit.Bytes
	Fidelity   string // "": none was chosen yet
}

func (e *ErrMemory) Error() string {
	less := ""
	if e.Fidelity == Default {
		less = ", use --set fidelity=flow"
	}
	return fmt.Sprintf("the run would need about %s of memory and %s are available: simulate fewer GPUs or flows%s, or allow more with --memory", memory(e.Need), memory(e.Have), less)
}

// NeedWords is the size for people.
func (e *ErrMemory) NeedWords() string { return memory(e.Need) }

// HaveWords describes the available resources.
func (e *ErrMemory) HaveWords() string { return memory(e.Have) }
