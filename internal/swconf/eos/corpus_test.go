package eos

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"railyard/internal/published"
	"railyard/internal/story"
	"railyard/internal/swconf"
	"railyard/internal/swconf/tell"
)

// The meaning of public texts, in numbers. The expected values were compared with text and guide by hand. A correct
// text has no finding at level error. Those that have one are wrong, as the expected values say.
func TestCorpus(t *testing.T) {
	corpus := published.Path(t, "configs", "eos")
	story.Cases(t, "corpus", func(name string) string {
		name = strings.TrimSpace(name)
		text, err := os.ReadFile(filepath.Join(corpus, name+".cfg"))
		if err != nil {
			return err.Error()
		}
		c, err := Parse(name, text)
		if err != nil {
			return "refused: " + err.Error()
		}
		return summary(c)
	})
}

// summary returns the relevant settings of a configuration, without names and addresses.
func summary(c *swconf.Config) string {
	var s []string
	add := func(format string, args ...any) { s = append(s, fmt.Sprintf(format, args...)) }
	add("%d lines: %d understood, %d passed over, %d unknown", c.Total, c.Read, c.Passed, len(c.Unknown))
	mtus := map[string]int{}
	for _, p := range c.Ports {
		if p.MTU.Is() {
			mtus[fmt.Sprintf("MTU %d at %%d", p.MTU.V)]++
		}
	}
	line := fmt.Sprintf("%d ports, %d channels, %d subinterfaces", len(c.Ports), len(c.Bundles), len(c.Subs))
	for _, m := range sortedKeys(mtus) {
		line += ", " + fmt.Sprintf(m, mtus[m])
	}
	add("%s", line)
	if b := c.BGP; b != nil {
		add("AS %d, %d paths, %s", b.ASN.V, b.MaxPaths.V, neighbours(b))
	}
	if g := c.MLAG; g != nil {
		add("MLAG over %s", g.Link.V)
	}
	if w := c.Watchdog; w.On.V {
		add("watchdog: %s, %s, every %s", tell.Span(w.Detect.V), tell.Span(w.Restore.V), tell.Span(w.Poll.V))
	}
	for _, v := range c.Views() {
		marked := slices.ContainsFunc(v.Rows, func(r swconf.Row) bool { return r.Line > 0 || r.PFC != "no" })
		if !marked {
			continue
		}
		add("%d ports by %s, PFC %s", len(v.Ports), trustOf(v), v.PFC)
		for _, r := range v.Rows {
			add("  %d: DSCP %s, CoS %q, %s, ECN %s, PFC %s", r.Group, r.DSCP, r.COS, r.Schedule, r.ECN, r.PFC)
		}
	}
	data, cnp := swconf.UsualDSCPs([]*swconf.Config{c})
	found := map[string]int{}
	for _, f := range swconf.Lint(swconf.Input{Configs: []*swconf.Config{c}, DataDSCP: data, CNPDSCP: cnp,
		PathMTU: 4096}) {
		if f.Severity == swconf.Error {
			found[f.Rule]++
		}
	}
	for _, rule := range sortedKeys(found) {
		add("error: %s, %d", rule, found[rule])
	}
	return strings.Join(s, "\n")
}

func trustOf(v swconf.View) string {
	if strings.HasPrefix(v.Input, "trust ") {
		return strings.TrimPrefix(v.Input, "trust ")
	}
	return "a policy"
}

func neighbours(b *swconf.BGP) string {
	count := map[string]int{}
	for _, n := range b.Neighbors {
		what := "underlay"
		switch {
		case n.Down.V:
			what = "shut down"
		case n.VRF != "":
			what = "in VRFs"
		case !n.Active:
			what = "in no family"
		case n.Overlay:
			what = "overlay"
		}
		count[what]++
	}
	s := fmt.Sprintf("%d neighbours", len(b.Neighbors))
	for _, k := range sortedKeys(count) {
		s += fmt.Sprintf(", %d %s", count[k], k)
	}
	return s
}

func sortedKeys(m map[string]int) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
