package protocols

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/internal/story"
	"railyard/transport"
	"railyard/transport/transporttest"
	"railyard/unit"
)

// phase is the network's behaviour from a time on.
type phase struct {
	name string
	do   func(n *transporttest.Net)
}

// all changes every path of a direction.
func all(n *transporttest.Net, dir int, change func(plane, i int, p *transporttest.Path)) {
	for plane := range n.Paths[dir] {
		for i := range n.Paths[dir][plane] {
			change(plane, i, &n.Paths[dir][plane][i])
		}
	}
}

// weather is the conditions for packets, 100 us each: first a quiet network, then each fault, then a quiet network
// again.
var weather = []phase{
	{"quiet", func(*transporttest.Net) {}},
	{"one in fifty is lost", func(n *transporttest.Net) {
		all(n, transporttest.There, func(_, _ int, p *transporttest.Path) { p.Loss = 0.02 })
	}},
	{"answers are lost", func(n *transporttest.Net) {
		all(n, transporttest.There, func(_, _ int, p *transporttest.Path) { p.Loss = 0 })
		all(n, transporttest.Back, func(_, _ int, p *transporttest.Path) { p.Loss = 0.1 })
	}},
	{"marks", func(n *transporttest.Net) {
		all(n, transporttest.Back, func(_, _ int, p *transporttest.Path) { p.Loss = 0 })
		all(n, transporttest.There, func(_, i int, p *transporttest.Path) { p.Mark = 0.3 * float64(1+i%2) })
	}},
	{"trimming", func(n *transporttest.Net) {
		all(n, transporttest.There, func(_, _ int, p *transporttest.Path) { p.Mark, p.Trim = 0, 0.05 })
	}},
	{"reordering, copies", func(n *transporttest.Net) {
		all(n, transporttest.There, func(_, _ int, p *transporttest.Path) {
			p.Trim, p.Jitter, p.Repeat = 0, 8*unit.Microsecond, 0.05
		})
	}},
	{"slow paths", func(n *transporttest.Net) {
		all(n, transporttest.There, func(_, i int, p *transporttest.Path) {
			p.Jitter, p.Repeat, p.Delay = 0, 0, unit.Time(5+20*i)*unit.Microsecond
		})
	}},
	{"a path is dead", func(n *transporttest.Net) {
		all(n, transporttest.There, func(plane, i int, p *transporttest.Path) {
			p.Delay, p.Dead = 5*unit.Microsecond, plane == 0 && i == 1
		})
	}},
	{"a plane goes down", func(n *transporttest.Net) {
		if len(n.Paths[transporttest.There]) > 1 {
			n.PlaneIs(transporttest.There, 1, false)
		}
	}},
	{"the receiver's, too", func(n *transporttest.Net) {
		if planes := len(n.Paths[transporttest.There]); planes > 1 {
			n.PlaneIs(transporttest.Back, planes-1, false)
		}
	}},
	{"all is dead", func(n *transporttest.Net) {
		all(n, transporttest.There, func(_, _ int, p *transporttest.Path) { p.Dead = true })
	}},
	{"all is well", func(n *transporttest.Net) {
		all(n, transporttest.There, func(_, _ int, p *transporttest.Path) { p.Dead = false })
		for nic, plane := range []int{1, len(n.Paths[transporttest.There]) - 1} {
			if len(n.Paths[transporttest.There]) > 1 {
				n.PlaneIs(nic, plane, true)
			}
		}
	}},
}

// TestSchedules compares each protocol with a transcript in testdata. It has the counters and the state of its ends
// after each kind of fault, and a checksum over all packets and their times, on one plane and on four.
func TestSchedules(t *testing.T) {
	for _, proto := range All {
		var text strings.Builder
		for _, planes := range []int{1, 4} {
			for _, long := range []bool{true, false} {
				set := transporttest.Setup{Protocol: proto, Planes: planes, Paths: 4, Conns: 2, MTU: 1024, Seed: 11}
				n := transporttest.New(set)
				fmt.Fprintf(&text, "# %s on %d planes, long messages %v\n", proto.Name, planes, long)
				var sent [2]int64
				for _, w := range weather {
					w.do(n)
					for step := range 10 {
						for conn := range set.Conns {
							switch {
							case long && step == 0:
								n.Post(conn, 400_000, conn == 0)
							case !long:
								n.Post(conn, []int64{0, 1, 1023, 1025, 5000, 20_000}[(step+conn)%6], step%3 == 0)
							}
						}
						n.Until(n.Now + 10*unit.Microsecond)
					}
					if n.Fault != "" {
						t.Fatalf("%s: %s", proto.Name, n.Fault)
					}
					fmt.Fprintf(&text, "%-22s %5d sent, %4d back", w.name, n.Sent[0]-sent[0], n.Sent[1]-sent[1])
					sent = n.Sent
					tellEnds(&text, n, proto)
				}
				for end := n.Now + unit.Second; !n.Done() && n.Fault == "" && n.Now < end; {
					n.Until(n.Now + 10*unit.Microsecond)
				}
				if n.Fault != "" || !n.Done() {
					t.Errorf("%s on %d planes is not done: %s", proto.Name, planes, n.Fault)
				}
				done := fmt.Sprintf("done after %v", n.Now)
				fmt.Fprintf(&text, "%-22s %5d sent, %4d back", done, n.Sent[0]-sent[0], n.Sent[1]-sent[1])
				tellEnds(&text, n, proto)
			}
		}
		story.Check(t, proto.Name, text.String())
	}
}

// tellEnds writes the counters and signals of the first connection's ends, and the checksum.
func tellEnds(text *strings.Builder, n *transporttest.Net, proto *transport.Protocol) {
	s, r := n.Sender(0), n.Receiver(0)
	fmt.Fprintf(text, ", %d again, %d in flight", n.Again, s.InFlight())
	h := s.Held(n.Now)
	fmt.Fprintf(text, ", held %v %v %v", h.Pace, h.Window, h.Credit)
	for _, x := range proto.Signals {
		v, _ := s.Signal(n.Now, x.Name)
		fmt.Fprintf(text, ", %s %.5g", x.Name, v)
	}
	names := []string{transport.CounterTimeouts, transport.CounterReordered, transport.CounterDuplicates,
		transport.CounterHeldPeak, transport.CounterPlaced}
	for _, x := range proto.Counters {
		if !slices.Contains(names, x.Name) {
			names = append(names, x.Name)
		}
	}
	for _, name := range names {
		a, _ := s.Counter(name)
		b, _ := r.Counter(name)
		if a != 0 || b != 0 {
			fmt.Fprintf(text, ", %s %d/%d", name, a, b)
		}
	}
	fmt.Fprintf(text, "  [%016x]\n", n.Sum)
}
