package planner

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The cables and optics of a bill fit the ports of switches and NICs. 400G NICs on 800G ports use breakouts.
// Between broken out ports there are only straight cables of the whole port, or an optic in each and fibres.
func TestBillOfBrokenOutPorts(t *testing.T) {
	for _, c := range []struct {
		gpus              int
		leaf, ratio, name string
		want              string
	}{
		{1024, "128x400G", "1:1", "rail-spine", "64 400G DAC, 2 m; 960 400G AOC, 15 m; 1024 400G AOC, 15 m"},
		{1024, "64x800G", "1:1", "rail-only", "16 800G to 2 × 400G DAC, 2 m; 496 800G to 2 × 400G AOC, 15 m"},
		{1024, "64x800G", "1:1", "rail-planes", "32 800G to 2 × 400G DAC, 2 m; " +
			"480 800G to 2 × 400G AOC, 15 m; 512 800G AOC, 15 m"},
		{2048, "64x800G", "1:1", "rail-spine", "64 800G to 2 × 400G DAC, 2 m; " +
			"960 800G to 2 × 400G AOC, 15 m; 1024 800G AOC, 20 m, both ports 2 × 400G"},
		{4096, "64x800G", "1:1", "rail-spine", "128 800G to 2 × 400G DAC, 2 m; " +
			"1920 800G to 2 × 400G AOC, 15 m; 2048 800G AOC, 30 m, both ports 2 × 400G"},
		{8192, "64x800G", "1:1", "rail-spine", "256 800G to 2 × 400G DAC, 2 m; " +
			"3840 800G to 2 × 400G AOC, 15 m; 8192 800G optic, 2 × 400G; 8192 400G fibre, 50 m"},
		// 13 leaves of 10 hosts hold 1,040 GPUs; the bill is for the requested ones.
		{1024, "64x800G", "2:1", "fat-tree", "208 800G to 2 × 400G DAC, 2 m; " +
			"304 800G to 2 × 400G AOC, 7 m; 260 800G AOC, 15 m, both ports 2 × 400G"},
	} {
		d := find(t, input(t, c.gpus, c.leaf, c.leaf, c.ratio), c.name)
		if got := strings.Join(ordered(d), "; "); got != c.want {
			t.Errorf("%d GPUs, %s on %s, %s:\n%s, want\n%s", c.gpus, c.name, c.leaf, c.ratio, got, c.want)
		}
	}
}

// ordered lists what to order for a design's cables.
func ordered(d Design) (out []string) {
	for _, p := range d.Cables {
		for _, x := range p.Order {
			out = append(out, fmt.Sprint(x.Count, x))
		}
	}
	return out
}

// Three links between two switches are a straight cable of two and half of an optic at each end.
func TestBillOfOddLinks(t *testing.T) {
	in := input(t, 2, "64x800G", "64x800G", "1:1")
	x := end{800, 2, 3 * 4 / 2}
	got := fmt.Sprint(in.Prices.order(3*4, 3, 400, 30, x, x))
	if want := "[800G AOC, 30 m, both ports 2 × 400G 800G optic, 2 × 400G 400G fibre, 30 m]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	var n []int
	for _, y := range in.Prices.order(3*4, 3, 400, 30, x, x) {
		n = append(n, y.Count)
	}
	if fmt.Sprint(n) != "[4 4 4]" {
		t.Errorf("counts %v", n)
	}
}

// In random designs every link to the requested hosts and between switches has its cable or fibre. No fibre lacks
// an optic's port at either end, and each kind of a switch's links has whole ports.
func TestBillCarriesTheLinks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		model := rapid.SampledFrom([]string{"64x800G", "31x800G", "128x400G", "64x1600G", "tomahawk5", "sn5600", "65x800G"})
		in := input(t, rapid.IntRange(2, 5000).Draw(rt, "gpus"), model.Draw(rt, "leaf"), model.Draw(rt, "top"), "1:1")
		in.NICRate = rapid.SampledFrom([]int{100, 200, 400}).Draw(rt, "nic")
		in.NICPorts = rapid.IntRange(1, 2).Draw(rt, "ports of a NIC")
		in.Ratio = rapid.SampledFrom([]float64{1, 1.5, 2, 3}).Draw(rt, "ratio")
		in.PerServer = rapid.SampledFrom([]int{1, 4, 8}).Draw(rt, "per server")
		all, err := Fabrics(in)
		if err != nil {
			return
		}
		for _, d := range all {
			if !d.Fits() && len(d.Cables)+len(d.Tiers) > 0 {
				rt.Fatalf("%s is infeasible with %v", d.Name, d.Cables)
			}
			for _, p := range d.Cables {
				links := p.Count
				if p.From == "host" {
					links = in.Hosts() * in.PerServer * d.NICPorts
				}
				carried, fibres, ports := 0, 0, 0
				for _, x := range p.Order {
					if x.Link != p.Rate || max(1, x.Parts)*x.Link > x.Rate || x.Parts == 0 && x.Rate != p.Rate ||
						x.Count < 1 {
						rt.Fatalf("%s: %+v for links of %dG", d.Name, x, p.Rate)
					}
					switch n := x.Count * max(1, x.Parts); x.Name {
					case "optic":
						ports += n
					case "fibre":
						fibres += n
					default:
						carried += n
					}
				}
				if carried+fibres < links || p.Rate == in.Leaf.Rate && p.Rate == in.Top.Rate &&
					carried+fibres != links ||
					ports < 2*fibres {
					rt.Fatalf("%s: %d links by cable, %d by fibre and %d ports of optics, of %d: %+v", d.Name, carried, fibres,
						ports, links, p)
				}
			}
			for _, x := range d.Tiers {
				m := in.model(x)
				if d.Name == "rail-planes" || d.Name == "port-planes" { // these have links of two rates
					continue
				}
				parts := m.parts(in.NICRate / d.NICPorts)
				if ceilInt(x.Down, parts)+ceilInt(x.Up, parts) > m.Ports {
					rt.Fatalf("%s: %+v on %v", d.Name, x, m)
				}
			}
		}
	})
}
