package diagnose_test

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"railyard/internal/counters"
	"railyard/internal/counters/planted"
	"railyard/internal/long"
)

// TestLackingCounters: what one snapshot of a device lacks of one kind may have counted. No fault is named that the
// fabric does not have, though a counter that would exclude it is missing.
func TestLackingCounters(t *testing.T) {
	chosen, every := []string{"13-", "45-", "107-", "237-"}, 61
	if long.On() {
		chosen, every = few, 29
	}
	looked := 0
	for n, name := range chosen {
		files, err := filepath.Glob("testdata/blind/" + name + "*.yaml")
		if err != nil || len(files) == 0 {
			t.Fatal(name, err)
		}
		b := readBlind(t, files[len(files)-1]) // behind its plan
		seen, err := (&planted.Fault{Name: b.name, Changes: b.text, Open: true}).Simulate("nxos")
		if err != nil {
			t.Fatal(err)
		}
		system := counters.Systems[n%3]
		as, err := seen.As(system)
		if err != nil {
			t.Fatal(err)
		}
		before, after := as.Sessions(system)
		for _, m := range []map[string][]byte{before, after} {
			maps.DeleteFunc(m, func(name string, _ []byte) bool { return b.mute(name) })
		}
		halves := [2][]counters.Snapshot{readable("before", before, nil), readable("after", after, nil)}
		whole, _ := b.judge(t, halves[0], halves[1], neighbours(as), nil)
		for _, kind := range kinds(halves[1]) {
			for i, device := range slices.Sorted(maps.Keys(after)) {
				for half := range halves {
					if looked++; looked%every > 0 {
						continue
					}
					lacks := halves
					lacks[half] = without(halves[half], device, kind, i%2 == 0)
					wrong, _ := b.judge(t, lacks[0], lacks[1], neighbours(as), whole)
					for x := range wrong {
						t.Errorf("%s, %s: half %d of %s lacks %q: %s", b.name, system, half+1, device, kind, x)
					}
				}
			}
		}
	}
	t.Logf("%d diagnoses", looked/every)
}

// kinds are the names of counters that outputs show, without the numbers of priorities and queues.
func kinds(all []counters.Snapshot) []string {
	some := map[string]bool{}
	for i := range all {
		for k := range all[i].Ports {
			all[i].Ports[k].Each(func(name string, c *counters.Count, _ bool) {
				if c.Is {
					some[kind(name)] = true
				}
			})
		}
	}
	return slices.Sorted(maps.Keys(some))
}

func kind(name string) string { return numbered.ReplaceAllString(name, "") }

// numbered is the number of a priority, a queue or a group.
var numbered = regexp.MustCompile(` \d\b`)

// without returns snapshots of which a device lacks the counters of a kind, of all ports or of every second.
func without(all []counters.Snapshot, device, of string, ports bool) []counters.Snapshot {
	all = slices.Clone(all)
	for i := range all {
		if all[i].Device != device {
			continue
		}
		all[i].Ports = slices.Clone(all[i].Ports)
		for k := range all[i].Ports {
			all[i].Ports[k].Each(func(name string, c *counters.Count, _ bool) {
				if kind(name) == of && (ports || k%2 == 0) {
					*c = counters.Count{}
				}
			})
		}
	}
	return all
}
