// Package failures simulates the effect of single failures, and of pairs, on a step. It is a Study of Variants,
// whose Rows are classes of equivalent elements, by harm. Equivalence is defined by planner.NewAlike.
package failures

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"railyard/internal/fidelity"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/planner"
	"railyard/internal/result"
	"railyard/internal/route"
	"railyard/internal/scenario"
	"railyard/internal/study"
	"railyard/rc"
	"railyard/unit"
)

// Study simulates what single failures, and pairs of them, do to variants of scenarios.
type Study struct {
	Kinds    []string // link, switch, card, nic, server, nvswitch, pcie
	Card     int      // ports with cables of a line card
	At       string   // time of the failure; default: half of the step, or half of the traffic if that is earlier
	PerClass int      // number of elements of each equivalence class that are simulated; 0: all
	Pairs    int      // failures of two targets, drawn with the scenario's seed
	Runs     int      // most simulations of a variant
	Pool     *study.Pool
}

// Variants resolves all variants of a matrix before a simulation.
func (c *Study) Variants(m study.Matrix) (all []*Variant, err error) {
	if c.At != "" {
		if _, err := c.time(); err != nil {
			return nil, err
		}
	}
	of, err := m.Variants()
	if err != nil {
		return nil, input.Fault(err)
	}
	for _, v := range of {
		v.Fidelity = fidelity.Auto
		plan, err := v.Plan(0)
		if err != nil {
			return nil, err
		}
		all = append(all, &Variant{Label: v.Label, Sets: v.Sets, plan: plan, of: v})
	}
	if len(all) > study.MaxVariants {
		return nil, field.New("--set", "gives %d variants with all scenarios, at most %d are compared", len(all),
			study.MaxVariants)
	}
	return all, nil
}

// Variant is the effect of failures on one setting.
type Variant struct {
	Label string   `json:"variant"`
	Sets  []string `json:"set"`
	Base  float64  `json:"step_seconds"` // base of the fabric without failures
	// approximate fidelity: its name, and the error to expect
	Fidelity string           `json:"fidelity,omitempty"`
	Expected *result.Expected `json:"expected_error,omitempty"`
	At       float64          `json:"at_seconds"`
	// remaining bytes of the step without failures, at that time
	Left  *float64 `json:"undelivered_share,omitempty"`
	Rows  []Row    `json:"failures"` // by harm
	Weak  []string `json:"single_points_of_failure"`
	Pairs []Row    `json:"pairs,omitempty"`
	Notes []string `json:"notes,omitempty"`
	Sums  Totals   `json:"totals"`

	plan *scenario.Plan
	of   study.Variant
	base *result.Summary // base of the fabric without failures
}

// Totals sums a variant's single failures, each class multiplied by its members.
type Totals struct {
	Elements int     `json:"elements"`
	Weak     int     `json:"single_points"`
	Worst    float64 `json:"worst_step_seconds"` // time of the step's end
	Mean     float64 `json:"mean_step_seconds"`
	Isolated int     `json:"isolated_gpus_most"`
}

// Row is the outcome of a step with a failure.
type Row struct {
	Kind      string   `json:"kind"`
	Tier      string   `json:"tier"`
	Name      string   `json:"name"` // name of the slowest simulated case
	Alike     int      `json:"alike"`
	Simulated int      `json:"simulated"`
	Step      float64  `json:"step_seconds,omitempty"` // the longest; none if a rank is lost
	Least     float64  `json:"least_step_seconds,omitempty"`
	Slower    float64  `json:"times_as_long,omitempty"`
	Lost      bool     `json:"rank_lost"`
	Isolated  int      `json:"isolated_gpus"`
	Cut       []string `json:"cut_off,omitempty"`
	Again     int64    `json:"bytes_sent_again"`
	Dropped   int64    `json:"packets_lost"`
	Error     string   `json:"error,omitempty"`

	Members []string `json:"-"`
}

// Simulate simulates the failures of one setting.
func (c *Study) Simulate(ctx context.Context, v *Variant) error {
	mix, err := v.plan.Mix()
	if err != nil {
		return input.Fault(err)
	}
	alike := planner.NewAlike(v.plan.Graph, mix.DAG)
	elements := planner.Elements(v.plan.Graph, alike, c.Kinds, c.Card)
	elements = append(elements, inside(v.plan, alike, c.Kinds, len(elements))...)
	if len(elements) == 0 {
		return field.New("--kinds", "the fabric has nothing of %s", strings.Join(c.Kinds, ", "))
	}
	hosts := len(planner.Single(v.plan.Graph))
	none := slices.DeleteFunc(slices.Clone(c.Kinds), func(kind string) bool {
		return kind == "link" && hosts > 0 ||
			slices.ContainsFunc(elements, func(e planner.Element) bool { return e.Kind == kind })
	})
	if len(none) > 0 {
		v.Notes = append(v.Notes, "the fabric has nothing of "+strings.Join(none, ", "))
	}
	if hosts > 0 && slices.Contains(c.Kinds, "link") && slices.Contains(c.Kinds, "nic") {
		v.Notes = append(v.Notes, fmt.Sprintf("a NIC fails with its only link: the rows of NICs include %s (--kinds link lists links alone)", unit.Plural(hosts, "link")))
	}
	trials, rows := c.trials(elements)
	pairs := c.pairs(elements, v.plan.Seed)
	if n := len(trials) + len(pairs); n > c.Runs {
		return field.New("--runs", "%d simulations of %s would be needed, %d are allowed: allow more, or fewer --kinds, --per-class or --pairs", n, v.Label, c.Runs)
	}
	f := &failing{c: c, v: v}
	if err := f.base(ctx, len(trials)+len(pairs)); err != nil {
		return err
	}
	all := append(trials, pairs...)
	if err := f.simulate(ctx, all); err != nil {
		return err
	}
	for i := range all[:len(trials)] {
		rows[all[i].row].take(&all[i])
	}
	v.Rows = ranked(rows)
	for i := range all[len(trials):] {
		t := &all[len(trials)+i]
		row := Row{Kind: "pair", Name: t.String(), Alike: 1}
		row.take(t)
		v.Pairs = append(v.Pairs, row)
	}
	v.Pairs = ranked(v.Pairs)
	v.sum()
	return nil
}

// trials returns the elements to simulate: a number of each class, spread over it.
func (c *Study) trials(elements []planner.Element) (trials []trial, rows []Row) {
	of := map[int]int{} // by class: its row
	members := [][]planner.Element{}
	for _, x := range elements {
		at, ok := of[x.Class]
		if !ok {
			at = len(rows)
			of[x.Class] = at
			rows = append(rows, Row{Kind: x.Kind, Tier: x.Tier})
			members = append(members, nil)
		}
		rows[at].Alike++
		rows[at].Members = append(rows[at].Members, x.String())
		members[at] = append(members[at], x)
	}
	for at, class := range members {
		n := len(class)
		if c.PerClass > 0 {
			n = min(n, c.PerClass)
		}
		for k := range n {
			trials = append(trials, trial{row: at, what: []planner.Element{class[k*len(class)/n]}})
		}
	}
	return trials, rows
}

// pairs draws pairs of different elements.
func (c *Study) pairs(elements []planner.Element, seed uint64) (trials []trial) {
	n := len(elements)
	if n < 2 {
		return nil
	}
	r := rand.New(rand.NewPCG(seed, 17))
	seen := map[[2]int]bool{}
	for try := 0; len(trials) < c.Pairs && try < 100*c.Pairs; try++ {
		a, b := r.IntN(n), r.IntN(n)
		if a > b {
			a, b = b, a
		}
		if a == b || seen[[2]int{a, b}] {
			continue
		}
		seen[[2]int{a, b}] = true
		trials = append(trials, trial{row: -1, what: []planner.Element{elements[a], elements[b]}})
	}
	return trials
}

// sum adds a variant's rows up.
func (v *Variant) sum() {
	s, ended := &v.Sums, 0.0
	for i := range v.Rows {
		r := &v.Rows[i]
		s.Elements += r.Alike
		s.Isolated = max(s.Isolated, r.Isolated)
		if r.Lost {
			s.Weak += r.Alike
			v.Weak = append(v.Weak, r.Members...)
			continue
		}
		s.Worst = max(s.Worst, r.Step)
		if r.Step > 0 {
			s.Mean += r.Step * float64(r.Alike)
			ended += float64(r.Alike)
		}
	}
	s.Mean /= max(ended, 1)
	faster := func(r Row) bool { return !r.Lost && r.Step > 0 && r.Step < v.Base }
	if slices.ContainsFunc(v.Rows, faster) {
		v.Notes = append(v.Notes, v.faster())
	}
	if v.Left != nil && *v.Left < 0.5 {
		v.Notes = append(v.Notes, fmt.Sprintf("%.1f %% of the traffic is undelivered at the failure: rows have the cost for that; without --at, at least half is", 100**v.Left))
	}
	if r := v.plan.Settled().Fabric.Routing; r.Detect == nil && r.Converge == 0 {
		v.Notes = append(v.Notes, "all switches learn of a failure immediately: rows have the cost of less capacity and of congestion control's reaction to it (cc.algorithm=none leaves the first), not of packets lost until routes converge (loss of signal takes ms, BFD about 1 s, BGP's hold time 9 s or 180 s); with it: --set fabric.routing.detect=10ms")
	}
}

// faster explains steps that are shorter than without failure.
func (v *Variant) faster() string {
	const are = "some steps are shorter than without failure: "
	_, hashes := v.plan.LB.Make(v.plan.LBValues, route.Site{}).(interface{ HashSeed() uint32 })
	switch s := v.base; {
	case s.Timeouts > 0 || s.Retransmissions > 0:
		remedy := "several seeds show"
		if v.plan.RC.Recovery != rc.Selective {
			remedy = "several seeds, or transport.recovery=selective, show"
		}
		return are + fmt.Sprintf("that one has %s and %s, and the failure changes which packets are lost or overtaken; %s the cost of the failure itself",
			unit.Plural(int(s.Timeouts), "time-out"), unit.Plural(int(s.Retransmissions), "retransmission"), remedy)
	case hashes && !v.plan.LB.Reorders(v.plan.LBValues):
		return are + "ECMP hashed the flows anew, with fewer collisions; several seeds, or lb=spray, show the cost of the failure itself"
	}
	return are + "packets take other paths and meet others in queues; several seeds show the cost of the failure itself"
}

// ranked sorts rows by harm: ranks lost, by how many GPUs are isolated, then the longest step.
func ranked(rows []Row) []Row {
	slices.SortStableFunc(rows, func(a, b Row) int {
		lost := func(r *Row) int {
			if r.Lost {
				return 1 + r.Isolated
			}
			return 0
		}
		return cmp.Or(cmp.Compare(lost(&b), lost(&a)), cmp.Compare(b.Step, a.Step),
			cmp.Compare(b.Again, a.Again), cmp.Compare(a.Name, b.Name))
	})
	return rows
}

// take adds a trial's outcome to its row: the worst counts.
func (r *Row) take(t *trial) {
	r.Simulated++
	o := &t.got
	worse := !r.Lost && o.Lost || r.Lost == o.Lost && (o.Isolated > r.Isolated || o.Step > r.Step)
	if r.Simulated == 1 || worse {
		r.Name, r.Isolated, r.Cut, r.Again, r.Dropped = t.String(), o.Isolated, o.Cut, o.Again, o.Dropped
	}
	if r.Simulated == 1 || o.Step > 0 && (r.Least == 0 || o.Step < r.Least) {
		r.Least = o.Step
	}
	r.Lost = r.Lost || o.Lost
	r.Step, r.Slower = max(r.Step, o.Step), max(r.Slower, o.Slower)
	if r.Lost {
		r.Step, r.Slower = 0, 0
	}
	if r.Error == "" {
		r.Error = o.Error
	}
}
