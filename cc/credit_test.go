package cc_test

import (
	"testing"

	"railyard/cc"
	"railyard/unit"

	"pgregory.net/rapid"
)

// creditSender sends at line rate whenever its credit permits.
type creditSender struct {
	cc.Pacer
	flow            int32
	backlog, posted int64
	free            unit.Time // its port
	requests        []creditNote
	grants          []creditNote
	asked           int64
}

type creditNote struct {
	at    unit.Time
	total int64
}

// creditWorld is a receiver and senders. The path between them delays and loses requests and grants.
type creditWorld struct {
	rt      *rapid.T
	now     unit.Time
	delay   unit.Time
	loss    int // per cent
	senders []*creditSender
	granter cc.Granter
	began   unit.Time
	share   float64
}

const creditPacket = 4096 + 110

func newCreditWorld(rt *rapid.T, profile string, senders int) *creditWorld {
	w := &creditWorld{rt: rt, delay: unit.Time(rapid.IntRange(1, 20).Draw(rt, "delay")) * unit.Microsecond,
		loss: rapid.IntRange(0, 30).Draw(rt, "loss")}
	a := cc.Lookup("eqds")
	v := a.Profile(profile).Values(line)
	v["grant"] = rapid.IntRange(1, 8).Draw(rt, "grant")
	w.share = v["share"].(float64)
	for range senders {
		s := &creditSender{Pacer: cc.Pacer{Line: line, MTU: 4096}}
		s.Start(a.New(v)(cc.Path{Line: line, MTU: 4096, RTT: 2 * w.delay}))
		s.Decide(0)
		s.flow = w.granter.Join(a.Credit(v), creditPacket, 0)
		w.senders = append(w.senders, s)
	}
	return w
}

func (w *creditWorld) lost() bool { return rapid.IntRange(0, 99).Draw(w.rt, "luck") < w.loss }

func (w *creditWorld) ask(s *creditSender) {
	total, ok := s.Ask(w.now, min(s.backlog, s.Ahead()))
	if !ok {
		return
	}
	if s.asked = max(s.asked, total); !w.lost() {
		s.requests = append(s.requests, creditNote{w.now + w.delay, total})
	}
}

func (w *creditWorld) post(s *creditSender, bytes int64) {
	if s.backlog == 0 {
		s.Begin(w.now)
	}
	s.backlog += bytes
	s.posted += bytes
	w.ask(s)
}

// step processes the events that are due and advances to the next one; false: there is none.
func (w *creditWorld) step() bool {
	next := unit.Never
	for _, s := range w.senders {
		for len(s.requests) > 0 && s.requests[0].at <= w.now {
			w.granter.Asked(s.flow, s.requests[0].total)
			s.requests = s.requests[1:]
		}
		for len(s.grants) > 0 && s.grants[0].at <= w.now {
			s.Granted(w.now, s.grants[0].total)
			s.grants = s.grants[1:]
			w.ask(s)
		}
		if s.Timer <= w.now {
			s.OnTimer(w.now)
			s.Decide(w.now)
			w.ask(s)
		}
		if s.backlog > 0 && !s.Broke() && s.free <= w.now {
			n := min(s.backlog, creditPacket)
			s.backlog -= n
			s.free = w.now + unit.Serialize(unit.Bytes(n), line)
			if s.Charge(n) {
				w.ask(s)
			}
		}
		next = min(next, s.Timer)
		if s.backlog > 0 && !s.Broke() {
			next = min(next, s.free)
		}
	}
	for {
		flow, total, ok := w.granter.Next(w.now, line)
		if !ok {
			break
		}
		s := w.senders[flow]
		if total > s.asked {
			w.rt.Fatalf("sender %d asked for %d in all and is granted %d", flow, s.asked, total)
		}
		if !w.lost() {
			s.grants = append(s.grants, creditNote{w.now + w.delay, total})
		}
	}
	next = min(next, w.granter.NextAt())
	for _, s := range w.senders {
		if len(s.requests) > 0 {
			next = min(next, s.requests[0].at)
		}
		if len(s.grants) > 0 {
			next = min(next, s.grants[0].at)
		}
	}
	if next == unit.Never {
		return false
	}
	w.now = max(w.now, next)
	return true
}

func (w *creditWorld) account(s *creditSender) *cc.Credit { return s.Ctl.(cc.Credited).Credit() }

// check checks the bounds of credit.
func (w *creditWorld) check() {
	sum := int64(0)
	for i, s := range w.senders {
		c := w.account(s)
		if left := c.Left(); left > unit.Bytes(s.Ahead()) || left <= -creditPacket {
			w.rt.Fatalf("sender %d holds %d of credit: above its window of %d, or owing a packet", i,
				left, s.Ahead())
		}
		sum += int64(w.granter.Granted(s.flow))
	}
	rate := unit.Rate(float64(line) * w.share)
	if most := int64(unit.InTime(rate, w.now-w.began)) + 8*creditPacket; sum > most {
		w.rt.Fatalf("%d bytes are granted by %v, the line takes %d", sum, w.now, most)
	}
}

// Whichever requests and grants are lost, all data are sent. No sender holds more credit than its window, and no
// grant exceeds the request or the receiver's share of the line.
func TestCreditUnderLoss(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newCreditWorld(rt, rapid.SampledFrom([]string{"trimming", "request"}).Draw(rt, "profile"),
			rapid.IntRange(1, 6).Draw(rt, "senders"))
		for range rapid.IntRange(1, 4).Draw(rt, "bursts") {
			for _, s := range w.senders {
				for range rapid.IntRange(0, 3).Draw(rt, "messages") {
					w.post(s, rapid.Int64Range(1, 400_000).Draw(rt, "bytes"))
				}
			}
			until := w.now + unit.Time(rapid.IntRange(0, 500).Draw(rt, "until"))*unit.Microsecond
			for w.now < until && w.step() {
				w.check()
			}
		}
		for steps := 0; w.step(); steps++ {
			w.check()
			if steps > 200_000 {
				rt.Fatalf("it does not come to an end: at %v", w.now)
			}
		}
		for i, s := range w.senders {
			if s.backlog > 0 {
				rt.Fatalf("sender %d stands still with %d of %d bytes at %v", i, s.backlog, s.posted, w.now)
			}
			if s.HeldForCredit(w.now) != s.HeldForCredit(w.now+unit.Second) {
				rt.Fatalf("sender %d has nothing to send and waits for credit", i)
			}
		}
	})
}

// Without losses requests are repeated only before a sender's first grant, and senders share the receiver's share
// of the line evenly.
func TestCreditIsShared(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(rt, "senders")
		w := newCreditWorld(rt, "request", n)
		w.loss = 0
		for _, s := range w.senders {
			w.post(s, 1<<40)
		}
		for w.now < 5*unit.Millisecond {
			w.step()
		}
		low, high, sum := unit.Bytes(1<<62), unit.Bytes(0), unit.Bytes(0)
		for i, s := range w.senders {
			g := w.granter.Granted(s.flow)
			low, high, sum = min(low, g), max(high, g), sum+g
			if repeats, _ := s.Ctl.Counter("repeats"); repeats > 4 { // before the first grant, in a crowd
				rt.Fatalf("sender %d asked %d times again", i, repeats)
			}
		}
		full := unit.InTime(unit.Rate(float64(line)*w.share), w.now-w.delay)
		if high-low > 2*8*creditPacket || sum < full*99/100 {
			rt.Fatalf("%d senders were granted %v to %v, %v in all of %v", n, low, high, sum, full)
		}
	})
}

// Flows of a higher level are granted first. A repeated request gets the existing grant, and an impossible request
// is ignored.
func TestGranter(t *testing.T) {
	var g cc.Granter
	terms := cc.Terms{Share: 1, Packets: 1}
	low, high := g.Join(terms, 1000, 0), g.Join(terms, 1000, 3)
	if g.NextAt() != unit.Never {
		t.Fatal("it grants what nobody asked for")
	}
	g.Asked(low, 2500)
	g.Asked(high, 1500)
	g.Asked(high, 1<<62)
	want := []struct {
		flow  int32
		total int64
		at    unit.Time
	}{{high, 1000, 0}, {high, 1500, 80}, {low, 1000, 120}, {low, 2000, 200}, {low, 2500, 280}}
	for _, x := range want {
		at := x.at * unit.Nanosecond
		if g.NextAt() != at {
			t.Fatalf("the next grant is due at %v, want %v", g.NextAt(), at)
		}
		if _, _, early := g.Next(at-1, 100*unit.Gbps); early {
			t.Fatalf("a grant before %v", at)
		}
		if flow, total, _ := g.Next(at, 100*unit.Gbps); flow != x.flow || total != x.total {
			t.Fatalf("at %v flow %d is granted %d, want %+v", at, flow, total, x)
		}
	}
	g.Asked(low, 2500)
	if flow, total, ok := g.Next(unit.Second, line); !ok || flow != low || total != 2500 {
		t.Errorf("a lost grant is told again as %d for %d", total, flow)
	}
	g.Needs(low, 700)
	if _, total, _ := g.Next(unit.Second+unit.Microsecond, line); total != 3200 {
		t.Errorf("%d are granted in all where 700 more are needed", total)
	}
	if g.NextAt() != unit.Never {
		t.Error("it goes on granting")
	}
}

// The number of a flow that left is reused once no ring contains it.
func TestFlowsLeave(t *testing.T) {
	var g cc.Granter
	terms := cc.Terms{Share: 1, Packets: 1}
	a, b := g.Join(terms, 1000, 0), g.Join(terms, 1000, 0)
	g.Asked(a, 5000)
	g.Drop(a)
	if g.Outstanding(a) != 0 {
		t.Error("what was asked for is not forgotten")
	}
	g.Asked(a, 5000)
	g.Leave(a)
	if c := g.Join(terms, 1000, 0); c == a || c == b {
		t.Fatalf("flow %d is given away while it waits for its turn", c)
	}
	if flow, total, ok := g.Next(0, line); !ok || flow != a || total != 0 {
		t.Fatalf("flow %d, which is gone, is granted %d", flow, total)
	}
	if c := g.Join(terms, 1000, 0); c != a || g.Granted(c) != 0 {
		t.Errorf("the next flow is %d with %v granted, want %d", c, g.Granted(c), a)
	}
}

// Credit allocates no memory, neither per grant nor per packet.
func TestCreditAllocatesNothing(t *testing.T) {
	a := cc.Lookup("eqds")
	p := cc.Pacer{Line: line, MTU: 4096}
	p.Start(a.Use("request", line)(cc.Path{Line: line, MTU: 4096, RTT: 10 * unit.Microsecond}))
	var g cc.Granter
	flow := g.Join(a.Credit(a.Profiles[0].Values(line)), creditPacket, 0)
	p.Begin(0)
	now := unit.Time(0)
	if n := testing.AllocsPerRun(1000, func() {
		now += unit.Microsecond
		if total, ok := p.Ask(now, 1<<30); ok {
			g.Asked(flow, total)
		}
		if _, total, ok := g.Next(now, line); ok {
			p.Granted(now, total)
		}
		for !p.Broke() {
			p.Charge(creditPacket)
		}
	}); n > 0 {
		t.Errorf("%v allocations a grant", n)
	}
}

// The unsolicited part of a burst is void after a grant or a loss: only granted credit is left (docs/references.md,
// credit: a speculative first window, then only against credit). The next burst has its full unsolicited part,
// without the remainder of the last one.
func TestUnaskedIsVoid(t *testing.T) {
	const first, sent, granted = 50_000, 2 * creditPacket, 3 * creditPacket
	open := func(profile string) (*cc.Pacer, *cc.Credit) {
		a := cc.Lookup("eqds")
		v := a.Profile(profile).Values(line)
		rtt := 20 * unit.Microsecond
		v["unasked"] = float64(first) / (float64(unit.InTime(line, rtt)))
		p := cc.Pacer{Line: line, MTU: 4096}
		p.Start(a.New(v)(cc.Path{Line: line, MTU: 4096, RTT: rtt}))
		p.Begin(0)
		return &p, p.Ctl.(cc.Credited).Credit()
	}
	p, c := open("trimming")
	if left := c.Left(); left < first-100 || left > first+100 {
		t.Fatalf("%v may go unasked, want %d", left, first)
	}
	p.Ask(0, 1<<30) // more than a round trip's worth
	p.Charge(sent)
	if left := c.Left(); left < first-sent-100 {
		t.Fatalf("%v left after %d have gone, want %d", left, sent, first-sent)
	}
	if p.Granted(unit.Microsecond, granted); c.Left() != granted {
		t.Errorf("%v left with a grant of %d: what was not sent unasked is not void", c.Left(), granted)
	}
	p.Charge(granted)
	if !p.Broke() {
		t.Error("more goes than was sent unasked and granted")
	}
	p.Begin(2 * unit.Microsecond)
	if left := c.Left(); left < first-100 || left > first+100 {
		t.Errorf("the next burst has %v unasked, want %d", left, first)
	}
	p, c = open("trimming")
	p.Charge(sent)
	p.Begin(unit.Microsecond)
	if left := c.Left(); left < first-100 || left > first+100 {
		t.Errorf("a burst after one that left %d has %v unasked, want %d", first-sent, left, first)
	}
	p.Ctl.OnLoss(2*unit.Microsecond, cc.LossTrimmed)
	if c.Left() != 0 {
		t.Errorf("%v left after a switch had no room, nothing is granted", c.Left())
	}
}

// Until the answer to the next request, the unsolicited part is kept as far as requested credit does not last a
// round trip. Otherwise a sender that relied on it would stall. A loss also voids the part that was kept.
func TestUnaskedStaysForShortBursts(t *testing.T) {
	const rtt = 20 * unit.Microsecond
	trip := int64(unit.InTime(line, rtt))
	first, backlog := 3*trip/2, 8*trip/5
	a := cc.Lookup("rccc")
	p := cc.Pacer{Line: line, MTU: 4096}
	p.Start(a.New(a.Profile("htsim").Values(line))(cc.Path{Line: line, MTU: 4096, RTT: rtt}))
	c := p.Ctl.(cc.Credited).Credit()
	p.Begin(0)
	asked, ok := p.Ask(0, backlog)
	if !ok || asked != backlog-first {
		t.Fatalf("%d asked for with %d to send and %d unasked", asked, backlog, first)
	}
	p.Charge(trip)
	p.Granted(rtt, asked/2)
	if left := c.Left(); left != unit.Bytes(first-trip+asked/2) {
		t.Errorf("%v left of what may go unasked and a first grant of %d", left, asked/2)
	}
	p.Ctl.OnLoss(rtt, cc.LossTrimmed)
	if left := c.Left(); left != unit.Bytes(asked/2) {
		t.Errorf("%v left after a loss, %d is granted", left, asked/2)
	}
}
