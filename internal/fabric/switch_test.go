package fabric

import (
	"math"
	"testing"

	"railyard/internal/engine"

	"railyard/internal/queue"
	"railyard/internal/route"
	"railyard/roce"
	"railyard/unit"
)

// bench is one switch with n host ports at 100 Gbit/s. The test passes packets to its ingress and counts them at
// the hosts.
type bench struct {
	*Net
	spec  queue.Spec
	hosts []int32 // host side port of each cable
	in    []int32 // switch side
	got   map[int32]map[uint8]int64
	last  unit.Time
}

func newBench(t *testing.T, n int, tune func(*queue.Spec)) *bench {
	t.Helper()
	return newBenchOn(t, n, 100*unit.Nanosecond, tune)
}

// newBenchOn has cables with the given delay.
func newBenchOn(t *testing.T, n int, prop unit.Time, tune func(*queue.Spec)) *bench {
	t.Helper()
	b := &bench{spec: queue.Default(), got: map[int32]map[uint8]int64{}}
	if tune != nil {
		tune(&b.spec)
	}
	if err := b.spec.Validate(); err != nil {
		t.Fatal(err)
	}
	build := Build(8)
	sw := build.AddSwitch(SwitchConfig{Name: "s", Spec: &b.spec})
	for range n {
		h := build.AddHost()
		hp, sp := build.Connect(h, sw, Link{Rate: 100 * unit.Gbps, Prop: prop, Response: unit.Nanosecond})
		b.hosts, b.in = append(b.hosts, hp), append(b.in, sp)
	}
	net, err := build.Finish(func(int32) string { return "s" })
	if err != nil {
		t.Fatal(err)
	}
	b.Net = net
	b.attach(sw, n)
	return b
}

// attach connects a switch to its n hosts.
func (b *bench) attach(sw int32, n int) {
	table := route.NewTable(1)
	table.SetAttached(0)
	for i := range n {
		table.Attach(int32(i), b.in[i])
	}
	b.SetRoutes(sw, table, route.ECMP.Make(nil, route.Site{Seed: 1}))
}

// put schedules the arrival of a packet with a DSCP and payload at the switch.
func (b *bench) put(at unit.Time, in, dst int, dscp uint8, payload uint16) {
	b.putECN(at, in, dst, dscp, payload, ECT0)
}

func (b *bench) putECN(at unit.Time, in, dst int, dscp uint8, payload uint16, ecn uint8) {
	pi := b.Alloc()
	p := &b.Packets[pi]
	p.Dst, p.Payload, p.Size, p.Opcode, p.TOS = int32(dst), payload, payload+62, roce.WriteMiddle, dscp<<2|ecn
	b.Q.Push(engine.Node(b.Ports[b.hosts[in]].Node), at, KindArrive, b.in[in], pi)
}

// run runs until a time and counts what hosts receive by class.
func (b *bench) run(until unit.Time) {
	const stop = 31
	b.Q.Push(engine.OfRun, until, stop, 0, 0)
	for {
		e, ok := b.Q.Pop()
		if !ok || e.Kind() == stop {
			return
		}
		switch e.Kind() {
		case KindHost:
			p := &b.Packets[e.B]
			if b.got[p.Dst] == nil {
				b.got[p.Dst] = map[uint8]int64{}
			}
			b.got[p.Dst][p.Class] += int64(p.Payload)
			b.last = e.At
			b.Free(e.B)
		case KindHost + 1:
			b.Ports[e.A].Armed = false
		default:
			b.Handle(&e)
		}
	}
}

func lossy(weight int) queue.Class { return queue.Class{Weight: weight, Limit: 10 * unit.MB} }

// Two backlogged classes of weights 60 and 20 leave in the ratio 3 to 1. A strict class is sent before both.
func TestScheduling(t *testing.T) {
	b := newBench(t, 4, func(s *queue.Spec) {
		s.Queues[0], s.Queues[1], s.Queues[2] = lossy(0), lossy(60), lossy(20)
		s.Queues[3].Weight = 0
		s.Queues[7].Limit = 10 * unit.MB
		s.DSCP[10], s.DSCP[20] = 1, 2
	})
	for i := range 2000 { // three times 100 Gbit/s offered to host 3
		at := unit.Time(i) * 330_000
		b.put(at, 0, 3, 10, 4000)
		b.put(at, 1, 3, 20, 4000)
	}
	for i := range 500 {
		b.put(unit.Time(i)*1_320_000, 2, 3, 48, 4000)
	}
	b.run(600 * unit.Microsecond)
	strict, a, c := b.got[3][7], b.got[3][1], b.got[3][2]
	if want := int64(454 * 4000); strict < want {
		t.Errorf("the strict class got %d bytes, offered were %d", strict, want)
	}
	if r := float64(a) / float64(c); math.Abs(r-3) > 0.05 {
		t.Errorf("weights 60 and 20 share %.3f to 1, want 3", r)
	}
}

// A class of weight 0 is sent only if no other class can be.
func TestWeightZero(t *testing.T) {
	b := newBench(t, 3, func(s *queue.Spec) {
		s.Queues[1], s.Queues[2] = lossy(50), lossy(0)
		s.Queues[0].Weight, s.Queues[3].Weight = 0, 0
		s.DSCP[10], s.DSCP[20] = 1, 2
	})
	for i := range 100 {
		b.put(unit.Time(i)*10, 0, 2, 20, 4000)
		b.put(unit.Time(i)*10, 1, 2, 10, 4000)
	}
	b.run(100 * 330 * unit.Nanosecond)
	if b.got[2][2] > 3*4000 || b.got[2][1] < 90*4000 {
		t.Errorf("weight 0 got %d bytes while the other got %d", b.got[2][2], b.got[2][1])
	}
}

// Frames above the MTU and frames without a route are dropped and counted.
func TestRefused(t *testing.T) {
	b := newBench(t, 2, func(s *queue.Spec) { s.MTU = 2000 })
	b.put(0, 0, 1, 24, 4000)
	b.put(0, 0, 9, 24, 100)
	b.put(0, 0, 1, 24, 100)
	b.run(unit.Second)
	if b.Drops != 2 || b.NoRoute != 1 || b.got[1][3] != 100 || b.InUse() != 0 {
		t.Errorf("drops %d, without route %d, delivered %v, %d packets leaked", b.Drops, b.NoRoute, b.got,
			b.InUse())
	}
}

// Dynamic threshold: n saturated lossy queues of alpha a each settle at a B / (1 + a n) (docs/references.md,
// thresholds).
func TestDynamicThreshold(t *testing.T) {
	for _, c := range []struct {
		alpha float64
		n     int
	}{{1, 1}, {1, 2}, {0.125, 1}, {8, 1}, {0.5, 3}} {
		b := newBench(t, 2*c.n, func(s *queue.Spec) {
			s.Buffer = 2 * unit.MB
			for i := range s.Queues {
				s.Queues[i].Alpha = c.alpha
			}
			s.Queues[3] = queue.Class{Weight: 50, Alpha: c.alpha}
		})
		for i := range 4000 { // 400 Gbit/s into each of n ports
			for q := range c.n {
				for range 4 {
					b.put(unit.Time(i)*330_000, c.n+q, q, 24, 4000)
				}
			}
		}
		b.run(1200 * unit.Microsecond)
		want := c.alpha * 2e6 / (1 + c.alpha*float64(c.n))
		for q := range c.n {
			got := float64(b.QueueBytes(b.in[q], 3))
			if math.Abs(got-want) > 0.03*want+4100 {
				t.Errorf("alpha %v, %d queues: queue %d holds %.0f bytes, want %.0f", c.alpha, c.n, q, got,
					want)
			}
		}
		if err := b.Audit(); err != nil {
			t.Error(err)
		}
	}
}

// IEEE 802.1Q 36.1.3: a pause lasts its quanta unless it is resumed or repeated. A quanta of 0 ends it at once, and
// other priorities are not paused.
func TestPauseExpiresAndResumes(t *testing.T) {
	b := newBench(t, 2, nil)
	out := b.in[1]
	b.gotPFC(out, b.pauseFor(b.hosts[1], 3, 1000)) // 1000 x 5.12 ns
	b.put(0, 0, 1, 24, 1000)
	b.put(0, 0, 1, 48, 1000)
	b.run(5119 * unit.Nanosecond)
	if b.got[1][3] != 0 || b.got[1][7] != 1000 {
		t.Errorf("while priority 3 is paused: %v", b.got[1])
	}
	b.run(6 * unit.Microsecond)
	if want := 5120*unit.Nanosecond + 1082*80*unit.Picosecond + 100*unit.Nanosecond; b.got[1][3] != 1000 ||
		b.last != want {
		t.Errorf("after the pause: %v at %v, want %v", b.got[1], b.last, want)
	}
	b.gotPFC(out, b.pauseFor(b.hosts[1], 3, 65535))
	b.put(b.Q.Now(), 0, 1, 24, 1000)
	b.run(b.Q.Now() + unit.Microsecond)
	b.gotPFC(out, b.pauseFor(b.hosts[1], 3, 0))
	b.run(unit.Second)
	if b.got[1][3] != 2000 || b.PausedFor(out) > 7*unit.Microsecond {
		t.Errorf("after a resume: %v, paused for %v", b.got[1], b.PausedFor(out))
	}
}

// A congested ingress repeats its pause before the pause expires.
func TestPauseIsRefreshed(t *testing.T) {
	b := newBench(t, 2, func(s *queue.Spec) { s.PFCQuanta = 100 })
	b.SendPause(b.in[0], 3)
	paused := 0
	for b.Q.Now() < 20*unit.Microsecond {
		e, ok := b.Q.Pop()
		if !ok {
			t.Fatal("no refresh is armed")
		}
		b.Handle(&e)
		if b.Q.Now() > unit.Microsecond {
			if b.Ports[b.hosts[0]].Paused != 1<<3 {
				t.Fatalf("the peer sends again at %v", b.Q.Now())
			}
			paused++
		}
	}
	if paused < 10 {
		t.Errorf("only %d events", paused)
	}
}

// Traffic of another class on the same port does not hide a storm.
func TestWatchdogSeesPastOtherClasses(t *testing.T) {
	b := newBench(t, 3, func(s *queue.Spec) {
		s.Watchdog = queue.Watchdog{On: true, Poll: 100 * unit.Microsecond, Detect: 200 * unit.Microsecond,
			Restore: 200 * unit.Microsecond}
	})
	b.SendPause(b.hosts[1], 3) // refreshed for ever
	b.put(unit.Microsecond, 0, 1, 24, 1000)
	for i := range 100 {
		b.put(unit.Time(i)*10*unit.Microsecond, 2, 1, 48, 100)
	}
	b.run(unit.Millisecond)
	if b.Storms != 1 || b.StormDrops != 1 {
		t.Errorf("%d storms, %d packets dropped; want one of each", b.Storms, b.StormDrops)
	}
}

// Without ECN, WRED drops by the averaged queue. With a heavy average a short burst passes, where an instantaneous
// queue would cause drops. A drop counts once.
func TestWREDDropsByTheAverage(t *testing.T) {
	drops := func(weight uint) int64 {
		b := newBench(t, 3, func(s *queue.Spec) {
			s.Queues[3] = queue.Class{Weight: 50, Limit: 10 * unit.MB,
				WRED: queue.WRED{Min: 10 * unit.KB, Max: 20 * unit.KB, Probability: 0.5, Weight: weight}}
		})
		for i := range 40 {
			b.put(unit.Time(i)*100, 0, 2, 24, 4000)
			b.put(unit.Time(i)*100, 1, 2, 24, 4000)
		}
		b.run(unit.Second)
		if b.Stats[b.in[2]].Drops != b.Drops {
			t.Errorf("the port counts %d drops, the network %d", b.Stats[b.in[2]].Drops, b.Drops)
		}
		return b.Drops
	}
	if now, slow := drops(0), drops(10); now < 60 || slow != 0 {
		t.Errorf("weight 0 drops %d of 80, weight 10 drops %d; want nearly all and none", now, slow)
	}
}
