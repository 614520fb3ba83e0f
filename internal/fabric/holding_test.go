package fabric

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"railyard/internal/engine"
	"railyard/internal/queue"
	"railyard/internal/rng"
	"railyard/unit"
)

// TestHolders sends packets through a small switch and sums, event by event, for how long each egress port holds
// bytes of each ingress. Holders returns equal sums for a pause, and the queues' bytes.
func TestHolders(t *testing.T) {
	pauses := int64(0)
	rapid.Check(t, func(rt *rapid.T) {
		const hosts = 5
		b := newBench(t, hosts, func(s *queue.Spec) {
			s.Queues[3] = queue.Class{Weight: 50, Lossless: true, XOff: 30 * unit.KB, XOn: 10 * unit.KB}
		})
		at := unit.Time(0)
		draw := rng.New(rapid.Uint64().Draw(rt, "seed"), "packets")
		for range 300 {
			at += unit.Time(draw.Intn(100_000))
			from, to := draw.Intn(hosts), max(0, draw.Intn(6)-3) // most packets go to host 0
			if from == to {
				from = (from + 1) % hosts
			}
			b.put(at, from, to, 24, uint16(100+draw.Intn(3900)))
		}
		type pair struct{ in, out int32 }
		sums, seen := map[pair]int64{}, 0
		bytes := func() map[pair]int64 {
			held := map[pair]int64{}
			for _, out := range b.in {
				b.eachWaiting(out, func(p *Packet) { held[pair{p.In, out}] += int64(p.Size) })
			}
			return held
		}
		b.Trace = func(_ unit.Time, what string, port int32, _ int) {
			for _, out := range b.in {
				if what == "xoff" {
					sums[pair{port, out}] = 0
				}
			}
			if what != "xon" {
				return
			}
			seen++
			got := map[pair]int64{}
			b.Holders(port, 3, func(h Holder) { got[pair{port, h.Port}] = h.Moment })
			for _, out := range b.in {
				if k := (pair{port, out}); got[k] != sums[k] {
					rt.Fatalf("port %d held %d bytes x time of ingress %d, Holders says %d", out, sums[k], port, got[k])
				}
			}
		}
		last := unit.Time(0)
		for {
			held := bytes()
			e, ok := b.Q.Pop()
			if !ok {
				break
			}
			for k, v := range held {
				sums[k] += v * int64(e.At>>10-last>>10)
			}
			last = e.At
			b.handle(&e)
			if err := b.Audit(); err != nil {
				rt.Fatal(err)
			}
		}
		if int64(seen) != b.Pauses {
			rt.Fatalf("%d pauses, of which %d ended", b.Pauses, seen)
		}
		pauses += b.Pauses
	})
	if pauses == 0 {
		t.Error("no draw paused anything")
	}
}

// TestWaitsSince checks for how long the oldest packet of a port has waited, and which flows' packets wait there.
func TestWaitsSince(t *testing.T) {
	b := newBench(t, 3, func(s *queue.Spec) {
		s.Queues[3] = queue.Class{Weight: 50, Lossless: true, XOff: 200 * unit.KB, XOn: 100 * unit.KB}
	})
	b.run(unit.Microsecond)
	if got := b.WaitsSince(b.in[2]); got != b.Q.Now() {
		t.Errorf("an empty port's packets wait since %v, now is %v", got, b.Q.Now())
	}
	b.SendPause(b.hosts[2], 3)
	b.run(3 * unit.Microsecond)
	first := 4 * unit.Microsecond
	for i := range 3 {
		b.put(first+unit.Time(i)*unit.Microsecond, i%2, 2, 24, 1000)
	}
	b.run(10 * unit.Microsecond)
	if got := b.WaitsSince(b.in[2]); got < first || got > first+2*unit.Nanosecond {
		t.Errorf("the oldest packet waits since %v, want %v", got, first)
	}
	for most, want := range map[int]unit.Bytes{0: 0, 2: 2124, 9: 3186} {
		sum := unit.Bytes(0)
		b.Waiting(b.in[2], most, func(_ int32, bytes unit.Bytes) { sum += bytes })
		if sum != want {
			t.Errorf("of at most %d packets %v wait, want %v", most, sum, want)
		}
	}
}

// TestPauseNamesTheHolder: a packet for an empty port crosses xOFF. The bytes of the ingress are queued at another
// port, and the pause names that port.
func TestPauseNamesTheHolder(t *testing.T) {
	b := newBench(t, 4, func(s *queue.Spec) {
		s.Queues[3] = queue.Class{Weight: 50, Lossless: true, XOff: 20 * unit.KB, XOn: 10 * unit.KB}
	})
	b.SendPause(b.hosts[1], 3)
	b.run(unit.Microsecond)
	now := b.Q.Now()
	for i := range 4 { // 16 KB for a port that is paused
		b.put(now+unit.Time(i), 0, 1, 24, 4000)
	}
	for i := range 4 { // with more than the remainder for a port that is not congested
		b.put(now+10+unit.Time(i), 0, 2, 24, 4000)
	}
	b.run(now + unit.Microsecond)
	if b.Pauses != 2 || b.PauseCause(b.hosts[0], 3) != b.in[1] { // those of the host and of the switch
		t.Errorf("%d pauses, the last for port %d, want %d", b.Pauses, b.PauseCause(b.hosts[0], 3), b.in[1])
	}
	held := map[int32]unit.Bytes{}
	b.Holders(b.in[0], 3, func(h Holder) { held[h.Port] = h.Bytes })
	if held[b.in[1]] != 4*4062 || held[b.in[2]] >= held[b.in[1]] {
		t.Errorf("held: %v", held)
	}
}

// handle runs one event, with hosts that accept all packets.
func (b *bench) handle(e *engine.Event) {
	switch e.Kind() {
	case KindHost:
		b.Free(e.B)
	case KindHost + 1:
		b.Ports[e.A].Armed = false
	default:
		b.Handle(e)
	}
}

// At an interface node the bytes of an ingress wait in VOQs, by receiver. Two senders load one receiver, and one of
// them also another receiver, all in class 3. The third sender's ingress holds no bytes, and neither does any other
// class.
func TestHoldersOfVOQs(t *testing.T) {
	d := chassisSize{leafs: 2, hosts: 3, spines: 1, cables: 1, host: 100 * unit.Gbps, fabric: 100 * unit.Gbps,
		prop: 150 * unit.Nanosecond}
	c := newChassis(t, d, scheduledDefaults(), nil)
	c.send(0, 0, 3, d.hosts, 24, 400_000, 4096, 0)
	c.send(0, 1, 3, d.hosts, 24, 400_000, 4096, 0)
	c.send(0, 1, 4, d.hosts, 24, 400_000, 4096, 1000)
	c.run(50 * unit.Microsecond)
	for sender, want := range [][]int32{{3}, {3, 4}, nil} {
		ingress := c.Ports[c.hosts[sender]].Peer
		for prio := range queue.Classes {
			var nics []int32
			c.Holders(ingress, prio, func(h Holder) {
				if h.Port != -1 || h.Bytes <= 0 || h.Moment != 0 {
					t.Errorf("sender %d, class %d: %+v", sender, prio, h)
				}
				nics = append(nics, h.NIC)
			})
			if prio != 3 && nics != nil || prio == 3 && !slices.Equal(nics, want) {
				t.Errorf("sender %d, class %d: bytes wait for NICs %v", sender, prio, nics)
			}
		}
	}
}
