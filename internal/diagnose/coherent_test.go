package diagnose

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"railyard/internal/counters"
)

// countedBy is a switch with two ports whose counters begin at what a source says.
func countedBy(name string, seed uint64) counters.Snapshot {
	r := rand.New(rand.NewPCG(seed, 1))
	s := counters.Snapshot{Device: name, File: name + ".txt", Kind: counters.Switch}
	for i := range 4 {
		p := counters.Port{Name: fmt.Sprint("Ethernet", i+1)}
		p.Each(func(_ string, c *counters.Count, gauge bool) {
			*c = counters.Count{V: 1e9 + r.Uint64N(1e12), Is: true}
		})
		s.Ports = append(s.Ports, p)
	}
	return s
}

// later is the same device some time afterwards; back takes from its counters instead.
func later(s counters.Snapshot, back bool) counters.Snapshot {
	s.Ports = append([]counters.Port(nil), s.Ports...)
	for i := range s.Ports {
		s.Ports[i].Each(func(_ string, c *counters.Count, gauge bool) {
			if back {
				c.V -= 1000
			} else {
				c.V += 1000
			}
		})
	}
	return s
}

// cleared is the same device after its operator cleared its counters.
func cleared(s counters.Snapshot) counters.Snapshot {
	s.Ports = append([]counters.Port(nil), s.Ports...)
	for i := range s.Ports {
		s.Ports[i].Each(func(_ string, c *counters.Count, gauge bool) { c.V = 1000 })
	}
	return s
}

// TestTwoMomentsOfOne: what cannot be two moments of one device is refused and named; a device that was
// cleared, and counters that wrap, are none of that.
func TestTwoMomentsOfOne(t *testing.T) {
	one, other := countedBy("leaf-1", 1), countedBy("leaf-1", 2)
	wrap := later(one, false)
	wrap.Ports[0].RxPFC[3] = counters.Count{V: 12, Bits: 32, Is: true}
	from := later(one, false)
	from.Ports[0].RxPFC[3] = counters.Count{V: 1<<32 - 5, Bits: 32, Is: true}
	for _, c := range []struct {
		what          string
		before, after []counters.Snapshot
		err           string
	}{
		{"two moments", plain(one), plain(later(one, false)), ""},
		{"cleared", plain(one), plain(cleared(one)), ""},
		{"a wrap", plain(from), plain(wrap), ""},
		{"another device under the same name", plain(one), plain(other), "some counters grew and others shrank"},
		{"wrong way round", plain(one), plain(later(one, true)), "swap the snapshots"},
		{"two systems", as(one, "eos"), as(later(one, false), "nxos"),
			"a switch runs one system"},
	} {
		_, err := Gather(Input{Before: c.before, After: c.after})
		switch {
		case c.err == "" && err != nil:
			t.Errorf("%s: %v", c.what, err)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) ||
			!strings.Contains(err.Error(), "leaf-1")):
			t.Errorf("%s: %v", c.what, err)
		}
	}
	// of three devices one contradicts itself: its earlier snapshot is left out, with a word
	var before, after []counters.Snapshot
	for i := range 3 {
		s := countedBy(fmt.Sprint("leaf-", i+1), uint64(i))
		before = append(before, s)
		if i == 1 {
			s = countedBy("leaf-2", 99)
		}
		after = append(after, later(s, false))
	}
	f, err := Gather(Input{Before: before, After: after})
	if err != nil || !strings.Contains(strings.Join(f.Notes, "\n"), "leaf-2: between the snapshots some counters of a port grew") {
		t.Errorf("one of three: %v", err)
	}
	for _, d := range []string{"leaf-1", "leaf-2", "leaf-3"} {
		if got := f != nil && f.byName[d].Two; got != (d != "leaf-2") {
			t.Errorf("%s has two moments: %v", d, got)
		}
	}
}

func plain(s counters.Snapshot) []counters.Snapshot { return []counters.Snapshot{s} }

// as is a snapshot by the first format of a system.
func as(s counters.Snapshot, system string) []counters.Snapshot {
	for _, f := range counters.Formats() {
		if f.System == system {
			s.Format = f.Name
			break
		}
	}
	return []counters.Snapshot{s}
}
