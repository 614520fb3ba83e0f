package falcon

import (
	"fmt"
	"testing"

	"railyard/cc"
	"railyard/param"
	"railyard/transport"
	"railyard/unit"
)

// TestDefaultsByHand: Isekai's constants, as the documentation of the protocol has them.
func TestDefaultsByHand(t *testing.T) {
	const want = "map[ack_count:10 ack_delay:8us ask_every:10 early:16 min_timeout:250us paths:4 plb:true plb_late:1.01 " +
		"plb_rounds:5 plb_share:0.5 probe_after:1.1 psp:true reorder:0.25 retries:7 weighted:false window:512]"
	if got := fmt.Sprint(Protocol.Defaults); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// fresh is a sender with packets of 1,000 bytes posted.
func fresh(t *testing.T, planes int, change param.Values, packets int64) *sender {
	t.Helper()
	set := settingsOf(with(change), transport.Common{MTU: 1000, Planes: planes})
	s := newSender(&set, path100, 1)
	if err := s.Post(0, transport.Request{Bytes: 1000 * packets}); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFirstTimeout checks that a packet on a path longer than the minimum time-out is not retransmitted before two
// round trips.
func TestFirstTimeout(t *testing.T) {
	const rtt = 800 * unit.Microsecond
	path := path100
	path.RTT = rtt
	set := settingsOf(with(nil), transport.Common{MTU: 1000, Planes: 1})
	s := newSender(&set, path, 1)
	if err := s.Post(0, transport.Request{Bytes: 5000}); err != nil {
		t.Fatal(err)
	}
	var p transport.Packet
	for s.Next(0, 0, &p) {
	}
	if at := s.At(); at < 2*rtt {
		t.Errorf("a packet goes again after %v, two round trips are %v", at, 2*rtt)
	}
}

// TestNothingByABrokenPlane: a sender whose only port fails sends nothing until the port recovers. A sender with
// two ports uses the other one, and retransmits the packets in flight first.
func TestNothingByABrokenPlane(t *testing.T) {
	var p transport.Packet
	for _, weighted := range []bool{true, false} {
		s := fresh(t, 1, param.Values{"weighted": weighted}, 10)
		if !s.Next(0, 0, &p) || p.PSN != 0 {
			t.Fatalf("packet %d goes", p.PSN)
		}
		s.PlaneIs(1, 0, false)
		if s.Ready(1, 0) || s.Next(1, 0, &p) || !s.Pending() || s.InFlight() != 0 {
			t.Errorf("packet %d goes by a broken port, %v under way", p.PSN, s.InFlight())
		}
		if held := s.Held(11); held.Window != 10 {
			t.Errorf("held for %v, want 10 ps", held.Window)
		}
		s.PlaneIs(2, 1, false) // there is none
		s.PlaneIs(3, 0, true)
		if !s.Ready(3, 0) || !s.Next(3, 0, &p) || p.PSN != 0 || p.Flags&transport.Again == 0 {
			t.Errorf("the port works again: packet %d goes", p.PSN)
		}
	}
	for broken := range 2 {
		s := fresh(t, 2, nil, 10)
		for i := range 4 {
			if plane := i % 2; !s.Next(0, plane, &p) || int(p.Plane) != plane {
				t.Fatalf("packet %d goes by plane %d, want %d", p.PSN, p.Plane, plane)
			}
		}
		s.PlaneIs(1, broken, false)
		if s.Ready(1, broken) || s.Next(1, broken, &p) || s.InFlight() != 2000 {
			t.Errorf("plane %d is broken: ready, or %v under way", broken, s.InFlight())
		}
		for n := range 2 {
			if psn := uint32(2*n + broken); !s.Ready(1, 1-broken) || !s.Next(1, 1-broken, &p) || p.PSN != psn {
				t.Errorf("packet %d goes by plane %d, want %d once more", p.PSN, 1-broken, psn)
			}
		}
		for i := range s.flows {
			if int(s.flows[i].plane) == broken {
				t.Errorf("path %d is still on plane %d", i, broken)
			}
		}
		s.PlaneIs(2, broken, true)
		for i := range s.flows {
			if int(s.flows[i].plane) != i%2 {
				t.Errorf("path %d is on plane %d, want it back where it was", i, s.flows[i].plane)
			}
		}
		if !s.Ready(2, broken) {
			t.Errorf("plane %d works again, and is not used", broken)
		}
	}
}

// TestCongestedByHand: a path is left after five consecutive rounds of ten packets in which half of the packets or
// more were late.
func TestCongestedByHand(t *testing.T) {
	set := settingsOf(Protocol.Defaults, transport.Common{MTU: 1000})
	round := func(p *plb, late int) (left bool) {
		for i := range 5 {
			left = p.congested(&set, 2, i < late, 10) || left
		}
		return left
	}
	for name, c := range map[string]struct {
		late []int // of five acknowledgements in a round, of two packets each
		left int   // round at whose end the path is left; 0: never
	}{
		"all late":               {[]int{5, 5, 5, 5, 5, 5}, 5},
		"just more than half":    {[]int{3, 3, 3, 3, 3, 3}, 5},
		"fewer than half":        {[]int{2, 2, 2, 2, 2, 2, 2, 2}, 0},
		"one good round between": {[]int{5, 5, 5, 5, 2, 5, 5, 5, 5, 5}, 10},
		"and again after that":   {[]int{5, 5, 5, 5, 5, 5, 5, 5, 5}, 5},
	} {
		var p plb
		left := 0
		for i, late := range c.late {
			if round(&p, late) {
				if left > 0 {
					t.Errorf("%s: left twice, in round %d", name, i+1)
				}
				left = i + 1
			}
		}
		if left != c.left {
			t.Errorf("%s: left after round %d, want %d", name, left, c.left)
		}
	}
	var p plb
	for range 5 { // exactly half of ten packets
		p.congested(&set, 5, true, 10)
		if left := p.congested(&set, 5, false, 10); left != (p.rounds == 0) {
			t.Errorf("rounds %d, left %v", p.rounds, left)
		}
	}
	if p.rounds != 0 || p.acked != 0 || p.late != 0 {
		t.Errorf("after five rounds of exactly half: %+v", p)
	}
}

// eager is a controller whose window and target change with its first acknowledgement.
type eager struct {
	cc.Controller
	window [2]unit.Bytes
	target [2]float64
	acks   int
}

func (e *eager) OnAck(unit.Time, *cc.Ack)                 { e.acks = 1 }
func (e *eager) Decision() cc.Decision                    { return cc.Decision{Window: e.window[e.acks]} }
func (e *eager) Signal(unit.Time, string) (float64, bool) { return e.target[e.acks], true }

// TestCongestionBeforeTheUpdate: an acknowledgement is late, and a round ends, by the target and the window before the
// controller takes the acknowledgement (Isekai, swift.h: ProcessAckNackMultipath, ComputePlb).
func TestCongestionBeforeTheUpdate(t *testing.T) {
	for name, c := range map[string]struct {
		window [2]unit.Bytes // before and after
		target [2]float64
		left   bool
	}{
		"late by the target before":    {[2]unit.Bytes{4000, 4000}, [2]float64{20e-6, 40e-6}, true},
		"late by the target after":     {[2]unit.Bytes{4000, 4000}, [2]float64{40e-6, 20e-6}, false},
		"no target before":             {[2]unit.Bytes{4000, 4000}, [2]float64{0, 20e-6}, true},
		"a round by the window before": {[2]unit.Bytes{4000, 8000}, [2]float64{20e-6, 20e-6}, true},
		"a round by the window after":  {[2]unit.Bytes{8000, 4000}, [2]float64{20e-6, 20e-6}, false},
		"four packets of 4.5":          {[2]unit.Bytes{4500, 4500}, [2]float64{20e-6, 20e-6}, false},
	} {
		s := fresh(t, 1, param.Values{"plb_rounds": 1}, 8)
		f := &s.flows[0]
		f.ctl = &eager{window: c.window, target: c.target}
		f.decide(s.set.MTU, s.line)
		f.acked = 4000
		s.tell(0, 0, 30*us, &transport.Packet{})
		if left := s.repaths == 1; left != c.left {
			t.Errorf("%s: the path is left: %v", name, left)
		}
	}
}

// TestReceiverAnswers: a path's packets are acknowledged together: every ten, after 8 us, or when one requests it
// or is a duplicate. The acknowledgement echoes the last packet's time stamp, its delay at the receiver, and
// whether a packet was marked. Packets that are no data, trimmed, or too far ahead are not acknowledged.
func TestReceiverAnswers(t *testing.T) {
	m := Protocol.New(Protocol.Defaults, transport.Common{MTU: 1000, Planes: 1})
	r := m.Receiver(path100, 1)
	psn := uint32(0)
	var a transport.Packet
	data := func(flags transport.Flags) *transport.Packet {
		psn++
		return &transport.Packet{Kind: transport.Data, PSN: psn - 1, Payload: 1000, Bytes: 1 << 30, EV: 5<<2 | 1,
			Sent: unit.Time(psn), Flags: flags}
	}
	quiet := func(what string) {
		t.Helper()
		if r.Say(0, &a) {
			t.Errorf("%s: an acknowledgement of %d", what, a.Expect)
		}
	}
	said := func(now, waited unit.Time, marked bool, what string) {
		t.Helper()
		if !r.Say(now, &a) || a.Kind != transport.Ack || a.Expect != psn || a.EchoEV != 5<<2|1 || a.EV != 5<<2|1 ||
			a.Sent != unit.Time(psn) || a.Delay != waited || a.Flags&transport.Marked != 0 != marked {
			t.Errorf("%s: %+v", what, a)
		}
		quiet(what + ", and once more")
	}
	for i := range 10 {
		quiet(fmt.Sprintf("%d packets", i))
		if !r.Take(unit.Time(i)*us, data(0)) {
			t.Errorf("packet %d is not new", i)
		}
		if i == 0 && r.At() != 8*us {
			t.Errorf("the first is acknowledged at %v at the latest", r.At())
		}
	}
	said(9*us, 0, false, "ten packets")
	r.Take(20*us, data(transport.Marked))
	r.Take(21*us, data(0))
	if r.Tick(28*us - 1); r.At() != 28*us {
		t.Errorf("due at %v, want 28 us", r.At())
	}
	quiet("too early")
	r.Tick(28 * us)
	said(28*us, 7*us, true, "8 us after the first")
	r.Take(30*us, data(transport.Asks))
	said(30*us, 0, false, "one that asks")
	old := *data(0)
	psn--
	old.PSN, old.Sent = psn-1, unit.Time(psn)
	if r.Take(31*us, &old) {
		t.Error("a copy is new")
	}
	said(31*us, 0, false, "one that came before")
	for what, p := range map[string]*transport.Packet{
		"an acknowledgement": {Kind: transport.Ack, PSN: psn, EV: 1, Flags: transport.Asks},
		"a probe":            {Kind: transport.Probe, PSN: psn, EV: 1, Flags: transport.Asks},
		"headers":            {PSN: psn, EV: 1, Flags: transport.Asks | transport.Trimmed},
		"too far ahead":      {PSN: psn + 512, EV: 1, Payload: 1000, Bytes: 1 << 30, Flags: transport.Asks},
	} {
		if r.Take(40*us, p) {
			t.Errorf("%s is new", what)
		}
		quiet(what)
	}
	if !r.Take(50*us, &transport.Packet{PSN: psn + 511, EV: 1, Payload: 1000, Bytes: 1 << 30, Flags: transport.Asks}) {
		t.Error("the last one of the window is not taken")
	}
	if !r.Say(50*us, &a) || a.Expect != psn || a.Bits == [2]uint64{} && a.Base+128 > psn+511 {
		t.Errorf("a gap: %+v", a)
	}
}

// TestTimeoutLeavesSilentPaths: at the time-out all packets in flight are retransmitted. Paths without an
// acknowledgement since then are left; the others stay in use.
func TestTimeoutLeavesSilentPaths(t *testing.T) {
	s := fresh(t, 1, param.Values{"weighted": false, "plb": false}, 8)
	var p transport.Packet
	labels := map[int]uint32{}
	by := map[uint32]int{}
	for s.Next(0, 0, &p) {
		by[p.PSN] = int(p.EV & 3)
	}
	for i := range s.flows {
		labels[i] = s.flows[i].label
		s.flows[i].heardAt = map[int]unit.Time{0: -1, 1: -1, 2: 1, 3: 1}[i]
	}
	if len(by) != 8 || s.At() > 250*us {
		t.Fatalf("%d packets are out, and the next time is %v", len(by), s.At())
	}
	s.probeAt, s.rackAt = unit.Never, unit.Never
	if s.Tick(250*us - 1); s.InFlight() != 8000 {
		t.Errorf("%v under way before the time-out", s.InFlight())
	}
	if s.Tick(250 * us); s.InFlight() != 0 || s.expired != 1 || s.rtoAt != 250*us+500*us {
		t.Errorf("after it %v are under way, %d time-outs, the next at %v", s.InFlight(), s.expired, s.rtoAt)
	}
	for i := range s.flows {
		if left := s.flows[i].label != labels[i]; left != (i < 2) {
			t.Errorf("path %d, heard of at %v, is left: %v", i, s.flows[i].heardAt, left)
		}
	}
	if s.repaths != 2 {
		t.Errorf("%d paths left, want 2", s.repaths)
	}
}
