package cc_test

import (
	"math"
	"testing"

	"railyard/cc"
	"railyard/unit"
)

// port is a switch's port in telemetry: it sends at a share of its rate and has a queue.
type port struct {
	hop   cc.Hop
	share float64
}

// run lets a port send for a time.
func (p *port) run(d unit.Time) cc.Hop {
	p.hop.At = (p.hop.At + d) % told
	sent := unit.Bytes(p.share * float64(p.hop.Rate) / 8 * d.Seconds())
	p.hop.Sent = (p.hop.Sent + sent) % p.hop.Wraps
	return p.hop
}

const told = 1 << 24 * unit.Nanosecond // period after which a port's clock wraps

// hpccAt is a sender on a path of 10 us at 100 Gbit/s, and a round trip's acknowledgements from ports.
func hpccAt(name string, sets cc.Values) (cc.Controller, func(ports ...*port)) {
	a := cc.Lookup(name)
	v := a.Profile("").Of(100 * unit.Gbps)
	for k, x := range sets {
		v[k] = x
	}
	c := a.New(v)(cc.Path{Line: 100 * unit.Gbps, MTU: 1000, RTT: 10 * unit.Microsecond, Hops: 2})
	now := unit.Time(0)
	return c, func(ports ...*port) {
		for range 10 {
			t := cc.Telemetry{Hops: len(ports), Wraps: told}
			for i, p := range ports {
				t.Hop[i] = p.run(unit.Microsecond)
			}
			now += unit.Microsecond
			c.OnAck(now, &cc.Ack{Bytes: 12_500, InFlight: 112_500, Telemetry: &t})
		}
	}
}

func newPort(share float64, queue unit.Bytes) *port {
	return &port{share: share, hop: cc.Hop{Rate: 100 * unit.Gbps, Wraps: 1 << 27, Queue: queue}}
}

// The window is divided by the busiest port's load over eta (equation 4 of the paper). A port that always sends and
// holds half a bandwidth-delay product has a load of 1.5.
func TestHPCCDividesByTheLoad(t *testing.T) {
	c, round := hpccAt("hpcc", cc.Values{"ai": unit.Mbps})
	calm, busy := newPort(0.3, 0), newPort(1, 62_500)
	for range 2 {
		round(calm, busy)
	}
	if u := signal(t, c, "utilisation"); math.Abs(u-1.5) > 0.2 { // each of ten samples counts a tenth
		t.Errorf("the load is estimated as %.3f, want 1.5", u)
	}
	want := 125_000 * 0.95 / signal(t, c, "utilisation")
	if w := signal(t, c, cc.SignalWindow); math.Abs(w-want) > 0.02*want && w > want {
		t.Errorf("a window of %.0f, want %.0f", w, want)
	}
	if d := c.Decision(); d.Rate != unit.Rate(signal(t, c, cc.SignalWindow)*8/10e-6) {
		t.Errorf("a pace of %v for a window of %v", d.Rate, d.Window)
	}
}

// Within a round trip all decisions start from the reference, so ten equal acknowledgements reduce once (section
// 3.2, against overreaction; csg-htsim's hpcc.cpp reduces at each).
func TestHPCCReactsOncePerRoundTrip(t *testing.T) {
	c, round := hpccAt("hpcc", cc.Values{"ai": unit.Mbps})
	full := newPort(1.9, 0)
	round(full) // the first sample only records; the reference stays until the packets in flight are acknowledged
	w, r := signal(t, c, cc.SignalWindow), signal(t, c, "reference")
	if math.Abs(r-125_000) > 1 || w > 0.7*r || w < 0.4*r {
		t.Errorf("a window of %.0f from a reference of %.0f", w, r)
	}
	for range 3 {
		round(full)
	}
	if n, _ := c.Counter("updates"); n < 2 || n > 4 {
		t.Errorf("%d updates in four round trips", n)
	}
}

// Below eta the window rises by one step per round trip, five times, and then at once to the available capacity.
// With no stages it rises at once.
func TestHPCCStages(t *testing.T) {
	for stages, want := range map[int][2]int{5: {5, 9}, 0: {1, 4}} {
		c, round := hpccAt("hpcc", cc.Values{"max_stage": stages, "ai": 100 * unit.Mbps})
		for range 12 {
			round(newPort(2, 125_000))
		}
		low, rounds := signal(t, c, "reference"), 0
		for p := newPort(0.2, 0); rounds < 30 && signal(t, c, "reference") < 2*low; rounds++ {
			round(p)
		}
		if rounds < want[0] || rounds > want[1] {
			t.Errorf("with %d stages the window doubled after %d round trips, want %v", stages, rounds, want)
		}
	}
}

// Counters that wrap, a clock that stops and an acknowledgement without hops change nothing. Another path or a long
// silence restarts the measurement.
func TestHPCCBeginsAnew(t *testing.T) {
	c, round := hpccAt("hpcc", nil)
	p := newPort(0.9, 0)
	p.hop.At, p.hop.Sent = told-5*unit.Microsecond, p.hop.Wraps-30_000
	round(p)
	round(p)
	if u := signal(t, c, "utilisation"); u < 0.85 || u > 1 {
		t.Errorf("across the wrap the load is %.3f", u)
	}
	paths := func() int64 { n, _ := c.Counter("new_paths"); return n }
	if paths() != 1 {
		t.Errorf("%d paths", paths())
	}
	round(p, newPort(0.5, 0))
	if paths() != 2 {
		t.Errorf("%d paths after one more hop", paths())
	}
	t2 := cc.Telemetry{Hops: 2, Wraps: told, Hop: [cc.MostHops]cc.Hop{p.hop, p.hop}}
	c.OnAck(unit.Second, &cc.Ack{Bytes: 1000, Telemetry: &t2})
	if before := signal(t, c, cc.SignalWindow); paths() != 3 || math.IsNaN(before) {
		t.Errorf("%d paths after a second of silence", paths())
	}
	c.OnAck(unit.Second+1, &cc.Ack{Bytes: 1000, Telemetry: &t2}) // no clock has moved
	c.OnAck(unit.Second+2, &cc.Ack{Bytes: 1000})                 // a path without switches
	if w := signal(t, c, cc.SignalWindow); math.IsNaN(w) || math.IsInf(w, 0) {
		t.Errorf("a window of %v", w)
	}
}

// HPCC++ reduces twice in a round trip if the queue stays. Tokens that a queue earned are spent once.
func TestHPCCPlus(t *testing.T) {
	updates := map[string]float64{}
	for _, name := range []string{"hpcc", "hpcc-plus"} {
		c, round := hpccAt(name, nil)
		for range 2 {
			round(newPort(1, 0))
		}
		p := newPort(1, 750_000)
		round(p)
		round(p)
		updates[name] = signal(t, c, "reference")
		if name == "hpcc-plus" {
			for range 3 {
				round(p)
			}
			earned := signal(t, c, "tokens")
			p.hop.Queue = 0
			for range 40 {
				round(p)
			}
			if left := signal(t, c, "tokens"); earned <= 0 || left != 0 {
				t.Errorf("%v tokens earned, %v left", earned, left)
			}
		}
	}
	if updates["hpcc-plus"] >= updates["hpcc"] {
		t.Errorf("the reference after two full round trips is %v", updates)
	}
}

// TestHPCCLoadByHand computes the load of the paper's MeasureInflight from two samples of ports of 100 Gbit/s. The
// path of 10 us holds 125,000 bytes. The load is the share of capacity sent plus the lesser queue over the path's
// capacity. The load starts at 1, and of samples 5 us apart the new one counts half.
func TestHPCCLoadByHand(t *testing.T) {
	const wraps = 1 << 27
	look := func(at unit.Time, sent, queue unit.Bytes) cc.Hop {
		return cc.Hop{Rate: 100 * unit.Gbps, Wraps: wraps, At: at * unit.Microsecond, Sent: sent, Queue: queue}
	}
	still := look(10, 0, 0)
	still.Rate = 0
	for name, c := range map[string]struct {
		was, is []cc.Hop
		want    float64
		moves   bool
	}{
		"full":               {[]cc.Hop{look(0, 0, 0)}, []cc.Hop{look(10, 125_000, 0)}, 1, true},
		"half":               {[]cc.Hop{look(0, 7, 0)}, []cc.Hop{look(10, 62_507, 0)}, 0.5, true},
		"idle":               {[]cc.Hop{look(0, 500, 0)}, []cc.Hop{look(10, 500, 0)}, 0, true},
		"stopped, and holds": {[]cc.Hop{look(0, 5, 62_500)}, []cc.Hop{look(10, 5, 62_500)}, 0.5, true},
		"a queue that goes":  {[]cc.Hop{look(0, 0, 62_500)}, []cc.Hop{look(10, 125_000, 25_000)}, 1.2, true},
		"a queue that comes": {[]cc.Hop{look(0, 0, 25_000)}, []cc.Hop{look(10, 125_000, 62_500)}, 1.2, true},
		"bytes come round": {[]cc.Hop{look(0, wraps-100_000, 0)}, []cc.Hop{look(10, 25_000, 0)},
			1, true},
		"half as long ago":  {[]cc.Hop{look(0, 0, 0)}, []cc.Hop{look(5, 0, 0)}, 0.5, true},
		"twice as long ago": {[]cc.Hop{look(0, 0, 0)}, []cc.Hop{look(20, 62_500, 0)}, 0.25, true},
		"the clock stands":  {[]cc.Hop{look(10, 0, 0)}, []cc.Hop{look(10, 125_000, 0)}, 1, false},
		"a port of no rate": {[]cc.Hop{look(0, 0, 0)}, []cc.Hop{still}, 1, false},
		"the busiest of two": {[]cc.Hop{look(0, 0, 0), look(5, 0, 0)},
			[]cc.Hop{look(10, 25_000, 0), look(10, 50_000, 0)}, 0.9, true},
		"the first of two as busy": {[]cc.Hop{look(0, 0, 0), look(5, 0, 0)},
			[]cc.Hop{look(10, 25_000, 0), look(10, 12_500, 0)}, 0.2, true},
	} {
		t.Run(name, func(t *testing.T) {
			c0, _ := hpccAt("hpcc", cc.Values{"ai": unit.Mbps})
			for i, hops := range [][]cc.Hop{c.was, c.is} {
				tel := cc.Telemetry{Hops: len(hops), Wraps: told}
				copy(tel.Hop[:], hops)
				c0.OnAck(unit.Time(i+1)*unit.Microsecond, &cc.Ack{Bytes: 1000, Telemetry: &tel})
			}
			if got := signal(t, c0, "utilisation"); math.Abs(got-c.want) > 1e-9 {
				t.Errorf("a load of %v, want %v", got, c.want)
			}
			if n, _ := c0.Counter("updates"); n > 0 != c.moves {
				t.Errorf("%d updates of the reference", n)
			}
		})
	}
}

// Two ports are alternately the busier one. One window follows the busier port of each sample, whose load exceeds
// the target, and falls. With a window per port both have spare capacity.
func TestHPCCPerHop(t *testing.T) {
	window := map[bool]float64{}
	for _, each := range []bool{false, true} {
		now := unit.Time(0)
		a := cc.Lookup("hpcc")
		v := a.Profile("").Of(100 * unit.Gbps)
		v["per_hop"] = each
		c := a.New(v)(cc.Path{Line: 100 * unit.Gbps, MTU: 1000, RTT: 10 * unit.Microsecond, Hops: 2})
		ports := [2]*port{newPort(0, 0), newPort(0, 0)}
		for i := range 4000 {
			tel := cc.Telemetry{Hops: 2, Wraps: told}
			for k, p := range ports {
				p.share = 0.95 * (0.65 + 0.4*float64((i+k)%2)) // 15 % below the target in the mean
				tel.Hop[k] = p.run(unit.Microsecond)
			}
			now += unit.Microsecond
			c.OnAck(now, &cc.Ack{Bytes: 12_500, InFlight: 112_500, Telemetry: &tel})
		}
		window[each] = signal(t, c, cc.SignalWindow)
	}
	if window[false] > 0.02*125_000 || window[true] < 125_000 {
		t.Errorf("windows of %.0f B, and of %.0f B with one for each port", window[false], window[true])
	}
}
