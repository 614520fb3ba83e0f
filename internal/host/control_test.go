package host

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"railyard/internal/fabric"
	"railyard/internal/queue"
	"railyard/roce"
	"railyard/unit"
)

// Two kinds of control packets with opcodes from the manufacturer's range, used by this test only.
const (
	opProbe roce.Opcode = 0xf0 + iota
	opGrant
)

// A kind of control packet is an opcode, a Taker and a call; rx and tx need no change.
func TestControlStory(t *testing.T) {
	s := newStage(t, `
		A probe passes data, and the grant that answers it passes a pause: control has its own class.
		A sends 40 packets to B. At 3 us its sender asks how B is: the probe (100 bytes, DSCP 48, class 7)
		leaves behind the packet on the wire. B's Taker answers with a grant (80 bytes, class 6), though the
		switch has paused its class of data and ACKs: those wait.`,
		func(_ *Config, q *queue.Spec) { q.DSCP[46] = 6 }, 1, 1)
	c := s.connect(0, 1, 0)
	s.Take(opProbe, func(h *Hosts, port int32, p *fabric.Packet) {
		s.tell(h.Net.Q.Now(), "B takes probe %d of queue pair %d, which A sent at %v", p.PSN, p.QP, p.Sent)
		h.Control(port, h.ToSender(p.QP), 6,
			&fabric.Packet{Opcode: opGrant, Size: 80, TOS: 46 << 2, VA: 1 << 20, Sent: p.Sent})
	})
	s.Take(opGrant, func(h *Hosts, _ int32, p *fabric.Packet) {
		now := h.Net.Q.Now()
		s.tell(now, "A is granted %v: %v after its probe", unit.Bytes(p.VA), now-p.Sent)
	})
	name := map[roce.Opcode]string{opProbe: "the probe", opGrant: "the grant", roce.Acknowledge: "an ACK"}
	s.Net.Tap = func(at unit.Time, port int32, out bool, p *fabric.Packet) {
		if what, ok := name[p.Opcode]; ok && out {
			s.tell(at, "%c sends %s, class %d", 'A'+port/2, what, p.Class)
		}
	}
	s.Net.TapPFC = func(unit.Time, int32, bool, int, int) {} // Trace reports when a pause takes effect
	for _, n := range s.nics {
		s.Net.TapPort(n.ports[0], true)
	}
	s.asks(c, 40*4096)
	s.run(3 * unit.Microsecond)
	s.Net.SendPause(s.Net.Ports[s.nics[1].ports[0]].Peer, 3)
	s.Control(s.Port(c), s.ToReceiver(c), 7,
		&fabric.Packet{Opcode: opProbe, Size: 100, TOS: 48 << 2, PSN: 1, Sent: s.Net.Q.Now()})
	s.run(10 * unit.Microsecond)
	s.Net.SendResume(s.Net.Ports[s.nics[1].ports[0]].Peer, 3)
	s.run(unit.Millisecond)
	s.check("probe-and-grant")
}

// NICs send random control packets, to queue pairs and to NICs, in any class, with data and under pauses. Each
// arrives once, unchanged, at its destination. Packets of one class between two NICs arrive in order.
func TestControlArrives(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 4).Draw(rt, "NICs")
		l := newLab(t, func(_ *Config, s *queue.Spec) {
			for c := range s.Queues {
				s.DSCP[8*c] = uint8(c)
			}
		}, make1(n)...)
		for c := range l.nics {
			l.Send(l.connect(int32(c), int32(c+1)%int32(n), 0), 200*unit.KB, 0)
		}
		type key struct{ src, dst, class int }
		sent, got := map[key][]uint32{}, map[key][]uint32{}
		l.Take(opProbe, func(h *Hosts, port int32, p *fabric.Packet) {
			src := From(p)
			if src < 0 {
				if src, _ = h.Peers(p.QP); src == p.Dst {
					_, src = h.Peers(p.QP)
				}
			}
			if h.Ports(p.Dst)[0] != port || uint32(p.Size) != 64+p.PSN%1000 || p.VA != uint64(p.PSN)<<20 {
				rt.Fatalf("probe %d is damaged: %+v", p.PSN, *p)
			}
			k := key{int(src), int(p.Dst), int(p.TOS >> 5)}
			got[k] = append(got[k], p.PSN)
		})
		at := unit.Time(0)
		for i := range rapid.IntRange(1, 60).Draw(rt, "packets") {
			at += unit.Time(rapid.IntRange(0, 900).Draw(rt, "after")) * unit.Nanosecond
			l.run(at)
			src := int32(rapid.IntRange(0, n-1).Draw(rt, "from"))
			class := uint8(rapid.IntRange(0, 7).Draw(rt, "class"))
			port := l.Ports(src)[0]
			dst := (src + 1) % int32(n)
			var to Address
			switch rapid.IntRange(0, 2).Draw(rt, "to") {
			case 0:
				to = l.ToReceiver(src) // connection i goes from NIC i to the next NIC
			case 1:
				dst = (src + int32(n) - 1) % int32(n)
				to = l.ToSender(dst)
			default:
				to = l.ToNIC(src, dst, uint32(i))
			}
			psn := uint32(i)
			l.Control(port, to, class, &fabric.Packet{Opcode: opProbe, Size: uint16(64 + psn%1000),
				TOS: class << 5, PSN: psn, VA: uint64(psn) << 20})
			k := key{int(src), int(dst), int(class)}
			sent[k] = append(sent[k], psn)
			if paused := l.Net.Ports[port].Peer; rapid.IntRange(0, 9).Draw(rt, "pause") == 0 {
				l.Net.SendPause(paused, int(class))
				l.run(at + unit.Microsecond)
				l.Net.SendResume(paused, int(class))
				at += unit.Microsecond
			}
		}
		l.run(at + unit.Millisecond)
		if fmt.Sprint(sent) != fmt.Sprint(got) {
			rt.Fatalf("sent %v, arrived %v", sent, got)
		}
		if len(l.ends) != n || l.Net.InUse() != 0 || l.Net.Drops != 0 {
			rt.Fatalf("%d of %d messages ended; %d packets are left, %d lost", len(l.ends), n,
				l.Net.InUse(), l.Net.Drops)
		}
	})
}

func make1(n int) []int { return slices.Repeat([]int{1}, n) }

// A packet without a registered Taker is a bug of the program; the panic names its opcode.
func TestUnclaimedControl(t *testing.T) {
	l := newLab(t, nil, 1, 1)
	l.Control(l.Ports(0)[0], l.ToNIC(0, 1, 0), 7, &fabric.Packet{Opcode: opGrant, Size: 64})
	defer func() {
		if said := fmt.Sprint(recover()); said != "host: nobody takes packets of opcode 0xf1" {
			t.Error(said)
		}
	}()
	l.run(unit.Millisecond)
}
