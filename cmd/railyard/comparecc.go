package main

import (
	"slices"
	"strings"

	"railyard/cc"
	"railyard/internal/field"
)

// algorithmKey is the key of the congestion control, everyAlgorithm the --set that compares all of them.
const (
	algorithmKey   = "cc.algorithm="
	everyAlgorithm = algorithmKey + "all"
)

// everyAlgorithm reports whether all algorithms that fit are compared.
func (c *compareCmd) everyAlgorithm() bool { return slices.Contains(c.Set, everyAlgorithm) }

// runsWithout reports whether a scenario could be run with these overrides and no congestion control: what
// is wrong is then the algorithm's.
func (c *compareCmd) runsWithout(path string, sets []string) bool {
	sets = slices.Clone(sets)
	for i, s := range sets {
		if strings.HasPrefix(s, algorithmKey) {
			sets[i] = algorithmKey + "none"
		}
	}
	_, err := loadPlan(path, fromHere(path, sets), nil)
	return err == nil
}

// reason is why an algorithm does not fit, without its name's place.
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

// needs is what the algorithm of a variant takes of switches and NICs.
func needs(sets []string) (ofSwitch, ofNIC string) {
	for _, s := range sets {
		if name, ok := strings.CutPrefix(s, algorithmKey); ok {
			if a := cc.Lookup(name); a != nil {
				ofSwitch, ofNIC = a.Needs.Switch, a.Needs.NIC
			}
		}
	}
	return ofSwitch, ofNIC
}
