package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/output"
	"railyard/internal/planner"
	"railyard/internal/report"
	"railyard/internal/scenario"
	"railyard/internal/study"
)

type planFailuresCmd struct {
	Scenarios []string `arg:"" help:"Scenario files (YAML); several are compared." placeholder:"SCENARIO"`
	Set       []string `help:"Values to compare: fabric.kind=rail-only,rail. Several --set give all combinations." placeholder:"KEY=A,B" sep:"none"`
	Kinds     []string `help:"What fails: link, switch, card, nic, server." default:"link,switch,nic,server" enum:"link,switch,card,nic,server" placeholder:"KIND,KIND"`
	Card      int      `help:"Ports with cables of a line card, for kind card." placeholder:"N" range:"1,1024" name:"card-ports"`
	At        string   `help:"When it fails; half of the step unless given." placeholder:"TIME"`
	PerClass  int      `help:"How many of each class of alike elements are simulated; 0: all of them." default:"1" range:"0,100000" name:"per-class"`
	Pairs     int      `help:"Simulate so many pairs of failures besides, drawn with the scenario's seed." default:"0" range:"0,10000"`
	Runs      int      `help:"Most simulations of a variant." default:"400" range:"1,100000"`
	Jobs      int      `help:"Simulations at a time; 0: one per processor. The result does not depend on it." default:"0" range:"0,1024"`
	Plot      string   `help:"Write a heat map: .png or .svg." placeholder:"FILE"`
	Force     bool     `help:"Replace a file that exists." with:"plot"`
	JSON      bool     `help:"Print as JSON."`
}

func (c *planFailuresCmd) Help() string {
	return `Every single failure of a kind is simulated, and pairs of them on request: the step time, who is
cut off, what is sent again. Of elements that are alike by their cables and the workload's traffic one
stands for all (hashing is not alike: --per-class shows the spread). How fast routes follow is
fabric.routing's.

Examples:
  railyard plan failures scenarios/pod64-alltoall.yaml --plot failures.png
  railyard plan failures rail-only.yaml dual-rail.yaml planes.yaml --kinds switch,nic
  railyard plan failures scenarios/lab-2x2.yaml --kinds link,switch --pairs 10 --json
  railyard plan failures scenarios/pod64-alltoall.yaml --set fabric.routing.converge=0s,100us,1ms`
}

// failures simulates what single failures, and pairs of them, do to variants of scenarios.
type failures struct {
	Kinds    []string // link, switch, card, nic, server
	Card     int      // ports with cables of a line card
	At       string   // when it fails; half of the step unless given
	PerClass int      // how many of each class of equivalent elements are simulated; 0: all
	Pairs    int      // of failures, drawn with the scenario's seed
	Runs     int      // most simulations of a variant
	Pool     *study.Pool
	Estimate func(words string) // is told of a study that takes long
}

// Variants resolves all variants of a matrix before anything is simulated.
func (c *failures) Variants(m study.Matrix) (all []*failureVariant, err error) {
	of, err := m.Variants()
	if err != nil {
		return nil, input.Fault(err)
	}
	for _, v := range of {
		plan, err := v.Plan(0)
		if err != nil {
			return nil, err
		}
		all = append(all, &failureVariant{Label: v.Label, Sets: v.Sets, plan: plan, of: v})
	}
	if len(all) > study.MaxVariants {
		return nil, field.New("--set", "gives %d variants with all scenarios, at most %d are compared", len(all),
			study.MaxVariants)
	}
	return all, nil
}

// failureVariant is what failures do to one setting.
type failureVariant struct {
	Label string        `json:"variant"`
	Sets  []string      `json:"set"`
	Base  float64       `json:"step_seconds"` // of the whole fabric
	At    float64       `json:"at_seconds"`
	Rows  []failureRow  `json:"failures"` // by harm
	Weak  []string      `json:"single_points_of_failure"`
	Pairs []failureRow  `json:"pairs,omitempty"`
	Notes []string      `json:"notes,omitempty"`
	Sums  failureTotals `json:"totals"`

	plan *scenario.Plan
	of   study.Variant
}

// failureTotals sum up a variant's single failures, each class as often as it has members.
type failureTotals struct {
	Elements int     `json:"elements"`
	Weak     int     `json:"single_points"`
	Worst    float64 `json:"worst_step_seconds"` // where the step ends
	Mean     float64 `json:"mean_step_seconds"`
	Isolated int     `json:"isolated_gpus_most"`
}

// failureRow is what became of a step with something broken.
type failureRow struct {
	Kind      string   `json:"kind"`
	Tier      string   `json:"tier"`
	Name      string   `json:"name"` // of the worst that was simulated
	Alike     int      `json:"alike"`
	Simulated int      `json:"simulated"`
	Step      float64  `json:"step_seconds,omitempty"` // the longest; none where a rank is lost
	Least     float64  `json:"least_step_seconds,omitempty"`
	Slower    float64  `json:"times_as_long,omitempty"`
	Lost      bool     `json:"rank_lost"`
	Isolated  int      `json:"isolated_gpus"`
	Cut       []string `json:"cut_off,omitempty"`
	Again     int64    `json:"bytes_sent_again"`
	Dropped   int64    `json:"packets_lost"`
	Error     string   `json:"error,omitempty"`

	members []string
}

// Run is the plan failures command.
func (c *planFailuresCmd) Run(e *env) error {
	if err := isPicture(c.Plot); err != nil {
		return err
	}
	if slices.Contains(c.Kinds, "card") && c.Card == 0 {
		return field.New("--kinds", "card needs --card-ports: how many ports a line card has")
	}
	of := failures{Kinds: c.Kinds, Card: c.Card, At: c.At, PerClass: c.PerClass, Pairs: c.Pairs, Runs: c.Runs,
		Estimate: func(words string) { report.Labelled(e.stderr, "estimate: ", words) }}
	m := study.Matrix{Scenarios: c.Scenarios, Set: c.Set}
	variants, err := of.Variants(m)
	if err != nil {
		return err
	}
	ctx, pool, release := e.pool()
	defer release()
	pool.Workers, of.Pool = c.Jobs, pool
	var all []*failureVariant
	for _, v := range variants {
		if err = of.variant(ctx, v); err != nil {
			break
		}
		all = append(all, v)
	}
	if err != nil && (!errors.Is(err, context.Canceled) || len(all) == 0) {
		return err
	}
	var lost error
	if c.Plot != "" {
		lost = output.Write(c.Plot, c.Force, func(f io.Writer) error { return drawFailures(f, c.Plot, all) })
	}
	if early(lost) != nil {
		return lost
	}
	if c.JSON {
		return errors.Join(printJSON(e.stdout, all), lost, err)
	}
	printFailures(e.stdout, all)
	return errors.Join(lost, err)
}

// variant simulates the failures of one setting.
func (c *failures) variant(ctx context.Context, v *failureVariant) error {
	mix, err := v.plan.Mix()
	if err != nil {
		return input.Fault(err)
	}
	elements := planner.Elements(v.plan.Graph, planner.NewAlike(v.plan.Graph, mix.DAG), c.Kinds, c.Card)
	if len(elements) == 0 {
		return field.New("--kinds", "the fabric has nothing of %s", strings.Join(c.Kinds, ", "))
	}
	trials, rows := c.trials(elements)
	pairs := c.pairs(elements, v.plan.Seed)
	if n := len(trials) + len(pairs); n > c.Runs {
		return field.New("--runs", "%d simulations of %s would be needed, %d are allowed: allow more, or "+
			"fewer --kinds, --per-class or --pairs", n, v.Label, c.Runs)
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
		row := failureRow{Kind: "pair", Name: t.String(), Alike: 1}
		row.take(t)
		v.Pairs = append(v.Pairs, row)
	}
	v.Pairs = ranked(v.Pairs)
	v.sum()
	return nil
}

// trials are what is simulated of the elements: of each class so many, spread over it.
func (c *failures) trials(elements []planner.Element) (trials []failureTrial, rows []failureRow) {
	of := map[int]int{} // by class: its row
	members := [][]planner.Element{}
	for _, x := range elements {
		at, ok := of[x.Class]
		if !ok {
			at = len(rows)
			of[x.Class] = at
			rows = append(rows, failureRow{Kind: x.Kind, Tier: x.Tier})
			members = append(members, nil)
		}
		rows[at].Alike++
		rows[at].members = append(rows[at].members, x.String())
		members[at] = append(members[at], x)
	}
	for at, class := range members {
		n := len(class)
		if c.PerClass > 0 {
			n = min(n, c.PerClass)
		}
		for k := range n {
			trials = append(trials, failureTrial{row: at, what: []planner.Element{class[k*len(class)/n]}})
		}
	}
	return trials, rows
}

// pairs draws pairs of different elements.
func (c *failures) pairs(elements []planner.Element, seed uint64) (trials []failureTrial) {
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
		trials = append(trials, failureTrial{row: -1, what: []planner.Element{elements[a], elements[b]}})
	}
	return trials
}

// sum adds a variant's rows up.
func (v *failureVariant) sum() {
	s, ended := &v.Sums, 0.0
	for i := range v.Rows {
		r := &v.Rows[i]
		s.Elements += r.Alike
		s.Isolated = max(s.Isolated, r.Isolated)
		if r.Lost {
			s.Weak += r.Alike
			v.Weak = append(v.Weak, r.members...)
			continue
		}
		s.Worst = max(s.Worst, r.Step)
		if r.Step > 0 {
			s.Mean += r.Step * float64(r.Alike)
			ended += float64(r.Alike)
		}
	}
	s.Mean /= max(ended, 1)
	faster := func(r failureRow) bool { return !r.Lost && r.Step > 0 && r.Step < v.Base }
	if slices.ContainsFunc(v.Rows, faster) {
		v.Notes = append(v.Notes, "some steps are shorter than the whole fabric's: flows were hashed anew "+
			"and fell better; several seeds, or lb spray, show what the failure itself costs")
	}
	if r := v.plan.Settled().Fabric.Routing; r.Detect == nil && r.Converge == 0 {
		v.Notes = append(v.Notes, "routes follow a failure at once: fabric.routing says nothing else")
	}
}

// ranked sorts rows by harm: ranks lost, by how many GPUs are isolated, then the longest step.
func ranked(rows []failureRow) []failureRow {
	slices.SortStableFunc(rows, func(a, b failureRow) int {
		lost := func(r *failureRow) int {
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

// take adds what became of a trial to its row: the worst counts.
func (r *failureRow) take(t *failureTrial) {
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
