package topo

import (
	"regexp"
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

// random is a dragonfly of any shape.
func random(rt *rapid.T) *Graph {
	cable := Cable{Rate: 100 * unit.Gbps, LengthMM: 3000}
	p := Params{K: rapid.IntRange(1, 3).Draw(rt, "k"), GroupSize: rapid.IntRange(1, 5).Draw(rt, "group size"),
		Global: rapid.IntRange(1, 3).Draw(rt, "global"), HostCable: cable, Fabric: cable}
	p.Groups = rapid.IntRange(2, p.GroupSize*p.Global+1).Draw(rt, "groups")
	p.Local = rapid.IntRange(1, 2).Draw(rt, "local")
	g, err := Build("dragonfly", p)
	if err != nil {
		rt.Fatal(err)
	}
	return g
}

// From any switch to any region, a dragonfly's path is at most local, global, and to any other switch at most
// local, global, local, for any of the equal paths. The three classes and Valiant's five hops depend on this.
func TestWaysOfADragonfly(t *testing.T) {
	toRegion, toSwitch := regexp.MustCompile(`^(l?g)?$`), regexp.MustCompile(`^l?(gl?)?$`)
	rapid.Check(t, func(rt *rapid.T) {
		g := random(rt)
		r := g.Reroute(nil, nil, ToRegions)
		of := g.RegionOf()
		var walk func(n, loc int, so string, want *regexp.Regexp)
		walk = func(n, loc int, so string, want *regexp.Regexp) {
			next := r.Next(n, loc)
			if len(next) == 0 && !want.MatchString(so) || len(so) > 3 {
				rt.Fatalf("a way to locator %d, which is at %v, is %q", loc, r.Sets[loc], so)
			}
			for _, l := range next {
				peer := g.Links[l].A + g.Links[l].B - n
				kind := "l"
				if of[n] != of[peer] {
					kind = "g"
				}
				walk(peer, loc, so+kind, want)
			}
		}
		regions := map[int]bool{}
		for i, loc := range r.Regions {
			regions[loc] = true
			for _, n := range r.Sets[loc] {
				if of[n] != int32(i) || len(r.Next(n, loc)) > 0 {
					rt.Fatalf("switch %d of region %d is in %d, goes on by %v", n, i, of[n], r.Next(n, loc))
				}
			}
		}
		for n := range g.Nodes {
			if g.Nodes[n].Role == Host {
				continue
			}
			for loc := range r.Sets {
				if regions[loc] {
					walk(n, loc, "", toRegion)
				} else {
					walk(n, loc, "", toSwitch)
				}
			}
		}
	})
}

// Without detours there are no regions, and locators do not change.
func TestNoDetoursNoRegions(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := random(rt)
		plain, detours := g.Route(nil), g.Reroute(nil, nil, ToRegions)
		if plain.Regions != nil || len(detours.Regions) != len(g.Regions) {
			rt.Fatalf("%d and %d regions of %d", len(plain.Regions), len(detours.Regions), len(g.Regions))
		}
		for i := range g.NICs {
			if plain.Locator[i] != detours.Locator[i] {
				rt.Fatalf("NIC %d has locators %d and %d", i, plain.Locator[i], detours.Locator[i])
			}
		}
	})
}
