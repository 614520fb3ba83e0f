package explain_test

import (
	"slices"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/exec"
	"railyard/internal/explain"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/workload"
	"railyard/unit"
)

// pipes is a fidelity without packets for GPUs behind one switch: a NIC sends one transfer
// after the other at its rate, and each is there a latency later.
type pipes struct {
	plan *scenario.Plan
	x    *exec.Execution
	now  unit.Time
	due  []due
	free []unit.Time // by NIC
	seen explain.Observation
}

type due struct {
	at unit.Time
	do func()
}

const pipeLatency = 20 * unit.Microsecond

func (p *pipes) Now() unit.Time                 { return p.now }
func (p *pipes) After(d unit.Time, b exec.Bell) { p.at(p.now+d, func() { p.x.Ring(b) }) }
func (p *pipes) Reaches(int, int) bool          { return true }

func (p *pipes) at(t unit.Time, do func()) {
	i := 0
	for i < len(p.due) && p.due[i].at <= t {
		i++
	}
	p.due = slices.Insert(p.due, i, due{t, do})
}

func (p *pipes) Send(op int32, from, to int, bytes unit.Bytes) {
	g, o := p.plan.Graph, &p.seen
	src, dst := int32(g.NICOf[from]), int32(g.NICOf[to])
	conn := slices.IndexFunc(o.Conns, func(c explain.Conn) bool { return c.From == src && c.To == dst })
	if conn < 0 {
		conn = len(o.Conns)
		o.Conns = append(o.Conns, explain.Conn{From: src, To: dst, Port: p.out(src), Home: p.out(src),
			Line: p.rate(src)})
	}
	m := len(o.Messages)
	o.Messages = append(o.Messages, explain.Message{Op: op, Conn: int32(conn), Bytes: bytes, Posted: p.now})
	wire := bytes + bytes/40 // headers, more or less
	p.free[src] = max(p.now, p.free[src]) + unit.Serialize(wire, p.rate(src))
	for _, port := range []int32{p.out(src), p.in(dst)} {
		o.Ports[port].Bytes, o.Ports[port].Used = o.Ports[port].Bytes+wire, true
	}
	p.at(p.free[src]+pipeLatency, func() {
		o.Messages[m].Done = p.now
		p.x.Delivered(op)
	})
}

// rate, out and in are of a NIC's only cable.
func (p *pipes) rate(nic int32) unit.Rate {
	return p.plan.Graph.Links[p.plan.Graph.NICs[nic].Links[0]].Rate
}
func (p *pipes) in(nic int32) int32 { return p.out(nic) ^ 1 }
func (p *pipes) out(nic int32) int32 {
	n := &p.plan.Graph.NICs[nic]
	link := n.Links[0]
	if p.plan.Graph.Links[link].A == p.plan.Graph.Hosts[n.Host] {
		return int32(2 * link)
	}
	return int32(2*link + 1)
}

func (p *pipes) Back(int32) []int32 { return nil }

func (p *pipes) Path(c int32) []int32 {
	return []int32{p.out(p.seen.Conns[c].From), p.in(p.seen.Conns[c].To)}
}
func (p *pipes) Leaves(c int32) []int32      { return []int32{p.out(p.seen.Conns[c].From)} }
func (p *pipes) PathFrom(c, _ int32) []int32 { return []int32{p.in(p.seen.Conns[c].To)} }
func (p *pipes) Choices(c int32) [][]int32   { return [][]int32{{p.in(p.seen.Conns[c].To)}} }

// piped runs jobs through pipes and explains the run.
func piped(t *testing.T, jobs ...workload.Job) (*result.Summary, *result.Tables) {
	t.Helper()
	plan := load(t, `name: pipes
fabric: {kind: rail, hosts: 4, spines: 1, host_link: {rate: 100Gbps, cable: 3m}}
`+
		"server: {gpus: 1, nics: 1}\nworkload: {traffic: {permutation: {bytes: 1B}}}\n").Plan
	plan.Jobs = jobs
	mix, err := plan.Mix()
	if err != nil {
		t.Fatal(err)
	}
	g := plan.Graph
	p := &pipes{plan: plan, free: make([]unit.Time, len(g.NICs))}
	p.seen = explain.Observation{Fidelity: "pipes", Routes: g.Route(nil), Ways: p,
		Rules: explain.Rules{MTU: 4096, Hashed: true}}
	for l, link := range g.Links {
		for i, node := range []int{link.A, link.B} {
			p.seen.Ports = append(p.seen.Ports, explain.Port{Link: int32(l), Node: int32(node),
				Peer: int32(2*l + 1 - i),
				Rate: link.Rate, Flight: link.Propagation()})
		}
	}
	m := exec.Machine{NVLink: exec.NVLink{Rate: unit.Tbps}}
	for gpu := range g.TotalGPUs() {
		m.Server, m.Rail = append(m.Server, g.HostOf(gpu)), append(m.Rail, 0)
	}
	p.x = exec.New(p, m, mix)
	p.x.Begin()
	for len(p.due) > 0 {
		next := p.due[0]
		p.due, p.now = p.due[1:], next.at
		next.do()
	}
	p.seen.At = p.now
	s, tab, _ := explain.Outcome(plan, p.x, &p.seen, "test")
	return s, tab
}

// A fidelity that has no packets is explained: completion times and ideals, the step and its
// chain, what transfers had to share. Nothing is blamed on what only packets have.
func TestWithoutPackets(t *testing.T) {
	b := workload.NewBuilder(4)
	ready := b.Compute(0, 50*unit.Microsecond, workload.Forward)
	b.Transfer(0, 1, 2*unit.MB, ready)
	b.Transfer(0, 2, 2*unit.MB, ready)
	last := b.Transfer(0, 3, 2*unit.MB, ready)
	b.Compute(3, 10*unit.Microsecond, workload.Backward, last)
	d, err := b.Seal()
	if err != nil {
		t.Fatal(err)
	}
	s, tab := piped(t, workload.Job{Name: "one", DAG: d})
	if s.Fidelity != "pipes" || !s.Complete || len(tab.Flows) != 3 || s.Flows.Count != 3 || len(s.Jobs) != 1 {
		t.Fatalf("%+v", s)
	}
	for _, f := range tab.Flows {
		if f.Ideal <= 0 || f.Ideal > f.Done-f.Posted {
			t.Errorf("a flow took %d, alone %d", f.Done-f.Posted, f.Ideal)
		}
	}
	wire := unit.Serialize(2*unit.MB+2*unit.MB/40, 100*unit.Gbps)
	if want := int64(60*unit.Microsecond + 3*wire + pipeLatency); s.StepTime != want ||
		s.Chain.Total() != want {
		t.Errorf("the step took %d, its chain %d, not %d", s.StepTime, s.Chain.Total(), want)
	}
	c := s.Chain
	if c.Of(cause.Pause)+c.Of(cause.Recovering)+c.Of(cause.Retransmission)+
		c.Of(cause.Collision)+c.Of(cause.Oversubscription)+c.Of(cause.Incast)+c.Of(cause.PCIe) != 0 {
		t.Errorf("blamed on what there is none of: %+v", c)
	}
	if shared := int64(wire); c.Of(cause.SharedNIC) < shared || s.Slowest == nil || s.Slowest.Queue != "" {
		t.Errorf("two transfers before the last one: %+v, %+v", c, s.Slowest)
	}
	sum := int64(0)
	for _, p := range tab.Ports {
		sum += p.WireBytes
	}
	if want := 2 * 3 * int64(2*unit.MB+2*unit.MB/40); sum != want { // up and down
		t.Errorf("%d bytes on the cables, not %d", sum, want)
	}
}
