package study

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"railyard/cc"
	"railyard/internal/field"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
)

// MaxVariants bounds the variants of a matrix: more are a sweep.
const MaxVariants = 10_000

// Keys whose accepted values can all be selected by "all".
const (
	algorithmKey   = "cc.algorithm="
	everyAlgorithm = algorithmKey + "all"
	transportKey   = "transport=" // network designs as one word (scenario.Presets)
	everyTransport = transportKey + "all"
	configKey      = "switches.config=" // key of Matrix.Config
)

// Matrix is the variation of a study: every scenario with every combination of values.
type Matrix struct {
	Scenarios []string // files
	Set       []string // KEY=VALUE,VALUE
	Config    []string // switch configurations, relative to the working directory
}

// Variant is a scenario file with overrides.
type Variant struct {
	Path  string
	Sets  []string
	Label string // differences between the variants

	Fidelity string // fidelity if neither the scenario nor an override sets one; "": packets
}

// Plan resolves the variant with its scenario's seed and n more.
func (v *Variant) Plan(n uint64) (*scenario.Plan, error) {
	doc, err := scenariofile.Read(v.Path, v.Sets)
	if err != nil {
		return nil, err
	}
	doc.File.Seed += n
	v.Prefer(doc)
	return scenariofile.Resolve(v.Path, doc)
}

// Prefer gives a document of the variant its fidelity.
func (v *Variant) Prefer(doc *scenario.Document) {
	if v.Fidelity != "" {
		doc.Prefer(v.Fidelity)
	}
}

// Variants crosses the matrix, scenario by scenario.
func (m *Matrix) Variants() ([]Variant, error) {
	combos, err := Cross(m.Set)
	if err != nil {
		return nil, err
	}
	if len(m.Config) > 0 {
		var with [][]string
		for _, combo := range combos {
			for _, file := range m.Config {
				with = append(with, append(slices.Clone(combo), configKey+file))
			}
		}
		if combos = with; len(combos) > MaxVariants {
			return nil, fmt.Errorf("--set and --config give %d variants, at most %d are compared (railyard sweep takes more)", len(combos),
				MaxVariants)
		}
	}
	var all []Variant
	for _, path := range m.Scenarios {
		for _, sets := range combos {
			all = append(all, Variant{Path: path, Sets: fromHere(path, sets), Label: m.label(path, sets)})
		}
	}
	return all, nil
}

// Cross expands lists KEY=VALUE,VALUE to all combinations of overrides, the last list varying fastest. A key has one
// list.
func Cross(lists []string) ([][]string, error) {
	combos := [][]string{nil}
	seen := map[string]string{}
	for _, s := range lists {
		key, list, ok := strings.Cut(s, "=")
		if !ok {
			return nil, fmt.Errorf("--set %s: expected key=value,value", s)
		}
		if before, again := seen[key]; again {
			return nil, fmt.Errorf("--set %s: set twice; accepted: one list, --set %s=%s,%s", key, key, before, list)
		}
		seen[key] = list
		switch s {
		case everyAlgorithm:
			list = strings.Join(cc.Names(), ",")
		case everyTransport:
			list = strings.Join(scenario.Presets(), ",")
		}
		var next [][]string
		for _, c := range combos {
			for _, v := range strings.Split(list, ",") {
				next = append(next, append(slices.Clone(c), key+"="+v))
			}
		}
		if len(next) > MaxVariants {
			return nil, fmt.Errorf("--set gives %d variants, at most %d are compared (railyard sweep takes more)", len(next), MaxVariants)
		}
		combos = next
	}
	return combos, nil
}

// Zeros describes the compared values 0 that mean something else: "headroom=0B: computed".
func (m *Matrix) Zeros() (notes []string) {
	for _, s := range m.Set {
		key, list, _ := strings.Cut(s, "=")
		for v := range strings.SplitSeq(list, ",") {
			if means := scenario.OfZero(key, v); means != "" && v != list {
				notes = append(notes, fmt.Sprintf("%s=%s: %s", key, v, means))
			}
		}
	}
	return notes
}

// fromHere converts a configuration's file from relative to the working directory to relative to the scenario.
func fromHere(scenario string, sets []string) []string {
	out := slices.Clone(sets)
	for i, s := range out {
		file, ok := strings.CutPrefix(s, configKey)
		if !ok || filepath.IsAbs(file) {
			continue
		}
		if rel, err := filepath.Rel(filepath.Dir(scenario), file); err == nil {
			out[i] = configKey + rel
		}
	}
	return out
}

// label names a combination by what differs between the variants.
func (m *Matrix) label(path string, sets []string) string {
	var parts []string
	if len(m.Scenarios) > 1 {
		parts = append(parts, scenariofile.Slug("", path))
	}
	for i, s := range sets { // one override of each list, in order, then the configuration
		_, v, _ := strings.Cut(s, "=")
		switch {
		case i >= len(m.Set):
			parts = append(parts, m.configLabel(v))
		case strings.Contains(m.Set[i], ",") || m.Set[i] == everyAlgorithm, m.Set[i] == everyTransport:
			parts = append(parts, m.valueLabel(i, v))
		}
	}
	if len(parts) == 0 {
		return scenariofile.Slug("", path)
	}
	return strings.Join(parts, " ")
}

// valueLabel returns the label of a value in a list of overrides. Numbers and booleans are prefixed by the last
// part of the list's key, or by more parts if other lists share it.
func (m *Matrix) valueLabel(list int, value string) string {
	if value != "true" && value != "false" && (value == "" || value[0] < '0' || value[0] > '9') {
		return value
	}
	path := func(i int) []string {
		key, _, _ := strings.Cut(m.Set[i], "=")
		return strings.Split(key, ".")
	}
	own, n := path(list), 1
	for i := range m.Set {
		for other := path(i); i != list && n < min(len(own), len(other)) &&
			slices.Equal(own[len(own)-n:], other[len(other)-n:]); {
			n++
		}
	}
	return strings.Join(own[len(own)-n:], ".") + "=" + value
}

// configLabel returns a configuration's file name, or its path if several have that name, as the switches of one
// rendering do.
func (m *Matrix) configLabel(file string) string {
	same := 0
	for _, f := range m.Config {
		if filepath.Base(f) == filepath.Base(file) {
			same++
		}
	}
	if same > 1 {
		return file
	}
	return filepath.Base(file)
}

// everyAlgorithm reports whether all fitting algorithms are compared.
func (m *Matrix) everyAlgorithm() bool { return slices.Contains(m.Set, everyAlgorithm) }

// transports reports whether network designs are.
func (m *Matrix) transports() bool {
	return slices.ContainsFunc(m.Set, func(s string) bool {
		return strings.HasPrefix(s, transportKey) && (strings.Contains(s, ",") || s == everyTransport)
	})
}

// LeavesOut reports whether variants that do not fit are omitted, with the reason.
func (m *Matrix) LeavesOut() bool { return m.everyAlgorithm() || m.transports() }

// runsWithout reports whether a variant could run without congestion control, or with RC. The algorithm, or the
// transport, is then the reason for its error.
func (v Variant) runsWithout() bool {
	v.Sets = slices.Clone(v.Sets)
	for i, s := range v.Sets {
		switch {
		case strings.HasPrefix(s, algorithmKey):
			v.Sets[i] = algorithmKey + "none"
		case strings.HasPrefix(s, transportKey) && slices.Contains(scenario.Presets(), s[len(transportKey):]):
			v.Sets[i] = transportKey + scenario.Presets()[0]
		}
	}
	_, err := v.Plan(0)
	return err == nil
}

// reason returns why an algorithm does not fit, without the position of its name.
func reason(err error) string {
	var parts []string
	for _, e := range field.All(err) {
		text := e.Text()
		if e.Path != strings.TrimSuffix(algorithmKey, "=") {
			text = e.Path + ": " + text
		}
		parts = append(parts, text)
	}
	if parts == nil {
		return err.Error()
	}
	return strings.Join(parts, "; ")
}
