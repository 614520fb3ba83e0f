package main

import (
	"fmt"
	"slices"
	"strings"

	"railyard/cc"
	"railyard/internal/field"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
)

// algorithmKey is the key of the congestion control, everyAlgorithm the --set that compares all of them.
const (
	algorithmKey   = "cc.algorithm="
	everyAlgorithm = algorithmKey + "all"
	transportKey   = "transport=" // of whole networks by one word (scenario.Presets)
	everyTransport = transportKey + "all"
)

// everyAlgorithm reports whether all algorithms that fit are compared.
func (c *compareCmd) everyAlgorithm() bool { return slices.Contains(c.Set, everyAlgorithm) }

// transports reports whether whole networks are.
func (c *compareCmd) transports() bool {
	return slices.ContainsFunc(c.Set, func(s string) bool {
		return strings.HasPrefix(s, transportKey) && (strings.Contains(s, ",") || s == everyTransport)
	})
}

// leavesOut reports whether variants that do not fit are left out of a comparison, with the reason.
func (c *compareCmd) leavesOut() bool { return c.everyAlgorithm() || c.transports() }

// runsWithout reports whether a scenario could be run with these overrides and no congestion control: what
// is wrong is then the algorithm's.
func (c *compareCmd) runsWithout(path string, sets []string) bool {
	sets = slices.Clone(sets)
	for i, s := range sets {
		switch {
		case strings.HasPrefix(s, algorithmKey):
			sets[i] = algorithmKey + "none"
		case strings.HasPrefix(s, transportKey) && slices.Contains(scenario.Presets(), s[len(transportKey):]):
			sets[i] = transportKey + scenario.Presets()[0]
		}
	}
	_, err := scenariofile.Plan(path, fromHere(path, sets), nil)
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

// needs is what the algorithm of a variant, or its transport, takes of switches and NICs.
func (c *compareCmd) needs(path string, sets []string) (ofSwitch, ofNIC string) {
	if c.transports() {
		if plan, err := scenariofile.Plan(path, fromHere(path, sets), nil); err == nil {
			return costs(plan)
		}
	}
	for _, s := range sets {
		if name, ok := strings.CutPrefix(s, algorithmKey); ok {
			if a := cc.Lookup(name); a != nil {
				ofSwitch, ofNIC = a.Needs.Switch, a.Needs.NIC
			}
		}
	}
	return ofSwitch, ofNIC
}

// costs are those of a transport: bytes of headers, and state where it is counted, besides words.
func costs(plan *scenario.Plan) (ofSwitch, ofNIC string) {
	c, ok := plan.Costs()
	if !ok {
		return "", ""
	}
	ofNIC = fmt.Sprintf("%d B of headers", c.Headers)
	if c.Connection > 0 {
		ofNIC += fmt.Sprintf(", %v a connection", c.Connection)
	}
	if c.Peer > 0 {
		ofNIC += fmt.Sprintf(", %v a far NIC", c.Peer)
	}
	return c.Switch, ofNIC + ": " + c.NIC
}
