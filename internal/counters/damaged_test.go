package counters

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// counted is a number of two digits or more, or one with commas.
var counted = regexp.MustCompile(`\b[0-9][0-9,]*[0-9]\b`)

// losses are what becomes of a session between the device and the reader.
var losses = map[string]func(t *rapid.T, text []byte) []byte{
	"divided": numbers(func(t *rapid.T, n []byte) []byte {
		at := rapid.IntRange(1, len(n)-1).Draw(t, "at")
		return slices.Concat(n[:at], rapid.SampledFrom([][]byte{{' '}, {'\n'}}).Draw(t, "by"), n[at:])
	}),
	"without": numbers(func(t *rapid.T, n []byte) []byte {
		none := []string{"", "-", "N/A", strings.Repeat(" ", len(n))}
		return []byte(rapid.SampledFrom(none).Draw(t, "none"))
	}),
	"changed": numbers(func(t *rapid.T, n []byte) []byte {
		at := rapid.IntRange(0, len(n)-1).Draw(t, "at")
		return slices.Concat(n[:at], rapid.SampledFrom([][]byte{{'?'}, {'O'}, {'-'}, {'\b'}}).Draw(t, "to"), n[at+1:])
	}),
	"narrow": func(t *rapid.T, text []byte) (out []byte) {
		width := rapid.IntRange(20, 100).Draw(t, "width")
		for l := range bytes.Lines(text) {
			for ; len(l) > width+1; l = l[width:] {
				out = append(append(out, l[:width]...), '\n')
			}
			out = append(out, l...)
		}
		return out
	},
	"joined": func(_ *rapid.T, text []byte) []byte {
		return regexp.MustCompile(` {2,}`).ReplaceAll(text, []byte(" "))
	},
}

// numbers damages one of some numbers.
func numbers(damage func(t *rapid.T, n []byte) []byte) func(t *rapid.T, text []byte) []byte {
	return func(t *rapid.T, text []byte) []byte {
		one := rapid.SampledFrom([]int{2, 10, 50}).Draw(t, "one of")
		return counted.ReplaceAllFunc(text, func(n []byte) []byte {
			if rapid.IntRange(1, one).Draw(t, "which") > 1 {
				return n
			}
			return damage(t, n)
		})
	}
}

// TestDamagedSession: of a session whose numbers are divided, lost or changed, and whose lines are folded or have lost
// their columns, each counter is what the whole session says, or is not read.
func TestDamagedSession(t *testing.T) {
	kinds := [][]string{{"divided"}, {"without"}, {"changed"}, {"narrow"}, {"joined"}, {"divided", "joined"},
		{"without", "joined"}, {"changed", "joined"}} // digits of a folded number may be lost for good
	rapid.Check(t, func(t *rapid.T) {
		system := rapid.SampledFrom(Systems).Draw(t, "system")
		text := Show(system, drawn(t, system))
		whole, _, err := Read("x.txt", text)
		if err != nil {
			t.Fatal(err)
		}
		damaged := text
		for _, kind := range rapid.SampledFrom(kinds).Draw(t, "damage") {
			damaged = losses[kind](t, damaged)
		}
		part, _, err := Read("x.txt", damaged)
		if err != nil {
			return
		}
		says, ports := map[[2]string]uint64{}, map[string]bool{}
		visit := func(all []Snapshot, of func(key [2]string, c *Count)) {
			for i := range all {
				for k := range all[i].Ports {
					p := &all[i].Ports[k]
					p.Each(func(name string, c *Count, _ bool) {
						if c.Is {
							of([2]string{p.Name, name}, c)
						}
					})
				}
			}
		}
		visit(whole, func(key [2]string, c *Count) { says[key], ports[key[0]] = c.V, true })
		visit(part, func(key [2]string, c *Count) {
			// A name that is folded in a command is that of another NIC.
			if v, ok := says[key]; ports[key[0]] && (!ok || v != c.V) {
				lines := bytes.Split(damaged, []byte("\n"))
				t.Fatalf("%q is %d, and %d (%v) of the whole session: %q", key, c.V, v, ok, lines[c.Line-1])
			}
		})
	})
}
