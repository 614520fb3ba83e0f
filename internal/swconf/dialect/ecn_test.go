package dialect_test

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
)

// ecnTexts are the lines of each language that set the usual thresholds, 150 KB and 3 MB with 7 %.
var ecnTexts = map[swconf.OS][3]string{
	swconf.NXOS: {"minimum-threshold 150 kbytes", "maximum-threshold 3000 kbytes", "drop-probability 7"},
	swconf.EOS:  {"minimum-threshold 150 kbytes", "maximum-threshold 3000 kbytes", "max-mark-probability 7"},
	swconf.SONiC: {`"green_min_threshold": "150000"`, `"green_max_threshold": "3000000"`,
		`"green_drop_probability": "7"`},
	swconf.NVUE: {"min-threshold 150000", "max-threshold 3000000", "probability 7"},
}

// Correctly ordered but wrong ECN thresholds are found on one switch of four and on all of them, with the
// scenario's switches and, on one, without. Rounding by a language or a chip is no finding.
func TestWrongThresholds(t *testing.T) {
	g := fabric(t, "rail")
	scenario := func(int) *queue.Spec { s := spec(); return &s }
	for os, lines := range ecnTexts {
		d, err := plan(g, spec(), os, design.Numbered, "", "")
		if err != nil {
			t.Fatal(err)
		}
		_, texts := configs(t, d)
		written := func(line, value string) string { // the value in place of the line's
			i := strings.IndexFunc(line, func(r rune) bool { return r >= '0' && r <= '9' })
			if os == swconf.SONiC {
				return line[:i] + value + `"`
			}
			if strings.HasSuffix(line, "kbytes") {
				value += " bytes"
			}
			return line[:i] + value
		}
		for _, x := range []struct {
			low, high, percent string
			rules              string // rules that warn with the scenario
		}{
			{"150000", "3000000", "7", ""},
			{"153600", "3000000", "7", ""}, // 150 KiB
			{"150000", "3145728", "7", ""}, // 3 MiB
			{"150", "3000", "7", "ecn-differs ecn-range threshold-order"},
			{"115000", "300000", "7", "ecn-differs"},
			{"110000", "200000", "100", "ecn-differs"},
			{"150000", "3000000", "100", "ecn-differs"},
			{"3000000", "3400000", "7", "ecn-differs"},
		} {
			for _, everywhere := range []bool{false, true} {
				var cs []*swconf.Config
				for path, text := range texts {
					if !strings.Contains(path, "/") || strings.HasSuffix(path, ".conf") ||
						strings.HasSuffix(path, "daemons") {
						continue
					}
					if everywhere || strings.HasPrefix(path, leaf+"/") {
						for i, value := range []string{x.low, x.high, x.percent} {
							if !strings.Contains(text, lines[i]) {
								t.Fatalf("%s: no %q", os, lines[i])
							}
							text = strings.ReplaceAll(text, lines[i], written(lines[i], value))
						}
					}
					c, err := dialect.Parse(path, []byte(text), os)
					if err != nil {
						t.Fatal(err)
					}
					cs = append(cs, c)
				}
				found := func(specs func(int) *queue.Spec) string {
					var rules []string
					for _, f := range swconf.Lint(swconf.Input{Configs: cs, Graph: g, Specs: specs, Base: spec(),
						DataDSCP: 24, CNPDSCP: 48, PathMTU: 4096}) {
						if f.Severity == swconf.Warning && strings.HasPrefix(f.File, leaf+"/") &&
							(strings.HasPrefix(f.Rule, "ecn-") || f.Rule == "threshold-order") {
							rules = append(rules, f.Rule)
						}
					}
					slices.Sort(rules)
					return strings.Join(slices.Compact(rules), " ")
				}
				want := x.rules
				if os == swconf.EOS {
					want = strings.TrimSuffix(want, " threshold-order") // its chips resume by themselves
				}
				if got := found(scenario); got != want {
					t.Errorf("%s, %s to %s with %s %%: %q, want %q", os, x.low, x.high, x.percent, got, want)
				}
				if everywhere {
					continue
				}
				if got := found(nil); got != want {
					t.Errorf("%s, %s to %s with %s %%, no scenario: %q, want %q", os, x.low, x.high, x.percent, got,
						want)
				}
			}
		}
	}
}

// Fill levels of Junos, which are no bytes here, are compared with those of the other switches.
func TestWrongFillLevels(t *testing.T) {
	g := fabric(t, "rail")
	d, err := plan(g, spec(), swconf.Junos, design.Numbered, "", "")
	if err != nil {
		t.Fatal(err)
	}
	_, texts := configs(t, d)
	var cs []*swconf.Config
	for path, text := range texts {
		if !strings.Contains(path, "/") {
			continue
		}
		if strings.HasPrefix(path, leaf+"/") {
			text = strings.Replace(text, "fill-level 5\n", "fill-level 1\n", 1)
			if text == texts[path] {
				t.Fatal("no such fill level")
			}
		}
		c, err := dialect.Parse(path, []byte(text), swconf.Junos)
		if err != nil {
			t.Fatal(err)
		}
		cs = append(cs, c)
	}
	if !slices.ContainsFunc(lint(g, cs), func(f swconf.Finding) bool {
		return f.Rule == "ecn-differs" && strings.HasPrefix(f.File, leaf+"/")
	}) {
		t.Errorf("not found: %v", lint(g, cs))
	}
}

// Without a scenario no memory is known, but thresholds above the largest chip's possible queue are found.
func TestThresholdsBeyondEveryChip(t *testing.T) {
	d, err := plan(fabric(t, "rail"), spec(), swconf.EOS, design.Numbered, "", "")
	if err != nil {
		t.Fatal(err)
	}
	_, texts := configs(t, d)
	for change, want := range map[string]bool{"maximum-threshold 15000 kbytes": false,
		"maximum-threshold 30000 kbytes": true} {
		c, err := dialect.Parse("leaf", []byte(strings.ReplaceAll(texts[leaf+"/eos.cfg"], "maximum-threshold 3000 kbytes",
			change)), swconf.EOS)
		if err != nil {
			t.Fatal(err)
		}
		found := swconf.Lint(swconf.Input{Configs: []*swconf.Config{c}, DataDSCP: 24, CNPDSCP: 48, PathMTU: 4096})
		if got := slices.ContainsFunc(found, func(f swconf.Finding) bool { return f.Rule == "ecn-range" }); got != want {
			t.Errorf("%s: found %v, want %v: %+v", change, got, want, found)
		}
	}
}

// If two switches of a tier differ by more than a factor of two, either may be wrong, so both are named.
func TestTwoSwitchesMarkApart(t *testing.T) {
	g := fabric(t, "rail")
	texts := maps.Clone(ecnTexts)
	texts[swconf.Junos] = [3]string{"fill-level 5\n"}
	for os, lines := range texts {
		d, err := plan(g, spec(), os, design.Numbered, "", "")
		if err != nil {
			t.Fatal(err)
		}
		_, written := configs(t, d)
		number := regexp.MustCompile(`\d+`).FindString(lines[0])
		for _, x := range []struct {
			factor int
			both   bool
		}{{1, false}, {2, false}, {10, true}} {
			n, _ := strconv.Atoi(number)
			value := strings.Replace(lines[0], number, strconv.Itoa(n*x.factor), 1)
			found, spines := map[string]bool{}, 0
			var cs []*swconf.Config
			for path, text := range written {
				if !strings.HasPrefix(path, "spine") || !strings.Contains(text, strings.Fields(lines[0])[0]) {
					continue
				}
				if spines++; spines == 1 {
					if !strings.Contains(text, lines[0]) {
						t.Fatalf("%s: no %q", os, lines[0])
					}
					text = strings.ReplaceAll(text, lines[0], value)
				}
				c, err := dialect.Parse(path, []byte(text), os)
				if err != nil {
					t.Fatal(err)
				}
				cs = append(cs, c)
			}
			for _, f := range swconf.Lint(swconf.Input{Configs: cs, Graph: g, DataDSCP: 24, CNPDSCP: 48,
				PathMTU: 4096}) {
				if f.Rule == "ecn-differs" {
					found[f.File] = true
				}
			}
			if len(cs) != 2 || len(found) != map[bool]int{true: 2}[x.both] {
				t.Errorf("%s, %d times as much on one of %d: found %v", os, x.factor, len(cs), found)
			}
		}
	}
}
