package planner

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func input(t testing.TB, gpus int, leaf, top, ratio string) FabricInput {
	t.Helper()
	in := FabricInput{GPUs: gpus, PerServer: 8, NICRate: 400}
	var err error
	if in.Leaf, err = ParseSwitch(leaf); err != nil {
		t.Fatal(err)
	}
	if in.Top, err = ParseSwitch(top); err != nil {
		t.Fatal(err)
	}
	if in.Ratio, err = ParseRatio(ratio); err != nil {
		t.Fatal(err)
	}
	if in.Prices, err = ParsePrices("", nil); err != nil {
		t.Fatal(err)
	}
	return in
}

func find(t testing.TB, in FabricInput, name string) Design {
	t.Helper()
	all, err := Fabrics(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if d.Name == name {
			return d
		}
	}
	t.Fatal("no design ", name)
	return Design{}
}

// The designs of the source documents' fabrics have their sizes.
func TestSeedFabrics(t *testing.T) {
	const fixed = "128x400G"
	for _, c := range []struct {
		gpus             int
		leaf, top, ratio string
		name             string
		ports            int
		tiers            []int // switches, from the leaves up
	}{
		{1024, fixed, fixed, "1:1", "rail-only", 1024, []int{8}},                  // figure 8
		{1024, fixed, fixed, "1:1", "rail-spine", 1024, []int{16, 8}},             // figure 9
		{2048, fixed, fixed, "1:1", "rail-spine", 2048, []int{32, 16}},            // figure 10
		{28672, fixed, fixed, "7:1", "rail-pods", 28672, []int{448, 256, 32}},     // figure 11
		{32768, fixed, "288x400G", "7:1", "rail-pods", 32768, []int{512, 256, 0}}, // figure 12
		{1152, "1152x400G", "1152x400G", "1:1", "single-switch", 1152, []int{1}},  // figure 13
		{64, fixed, fixed, "1:1", "pod-pairs", 64, []int{4, 2}},                   // figure 13-8
		{128, fixed, fixed, "1:1", "pod-pairs", 128, []int{8, 4, 4}},              // figure 13-9
	} {
		in := input(t, c.gpus, c.leaf, c.top, c.ratio)
		if c.name == "pod-pairs" {
			in.NICPorts = 2
		}
		d := find(t, in, c.name)
		if !d.Fits() || d.GPUs != c.ports || len(d.Tiers) != len(c.tiers) || d.Scenario == "" {
			t.Errorf("%d GPUs: %+v", c.gpus, d)
			continue
		}
		for i, n := range c.tiers {
			if n > 0 && d.Tiers[i].Count != n {
				t.Errorf("%d GPUs, %s: %d %ss, want %d", c.gpus, c.name, d.Tiers[i].Count, d.Tiers[i].Role, n)
			}
		}
	}
	if d := find(t, input(t, 1032, fixed, fixed, "1:1"), "rail-only"); d.Fits() ||
		!strings.Contains(d.Reason, "at most 1,024 GPUs") {
		t.Errorf("%+v", d)
	}
}

// The published sizes of regular topologies (docs/references.md, topologies).
func TestRegularSizes(t *testing.T) {
	for _, c := range []struct {
		gpus     int
		name     string
		leaf     string
		ports, n int
	}{{8192, "fat-tree", "32x400G", 8192, 1280}, {27648, "fat-tree", "48x400G", 27648, 2880},
		{65536, "fat-tree", "64x400G", 65536, 5120},
		{72, "dragonfly", "7x400G", 72, 36}, {1056, "dragonfly", "15x400G", 1056, 264},
		{16512, "dragonfly", "31x400G", 16512, 2064}} {
		in := input(t, c.gpus, c.leaf, c.leaf, "1:1")
		if c.name == "dragonfly" {
			in.PerServer = 1
		}
		d := find(t, in, c.name)
		if !d.Fits() || d.GPUs != c.ports || d.Switches() != c.n {
			t.Errorf("%s: %d ports, %d switches, want %d and %d (%s)",
				c.name, d.GPUs, d.Switches(), c.ports, c.n, d.Reason)
		}
	}
	// A torus of n^3 has 2n^2 links across its middle (n even).
	in := input(t, 64*8, "14x400G", "14x400G", "1:1") // ports for one server and its six neighbours
	if d := find(t, in, "torus"); d.GPUs != 512 || d.Bisection != 2*16.0/256 || d.CableCount() != 512+3*64 {
		t.Errorf("%+v", d)
	}
}

// Every design of random inputs fits the GPUs, uses at most the ports of its switches, keeps the oversubscription,
// and has a positive price.
func TestDesignsHold(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := input(t, 2, "128x400G", "128x400G", "1:1")
		in.GPUs = rapid.IntRange(2, 40_000).Draw(rt, "gpus")
		in.PerServer = rapid.SampledFrom([]int{1, 4, 8}).Draw(rt, "per server")
		in.Leaf.Ports = rapid.IntRange(2, 256).Draw(rt, "leaf")
		in.Top.Ports = rapid.IntRange(2, 600).Draw(rt, "top")
		in.Ratio = rapid.SampledFrom([]float64{1, 2, 7, 8}).Draw(rt, "ratio")
		all, err := Fabrics(in)
		if err != nil {
			rt.Fatal(err)
		}
		for _, d := range all {
			if !d.Fits() {
				continue
			}
			if d.GPUs < in.GPUs || d.Cost <= 0 || d.Watts <= 0 || d.Bisection <= 0 && in.Hosts() > 1 ||
				d.Bisection > 1 || d.Switches() < 1 || d.CableCount() < in.GPUs || d.Ratio < 0 {
				rt.Fatalf("%+v", d)
			}
			for _, x := range d.Tiers {
				ports := in.Leaf.Ports
				if x.Model == in.Top.String() {
					ports = in.Top.Ports
				}
				if x.Down+x.Up > ports || x.Count < 1 {
					rt.Fatalf("%s: %+v of %d ports", d.Name, x, ports)
				}
			}
			if d.Name == "rail-pods" && float64(d.Tiers[1].Down)/float64(d.Tiers[1].Up) > in.Ratio+1e-9 {
				rt.Fatalf("%s: %d down, %d up, asked %g:1", d.Name, d.Tiers[1].Down, d.Tiers[1].Up, in.Ratio)
			}
		}
	})
}

func TestFabricRefuses(t *testing.T) {
	for _, s := range []string{"", "128", "x400G", "1x400G", "128x5G", "99999x400G", "ax400G", "50T", "tomahawk9"} {
		if _, err := ParseSwitch(s); err == nil {
			t.Errorf("%q is a switch", s)
		}
	}
	for _, s := range []string{"", "1", "0:1", "1:2", "100:1", "a:b"} {
		if _, err := ParseRatio(s); err == nil {
			t.Errorf("%q is an oversubscription", s)
		}
	}
	for text, want := range map[string]string{"{": "is not a price file", `{"colour":1}`: "unknown field",
		`{"switches":[],"cables":[]}`: "at least one entry",
		`{"switches":[{"ports":64,"rate_gbps":400,"price":-1}],"cables":[{"upto_m":1}]}`: "price and watts 0–1e9",
		`{"switches":[{"ports":64,"rate_gbps":400}],"cables":[{"upto_m":0}]}`: "must be " +
			"positive",
		`{"switches":[{"ports":64,"rate_gbps":400}],"cables":[{"upto_m":1}],"racks":{"hosts":0}}`: "hosts 1–1024",
	} {
		if _, err := ParsePrices("p.json", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	in := input(t, 1, "128x400G", "128x400G", "1:1")
	if _, err := Fabrics(in); err == nil {
		t.Error("one GPU needs a fabric")
	}
	in.GPUs, in.NICRate = 64, 800
	if _, err := Fabrics(in); err == nil {
		t.Error("an 800G NIC fits a 400G port")
	}
}

// 1,024 GPUs at 2:1 on 128 ports are 16 leaves of 64 servers with 32 uplinks each, to four spines.
func TestOversubscriptionIsReached(t *testing.T) {
	in := input(t, 1024, "128x400G", "128x400G", "2:1")
	for name, want := range map[string][2]int{"rail-spine": {20, 1024 + 512}, "rail-planes": {24, 1024 + 512},
		"fat-tree": {18, 1040 + 520}} {
		d := find(t, in, name)
		if d.Ratio > 2 || d.Ratio < 1.9 || d.Switches() != want[0] || d.CableCount() != want[1] {
			t.Errorf("%s: %.3f:1, %d switches, %d cables, want %v; %s", name, d.Ratio, d.Switches(), d.CableCount(),
				want, d.Note)
		}
	}
}

// Switches are named by model, with the ports that their chip can have at once, or by capacity.
func TestSwitchesByName(t *testing.T) {
	for text, want := range map[string]SwitchModel{"128x400G": {Ports: 128, Rate: 400},
		"tomahawk5": {Ports: 64, Rate: 800, Radix: 320},
		"Tomahawk4": {Ports: 64, Rate: 400, Radix: 272}, "sn5600": {Ports: 64, Rate: 800},
		"51.2T": {Ports: 64, Rate: 800}, "51.2Tbps": {Ports: 64, Rate: 800},
		"25.6t": {Ports: 64, Rate: 400}, "12.8T": {Ports: 32, Rate: 400}, "102.4T": {Ports: 64, Rate: 1600}} {
		if got, err := ParseSwitch(text); err != nil || got.Ports != want.Ports || got.Rate != want.Rate ||
			want.Radix > 0 && got.Radix != want.Radix {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
	if n := (SwitchModel{Ports: 64, Rate: 800, Radix: 320}).broken(100); n != 320 {
		t.Errorf("a Tomahawk 5 has %d ports of 100G at once", n)
	}
	// A port has eight lanes at most, and what is known of a switch may allow less.
	for text, want := range map[string]int{"64x400G": 512, "51.2T": 512, "qm9700": 128, "sn5600": 256} {
		if s, err := ParseSwitch(text); err != nil || s.broken(25) != want {
			t.Errorf("%s has %d ports of 25G, want %d (%v)", text, s.broken(25), want, err)
		}
	}
}

// A NIC's ports must fit a switch: 400G in two of 200G, 800G in eight of 100G.
func TestNICsOfSeveralPorts(t *testing.T) {
	for _, c := range []struct {
		rate, ports int
		leaf        string
	}{{400, 2, "256x200G"}, {800, 8, "512x100G"}} {
		in := input(t, 1024, c.leaf, c.leaf, "1:1")
		in.NICRate, in.NICPorts = c.rate, c.ports
		all, err := Fabrics(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range all {
			if d.Fits() != (d.Name == "port-planes") {
				t.Errorf("%d ports: %s: %q", c.ports, d.Name, d.Reason)
			}
		}
	}
}

// A design is offered for the requested NICs. A design for several ports needs such NICs, and divides their rate.
func TestDesignsUseTheNICs(t *testing.T) {
	for _, ports := range []int{0, 1, 2, 4, 8} {
		in := input(t, 128, "128x400G", "128x400G", "1:1")
		in.NICPorts = ports
		all, err := Fabrics(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range all {
			several := strings.HasSuffix(d.Name, "port-planes") || d.Name == "pod-pairs"
			if want := max(1, ports); several && d.Fits() && d.NICPorts != want || !several && d.NICPorts != 1 {
				t.Errorf("NICs of %d ports: %s takes %d", ports, d.Name, d.NICPorts)
			}
			hosts := 0
			for _, c := range d.Cables {
				if c.From == "host" {
					hosts += c.Count
				}
			}
			if d.Fits() && hosts < d.NICPorts*in.GPUs || d.NICPorts == 1 && hosts > d.GPUs {
				t.Errorf("NICs of %d ports: %s has %d links to hosts of %d GPUs", ports, d.Name, hosts, d.GPUs)
			}
		}
		pairs := find(t, in, "pod-pairs")
		if pairs.Fits() != (ports == 2) || !pairs.Fits() && pairs.Reason != "needs NICs with two ports (--nic-ports 2)" {
			t.Errorf("NICs of %d ports: pod-pairs: %q", ports, pairs.Reason)
		}
		if ports == 2 && !strings.Contains(pairs.Scenario, "host_link: {rate: 200Gbps") {
			t.Errorf("two ports of 200G: %s", pairs.Scenario)
		}
	}
}

// An oversubscription is written as typed, or as near as three digits permit.
func TestShowRatio(t *testing.T) {
	for typed, want := range map[string]string{"1:1": "1:1", "2:1": "2:1", "7:3": "7:3", "1.5:1": "1.5:1", "3:2": "1.5:1",
		"64:1": "64:1", "1.2345:1": "1.23:1", "5:3": "5:3"} {
		ratio, err := ParseRatio(typed)
		if got := ShowRatio(ratio); err != nil || got != want {
			t.Errorf("%s: %s, %v, expected %s", typed, got, err, want)
		}
	}
}
