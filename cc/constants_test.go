package cc_test

import (
	"fmt"
	"maps"
	"math"
	"testing"

	"railyard/cc"
	"railyard/unit"
)

// TestProfilesByHand checks the constants of each algorithm at 100 Gbit/s against its source (docs/references.md:
// dcqcn, dcqcn-nic, hpcc, swift, credit, nscc; RFC 8257, section 4.1; TIMELY, section 5). Steps of DCQCN grow from
// 25 or 40 Gbit/s with the line.
func TestProfilesByHand(t *testing.T) {
	dcqcn := cc.Values{"byte_counter": unit.Bytes(0), "clamp_target": false, "max_cut": 0.5, "cnp_delay": unit.Time(0)}
	credit := cc.Values{"base_rtt": unit.Time(0), "grant": 4, "share": 0.99, "unasked": 1.5, "window": 2.0}
	hpcc := cc.Values{"eta": 0.95, "ack_every": 1, "base_rtt": unit.Time(0), "csig": 0, "ifa": false, "per_hop": false,
		"csig_interval": 1024 * unit.Nanosecond}
	nscc := cc.Values{"network_rtt": unit.Time(0), "target": 0.75, "target_delay": unit.Time(0), "proportional": 4.0,
		"fair": 5.0, "eta": 0.15, "gamma": 0.8, "max_cut": 0.5, "fast": 0.25, "fast_below": unit.Microsecond,
		"max_window": 1.5, "ewma": 0.0125, "adjust_packets": 8, "qa_share": 1. / 8, "qa_delay": 4.0, "ack_every": 4}
	swift := cc.Values{"base_target": unit.Time(0), "end_target": unit.Time(0), "hop_scale": 1 / 6.55,
		"fs_range": 5.0, "fs_min": 0.1, "fs_max": 100.0, "ai": 1.0, "beta": 0.8, "max_mdf": 0.5, "min_window": 0.001,
		"max_gap": 10 * unit.Millisecond, "start_window": 0.0, "reset_after": 3, "csig": 0}
	timely := cc.Values{"t_low": 50 * unit.Microsecond, "t_high": 500 * unit.Microsecond, "min_rtt": unit.Time(0),
		"gain": 0.02, "beta": 0.8, "ai": 100 * unit.Mbps, "hai_after": 5, "segment": 64_000 * unit.Byte,
		"min_rate": 100 * unit.Mbps}
	sockets := cc.Values{"base_rtt": unit.Millisecond, "grant": 16, "unasked": 0.0}
	for _, c := range []struct {
		name, profile string
		want          []cc.Values
	}{
		{"dcqcn", "nic", []cc.Values{dcqcn, {"g": 5. / 1024, "alpha_init": 1023. / 1024, "alpha_timer": unit.Microsecond,
			"rate_timer": 300 * unit.Microsecond, "f": 1, "ai": 20 * unit.Mbps, "hai": 200 * unit.Mbps,
			"min_rate": 4 * unit.Mbps, "cut_interval": 4 * unit.Microsecond, "cnp_interval": 4 * unit.Microsecond}}},
		{"dcqcn", "paper", []cc.Values{dcqcn, {"g": 1. / 256, "alpha_init": 1.0, "alpha_timer": 55 * unit.Microsecond,
			"rate_timer": 55 * unit.Microsecond, "byte_counter": 10_000_000 * unit.Byte, "f": 5, "ai": 100 * unit.Mbps,
			"hai": 1000 * unit.Mbps, "min_rate": 100 * unit.Mbps, "cut_interval": unit.Time(0), "clamp_target": true,
			"cnp_interval": 50 * unit.Microsecond}}},
		{"dctcp", "rfc8257", []cc.Values{{"g": 1. / 16, "alpha_init": 1.0, "ai": 1.0, "start_window": 0.0,
			"min_window": 1.0}}},
		{"eqds", "trimming", []cc.Values{credit, {"grant": 1}}},
		{"eqds", "request", []cc.Values{credit, {"grant": 1, "unasked": 0.0}}},
		{"eqds", "sockets", []cc.Values{credit, sockets}},
		{"rccc", "htsim", []cc.Values{credit}},
		{"rccc", "request", []cc.Values{credit, {"unasked": 0.0}}},
		{"rccc", "sockets", []cc.Values{credit, sockets}},
		{"hpcc", "paper", []cc.Values{hpcc, {"max_stage": 5, "ai": 50 * unit.Mbps, "min_rate": 10 * unit.Mbps}}},
		{"hpcc", "artifact", []cc.Values{hpcc, {"max_stage": 0, "ai": 40 * unit.Mbps, "min_rate": unit.Gbps}}},
		{"hpcc-plus", "draft", []cc.Values{hpcc, {"max_stage": 0, "ai": 50 * unit.Mbps, "min_rate": 10 * unit.Mbps,
			"cut_after": 0.6, "token_queue": 1.0, "token_size": 0.02, "token_bank": 1000, "token_spend": 100,
			"dampener": 8}}},
		{"ndp", "htsim", []cc.Values{{"initial": 1.16, "share": 0.99, "rto": unit.Millisecond,
			"base_rtt": unit.Time(0)}}},
		{"nscc", "trim", []cc.Values{nscc}},
		{"nscc", "path", []cc.Values{nscc, {"target": 1.0}}},
		{"nscc", "sockets", []cc.Values{nscc, {"target": 1.0, "target_delay": unit.Millisecond}}},
		{"uec", "trim", []cc.Values{nscc, credit}},
		{"uec", "request", []cc.Values{nscc, credit, {"target": 1.0, "unasked": 0.0}}},
		{"uec", "sockets", []cc.Values{nscc, credit, sockets, {"target": 1.0, "target_delay": unit.Millisecond}}},
		{"swift", "path", []cc.Values{swift}},
		{"swift", "htsim", []cc.Values{swift, {"base_target": 20 * unit.Microsecond}}},
		{"swift", "falcon", []cc.Values{swift, {"base_target": 25 * unit.Microsecond, "hop_scale": 0.04, "fs_range": 4.0,
			"fs_max": 256.0, "min_window": 0.01, "start_window": 8.0}}},
		{"swift", "sockets", []cc.Values{swift, {"base_target": unit.Millisecond, "end_target": unit.Millisecond}}},
		{"timely", "paper", []cc.Values{timely}},
		{"timely", "sockets", []cc.Values{timely, {"t_low": unit.Millisecond, "t_high": 10 * unit.Millisecond}}},
	} {
		want := cc.Values{}
		for _, v := range c.want {
			maps.Copy(want, v)
		}
		if got := cc.Lookup(c.name).Profile(c.profile).Values(100 * unit.Gbps); !maps.Equal(got, want) {
			for name := range want {
				if got[name] != want[name] {
					t.Errorf("%s:%s has %s of %v, want %v", c.name, c.profile, name, got[name], want[name])
				}
			}
			if len(got) != len(want) {
				t.Errorf("%s:%s has %d parameters, want %d", c.name, c.profile, len(got), len(want))
			}
		}
	}
	for _, name := range cc.Names() {
		known := fmt.Sprint(map[string]int{"dcqcn": 2, "dctcp": 1, "eqds": 3, "rccc": 3, "hpcc": 2, "hpcc-plus": 1,
			"ndp": 1, "nscc": 3, "uec": 3, "swift": 4, "timely": 2, "none": 0}[name])
		if n := fmt.Sprint(len(cc.Lookup(name).Profiles)); n != known {
			t.Errorf("%s has %s profiles, this test knows %s", name, n, known)
		}
	}
}

// TestNoneDoesNothing checks that a sender without congestion control keeps its line rate and requests no
// acknowledgements.
func TestNoneDoesNothing(t *testing.T) {
	c := cc.Lookup("none").New(nil)(cc.Path{Line: 100 * unit.Gbps, MTU: 4096})
	c.OnCNP(1)
	c.OnAck(2, &cc.Ack{Bytes: 4096, Marked: true})
	c.OnLoss(3, cc.LossTimeout)
	c.OnBytes(4, 4096)
	c.OnTimer(5)
	if d := c.Decision(); d != (cc.Decision{Rate: 100 * unit.Gbps, TimerAt: unit.Never}) || c.WantsAcks() {
		t.Errorf("%+v, and it wants acknowledgements: %v", d, c.WantsAcks())
	}
	if _, ok := c.Signal(6, cc.SignalRate); ok {
		t.Error("it has a signal")
	}
	if _, ok := c.Counter(cc.CounterCuts); ok {
		t.Error("it has a counter")
	}
}

// TestNSCCQuickAdaptByDelay checks quick adapt without a loss. It applies if the delay exceeds four targets and a
// period brought less than an eighth of the largest window. A period is a round trip plus a target. Here, at 100
// Gbit/s with a round trip and a target of 12 us, these are 48 us, 28,125 bytes and 24 us.
func TestNSCCQuickAdaptByDelay(t *testing.T) {
	const us = unit.Microsecond
	for name, x := range map[string]struct {
		delay   unit.Time
		last    unit.Bytes // arrives with the last acknowledgement
		at      unit.Time  // time since the start of the period
		adapted bool
	}{
		"all three":                 {48*us + 1, 8192, 24*us + 1, true},
		"a delay of four targets":   {48 * us, 8192, 24*us + 1, false},
		"the period is not over":    {48*us + 1, 8192, 24 * us, false},
		"an eighth of the window":   {48*us + 1, 28_125 - 4096, 24*us + 1, false},
		"almost that":               {48*us + 1, 28_124 - 4096, 24*us + 1, true},
		"a delay without an excuse": {200 * us, 28_125, 30 * us, false},
	} {
		c := nsccOn(t, "nscc:path,eta=0,ewma=1", 12*us)      // the mean is the last delay
		c.OnAck(5*us, &cc.Ack{Bytes: 100_000, RTT: 12 * us}) // the first period begins
		c.OnAck(6*us, &cc.Ack{Bytes: 4096, RTT: 13 * us, Marked: true})
		c.OnAck(5*us+x.at, &cc.Ack{Bytes: x.last, InFlight: 50_000, RTT: 12*us + x.delay})
		n, _ := c.Counter("quick_adapts")
		if adapted := n == 1; adapted != x.adapted {
			t.Errorf("%s: the window adapts quickly: %v, want %v", name, adapted, x.adapted)
		}
		if x.adapted {
			comesTo(t, name, signal(t, c, cc.SignalWindow), 4096+float64(x.last))
			window := signal(t, c, cc.SignalWindow)
			for range 12 { // 49,152 of the 50,000 bytes that were under way
				c.OnAck(5*us+x.at+us, &cc.Ack{Bytes: 4096, RTT: 30 * us, Marked: true})
			}
			comesTo(t, "marks of what was under way", signal(t, c, cc.SignalWindow), window)
			c.OnAck(5*us+x.at+us, &cc.Ack{Bytes: 4096, RTT: 30 * us, Marked: true})
			comesTo(t, "a mark of what went later", signal(t, c, cc.SignalWindow), max(4096, window*(1-0.8*6/18)))
		}
	}
}

// TestSwiftAtItsTarget checks that a delay equal to the target changes neither window.
func TestSwiftAtItsTarget(t *testing.T) {
	const us = unit.Microsecond
	path := cc.Path{Line: 100 * unit.Gbps, MTU: 4096, RTT: 20 * us}
	for _, x := range []struct {
		rtt, far unit.Time
		want     float64
	}{{20*us - 1, 0, 10.1}, {20 * us, 0, 10}, {20 * us, 10 * us, 10}} {
		c := swiftly(t, "swift:htsim,fs_range=0,hop_scale=0,start_window=10,end_target=10us", path)
		c.OnAck(unit.Second, &cc.Ack{Bytes: 4096, RTT: x.rtt, Far: x.far})
		if got := signal(t, c, cc.SignalWindow) / 4096; !near(got, x.want) {
			t.Errorf("a round trip of %v, %v at the far end: %v packets, want %v", x.rtt, x.far, got, x.want)
		}
		if n, _ := c.Counter("far_cuts"); n != 0 {
			t.Errorf("%d cuts for a far end at its target", n)
		}
	}
}

// TestSwiftLosesBothWindows checks that a loss halves both windows, and that repeated time-outs set both to their
// minimum.
func TestSwiftLosesBothWindows(t *testing.T) {
	const us = unit.Microsecond
	c := swiftly(t, "swift:htsim,fs_range=0,hop_scale=0,start_window=40,end_target=10us",
		cc.Path{Line: 100 * unit.Gbps, MTU: 4096, RTT: 20 * us})
	window := func(want float64, what string) {
		t.Helper()
		if got := signal(t, c, cc.SignalWindow) / 4096; !near(got, want) {
			t.Errorf("%s: %v packets, want %v", what, got, want)
		}
	}
	c.OnAck(unit.Second, &cc.Ack{Bytes: 4096, RTT: 19 * us, Far: 16 * us}) // 6 us of 16 too much
	window(40*(1-0.8*6/16), "the far end's window")
	c.OnLoss(unit.Second+us, cc.LossNak)
	window(40*(1-0.8*6/16)/2, "half of it after a loss")
	c.OnAck(2*unit.Second, &cc.Ack{Bytes: 4096, RTT: 19 * us})
	window(14+1./14, "and a quick far end adds to that")
	for range 3 {
		c.OnLoss(3*unit.Second, cc.LossTimeout)
	}
	window(0.001, "time-outs in a row")
	c.OnAck(4*unit.Second, &cc.Ack{Bytes: 4096, RTT: 19 * us})
	window(1.001, "a packet acknowledged")
}

// TestPacerCountsABudget checks that the controller is called once per budget of bytes on the wire. The excess
// counts toward the next budget, and a new cycle starts from zero.
func TestPacerCountsABudget(t *testing.T) {
	b := &budgeted{budget: 1000}
	p := cc.Pacer{Line: 100 * unit.Gbps}
	p.Start(b)
	if p.Decide(0); !p.Charged() {
		t.Error("packets do not count towards a budget")
	}
	for i, want := range []bool{false, false, true, false, true, false, false, true} { // 400, 800, 1200, ..., 3200
		if got := p.Spent(0, 400); got != want {
			t.Errorf("after %d bytes the budget is used up: %v", 400*(i+1), got)
		}
		p.Decide(0)
	}
	if b.heard != 3000 {
		t.Errorf("the controller heard of %d bytes, want 3000", b.heard)
	}
	p.Spent(0, 700) // 900 of the fourth
	b.cycle++
	p.Decide(0)
	if p.Spent(0, 999) || !p.Spent(0, 1) {
		t.Error("a new cycle has not the whole budget")
	}
	b.budget = 0
	p.Decide(0)
	if p.Charged() || p.Spent(0, 1<<40) {
		t.Error("packets count towards no budget")
	}
	b.rate = 50 * unit.Gbps
	if p.Decide(0); !p.Charged() {
		t.Error("packets do not count by their pace")
	}
}

// budgeted is a controller with a byte budget.
type budgeted struct {
	cc.None
	budget, heard unit.Bytes
	cycle         uint32
	rate          unit.Rate
}

func (b *budgeted) OnBytes(_ unit.Time, n unit.Bytes) { b.heard += n }
func (b *budgeted) Decision() cc.Decision {
	r := b.rate
	if r == 0 {
		r = 100 * unit.Gbps
	}
	return cc.Decision{Rate: r, Budget: b.budget, Cycle: b.cycle, TimerAt: unit.Never}
}

// TestNamedAnswersAreTimed checks that acknowledgements that name their packets are measured in any order. Those of
// packets that requested none are, too: receivers answer marked packets. Retransmitted packets are not measured.
func TestNamedAnswersAreTimed(t *testing.T) {
	const us, first = unit.Microsecond, 1<<24 - 40
	for n := range 100 {
		e := &ear{}
		p := cc.Pacer{Line: 100 * unit.Gbps, Named: true}
		p.Start(e)
		psn := func(i int) uint32 { return uint32(first+i) & (1<<24 - 1) }
		for i := range 100 {
			p.Launched(unit.Time(i)*us, psn(i), i%3 != 2, false)
		}
		p.Launched(200*us, psn(31), true, true)
		una := psn(0) // is missing
		if n == 0 {
			una = psn(1)
		}
		p.Acknowledged(300*us, una, psn(n), cc.Ack{})
		want := 300*us - unit.Time(n)*us
		if n == 31 {
			want = 0
		}
		if e.acks[0].RTT != want {
			t.Errorf("packet %d has a round trip of %v, want %v", n, e.acks[0].RTT, want)
		}
	}
}

// TestNumbersOfFlowsAreGivenOnce checks that the number of a flow that left is reused by one flow.
func TestNumbersOfFlowsAreGivenOnce(t *testing.T) {
	var g cc.Granter
	terms := cc.Terms{Share: 1, Packets: 1}
	for range 3 {
		g.Join(terms, 1000, 0)
	}
	g.Leave(0)
	g.Leave(2)
	seen := map[int32]bool{1: true}
	for i := range 5 {
		f := g.Join(terms, 1000, 0)
		if seen[f] || f < 0 || i < 2 && f > 2 || i >= 2 && f != int32(i)+1 {
			t.Errorf("flow %d of those that join is number %d", i, f)
		}
		seen[f] = true
	}
}

// TestUnaskedAgainBehindGrants checks that a burst after one with granted credit requests only what exceeds the
// unsolicited part.
func TestUnaskedAgainBehindGrants(t *testing.T) {
	a := cc.Lookup("eqds")
	v := a.Profile("trimming").Values(100 * unit.Gbps)
	v["unasked"], v["window"] = 0.5, 4.0 // 62,500 and 500,000 bytes of 10 us at 100 Gbit/s
	p := cc.Pacer{Line: 100 * unit.Gbps, MTU: 4096}
	p.Start(a.New(v)(cc.Path{Line: 100 * unit.Gbps, MTU: 4096, RTT: 10 * unit.Microsecond}))
	p.Begin(0)
	if total, ok := p.Ask(0, 162_500); !ok || total != 100_000 {
		t.Fatalf("asks for %d, want what is beyond 62,500 of 162,500", total)
	}
	p.Charge(62_500)
	p.Granted(1, 100_000)
	p.Charge(100_000)
	p.Begin(2)
	if total, ok := p.Ask(2, 62_500); ok {
		t.Errorf("asks for %d where nothing need be asked for", total)
	}
	if total, ok := p.Ask(2, 62_501); !ok || total != 100_001 {
		t.Errorf("asks for %d in all, want a byte more than was granted", total)
	}
	p.OnTimer(unit.Second) // that was lost
	if total, ok := p.Ask(unit.Second, 1<<40); !ok || total != 100_000+500_000 {
		t.Errorf("asks for %d in all, want a window more than was granted", total)
	}
	p.Granted(unit.Second, 600_000)
	if left := p.Ctl.(cc.Credited).Credit().Left(); left != 500_000 {
		t.Errorf("%d left, want what was granted: what may go unasked is void", left)
	}
}

// TestStepsAreExact: NSCC's proportional increase by its closed form, to the last digits.
func TestStepsAreExact(t *testing.T) {
	const us = unit.Microsecond
	c := nsccOn(t, "nscc:path,eta=0,qa_share=0", 12*us)
	for range 20 {
		c.OnLoss(0, cc.LossNak)
	}
	w := signal(t, c, cc.SignalWindow)
	for range 9 {
		c.OnAck(1, &cc.Ack{Bytes: nsccMTU, RTT: 15 * us})
	}
	want := 9. * nsccMTU * 4 * nsccMTU * 9 / 12 // 4 packets per 12 us, at 9 us below the target
	if got := (signal(t, c, cc.SignalWindow) - w) * w; math.Abs(got/want-1) > 1e-9 {
		t.Errorf("the window times its increase is %.12g, want %.12g", got, want)
	}
}
