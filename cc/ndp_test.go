package cc

import (
	"testing"

	"railyard/unit"
)

// pulledAccount is NDP's on a path of 100 Gbit/s and 8 us, which holds 100 KB.
func pulledAccount() *Pacer {
	p := &Pacer{Line: 100 * unit.Gbps, MTU: 4096}
	p.Start(ndp.Use("", 100*unit.Gbps)(Path{Line: 100 * unit.Gbps, MTU: 4096, RTT: 8 * unit.Microsecond}))
	p.Decide(0)
	return p
}

// A burst begins with the initial window and no request. Each pull permits one packet, and old pulls permit none. A
// backlog sends no requests.
func TestNDPSendsItsWindowAndWhatIsPulled(t *testing.T) {
	const packet = 4200
	p := pulledAccount()
	p.Begin(0)
	send := func(now unit.Time) (n int) {
		for ; !p.Broke(); n++ {
			if p.Charge(packet) {
				if _, ok := p.Ask(now, 1<<30); ok {
					t.Fatalf("it asks at %v", now)
				}
			}
		}
		return n
	}
	if n, want := send(0), (116_000+packet-1)/packet; n != want {
		t.Errorf("%d packets go unasked, want %d", n, want)
	}
	for i := range int64(100) {
		now := unit.Time(i+10) * unit.Microsecond
		if !p.Granted(now, (i+1)*4206) || p.Granted(now, i*4206) {
			t.Fatalf("pull %d counts wrong", i)
		}
		if n := send(now); n > 2 || i > 50 && n != 1 {
			t.Fatalf("pull %d is worth %d packets", i, n)
		}
	}
	if held := p.HeldForCredit(200 * unit.Microsecond); held == 0 {
		t.Error("nothing waited for credit")
	}
}

// After a time-out without a pull it requests one packet. Repeated requests are at increasing intervals.
func TestNDPAsksWhenNothingComes(t *testing.T) {
	p := pulledAccount()
	p.Begin(0)
	for !p.Broke() {
		p.Charge(4200)
	}
	p.Ask(0, 1<<30)
	var asked []unit.Time
	for range 4 {
		now := p.Timer
		if now == unit.Never {
			t.Fatal("it waits for ever")
		}
		p.OnTimer(now)
		total, ok := p.Ask(now, 1<<30)
		left := p.credit.granted + 2*4206
		if !ok || total > left {
			t.Fatalf("at %v it asks for %d in all (%v), want at most %d", now, total, ok, left)
		}
		asked = append(asked, now)
	}
	if asked[0] != unit.Millisecond || asked[1]-asked[0] <= asked[0] ||
		asked[3]-asked[2] <= asked[2]-asked[1] {
		t.Errorf("it asks at %v", asked)
	}
	if p.Granted(asked[3], 4206); p.Broke() {
		t.Error("a pull came and nothing may go")
	}
	if _, ok := p.Ask(asked[3], 0); ok || p.Timer != unit.Never {
		t.Error("with nothing to send it asks, or waits for a time")
	}
}
