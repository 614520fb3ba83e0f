package host

import (
	"testing"

	"railyard/cc"
	"railyard/internal/fabric"
	"railyard/internal/queue"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// pulled sets a lab's service to NDP and enables trimming at the switch. Its data queue holds three packets;
// further data are trimmed to 128 bytes and use the strict class of CNPs.
func pulled(c *Config, s *queue.Spec) {
	a := cc.Lookup("ndp")
	v := a.Profile("").Values(rate)
	c.Services[0].CC, c.Services[0].Credit = a.New(v), a.Credit(v)
	c.RC.Recovery, c.RC.Window, c.RC.NakAfter, c.RC.AckEvery = rc.Selective, 64, 64, 1
	s.Queues[3] = queue.Class{Weight: 50, Trim: true, Limit: 3 * 4200}
	s.Trim = queue.Trim{Size: 128, DSCP: 48, LastHop: 48}
}

func TestNDPStory(t *testing.T) {
	s := newStage(t, `
		A and B each write 6 packets to C at the same time, unasked as far as their windows go. The switch has
		room for three packets on the way to C: others are cut to their headers, which overtake what waits.
		C answers each of them with a NAK at once, and pulls a packet for whatever comes, whole or not, at
		0.99 of its line, A and B in turn. What was trimmed goes again when it is pulled, and finds room.`,
		pulled, 1, 1, 1)
	a, b := s.connect(0, 2, 0), s.connect(1, 2, 0)
	name := map[int32]string{a: "A", b: "B"}
	s.Net.Tap = func(at unit.Time, port int32, out bool, p *fabric.Packet) {
		who, n := name[p.QP], p.PSN-100
		switch {
		case !out && p.Dst == 2 && p.Flags&fabric.FlagTrimmed != 0:
			s.tell(at, "the headers of %s's packet %d come in at C", who, n)
		case !out && p.Dst == 2 && p.Payload > 0:
			s.tell(at, "%s's packet %d comes in at C", who, n)
		case !out && p.Dst != 2 && p.Opcode == roce.CreditGrant:
			s.tell(at, "    %s is pulled, %v in all", who, unit.Bytes(p.VA))
		case !out && p.Dst != 2 && (p.Synd == roce.NakTrimmed || p.Synd == roce.NakTrimmedLast):
			said := rc.Packet{Opcode: p.Opcode, Syndrome: p.Synd, PSN: p.PSN, MSN: p.Len}
			first, _ := said.Missing()
			s.tell(at, "    %s hears that packet %d was trimmed", who, first-100)
		}
	}
	for _, n := range s.nics {
		s.Net.TapPort(n.ports[0], true)
	}
	s.asks(a, 6*4096)
	s.asks(b, 6*4096)
	s.run(unit.Millisecond)
	s.check("ndp")
	if s.Net.Trims == 0 || s.Net.Drops != 0 {
		t.Errorf("%d trims, %d drops", s.Net.Trims, s.Net.Drops)
	}
}
