// Package transporttest is the conformance suite that every transport.Protocol passes: the assumptions of a NIC
// about the protocol of its connections.
//
// It has its own small network (net.go): planes with paths. A path has a delay, and shares of packets that are
// lost, marked, trimmed, repeated or late. Paths fail and recover. A ledger (ledger.go) records all posted requests
// and checks both ends against them.
package transporttest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"railyard/cc"
	"railyard/param"
	"railyard/transport"
	"railyard/unit"

	"pgregory.net/rapid"
)

// Suite is a protocol and the settings of its tests.
type Suite struct {
	Protocol *transport.Protocol
	Values   param.Values                // nil: the defaults
	Patience unit.Time                   // time after the last fault within which all is complete [1 s]
	Quiet    unit.Time                   // time after that until both ends are idle [1 s]
	Planes   []int                       // [1, 2, 4]
	Carry    func(p *transport.Packet)   // as Setup's
	Adjust   func(s *Setup, seed uint64) // changes the network of a random schedule
}

// Run checks a protocol. Under any treatment of packets, while one path to each end works:
//
//   - no byte is placed twice, outside its message, or not at all; no message arrives or completes before all
//     its bytes are placed, twice, or, where the protocol promises order, before an earlier one;
//   - what is in flight is never more than what is posted and not complete, and nothing in the end;
//   - once faults have ended all messages complete, and both ends fall silent;
//   - closed ends (transport.Closer) take copies of what was sent, and nothing is placed again;
//   - Next does what Ready says, for the plane that it is asked for;
//   - At is not in the past for ever, and Say ends;
//   - the same seed gives the same packets at the same times;
//   - a long message over a quiet path fills the better part of it, and nothing of it goes twice;
//   - packets allocate nothing;
//   - a peer that sends anything at all makes neither end panic, hang or talk without end;
//   - the signals and counters that the protocol lists are reported, and no others; counters never fall.
func Run(t *testing.T, s Suite) {
	if s.Patience == 0 {
		s.Patience = unit.Second
	}
	if s.Quiet == 0 {
		s.Quiet = unit.Second
	}
	if s.Planes == nil {
		s.Planes = []int{1, 2, 4}
	}
	if s.Values == nil {
		s.Values = s.Protocol.Defaults
	}
	for _, c := range []struct {
		name  string
		check func(t *testing.T)
	}{
		{"description", s.description}, {"quiet network", s.quiet}, {"one fault", s.faults},
		{"schedules", func(t *testing.T) { rapid.Check(t, s.schedule) }},
		{"hostile peer", s.hostile}, {"allocates nothing", s.allocates},
	} {
		if !t.Run(c.name, c.check) {
			return // later checks rely on it
		}
	}
}

// description compares a protocol's description with its behaviour.
func (s *Suite) description(t *testing.T) {
	p := s.Protocol
	if p.Name == "" || p.Title == "" || p.Words == "" {
		t.Errorf("it has no name, title or words: %q, %q, %q", p.Name, p.Title, p.Words)
	}
	if err := p.Defaults.Fits(p.Params); err != nil {
		t.Errorf("the defaults are not those of the parameters: %v", err)
	}
	common := transport.Common{MTU: 1024, Planes: s.Planes[0]}
	if p.Check != nil {
		if name, fault := p.Check(s.Values, common); fault != "" {
			t.Errorf("the values are refused: %s %s", name, fault)
		}
	}
	for _, terms := range [][]cc.Term{p.Signals, p.Counters} {
		for i, x := range terms {
			if x.Name == "" || x.Doc == "" || lists(terms[:i], x.Name) {
				t.Errorf("%q has no name, no doc, or is listed twice", x.Name)
			}
		}
	}
	conn, peer := p.New(s.Values, common).State()
	if conn <= 0 || peer < 0 {
		t.Errorf("a connection takes %d bytes and a peer %d", conn, peer)
	}
}

func lists(terms []cc.Term, name string) bool {
	return slices.ContainsFunc(terms, func(t cc.Term) bool { return t.Name == name })
}

// default sizes of messages: with a packet's edges.
var sizes = []int64{0, 1, 1023, 1024, 1025, 30_000, 2048, 100_000}

// mostOver is the maximum time of a long message on a quiet path, as a multiple of its time on the wire.
const mostOver = 2

func (s *Suite) quiet(t *testing.T) {
	for _, planes := range s.Planes {
		n := New(Setup{Protocol: s.Protocol, Values: s.Values, Planes: planes, Conns: 3, Carry: s.Carry})
		for i := range n.conns {
			for j, size := range sizes {
				n.Post(i, size, j%3 == 1)
			}
		}
		s.finish(t, n, 0)
		if n.Again > 0 {
			t.Errorf("%d packets go again on %d planes where none is lost", n.Again, planes)
		}
		const long = 8 << 20
		n = New(Setup{Protocol: s.Protocol, Values: s.Values, Planes: planes, Conns: 1, Carry: s.Carry})
		n.Post(0, long, false)
		s.finish(t, n, 0)
		if ideal := unit.Serialize(long, n.set.Line) + 2*n.set.Delay; n.Now > mostOver*ideal {
			t.Errorf("%v take %v on %d planes, and %v at the rate of the line", unit.Bytes(long), n.Now,
				planes, ideal)
		}
	}
}

// finish runs a network until everything is complete, which must be within patience of the last fault, and then
// until it is silent. Now is when the last message was known to be complete.
func (s *Suite) finish(t fataler, n *Net, lastFault unit.Time) {
	t.Helper()
	end := lastFault + s.Patience
	for n.Fault == "" && !n.Done() {
		if n.Now >= end {
			t.Fatalf("%v after the last fault: %s", n.Now-lastFault, n.left())
		}
		if !n.Until(min(end, n.next())) && !n.Done() {
			t.Fatalf("at %v nothing more will happen: %s", n.Now, n.left())
		}
	}
	done := n.Now
	if n.Fault == "" && n.Until(done+s.Quiet) {
		if n.Fault == "" {
			t.Fatalf("%v after all is complete the next thing happens at %v", n.Now-done, n.next())
		}
	}
	if n.Fault != "" {
		t.Fatalf("%s", n.Fault)
	}
	n.Now = done
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// left returns what is incomplete.
func (n *Net) left() string {
	for i, c := range n.conns {
		if c.completed < len(c.messages) || c.arrived < len(c.messages) {
			return fmt.Sprintf("connection %d has %d of %d messages complete and %d arrived, %v in flight, ticks at %v and %v", i, c.completed, len(c.messages), c.arrived,
				c.sender.InFlight(), c.sender.At(), c.receiver.At())
		}
	}
	return fmt.Sprintf("%d messages are neither in memory nor out of it", n.conns[0].open)
}

// faults tries each kind of fault alone.
func (s *Suite) faults(t *testing.T) {
	const ms = unit.Millisecond
	planes := s.Planes[len(s.Planes)-1]
	all := func(f func(p *Path)) func(n *Net) {
		return func(n *Net) {
			for dir := range n.Paths {
				for plane := range n.Paths[dir] {
					for i := range n.Paths[dir][plane] {
						f(&n.Paths[dir][plane][i])
					}
				}
			}
		}
	}
	kinds := map[string]func(n *Net){
		"loss":               all(func(p *Path) { p.Loss = 0.02 }),
		"marks":              all(func(p *Path) { p.Mark = 0.3 }),
		"trimming":           all(func(p *Path) { p.Trim = 0.05 }),
		"repetition":         all(func(p *Path) { p.Repeat = 0.2 }),
		"reordering":         all(func(p *Path) { p.Jitter = 30 * unit.Microsecond }),
		"dead path":          func(n *Net) { n.Paths[There][0][0].Dead = true },
		"dead answers' path": func(n *Net) { n.Paths[Back][len(n.Paths[Back])-1][1].Dead = true },
		"own port":           func(n *Net) { n.PlaneIs(There, 1, false) },
		"far port":           func(n *Net) { n.PlaneIs(Back, 1, false) },
		"any order":          func(n *Net) { n.Paths[There][planes-1][0].Delay = 200 * unit.Microsecond },
	}
	if planes == 1 {
		delete(kinds, "own port")
		delete(kinds, "far port")
	}
	for name, begin := range kinds {
		t.Run(name, func(t *testing.T) {
			n := New(Setup{Protocol: s.Protocol, Values: s.Values, Planes: planes, Paths: 3, Conns: 2,
				Seed: 5, Carry: s.Carry})
			for i := range n.conns {
				n.Post(i, 1<<20, i == 1)
			}
			n.Until(20 * unit.Microsecond)
			begin(n)
			n.Until(3 * ms)
			for i := range n.conns {
				n.Post(i, 50_000, false)
			}
			n.Until(4 * ms)
			n.heal()
			s.finish(t, n, n.Now)
		})
	}
}

// heal ends all faults.
func (n *Net) heal() {
	for dir := range n.Paths {
		for plane := range n.Paths[dir] {
			for i := range n.Paths[dir][plane] {
				n.Paths[dir][plane][i] = Path{Delay: n.set.Delay}
			}
		}
	}
	for nic := range n.up {
		for plane, up := range n.up[nic] {
			if !up {
				n.PlaneIs(nic, plane, true)
			}
		}
	}
}

// checkReports compares an end's signals and counters with the protocol's lists.
func (s *Suite) checkReports(t fataler, n *Net, counted map[string]int64) {
	t.Helper()
	names := append(slices.Clone(s.Protocol.Counters), s.Protocol.Signals...)
	for _, x := range append(names, cc.Term{Name: "unheard of"}) {
		total, known := int64(0), false
		for _, c := range n.conns {
			v, ok := c.sender.Signal(n.Now, x.Name)
			if ok != lists(s.Protocol.Signals, x.Name) || math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("signal %s is %v, reported %v", x.Name, v, ok)
			}
			for _, e := range []transport.End{c.sender, c.receiver} {
				k, ok := e.Counter(x.Name)
				total, known = total+k, known || ok
			}
		}
		if known != lists(s.Protocol.Counters, x.Name) || total < counted[x.Name] {
			t.Fatalf("counter %s is %d after %d, reported %v", x.Name, total, counted[x.Name], known)
		}
		counted[x.Name] = total
	}
}
