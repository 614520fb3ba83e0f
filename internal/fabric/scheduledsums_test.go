package fabric

import (
	"maps"
	"testing"

	"railyard/internal/queue"
	"railyard/unit"
)

// pairOfLeafs is two interface nodes with a NIC each, connected to one fabric node by a cable of 100 Gbit/s and 150
// ns each.
func pairOfLeafs(t *testing.T, tune func(*queue.Spec)) *chassis {
	d := chassisSize{2, 1, 1, 1, 400 * unit.Gbps, 100 * unit.Gbps, 150 * unit.Nanosecond, 0}
	return newChassis(t, d, scheduledDefaults(), tune)
}

// TestScheduledWaits: a lone packet of 4,062 bytes waits in its VOQ for its request to reach the egress port and
// for the grant to return: 16 bytes at 80 ps over four cables of 150 ns. A packet after it requests credit later,
// when the node's cable has capacity for the request.
func TestScheduledWaits(t *testing.T) {
	const round = 4 * (16*80 + 150_000)
	c := pairOfLeafs(t, nil)
	c.send(0, 0, 1, 1, 24, 4000, 4096, 1)
	c.run(unit.Second)
	s, ok := c.Interface(c.leafs[0])
	if near := func(x unit.Time) bool { return x > round-1024 && x < round+1024 }; !ok || s.Left != 1 || s.VOQs != 1 ||
		!near(s.Waited) || s.Waited != s.WaitMost {
		t.Errorf("%d packets waited for %v, one for %v, want %v", s.Left, s.Waited, s.WaitMost, unit.Time(round))
	}
	if s.Requests != 1 || s.HeldPeak != 4062 || s.VOQPeak != 4062 || s.Held != 0 || s.Repeats != 0 || s.Grants != 0 {
		t.Errorf("the sender's node: %+v", s)
	}
	if s, _ = c.Interface(c.leafs[1]); s.Grants != 1 || s.Granted != 4062 || s.EgressPeak != 4062 || s.PortPeak != 0 ||
		s.Requests != 0 || s.GaveUp != 0 || s.Left != 0 {
		t.Errorf("the receiver's node: %+v", s)
	}
	if _, ok := c.Interface(c.spines[0]); ok {
		t.Error("a fabric node has VOQs")
	}
	if c.Requests != 1 || c.Grants != 1 || c.Cells != 2*17 || c.DataPacketHops == 0 {
		t.Errorf("%d requests, %d grants, %d cells over two cables", c.Requests, c.Grants, c.Cells)
	}

	c = pairOfLeafs(t, nil)
	c.send(0, 0, 1, 1, 24, 8000, 4000, 1)
	c.run(unit.Second)
	s, _ = c.Interface(c.leafs[0])
	// it has arrived then, and requests credit when the cables have sent the first request's share
	const in = 2*4082*20 + 150_000
	if want := unit.Time((17*256+2*16)*80 + round - in); s.Left != 2 || s.WaitMost < want-1024 ||
		s.WaitMost > want+1024 || s.Waited < round+want-2048 || s.Waited > round+want+2048 {
		t.Errorf("two packets waited for %v, one for %v, want %v", s.Waited, s.WaitMost, want)
	}
}

// TestScheduledBooks: each request and grant uses its share of a node's cables: cells, a request and a grant. A
// packet of 17 cells and two messages has 4,384 bytes, 350,720 ps at 100 Gbit/s. Bytes from before the cables were
// busy count from the node's lag on, up to the credit time of its fastest port, which is before 0.
func TestScheduledBooks(t *testing.T) {
	const takes = (17*256 + 2*16) * 80
	c := pairOfLeafs(t, nil)
	c.send(0, 0, 1, 1, 24, 4000, 4096, 1)
	c.run(300 * unit.Nanosecond) // it has arrived, and requests credit
	asked, granted := c.sched.at[c.leafs[0]], c.sched.at[c.leafs[1]]
	if asked.askAt != takes || granted.sharedAt != 0 {
		t.Errorf("asked until %v, want %v; granted until %v", asked.askAt, unit.Time(takes), granted.sharedAt)
	}
	c.run(unit.Microsecond)
	if granted.sharedAt != takes {
		t.Errorf("granted until %v, want %v", granted.sharedAt, unit.Time(takes))
	}
	near := newChassis(t, chassisSize{1, 2, 1, 1, 400 * unit.Gbps, 100 * unit.Gbps, 150 * unit.Nanosecond, 0},
		scheduledDefaults(), nil)
	near.send(0, 0, 1, 2, 24, 4000, 4096, 1)
	near.run(unit.Second)
	if f := near.sched.at[near.leafs[0]]; f.askAt != 0 || f.sharedAt != 0 || f.Grants != 1 || near.got[1] != 4000 ||
		near.Cells != 0 {
		t.Errorf("within a node: asked until %v, granted until %v, %d grants, %d cells", f.askAt, f.sharedAt, f.Grants,
			near.Cells)
	}
}

// TestScheduledMarks: a VOQ marks a packet that leaves more than WRED's lower bound queued after it, if the
// packet's sender reacts to marks.
func TestScheduledMarks(t *testing.T) {
	for _, ecn := range []uint8{ECT0, 1, 0} { // 1 is ECT(1), RFC 3168
		c := pairOfLeafs(t, func(s *queue.Spec) {
			s.Queues[3].WRED = queue.WRED{Min: 2 * 4062, Max: 2*4062 + 1, Probability: 1, ECN: true}
			s.Queues[3].Lossless = true
		})
		marked := 0
		c.send(0, 0, 1, 1, 24, 10*4000, 4000, 1)
		for i := range c.Packets {
			c.Packets[i].TOS = c.Packets[i].TOS&^3 | ecn
		}
		c.run(unit.Second)
		marked = int(c.Marks)
		// Ten packets arrive at 400 Gbit/s and leave at 93 % of 100. When the third leaves, three are queued after
		// it.
		if ecn == 0 && (marked != 0 || c.WREDDrops == 0) || ecn != 0 && (marked < 5 || marked > 9 || c.WREDDrops != 0) {
			t.Errorf("ECN %d: %d of ten marked, %d dropped", ecn, marked, c.WREDDrops)
		}
	}
}

// TestDataPacketHops counts packets with payload once per link, and others only among all packets.
func TestDataPacketHops(t *testing.T) {
	b := newBench(t, 2, nil)
	for i, payload := range []uint16{0, 1000, 0, 1, 0} {
		b.put(unit.Time(i)*unit.Microsecond, 0, 1, 24, payload)
	}
	b.run(unit.Millisecond)
	if b.DataPacketHops != 2 || b.PacketHops != 5 {
		t.Errorf("%d of %d packets had payload, want 2 of 5", b.DataPacketHops, b.PacketHops)
	}
}

// TestNeighbourIsNoNIC: a switch has no port to the NICs just outside its range.
func TestNeighbourIsNoNIC(t *testing.T) {
	b := newBench(t, 3, nil)
	for _, nic := range []int{-1, 3} {
		b.put(b.Q.Now(), 0, nic, 24, 100)
	}
	if b.run(unit.Millisecond); b.NoRoute != 2 || len(b.got) != 0 || b.InUse() != 0 {
		t.Errorf("%d without a route, delivered %v", b.NoRoute, b.got)
	}
}

// TestCarriedTelemetry: no telemetry is carried if no switch stamps, or by a packet without telemetry.
func TestCarriedTelemetry(t *testing.T) {
	b := newBench(t, 2, nil)
	b.tapped = b.Alloc()
	if b.Packets[b.tapped].Flags |= FlagINT; b.Carried() != nil {
		t.Error("telemetry where nobody stamps")
	}
	b.StampAll(unit.Microsecond)
	for _, asks := range []bool{true, false} {
		if b.Packets[b.tapped].Flags &^= FlagINT; asks {
			b.Packets[b.tapped].Flags |= FlagINT
		}
		if got := b.Carried(); (got != nil) != asks || asks && got != b.Told(b.tapped) {
			t.Errorf("a packet that asks, %v, carries %p", asks, got)
		}
	}
}

// TestGrantsByWeight: an egress port grants credit to strict classes first, the highest first, and to others by
// their weights. A class without a weight gets credit only if no other requests any.
func TestGrantsByWeight(t *testing.T) {
	c := pairOfLeafs(t, func(s *queue.Spec) {
		for i, weight := range []int{0, 60, 30, 10, 0, 0, 0, 0} {
			s.Queues[i].Weight, s.Queues[i].Strict = weight, i >= 5
		}
	})
	g := &c.sched.at[c.leafs[1]].granters[0]
	for _, x := range []struct {
		wanted []int
		want   map[int]int // grants of 100
	}{
		{[]int{0}, map[int]int{0: 100}},
		{[]int{0, 1}, map[int]int{1: 100}},
		{[]int{2, 4}, map[int]int{2: 100}},
		{[]int{0, 4}, map[int]int{0: 100}},
		{[]int{1, 2, 3}, map[int]int{1: 60, 2: 30, 3: 10}},
		{[]int{0, 1, 2, 3, 4}, map[int]int{1: 60, 2: 30, 3: 10}},
		{[]int{1, 3}, map[int]int{1: 86, 3: 14}}, // of weights 60 and 10
		{[]int{1, 5, 6}, map[int]int{6: 100}},
	} {
		wanted, got := uint8(0), map[int]int{}
		for _, class := range x.wanted {
			wanted |= 1 << class
		}
		g.turns = [queue.Classes]int32{}
		for range 100 {
			got[c.pickGrant(g, wanted)]++
		}
		if !maps.Equal(got, x.want) {
			t.Errorf("classes %v: %v of 100 grants, want %v", x.wanted, got, x.want)
		}
	}
	g.turns = [queue.Classes]int32{1: -1000}
	if got := c.pickGrant(g, 1<<0|1<<1); got != 1 {
		t.Errorf("class %d, which has no weight, goes before one that has had more than its share", got)
	}
}
