package sim

import (
	"fmt"
	"slices"

	"railyard/cc"
	"railyard/internal/engine"
	"railyard/internal/exec"
	"railyard/internal/explain"
	"railyard/internal/fabric"
	"railyard/internal/host"
	"railyard/internal/result"
	"railyard/internal/route"
	"railyard/internal/scenario"
	"railyard/internal/topo"
	"railyard/internal/workload"
	"railyard/roce"
	"railyard/unit"
)

// observeEvery is the number of events between two calls of the observer.
const observeEvery = 1 << 18

// maxPauseRows bounds the table of PFC events.
var maxPauseRows = 200_000 // a variable for tests

// Run is one run of a plan.
type Run struct {
	*Network
	Plan     *scenario.Plan
	Exec     *exec.Execution
	carrier  *carrier
	Cost     Cost // as estimated
	sampler  *sampler
	follower *Follower // nil: no packet is followed
	chains   *chains   // nil: no pauses can close one
	holders  *holders
	pauses   []result.PauseRow
	missed   int64        // PFC events beyond the table
	dropped  *result.Drop // the first data packet
	seen     progressMark // mark at the last check for a stall

	interrupted bool // by the observer

	teller *teller // nil: events are not listed step by step

	due  [][]int32        // events of the plan at one time
	dead []scenario.Death // so far

	moves []explain.Move // rebuilt connections after changes of routes
	kept  int            // stored previous paths

	cores int     // maximum number of parts,
	worth float64 // used if the speedup exceeds this factor
	parts int     // that did
	apart *apart  // additional records of a part; nil: the run is whole
	fresh func()  // updates a run whose parts continue; nil: the run is up to date

	counted   unit.Bytes // arrived when they were counted last, for progress
	countedAt uint64     // events until then
}

// loses keeps the first dropped packet that carries data.
func (r *Run) loses(p *fabric.Packet, port int32) {
	if r.dropped == nil && p.Payload > 0 {
		r.dropped = &result.Drop{Packet: Named{QP: p.QP, PSN: p.PSN}.String(), Port: r.PortName(port),
			At: int64(r.Net.Q.Now())}
		if r.apart != nil {
			r.apart.droppedAt = r.Net.Moment()
		}
	}
}

// New builds the run of a plan.
func New(p *scenario.Plan) (*Run, error) { return Build(p, Estimate(p)) }

// Build builds the run of a plan with memory for its estimated needs.
func Build(p *scenario.Plan, cost Cost) (*Run, error) {
	jobs, err := p.Mix()
	if err != nil {
		return nil, err
	}
	for _, j := range jobs.Jobs {
		if min(j.Service, j.Storage) < 0 || max(j.Service, j.Storage) >= len(p.Services) {
			return nil, fmt.Errorf("job %q uses service %d; there are %d", j.Name, j.Service, len(p.Services))
		}
	}
	if err := p.Deadlock(cost.routes); err != nil {
		return nil, err
	}
	r := &Run{Plan: p, Cost: cost}
	if len(p.Phases) > 0 { // to which the run adds events
		own := *p
		own.Events, r.Plan = slices.Clone(p.Events), &own
	}
	if err := r.wire(jobs); err != nil {
		return nil, err
	}
	if from, to, cut := r.Exec.Unreachable(); cut && !r.JoinedBefore(&r.Exec.Machine, from, to) {
		return nil, noPath(p.Graph, from, to)
	}
	return r, nil
}

// wire builds the network of a run and the executor of its jobs.
func (r *Run) wire(jobs *workload.Mix) error {
	p, cost := r.Plan, r.Cost
	n, err := Wire(p, cost.routes)
	if err != nil {
		return err
	}
	n.Hosts.Reserve(int(cost.QPs), int(cost.Messages))
	r.Network, r.carrier = n, newCarrier(n, len(jobs.DAG.Ops))
	r.Net.OnDrop = r.loses
	r.carrier.mirrors = newMirrors(r)
	r.Exec = exec.New(r.carrier, Machine(p), jobs)
	r.carrier.exec = r.Exec
	r.sampler = newSampler(n, p.Sample, p.Rows)
	r.sampler.signals = newSignals(p.Services)
	if n.Net.Waits = fabric.NewWaitTable(); n.Tunnel != nil {
		n.Net.Waits = nil // packets in the fabric belong to the tunnel, not to a connection
	}
	n.Net.Trace, r.holders = r.trace, newHolders(n)
	if p.Steps > 0 {
		r.teller = newTeller(r, p.Steps)
	}
	if p.Watched {
		r.chains = newChains(n)
		n.Net.Repaused = r.chains.repaused
	}
	return nil
}

// Wire builds the network of a plan, over precomputed routes; nil: they are computed.
func Wire(p *scenario.Plan, routes *topo.Routes) (*Network, error) {
	s := setup(p)
	s.Routes = routes
	return NewNetwork(s)
}

// JoinedBefore reports whether the fabric connects two GPUs without the failures of events. A run then shows the
// effect of the failures, including the initial ones.
func (n *Network) JoinedBefore(m *exec.Machine, from, to int) bool {
	if len(n.routed) == 0 {
		return false
	}
	whole := n.Setup.Routes
	if whole == nil {
		whole = n.Graph.Reroute(nil, nil, scenario.Besides(n.Setup.LB, n.Setup.Scheduled))
	}
	if n.Graph.Stored(from, to) {
		a, b := n.Graph.Pair(from, to, 0)
		return n.Graph.Reachable(whole, a, b)
	}
	relay := from
	if g := n.Graph; g.NICs[g.NICOf[from]].Rail != g.NICs[g.NICOf[to]].Rail && !g.Reachable(whole,
		g.NICOf[from], g.NICOf[to]) {
		relay = m.OnRail(from, to)
	}
	return n.Graph.Reachable(whole, n.Graph.WayOf(relay, 0), n.Graph.WayOf(to, 0))
}

// Machine returns the description of a plan's GPUs for the execution.
func Machine(p *scenario.Plan) exec.Machine {
	g := p.Graph
	m := exec.Machine{Inside: p.Inside, Changes: p.Chips,
		NVLink: exec.NVLink{Rate: p.NVLink, Latency: p.NVLatency, PXN: p.PXN}}
	for gpu, nic := range g.NICOf {
		rate := unit.Rate(0)
		for way := range g.Ways(gpu) {
			for _, l := range g.NICs[g.WayOf(gpu, way)].Links {
				rate += g.Links[l].Rate
			}
		}
		m.NICs = append(m.NICs, rate)
		m.Server = append(m.Server, g.DomainOf(g.HostOf(gpu)))
		if g.StoreOf(gpu) >= 0 {
			m.Rail = append(m.Rail, exec.AnyRail)
		} else {
			m.Rail = append(m.Rail, g.NICs[nic].Rail)
		}
	}
	return m
}

// setup translates a plan into the parameters of the network.
func setup(p *scenario.Plan) *Setup {
	s := &Setup{Graph: p.Graph, Spec: p.SpecOf, PFC: p.PFC, Headroom: p.Headroom,
		LB: p.LB, LBValues: p.LBValues,
		Rise: p.Rise, Scheduled: p.Scheduled, Switching: p.Switching, QPs: p.QPs, Seed: p.Seed,
		Bits:  p.Seed + p.BitErrors,
		Links: map[int]fabric.LinkState{}}
	s.Host = host.Config{RC: p.RC, Services: services(p), Latency: p.NICs.Latency,
		IPv6: p.IPv6, PCIe: p.NICs.PCIe, RxXOff: p.NICs.RxXOff, RxXOn: p.NICs.RxXOn,
		Reorder: host.Reorder(p.NICs.Reorder)}
	for _, of := range p.Services {
		if every := of.CC.Interval; every != nil {
			s.Host.Interval = every(of.Values)
		}
	}
	s.Buses = buses(p)
	s.Host.Markings = markings(p)
	for c, q := range p.Spec.Queues { // a NIC treats its classes as the first leaf does
		if s.Host.Weights[c] = q.Weight; q.Strict {
			s.Host.Strict |= 1 << c
		}
	}
	switch {
	case p.Default().Carried != nil: // ports are planes
	case p.NICs.Bond == "affinity":
		s.Host.Bond = host.BondAffinity
	case p.NICs.Bond == "spray":
		s.Host.Bond = host.BondSpray
	}
	s.Host.SourcePorts = p.LB.Ports(p.LBValues)
	if of := p.LB.NIC; of != nil {
		s.Host.Choose = of.New(p.LBValues)
	}
	if p.Tunnel != nil {
		s.Edge = edge(p, &s.Host)
	}
	s.Static = p.Default().Carried != nil && p.Default().Carried.Segments
	for _, e := range p.Events {
		if e.FromStart() {
			s.Links[e.Link] = StateBehind(&e)
		}
	}
	return s
}

// StateBehind returns the state of a link from an event on.
func StateBehind(e *scenario.LinkEvent) fabric.LinkState {
	return fabric.LinkState(e.LinkState)
}

// markings lists the plan's NICs with deviating marking; the classes are the classes of the first leaf.
func markings(p *scenario.Plan) map[int32]host.Marking {
	if len(p.Markings) == 0 {
		return nil
	}
	mark := func(dscp *uint8) *host.Mark {
		if dscp == nil {
			return nil
		}
		return &host.Mark{DSCP: *dscp, Class: p.Spec.DSCP[*dscp]}
	}
	all := map[int32]host.Marking{}
	for nic, m := range p.Markings {
		all[nic] = host.Marking{Data: mark(m.Data), CNP: mark(m.CNP)}
	}
	return all
}

// buses are the plan's links of PCIe that limit.
func buses(p *scenario.Plan) (all []host.Bus) {
	for _, b := range p.Buses {
		all = append(all, host.Bus(b))
	}
	return all
}

// services returns the plan's services. Their packets travel in the classes of the first leaf.
func services(p *scenario.Plan) (all []host.Service) {
	for _, of := range p.Services {
		s := host.Service{Name: of.Name, DSCP: uint8(of.DSCP), CNPDSCP: uint8(of.CNPDSCP),
			AcksFirst: of.AcksFirst}
		s.Class, s.CNPClass = p.Spec.DSCP[s.DSCP], p.Spec.DSCP[s.CNPDSCP]
		if of.Carried != nil {
			s.Protocol, s.PlainEV = of.Maker(controllers(p, &of)), route.Is[route.EVReader](p.LB)
			all = append(all, s)
			continue
		}
		s.CC = controllers(p, &of)
		if gap := of.CC.CNPGap; gap != nil {
			s.CNPs, s.CNPGap = true, gap(of.Values)
			if delay := of.CC.CNPDelay; delay != nil {
				s.CNPDelay = delay(of.Values)
			}
		}
		s.FarEnd = of.CC.FarEnd
		s.Marks = of.CC.Marks || p.LB.NIC != nil && p.LB.NIC.Hears
		s.Telemetry, s.Tags = roce.Telemetry(of.CC.Reports(of.Values)), of.CC.Tags
		if credit := of.CC.Credit; credit != nil {
			s.Credit = credit(of.Values)
		}
		all = append(all, s)
	}
	return all
}

// controllers makes a service's senders, each with the values for its NIC's line rate.
func controllers(p *scenario.Plan, of *scenario.Service) cc.Make {
	first := of.CC.New(of.Values)
	if of.At == nil {
		return first
	}
	makes := map[unit.Rate]cc.Make{p.Line(0): first}
	for i := range p.Graph.NICs {
		if line := p.Line(i); makes[line] == nil {
			makes[line] = of.CC.New(of.At(line))
		}
	}
	if len(makes) == 1 {
		return first
	}
	return func(path cc.Path) cc.Controller {
		if own := makes[path.Line]; own != nil {
			return own(path)
		}
		return first(path) // a port that an event has slowed down
	}
}

func (r *Run) trace(at unit.Time, what string, port int32, prio int) {
	if r.teller != nil {
		r.teller.hear(what, port, prio)
	}
	if what == "mark" {
		return
	}
	if r.chains != nil {
		r.chains.hear(at, what, port, prio)
	}
	if len(r.pauses) >= maxPauseRows {
		r.missed++
		return
	}
	r.holders.hear(at, what, port, prio)
	cause := int32(-1)
	if what == "pause" {
		cause = r.Net.PauseCause(port, prio)
	}
	r.pauses = append(r.pauses, result.PauseRow{At: int64(at), What: what, Port: port,
		Priority: int32(prio), Cause: cause})
	if r.apart != nil {
		r.apart.pausesAt = append(r.apart.pausesAt, r.Net.Moment())
	}
}

// Go runs to the end, or until the observer stops it. An error means that the workload can never finish.
func (r *Run) Go(watch exec.Observer) error {
	if done, err := r.goInParts(watch); done {
		return err
	}
	q := r.Net.Q
	r.schedule()
	q.Push(engine.OfRun, r.sampler.interval, kindSample, 0, 0)
	r.carrier.onSend = r.sampler.wake
	r.Begin()
	stop := &r.carrier.stop
	for next := q.Popped() + observeEvery; !*stop; {
		ran := r.RunUntil(stop, next, r.Event)
		if *stop {
			break
		}
		next = q.Popped() + observeEvery
		if !ran || r.stalled() {
			if !r.lost() {
				r.strand()
			}
			if r.lost() {
				break // the other ranks are blocked on a lost one, so the job ends
			}
			return r.stuck()
		}
		if watch != nil && !watch(r.progress()) {
			r.interrupted = true
			break
		}
	}
	r.finishRun()
	return nil
}

// Begin launches the first operations; Go calls it.
func (r *Run) Begin() {
	r.Exec.Begin()
	r.carrier.stop = r.Exec.Done()
}

// placed returns the number of bytes that have arrived, including unfinished messages. It reads every queue pair.
// It therefore runs only after many more events than there are queue pairs.
func (r *Run) placed() unit.Bytes {
	const rare = 32
	if conns := r.Hosts.Conns(); r.Net.Q.Popped()-r.countedAt >= uint64(rare*conns) {
		r.countedAt = r.Net.Q.Popped()
		sum := unit.Bytes(0)
		for c := range conns {
			sum += r.Hosts.Placed(int32(c))
		}
		r.counted = max(r.counted, sum)
	}
	return min(max(r.counted, r.carrier.delivered), r.Exec.NetBytes)
}

func (r *Run) progress() exec.Progress {
	return exec.Progress{Now: r.Net.Q.Now(), PacketHops: r.Net.PacketHops, Delivered: r.placed(),
		Total: r.Exec.NetBytes, OpsLeft: r.Exec.Left, Ops: len(r.Exec.DAG.Ops)}
}

// Event runs the events of the execution and of the run itself.
func (r *Run) Event(e engine.Event) {
	switch e.Kind() {
	case kindSample:
		if r.apart != nil {
			r.apart.due(r.sampler, e.A)
			return
		}
		r.sampler.due(e.A, (r.carrier.flying == 0 || r.lost()) && r.Net.InUse() == 0)
	case kindLink, kindNotice, kindConverge, kindIncident:
		r.happens(e.Kind(), int(e.A))
	case kindMirrors:
		r.carrier.mirrors.due(e.A == 1)
	case kindFollow:
		r.follower.look(e.A)
	case kindRing:
		r.carrier.ring(e)
	}
}

func (r *Run) finishRun() {
	r.sampler.take()
	r.sampler.fold()
	r.Hosts.Finish()
}

// stalled reports whether a network only exchanges control frames, as in a PFC deadlock without a watchdog, where
// pauses are refreshed and polls continue. For a second of simulated time, or for very many events, no data packet
// has moved, and no operation has ended or is computing. Headers of trimmed packets may move endlessly if they
// alone fill a cable. In that case only arrived bytes count.
func (r *Run) stalled() bool {
	now, events := r.Net.Q.Now(), r.Net.Q.Popped()
	moved, most := r.Net.DataPacketHops != r.seen.hops, uint64(stallEvents)
	if r.Net.Trims != r.seen.trims {
		moved = r.placed() != r.seen.placed
		most = max(trimEvents, 128*uint64(r.Hosts.Conns())) // placed reads all queue pairs, so it is called rarely
	}
	if moved || r.Exec.Left != r.seen.left || r.Exec.Computing > 0 {
		r.seen = progressMark{r.Net.DataPacketHops, r.Exec.Left, now, events, r.Net.Trims, r.placed()}
		return false
	}
	limit := max(unit.Second, 2*r.Setup.Host.RC.Timeout)
	return now-r.seen.at > limit || events-r.seen.events > most
}

// Numbers of events without progress that count as a stall, in total and for trimmed packets.
const (
	stallEvents = 100_000_000
	trimEvents  = 5_000_000
)

type progressMark struct {
	hops   int64
	left   int
	at     unit.Time
	events uint64
	trims  int64
	placed unit.Bytes
}

// stuck explains why a run has unfinished work and no events left.
func (r *Run) stuck() error {
	if cut := r.Net.Trims - r.seen.trims; cut > trimEvents/100 {
		return fmt.Errorf("the network is stuck at %v: %s were trimmed since the last byte arrived at %v: their headers leave no room for data; trim to less (switch.trim.size), give queues more room (switch.queues.*.limit, switch.buffer), or take a congestion control that holds back",
			r.Net.Q.Now(), unit.Plural(cut, "packet"), r.seen.at)
	}
	if i := r.Exec.Waiting(); i >= 0 {
		o := &r.Exec.DAG.Ops[i]
		return fmt.Errorf("the network is stuck at %v: the transfer from %s to %s never finishes (%d packets in flight, %s left)%s",
			r.Net.Q.Now(), r.Graph.GPUName(int(o.Rank)), r.Graph.GPUName(int(o.Peer)), r.Net.InUse(),
			unit.Plural(r.Exec.Left, "operation"), r.locked())
	}
	return fmt.Errorf("the workload is stuck at %v with %s left", r.Net.Q.Now(),
		unit.Plural(r.Exec.Left, "operation"))
}

// Interrupted reports whether the observer stopped the run.
func (r *Run) Interrupted() bool { return r.interrupted }

// Failed returns the queue pair that gave up first, nil if none did.
func (r *Run) Failed() error { return r.RanksLost(r.Exec, r.carrier.lost, r.dead) }

// RanksLost returns the queue pair, or else the server, by which an unfinished job lost its first rank; nil if it
// lost none.
func (n *Network) RanksLost(x *exec.Execution, lost []explain.Lost, dead []scenario.Death) error {
	switch {
	case x.Done() || len(lost)+len(dead) == 0:
		return nil
	case len(lost) == 0:
		d := &dead[0]
		return fmt.Errorf("the job lost its ranks on %s at %v", n.Graph.Nodes[n.Graph.Hosts[d.Host]].Name, d.At)
	}
	f := &lost[0]
	src, dst := n.Hosts.Peers(f.Conn)
	return fmt.Errorf("the job lost a rank at %v: the queue pair from %s to %s gave up (%s)", f.At,
		n.Graph.NICName(int(src)), n.Graph.NICName(int(dst)), f.Why)
}
