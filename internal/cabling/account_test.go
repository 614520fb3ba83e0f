package cabling

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// allOf matches a finding about all cables of a device.
var allOf = regexp.MustCompile(`all of its (\d+) cables?`)

// accounted returns how many cables of either side have findings.
func accounted(d *Difference) (design, cabled int) {
	for _, f := range d.Findings {
		switch f.Kind {
		case "swapped":
			design, cabled = design+2, cabled+2
		case "miscabled", "other-port":
			design, cabled = design+1, cabled+1
		case "unexpected":
			cabled++
		case "missing":
			design++
			if m := allOf.FindStringSubmatch(f.Design); m != nil {
				n, _ := strconv.Atoi(m[1])
				design += n - 1
			}
		}
	}
	return design, cabled
}

// change reconnects some of the cables; a row is two devices and their ports.
func change(t *rapid.T, rows [][]string) (out [][]string) {
	free := 100
	for _, r := range rows {
		r = append([]string(nil), r...)
		switch rapid.SampledFrom([]string{"", "", "", "gone", "port", "device", "stranger", "far end"}).
			Draw(t, "change") {
		case "gone":
			continue
		case "port":
			free++
			r[3] = fmt.Sprintf("Ethernet1/%d", free)
		case "device":
			free++
			r[2], r[3] = rapid.SampledFrom([]string{"leaf-1", "leaf-2", "spine-1"}).Draw(t, "device"),
				fmt.Sprintf("Ethernet1/%d", free)
		case "stranger":
			r[2] = "somebody"
		case "far end":
			if len(out) > 0 {
				before := out[rapid.IntRange(0, len(out)-1).Draw(t, "with")]
				r[2], r[3], before[2], before[3] = before[2], before[3], r[2], r[3]
			}
		}
		if r[0] != r[2] {
			out = append(out, r)
		}
	}
	return out
}

func split(rows []string) (out [][]string) {
	for _, r := range rows {
		out = append(out, strings.Split(r, ","))
	}
	return out
}

func listOf(rows [][]string) (out []string) {
	for _, r := range rows {
		out = append(out, strings.Join(r, ","))
	}
	return out
}

// For any cabling, each cable of the design and each actual cable counts once: as right, or in one finding. With
// the two sides exchanged equally many are right, and missing cables become unexpected.
func TestEveryCableCountsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := someCables(t)
		plugged := change(t, split(rows))
		if len(plugged) == 0 {
			return
		}
		design, found := listed(t, rows), listed(t, listOf(plugged))
		for _, turned := range []bool{false, true} {
			a, b := design, found
			if turned {
				a, b = b, a
			}
			d := Compare(a, b, nil)
			lost, extra := accounted(d)
			if d.Same+lost != len(a.Cables) || d.Same+extra != len(b.Cables) || d.Ports > d.Same {
				t.Fatalf("%d of %d and %d cables are right, %d and %d are told of:\n%s\nthe design:\n%s\n"+
					"cabled:\n%s", d.Same, len(a.Cables), len(b.Cables), lost, extra, findings(d), show(a),
					show(b))
			}
			if (len(d.Findings) == 0) != (show(a) == show(b) || d.Same == max(len(a.Cables), len(b.Cables))) {
				t.Fatalf("%d right: %s", d.Same, findings(d))
			}
		}
		if x, y := Compare(design, found, nil).Same, Compare(found, design, nil).Same; x != y {
			t.Fatalf("%d are right, and %d with the sides exchanged", x, y)
		}
	})
}

func findings(d *Difference) string {
	var out []string
	for _, f := range d.Findings {
		out = append(out, f.String())
	}
	return strings.Join(out, "\n")
}

// Two cables with exchanged far ends are one finding, for any two cables, and there is no other.
func TestOneExchange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := split(someCables(t))
		if len(rows) < 2 {
			return
		}
		i := rapid.IntRange(0, len(rows)-2).Draw(t, "one")
		k := rapid.IntRange(i+1, len(rows)-1).Draw(t, "other")
		a, b := append([]string(nil), rows[i]...), append([]string(nil), rows[k]...)
		a[2], a[3], b[2], b[3] = b[2], b[3], a[2], a[3]
		if a[0] == a[2] || b[0] == b[2] {
			return // to itself
		}
		design := listed(t, listOf(rows))
		rows[i], rows[k] = a, b
		d := Compare(design, listed(t, listOf(rows)), nil)
		if d.Same != len(rows)-2 || len(d.Findings) == 0 {
			t.Fatalf("%d of %d are right: %s", d.Same, len(rows), findings(d))
		}
		for _, f := range d.Findings {
			if f.Kind != "swapped" && f.Kind != "other-port" {
				t.Fatalf("an exchange of %v and %v is told as %s", a, b, findings(d))
			}
		}
	})
}
