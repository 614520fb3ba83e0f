package sim

import (
	"fmt"

	"railyard/cc"
	"railyard/internal/engine"
	"railyard/internal/exec"
	"railyard/internal/explain"
	"railyard/internal/fabric"
	"railyard/internal/result"
	"railyard/internal/rng"
	"railyard/internal/scenario"
	"railyard/internal/topo"
	"railyard/rc"
	"railyard/unit"
)

// Stand is a network that carries messages posted by its user, without an execution. Package reuse has several,
// each with a clock of its own.
type Stand struct {
	*Network
	// Delivered is called when a message is in memory.
	Delivered func(m int32)
	// Paused is called when a port is paused or resumed.
	Paused func(row result.PauseRow)
	// Err is set once a queue pair gives up, or when the network only exchanges control frames.
	Err error

	troubles *troubles
	sampler  *sampler
	services []scenario.Service
}

// NewStand builds the network of a plan with given routes. Its links are sampled at intervals of at least the given
// length.
func NewStand(p *scenario.Plan, routes *topo.Routes, interval unit.Time) (*Stand, error) {
	n, err := Wire(p, routes)
	if err != nil {
		return nil, err
	}
	s := &Stand{Network: n, troubles: newTroubles(n), services: p.Services}
	n.Hosts.OnDeliver = func(m int32) {
		s.troubles.delivered(m)
		s.Delivered(m)
	}
	n.Hosts.OnFail = func(conn int32, st rc.Status) { s.Err = gaveUp{n, conn, st.String()} }
	n.Net.Waits = fabric.NewWaitTable()
	n.Net.Trace = func(at unit.Time, what string, port int32, prio int) {
		if what != "mark" {
			s.paused(at, what, port, prio)
		}
	}
	s.Sample(interval)
	return s, nil
}

type gaveUp struct {
	n    *Network
	conn int32
	why  string
}

func (g gaveUp) Error() string {
	from, to := g.n.Hosts.Peers(g.conn)
	return "the queue pair from " + g.n.Graph.NICName(int(from)) + " to " + g.n.Graph.NICName(int(to)) + " gave up (" +
		g.why + ")"
}

func (s *Stand) paused(at unit.Time, what string, port int32, prio int) {
	if s.Paused == nil {
		return
	}
	row := result.PauseRow{At: int64(at), What: what, Port: port, Priority: int32(prio), Cause: -1}
	if what == "pause" {
		row.Cause = s.Net.PauseCause(port, prio)
	}
	s.Paused(row)
}

// Stuck explains a run, of any carrier, in which no further event can happen.
func (n *Network) Stuck(x *exec.Execution, now unit.Time) error {
	if i := x.Waiting(); i >= 0 {
		o := &x.DAG.Ops[i]
		return fmt.Errorf("the network is stuck at %v: the transfer from %s to %s never finishes (%s left)", now,
			n.Graph.GPUName(int(o.Rank)), n.Graph.GPUName(int(o.Peer)), unit.Plural(x.Left, "operation"))
	}
	return fmt.Errorf("the workload is stuck at %v with %s left", now, unit.Plural(x.Left, "operation"))
}

// Redraw restarts a switch's random numbers: number 0 has the numbers of a run, others correspond to other seeds.
func (s *Stand) Redraw(node int32, number uint64) {
	seed := s.Setup.Seed
	if number > 0 {
		seed = rng.Mix64(seed ^ rng.Mix64(number))
	}
	s.Net.Redraw(node, seed, s.Graph.Nodes[node].Name)
}

// Sample begins a series of samples with the given interval.
func (s *Stand) Sample(interval unit.Time) {
	const rows = 1 << 16
	was := s.sampler
	s.sampler = newSampler(s.Network, interval, rows)
	s.sampler.began = s.Now()
	if was != nil {
		s.sampler.lastTx, s.sampler.lastPau = was.lastTx, was.lastPau
		s.sampler.lastMark, s.sampler.lastDrop = was.lastMark, was.lastDrop
	}
}

// Samples closes the current interval and returns the series.
func (s *Stand) Samples() []result.LinkRow {
	s.sample()
	return s.sampler.rows
}

func (s *Stand) sample() {
	now := s.Now()
	if now > s.sampler.began {
		s.sampler.links(now)
		s.sampler.began = now
		s.sampler.fold()
	}
}

// Now returns the stand's own time.
func (s *Stand) Now() unit.Time { return s.Net.Q.Now() }

// When returns the time of its next event, unit.Never without one.
func (s *Stand) When() unit.Time {
	if s.Net.Idle() {
		return unit.Never
	}
	return s.Net.Q.When()
}

// Bring advances the clock to a time, before other events of that time.
func (s *Stand) Bring(at unit.Time) {
	if s.Now() == at {
		return
	}
	s.Net.Q.Push(engine.OfRun, at, KindNothing, 0, 0)
	for s.Now() < at {
		s.Step(at + 1)
	}
}

// Step runs the next event if it is before a time, and reports whether there was one.
func (s *Stand) Step(before unit.Time) bool {
	e := s.Net.Q.Before(before)
	if e == nil {
		return false
	}
	if at := s.sampler.began + s.sampler.interval; e.At >= at {
		s.sample()
	}
	s.fire(e, false, func(engine.Event) {})
	return true
}

// Post hands bytes to the queue pair number tag of a service between two GPUs and returns the message's number.
func (s *Stand) Post(service, from, to, tag int, bytes unit.Bytes) int32 {
	s.troubles.posted()
	return s.Hosts.Send(s.Conn(service, from, to, tag), bytes, 0)
}

// Trouble returns the delays of a delivered message.
func (s *Stand) Trouble(m int32) explain.Trouble { return s.troubles.all[m] }

// Waits calls f with the sampled waits of each queue pair at each port.
func (s *Stand) Waits(f func(explain.Wait)) {
	s.Net.Waits.Each(func(w fabric.Wait) {
		f(explain.Wait{Conn: w.QP, Port: w.Port, Total: w.Total, Samples: w.Samples, MaxQueue: w.MaxQueue})
	})
}

// Counts are the network's and the transport's totals until now.
func (s *Stand) Counts() result.Summary {
	s.Hosts.Finish()
	return s.counts()
}

// Pair is a queue pair's counters.
type Pair struct {
	Cuts, Marked, Again, Held int64
	Counters                  []int64 // counters of its congestion control, as listed in result.Control
}

// Pair returns the counters of a queue pair.
func (s *Stand) Pair(conn int32) Pair {
	p := Pair{Marked: s.Hosts.CEMarks(conn), Again: s.Hosts.Retransmitted(conn), Held: int64(s.Hosts.Held(conn).Sum())}
	p.Cuts, _ = s.Hosts.Counter(conn, cc.CounterCuts)
	for _, k := range s.services[s.Hosts.ServiceOf(conn)].Counted() {
		n, _ := s.Hosts.Counter(conn, k.Name)
		p.Counters = append(p.Counters, n)
	}
	return p
}
