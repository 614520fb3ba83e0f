package cabling

import (
	"fmt"
	"strings"
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

// Rates as written by switches, inventories and people. For a number without a unit, the possible rates of a cable
// decide between bits, Mb/s and Gb/s.
func TestRateWords(t *testing.T) {
	for text, want := range map[string]unit.Rate{"400Gbps": 400 * unit.Gbps, "400G": 400 * unit.Gbps,
		"400GbE": 400 * unit.Gbps, "400GE": 400 * unit.Gbps, "400 Gbit/s": 400 * unit.Gbps,
		"400gbase-x-qsfpdd": 400 * unit.Gbps, "100GBASE-CR4": 100 * unit.Gbps, "1.6T": 1600 * unit.Gbps,
		"0.8Tbps": 800 * unit.Gbps, "40000M": 40 * unit.Gbps, "400000": 400 * unit.Gbps,
		"10000": 10 * unit.Gbps, "400": 400 * unit.Gbps, "100000000000": 100 * unit.Gbps,
		" 25g ": 25 * unit.Gbps, "100Mbps": 100 * unit.Mbps, "1000base-t": unit.Gbps,
		"100BASE-TX": 100 * unit.Mbps, "2.5gbase-t": 2500 * unit.Mbps, "10gbase-x-sfpp": 10 * unit.Gbps,
		"400000000 bps": 400 * unit.Mbps, "2500000bit/s": 2500 * unit.Kbps} {
		if got, err := parseRate(text); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "fast", "-400G", "400GBps!", "0", "0G", "999T", "1e9", "400G 200G",
		"99999999999999999999999T", "1kbps", "400bps", "999999b/s"} {
		if got, err := parseRate(text); err == nil || !strings.Contains(err.Error(), "is not a rate") {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// Lengths with a unit have that unit, otherwise the column's; feet are converted to the millimetre.
func TestLengthWords(t *testing.T) {
	for _, c := range []struct {
		text, column string
		want         int64
	}{{"5m", "", 5000}, {"5", "m", 5000}, {"5", "", 5000}, {"500", "cm", 5000}, {"10ft", "m", 3048},
		{"10", "ft", 3048}, {"2.5 m", "cm", 2500}, {"30 meters", "ft", 30_000}, {"1.2km", "", 1_200_000},
		{"12in", "", 305}, {"7MM", "", 7}, {"0", "m", 0}} {
		if got, err := parseLength(c.text, c.column); err != nil || got != c.want {
			t.Errorf("%q in a column of %q: %d mm, %v, want %d", c.text, c.column, got, err, c.want)
		}
	}
	for _, text := range []string{"", "long", "-5m", "5 yards", "1e3m", "99999999km", "5m5"} {
		if got, err := parseLength(text, "m"); err == nil || !strings.Contains(err.Error(), "is not a length") {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}

// The kind of a node by its name: words of the field at their positions, and none if a word is only part of
// another.
func TestNodesByName(t *testing.T) {
	for name, want := range map[string]string{"leaf-1": "switch leaf", "dc1-spine-03": "switch spine",
		"ToR12": "switch leaf", "tor-12": "switch leaf", "super-spine-1": "switch super-spine",
		"pod1.agg.2": "switch aggregation", "seg-1-rail-2": "switch rail", "core_7": "switch core",
		"n9k-3": "switch ", "gpu-001": "server ", "dgx-h100-4": "server ", "host1": "server ",
		"h7": "server ", "login-1": "server ", "nothing": "unknown", "hostile": "unknown",
		"leafy": "unknown", "": "unknown", "spineless-1": "unknown"} {
		kind, role := kindOf(name)
		got := map[Kind]string{Switch: "switch " + role, Server: "server " + role, Unknown: "unknown"}[kind]
		if got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	for word, want := range map[string]string{"ToR": "leaf", "Leaf": "leaf", "superspine": "super-spine",
		"Distribution": "aggregation", "spine switch": "spine", " core ": "core", "router": ""} {
		if kind, role := roleSynonym(word); kind != Switch || role != want {
			t.Errorf("an inventory's %q: %v %q", word, kind, role)
		}
	}
	for word, want := range map[string]Kind{"GPU Server": Server, "storage": Server, "patch panel": Unknown} {
		if kind, role := roleSynonym(word); kind != want || role != "" {
			t.Errorf("an inventory's %q: %v %q", word, kind, role)
		}
	}
}

// someCables draws cables between ports, each port in one.
func someCables(t *rapid.T) (rows []string) {
	next := map[string]int{}
	port := func(node string) string {
		next[node]++
		return fmt.Sprintf("%s,Ethernet1/%d", node, next[node])
	}
	nodes := []string{"leaf-1", "leaf-2", "leaf-3", "spine-1", "spine-2"}
	for range rapid.IntRange(1, 25).Draw(t, "cables") {
		a := rapid.IntRange(0, len(nodes)-1).Draw(t, "a")
		b := (a + rapid.IntRange(1, len(nodes)-1).Draw(t, "b")) % len(nodes)
		rows = append(rows, port(nodes[a])+","+port(nodes[b]))
	}
	return rows
}

func listed(t *rapid.T, rows []string) *Cabling {
	c, err := Read([]File{{"x.csv", []byte("a,a_port,b,b_port\n" + strings.Join(rows, "\n") + "\n")}}, "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A cabling equal to the design has no differences, for any order and from either end. Each removed or added cable
// is reported once, and no other.
func TestCompareCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := someCables(t)
		found := append([]string(nil), rapid.Permutation(rows).Draw(t, "order")...)
		for i, r := range found {
			if rapid.Bool().Draw(t, "turned") {
				w := strings.Split(r, ",")
				found[i] = strings.Join([]string{w[2], w[3], w[0], w[1]}, ",")
			}
		}
		if d := Compare(listed(t, rows), listed(t, found), nil); len(d.Findings) > 0 || d.Same != len(rows) {
			t.Fatalf("%d of %d are the same; %v", d.Same, len(rows), d.Findings)
		}
		out := rapid.IntRange(0, len(found)-1).Draw(t, "out")
		d := Compare(listed(t, rows), listed(t, found[out:]), nil)
		missing := 0
		for _, f := range d.Findings {
			if f.Kind != "missing" {
				t.Fatalf("cables were taken out, and one is %v", f)
			}
			missing++
		}
		if d.Same != len(found)-out || (missing > 0) != (out > 0) || missing > out {
			t.Fatalf("%d taken out of %d: %d the same, %v", out, len(found), d.Same, d.Findings)
		}
		d = Compare(listed(t, found[out:]), listed(t, rows), nil)
		for _, f := range d.Findings {
			if f.Kind != "unexpected" {
				t.Fatalf("cables were put in, and one is %v", f)
			}
		}
		if d.Same != len(found)-out || (len(d.Findings) > 0) != (out > 0) {
			t.Fatalf("%d put into %d: %d the same, %v", out, len(found)-out, d.Same, d.Findings)
		}
	})
}
