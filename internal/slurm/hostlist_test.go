package slurm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Lists of hosts as hostlist_ranged_string of Slurm writes and reads them.
func TestHosts(t *testing.T) {
	for text, want := range map[string]string{"a,b": "a b", "h[1-3,7]": "h1 h2 h3 h7",
		"h[08-11]x": "h08x h09x h10x h11x", "r[1-2]h[1-2]": "r1h1 r1h2 r2h1 r2h2", "": ""} {
		if got, err := Hosts(text); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"h[1", "h]", "h[a-b]", "h[5-1]", "h[1-99999999]",
		"h[1-1000][1-1000]", "h[00000000000000000000000001]"} {
		if got, err := Hosts(text); err == nil {
			t.Errorf("%s: %d names", text, len(got))
		}
	}
	for want, names := range map[string]string{"node[1-3,7],login": "node1 node2 node3 node7 login",
		"n[008-010]": "n008 n009 n010", "n1": "n1", "a,b": "a b", "n[9-11]": "n9 n10 n11"} {
		if got := Fold(strings.Fields(names)); got != want {
			t.Errorf("%s: %s, want %s", names, got, want)
		}
	}
	if got := Repeats([]int{8, 8, 4, 8}); got != "8(x2),4,8" {
		t.Error(got)
	}
}

// What is folded and written out again is the same names.
func TestFoldComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var names []string
		for range rapid.IntRange(1, 12).Draw(t, "names") {
			n := fmt.Sprintf("%s%0*d", rapid.SampledFrom([]string{"n", "node-", "r1c"}).Draw(t, "head"),
				rapid.IntRange(0, 3).Draw(t, "width"), rapid.IntRange(0, 120).Draw(t, "number"))
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
		got, err := Hosts(Fold(names))
		slices.Sort(got)
		slices.Sort(names)
		if err != nil || !slices.Equal(got, names) {
			t.Fatalf("%v: %s: %v, %v", names, Fold(names), got, err)
		}
	})
}
