package diagnose_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"railyard/internal/counters"
	"railyard/internal/counters/planted"
	"railyard/internal/long"
	"railyard/internal/story"
)

// read returns what sessions on all devices say.
func read(t *testing.T, dir string, sessions map[string][]byte) []counters.Snapshot {
	t.Helper()
	all, err := planted.Read(dir, sessions)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestPlanted finds each planted fault first, by the counters alone, whatever system the
// switches run; healthy fabrics and plain congestion have none. The table is what was found. Without long
// tests each fabric is of one system, by turn, and what is found is what the table has.
func TestPlanted(t *testing.T) {
	systems, all := []string{"nxos", "eos", "sonic"}, long.On() || story.Rewrites()
	page, err := os.ReadFile("testdata/planted.txt")
	if err != nil && !all {
		t.Fatal(err)
	}
	right, wrong := map[string]int{}, 0
	var table strings.Builder
	table.WriteString("# Faults that are simulated and printed as NX-OS, EOS and SONiC print them, and " +
		"what diagnose\n# names first, in this order; one answer where it is the same.\n\n")
	for i := range planted.Faults {
		f := &planted.Faults[i]
		seen, err := f.Simulate(systems[0])
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		of := systems
		if !all {
			of = systems[i%3:][:1]
		}
		for _, system := range of {
			as, err := seen.As(system)
			if err != nil {
				t.Fatal(err)
			}
			r, err := as.Diagnose(system)
			if err != nil {
				t.Fatal(err)
			}
			ok, other := as.First(r)
			first := "nothing"
			if len(r.Findings) > 0 {
				x := &r.Findings[0]
				first = fmt.Sprintf("%s, %v, %s", x.Cause, x.Sure, strings.TrimSpace(x.Device+" "+x.Port))
			}
			if other {
				wrong++
			}
			if said = append(said, first); ok {
				right[system]++
			} else {
				t.Errorf("%s: %s: planted %s of %v, found first %s", system, f.Name, f.Cause, as.Culprits,
					first)
			}
		}
		fmt.Fprintf(&table, "%-28s %s\n", f.Name, strings.Join(slices.Compact(said), "; "))
		if !all && !slices.Contains(answers(string(page), f.Name), said[0]) {
			t.Errorf("%s: %s: found first %s, the table has %q", of[0], f.Name, said[0],
				answers(string(page), f.Name))
		}
	}
	if wrong > 0 {
		t.Errorf("%d wrong culprits", wrong)
	}
	if !all {
		return
	}
	fmt.Fprintf(&table, "\n%d fabrics: nxos %d, eos %d, sonic %d found first, %d wrong culprits\n",
		len(planted.Faults), right["nxos"], right["eos"], right["sonic"], wrong)
	story.Check(t, "planted", table.String())
}

// answers returns what the table has of a fabric, one where all systems' are the same.
func answers(page, name string) []string {
	for l := range strings.Lines(page) {
		if of, said, _ := strings.Cut(l, " "); of == name {
			return strings.Split(strings.TrimSpace(said), "; ")
		}
	}
	return nil
}
