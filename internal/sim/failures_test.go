package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/internal/scenario"
	"railyard/unit"

	"pgregory.net/rapid"
)

// fourSpines is two rails under four spines with traffic between all GPUs for about 2 ms.
const fourSpines = `
name: failures
fabric: {kind: rail, hosts: 4, spines: 4, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 2, nics: 2}
transport: {timeout: 12}
workload: {traffic: {alltoall: {bytes: 16MB}}}
failures:
  - {link: 'rail-1:Eth5', at: 100us, converge: 20ms}
`

// A link that breaks loses packets until its own convergence. Another one that breaks later
// and is routed around sooner brings no news of the first.
func TestASecondFailureDoesNotHealTheFirst(t *testing.T) {
	_, one, _ := runAll(t, fourSpines)
	r, two, _ := runAll(t, fourSpines+"  - {link: 'rail-2:Eth6', at: 150us, converge: 100us}\n")
	if unit.Time(one.StepTime) < 20*unit.Millisecond || !one.Complete || !two.Complete {
		t.Fatalf("with one failure %v: nobody waits for the routes", unit.Time(one.StepTime))
	}
	if two.StepTime < one.StepTime*9/10 || two.DropsDown < one.DropsDown {
		t.Errorf("with a second failure %v and %d packets lost on broken links; with the first alone %v and %d",
			unit.Time(two.StepTime), two.DropsDown, unit.Time(one.StepTime), one.DropsDown)
	}
	if l, _, _ := r.Graph.FindPort("rail-1:Eth5"); !r.routed[l] {
		t.Error("the first link's own convergence went unheard")
	}
}

// Whatever breaks and converges in whatever order: the routes are those over all links but
// the ones whose convergence is over, and no locator that a packet under way may carry
// changes its meaning.
func TestRoutesKnowWhatHasConverged(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text, sets := randomScenario(rt)
		d, err := scenario.Parse("random", []byte(text), sets)
		if err != nil {
			rt.Fatal(err)
		}
		p, err := d.Resolve(nil)
		if err != nil {
			rt.Fatal(err)
		}
		n, err := NewNetwork(setup(p))
		if err != nil {
			rt.Skip(err)
		}
		links := len(n.Graph.Links)
		broken, converged := map[int]bool{}, map[int]bool{}
		meaning := slices.Clone(n.Paths.Sets)
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			l := rapid.IntRange(0, links-1).Draw(rt, "link")
			if broken[l] && rapid.Bool().Draw(rt, "converge") {
				n.Reroute(l)
				converged[l] = true
			} else {
				n.Break(l)
				broken[l] = true
			}
			fresh := n.Graph.Route(converged)
			for i := range n.Graph.NICs {
				now, want := n.Paths.Locator[i], fresh.Locator[i]
				for node := range n.Graph.Nodes {
					if !slices.Equal(n.Paths.Next(node, now), fresh.Next(node, want)) {
						rt.Fatalf("broken %v, converged %v: %s goes to NIC %d by links %v, want %v", broken, converged,
							n.Graph.Nodes[node].Name, i, n.Paths.Next(node, now), fresh.Next(node, want))
					}
				}
			}
			for loc, set := range meaning {
				if !slices.Equal(n.Paths.Sets[loc], set) {
					rt.Fatalf("locator %d was switches %v and is %v", loc, set, n.Paths.Sets[loc])
				}
			}
			meaning = slices.Clone(n.Paths.Sets)
		}
	})
}

// A flow alone on a fabric is as slow as its own path. A further failure on a cable that is in
// none of the equal-cost groups on its way changes nothing, to the picosecond. (In one of
// these groups it may help: the switch spreads its flows anew when its group shrinks, and a
// flow that was sent into the hole may land beside it.)
func TestAnUnrelatedFailureChangesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		base := fmt.Sprintf(`
name: alone
seed: %d
fabric: {kind: fat-tree, k: 4, host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 100Gbps, cable: 30m}}
lb: %s
cc: {algorithm: none}
transport: {timeout: 8}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-9/gpu-1, bytes: 4MB}]}}
`, rapid.IntRange(1, 1000).Draw(rt, "seed"), rapid.SampledFrom([]string{"ecmp", "flowlet", "spray", "spray-random"}).Draw(rt, "lb"))
		one := load(t, base)
		var on, off []string
		way := map[int]bool{} // cables that a packet or its acknowledgement may take
		one.ways(way, 0, 8)
		one.ways(way, 8, 0)
		for l, link := range one.Graph.Links {
			if name := one.Graph.End(l, link.A); strings.HasPrefix(name, "host") {
				continue
			} else if way[l] {
				on = append(on, name)
			} else {
				off = append(off, name)
			}
		}
		if len(off) == 0 || len(on) == 0 {
			rt.Fatalf("%d cables on the way, %d elsewhere", len(on), len(off))
		}
		fail := func(name, at, converge string) string {
			return fmt.Sprintf("  - {link: '%s', at: %s, converge: %s}\n", name, at, converge)
		}
		first := "failures:\n" + fail(rapid.SampledFrom(on).Draw(rt, "first"), "50us", "3ms")
		_, alone, _ := runAll(t, base+first)
		_, more, _ := runAll(t, base+first+fail(rapid.SampledFrom(off).Draw(rt, "second"), "60us", "5us"))
		if alone.StepTime != more.StepTime || alone.Drops != more.Drops {
			rt.Fatalf("one failure: %v and %d drops; with another elsewhere %v and %d", unit.Time(alone.StepTime), alone.Drops, unit.Time(more.StepTime), more.Drops)
		}
	})
}

// ways adds the cables between switches that are on some shortest way from one NIC to another.
func (n *Network) ways(to map[int]bool, from, dst int) {
	at := n.Paths.Sets[n.Paths.Locator[from]]
	for len(at) > 0 {
		var next []int
		for _, node := range at {
			for _, l := range n.Paths.Next(node, n.Paths.Locator[dst]) {
				to[l] = true
				next = append(next, n.Graph.Links[l].A+n.Graph.Links[l].B-node)
			}
		}
		at = next
	}
}
