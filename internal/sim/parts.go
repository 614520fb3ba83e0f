package sim

import (
	"errors"

	"railyard/internal/engine"
	"railyard/internal/exec"
	"railyard/internal/fabric"
	"railyard/internal/parallel"
	"railyard/unit"
)

// parts are parallel runs of one plan. Each has the whole network and executes the whole workload, but only its own
// nodes send, forward and receive. They run for a window in which no packet of one part can reach another, and then
// synchronize. They exchange frames for other parts, and all parts decide identically how to continue.
type parts struct {
	of       []*Run
	window   unit.Time
	outboxes [2][][]fabric.Letter // by round, odd or even, then sender and receiver
	states   [2][]partState       // by round, odd or even
	watch    exec.Observer
	ended    bool // the observer has stopped the run
	into     *Run // for observers of a run in progress
}

// apart is the additional records of a part.
type apart struct {
	id       int
	meet     *parallel.Meeting
	sampled  bool      // a sample was taken: all parts together decide how to continue
	common   uint64    // events of the run itself, which all parts execute
	extra    uint64    // packets of nodes of other parts, which these parts also have
	soonest  unit.Time // earliest arrival of the frames that left in this window
	letters  int
	packets  int             // among them
	round    int             // odd or even
	pausesAt []fabric.Moment // by row of pauses

	droppedAt fabric.Moment
	progress  progressMark // mark at the last check for a stall
	looked    uint64       // events at the last look of the observer
}

// partState is the state that a part reports at a synchronization.
type partState struct {
	next                unit.Time // event, or frame for other parts
	stop, sampled, lost bool
	idle                bool
	inUse, rows         int
	pauses              int
	hops, dataHops      int64
	trims               int64
	shrunk              bool
	_                   [64]byte
}

// due takes a sample. Only all parts together can determine whether packets are in flight, and therefore when the
// next sample is due.
func (a *apart) due(s *sampler, turn int32) {
	if turn == s.turn {
		s.take()
		a.sampled = true
	}
}

// errWhole reports an event that needs the run as a whole, which is then restarted.
var errWhole = errors.New("sim: not in parts")

// goInParts runs in parts if that is possible and configured. Otherwise done is false, and nothing has been
// changed.
func (r *Run) goInParts(watch exec.Observer) (done bool, err error) {
	r.parts = 1
	if r.cores < 2 || r.Undivided() != "" {
		return false, nil
	}
	owner, n, window := r.shares(r.cores)
	if n < 2 {
		return false, nil
	}
	p, err := newParts(r, owner, n, window)
	if err != nil {
		return false, nil // the simulation as a whole fails too, with a message
	}
	p.watch = watch
	p.into = r
	if err = p.run(); err != nil { // it restarts as a whole: the records of parts are discarded
		*r = Run{Plan: r.Plan, Cost: r.Cost, parts: 1}
		jobs, err := r.Plan.Mix()
		if err == nil {
			err = r.wire(jobs)
		}
		return err != nil, err
	}
	for _, x := range p.of {
		x.sampler.take()
	}
	p.join(r)
	r.finishRun()
	r.parts = len(p.of)
	return true, nil
}

func newParts(r *Run, owner []int32, n int, window unit.Time) (*parts, error) {
	p := &parts{of: make([]*Run, n), window: window}
	errs := make([]error, n)
	jobs, err := r.Plan.Mix()
	if err != nil {
		return nil, err
	}
	var all []parallel.Job
	for id := range n {
		p.of[id] = &Run{Plan: r.Plan, Cost: r.Cost}
		all = append(all, parallel.Job{Do: func() { errs[id] = p.of[id].wire(jobs) }})
	}
	if parallel.Run(all, n, 0); errors.Join(errs...) != nil {
		return nil, errors.Join(errs...)
	}
	for round := range p.outboxes {
		p.outboxes[round], p.states[round] = make([][]fabric.Letter, n*n), make([]partState, n)
	}
	for id, x := range p.of {
		x.apart = &apart{id: id, soonest: unit.Never}
		x.holders.moment, x.carrier.troubles.apart = x.Net.Moment, true
		x.Net.Parted()
		x.Net.Split(func(node int32) bool { return owner[node] == int32(id) }, p.post(id, owner))
	}
	return p, nil
}

// post returns the function that stores frames leaving a part for the other parts until they synchronize.
func (p *parts) post(id int, owner []int32) func(fabric.Letter) {
	x, n := p.of[id], len(p.of)
	return func(l fabric.Letter) {
		a, out := x.apart, p.outboxes[x.apart.round][id*n:(id+1)*n]
		a.soonest, a.letters = min(a.soonest, l.At()), a.letters+1
		if l.Carries() {
			a.packets++
		}
		port, all := l.To()
		if !all {
			to := owner[x.Net.Ports[port].Node]
			out[to] = append(out[to], l)
			return
		}
		for to := range out {
			if to != id {
				out[to] = append(out[to], l)
			}
		}
	}
}

// run runs all parts to the end.
func (p *parts) run() error {
	errs := make([]error, len(p.of))
	parallel.Together(len(p.of), func(id int, m *parallel.Meeting) { errs[id] = p.part(id, m) })
	return errors.Join(errs...)
}

// part runs one part.
func (p *parts) part(id int, meet *parallel.Meeting) error {
	r, n := p.of[id], len(p.of)
	r.apart.meet = meet
	r.schedule()
	r.Net.Q.Push(engine.OfRun, r.sampler.interval, kindSample, 0, 0)
	r.carrier.onSend = r.sampler.wake
	r.Begin()
	bound, looked := unit.Time(0), 0
	for round := 0; ; round ^= 1 {
		r.apart.round = round
		for from := range n {
			in := &p.outboxes[round^1][from*n+id]
			for i := range *in {
				r.Net.Receive(&(*in)[i])
			}
			*in = (*in)[:0]
		}
		r.before(bound)
		p.states[round][id] = r.state()
		if !r.apart.meet.Wait() {
			return errWhole
		}
		next, err := p.decide(r, round)
		if err != nil || r.carrier.stop {
			return err
		}
		if looked++; looked%lookEvery == 0 {
			if goOn, err := p.look(r, round); err != nil || !goOn {
				return err
			}
		}
		bound = next + p.window
	}
}

// lookEvery is the number of windows between two looks of the observer.
const lookEvery = 64

// look calls the observer while all parts wait, and returns whether the run continues.
func (p *parts) look(r *Run, round int) (goOn bool, err error) {
	if r.apart.id == 0 && p.watch != nil && r.Net.Q.Popped() >= r.apart.looked+observeEvery/4 {
		r.apart.looked = r.Net.Q.Popped()
		now, hops := unit.Time(0), int64(0)
		for i, s := range p.states[round] {
			now, hops = max(now, p.of[i].Net.Q.Now()), hops+s.hops
		}
		p.into.fresh = func() { p.join(p.into) }
		p.ended = !p.watch(exec.Progress{Now: now, PacketHops: hops, Delivered: r.carrier.delivered,
			Total: r.Exec.NetBytes, OpsLeft: r.Exec.Left, Ops: len(r.Exec.DAG.Ops)})
		p.into.fresh = nil
	}
	if !r.apart.meet.Wait() {
		return false, errWhole
	}
	if r.interrupted = p.ended; r.interrupted {
		last := unit.Time(0)
		for _, x := range p.of {
			last = max(last, x.Net.Q.Now())
		}
		if !r.apart.meet.Wait() {
			return false, errWhole
		}
		r.Net.Q.Stand(last, r.Net.Q.Popped())
	}
	return !r.interrupted, nil
}

// before runs a part's events before a time, or until the end or the next sample.
func (r *Run) before(t unit.Time) {
	q, far, a := r.Net.Q, r.Hosts.Far(), r.apart
	for !r.carrier.stop && !a.sampled {
		e := q.Before(t)
		if e == nil {
			return
		}
		switch {
		case e.From() == engine.OfRun:
			a.common++
		case r.Net.Extra(e):
			a.extra++
		}
		r.fire(e, far, r.Event)
	}
}

// state returns a part's state for the synchronization.
func (r *Run) state() partState {
	a := r.apart
	s := partState{next: min(r.Net.Q.When(), a.soonest), stop: r.carrier.stop, sampled: a.sampled, lost: r.lost(),
		idle: r.Net.Idle() && a.letters == 0, inUse: r.Net.InUse() + a.packets, rows: len(r.sampler.rows),
		pauses: len(r.pauses), hops: r.Net.PacketHops, dataHops: r.Net.DataPacketHops, trims: r.Net.Trims}
	a.soonest, a.letters, a.packets = unit.Never, 0, 0
	return s
}

// decide returns the time until which a part continues: all parts compute the same value.
func (p *parts) decide(r *Run, round int) (next unit.Time, err error) {
	sum := partState{next: unit.Never, idle: true}
	for i := range p.states[round] {
		s := &p.states[round][i]
		sum.next, sum.idle, sum.lost = min(sum.next, s.next), sum.idle && s.idle, sum.lost || s.lost
		sum.inUse, sum.rows, sum.pauses = sum.inUse+s.inUse, sum.rows+s.rows, sum.pauses+s.pauses
		sum.dataHops, sum.trims = sum.dataHops+s.dataHops, sum.trims+s.trims
		if s.stop != r.carrier.stop || s.sampled != r.apart.sampled {
			return 0, errWhole
		}
	}
	switch {
	case sum.lost || sum.pauses >= maxPauseRows:
		return 0, errWhole
	case r.carrier.stop:
		return 0, nil
	case r.apart.sampled:
		r.apart.sampled = false
		if err := p.fold(r, round^1, sum.rows); err != nil {
			return 0, err
		}
		r.sampler.next(r.carrier.flying == 0 && sum.inUse == 0, sum.idle)
		sum.next = min(sum.next, r.Net.Q.When()) // the next one is at the same time everywhere
	}
	if sum.next == unit.Never || r.standstill(&sum) {
		return 0, errWhole
	}
	return sum.next, nil
}

// fold lengthens the sample intervals while there are too many rows in total.
func (p *parts) fold(r *Run, round, rows int) error {
	for rows > r.sampler.limit {
		s := &p.states[round][r.apart.id]
		s.shrunk = r.sampler.merge()
		s.rows = len(r.sampler.rows)
		if !r.apart.meet.Wait() {
			return errWhole
		}
		shrunk := false
		rows = 0
		for i := range p.states[round] {
			rows, shrunk = rows+p.states[round][i].rows, shrunk || p.states[round][i].shrunk
		}
		if !r.apart.meet.Wait() {
			return errWhole
		}
		if !shrunk {
			break
		}
	}
	return nil
}

// standstill reports that parts exchange packets without progress, as in a pause deadlock: the whole run reports the
// reason.
func (r *Run) standstill(sum *partState) bool {
	now, events, was := sum.next, r.Net.Q.Popped(), &r.apart.progress
	moved := sum.dataHops != was.hops
	if sum.trims != was.trims {
		moved = r.carrier.delivered != was.placed
	}
	if moved || r.Exec.Left != was.left || r.Exec.Computing > 0 {
		*was = progressMark{sum.dataHops, r.Exec.Left, now, events, sum.trims, r.carrier.delivered}
		return false
	}
	return now-was.at > max(unit.Second, 2*r.Setup.Host.RC.Timeout)
}
