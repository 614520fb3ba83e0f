package fabric

import (
	"testing"

	"railyard/internal/queue"
	"railyard/unit"

	"pgregory.net/rapid"
)

// breakAt breaks a cable inside for a while; it has bit errors before that.
func (c *chassis) breakAt(port int32, from, until unit.Time) {
	c.run(from)
	s := c.Link(port)
	s.Up = false
	c.SetLink(port, s)
	c.run(until)
	s.Up, s.BER = true, 1e-7
	c.SetLink(port, s)
}

// Cables inside fail and recover, and have bit errors, with cells, requests or grants in flight. Packets are lost
// as a whole and never arrive out of order. Their credit is released, so in the end nothing is held or leaked, and
// later traffic is served.
func TestScheduledOverBrokenCables(t *testing.T) {
	var lost, gaveUp, repeats int64
	rapid.Check(t, func(t *rapid.T) {
		d := chassisSize{leafs: rapid.IntRange(2, 4).Draw(t, "leafs"),
			hosts:  rapid.IntRange(1, 3).Draw(t, "hosts"),
			spines: rapid.IntRange(1, 3).Draw(t, "spines"), cables: rapid.IntRange(1, 2).Draw(t, "cables"),
			host: 100 * unit.Gbps, fabric: 100 * unit.Gbps, prop: 150 * unit.Nanosecond}
		s := scheduledDefaults()
		s.Timeout = 20 * unit.Microsecond
		s.Egress = s.Credit + rapid.SampledFrom([]unit.Bytes{0, 20_000}).Draw(t, "egress")
		c := newChassis(t, d, s, func(spec *queue.Spec) { spec.Watchdog.On = false })
		c.gaps = true
		nics := d.leafs * d.hosts
		psn := map[[2]int]uint32{}
		send := func(at unit.Time, bytes int64) {
			for range 8 {
				from, to := rapid.IntRange(0, nics-1).Draw(t, "from"), rapid.IntRange(0, nics-1).Draw(t, "to")
				if from != to {
					c.send(at, from, to, d.hosts, 24, bytes, 4096, psn[[2]int{from, to}])
					psn[[2]int{from, to}] += uint32((bytes + 4095) / 4096)
				}
			}
		}
		send(0, 200_000)
		leaf := rapid.IntRange(0, d.leafs-1).Draw(t, "leaf")
		port := c.links[leaf][rapid.IntRange(0, len(c.links[leaf])-1).Draw(t, "cable")]
		from := unit.Time(rapid.IntRange(0, 60_000).Draw(t, "breaks, ns")) * unit.Nanosecond
		c.breakAt(port, from, from+unit.Time(rapid.IntRange(1, 60_000).Draw(t, "for, ns"))*unit.Nanosecond)
		if err := c.Audit(); err != nil {
			t.Fatal(err)
		}
		c.run(20 * unit.Millisecond)
		whole := c.Link(port)
		whole.BER = 0
		c.SetLink(port, whole)
		before, was := c.Injected, c.packets
		send(c.Q.Now(), 20_000)
		c.run(40 * unit.Millisecond)
		if got := c.packets - was; got != c.Injected-before {
			t.Fatalf("after the cable was mended %d of %d packets came", got, c.Injected-before)
		}
		if err := c.Audit(); err != nil || c.InUse() != 0 || c.broken > 0 {
			t.Fatalf("%v, %d packets in use, %d out of order", err, c.InUse(), c.broken)
		}
		for _, leaf := range c.leafs {
			f := c.sched.at[leaf]
			for i := range f.granters {
				if f.granters[i].due != [queue.Classes]int64{} || f.granters[i].wanted != 0 {
					t.Fatalf("in the end an egress port has %+v", f.granters[i])
				}
			}
			for i := range f.voqs {
				if v := &f.voqs[i]; v.granted != v.enqueued || v.sent != v.enqueued {
					t.Fatalf("in the end a VOQ has %+v", *v)
				}
			}
			gaveUp, repeats = gaveUp+f.GaveUp, repeats+f.Repeats
		}
		lost += c.CellsLost
	})
	if lost == 0 || gaveUp == 0 || repeats == 0 {
		t.Errorf("%d cells lost, %d given up, %d requests repeated: too little has happened", lost, gaveUp,
			repeats)
	}
}

// TestCellsOnABrokenCable: cells sent over a broken cable are lost and counted, one by one, while it is broken. A
// packet of 4,062 bytes, 17 cells, has arrived after 232 ns and has its grant 605 ns later. A cable that breaks at
// 800 ns loses its cells. One that is broken from the start loses its request, which is repeated.
func TestCellsOnABrokenCable(t *testing.T) {
	up := func(c *chassis, yes bool) {
		s := c.Link(c.links[0][0])
		s.Up = yes
		c.SetLink(c.links[0][0], s)
	}
	for _, broken := range []struct {
		at                 unit.Time
		cells, lost, comes int64
	}{{0, 0, 1, 1}, {800 * unit.Nanosecond, 17, 1, 0}} {
		c := pairOfLeafs(t, nil)
		if broken.at == 0 {
			up(c, false)
		}
		c.send(0, 0, 1, 1, 24, 4000, 4096, 1)
		c.run(broken.at)
		up(c, false)
		c.run(50 * unit.Microsecond)
		if got := c.Stats[c.links[0][0]].Lost; c.packets != 0 || c.CellsLost != broken.cells || got != broken.lost {
			t.Errorf("broken at %v: %d packets came over it, %d cells and %d bursts or messages lost, want 0, %d and %d",
				broken.at, c.packets, c.CellsLost, got, broken.cells, broken.lost)
		}
		up(c, true)
		if c.run(unit.Millisecond); c.packets != broken.comes || c.InUse() != 0 {
			t.Errorf("broken at %v: %d packets come when it works again, %d are left, want %d and 0", broken.at, c.packets,
				c.InUse(), broken.comes)
		}
	}
}

// TestPartOfAPacket: one cell of the second packet of a stream arrives, and no other ever does. After a time-out
// the missing bytes before it are given up, and after another one the packet itself. No memory is held for it then.
// It is packet 0, which is a valid number.
func TestPartOfAPacket(t *testing.T) {
	c := pairOfLeafs(t, nil)
	node := c.leafs[1]
	f := c.sched.at[node]
	pi := c.Alloc()
	p := &c.Packets[pi]
	p.Dst, p.Loc, p.Class, p.Payload, p.Size = 1, 1, 3, 4000, 4062
	p.next, p.In, p.Final = c.sched.at[c.leafs[0]].number, 4062, 1
	c.gather(0, node, f, pi)
	for i, want := range []struct{ gaveUp, egress, inUse int64 }{{0, 4062, 1}, {1, 4062, 1}, {2, 0, 0}} {
		c.run(unit.Time(i)*100*unit.Microsecond + unit.Microsecond)
		if f.GaveUp != want.gaveUp || f.Egress != want.egress || int64(c.InUse()) != want.inUse {
			t.Errorf("after %d time-outs: %d given up, %d bytes held of %d packets, want %+v", i, f.GaveUp, f.Egress,
				c.InUse(), want)
		}
	}
	if pi != 0 || c.CellsLost != 1 || c.packets != 0 {
		t.Errorf("packet %d: %d cells lost, %d packets passed on", pi, c.CellsLost, c.packets)
	}
	late := c.Alloc()
	p = &c.Packets[late]
	p.Dst, p.Loc, p.Class, p.Payload, p.Size = 1, 1, 3, 4000, 4062
	p.next, p.In, p.Final = c.sched.at[c.leafs[0]].number, 4062, 16
	if c.gather(c.Q.Now(), node, f, late); c.CellsLost != 17 || c.InUse() != 0 || f.Egress != 0 {
		t.Errorf("its other 16 cells come when it was given up: %d cells lost, %d bytes held of %d packets", c.CellsLost,
			f.Egress, c.InUse())
	}
}

// A node that has lost links requests no more than its remaining links carry. Other ports thus reserve no buffer
// for it, and a flow to the same receiver from another node keeps its share.
func TestScheduledSlowNodeHoldsNobodyUp(t *testing.T) {
	d := chassisSize{3, 2, 2, 1, 100 * unit.Gbps, 100 * unit.Gbps, 150 * unit.Nanosecond, 0}
	c := newChassis(t, d, scheduledDefaults(), nil)
	for _, port := range c.links[1] {
		s := c.Link(port)
		s.Rate = 10 * unit.Gbps
		c.SetLink(port, s)
	}
	const each = 1 << 20
	c.send(0, 2, 0, d.hosts, 24, each, 4096, 1) // at 20 Gbit/s
	c.send(0, 4, 0, d.hosts, 24, each, 4096, 1) // has 80 of the receiver's 100 Gbit/s
	c.run(unit.Second)
	fast := c.done[[2]int32{4<<3 | 3, 0}]
	if least := unit.Serialize(each, 80*unit.Gbps); fast > least*11/10 {
		t.Errorf("beside a node with slow links a flow took %v, want about %v", fast, least)
	}
}
