package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestBillHasPrices: each line of a bill has the price of one part and of all, on the terminal and as JSON. The
// lines add up to the cost. For a routing that no switch supports, the check names the result with ECMP.
func TestBillHasPrices(t *testing.T) {
	args := []string{"plan", "fabric", "--gpus", "1024", "--switch", "64x800G", "--bom", "--check"}
	_, out, _ := call(t, args...)
	for _, want := range []string{"16  rail 64x800G: 64 × 400G down, 64 × 400G up         $60,000    $960 k",
		"Count  Part", "No switch configuration has lb minimal; with lb ecmp, which config render writes, pauses can"} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("no %q:\n%s", want, out)
		}
	}
	_, out, errs := call(t, append(args, "--json")...)
	var said struct {
		Designs []struct {
			Cost  float64
			Tiers []struct {
				Price float64 `json:"unit_price"`
				Total float64 `json:"total_price"`
			}
			Cables []struct {
				Order []struct {
					Count int
					Price float64 `json:"unit_price"`
					Total float64 `json:"total_price"`
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil {
		t.Fatal(err, errs)
	}
	for _, d := range said.Designs {
		sum := 0.0
		for _, x := range d.Tiers {
			sum += x.Total
		}
		for _, c := range d.Cables {
			for _, x := range c.Order {
				if sum += x.Total; x.Total != x.Price*float64(x.Count) {
					t.Errorf("%+v", x)
				}
			}
		}
		if sum < d.Cost*0.9999 || sum > d.Cost*1.0001 {
			t.Errorf("lines of %g, cost of %g", sum, d.Cost)
		}
	}
}

// TestCompareShowsQueues: variants of congestion control have rows of queue length, those of load balancing none.
func TestCompareShowsQueues(t *testing.T) {
	s := filepath.Join(scenarios(t), "lab-2x2.yaml")
	for set, want := range map[string]bool{"cc.algorithm=dcqcn,none": true, "transport.mtu=1024,4096": true,
		"fabric.host_link.cable=20m,21m": false} {
		_, out, errs := call(t, "compare", s, "--set", set)
		if got := strings.Contains(out, "queue peak"); got != want || strings.Contains(out, "uplinks up to 0 %") {
			t.Errorf("%s: %v\n%s%s", set, got, out, errs)
		}
	}
}
