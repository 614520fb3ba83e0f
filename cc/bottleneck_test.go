package cc_test

import (
	"container/heap"
	"fmt"
	"strings"
	"testing"

	"railyard/cc"
	"railyard/internal/story"
	"railyard/unit"
)

// bottleneck simulates one sender that always has data, one port with a queue, and one receiver. It gives the
// algorithm every input that a Controller can take. The port's share of the line changes with time.
type bottleneck struct {
	cc.Pacer
	alg     *cc.Algorithm
	values  cc.Values
	now     unit.Time
	todo    happenings
	order   int
	granter cc.Granter
	flow    int32
	grants  unit.Time // time of the granter's next turn; unit.Never: none
	wakes   unit.Time // time of the sender's next wake-up

	psn      uint32
	inFlight unit.Bytes
	waiting  unit.Bytes // arrived, not yet acknowledged
	busy     unit.Time  // of the port
	sent     unit.Bytes // bytes sent by the port, other senders' included
	cnpAt    unit.Time
	tags     int
	packets  int
}

const (
	cable    = 2 * unit.Microsecond // delay per direction between sender, port and receiver
	payload  = 4096
	wireSize = 4096 + 82
	most     = 600 * unit.KB // the port's queue
	markFrom = 100 * unit.KB
)

// happening is something due.
type happening struct {
	at    unit.Time
	order int
	do    func()
}

type happenings []happening

func (h happenings) Len() int { return len(h) }
func (h happenings) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].order < h[j].order
}
func (h happenings) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *happenings) Push(x any)   { *h = append(*h, x.(happening)) }
func (h *happenings) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func (b *bottleneck) after(d unit.Time, do func()) {
	b.order++
	heap.Push(&b.todo, happening{b.now + d, b.order, do})
}

// share is the part of the port's rate that is left to the sender.
func (b *bottleneck) share() unit.Rate {
	switch {
	case b.now < 200*unit.Microsecond:
		return 100
	case b.now < 400*unit.Microsecond:
		return 50
	case b.now < 500*unit.Microsecond:
		return 5
	}
	return 80
}

// served runs timers, reads the decision and sends what may go.
func (b *bottleneck) served() {
	for b.Timer <= b.now {
		b.OnTimer(b.now)
		b.Decide(b.now)
		b.arm()
	}
	for b.NextAt <= b.now && !b.Blocked(b.inFlight) && !b.Broke() {
		asks := b.Asks(b.inFlight + payload)
		b.Launched(b.now, b.psn, asks, false)
		psn, at := b.psn, b.now
		b.psn++
		b.inFlight += payload
		b.packets++
		b.after(cable, func() { b.reached(psn, at, asks) })
		b.Delay(b.now, wireSize, 0)
		if b.Spent(b.now, wireSize) {
			b.Decide(b.now)
		}
		if b.Credited() && b.Charge(wireSize) {
			b.arm()
		}
	}
	next := b.Timer
	if b.NextAt > b.now && !b.Blocked(b.inFlight) && !b.Broke() {
		next = min(next, b.NextAt)
	}
	if next == unit.Never || next == b.wakes && next > b.now {
		return
	}
	b.wakes = next
	b.after(next-b.now, func() {
		if b.wakes == b.now {
			b.wakes = unit.Never
			b.served()
		}
	})
}

// arm requests credit if the algorithm uses credit.
func (b *bottleneck) arm() {
	if !b.Credited() {
		return
	}
	if total, ok := b.Ask(b.now, b.Ahead()); ok {
		b.after(2*cable, func() {
			b.granter.Asked(b.flow, total)
			b.granted()
		})
	}
}

// granted serves the receiver's turns.
func (b *bottleneck) granted() {
	for {
		flow, total, ok := b.granter.Next(b.now, b.Line)
		if !ok {
			break
		}
		if flow == b.flow {
			b.after(2*cable, func() {
				if b.Granted(b.now, total) {
					b.arm()
				}
				b.served()
			})
		}
	}
	if at := b.granter.NextAt(); at < unit.Never && at != b.grants {
		b.grants = at
		b.after(at-b.now, b.granted)
	}
}

// reached has a packet at the port.
func (b *bottleneck) reached(psn uint32, at unit.Time, asks bool) {
	rate := b.Line * b.share() / 100
	queue := unit.InTime(rate, max(0, b.busy-b.now))
	if queue > most {
		loss := cc.LossNak
		if b.psn%2 == 0 {
			loss = cc.LossTrimmed
		}
		if b.alg.Credit != nil { // the receiver sees a trimmed packet
			b.after(cable, func() { b.granter.Needs(b.flow, wireSize); b.granted() })
		}
		b.after(3*cable, func() {
			b.inFlight -= payload
			b.Ctl.OnLoss(b.now, loss)
			b.Decide(b.now)
			b.served()
		})
		return
	}
	ser := unit.Serialize(wireSize, rate)
	b.sent += unit.Bytes(int64(wireSize) * 100 / int64(b.share()))
	t := b.report(queue)
	b.busy = max(b.busy, b.now) + ser
	marked := queue > markFrom
	b.after(b.busy-b.now+cable, func() { b.arrived(psn, asks, marked, t) })
}

// report returns what the port writes into a packet.
func (b *bottleneck) report(queue unit.Bytes) *cc.Telemetry {
	const round = 1 << 24 * unit.Nanosecond
	t := &cc.Telemetry{Hops: 1, Wraps: round}
	switch b.alg.Reports(b.values) {
	case cc.NoReport:
		return nil
	case cc.ReportINT:
		t.Hop[0] = cc.Hop{Rate: b.Line, At: b.now % round, Sent: b.sent % (1 << 27), Wraps: 1 << 27, Queue: queue}
		return t
	}
	t.Most = unit.Millisecond
	b.tags++
	if t.Signal = b.alg.Tags; t.Signal == 0 {
		t.Signal = cc.Signalled(1 + b.tags%2)
	}
	t.Share, t.Delay = float64(b.share())/200, unit.Serialize(queue, b.Line)
	return t
}

// arrived has a packet at the receiver.
func (b *bottleneck) arrived(psn uint32, asks, marked bool, t *cc.Telemetry) {
	b.waiting += payload
	if b.alg.Credit != nil && b.alg.Credit(b.values).Pulls {
		b.granter.Needs(b.flow, wireSize)
		b.granted()
	}
	if marked && b.alg.CNPGap != nil && b.now >= b.cnpAt {
		b.cnpAt = b.now + max(b.alg.CNPGap(b.values), unit.Nanosecond)
		wait := 2 * cable
		if b.alg.CNPDelay != nil {
			wait += b.alg.CNPDelay(b.values)
		}
		b.after(wait, func() {
			b.Ctl.OnCNP(b.now)
			b.Decide(b.now)
			b.served()
		})
	}
	if !asks && b.Acked() {
		return
	}
	bytes := b.waiting
	b.waiting = 0
	b.after(2*cable, func() {
		b.inFlight -= bytes
		a := cc.Ack{Bytes: bytes, InFlight: b.inFlight, Telemetry: t, Marked: marked && b.alg.Marks}
		if b.alg.FarEnd {
			a.Far, a.Hops = unit.Microsecond, 1
		}
		if b.Acknowledged(b.now, psn+1, psn, a) {
			b.Decide(b.now)
		}
		b.served()
	})
}

// run reports the state of the algorithm every 20 us. The sender starts on an idle path, and the path's rate
// changes. A time-out and a trimmed packet follow, and then the sender's own line rate halves and recovers.
func (b *bottleneck) run(tell func(line string)) {
	b.grants, b.wakes = unit.Never, unit.Never
	b.Decide(0)
	if b.Credited() {
		b.flow = b.granter.Join(b.alg.Credit(b.values), wireSize, 0)
		b.Begin(0)
		b.arm()
	}
	b.served()
	for step := range unit.Time(48) {
		end := (step + 1) * 20 * unit.Microsecond
		for len(b.todo) > 0 && b.todo[0].at < end {
			next := heap.Pop(&b.todo).(happening)
			b.now = next.at
			next.do()
		}
		b.now = end
		tell(b.line())
		switch {
		case end == 600*unit.Microsecond:
			b.Ctl.OnLoss(b.now, cc.LossTimeout)
		case end == 660*unit.Microsecond:
			b.Ctl.OnLoss(b.now, cc.LossTrimmedLast)
		case end == 800*unit.Microsecond:
			b.SetLine(b.now, b.Line/2)
		case end == 900*unit.Microsecond:
			b.SetLine(b.now, b.Line*2)
		default:
			continue
		}
		b.Decide(b.now)
		b.served()
	}
}

// line is the sender's state: what may go, and all signals and counters.
func (b *bottleneck) line() string {
	var s strings.Builder
	d := b.Ctl.Decision()
	fmt.Fprintf(&s, "%4d us %5d sent", b.now/unit.Microsecond, b.packets)
	fmt.Fprintf(&s, "  %8.3f Gbit/s", float64(d.Rate)/1e9)
	if d.Window > 0 {
		fmt.Fprintf(&s, " %7d B", d.Window)
	}
	for _, x := range b.alg.Signals {
		if v, _ := b.Ctl.Signal(b.now, x.Name); x.Name != cc.SignalRate && x.Name != cc.SignalWindow {
			fmt.Fprintf(&s, "  %s %.5g", x.Name, v)
		}
	}
	for _, x := range b.alg.Counters {
		if n, _ := b.Ctl.Counter(x.Name); n != 0 {
			fmt.Fprintf(&s, "  %s %d", x.Name, n)
		}
	}
	if h := b.HeldForCredit(b.now); h > 0 {
		fmt.Fprintf(&s, "  held %v", h)
	}
	return strings.TrimRight(s.String(), " ")
}

// TestBottleneck compares every algorithm and profile with its transcript in testdata/bottleneck.
func TestBottleneck(t *testing.T) {
	for _, name := range cc.Names() {
		alg := cc.Lookup(name)
		pages := map[string]func(line unit.Rate) cc.Values{}
		for _, p := range alg.Profiles {
			pages[name+"-"+p.Name] = p.Of
		}
		switch first := alg.Profile(""); {
		case first == nil:
			pages[name] = func(unit.Rate) cc.Values { return nil }
		case alg.Telemetry != nil:
			pages[name+"-csig"] = func(line unit.Rate) cc.Values {
				v := first.Of(line)
				v["csig"] = 4
				return v
			}
		}
		for page, of := range pages {
			t.Run(page, func(t *testing.T) {
				var text strings.Builder
				for _, path := range []cc.Path{
					{Line: 100 * unit.Gbps, MTU: payload, RTT: 8*unit.Microsecond + 700*unit.Nanosecond, Hops: 1},
					{Line: 100 * unit.Gbps, MTU: payload},
				} {
					b := &bottleneck{alg: alg, values: of(path.Line)}
					b.Pacer = cc.Pacer{Line: path.Line, MTU: path.MTU, Named: path.RTT > 0}
					b.Start(alg.New(b.values)(path))
					fmt.Fprintf(&text, "# %s, unloaded round trip %v\n", page, path.RTT)
					n := 0
					b.run(func(line string) {
						if n++; path.RTT > 0 || n%4 == 0 {
							text.WriteString(line + "\n")
						}
					})
				}
				story.Check(t, "bottleneck/"+page, text.String())
			})
		}
	}
}
