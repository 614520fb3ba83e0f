package sim

import (
	"fmt"
	"reflect"
	"testing"

	"railyard/internal/result"
)

// A search finds among some packets of a queue pair what following each of them finds.
func TestSearch(t *testing.T) {
	var names []string
	for n := range 60 {
		names = append(names, fmt.Sprintf("0/+%d", 100+n))
	}
	sets := []string{"switch.queues.3.xoff=60KB", "switch.queues.3.xon=20KB", "switch.queues.3.wred_min=20KB"}
	all, plain, _ := follow(t, squeezed, names, sets...)
	for _, by := range searches {
		var want *result.Copy
		most, found := int64(-1), 0
		for i := range all {
			c, wait, fits := &all[i].Copies[0], int64(0), by == "longest-wait"
			for _, h := range c.Hops[1:] {
				wait += h.Left - h.Ready
				fits = fits || by == "marked" && h.Marked || by == "paused" && h.Paused
			}
			if fits {
				found++
			}
			if fits && wait > most {
				want, most = c, wait
			}
		}
		if found == 0 || by == "marked" && found == len(all) {
			t.Fatalf("%d of %d are %s", found, len(all), by)
		}
		name := "0/" + by + ":100-159"
		got, s, _ := follow(t, squeezed, []string{name}, sets...)
		if s.StepTime != plain.StepTime {
			t.Errorf("%s: step %d, without %d", name, s.StepTime, plain.StepTime)
		}
		if got[0].Asked != name || len(got[0].Copies) != 1 || !reflect.DeepEqual(got[0].Copies[0], *want) {
			t.Errorf("%s: %+v, followed one by one: %+v", name, got[0], *want)
		}
		if x := got[0]; x.FirstPSN == nil || x.From != "host-1/nic-1" {
			t.Errorf("%s: %+v", name, x)
		}
	}
	whole, _, _ := follow(t, squeezed, []string{"0/longest-wait"}, sets...)
	if x := whole[0]; len(x.Copies) == 0 {
		t.Errorf("%+v", x)
	}
	calm, _, _ := follow(t, squeezed, []string{"0/paused"}, "switch.pfc=false")
	if x := calm[0]; len(x.Copies) != 0 {
		t.Errorf("a packet is paused without PFC: %+v", x)
	}
	for _, bad := range []string{"0/longest", "0/marked:", "0/marked:5", "0/marked:5-4", "0/paused:0-0", "/marked"} {
		if n, err := ParseNamed(bad); err == nil {
			t.Errorf("%q is %v", bad, n)
		}
	}
}
