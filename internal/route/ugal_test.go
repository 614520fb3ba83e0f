package route

import (
	"testing"

	"railyard/internal/rng"
	"railyard/param"
	"railyard/unit"
)

// Minimal routing takes no detour, for any queues.
func TestMinimalGoesStraight(t *testing.T) {
	c := Minimal.Make(nil, Site{Stream: rng.New(1, "minimal")}).(Steerer)
	c.Renew(regions(0, 5, func(int) bool { return true }))
	ports := make([]Port, 5)
	ports[3].Queued = 1 << 20
	for flow := range uint32(100) {
		if via := c.Via(0, 8, flow, ports); via != -1 {
			t.Fatalf("by way of %d", via)
		}
	}
	if vias := c.Vias(nil, 8); len(vias) != 1 || vias[0] != -1 {
		t.Errorf("ways by %v", vias)
	}
}

// UGAL leaves the direct path when its queue exceeds twice the detour's queue plus a bias.
func TestUGALComparesQueues(t *testing.T) {
	for _, c := range []struct {
		straight, detour int32
		goes             bool // straight
	}{
		{0, 0, true}, {8192, 0, true}, {8193, 0, false}, {20_000, 5_000, false}, {20_000, 6_000, true},
		{1 << 20, 1 << 20, true}, {1 << 20, 1 << 18, false},
	} {
		u := UGAL.Make(nil, Site{Stream: rng.New(1, "ugal")}).(Steerer)
		table := regions(0, 5, func(int) bool { return true })
		table.SetGroup(5+3, []int32{3}) // a switch in region 3, connected to port 3
		u.Renew(table)
		ports := make([]Port, 5)
		for i := range ports {
			ports[i].Queued = c.detour
		}
		ports[3].Queued = c.straight
		for flow := range uint32(50) {
			via := u.Via(unit.Time(flow), 5+3, flow, ports)
			if (via == -1) != c.goes || via == 0 || via == 3 {
				t.Fatalf("%d B wait straight on, %d B on detours: by way of %d", c.straight, c.detour, via)
			}
		}
	}
}

// Within a region, and if a failure has left no detour, packets take the direct path. All paths are listed.
func TestUGALWithoutDetours(t *testing.T) {
	u := UGAL.Make(nil, Site{Stream: rng.New(1, "ugal")}).(Steerer)
	u.Renew(regions(0, 2, func(int) bool { return true }))
	if via := u.Via(0, 3, 1, make([]Port, 2)); via != -1 {
		t.Errorf("of two regions by way of %d", via)
	}
	u.Renew(regions(0, 4, func(int) bool { return true }))
	if vias := u.Vias(nil, 6); len(vias) != 3 || vias[2] != -1 {
		t.Errorf("ways by %v, want the two other regions and straight on", vias)
	}
}

// A detour through the port of the direct path is not compared, because its queue is the direct path's own queue.
// Other detours are drawn. If a failure has left none, packets take the direct path.
func TestUGALDrawsOtherPorts(t *testing.T) {
	for _, others := range []bool{true, false} {
		u := UGAL.Make(nil, Site{Stream: rng.New(1, "ugal")}).(Steerer)
		table := regions(0, 5, func(int) bool { return true })
		table.SetGroup(5+3, []int32{3})
		table.SetGroup(1, []int32{3}) // the cables to regions 1, 2 and 3 are at one switch
		table.SetGroup(2, []int32{3})
		if !others {
			table.SetGroup(4, []int32{3})
		}
		u.Renew(table)
		ports := make([]Port, 5)
		ports[3].Queued = 1 << 20
		straight := 0
		for flow := range uint32(1000) {
			switch via := u.Via(unit.Time(flow), 5+3, flow, ports); via {
			case -1:
				straight++
			case 4:
			default:
				t.Fatalf("by way of %d, whose cable is behind the full port", via)
			}
		}
		if want := 1000 * 256 / 6561; others && (straight < want/2 || straight > 2*want) || !others && straight < 1000 {
			t.Errorf("another port leads elsewhere: %v, and %d of 1,000 packets go straight", others, straight)
		}
	}
}

// UGAL with global queues counts the bytes queued at the next switch, which has the cable to the other region. UGAL
// with local queues does not.
func TestUGALGLooksFurther(t *testing.T) {
	for _, c := range []struct {
		local, gate, detour int32
		goes                bool // straight
	}{
		{0, 0, 0, true}, {0, 8193, 0, false}, {8193, 0, 0, false}, {5000, 5000, 0, false},
		{5000, 5000, 1000, true}, {0, 20_000, 5_000, false},
	} {
		for _, p := range []*Policy{&UGALG, &UGAL} {
			u := p.Make(nil, Site{Stream: rng.New(1, "ugal-g")}).(Steerer)
			table := regions(0, 5, func(int) bool { return true })
			table.SetGroup(5+3, []int32{3})
			table.Regions.Gates = map[Gate][]int32{{Node: 7, Region: 3}: {5, 6}}
			u.Renew(table)
			ports := make([]Port, 8)
			for i := range ports {
				ports[i].Queued, ports[i].Peer = c.detour, 4 // at a switch without a cable to other regions
			}
			ports[3] = Port{Queued: c.local, Peer: 7}
			ports[7].Node = 7
			ports[5].Queued, ports[6].Queued = 0, 2*c.gate
			want := c.goes
			if p == &UGAL {
				want = int64(c.local) <= 2*int64(c.detour)+8192
			}
			for flow := range uint32(50) {
				if via := u.Via(unit.Time(flow), 5+3, flow, ports); (via == -1) != want {
					t.Fatalf("%s, %+v: by way of %d", p.Name, c, via)
				}
			}
		}
	}
}

// With credits, bytes held by the next switch count as queued: packets that have left a port, on the direct path
// and on detours.
func TestUGALCountsCredits(t *testing.T) {
	for _, c := range []struct {
		credits          bool
		straight, detour int32 // bytes held by the next switch of each port
		goes             bool  // straight
	}{{true, 8192, 0, true}, {true, 8193, 0, false}, {true, 20_000, 6_000, true}, {false, 1 << 20, 0, true}} {
		u := UGAL.Make(param.Values{"bias": 8 * unit.KiB, "credits": c.credits}, Site{Stream: rng.New(1, "ugal")})
		table := regions(0, 5, func(int) bool { return true })
		table.SetGroup(5+3, []int32{3})
		u.Renew(table)
		held := make([]int32, 5)
		for i := range held {
			held[i] = c.detour
		}
		held[3] = c.straight
		if k := u.(Crediting); k.Credits() {
			k.Credit(held)
		}
		for flow := range uint32(50) {
			if via := u.(Steerer).Via(0, 5+3, flow, make([]Port, 5)); (via == -1) != c.goes {
				t.Fatalf("%+v: by way of %d", c, via)
			}
		}
	}
}
