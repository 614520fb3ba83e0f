package host

import (
	"testing"

	"pgregory.net/rapid"

	"railyard/cc"
	"railyard/internal/fabric"
	"railyard/internal/queue"
	"railyard/internal/rng"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// onCredit sets a lab's service to EQDS.
func onCredit(c *Config, profile string, change func(v cc.Values)) {
	a := cc.Lookup("eqds")
	v := a.Profile(profile).Values(rate)
	if change != nil {
		change(v)
	}
	c.Services[0].CC, c.Services[0].Credit = a.New(v), a.Credit(v)
}

func TestCreditStory(t *testing.T) {
	s := newStage(t, `
		A and B each write 5 packets to C, 1 us apart, and may send nothing unasked. C grants one packet at
		a time, in turn, at 0.99 of its line. B's second grant is lost on its way, which its third makes good.
		Then its fourth and fifth are lost, too: B asks again once it has waited for twice as long as grants
		were apart, and is told again.`,
		func(c *Config, _ *queue.Spec) { onCredit(c, "request", nil) }, 1, 1, 1)
	a, b := s.connect(0, 2, 0), s.connect(1, 2, 0)
	name := map[int32]string{a: "A", b: "B"}
	s.Net.Tap = func(at unit.Time, port int32, out bool, p *fabric.Packet) {
		switch {
		case !out && p.Dst == 2 && p.Opcode == roce.CreditRequest:
			s.tell(at, "C hears that %s wants %v", name[p.QP], unit.Bytes(p.VA))
		case !out && p.Dst != 2 && p.Opcode == roce.CreditGrant:
			s.tell(at, "%s is granted %v in all", name[p.QP], unit.Bytes(p.VA))
		case !out && p.Payload > 0:
			s.tell(at, "%s's packet %d comes in at C", name[p.QP], p.PSN-100)
		}
	}
	for _, n := range s.nics {
		s.Net.TapPort(n.ports[0], true)
	}
	grants := 0
	s.Net.FaultPort(s.nics[2].ports[0])
	s.Net.Fault = func(_ int32, p *fabric.Packet) fabric.Fate {
		if p.Opcode != roce.CreditGrant || p.QP != b {
			return fabric.Fate{}
		}
		if grants++; grants != 2 && grants != 4 && grants != 5 {
			return fabric.Fate{}
		}
		s.tell(s.Net.Q.Now(), "C grants B %v; the grant is lost", unit.Bytes(p.VA))
		return fabric.Fate{Lost: true}
	}
	s.asks(a, 5*4096)
	s.run(unit.Microsecond)
	s.asks(b, 5*4096)
	s.run(unit.Millisecond)
	s.check("credit")
}

// The path loses random data, acknowledgements, requests and grants. Every message arrives, and no receiver grants
// more than its line rate permits. Arriving bytes do not exceed the grants plus the unsolicited parts.
func TestCreditUnderLoss(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		between := func(what string, low, high int) int { return rapid.IntRange(low, high).Draw(rt, what) }
		share, unasked := float64(between("share", 10, 100))/100, float64(between("unasked", 0, 4))/2
		cables := rapid.SliceOfN(rapid.IntRange(1, 2), 2, 5).Draw(rt, "cables")
		l := newLab(t, func(c *Config, _ *queue.Spec) {
			c.RC.Retries, c.Bond = 7, Bond(between("bond", 0, 2))
			if c.Bond == BondSpray || between("selective", 0, 1) == 1 {
				c.RC.Recovery, c.RC.Window, c.RC.NakAfter, c.RC.WriteOnly = rc.Selective, 512, 64, true
			}
			onCredit(c, "request", func(v cc.Values) {
				v["share"], v["unasked"], v["grant"] = share, unasked, between("grant", 1, 6)
			})
		}, cables...)
		loss, luck := between("loss", 0, 5), rng.New(rapid.Uint64().Draw(rt, "seed"), "luck")
		l.Net.Fault = func(int32, *fabric.Packet) fabric.Fate {
			return fabric.Fate{Lost: luck.Intn(100) < loss}
		}
		for _, n := range l.nics {
			for _, p := range n.ports {
				l.Net.FaultPort(p)
			}
		}
		n, messages, bytes := int32(len(cables)), 0, make([]unit.Bytes, 0, 8)
		for i := range between("connections", 1, 8) {
			dst := int32(between("to", 0, int(n)-1))
			l.connect((dst+1+int32(between("from", 0, int(n)-2)))%n, dst, int32(i))
			bytes = append(bytes, 0)
		}
		at := unit.Time(0)
		for range between("messages", 1, 20) {
			c := between("by", 0, len(bytes)-1)
			size := unit.Bytes(between("bytes", 1, 100_000))
			l.Send(int32(c), size, 0)
			bytes[c] += size
			messages++
			at += unit.Time(between("after", 0, 20)) * unit.Microsecond
			l.run(at)
			l.checkCredit(rt, share)
		}
		for range 40 {
			at += 5 * unit.Millisecond
			l.run(at)
			l.checkCredit(rt, share)
		}
		if len(l.ends) != messages || len(l.lost) > 0 {
			rt.Fatalf("%d of %d messages ended, %v", len(l.ends), messages, l.lost)
		}
		for c, want := range bytes {
			if got := l.Placed(int32(c)); got != want {
				rt.Fatalf("connection %d placed %v of %v", c, got, want)
			}
		}
	})
}

// checkCredit checks receivers' grants against their line rates, and senders' credit against their windows.
func (l *lab) checkCredit(rt *rapid.T, share float64) {
	now := l.Net.Q.Now()
	for i, n := range l.nics {
		if n.granter == nil {
			continue
		}
		sum := unit.Bytes(0)
		for flow, c := range n.granter.conns {
			sum += n.granter.Granted(int32(flow))
			account := l.Controller(c).(cc.Credited).Credit()
			if left := account.Left(); left > unit.Bytes(l.senders[c].pace.Ahead()) {
				rt.Fatalf("%v: connection %d holds %v of credit", now, c, left)
			}
		}
		line := unit.Rate(float64(rate*unit.Rate(len(n.ports))) * share)
		if most := unit.InTime(line, now) + 6*unit.Bytes(l.cfg.RC.Wire()); sum > most {
			rt.Fatalf("%v: NIC %d has granted %v, its line takes %v", now, i, sum, most)
		}
	}
}

// The grants of a NIC follow its ports: both of a bundle, the remaining one, or PCIe if that is slower.
func TestIntake(t *testing.T) {
	l := newLab(t, func(c *Config, _ *queue.Spec) { onCredit(c, "request", nil) }, 2, 1)
	n := &l.nics[0]
	want := func(r unit.Rate, what string) {
		t.Helper()
		if got := l.intake(n); got != r {
			t.Errorf("%s: it takes in %v, want %v", what, got, r)
		}
	}
	want(2*rate, "two ports")
	l.Net.SetLink(n.ports[0], fabric.LinkState{Rate: rate})
	want(rate, "one of them broken")
	l.Net.SetLink(n.ports[1], fabric.LinkState{Up: true, Rate: rate / 4})
	want(rate/4, "the other at a quarter")
	l.Net.SetLink(n.ports[1], fabric.LinkState{Rate: rate})
	want(rate, "none: a grant is lost as ever")
	l.Share(Bus{rate / 2, []int32{0}})
	want(rate/2, "behind PCIe of half a port")
}
