package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"railyard/cc"
	"railyard/internal/input"
	"railyard/internal/report"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
)

type compareCmd struct {
	Scenarios []string `arg:"" help:"Scenario files, or run directories with a summary.json." placeholder:"SCENARIO"`
	Set       []string `help:"Values to compare: lb=ecmp,flowlet,spray. cc.algorithm=all: every one that fits; transport=all: every way to build the network. Several --set give all combinations." placeholder:"KEY=A,B" sep:"none"`
	Config    []string `help:"Switch configurations to compare: old.cfg,new.cfg, instead of the scenario's switches.config." placeholder:"FILE,FILE"`
	Seeds     int      `help:"Run each variant with so many seeds, from the scenario's on." default:"1" range:"1,1000"`
	JSON      bool     `help:"Print the summaries as JSON."`
	PNG       string   `help:"Plot completion times, queues and rates of each variant as PNG into a folder." name:"png" placeholder:"DIR"`
	Force     bool     `help:"Replace plots that exist." with:"png"`

	curves []curves // of each variant's first run, for plots
}

func (c *compareCmd) Help() string {
	return `Examples:
  railyard compare scenarios/three-flows.yaml --set lb=ecmp,flowlet,spray
  railyard compare scenarios/three-flows.yaml --set lb=ecmp,spray --set cc.algorithm=dcqcn,none
  railyard compare scenarios/pod64-alltoall.yaml --set lb=ecmp,spray --seeds 8
  railyard compare scenarios/fattree128-incast32.yaml --set cc.algorithm=all --png plots
  railyard compare scenarios/victim.yaml --set transport=roce,srd,uec,mrc,scheduled --png plots
  railyard compare scenarios/three-flows.yaml --config old.cfg,new.cfg
  railyard compare runs/a runs/b`
}

// maxVariants bounds a comparison.
const maxVariants = 64

// Run is the compare command.
func (c *compareCmd) Run(e *env) error {
	combos, err := c.combinations()
	if err != nil {
		return input.Fault(err)
	}
	combos, unfit, err := c.check(combos)
	if err != nil {
		return err
	}
	if err := c.plotsFit(); err != nil {
		return input.Fault(err)
	}
	var variants []report.Variant
	var stopped error
	for _, path := range c.Scenarios {
		if isFolder(path) {
			s, err := result.ReadSummary(path)
			if err != nil {
				return input.Fault(err) // it was there a moment ago
			}
			variants = append(variants, report.Variant{Label: path, Runs: []*result.Summary{s}})
			continue
		}
		for _, sets := range combos {
			v := report.Variant{Label: c.label(path, sets), Failed: "not simulated"}
			v.Switch, v.NIC = c.needs(path, sets)
			if stopped == nil {
				e.doing = v.Label
				var err error
				if v.Runs, err = c.variant(e, path, sets); err == nil {
					v.Failed = ""
				} else if v.Failed = err.Error(); errors.Is(err, errStopped) {
					stopped = err
				}
			}
			variants = append(variants, v)
		}
	}
	if err := c.print(e, variants, unfit); err != nil {
		return err
	}
	if c.PNG != "" {
		if err := c.plots(e); err != nil {
			return err
		}
	}
	if stopped != nil {
		return fmt.Errorf("%w; what had ended is in the table, nothing was written", errStopped)
	}
	return failures(variants)
}

// print shows the variants side by side, those that failed too.
func (c *compareCmd) print(e *env, variants []report.Variant, unfit []report.Unfit) error {
	if c.JSON {
		out := map[string][]any{}
		for _, v := range variants {
			list := []any{}
			for _, s := range v.Runs {
				list = append(list, s)
			}
			if v.Failed != "" {
				list = append(list, map[string]string{"error": v.Failed})
			}
			out[v.Label] = append(out[v.Label], list...)
		}
		for _, u := range unfit {
			out[u.Label] = append(out[u.Label], map[string]string{"unfit": u.Why})
		}
		return printJSON(e.stdout, out)
	}
	title := strings.Join(c.Scenarios, ", ")
	if len(c.Scenarios) == 1 {
		for _, v := range variants {
			if len(v.Runs) > 0 && v.Runs[0].Name != "" {
				title = v.Runs[0].Name
			}
		}
	}
	if c.leavesOut() {
		report.Algorithms(e.stdout, title, variants, unfit)
		return nil
	}
	report.Compare(e.stdout, title, variants)
	return nil
}

// failures is the error of a comparison in which some variants failed.
func failures(variants []report.Variant) error {
	failed := 0
	for _, v := range variants {
		if v.Failed != "" {
			failed++
		}
	}
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d variants failed", failed, len(variants))
}

// isFolder reports whether a path is a folder: a run, then, and no scenario.
func isFolder(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// check refuses what cannot be simulated before anything is: the last of ten variants
// must not fail for a word that could have been read at the start. Of all algorithms those that do not fit
// one of the scenarios are left out, with the reason.
func (c *compareCmd) check(combos [][]string) (fit [][]string, unfit []report.Unfit, err error) {
	fit = slices.Clone(combos)
	for _, path := range c.Scenarios {
		if isFolder(path) {
			if _, err := result.ReadSummary(path); err != nil {
				return nil, nil, input.Fault(fmt.Errorf("%s is no run directory: %w", path, err))
			}
			continue
		}
		for i := 0; i < len(fit); {
			_, err := scenariofile.Plan(path, fromHere(path, fit[i]), nil)
			if err == nil {
				i++
				continue
			}
			if !c.leavesOut() || !c.runsWithout(path, fit[i]) {
				return nil, nil, err
			}
			unfit = append(unfit, report.Unfit{Label: c.label(path, fit[i]), Why: reason(err)})
			fit = slices.Delete(fit, i, i+1)
		}
	}
	return fit, unfit, nil
}

// variant runs one setting with every seed, and goes on behind one that fails.
func (c *compareCmd) variant(e *env, path string, sets []string) (runs []*result.Summary, failed error) {
	var base uint64
	for i := range c.Seeds {
		var seed *uint64
		if i > 0 {
			s := base + uint64(i)
			seed = &s
		}
		plan, err := scenariofile.Plan(path, fromHere(path, sets), seed)
		if err != nil {
			return runs, err
		}
		base = firstSeed(plan, i, base)
		if i == 0 && len(c.Config) > 0 {
			for _, n := range plan.Notes {
				report.Labelled(e.stderr, "note: ", n)
			}
		}
		s, t, err := outcomeTables(e, plan)
		if err == nil && i == 0 && c.PNG != "" {
			c.curves = append(c.curves, newCurves(c.label(path, sets), s, t))
		}
		switch {
		case errors.Is(err, errStopped):
			return runs, err
		case err != nil && c.Seeds > 1:
			failed = fmt.Errorf("seed %d: %w", plan.Seed, err)
		case err != nil:
			failed = err
		default:
			runs = append(runs, s)
		}
	}
	return runs, failed
}

// fromHere makes a configuration's file, given from here, one that is given from
// the scenario's directory.
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

func firstSeed(p *scenario.Plan, i int, base uint64) uint64 {
	if i == 0 {
		return p.Seed
	}
	return base
}

// label names a variant by what differs between the variants.
func (c *compareCmd) label(path string, sets []string) string {
	var parts []string
	if len(c.Scenarios) > 1 {
		parts = append(parts, slug("", path))
	}
	for i, s := range sets { // one override per --set, in their order, then the configuration
		_, v, _ := strings.Cut(s, "=")
		switch {
		case i >= len(c.Set):
			parts = append(parts, c.configLabel(v))
		case strings.Contains(c.Set[i], ",") || c.Set[i] == everyAlgorithm, c.Set[i] == everyTransport:
			parts = append(parts, v)
		}
	}
	if len(parts) == 0 {
		return slug("", path)
	}
	return strings.Join(parts, " ")
}

// configLabel is a configuration's file name, or its path where several have that
// name, as the switches of one rendering do.
func (c *compareCmd) configLabel(file string) string {
	same := 0
	for _, f := range c.Config {
		if filepath.Base(f) == filepath.Base(file) {
			same++
		}
	}
	if same > 1 {
		return file
	}
	return filepath.Base(file)
}

// configKey is the override that --config stands for.
const configKey = "switches.config="

// combinations are those of --set, each with every configuration.
func (c *compareCmd) combinations() ([][]string, error) {
	combos, err := combinations(c.Set)
	if err != nil || len(c.Config) == 0 {
		return combos, err
	}
	var out [][]string
	for _, combo := range combos {
		for _, file := range c.Config {
			out = append(out, append(slices.Clone(combo), configKey+file))
		}
	}
	if len(out) > maxVariants {
		return nil, fmt.Errorf("--set and --config give %d variants, at most %d are compared",
			len(out), maxVariants)
	}
	return out, nil
}

// combinations expands key=a,b lists into all combinations of overrides.
func combinations(sets []string) ([][]string, error) {
	combos := [][]string{nil}
	for _, s := range sets {
		key, list, ok := strings.Cut(s, "=")
		if !ok {
			return nil, fmt.Errorf("--set %s: expected key=value,value", s)
		}
		if s == everyAlgorithm {
			list = strings.Join(cc.Names(), ",")
		}
		if s == everyTransport {
			list = strings.Join(scenario.Presets(), ",")
		}
		var next [][]string
		for _, c := range combos {
			for _, v := range strings.Split(list, ",") {
				next = append(next, append(append([]string(nil), c...), key+"="+v))
			}
		}
		if len(next) > maxVariants {
			return nil, fmt.Errorf("--set gives %d variants, at most %d are compared", len(next), maxVariants)
		}
		combos = next
	}
	return combos, nil
}
