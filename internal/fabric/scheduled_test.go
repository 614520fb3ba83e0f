package fabric

import (
	"testing"

	"railyard/internal/engine"
	"railyard/internal/queue"
	"railyard/internal/route"
	"railyard/roce"
	"railyard/unit"

	"pgregory.net/rapid"
)

// chassis is a scheduled fabric with servers that send given packets at line rate.
type chassis struct {
	*Net
	spec    queue.Spec
	hosts   []int32 // their ports
	leafs   []int32
	spines  []int32
	links   [][]int32 // by leaf: its ports to fabric nodes
	got     []int64   // payload by NIC
	last    []unit.Time
	first   []unit.Time
	seen    map[[2]int32]uint32    // PSN that comes next, by sender and receiver
	broken  int                    // packets that arrived out of order
	gaps    bool                   // some are lost
	done    map[[2]int32]unit.Time // arrival of a flow's last packet
	packets int64                  // that came
}

// scheduledDefaults are those of a scenario, with a buffer for 2 us at 100 Gbit/s.
func scheduledDefaults() queue.Scheduled {
	return queue.Scheduled{Cell: 256, Header: 16, Message: 16, Credit: 4096, Speedup: 1.02,
		Egress: 40 * unit.KiB, Timeout: 100 * unit.Microsecond}
}

type chassisSize struct {
	leafs, hosts, spines, cables int
	host, fabric                 unit.Rate
	prop                         unit.Time
	first                        unit.Rate // rate of the first leaf's cables; 0: that of the others
}

func newChassis(t rapid.TB, d chassisSize, s queue.Scheduled, tune func(*queue.Spec)) *chassis {
	t.Helper()
	c := &chassis{spec: queue.Default(), seen: map[[2]int32]uint32{}, done: map[[2]int32]unit.Time{}}
	c.spec.Queues[3].WRED = queue.WRED{}
	if tune != nil {
		tune(&c.spec)
	}
	if err := c.spec.Validate(); err != nil {
		t.Fatal(err)
	}
	b := Build(8)
	b.Scheduled(s)
	for range d.leafs {
		c.leafs = append(c.leafs, b.AddSwitch(SwitchConfig{Name: "leaf", Spec: &c.spec}))
	}
	for range d.spines {
		c.spines = append(c.spines, b.AddSwitch(SwitchConfig{Name: "spine", Spec: &c.spec}))
	}
	var near [][]int32
	for _, leaf := range c.leafs {
		var ports []int32
		for range d.hosts {
			link := Link{Rate: d.host, Prop: d.prop, Response: unit.Nanosecond}
			hp, sp := b.Connect(b.AddHost(), leaf, link)
			c.hosts, ports = append(c.hosts, hp), append(ports, sp)
		}
		near = append(near, ports)
	}
	down := make([][][]int32, d.spines)
	for l, leaf := range c.leafs {
		var up []int32
		for i, spine := range c.spines {
			var back []int32
			rate := d.fabric
			if l == 0 && d.first > 0 {
				rate = d.first
			}
			for range d.cables {
				x, y := b.Connect(leaf, spine, Link{Rate: rate, Prop: d.prop, Seed: 1, Name: "cable"})
				up, back = append(up, x), append(back, y)
			}
			down[i] = append(down[i], back)
		}
		c.links = append(c.links, up)
	}
	net, err := b.Finish(func(int32) string { return "a switch" })
	if err != nil {
		t.Fatal(err)
	}
	c.Net = net
	sets, own := make([][]int, d.leafs), make([]int, d.leafs+d.spines)
	for i := range own {
		if own[i] = -1; i < d.leafs {
			sets[i], own[i] = []int{i}, i
		}
	}
	net.SetEdges(sets, own)
	for l, leaf := range c.leafs {
		table := route.NewTable(d.leafs)
		for to := range c.leafs {
			if to != l && len(c.links[l]) > 0 {
				table.SetGroup(to, c.links[l])
			}
		}
		table.SetAttached(l)
		for i, p := range near[l] {
			table.Attach(int32(l*d.hosts+i), p)
		}
		net.SetRoutes(leaf, table, route.Spray.Make(nil, route.Site{}))
	}
	for i, spine := range c.spines {
		table := route.NewTable(d.leafs)
		for to := range c.leafs {
			table.SetGroup(to, down[i][to])
		}
		net.SetRoutes(spine, table, route.Spray.Make(nil, route.Site{}))
	}
	n := len(c.hosts)
	c.got, c.last, c.first = make([]int64, n), make([]unit.Time, n), make([]unit.Time, n)
	return c
}

// send makes a NIC send packets of a payload to another, from a time on. The last packet is shorter.
func (c *chassis) send(at unit.Time, from, to, hosts int, dscp uint8, bytes int64, mtu int64, psn uint32) {
	port := c.hosts[from]
	for ; bytes > 0; bytes -= mtu {
		pi := c.Alloc()
		p := &c.Packets[pi]
		p.Payload = uint16(min(bytes, mtu))
		p.Dst, p.Loc, p.Size, p.TOS = int32(to), uint16(to/hosts), p.Payload+62, dscp<<2|ECT0
		p.Opcode = roce.WriteMiddle
		p.QP, p.PSN = int32(from), psn
		psn++
		c.Injected++
		c.Enqueue(port, pi, int(c.spec.DSCP[dscp]))
	}
	if tx := &c.Ports[port]; !tx.Armed {
		tx.Armed = true
		c.Q.Push(engine.Node(tx.Node), at, KindHost+1, port, 0)
	}
}

// run runs until no event is left, or until a time.
func (c *chassis) run(until unit.Time) {
	const stop = 31
	c.Q.Push(engine.OfRun, until, stop, 0, 0)
	for {
		e, ok := c.Q.Pop()
		if !ok || e.Kind() == stop {
			return
		}
		switch e.Kind() {
		case KindHost:
			c.arrived(e.B)
		case KindHost + 1:
			c.host(e.A)
		default:
			c.Handle(&e)
		}
	}
}

func (c *chassis) arrived(pi int32) {
	p := &c.Packets[pi]
	flow := [2]int32{p.QP<<3 | int32(p.Class), p.Dst}
	c.packets++
	c.done[flow] = c.Q.Now()
	if next, known := c.seen[flow]; known && p.PSN != next && !(c.gaps && p.PSN > next) {
		c.broken++
	}
	c.seen[flow] = p.PSN + 1
	if c.got[p.Dst] == 0 {
		c.first[p.Dst] = c.Q.Now()
	}
	c.got[p.Dst] += int64(p.Payload)
	c.last[p.Dst] = c.Q.Now()
	c.Free(pi)
}

// host sends the packets queued at a NIC's port that are not paused.
func (c *chassis) host(port int32) {
	now, tx := c.Q.Now(), &c.Ports[port]
	if tx.BusyUntil > now {
		c.Q.Push(engine.Node(tx.Node), tx.BusyUntil, KindHost+1, port, 0)
		return
	}
	elig := tx.NonEmpty &^ tx.Paused
	if elig == 0 {
		tx.Armed = false
		return
	}
	pi, p := c.Dequeue(now, port, tx, c.PickClass(port, elig))
	c.Transmit(now, port, tx, pi, p)
	c.Q.Push(engine.Node(tx.Node), tx.BusyUntil, KindHost+1, port, 0)
}

// For random traffic nothing is lost inside and all bytes arrive in each flow's order. In the end no packet, credit
// or memory is left over. No port inside is ever paused.
func TestScheduledLosesNothing(t *testing.T) {
	var pauses, cells int64
	rapid.Check(t, func(t *rapid.T) {
		d := chassisSize{leafs: rapid.IntRange(1, 4).Draw(t, "leafs"),
			hosts:  rapid.IntRange(1, 4).Draw(t, "hosts"),
			spines: rapid.IntRange(1, 4).Draw(t, "spines"), cables: rapid.IntRange(1, 2).Draw(t, "cables"),
			host:   unit.Rate(rapid.SampledFrom([]int{100, 400}).Draw(t, "host")) * unit.Gbps,
			fabric: unit.Rate(rapid.SampledFrom([]int{50, 100, 400}).Draw(t, "fabric")) * unit.Gbps,
			prop:   unit.Time(rapid.SampledFrom([]int{10, 150, 500}).Draw(t, "ns")) * unit.Nanosecond}
		s := scheduledDefaults()
		s.Cell = rapid.SampledFrom([]unit.Bytes{64, 256, 512}).Draw(t, "cell")
		s.Credit = rapid.SampledFrom([]unit.Bytes{512, 4096, 9000}).Draw(t, "credit")
		s.Egress = s.Credit + rapid.SampledFrom([]unit.Bytes{0, 20_000, 200_000}).Draw(t, "egress")
		c := newChassis(t, d, s, func(spec *queue.Spec) {
			if rapid.Bool().Draw(t, "small buffer") {
				spec.Queues[3].XOff, spec.Queues[3].XOn = 40*unit.KB, 9*unit.KB
			}
			spec.Watchdog.On = false
			spec.DSCP[10], spec.Queues[0].Limit = 0, 10*unit.MB
		})
		nics, sent := d.leafs*d.hosts, int64(0)
		psn := map[[3]int]uint32{}
		for range rapid.IntRange(1, 12).Draw(t, "messages") {
			from, to := rapid.IntRange(0, nics-1).Draw(t, "from"), rapid.IntRange(0, nics-1).Draw(t, "to")
			bytes := rapid.SampledFrom([]int64{1, 64, 5000, 100_000, 400_000}).Draw(t, "bytes")
			mtu := rapid.SampledFrom([]int64{100, 1024, 4096}).Draw(t, "mtu")
			dscp := rapid.SampledFrom([]uint8{24, 48}).Draw(t, "dscp")
			if from == to {
				continue
			}
			if dscp == 48 { // lossy
				bytes = min(bytes, 5000)
			}
			k := [3]int{from, to, int(dscp)}
			c.send(0, from, to, d.hosts, dscp, bytes, mtu, psn[k])
			psn[k] += uint32((bytes + mtu - 1) / mtu)
			sent += bytes
		}
		for at := unit.Time(0); at < 300*unit.Microsecond; at += 20 * unit.Microsecond {
			c.run(at)
			if err := c.Audit(); err != nil {
				t.Fatal(err)
			}
		}
		c.run(100 * unit.Millisecond)
		got := int64(0)
		for _, n := range c.got {
			got += n
		}
		if got != sent || c.broken > 0 || c.Drops > 0 || c.CellsLost > 0 || c.InUse() != 0 {
			t.Fatalf("%d of %d bytes came, %d packets out of order, %d drops, %d cells lost, %d in use", got,
				sent, c.broken, c.Drops, c.CellsLost, c.InUse())
		}
		if err := c.Audit(); err != nil {
			t.Fatal(err)
		}
		for i := range c.Ports {
			if peer := c.Ports[c.Ports[i].Peer].Node; c.sched.at[peer] == nil && c.Stats[i].PauseSent > 0 {
				if c.Sw[peer].Spec != nil {
					t.Fatalf("a pause inside, by port %d", i)
				}
			}
		}
		for _, leaf := range c.leafs {
			if s, _ := c.Interface(leaf); s.Held != 0 || s.Egress != 0 || s.GaveUp != 0 {
				t.Fatalf("in the end a node has %+v", s)
			}
		}
		pauses, cells = pauses+c.Pauses, cells+c.Cells
	})
	if pauses == 0 || cells == 0 {
		t.Errorf("%d pauses, %d cells: too little has happened", pauses, cells)
	}
}

// A lone packet takes the round trip of its credit longer than its cells do.
func TestScheduledAlone(t *testing.T) {
	for _, d := range []chassisSize{
		{2, 1, 4, 2, 400 * unit.Gbps, 400 * unit.Gbps, 150 * unit.Nanosecond, 0},
		{2, 1, 1, 1, 100 * unit.Gbps, 400 * unit.Gbps, 500 * unit.Nanosecond, 0},
		{2, 1, 16, 2, 400 * unit.Gbps, 50 * unit.Gbps, 10 * unit.Nanosecond, 0},
	} {
		s := scheduledDefaults()
		c := newChassis(t, d, s, nil)
		c.send(0, 0, 1, d.hosts, 24, 4000, 4096, 1)
		c.run(unit.Second)
		const frame = 4062
		host := unit.Serialize(frame+roce.PreambleIFG, d.host) + d.prop
		hop := unit.Serialize(s.Message, d.fabric) + d.prop
		links := int64(d.spines * d.cables)
		burst := (s.Cells(frame) + links - 1) / links
		cells := unit.Serialize(s.Cell, d.fabric) + 2*d.prop +
			unit.Serialize(unit.Bytes(burst)*s.Cell, d.fabric)
		if want := 2*host + 4*hop + cells; c.last[1] != want {
			t.Errorf("%+v: the packet is there after %v, want %v", d, c.last[1], want)
		}
		path := []int32{c.hosts[0], c.links[0][0], c.Ports[c.links[0][0]].Peer, c.Ports[c.hosts[1]].Peer}
		for _, p := range c.Sw[c.spines[0]].ports {
			if c.Ports[c.Ports[p].Peer].Node == c.leafs[1] {
				path[2] = p
			}
		}
		if alone := c.Alone(path, frame); alone != c.last[1] {
			t.Errorf("%+v: Alone says %v, it took %v", d, alone, c.last[1])
		}
	}
}

// Many senders have one receiver. Its port is busy from the first packet on, and each sending node has an equal
// share. A flow from one of these nodes to another port is not delayed.
func TestScheduledIncast(t *testing.T) {
	d := chassisSize{4, 4, 4, 2, 400 * unit.Gbps, 400 * unit.Gbps, 150 * unit.Nanosecond, 0}
	s := scheduledDefaults()
	s.Egress = 100 * unit.KiB
	c := newChassis(t, d, s, nil)
	const each = 1 << 20
	for from := 4; from < 16; from++ {
		c.send(0, from, 0, d.hosts, 24, each, 4096, 1)
	}
	c.send(0, 4, 1, d.hosts, 24, each, 4096, 1) // shares a NIC
	c.send(0, 1, 5, d.hosts, 24, each, 4096, 1) // has its own share
	c.run(unit.Second)
	if c.Pauses > 0 || c.Drops > 0 || c.broken > 0 {
		t.Errorf("%d pauses, %d drops, %d out of order", c.Pauses, c.Drops, c.broken)
	}
	busy := c.last[0] - c.first[0]
	wire := unit.Serialize(12*each/4096*(4096+62+roce.PreambleIFG), d.host)
	if over := float64(busy)/float64(wire) - 1; over > 0.001 {
		t.Errorf("the receiver was busy for %v, line rate takes %v: %.2f %% more", busy, wire, 100*over)
	}
	alone := newChassis(t, d, s, nil)
	alone.send(0, 1, 5, d.hosts, 24, each, 4096, 1)
	alone.run(unit.Second)
	if over := float64(c.last[5])/float64(alone.last[5]) - 1; over > 0.005 {
		t.Errorf("a flow elsewhere took %v, alone it takes %v", c.last[5], alone.last[5])
	}
	var least, most int64
	for i, port := range c.links[0] {
		in := c.Ports[c.Ports[port].Peer].TxBytes
		if i == 0 || in < least {
			least = in
		}
		most = max(most, in)
	}
	if spread := float64(most-least) / float64(most); spread > 0.02 {
		t.Errorf("links to the receiver's node carry %d to %d bytes", least, most)
	}
	in, _ := c.Interface(c.leafs[0])
	if in.PortPeak > int64(s.Egress)+3*4158 {
		t.Errorf("an egress port held %d bytes, it grants %v", in.PortPeak, s.Egress)
	}
}
