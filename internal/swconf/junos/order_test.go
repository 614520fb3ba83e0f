package junos

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/tell"

	"pgregory.net/rapid"
)

// where matches the position of a setting, which differs with the order.
var where = regexp.MustCompile(`(?m)^\s*line \d+ column \d+: `)

// sorted returns the meaning of set commands for any order; lines are not counted.
func sorted(t *rapid.T, commands []string) string {
	c, err := Parse("a", []byte(strings.Join(commands, "\n")+"\n"))
	if err != nil {
		t.Fatal(err, commands)
	}
	if len(c.Unknown) > 0 {
		t.Fatalf("%v in %q", c.Unknown, commands)
	}
	slices.SortFunc(c.Ports, func(a, b *swconf.Port) int {
		return strings.Compare(a.Name,
			b.Name)
	}) // "as et-0/0/0"
	lines := strings.Split(where.ReplaceAllString(tell.Facts(c), ""), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestOrder: a tree has no order. Commands have one meaning in any order and if repeated. A setting that is set and
// deleted, or set and deactivated, has no effect. One that is deleted and then set has.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.Permutation(paths).Draw(t, "paths")
		n := rapid.IntRange(2, len(list)).Draw(t, "n")
		var all, twice []string
		for _, p := range append([]string{"system host-name a"}, list[:n]...) {
			all = append(all, "set "+p)
		}
		want := sorted(t, all)
		shuffled := rapid.Permutation(all).Draw(t, "shuffled")
		for _, c := range shuffled {
			twice = append(twice, c, c)
		}
		if got := sorted(t, twice); got != want {
			t.Fatalf("in another order, twice:\n%s\ninstead of\n%s\n%q", got, want, shuffled)
		}
		gone := rapid.SampledFrom(list[:n]).Draw(t, "gone")
		if gone == "system host-name a" {
			return
		}
		var rest []string
		for _, c := range all {
			if c != "set "+gone {
				rest = append(rest, c)
			}
		}
		without := sorted(t, rest)
		for _, verb := range []string{"delete ", "deactivate "} {
			if got := sorted(t, append(slices.Clone(all), verb+gone)); got != without {
				t.Fatalf("%s%s leaves\n%s\ninstead of\n%s", verb, gone, got, without)
			}
			if got := sorted(t, append(slices.Clone(all), verb+gone, "set "+gone)); verb == "delete " &&
				got != want {
				t.Fatalf("deleted and set again says\n%s\ninstead of\n%s", got, want)
			}
		}
	})
}
