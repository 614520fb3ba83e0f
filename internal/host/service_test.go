package host

import (
	"math"
	"testing"

	"railyard/cc"
	"railyard/internal/fabric"
	"railyard/internal/queue"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// twoServices are a bulk service in class 3 with DCQCN, if marks are on, and a plain one in class 4 without
// congestion control. NICs and switches schedule by their weights.
func twoServices(bulk, plain int, strict uint8, marks bool) func(*Config, *queue.Spec) {
	return func(c *Config, s *queue.Spec) {
		c.RC.Timeout = rc.LocalAckTimeout(14)
		c.Services = append(c.Services, Service{Name: "plain", DSCP: 32, Class: 4, CNPDSCP: 48, CNPClass: 7})
		c.Services[0].Name = "bulk"
		s.DSCP[32], s.Queues[4] = 4, s.Queues[3]
		for class, w := range map[int]int{3: bulk, 4: plain} {
			on := strict&(1<<class) != 0
			c.Weights[class], s.Queues[class].Weight, s.Queues[class].Strict = w, w, on
			s.Queues[class].WRED = queue.WRED{}
			if marks {
				w := &s.Queues[class].WRED
				w.Min, w.Max, w.Probability, w.ECN = 10*unit.KB, 20*unit.KB, 1, true
			}
		}
		c.Strict = strict
		if marks {
			paper := cc.DCQCNPaper(rate)
			c.Services[0].CNPs = true
			c.Services[0].CC = func(p cc.Path) cc.Controller { return cc.NewDCQCN(&paper, p.Line) }
		}
	}
}

// ask connects two NICs by a service.
func (l *lab) ask(service int, src, dst int32) int32 {
	return l.Connect(service, src, dst, l.nics[src].ports, 0, uint32(service)*2654435761, 100)
}

// placed runs for a while and returns the payload rates of the connections' arrived data.
func (l *lab) placed(during unit.Time, conns ...int32) (rates []float64) {
	before := make([]unit.Bytes, len(conns))
	for i, c := range conns {
		before[i] = l.Placed(c)
	}
	l.run(l.Net.Q.Now() + during)
	for i, c := range conns {
		rates = append(rates, float64(8*(l.Placed(c)-before[i]))/during.Seconds())
	}
	return rates
}

// payload is the rate of payload in full packets at line rate.
var payload = 8 * 4096 / packet.Seconds()

func shares(rates []float64) (of [2]float64) {
	for i, r := range rates {
		of[i] = r / payload
	}
	return of
}

func near(got, want float64) bool { return math.Abs(got-want) <= 0.02*payload }

// Two services share a port by the weights of their classes: the NIC's port if one server uses both, the switch's
// port if each has its own server. A class of strict priority takes the whole port.
func TestServicesShareByWeight(t *testing.T) {
	for _, c := range []struct {
		bulk, plain int
		strict      uint8
		share       float64 // of bulk
	}{
		{50, 50, 0, 0.5}, {75, 25, 0, 0.75}, {10, 90, 0, 0.1}, {1, 1, 0, 0.5}, {1, 3, 0, 0.25},
		{50, 0, 0, 1}, {0, 50, 0, 0}, {0, 0, 0, 0},
		{50, 50, 1 << 3, 1}, {50, 50, 1 << 4, 0}, {50, 50, 1<<3 | 1<<4, 0},
	} {
		for _, at := range []string{"NIC", "switch"} {
			l := newLab(t, twoServices(c.bulk, c.plain, c.strict, false), 1, 1, 1)
			a, b := l.ask(0, 0, 2), l.ask(1, 1, 2)
			if at == "NIC" {
				b = l.ask(1, 0, 2)
			}
			l.Send(a, 50*unit.MB, 0)
			l.Send(b, 50*unit.MB, 0)
			l.run(400 * unit.Microsecond)
			got := l.placed(unit.Millisecond, a, b)
			if !near(got[0], c.share*payload) || !near(got[1], (1-c.share)*payload) {
				t.Errorf("%s, %+v: of the line they have %.3f", at, c, shares(got))
			}
			if at == "NIC" && l.Net.QueuePeak(l.Net.Ports[l.Ports(2)[0]].Peer, 3) > 10*unit.KB {
				t.Error("the switch had to queue, so it is not the NIC that shared")
			}
		}
	}
}

// A pause of one class stops its service only. The other service then has the whole line, and both have their
// shares afterwards.
func TestPauseHoldsOneService(t *testing.T) {
	l := newLab(t, twoServices(50, 50, 0, false), 1, 1)
	a, b := l.ask(0, 0, 1), l.ask(1, 0, 1)
	l.Send(a, 50*unit.MB, 0)
	l.Send(b, 50*unit.MB, 0)
	l.run(100 * unit.Microsecond)
	far := l.Net.Ports[l.Ports(0)[0]].Peer
	for _, class := range []int{3, 4} {
		l.Net.SendPause(far, class)
		l.run(l.Net.Q.Now() + 10*unit.Microsecond) // packets in flight arrive
		got, want := l.placed(100*unit.Microsecond, a, b), []float64{0, payload}
		if class == 4 {
			want[0], want[1] = payload, 0
		}
		if got[0] != 0 && got[1] != 0 || !near(got[0], want[0]) || !near(got[1], want[1]) {
			t.Errorf("class %d is paused: of the line they have %.3f", class, shares(got))
		}
		l.Net.SendResume(far, class)
		l.run(l.Net.Q.Now() + 10*unit.Microsecond)
		if got = l.placed(100*unit.Microsecond, a, b); !near(got[0], payload/2) || !near(got[1], payload/2) {
			t.Errorf("nothing is paused: of the line they have %.3f", shares(got))
		}
	}
}

// Marks slow down only the service with congestion control. Packets of both services are marked, CNPs go to one,
// and the other keeps its line rate.
func TestMarksOfOneService(t *testing.T) {
	l := newLab(t, twoServices(50, 50, 0, true), 1, 1, 1)
	a0, b0, a1, b1 := l.ask(0, 0, 2), l.ask(1, 0, 2), l.ask(0, 1, 2), l.ask(1, 1, 2)
	for _, c := range []int32{a0, b0, a1, b1} {
		l.Send(c, 10*unit.MB, 0)
	}
	cuts := map[int32]int{}
	l.OnRate = func(c int32, r unit.Rate) { cuts[c]++ }
	l.run(500 * unit.Microsecond)
	for i, c := range []int32{a0, b0, a1, b1} {
		cnps, _ := l.Controller(c).Counter(cc.CounterCNPs)
		bulk := i%2 == 0
		if l.CEMarks(c) == 0 || cnps > 0 != bulk || cuts[c] > 0 != bulk || l.Held(c).Pace > 0 != bulk {
			t.Errorf("%s: %d marks, %d CNPs, %d changes of rate, held for %v", l.Service(c).Name,
				l.CEMarks(c), cnps, cuts[c], l.Held(c))
		}
	}
}

// A transcript of the same: the packets that leave a NIC.
func TestServicesStory(t *testing.T) {
	s := newStage(t, `
		Two services on one NIC: 75 and 25 per cent of what A sends; a pause of one leaves the other the line.
		Class 3 (bulk) earns 75 shares of 256 bytes a round, class 4 (plain) 25: 4.6 and 1.5 packets. A class
		pays what it has sent (surplus round robin), so that bulk sends 4 or 5 packets for 1 or 2. At 10 us
		the switch pauses class 3, at 14 us it sends a pause of quanta 0 (IEEE 802.1Q 36.1.3).`,
		twoServices(75, 25, 0, false), 1, 1)
	s.Net.TapPFC = func(unit.Time, int32, bool, int, int) {} // Trace reports when a pause takes effect
	var from unit.Time
	last, run := int32(-1), 0
	flush := func() {
		if run > 0 {
			s.tell(from, "A sends %d of %s", run, s.Service(last).Name)
		}
		run = 0
	}
	s.Net.Tap = func(at unit.Time, port int32, out bool, p *fabric.Packet) {
		if !out {
			return
		}
		if p.QP != last {
			flush()
			from, last = at, p.QP
		}
		run++
	}
	s.Net.TapPort(s.nics[0].ports[0], true)
	far := s.Net.Ports[s.nics[0].ports[0]].Peer
	s.asks(s.ask(0, 0, 1), 40*4096)
	s.asks(s.ask(1, 0, 1), 40*4096)
	s.run(10 * unit.Microsecond)
	s.Net.SendPause(far, 3)
	s.run(14 * unit.Microsecond)
	s.Net.SendResume(far, 3)
	s.run(unit.Millisecond)
	flush()
	s.check("two-services")
}

// A spraying bundle shares both of its ports by weight. If a class is paused at one port, the other port is shared
// as before, and the first carries the other class.
func TestBundleSharesByWeight(t *testing.T) {
	l := newLab(t, func(c *Config, s *queue.Spec) {
		twoServices(75, 25, 0, false)(c, s)
		c.Bond = BondSpray
		c.RC.Recovery, c.RC.Window, c.RC.NakAfter, c.RC.WriteOnly = rc.Selective, 1<<12, 256, true
	}, 2, 1, 1)
	frame := unit.Bytes(roce.DataLen(roce.WriteOnly, 4096) + roce.PreambleIFG)
	full := 2 * 8 * 4096 / unit.Serialize(frame, rate).Seconds()
	conns := []int32{l.ask(0, 0, 1), l.ask(0, 0, 2), l.ask(1, 0, 1), l.ask(1, 0, 2)}
	for _, c := range conns {
		l.Send(c, 50*unit.MB, 0)
	}
	shares := func() (of [2]float64) {
		l.run(l.Net.Q.Now() + 20*unit.Microsecond)
		for i, r := range l.placed(400*unit.Microsecond, conns...) {
			of[i/2] += r / full
		}
		return of
	}
	if of := shares(); math.Abs(of[0]-0.75) > 0.02 || math.Abs(of[1]-0.25) > 0.02 {
		t.Errorf("of two lines they have %.3f", of)
	}
	l.Net.SendPause(l.Net.Ports[l.Ports(0)[0]].Peer, 3) // bulk has 75 % of one port, and plain has the remainder
	if of := shares(); math.Abs(of[0]-0.375) > 0.02 || math.Abs(of[1]-0.625) > 0.02 {
		t.Errorf("with bulk paused on one port, of two lines they have %.3f", of)
	}
}
