package fabric

import (
	"testing"

	"railyard/internal/engine"
	"railyard/internal/queue"
	"railyard/internal/route"
	"railyard/roce"
	"railyard/unit"
)

// ringOfThree is three switches in a ring with a host each. At every switch n packets arrive at once that go two
// switches further.
func ringOfThree(t *testing.T, n int, xoff unit.Bytes) *bench {
	b := &bench{spec: queue.Default(), got: map[int32]map[uint8]int64{}}
	b.spec.Buffer = 64 * unit.MB
	b.spec.Queues[3] = queue.Class{Weight: 50, Lossless: true, XOff: xoff, XOn: xoff / 2,
		Headroom: 4 * unit.MB}
	build := Build(8)
	cable := Link{Rate: 100 * unit.Gbps, Prop: 100 * unit.Nanosecond, Response: unit.Nanosecond}
	var sw, on [3]int32
	for i := range 3 {
		sw[i] = build.AddSwitch(SwitchConfig{Name: "s", Spec: &b.spec})
	}
	for i := range 3 {
		hp, sp := build.Connect(build.AddHost(), sw[i], cable)
		b.hosts, b.in = append(b.hosts, hp), append(b.in, sp)
	}
	for i := range 3 {
		on[i], _ = build.Connect(sw[i], sw[(i+1)%3], cable)
	}
	var err error
	if b.Net, err = build.Finish(func(int32) string { return "s" }); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		table := route.NewTable(3)
		table.SetAttached(i)
		table.Attach(int32(i), b.in[i])
		for other := range 3 {
			if other != i {
				table.SetGroup(other, []int32{on[i]})
			}
		}
		b.SetRoutes(sw[i], table, route.ECMP.Make(nil, route.Site{Seed: 1}))
	}
	for i := range 3 {
		for range n {
			pi := b.Alloc()
			p := &b.Packets[pi]
			p.Dst, p.Loc, p.QP = int32((i+2)%3), uint16((i+2)%3), int32(i)
			p.Payload, p.Size, p.Opcode, p.TOS = 4000, 4062, roce.WriteMiddle, 24<<2|ECT0
			b.Q.Push(engine.Node(b.Ports[b.hosts[i]].Node), 0, KindArrive, b.in[i], pi)
		}
	}
	return b
}

// TestRingOfThree: switches send the packets of their own hosts first, so the ring's links fill the next switches
// at line rate. When these hold more than xOFF, all three pause at one time, which is known to the picosecond.
// After that no packet moves. With too few packets for xOFF no port is paused.
func TestRingOfThree(t *testing.T) {
	const size = 4062
	line := unit.Serialize(size+roce.PreambleIFG, 100*unit.Gbps)
	pause := unit.Serialize(roce.PFCLen+roce.PreambleIFG, 100*unit.Gbps)
	for _, xoff := range []unit.Bytes{20 * unit.KB, 100 * unit.KB, 333 * unit.KB} {
		over := int(xoff/size) + 1 // packets that cross xOFF
		closed := unit.Time(over)*line + 100*unit.Nanosecond + pause + 101*unit.Nanosecond
		for _, n := range []int{over - 1, 2 * over} {
			b := ringOfThree(t, n, xoff)
			find := NewChains(b.Net)
			var chain []Held
			var at unit.Time
			paused := 0
			b.Trace = func(now unit.Time, what string, port int32, prio int) {
				if what != "pause" || b.Sw[b.node[port]].Spec == nil {
					return
				}
				paused++
				if c := find.Through(port, prio); c != nil {
					if chain != nil {
						t.Errorf("xOFF %v: a second chain", xoff)
					}
					chain, at = c, now
				}
			}
			b.run(closed + unit.Microsecond)
			moved := b.DataPacketHops
			b.run(20 * unit.Millisecond)
			if n < over {
				if chain != nil || paused > 0 || len(b.got) != 3 {
					t.Errorf("xOFF %v, %d packets: %d pauses, chain %v", xoff, n, paused, chain)
				}
				continue
			}
			if len(chain) != 3 || at != closed || paused != 3 || b.DataPacketHops != moved {
				t.Fatalf("xOFF %v: chain %v at %v of %d pauses, want three at %v; %d packets moved after it",
					xoff, chain, at, paused, closed, b.DataPacketHops-moved)
			}
			arrived := int64((closed-100*unit.Nanosecond)/line) * size
			for i, h := range chain {
				after := chain[(i+1)%3]
				if h.Bytes != arrived || h.Class != 3 || b.node[b.Ports[h.Port].Peer] != b.node[after.Port] ||
					h.QP != int32(b.node[h.Port]+2)%3 {
					t.Errorf("xOFF %v: %+v, want %d bytes of flow %d that wait for %+v", xoff, h, arrived,
						(b.node[h.Port]+2)%3, after)
				}
			}
			if err := b.Audit(); err != nil {
				t.Error(err)
			}
		}
	}
}
