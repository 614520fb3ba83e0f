package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/internal/scenario"
)

// Random scenarios whose fabric can be a scheduled one have all properties as such, too.
func TestRandomScheduled(t *testing.T) {
	ran := 0
	for seed := *randomFrom; seed < *randomFrom+uint64(*randomRuns/2); seed++ {
		d := draw(seed)
		d.sets = slices.DeleteFunc(d.sets, func(s string) bool { return strings.HasPrefix(s, "lb=") })
		d.sets = append(d.sets, "fabric.scheduled.on=true", "fabric.cut_through=false",
			"fabric.scheduled.timeout=20us")
		d.fixed = true // packets of a flow stay in order
		doc, err := scenario.Parse("drawn.yaml", []byte(d.text), d.sets)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := doc.Resolve(nil); err != nil && (strings.Contains(err.Error(), "scheduled") ||
			strings.Contains(err.Error(), "cell")) {
			continue
		}
		d.breakLinks(betweenSwitches(d))
		r := d.start(t)
		if r == nil {
			continue
		}
		ran++
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("this was -random 2 -random.from %d:\n%s", seed, d)
				}
			}()
			d.run(t, r)
		})
	}
	if 5*ran < *randomRuns/2 {
		t.Errorf("%d of %d scenarios were taken", ran, *randomRuns/2)
	}
}
