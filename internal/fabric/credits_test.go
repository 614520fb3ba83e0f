package fabric

import (
	"testing"

	"railyard/internal/queue"
	"railyard/roce"
	"railyard/unit"
)

// knowing is a chooser that uses credits.
type knowing struct {
	around
	held *[]int32
}

func (k knowing) Credits() bool       { return true }
func (k knowing) Credit(held []int32) { *k.held = held }

// A switch knows how much of its data the next switch buffers, except for a step and what is in flight. R2 sends to
// its host at a quarter of the rate, so R1 sees R2's buffer fill and drain while its own queue is short. A broken
// cable resets the credits.
func TestCredits(t *testing.T) {
	spec := queue.Default()
	rise, err := spec.Rise(3)
	if err != nil {
		t.Fatal(err)
	}
	net, a, name := triangle(t, &spec, &rise)
	var held []int32
	net.credit(knowing{held: &held})
	port := int32(-1)
	for p, n := range name {
		if n == "R1 → R2" {
			port = p
		}
	}
	most, queued := int32(0), int32(0)
	step := func() {
		e, _ := net.Q.Pop()
		deliver(net, &e)
		in, holds := net.Ports[port].Peer, int32(0)
		for c := range queue.Classes {
			g := &net.ing[net.slot(in, c)]
			holds += g.shared + g.headroom
		}
		if off := held[port] - holds; off > 2*creditStep || off < -2*creditStep {
			t.Fatalf("%v: R2 holds %d bytes, R1 knows of %d", net.Q.Now(), holds, held[port])
		}
		most, queued = max(most, held[port]), max(queued, net.Ports[port].Queued)
	}
	send := func(packets int) {
		for i := range packets {
			pi := net.Alloc()
			p := &net.Packets[pi]
			p.Dst, p.Loc, p.Payload, p.Size, p.Opcode = 1, 2, 4000, frame, roce.WriteMiddle
			p.TOS, p.PSN, p.Class = 24<<2|ECT0, uint32(i+1), 3
			tx := &net.Ports[a]
			for now := net.Q.Now(); tx.BusyUntil > now; now = net.Q.Now() {
				step()
			}
			net.Transmit(net.Q.Now(), a, tx, pi, p)
		}
	}
	send(40)
	for net.InUse() > 0 {
		step()
	}
	for net.Q.Len() > 0 {
		step()
	}
	if most < 80_000 || queued > 2*frame || held[port] != 0 {
		t.Errorf("at most %d bytes at R2 are known, %d in R1's own queue; at the end %d", most, queued, held[port])
	}
	send(40)
	was := held[port]
	net.SetLink(port, LinkState{Rate: 100 * unit.Gbps})
	if was == 0 || held[port] != 0 {
		t.Errorf("before the cable broke %d bytes were known, behind it %d", was, held[port])
	}
}

// An update in flight when a cable breaks is lost, even if the cable is repaired at once. Both ends then count from
// the same value, and the bytes still in R2 are reported again.
func TestCreditsOfABrokenCable(t *testing.T) {
	spec := queue.Default()
	rise, err := spec.Rise(3)
	if err != nil {
		t.Fatal(err)
	}
	for breaks := range 200 {
		net, a, name := triangle(t, &spec, &rise)
		var held []int32
		net.credit(knowing{held: &held})
		port := int32(-1)
		for p, n := range name {
			if n == "R1 → R2" {
				port = p
			}
		}
		step := func() bool {
			e, ok := net.Q.Pop()
			if ok {
				deliver(net, &e)
			}
			return ok
		}
		for i := range 20 {
			pi := net.Alloc()
			p := &net.Packets[pi]
			p.Dst, p.Loc, p.Payload, p.Size, p.Opcode = 1, 2, 4000, frame, roce.WriteMiddle
			p.TOS, p.PSN, p.Class = 24<<2|ECT0, uint32(i+1), 3
			tx := &net.Ports[a]
			for tx.BusyUntil > net.Q.Now() {
				step()
			}
			net.Transmit(net.Q.Now(), a, tx, pi, p)
		}
		for range breaks {
			step()
		}
		net.SetLink(port, LinkState{Rate: 100 * unit.Gbps})
		net.SetLink(port, LinkState{Up: true, Rate: 100 * unit.Gbps})
		for again := net.Q.Now() + net.Ports[port].Flight; net.Q.Now() <= again && step(); {
		}
		in, holds := net.Ports[port].Peer, int32(0)
		for c := range queue.Classes {
			g := &net.ing[net.slot(in, c)]
			holds += g.shared + g.headroom
		}
		if off := held[port] - holds; off > 2*creditStep || off < -2*creditStep {
			t.Errorf("%d events before the cable broke, R2 holds %d bytes, R1 knows of %d", breaks, holds, held[port])
		}
		for step() {
		}
		if held[port] != 0 {
			t.Errorf("%d events before the cable broke, at the end R1 knows of %d bytes at R2", breaks, held[port])
		}
	}
}
