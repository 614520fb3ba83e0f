package topo

import (
	"slices"
	"strings"
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

// two is two leaves under two spines, with some cables to each spine.
func two(t testing.TB, cables int) *Graph {
	t.Helper()
	g, err := Build("rail", Params{Server: Server{GPUs: 1, NICs: 1, Ports: 1}, Hosts: 1, Segments: 2,
		Spines: 2, Uplinks: cables, HostCable: Cable{Rate: unit.Gbps}, Fabric: Cable{Rate: unit.Gbps}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Cables between the same two switches become channels, k by k; a rest is refused.
func TestBundleAll(t *testing.T) {
	g := two(t, 6)
	if err := g.BundleAll(4, 1); err == nil ||
		err.Error() != "6 cables connect seg-1-rail-1 and spine-1, which make no channels of 4" {
		t.Error(err)
	}
	g = two(t, 6)
	if err := g.BundleAll(3, 2); err != nil {
		t.Fatal(err)
	}
	inv := g.Inventory()
	if len(inv.Channels) != 1 || inv.Channels[0] != (ChannelCount{From: "rail", To: "spine", Members: 3,
		Rate: 3 * unit.Gbps, Min: 2, Count: 8}) {
		t.Errorf("%+v", inv.Channels)
	}
	if !strings.Contains(g.Dot(), `"6 cables in 2 channels, 6Gbps"`) {
		t.Error(g.Dot())
	}
	for i, l := range g.Links {
		if host := g.Nodes[l.A].Role == Host || g.Nodes[l.B].Role == Host; host != (l.Channel == 0) {
			t.Errorf("cable %d of channel %d", i, l.Channel)
		}
	}
}

// Invalid channels are rejected.
func TestNoChannel(t *testing.T) {
	g := two(t, 2)
	host := g.NICs[0].Links[0]
	var up []int
	for i, l := range g.Links {
		if l.A == g.Node("seg-1-rail-1") || l.B == g.Node("seg-1-rail-1") {
			up = append(up, i)
		}
	}
	up = slices.DeleteFunc(up, func(l int) bool { return l == host })
	g.Links[up[1]].Rate = 2 * unit.Gbps
	for want, links := range map[string][]int{"is a server's cable": {host},
		"do not connect the same": {up[0], up[2]}, "equally fast": {up[0], up[1]}} {
		if err := g.Bundle(links, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := g.Bundle(up[:1], 1); err != nil {
		t.Fatal(err)
	}
	if err := g.Bundle(up[:1], 1); err == nil || !strings.Contains(err.Error(), "in a channel already") {
		t.Error(err)
	}
}

// After any failures, routes use a channel exactly if enough of its members work, by all working members.
func TestRoutesOverChannels(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lag := rapid.IntRange(1, 4).Draw(rt, "lag")
		least := rapid.IntRange(1, lag).Draw(rt, "least")
		g := two(t, lag*rapid.IntRange(1, 2).Draw(rt, "channels"))
		if err := g.BundleAll(lag, least); err != nil {
			rt.Fatal(err)
		}
		down := map[int]bool{}
		for i := range g.Links {
			down[i] = g.Links[i].Channel > 0 && rapid.Bool().Draw(rt, "down")
		}
		r := g.Route(down)
		var want []int
		leaf, far := g.Node("seg-1-rail-1"), g.Node("seg-2-rail-1")
		works := func(c Channel) bool {
			n := 0
			for _, l := range c.Links {
				if !down[l] {
					n++
				}
			}
			return n >= c.Min
		}
		reaches := map[int]bool{}
		for _, c := range g.Channels {
			if l := g.Links[c.Links[0]]; (l.A == far || l.B == far) && works(c) {
				reaches[l.A+l.B-far] = true
			}
		}
		for _, c := range g.Channels {
			l := g.Links[c.Links[0]]
			if (l.A == leaf || l.B == leaf) && works(c) && reaches[l.A+l.B-leaf] {
				for _, i := range c.Links {
					if !down[i] {
						want = append(want, i)
					}
				}
			}
		}
		got := slices.Clone(r.Next(leaf, r.Locator[1]))
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			rt.Fatalf("to the other leaf by %v, want %v", got, want)
		}
		if whole := g.Whole(got); len(got) > 0 && (len(whole) > len(got) || len(whole) == 0) {
			rt.Fatalf("%d cables are %d next hops", len(got), len(whole))
		}
	})
}
