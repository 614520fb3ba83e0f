package host

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"railyard/cc"
	"railyard/internal/fabric"
	"railyard/internal/queue"
	"railyard/internal/story"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// stage is a lab whose NICs are A, B and C, and its recorded events.
type stage struct {
	*lab
	*story.Page
	told []event
}

type event struct {
	at   unit.Time
	text string
}

// tell records an event; a frame's arrival is known before its time.
func (s *stage) tell(at unit.Time, format string, args ...any) {
	s.told = append(s.told, event{at, fmt.Sprintf(format, args...)})
}

func newStage(t *testing.T, preface string, change func(c *Config, q *queue.Spec), cables ...int) *stage {
	s := &stage{lab: newLab(t, change, cables...), Page: story.Open(preface)}
	name := map[int32]string{}
	for i, n := range s.nics {
		name[n.ports[0]] = fmt.Sprintf("%c", 'A'+i)
		name[s.Net.Ports[n.ports[0]].Peer] = fmt.Sprintf("the switch's port to %c", 'A'+i)
	}
	s.Net.Tap = func(at unit.Time, port int32, out bool, p *fabric.Packet) {
		what := fmt.Sprintf("%v %d", p.Opcode, p.PSN)
		if p.Opcode == roce.CNP {
			what = fmt.Sprintf("a CNP for queue pair %d", p.QP)
		}
		s.tell(at, "%s %s %s", name[port], map[bool]string{true: "sends", false: "gets"}[out], what)
	}
	s.Net.Trace = func(at unit.Time, what string, port int32, prio int) {
		switch {
		case what == "pause":
			s.tell(at, "%s stops sending priority %d", name[port], prio)
		case what == "resume":
			s.tell(at, "%s sends priority %d again", name[port], prio)
		case what == "mark" && s.Net.Marks == 1:
			s.tell(at, "%s marks the first packet CE", name[port])
		}
	}
	s.OnDeliver = func(m int32) {
		s.tell(s.Net.Q.Now(), "message %d of %v is in the GPU's memory", m+1, s.Messages[m].Bytes)
	}
	s.OnRate = func(c int32, r unit.Rate) { s.tell(s.Net.Q.Now(), "queue pair %d may send at %v", c, r) }
	return s
}

// asks posts a message now.
func (s *stage) asks(c int32, bytes unit.Bytes) {
	m := s.Send(c, bytes, 0)
	s.tell(s.Net.Q.Now(), "the GPU asks for message %d: %v on queue pair %d", m+1, bytes, c)
}

func (s *stage) check(name string) {
	slices.SortStableFunc(s.told, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	for _, e := range s.told {
		s.Tell(e.at, "%s", e.text)
	}
	s.Check(s.t, name)
}

func TestStories(t *testing.T) {
	t.Run("one-message", func(t *testing.T) {
		s := newStage(t, `
			One message through two NICs and a switch.
			The work request takes 300 ns to the NIC, a full packet 334 ns on a cable of 100 Gbit/s, a cable 500 ns;
			the switch waits for a packet's last bit before it sends the first. The receiving GPU sees the message
			300 ns after its last packet; the ACK is for the sender's queue pair alone.`, nil, 1, 1)
		for _, n := range s.nics {
			s.Net.TapPort(n.ports[0], true)
		}
		s.asks(s.connect(0, 1, 0), 5*4096)
		s.run(unit.Millisecond)
		s.check("one-message")
	})
	t.Run("incast-dcqcn", func(t *testing.T) {
		paper := cc.DCQCNPaper(rate)
		s := newStage(t, `
			Two senders, A and B, and one receiver, C: marks become CNPs, CNPs lower rates (SIGCOMM 2015, section 3).
			The switch marks above 10 KB. C sends a CNP at once for the first marked packet of a queue pair and then
			at most one in 50 us; the sender halves its rate and remembers, and its timer gives back half of what
			was lost after 55 us.`, func(c *Config, q *queue.Spec) {
			c.Services[0].CNPs = true
			c.Services[0].CC = func(p cc.Path) cc.Controller { return cc.NewDCQCN(&paper, p.Line) }
			q.Queues[3].WRED = queue.WRED{Min: 10 * unit.KB, Max: 20 * unit.KB, Probability: 1, ECN: true}
		}, 1, 1, 1)
		tap := s.Net.Tap
		s.Net.Tap = func(at unit.Time, port int32, out bool, p *fabric.Packet) {
			if p.Opcode == roce.CNP {
				tap(at, port, out, p)
			}
		}
		for _, n := range s.nics {
			s.Net.TapPort(n.ports[0], true)
		}
		for src := range int32(2) {
			s.asks(s.connect(src, 2, 0), unit.MB)
		}
		s.run(240 * unit.Microsecond)
		s.check("incast-dcqcn")
	})
	t.Run("slow-pcie", func(t *testing.T) {
		s := newStage(t, `
			PCIe at half the rate of the wire: the receiving NIC pauses its switch.
			What arrives faster than the GPU can be given waits in NIC B. Above 100 KB it pauses the switch, at 50 KB
			it resumes it. Nothing is lost, and the message takes as long as PCIe does.`, func(c *Config, _ *queue.Spec) {
			c.RxXOff, c.RxXOn = 100*unit.KB, 50*unit.KB
		}, 1, 1)
		s.Share(Bus{rate / 2, []int32{1}}) // the receiver's alone
		s.asks(s.connect(0, 1, 0), 500*unit.KB)
		s.run(100 * unit.Microsecond)
		s.tell(s.Messages[0].Done, "PCIe alone takes %v, the wire %v",
			unit.Serialize(500*unit.KB, rate/2), unit.Serialize(500*unit.KB, rate))
		s.check("slow-pcie")
	})
	t.Run("bundle-loses-a-port", func(t *testing.T) {
		s := newStage(t, `
			A NIC with two ports loses one: what its cable was given goes again by the other.
			Each packet takes the port that is free. At 2 us the first cable breaks, 112 and 114 are sent into it, and
			at 5 us routing has noticed. B keeps what comes behind a gap and says so when a packet asks (selective
			repeat, MSN = offset<<8 | count, rc/doc.go). Nothing more overtakes them, so A waits for IRN's RTO.`,
			func(c *Config, _ *queue.Spec) {
				c.Bond = BondSpray
				c.RC.Recovery, c.RC.Window, c.RC.NakAfter, c.RC.WriteOnly = rc.Selective, 64, 2, true
			}, 2, 1)
		ports := s.nics[0].ports
		s.Net.Tap = func(at unit.Time, port int32, out bool, p *fabric.Packet) {
			if out {
				again := map[bool]string{true: " again"}[p.Flags&fabric.FlagAgain != 0]
				s.tell(at, "A sends %d%s by port %d", p.PSN, again, 1+slices.Index(ports, port))
			} else {
				s.tell(at, "A gets %v %d, MSN %#x", p.Synd, p.PSN, p.Len)
			}
		}
		for _, p := range ports {
			s.Net.TapPort(p, true)
		}
		s.asks(s.connect(0, 1, 0), 16*4096)
		s.run(2 * unit.Microsecond)
		s.tell(s.Net.Q.Now(), "A's first cable breaks")
		s.Net.SetLink(ports[0], fabric.LinkState{Up: false, Rate: 100 * unit.Gbps})
		s.run(5 * unit.Microsecond)
		s.tell(s.Net.Q.Now(), "routing has noticed: A may use its second port alone")
		s.Rebond(func(_, _ int32) []int32 { return ports[1:] })
		s.run(10 * unit.Millisecond)
		s.check("bundle-loses-a-port")
	})
}
