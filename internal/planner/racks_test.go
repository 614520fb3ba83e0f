package planner

import (
	"strings"
	"testing"
)

// 48 hosts, four to a rack, do not reach the switches of their rails with a copper cable, except those in the
// switches' own rack. Three rows of racks are crossed with optics.
func TestBillFollowsFromRacks(t *testing.T) {
	for _, c := range []struct {
		gpus         int
		racks, name  string
		want, length string // in the bill and in the scenario
	}{
		{384, "", "rail-only", "32 400G DAC, 2 m; 352 400G AOC, 10 m", "rate: 400Gbps, cable: 10m"},
		{384, `{"hosts": 48, "row": 16, "rack_m": 0.6, "row_m": 3, "rise_m": 2.5, "slack_m": 1, "inside_m": 2.5}`,
			"rail-only", "384 400G DAC, 3 m", "rate: 400Gbps, cable: 3m"},
		{384, `{"hosts": 1, "row": 2, "rack_m": 0.6, "row_m": 3, "rise_m": 2.5, "slack_m": 1, "inside_m": 2}`,
			"rail-only", "8 400G DAC, 2 m; 752 400G optic; 376 400G fibre, 50 m", "rate: 400Gbps, cable: 50m"},
		{32, "", "rail-only", "32 400G DAC, 2 m", "rate: 400Gbps, cable: 2m"}, // one rack
	} {
		in := input(t, c.gpus, "128x400G", "128x400G", "1:1")
		if c.racks != "" {
			text := strings.Replace(string(defaultPrices), `"racks": {`, `"racks": `+c.racks+`, "unused": {`, 1)
			text = text[:strings.Index(text, `, "unused"`)] + "}"
			var err error
			if in.Prices, err = ParsePrices("p.json", []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		d := find(t, in, c.name)
		if got := strings.Join(ordered(d), "; "); got != c.want {
			t.Errorf("%d GPUs, %s, racks %s: %s, want %s", c.gpus, c.name, c.racks, got, c.want)
		}
		if !strings.Contains(d.Scenario, c.length) {
			t.Errorf("%d GPUs, %s: no %q in\n%s", c.gpus, c.name, c.length, d.Scenario)
		}
	}
}

// Lengths are those that cables are sold in.
func TestSoldLengths(t *testing.T) {
	for metres, want := range map[float64]int{
		0.1: 1, 2: 2, 2.5: 3, 6.6: 7, 7.2: 10, 10.1: 15, 29: 30, 101: 150, 4000: 5000,
	} {
		if got := sold(metres); got != want {
			t.Errorf("%g m: %d, want %d", metres, got, want)
		}
	}
}
