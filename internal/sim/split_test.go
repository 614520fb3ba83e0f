package sim

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"railyard/cc"
	"railyard/internal/engine"
	"railyard/internal/exec"
	"railyard/internal/fabric"
	"railyard/internal/host"
	"railyard/internal/queue"
	"railyard/internal/workload"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"

	"pgregory.net/rapid"
)

// A network run in parts gives the bytes of a run as a whole. This test fails if a node reads another node's state,
// or if a tie depends on other nodes; elements may interact only over links. Parts have separate queues, clocks and
// packet slabs, and every node is in a random part. Letters between parts are exchanged in random order at the end
// of windows as long as the shortest cut cable. Actions of the run itself happen in every part: posting messages,
// breaking cables, taking samples, and executing a workload, which is notified of messages from all parts.

// world is a small network and the actions of the run on it.
type world struct {
	setup   *Setup
	posts   []post
	jobs    *workload.Mix // instead of posts; nil: none
	breaks  []breakage
	machine exec.Machine
	every   unit.Time // samples
	end     unit.Time
}

type post struct {
	at            unit.Time
	src, dst, tag int
	bytes         unit.Bytes
}

type breakage struct {
	link                  int
	at, avoid, mend, used unit.Time
}

// The run's own events.
const (
	kindSend engine.Kind = 0xf0 + iota // A post
	kindSet                            // A breakage, B its step
	kindLook
	kindStop
)

// part is one of the networks that together form the world's network.
type part struct {
	*Network
	w       *world
	mail    []fabric.Letter // for it
	stopped bool
	exec    *exec.Execution // equal in all parts
	carrier *carrier
	lines   []string // description of its own nodes
}

func (w *world) part(t *rapid.T) *part {
	n, err := NewNetwork(w.setup)
	if err != nil {
		t.Fatal(err)
	}
	p := &part{Network: n, w: w}
	n.Net.Waits = fabric.NewWaitTable()
	n.Net.Trace = func(at unit.Time, what string, port int32, prio int) {
		p.say("trace port %d at %d: %s %d, cause %d", port, at, what, prio, n.Net.PauseCause(port, prio))
	}
	if w.jobs != nil {
		p.carrier = newCarrier(n, len(w.jobs.DAG.Ops))
		p.exec = exec.New(p.carrier, w.machine, w.jobs)
		p.carrier.exec = p.exec
	}
	n.Hosts.OnDeliver = func(m int32) {
		if _, dst := n.Hosts.Peers(n.Hosts.Messages[m].Conn); p.ownsNIC(dst) {
			p.say("message %d delivered at %d", m, n.Net.Q.Now())
		}
		if p.exec != nil {
			p.carrier.arrived(m)
		}
	}
	n.Hosts.OnFail = func(c int32, s rc.Status) {
		p.say("connection %d failed at %d: %v", c, n.Net.Q.Now(), s)
	}
	q := n.Net.Q
	for i := range w.posts {
		q.Push(engine.OfRun, w.posts[i].at, kindSend, int32(i), 0)
	}
	for i, b := range w.breaks {
		for step, at := range []unit.Time{b.at, b.avoid, b.mend, b.used} {
			q.Push(engine.OfRun, at, kindSet, int32(i), int32(step))
		}
	}
	for at := w.every; at < w.end; at += w.every {
		q.Push(engine.OfRun, at, kindLook, 0, 0)
	}
	return p
}

func (p *part) say(format string, args ...any) {
	p.lines = append(p.lines, fmt.Sprintf(format, args...))
}

// until runs the part up to a time, without the events at that time.
func (p *part) until(t unit.Time) {
	p.Net.Q.Push(engine.OfRun, t, kindStop, 0, 0)
	p.stopped = false
	p.RunUntil(&p.stopped, 1<<62, p.event)
}

func (p *part) event(e engine.Event) {
	switch e.Kind() {
	case kindSend:
		o := &p.w.posts[e.A]
		p.Hosts.Send(p.Conn(0, o.src, o.dst, o.tag), o.bytes, 0)
	case kindSet:
		switch link := p.w.breaks[e.A].link; e.B {
		case 0, 2:
			s := p.Net.Link(p.portA[link])
			if s.Up = e.B == 2; s.Up {
				s.BER = 1e-6 // the state differs from the initial one
			}
			p.SetLink(link, s)
		case 1, 3:
			p.Converge(link, e.B == 3)
		}
	case kindRing:
		p.carrier.ring(e)
	case kindLook:
		p.look()
	case kindStop:
		p.stopped = true
	}
}

// look reads what a sampler reads.
func (p *part) look() {
	now := p.Net.Q.Now()
	for i := range p.Net.Ports {
		port := int32(i)
		if op := &p.Net.Ports[i]; p.Net.Owns(op.Node) {
			p.say("port %d at %d: %d bytes out, %d frames, %d queued, paused %d, %x", port, now,
				p.Net.Sent(port), op.TxFrames, op.Queued, p.Net.PausedFor(port), op.Paused)
		}
	}
	for c := range int32(p.Hosts.Conns()) {
		src, dst := p.Hosts.Peers(c)
		if p.ownsNIC(src) {
			rate, _ := p.Hosts.Signal(now, c, cc.SignalRate)
			cuts, _ := p.Hosts.Counter(c, cc.CounterCuts)
			grants, _ := p.Hosts.Counter(c, "grants")
			p.say("sender %d at %d: port %d, rate %v, %d cuts, %d grants, %d again, held %d", c, now,
				p.Hosts.Port(c), rate, cuts, grants, p.Hosts.Retransmitted(c), p.Hosts.Held(c))
		}
		if p.ownsNIC(dst) {
			p.say("receiver %d at %d: %d bytes, %d marked", c, now, p.Hosts.Placed(c), p.Hosts.CEMarks(c))
		}
	}
}

func (p *part) ownsNIC(nic int32) bool {
	return p.Net.Owns(int32(p.Graph.Hosts[p.Graph.NICs[nic].Host]))
}

// close describes the final state.
func (p *part) close() {
	p.look()
	p.Hosts.Finish()
	for i := range p.Net.Ports {
		port := int32(i)
		if !p.Net.Owns(p.Net.Ports[i].Node) {
			continue
		}
		p.say("stats %d: %+v", port, p.Net.Stats[i])
		for c := range queue.Classes {
			total, headroom := p.Net.IngressPeak(port, c)
			p.say("peaks %d class %d: %v, %v, %v", port, c, p.Net.QueuePeak(port, c), total, headroom)
		}
	}
	for node := range p.Net.Sw {
		if s, ok := p.Net.Interface(int32(node)); ok && p.Net.Owns(int32(node)) {
			p.say("interface node %d: %+v", node, s)
		}
	}
	for i := range p.Hosts.Messages {
		m := &p.Hosts.Messages[i]
		if _, dst := p.Hosts.Peers(m.Conn); p.ownsNIC(dst) {
			p.say("message %d of connection %d: posted %d, done %d", i, m.Conn, m.Posted, m.Done)
		}
	}
	p.Net.Waits.Each(func(w fabric.Wait) {
		p.say("waits of %d at %d: %d in %d, most %d", w.QP, w.Port, w.Total, w.Samples, w.MaxQueue)
	})
}

// events counts the events of a run.
type events struct {
	fabric.Totals
	host.Counters
	Letters, Operations int64 // letters that crossed; operations that ended, at the end
	Reported            int64 // worlds in which switches write into packets
}

// run runs the world in parts, given the owner of each node, and returns the whole description.
func (w *world) run(t *rapid.T, parts int, owner []int) (said string, sum events) {
	all := make([]*part, parts)
	for i := range all {
		all[i] = w.part(t)
	}
	window := w.end
	for i, p := range all {
		if parts == 1 {
			break
		}
		p.Net.Split(func(node int32) bool { return owner[node] == i }, func(l fabric.Letter) {
			port, everybody := l.To()
			for k, to := range all {
				if everybody && k != i && w.jobs != nil || !everybody && k == owner[p.Net.Ports[port].Node] {
					to.mail = append(to.mail, l)
				}
			}
		})
		if window = min(window, p.Net.Lookahead()); w.jobs != nil {
			window = min(window, w.setup.Host.Latency)
		}
	}
	for _, p := range all {
		if p.exec != nil {
			p.exec.Begin()
		}
	}
	order := rand.New(rand.NewPCG(w.setup.Seed, 2))
	for now := unit.Time(0); now < w.end; {
		now = min(now+window, w.end)
		for _, p := range all {
			p.until(now)
		}
		for _, p := range all {
			order.Shuffle(len(p.mail), func(i, j int) { p.mail[i], p.mail[j] = p.mail[j], p.mail[i] })
			sum.Letters += int64(len(p.mail))
			for i := range p.mail {
				p.Net.Receive(&p.mail[i])
			}
			p.mail = p.mail[:0]
		}
	}
	var lines []string
	for i, p := range all {
		p.close()
		if x := p.exec; x != nil && i == 0 {
			sum.Operations = int64(len(x.DAG.Ops) - x.Left)
			lines = append(lines, fmt.Sprintf("begun %v, ended %v because of %v", x.Start, x.End, x.Cause))
		} else if x != nil && !slices.Equal(x.End, all[0].exec.End) {
			t.Errorf("part %d executes otherwise than part 0", i)
		}
		if err := p.Net.Audit(); err != nil {
			t.Error(err)
		}
		lines = append(lines, p.lines...)
		add(&sum.Totals, &p.Net.Totals)
		peak := max(sum.HeldPeak, p.Hosts.Count.HeldPeak)
		add(&sum.Counters, &p.Hosts.Count)
		sum.HeldPeak = peak
	}
	slices.Sort(lines)
	lines = append(lines, fmt.Sprintf("%+v", sum.Totals), fmt.Sprintf("%+v", sum.Counters))
	return strings.Join(lines, "\n"), sum
}

// add adds the counters of one struct to another's.
func add[T any](sum, x *T) {
	s, v := reflect.ValueOf(sum).Elem(), reflect.ValueOf(x).Elem()
	for i := range s.NumField() {
		s.Field(i).SetInt(s.Field(i).Int() + v.Field(i).Int())
	}
}

func TestPartsGiveTheSameBytes(t *testing.T) {
	var all events
	enough := func() bool {
		return min(all.Letters, all.Marks, all.Pauses, all.CorruptDrops, all.Retransmissions, all.OutOfOrder,
			all.Operations, all.Grants, all.Reported) > 0
	}
	drawUntil(t, enough, func(t *rapid.T) {
		w := drawWorld(t)
		nodes := len(w.setup.Graph.Nodes)
		whole, sum := w.run(t, 1, nil)
		add(&all.Totals, &sum.Totals)
		add(&all.Counters, &sum.Counters)
		all.Operations += sum.Operations
		if w.setup.Host.Services[0].Telemetry != roce.NoTelemetry {
			all.Reported++
		}
		for _, parts := range []int{2, 3, 4} {
			owners := rapid.SliceOfN(rapid.IntRange(0, parts-1), nodes, nodes)
			owner := owners.Draw(t, fmt.Sprintf("owners among %d", parts))
			got, sum := w.run(t, parts, owner)
			if got != whole {
				t.Fatalf("in %d parts: %s", parts, difference(whole, got))
			}
			all.Letters += sum.Letters
		}
	})
	t.Logf("%+v", all)
	if !enough() {
		t.Errorf("too little has happened to compare: %+v", all)
	}
}

// difference shows where two texts part.
func difference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range x {
		if i >= len(y) || x[i] != y[i] {
			return fmt.Sprintf("%d of %d lines are the same, then\n%s\nbecame\n%s", i, len(x), x[i],
				strings.Join(y[min(i, len(y)):min(i+1, len(y))], ""))
		}
	}
	return fmt.Sprintf("%d lines more", len(y)-len(x))
}
