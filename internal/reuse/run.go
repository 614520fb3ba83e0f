package reuse

import (
	"fmt"

	"railyard/internal/exec"
	"railyard/internal/explain"
	"railyard/internal/fluid"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/sim"
	"railyard/internal/topo"
	"railyard/unit"
)

// Name is the fidelity's.
const Name = "reuse"

// observeEvery is the number of events, of packets and of the execution, between two calls of the observer; a lab
// returns after as many at the latest.
const observeEvery = 1 << 16

// Run is one run of a plan.
type Run struct {
	*sim.Network // network for routes, names and connections: no packet crosses it
	Plan         *scenario.Plan
	Exec         *exec.Execution

	routes *topo.Routes
	rules  explain.Rules

	messages []explain.Message
	troubles []explain.Trouble
	posted   []int64 // by message: its post and delivery time, in their order
	done     []int64
	moment   int64
	parts    []uint8 // by operation: number of its messages in flight
	pairs    []pair  // by connection

	now   unit.Time
	bells fluid.Heap[unit.Time, bell]
	order int64
	count int64 // events so far

	owner     []*group // by port, then by NIC for sending and receiving: owning group
	classes   []int32  // class of each connection: equivalent ones have one number
	root      *state
	shapes    map[string]int32
	unsettled []*group
	labs      []*lab           // that simulate
	idle      []*lab           // labs whose networks are in their initial state
	drawn     map[int32]uint64 // by switch: groups that have draws there
	audit     audit
	whole     bool // messages are simulated to the end

	seen        seen
	delivered   unit.Bytes
	interrupted bool
	err         error
}

// pair is a connection: its NICs, and the ports that it shares with others.
type pair struct {
	service, from, to, tag int
	way                    []int32 // ports and NICs
}

// bell rings at a time.
type bell struct {
	exec exec.Bell
	of   *group // nil: of the execution
	turn int32
}

// Build builds the run of a plan over routes. An error names what prevents reuse.
func Build(p *scenario.Plan, routes *topo.Routes) (*Run, error) {
	if err := Refuse(p); err != nil {
		return nil, err
	}
	jobs, err := p.Mix()
	if err != nil {
		return nil, err
	}
	n, err := sim.Wire(p, routes)
	if err != nil {
		return nil, err
	}
	ports := len(n.Net.Ports)
	r := &Run{Network: n, Plan: p, routes: routes, rules: n.Rules(), parts: make([]uint8, len(jobs.DAG.Ops)),
		owner: make([]*group, ports+2*len(n.Graph.NICs)+2*len(n.Setup.Buses)), root: newState(0),
		drawn: map[int32]uint64{}, shapes: map[string]int32{},
		audit: newAudit(p.Seed)}
	r.classify()
	r.seen.init(ports, p.Sample, p.Rows)
	r.Exec = exec.New(r, sim.Machine(p), jobs)
	if from, to, cut := r.Exec.Unreachable(); cut {
		return nil, fmt.Errorf("%s cannot reach %s: no path in the fabric, not even over NVLink",
			p.Graph.GPUName(from), p.Graph.GPUName(to))
	}
	return r, nil
}

// Refuse returns the features of a plan that cannot be reused.
func Refuse(p *scenario.Plan) error {
	what := ""
	switch {
	case len(p.Events) > 0 || len(p.Incidents) > 0 || len(p.Chips) > 0:
		what = "failures and other events, which come at a time of their own"
	case len(p.Phases) > 0:
		what = "circuits that move by phases"
	case p.Default().Carried != nil:
		what = p.Default().Carried.Title + ", whose senders remember"
	case p.Tunnel != nil:
		what = "transport.tunnel, whose edges remember"
	case p.Scheduled != nil:
		what = "scheduled fabrics"
	case p.Steps > 0:
		what = "output.steps"
	case p.Watched:
		what = "PFC watchdogs, which poll at times of their own"
	case p.Reorders():
		what = "server.reorder where packets overtake one another"
	case p.Mixes():
		what = "go-back-N where packets overtake one another"
	}
	for i := range p.Services {
		if name := p.Services[i].CC.Name; what == "" && name != "dcqcn" && name != "none" {
			what = p.Services[i].CC.Title + ", which remembers between messages (cc.algorithm dcqcn and none do not)"
		}
	}
	for i := range p.Graph.Links {
		if p.Graph.Links[i].BER > 0 {
			what = "bit errors, which are drawn at random"
		}
	}
	if what == "" {
		return nil
	}
	return p.Refuse("fidelity", "reuse does not simulate %s; accepted: packet", what)
}

// Now, After, Send and Reaches make it an exec.Carrier.
func (r *Run) Now() unit.Time { return r.now }

// After rings the execution once a delay has passed.
func (r *Run) After(d unit.Time, b exec.Bell) {
	r.order++
	r.bells.Push(r.now+d, r.order, bell{exec: b})
}

// Reaches reports whether the network connects the NICs of two GPUs.
func (r *Run) Reaches(from, to int) bool { return r.Network.Reaches(r.Paths, from, to) }

// Send splits a transfer over the queue pairs of its GPUs, as the packet carrier does.
func (r *Run) Send(op int32, from, to int, bytes unit.Bytes) {
	n := r.Split(from, to, bytes)
	r.parts[op] = uint8(n)
	service := r.Exec.Work.Service(op)
	first := r.Tag(&r.Exec.Work.Jobs[r.Exec.Work.Of(op)].Job, service, from, to, n)
	for q := range n {
		b := bytes*unit.Bytes(q+1)/unit.Bytes(n) - bytes*unit.Bytes(q)/unit.Bytes(n)
		c := r.Conn(service, from, to, first+q)
		if int(c) == len(r.pairs) {
			r.pairs = append(r.pairs, pair{service, from, to, first + q, r.way(c)})
		}
		r.post(c, op, b)
	}
}

func (r *Run) post(c, op int32, bytes unit.Bytes) {
	m := int32(len(r.messages))
	r.messages = append(r.messages, explain.Message{Op: op, Conn: c, Bytes: bytes, Posted: r.now})
	r.troubles = append(r.troubles, explain.Trouble{Port: -1})
	r.moment++
	r.posted, r.done = append(r.posted, r.moment), append(r.done, 0)
	r.join(c).post(r, m)
}

// deliver ends a message, and the operation with its last one.
func (r *Run) deliver(m int32, met explain.Trouble) {
	msg := &r.messages[m]
	r.moment++
	msg.Done, r.done[m], r.troubles[m] = r.now, r.moment, met
	r.delivered += msg.Bytes
	if r.parts[msg.Op]--; r.parts[msg.Op] == 0 {
		r.Exec.Delivered(msg.Op)
	}
}

// Go simulates to the end, or until the observer returns stop.
func (r *Run) Go(watch exec.Observer) error {
	r.Exec.Begin()
	ended := unit.Never
	for next := r.count + observeEvery; ; {
		if r.Exec.Done() && ended == unit.Never {
			ended = r.now
		}
		if r.count >= next {
			if next = r.count + observeEvery; watch != nil && !watch(r.progress()) {
				r.interrupted = true
				break
			}
		}
		r.settle()
		more := r.next()
		if r.err != nil {
			return r.err
		}
		if !more {
			break
		}
	}
	if ended != unit.Never { // the following packets were acknowledgements
		r.now = ended
		return nil
	}
	if !r.interrupted {
		return r.stuck()
	}
	for len(r.labs) > 0 { // what there is
		l := r.labs[0]
		r.seen.add(r, l.of, l.ending())
		r.drop(l)
	}
	return nil
}

// next executes the next event, and reports false if there is none.
func (r *Run) next() bool {
	at := unit.Never
	if len(r.bells) > 0 {
		at = r.bells[0].At
	}
	first, second := r.soonest()
	if first == nil && at == unit.Never {
		return false
	}
	if first != nil && first.when() < at {
		first.run(r, max(first.when()+1, min(at, second)))
		return true
	}
	b := r.bells.Pop()
	r.now = b.At
	r.count++
	switch g := b.Of.of; {
	case g == nil:
		r.Exec.Ring(b.Of.exec)
	case g.turn == b.Of.turn:
		g.due(r)
	}
	return true
}

// soonest returns the lab with the earliest next event, and the time of another lab's earliest one.
func (r *Run) soonest() (first *lab, second unit.Time) {
	best := unit.Never
	second = unit.Never
	for _, l := range r.labs {
		if l.parked() && !r.Exec.Done() {
			continue
		}
		switch at := l.when(); {
		case at < best:
			first, best, second = l, at, best
		case at < second:
			second = at
		}
	}
	return first, second
}

// stuck explains a run in which nothing more can happen.
func (r *Run) stuck() error { return r.Stuck(r.Exec, r.now) }

func (r *Run) progress() exec.Progress {
	hops := r.seen.simulated
	for _, l := range r.labs {
		hops += l.Net.PacketHops - l.hops - l.skipped
	}
	return exec.Progress{Now: r.now, PacketHops: hops, Delivered: r.delivered, Total: r.Exec.NetBytes,
		OpsLeft: r.Exec.Left, Ops: len(r.Exec.DAG.Ops)}
}

// Interrupted reports whether the observer stopped the run.
func (r *Run) Interrupted() bool { return r.interrupted }

// Failed returns nil: no part gives up, see lab.run.
func (r *Run) Failed() error { return nil }

// Outcome returns the content of the run directory.
func (r *Run) Outcome(version string) (*result.Summary, *result.Tables, []string) {
	s, t, limits := explain.Outcome(r.Plan, r.Exec, r.Observe(), version)
	s.Reused = &result.Reused{Episodes: r.seen.groups, Simulated: r.seen.led, Kinds: int64(len(r.seen.endings)),
		PacketHops: r.seen.simulated, Audit: r.audit.result()}
	return s, t, limits
}
