package route

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"railyard/internal/rng"
	"railyard/unit"

	"pgregory.net/rapid"
)

// The table of each policy is of one piece: names, a parameter's meaning, defaults.
func TestPolicies(t *testing.T) {
	names, params := map[string]bool{}, map[string]string{}
	for _, name := range Names() {
		p := Lookup(name)
		if p == nil || names[name] || p.Title == "" {
			t.Fatalf("policy %q is found as %+v", name, p)
		}
		names[name] = true
		if err := p.Defaults.Fits(p.Params); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, par := range p.Params {
			if said, twice := params[par.Name], fmt.Sprintf("%+v", par); said != "" && said != twice {
				t.Errorf("%s: %s means %s, elsewhere %s", name, par.Name, twice, said)
			}
			params[par.Name] = fmt.Sprintf("%+v", par)
		}
		if p.Fixed() && p.Reorders(p.Defaults) || Is[Steerer](p) && !Is[Riser](p) {
			t.Errorf("%s: fixed and reordered, or detours without classes", name)
		}
		if d := OfDLB(p.DLB); p.DLB != "" && d.DLB != p.DLB {
			t.Errorf("configurations call %s %q, and that is %s", name, p.DLB, d.Name)
		}
	}
	fixed := slices.DeleteFunc(Names(), func(n string) bool { return !Lookup(n).Fixed() })
	if got := strings.Join(fixed, " "); got != "ecmp ecmp-resilient dimension-order structured" {
		t.Errorf("flows keep their paths under %s", got)
	}
	if Lookup("warp") != nil || OfDLB("") != nil {
		t.Error("a policy that nobody wrote is found")
	}
}

// network is random ports and a table over them. Some ports are broken; routing knows that, so they are in no
// group.
type network struct {
	ports []Port
	table *Table
}

func randomNetwork(rt *rapid.T) *network {
	n := &network{ports: make([]Port, rapid.IntRange(2, 40).Draw(rt, "ports"))}
	for i := range n.ports {
		n.ports[i].Rate = rapid.SampledFrom(rates).Draw(rt, "rate")
		n.ports[i].Down = rapid.IntRange(0, 3).Draw(rt, "down") == 0
	}
	n.ports[0].Down = false
	n.fill(rt)
	return n
}

// fill renews the table with groups of the ports that work.
func (n *network) fill(rt *rapid.T) {
	locators := rapid.IntRange(1, 10).Draw(rt, "locators")
	n.table = n.table.Renew(locators, nil)
	for loc := range locators {
		group := []int32{0}
		for i := range n.ports {
			if !n.ports[i].Down && rapid.Bool().Draw(rt, "member") {
				for range rapid.SampledFrom([]int{1, 1, 2, 16}).Draw(rt, "shares") {
					group = append(group, int32(i))
				}
			}
		}
		n.table.SetGroup(loc, group)
	}
}

// For every policy, load and change of routes, the chosen port is in the group and not broken. Two choosers with
// equal inputs choose equally.
func TestAlwaysAPortOfTheGroup(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				n := randomNetwork(rt)
				site := Site{Seed: rapid.Uint32().Draw(rt, "seed"), Stream: rng.New(1, name)}
				a, b := Lookup(name).Make(nil, site), Lookup(name).Make(nil, site)
				a.Renew(n.table)
				b.Renew(n.table)
				now := unit.Time(0)
				for range rapid.IntRange(1, 100).Draw(rt, "packets") {
					if rapid.IntRange(0, 20).Draw(rt, "change") == 0 {
						p := &n.ports[rapid.IntRange(1, len(n.ports)-1).Draw(rt, "cable")]
						p.Down = !p.Down
						n.fill(rt)
						a.Renew(n.table)
						b.Renew(n.table)
					}
					now += unit.Time(rapid.IntRange(0, 100_000_000).Draw(rt, "later"))
					p := &n.ports[rapid.IntRange(0, len(n.ports)-1).Draw(rt, "loaded")]
					p.Queued = int32(rapid.IntRange(0, 1<<22).Draw(rt, "queued"))
					p.Paused = rapid.Uint8Range(0, 8).Draw(rt, "paused")
					p.TxBytes += int64(p.Queued)
					p.BusyUntil = now + unit.Time(p.Queued)
					id := n.table.Group(rapid.IntRange(0, n.table.Locators()-1).Draw(rt, "to"))
					group, flow := n.table.Ports(id), rapid.Uint32Range(0, 9).Draw(rt, "flow")
					got := a.Pick(now, group, int(id), flow, n.ports)
					if !slices.Contains(group, got) || n.ports[got].Down {
						rt.Fatalf("port %d of %v, broken %v", got, group, n.ports[got].Down)
					}
					if again := b.Pick(now, group, int(id), flow, n.ports); again != got {
						rt.Fatalf("ports %d and %d", got, again)
					}
				}
			})
		})
	}
}

// chiSquare returns how unevenly items fell into bins. With equally likely bins it is about the number of bins
// minus one.
func chiSquare(bins []int) (x float64) {
	sum := 0
	for _, n := range bins {
		sum += n
	}
	want := float64(sum) / float64(len(bins))
	for _, n := range bins {
		x += (float64(n) - want) * (float64(n) - want) / want
	}
	return x
}

// Flows that differ in one number, as consecutive queue pairs and source ports do, are hashed evenly. Of 200
// switches at most three split 20,000 flows with a chi-square beyond its 99.9th percentile. The next switch splits
// the flows of one port evenly again.
func TestHashIsEven(t *testing.T) {
	p999 := map[int]float64{2: 10.83, 3: 13.82, 4: 16.27, 8: 24.32, 16: 37.70, 64: 103.4}
	for n, limit := range p999 {
		for what, flow := range map[string]func(i int) uint32{
			"consecutive": func(i int) uint32 { return uint32(i) },
			"high bits":   func(i int) uint32 { return uint32(i) << 14 },
			"random":      func(i int) uint32 { return uint32(rng.Mix64(uint64(i))) },
		} {
			beyond := 0
			for s := range 200 {
				seed := uint32(rng.Mix64(uint64(s + 1)))
				next := uint32(rng.Mix64(uint64(seed)))
				bins, both := make([]int, n), make([]int, n*n)
				for i := range 20_000 {
					here, there := Hashed(flow(i), seed, n), Hashed(flow(i), next, n)
					bins[here]++
					both[here*n+there]++
				}
				if chiSquare(bins) > limit {
					beyond++
				}
				// Over both switches: the mean of a chi-square of that many degrees plus ten deviations.
				if f := float64(n*n - 1); n <= 16 && chiSquare(both) > f+10*math.Sqrt(2*f) {
					t.Errorf("%s flows on %d ports, switch %d: the next one splits them unevenly, %.0f",
						what, n, s, chiSquare(both))
				}
			}
			if beyond > 3 {
				t.Errorf("%s flows on %d ports: %d of 200 switches are uneven", what, n, beyond)
			}
		}
	}
}

// With one seed for all switches a flow has an equal position in every group: polarisation.
func TestOneSeedPolarises(t *testing.T) {
	for i := range uint32(1000) {
		if Hashed(i, 7, 4) != Hashed(i, 7, 8)/2 {
			t.Fatalf("flow %d is at %d of 4 and %d of 8", i, Hashed(i, 7, 4), Hashed(i, 7, 8))
		}
	}
}

// Spraying in turn: n consecutive packets of a group with n entries use each entry once, and groups are
// independent.
func TestTurnsCount(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := randomNetwork(rt)
		c := Spray.Make(nil, Site{Seed: rapid.Uint32().Draw(rt, "seed")})
		c.Renew(n.table)
		sent := map[int32][]int32{} // by group
		for range 300 {
			id := n.table.Group(rapid.IntRange(0, n.table.Locators()-1).Draw(rt, "to"))
			sent[id] = append(sent[id], c.Pick(0, n.table.Ports(id), int(id), 1, n.ports))
		}
		for id, ports := range sent {
			group := slices.Sorted(slices.Values(n.table.Ports(id)))
			for ; len(ports) >= len(group); ports = ports[1:] {
				if round := slices.Sorted(slices.Values(ports[:len(group)])); !slices.Equal(round, group) {
					rt.Fatalf("a round over %v is %v", group, round)
				}
			}
		}
	})
}

// Random spraying uses each entry of a group with equal probability.
func TestRandomIsEven(t *testing.T) {
	c, ports, group := chooser(&SprayRandom, 8, 400*unit.Gbps)
	bins := make([]int, 8)
	for range 20_000 {
		bins[c.Pick(0, group, 0, 1, ports)]++
	}
	if x := chiSquare(bins); x > 24.32 {
		t.Errorf("%v, chi-square %.1f", bins, x)
	}
}

// A reference model of flowlets: a flow keeps its port until it has been idle for longer than the gap while that
// port's load is above the threshold. It then moves to the least loaded port.
func TestFlowletsAgainstAModel(t *testing.T) {
	moved := int64(0)
	rapid.Check(t, func(rt *rapid.T) {
		c, ports, group := chooser(&Flowlet, rapid.IntRange(2, 6).Draw(rt, "ports"), 100*unit.Gbps)
		port, last, moves := map[uint32]int32{}, map[uint32]unit.Time{}, int64(0)
		now := unit.Time(0)
		for range 60 {
			now += unit.Time(rapid.IntRange(1, 120).Draw(rt, "us")) * unit.Microsecond
			for i := range ports { // a port with queued bytes counts as loaded beyond its rate
				queued := rapid.SampledFrom([]int{0, 0, 50_000, 100_000}).Draw(rt, "queued")
				if ports[i].Queued = 0; queued > 0 { // all queues differ
					ports[i].Queued = int32(queued + 100*i)
				}
			}
			flow := rapid.Uint32Range(0, 3).Draw(rt, "flow")
			got := c.Pick(now, group, 0, flow, ports)
			at, known := port[flow]
			want := at
			if !known {
				want = group[Hashed(flow, 1, len(group))]
			} else if now-last[flow] > 50*unit.Microsecond && ports[at].Queued > 0 {
				for i := range ports {
					if ports[i].Queued < ports[want].Queued {
						want = int32(i)
					}
				}
				if want != at {
					moves++
				}
			}
			if got != want && ports[got].Queued != ports[want].Queued {
				rt.Fatalf("flow %d is at %d, silent for %v: goes to %d, want %d; %v", flow, at,
					now-last[flow], got, want, ports)
			}
			port[flow], last[flow] = got, now
		}
		if c.Moved() != moves {
			rt.Fatalf("%d flows moved, %d counted", moves, c.Moved())
		}
		moved += moves
	})
	if moved == 0 {
		t.Error("no flow ever moved")
	}
}

// A group contains its ports in proportion to their rates. Equal ones occur once, and no share is wrong by more
// than a sixteenth of the fastest port.
func TestSharesFollowTheRates(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rapid.SliceOfN(rapid.SampledFrom(rates), 1, 12).Draw(rt, "rates")
		shares, fastest, least := Shares(r), slices.Max(r), slices.Min(r)
		for i := range r {
			if shares[i] < 1 || shares[i] > maxShares || least == fastest && shares[i] != 1 {
				rt.Fatalf("%v stand %v times", r, shares)
			}
			of := float64(shares[slices.Index(r, fastest)]) * float64(r[i]) / float64(fastest)
			if d := float64(shares[i]) - of; (d > 1 || d < -1) && shares[i] > 1 {
				rt.Fatalf("%v stand %v times, %.2f of %v", r, shares, of, r[i])
			}
		}
	})
	if s := Shares([]unit.Rate{100 * unit.Gbps, 150 * unit.Gbps}); s[0] != 2 || s[1] != 3 {
		t.Errorf("100G and 150G stand %v times", s)
	}
}

// A packet allocates nothing at any policy's switches, once the flows and ports are known.
func TestChoosingAllocatesNothing(t *testing.T) {
	for _, name := range Names() {
		p := Lookup(name)
		c, ports, group := chooser(p, 8, 400*unit.Gbps)
		table := NewTable(6)
		table.Regions = &Regions{Loc: []int{0, 1, 2}, Of: []int{0, 1, 2, 0, 1, 2}}
		for loc := 1; loc < 6; loc++ {
			table.SetGroup(loc, group)
		}
		c.Renew(table)
		now, flow := unit.Time(0), uint32(0)
		one := func() {
			now, flow = now+60*unit.Microsecond, (flow+1)%16
			ports[flow%8].Queued = int32(1000 * flow)
			c.Pick(now, group, 0, flow, ports)
			if s, ok := c.(Steerer); ok {
				s.Via(now, 5, flow, ports)
			}
		}
		for range 100 {
			one()
		}
		if n := testing.AllocsPerRun(1000, one); n != 0 {
			t.Errorf("%s: %v allocations per packet", name, n)
		}
	}
}
