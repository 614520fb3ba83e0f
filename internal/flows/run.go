// Package flows carries an execution's transfers as flows instead of packets. Each message takes the ports of its
// packets, and its rate changes when others begin or end on its links (internal/fluid). Routes, hashing, bundles,
// planes and the effects of failures equal those of the packet carrier. Its network is built for them without
// packets.
package flows

import (
	"fmt"

	"railyard/internal/exec"
	"railyard/internal/explain"
	"railyard/internal/fluid"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/sim"
	"railyard/internal/workload"
	"railyard/unit"
)

// Name is the fidelity's.
const Name = "flow"

// observeEvery is the number of events between two calls of the observer.
const observeEvery = 1 << 16

// Run is one run of a plan.
type Run struct {
	*sim.Network
	Plan *scenario.Plan
	Exec *exec.Execution

	net   *fluid.Net
	rules explain.Rules
	links links
	conns []conn
	// messages in the order of posting, and by message the next one of its connection, -1 for none.
	messages []explain.Message
	next     []int32
	pacedFor []unit.Time // by message: for how long its congestion control limited it
	silences map[int32]explain.Silence
	parts    []uint8 // by operation: its messages in flight

	now    unit.Time
	bells  fluid.Bells[bell]
	events int64

	rated  []rating // connections whose rates have changed, and their limits
	curves map[curveKey]curves

	delivered   unit.Bytes
	series      series
	lost        []explain.Lost
	dead        []scenario.Death
	moves       []explain.Move
	interrupted bool
}

// Kinds of bells of a run.
const (
	ringExec     int32 = iota
	ringArrived        // a message is in memory
	ringRetry          // a connection's local ACK timeout
	ringProbe          // a selective queue pair requests which packets arrived
	ringLink           // an event of the plan changes a link
	ringNotice         // the ends of a failed link are notified
	ringRoutes         // routes follow
	ringIncident       // an incident of the plan
	ringPace           // a connection's pace is another
)

// bell rings at a time; bells of one time ring in the order of scheduling.
type bell struct{ what, a, b int32 }

// Build builds the run of a plan. An error names the features that need packets.
func Build(p *scenario.Plan, cost Cost) (*Run, error) {
	if err := Refuse(p); err != nil {
		return nil, err
	}
	jobs, err := p.Mix()
	if err != nil {
		return nil, err
	}
	n, err := sim.Wire(p, cost.routes)
	if err != nil {
		return nil, err
	}
	r := &Run{Network: n, Plan: p, rules: n.Rules(), parts: make([]uint8, len(jobs.DAG.Ops)),
		messages: make([]explain.Message, 0, cost.Messages), next: make([]int32, 0, cost.Messages)}
	if r.series.init(len(n.Net.Ports), p.Sample, p.Rows); !p.Totals {
		r.series.slots = make([][]slot, len(n.Net.Ports))
	}
	r.curves, r.silences = map[curveKey]curves{}, map[int32]explain.Silence{}
	r.links.init(r)
	r.Exec = r.execution(sim.Machine(p), jobs)
	if from, to, cut := r.Exec.Unreachable(); cut && !r.JoinedBefore(&r.Exec.Machine, from, to) {
		return nil, fmt.Errorf("%s cannot reach %s: no path in the fabric, not even over NVLink",
			p.Graph.GPUName(from), p.Graph.GPUName(to))
	}
	return r, nil
}

// execution prepares the execution of jobs. Operations that do not depend on the network have equal times in all
// completed runs in which no incident ends a process.
func (r *Run) execution(m exec.Machine, jobs *workload.Mix) *exec.Execution {
	if r.Plan.Totals && r.Plan.Ahead != nil && len(r.Plan.Incidents) == 0 {
		if a := r.Plan.Ahead(m, jobs); a != nil {
			return a.Execution(r, m)
		}
	}
	return exec.New(r, m, jobs)
}

// Refuse returns the features of a plan that flows do not support.
func Refuse(p *scenario.Plan) error {
	what := ""
	switch {
	case len(p.Phases) > 0:
		what = "circuits that move by phases"
	case p.Default().Carried != nil && p.Default().Carried.Lossy:
		what = p.Default().Carried.Title + ", which is limited by the hosts' cores"
	case p.Tunnel != nil:
		what = "transport.tunnel, whose edges keep packets and take credit for them"
	case p.Steps > 0:
		what = "output.steps, which follows queues, pauses and rates"
	case p.Tunnel != nil:
		what = "transport.tunnel, whose edges decide what travels"
	case p.Reorders():
		return p.Refuse("fidelity", "flow does not simulate server.reorder where packets overtake one another (lb: %s): what NICs keep or drop decides the time; accepted: packet, or a scenario without server.reorder", p.LB.Name)
	case p.Mixes():
		return p.Refuse("fidelity", "flow does not simulate go-back-N where packets overtake one another (lb: %s): what is retransmitted decides the time; accepted: packet, or transport.recovery=selective", p.LB.Name)
	}
	for _, i := range p.Incidents {
		if i, ok := i.(interface{ Packets() string }); ok {
			what = i.Packets()
		}
	}
	for i := range p.Events {
		if p.Events[i].BER > 0 {
			what = "bit errors"
		}
	}
	for i := range p.Graph.Links {
		if p.Graph.Links[i].BER > 0 {
			what = "bit errors"
		}
	}
	if what == "" {
		return nil
	}
	return p.Refuse("fidelity", "flow does not simulate %s; accepted: packet", what)
}

// Go simulates to the end, or until the observer stops it.
func (r *Run) Go(watch exec.Observer) error {
	r.schedule()
	r.Exec.Begin()
	for next := r.events + observeEvery; !r.Exec.Done(); r.events++ {
		if r.events >= next {
			if next = r.events + observeEvery; watch != nil && !watch(r.progress()) {
				r.interrupted = true
				break
			}
		}
		at, flow := r.net.Next(r.bells.First())
		if len(r.rated) > 0 {
			r.react()
			continue
		}
		switch {
		case at == unit.Never:
			if r.strand(); len(r.lost)+len(r.dead) == 0 {
				return r.stuck()
			}
			r.net.Book(r.now)
			return nil
		case flow:
			at, _, c := r.net.End()
			if r.now = at; c < 0 {
				r.wasted(vainly(c))
				break
			}
			r.sent(c)
		default:
			b := r.bells.Pop()
			r.now = b.At
			r.ring(&b.Of)
		}
	}
	r.net.Book(r.now)
	return nil
}

func (r *Run) push(at unit.Time, what, a, b int32) {
	r.bells.Push(at, bell{what, a, b})
}

func (r *Run) ring(b *bell) {
	switch b.what {
	case ringExec:
		r.Exec.Ring(exec.Bell{Op: b.a, Stage: b.b})
	case ringArrived:
		r.arrived(b.a)
	case ringRetry:
		r.retry(b.a, b.b)
	case ringProbe:
		r.probed(b.a, b.b)
	case ringPace:
		r.repace(b.a, b.b)
	default:
		r.happens(b.what, b.a)
	}
}

// stuck explains a run in which nothing more can happen.
func (r *Run) stuck() error { return r.Stuck(r.Exec, r.now) }

func (r *Run) progress() exec.Progress {
	return exec.Progress{Now: r.now, Delivered: r.delivered, Total: r.Exec.NetBytes, OpsLeft: r.Exec.Left,
		Ops: len(r.Exec.DAG.Ops)}
}

// Interrupted reports whether the observer stopped the run.
func (r *Run) Interrupted() bool { return r.interrupted }

// Failed returns the connection that gave up first, nil if none did.
func (r *Run) Failed() error { return r.RanksLost(r.Exec, r.lost, r.dead) }

// Outcome returns the contents of the run directory.
func (r *Run) Outcome(version string) (*result.Summary, *result.Tables, []string) {
	return explain.Outcome(r.Plan, r.Exec, r.Observe(), version)
}

// Observe returns the network's traffic until now.
func (r *Run) Observe() *explain.Observation {
	o := &explain.Observation{Fidelity: Name, At: r.now, Routes: r.Paths, Ways: r.Hosts, Rules: r.rules,
		Messages: r.messages, Paced: r.pacedFor, Silences: r.silences, Conns: r.Connections(), Ports: r.Ports(),
		Lost: r.lost, Dead: r.dead, Moves: r.moves,
		Limits: []string{"flows have no packets: no queues, pauses, marks and retransmissions were recorded"}}
	o.Counted.NetworkBytes = int64(r.delivered)
	o.Recorded.Links = r.series.rows(r.now)
	for p := range o.Ports {
		o.Ports[p].Bytes = unit.Bytes(r.series.bytes[p] + 0.5)
		o.Ports[p].Used = r.series.bytes[p] > 0
	}
	return o
}
