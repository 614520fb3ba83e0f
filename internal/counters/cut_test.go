package counters

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// TestCutShort: of a session that ends early, at the end of any of its lines, no counter is made up: what is
// read of a port is what the whole session says of it, or not there.
func TestCutShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		system := rapid.SampledFrom(Systems).Draw(t, "system")
		text := Show(system, drawn(t, system))
		whole, _, err := Read("x.txt", text)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.SplitAfter(text, []byte("\n"))
		n := rapid.IntRange(1, len(lines)).Draw(t, "lines")
		part, _, err := Read("x.txt", bytes.Join(lines[:n], nil))
		if err != nil {
			return // nothing but a prompt, or half of a document of JSON: refused as a whole
		}
		says := map[[3]string]uint64{}
		each := func(all []Snapshot, visit func(key [3]string, c *Count)) {
			for i := range all {
				for k := range all[i].Ports {
					p := &all[i].Ports[k]
					p.Each(func(name string, c *Count, _ bool) {
						if c.Is {
							visit([3]string{all[i].Format, p.Name, name}, c)
						}
					})
				}
			}
		}
		each(whole, func(key [3]string, c *Count) { says[key] = c.V })
		each(part, func(key [3]string, c *Count) {
			if v, ok := says[key]; !ok || v != c.V {
				t.Fatalf("%q is %d of %d lines, and %d (%v) of all", key, c.V, n, v, ok)
			}
		})
	})
}
