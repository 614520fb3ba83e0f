package study

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"railyard/cc"
	"railyard/internal/input"
	"railyard/internal/partition"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/unit"
)

// Comparison simulates each variant of a matrix with several seeds. A scenario of its matrix may be a run
// directory, whose summary is a separate variant.
type Comparison struct {
	Matrix
	Seeds int // number of seeds, from the scenario's on

	// Unfit are the variants that Prepare has left out.
	Unfit []result.Unfit
	// Notes are the notes of the variants' plans, and Idle the notes about values without effect, each once.
	Notes, Idle []string

	variants []Variant
	columns  []result.Variant
}

// Prepare resolves all variants, so that none fails later for what can be read now. With all algorithms or
// transports, algorithms that do not fit one of the scenarios are omitted.
func (c *Comparison) Prepare() error {
	all, err := c.Variants()
	if err != nil {
		return input.Fault(err)
	}
	combos := len(all) / max(1, len(c.Scenarios))
	unfit := map[int]bool{} // combinations of overrides
	over := make([]string, len(all))
	for i := range all {
		v := &all[i]
		if result.IsDir(v.Path) {
			if _, err := result.ReadSummary(v.Path); err != nil {
				return input.Fault(fmt.Errorf("%s is not a run directory: %w", v.Path, err))
			}
			continue
		}
		if unfit[i%combos] {
			continue
		}
		plan, err := v.Plan(0)
		if err == nil {
			c.Notes, over[i] = append(c.Notes, plan.Notes...), overfull(plan)
			for _, n := range plan.Idle {
				if !slices.Contains(c.Idle, n) {
					c.Idle = append(c.Idle, n)
				}
			}
			continue
		}
		if !c.LeavesOut() || !v.runsWithout() {
			return err
		}
		unfit[i%combos] = true
		c.Unfit = append(c.Unfit, result.Unfit{Label: v.Label, Why: reason(err)})
	}
	for i, v := range all {
		x := result.Variant{Label: v.Label, Failed: "not simulated", Over: over[i]}
		switch {
		case result.IsDir(v.Path) && i%combos > 0: // a run is one variant, regardless of settings
			continue
		case result.IsDir(v.Path):
			s, err := result.ReadSummary(v.Path)
			if err != nil {
				return input.Fault(err) // it existed before
			}
			x, v.Path = result.Variant{Label: v.Path, Runs: []*result.Summary{s}}, ""
		case unfit[i%combos]:
			continue
		default:
			x.Switch, x.NIC = c.needs(&v)
		}
		c.variants, c.columns = append(c.variants, v), append(c.columns, x)
	}
	return nil
}

// overfull returns the estimated memory of the fullest GPU of a training if it exceeds the limit; else "".
func overfull(p *scenario.Plan) string {
	for i := range p.Jobs {
		if t := p.Jobs[i].Training; t != nil {
			if need, have := t.Fullest(); need > partition.Fillable(have) {
				return fmt.Sprintf("%s of %s GB (%d %% may be filled)", unit.Digits(float64(need)/1e9),
					unit.Digits(float64(have)/1e9), partition.MostMemory)
			}
		}
	}
	return ""
}

// Simulations returns the number that Run makes.
func (c *Comparison) Simulations() (n int) {
	for _, v := range c.variants {
		if v.Path != "" {
			n += c.Seeds
		}
	}
	return n
}

// Run simulates the variants of Prepare and returns them in their order; failed ones have an error. keep, unless
// nil, is called from several goroutines with the first seed's outcome and the number of a variant. The error is
// ctx's.
func (c *Comparison) Run(ctx context.Context, pool *Pool, keep func(n int, label string, o *Outcome)) (
	[]result.Variant, error) {
	pool.Expect(c.Simulations())
	pool.Labels = nil
	for _, v := range c.variants {
		pool.Labels = append(pool.Labels, v.Label)
	}
	n := len(c.variants) * c.Seeds
	runs, failed := make([]*result.Summary, n), make([]error, n)
	stopped := pool.Each(ctx, len(runs), func(i int) error {
		v, seed := &c.variants[i/c.Seeds], i%c.Seeds
		if v.Path == "" {
			return nil
		}
		plan, err := v.Plan(uint64(seed))
		if err != nil {
			failed[i] = err
			return nil
		}
		number := plan.Seed // an engine outlives the plan
		o, err := pool.Simulate(ctx, v.Label, plan, 0)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && o.Why() != nil:
			err = o.Why()
		case err == nil:
			runs[i] = o.Summary
			if seed == 0 && keep != nil {
				keep(i/c.Seeds, v.Label, o)
			}
			return nil
		}
		if failed[i] = err; c.Seeds > 1 {
			failed[i] = fmt.Errorf("seed %d: %w", number, err)
		}
		return nil
	})
	for i, v := range c.variants {
		if v.Path == "" {
			continue
		}
		x := &c.columns[i]
		for n := i * c.Seeds; n < (i+1)*c.Seeds; n++ {
			if failed[n] != nil {
				x.Failed = failed[n].Error()
			}
			if runs[n] != nil {
				x.Runs = append(x.Runs, runs[n])
			}
		}
		switch {
		case len(x.Runs) == c.Seeds:
			x.Failed = ""
		case len(x.Runs) > 0 && stopped != nil:
			x.Failed = "interrupted"
		}
	}
	return c.columns, stopped
}

// needs returns the requirements of a variant's algorithm, or of its transport, for switches and NICs.
func (c *Comparison) needs(v *Variant) (ofSwitch, ofNIC string) {
	if c.transports() {
		if plan, err := v.Plan(0); err == nil {
			return costs(plan)
		}
	}
	if slices.ContainsFunc(c.Set, func(s string) bool { return strings.HasPrefix(s, "lb=") && strings.Contains(s, ",") }) {
		if plan, err := v.Plan(0); err == nil {
			if plan.LB.NIC != nil { // in which switches hash the entropy
				return "ECMP", plan.LB.Title + "; " + ordering(plan)
			}
			return plan.LB.Title, ordering(plan)
		}
	}
	for _, s := range v.Sets {
		if name, ok := strings.CutPrefix(s, algorithmKey); ok {
			if a := cc.Lookup(name); a != nil {
				ofSwitch, ofNIC = a.Needs.Switch, a.Needs.NIC
				if plan, err := v.Plan(0); err == nil && a.Telemetry != nil { // whose form a parameter sets
					form := plan.Default().CC.Reports(plan.Default().Values).String()
					ofSwitch, ofNIC = strings.ReplaceAll(ofSwitch, "INT", form), strings.ReplaceAll(ofNIC, "INT", form)
				}
			}
		}
	}
	return ofSwitch, ofNIC
}

// ordering returns the requirements of a plan's load balancing for NICs: the order and method of packet placement.
func ordering(plan *scenario.Plan) (ofNIC string) {
	const any = "any order of packets"
	switch c := plan.Default().Carried; {
	case c != nil && c.Ordered && plan.LB.Reorders(plan.LBValues):
		return any + ", which " + c.Title + " treats as loss"
	case c != nil && !c.Ordered:
		return any + ", which " + c.Title + " has"
	case !plan.LB.Reorders(plan.LBValues):
		return "packets in order"
	case plan.Mixes():
		return any + ", which go-back-N treats as loss (transport.recovery)"
	case plan.RC.WriteOnly:
		return any + ", which have their addresses (WRITE Only)"
	}
	return any + ": reorder memory for First/Middle/Last headers (transport.write, server.reorder)"
}

// costs returns the costs of a transport: bytes of headers, and state if it is counted, in addition to words.
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

// AnyFailed is the error of a comparison in which some variants failed.
func AnyFailed(variants []result.Variant) error {
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
