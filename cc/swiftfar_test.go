package cc_test

import (
	"testing"

	"railyard/cc"
	"railyard/unit"
)

// Section 3.2 of the paper: a second window, for the far end's delay with a target of its own, follows the same
// rules. The smaller window applies. Once the far end's delay is below the target, its window sets no limit.
func TestSwiftFarEnd(t *testing.T) {
	path := cc.Path{Line: 100 * unit.Gbps, MTU: 4096, RTT: 20 * unit.Microsecond, Hops: 1}
	c := swiftly(t, "swift:htsim,start_window=50,end_target=10us", path)
	now := unit.Time(0)
	ack := func(far unit.Time) float64 {
		now += 25 * unit.Microsecond
		c.OnAck(now, &cc.Ack{Bytes: 4096, RTT: 20 * unit.Microsecond, Far: far, Hops: 1})
		return signal(t, c, cc.SignalWindow) / 4096
	}
	free := 50.0
	for range 3 {
		free += 1 / free
		if got := ack(9 * unit.Microsecond); !near(got, free) {
			t.Fatalf("a quick far end: %v packets, want %v", got, free)
		}
	}
	want := free * (1 - 0.8*(16-10)/16.)
	if got := ack(16 * unit.Microsecond); !near(got, want) {
		t.Errorf("6 us above a target of 10: %v packets, want %v", got, want)
	}
	want *= 0.5 // at most max_mdf
	if got := ack(unit.Millisecond); !near(got, want) {
		t.Errorf("far above the target: %v packets, want %v", got, want)
	}
	now -= 20 * unit.Microsecond // within a round trip
	if got := ack(unit.Millisecond); !near(got, want) {
		t.Errorf("twice in a round trip: %v packets, want %v", got, want)
	}
	if cuts, _ := c.Counter("far_cuts"); cuts != 2 {
		t.Errorf("%d cuts for the far end", cuts)
	}
	last := 0.0
	for range 20_000 {
		last = ack(0)
	}
	if last < free {
		t.Errorf("with a quick far end again %v packets", last)
	}
}

// Switches are counted by what acknowledgements have passed.
func TestSwiftCountsHops(t *testing.T) {
	path := cc.Path{Line: 100 * unit.Gbps, MTU: 4096, RTT: 20 * unit.Microsecond, Hops: 1}
	c := swiftly(t, "swift:htsim,start_window=200", path)
	before := signal(t, c, "target_delay")
	c.OnAck(0, &cc.Ack{Bytes: 4096, RTT: 20 * unit.Microsecond, Hops: 5})
	if got, want := signal(t, c, "target_delay")-before, 4*20e-6/6.55; !near(got, want) {
		t.Errorf("four switches more add %v s to the target, want %v", got, want)
	}
}

// With tags the delay is the path's own round trip plus that of the worst switch, without the return path and the
// far NIC. Other tags report nothing, and with a saturated tag the delay is the round trip.
func TestSwiftByTags(t *testing.T) {
	path := cc.Path{Line: 100 * unit.Gbps, MTU: 4096, RTT: 20 * unit.Microsecond, Hops: 1}
	a := cc.Lookup("swift")
	v := a.Profile("htsim").Of(path.Line)
	v["csig"], v["start_window"] = 8, 50.0
	c := a.New(v)(path)
	now, window := unit.Time(0), 50.0
	target := signal(t, c, "target_delay")
	hear := func(rtt unit.Time, told *cc.Telemetry, want float64, what string) {
		t.Helper()
		now += unit.Second
		c.OnAck(now, &cc.Ack{Bytes: 4096, RTT: rtt, Telemetry: told})
		window = signal(t, c, cc.SignalWindow) / 4096
		if !near(window, want) {
			t.Errorf("%s: %v packets, want %v", what, window, want)
		}
		target = signal(t, c, "target_delay")
	}
	most := unit.Millisecond
	delayed := func(d unit.Time) *cc.Telemetry {
		return &cc.Telemetry{Signal: cc.SignalledDelay, Delay: d, Most: most}
	}
	hear(unit.Millisecond, delayed(0), window+1/window, "a slow way back, no queue")
	hear(unit.Millisecond, nil, window, "no tag")
	hear(unit.Millisecond, &cc.Telemetry{Signal: cc.SignalledShare}, window, "a tag of another kind")
	delay := 20e-6 + 15e-6
	hear(0, delayed(15*unit.Microsecond), window*(1-0.8*(delay-target)/delay), "a queue of 15 us")
	hear(30*unit.Microsecond, delayed(most), window*(1-0.8*(30e-6-target)/30e-6), "a full tag")
	hear(0, delayed(most), window, "a full tag and no round trip")

	if a.Reports(a.Profile("path").Of(path.Line)) != cc.NoReport {
		t.Error("Swift asks for tags unasked")
	}
}
