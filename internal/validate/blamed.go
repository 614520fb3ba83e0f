package validate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"railyard/internal/cause"
	"railyard/internal/facts"
	"railyard/internal/result"
	"railyard/internal/rng"
	"railyard/internal/validate/draw"
	"railyard/internal/whatif"
	"railyard/unit"
)

// Random scenarios test the account of lost time: the cause with the largest saving is removed, and the actual saving
// is compared with the account.

// Tolerances of the difference between account and saving: a share of the step, or of the saving.
const (
	blameOfStep  = 0.02
	blameOfSaved = 0.20
	blameRepeats = 3    // further runs without the cause
	blameLonger  = 500  // picoseconds, 10 cm of cable, below which their cables are longer
	leastBlame   = 0.03 // of the step, for a cause to be removed
	classOfCause = 0.05 // of the step, for a scenario to count as one with a cause
)

// Limits of a random run.
var randomLimits = whatif.Limits{Time: 2 * unit.Second, Hops: 20 * draw.MostHops}

// Judged is the result of one random scenario.
type Judged struct {
	Number  int      `json:"number"`
	Meant   string   `json:"meant"`           // intended cause
	Cause   string   `json:"cause,omitempty"` // removed cause
	Without string   `json:"without,omitempty"`
	Set     []string `json:"set,omitempty"`
	Step    int64    `json:"step_ps"`
	Blamed  int64    `json:"blamed_ps"` // time attributed to it, and to the causes removed with it
	Alone   int64    `json:"blamed_alone_ps"`
	Saved   int64    `json:"saved_ps"`

	// Repeated is what the same run saves over cables up to 10 cm longer, with other bit errors.
	Repeated []int64 `json:"saved_repeated_ps,omitempty"`

	Verdict string `json:"verdict"`          // agree, over, under, wrong sign; listed
	Doubt   string `json:"doubt,omitempty"`  // reason why the counterfactual may be wrong
	Reason  string `json:"reason,omitempty"` // for listed ones

	Account *cause.Account `json:"account,omitempty"` // of the step

	// Confirmed: the run is so small that `railyard run` simulates it without the cause and prints what that saves.
	Confirmed bool `json:"simulated_by_run,omitempty"`

	id       cause.ID
	scenario *whatif.Scenario
	base     *result.Summary
	known    *cause.Facts
	Case     *draw.Case `json:"-"`
}

// Verdicts. Over: more was blamed than saved.
const (
	Agrees    = "agree"
	Over      = "over"
	Under     = "under"
	WrongSign = "wrong sign"
	Listed    = "listed"
)

// mostDrawn bounds how many scenarios of a number are simulated until the intended cause leads.
const mostDrawn = 60

// JudgeRandom draws the scenario of a number, with large a large one, and judges its account. It takes the first
// scenario whose account leads with the intended cause, so that each cause is judged often enough, else the first of
// all. What the run without the cause saves has no part in the choice.
func JudgeRandom(seed uint64, number int, large bool) (j Judged) {
	meant, from := draw.Meant(number), draw.New
	if large {
		meant, from = cause.SlowLink, draw.Large
	}
	c, err := from(seed, number)
	j = examine(number, meant, c, err)
	for again := 1; !large && again < mostDrawn && err == nil && !j.led(); again++ {
		if c, err = c.Next(); err == nil {
			if other := examine(number, meant, c, nil); other.led() {
				j = other
			}
		}
	}
	j.judge()
	return j
}

// led reports whether the intended cause leads the account, with a class of the step.
func (j *Judged) led() bool { return j.Reason == "" && j.Cause == j.Meant && j.HasCause() }

// examine simulates a scenario and finds the cause to be removed.
func examine(number int, meant cause.ID, c *draw.Case, err error) (j Judged) {
	j = Judged{Number: number, Meant: meant.Get().Name, Verdict: Listed}
	if err != nil {
		j.Reason = err.Error()
		return j
	}
	j.Case = c
	s := &whatif.Scenario{Name: c.Name, Text: []byte(c.Text), Read: c.Read}
	base, err := s.Run(&cause.Change{}, randomLimits)
	if err != nil {
		j.Reason = "not simulated: " + err.Error()
		return j
	}
	known := facts.Of(base.Plan)
	facts.Count(known, base.Summary)
	j.scenario, j.base, j.known = s, base.Summary, known
	j.take(base.Summary, known)
	return j
}

// judge simulates the scenario without the cause and compares the saving with the account.
func (j *Judged) judge() {
	s, base := j.scenario, j.base
	defer func() { j.scenario, j.base, j.known = nil, nil, nil }() // the report keeps them of no scenario
	if j.Reason != "" {
		return
	}
	without := j.id.Get().Without(j.known)
	o, err := s.Run(&without, randomLimits)
	if err != nil {
		j.Reason = without.Says + ": " + err.Error()
		return
	}
	j.Saved = j.Step - o.Summary.StepTime
	_, j.Confirmed = whatif.Small(base)
	j.Doubt = cmp.Or(j.Doubt, j.governs(base), ownFault(base, o.Summary))
	if j.Doubt == "" {
		j.repeat(s, &without)
		j.Doubt = undecided(j.Step, append(j.Repeated, j.Saved))
	}
	j.Verdict = verdict(j.Step, j.Blamed, append(j.Repeated, j.Saved))
}

// repeat runs the scenario without the cause again, with slightly longer cables and other bit errors. Every fabric
// has cables of some length and bit errors. A saving that depends on them is no measure of the cause.
func (j *Judged) repeat(s *whatif.Scenario, without *cause.Change) {
	for k := range uint64(blameRepeats) {
		r, again := rng.New(k, "cables"), *without
		again.Cables = func(c *cause.Cable) {
			if without.Cables != nil {
				without.Cables(c)
			}
			c.Delay += unit.Time(r.Intn(blameLonger))
		}
		p, err := s.Plan(&again)
		if err != nil {
			continue
		}
		p.BitErrors = k + 1
		if o, err := whatif.Simulate(p, randomLimits); err == nil {
			j.Repeated = append(j.Repeated, j.Step-o.Summary.StepTime)
		}
	}
}

// undecided returns the reason why savings of runs with different cables and bit errors do not judge an account: no
// account agrees with all of them. It returns "" where one account does. It uses neither the cause nor the account.
func undecided(step int64, saved []int64) string {
	least, most := int64(math.MaxInt64), int64(math.MinInt64) // of what agrees
	for _, s := range saved {
		least, most = min(least, s+blameTolerance(step, s)), max(most, s-blameTolerance(step, s))
	}
	if least >= most {
		return ""
	}
	return "cables up to 10 cm longer or other bit errors change the saving by more than an estimate may be off"
}

// governs returns why a run without pauses may be a doubtful judge: congestion control that has cut rates sees the
// queues that pauses kept short, and cuts more. "" for other causes, and where it has cut none.
func (j *Judged) governs(with *result.Summary) string {
	if j.id == cause.Pause && slices.ContainsFunc(with.Control, func(c result.Control) bool { return c.Cuts() > 0 }) {
		return "congestion control meets the queues that pauses kept short"
	}
	return ""
}

// ownFault returns the kind of fault that only the run without the cause has, or "" for none. The saving is then
// the cost of the cause less the cost of that fault. The first run does not show that cost. It uses neither the
// cause nor the account.
func ownFault(with, without *result.Summary) string {
	lost := func(s *result.Summary) int64 { return s.Retransmissions - s.Trims }
	switch {
	case with.Timeouts == 0 && without.Timeouts > 0:
		return "the run without it meets retransmission time-outs, the run with it none"
	case lost(with) <= 0 && lost(without) > 0:
		return "the run without it retransmits packets that are not trimmed, the run with it none"
	}
	return ""
}

// take finds the largest cause that a run can be without.
func (j *Judged) take(s *result.Summary, known *cause.Facts) {
	j.Step = s.StepTime
	if s.Chain == nil || s.StepTime == 0 {
		j.Reason = "no account of the step"
		return
	}
	j.Account = s.Chain
	no := ""
	for _, id := range s.Chain.Ranked(0) {
		w := id.Get().Without(known)
		blamed := s.Chain.Saves(id)
		if !w.IsPossible() {
			if float64(s.Chain.Costs(id)) < leastBlame*float64(j.Step) {
				continue
			}
			no = fmt.Sprintf("%s (%.1f %%) cannot be taken away: %s", id.Get().Name,
				100*float64(s.Chain.Costs(id))/float64(j.Step), w.Impossible)
			continue
		}
		if float64(blamed) < leastBlame*float64(j.Step) {
			break
		}
		j.id, j.Cause, j.Without, j.Doubt, j.Set = id, id.Get().Name, w.Says, w.Doubt, w.Set
		j.Blamed, j.Alone = blamed, s.Chain.Costs(id)
		return
	}
	if j.Reason = no; no == "" {
		j.Reason = fmt.Sprintf("no cause of %.0f %% of the step", 100*leastBlame)
	}
}

// blameTolerance is by how much an account may differ from a saving.
func blameTolerance(step, saved int64) int64 {
	return int64(max(blameOfStep*float64(step), blameOfSaved*float64(saved)))
}

// verdict compares an account with the last of some savings; the sign is wrong where all are below 0.
func verdict(step, blamed int64, all []int64) string {
	saved := all[len(all)-1]
	off := blamed - saved
	switch {
	case max(off, -off) <= blameTolerance(step, saved):
		return Agrees
	case slices.Max(all) < 0:
		return WrongSign
	case off > 0:
		return Over
	}
	return Under
}

// Off returns the difference between account and saving beyond the tolerance, as a share of the step.
func (j *Judged) Off() float64 {
	if j.Verdict == Agrees || j.Verdict == Listed || j.Step == 0 {
		return 0
	}
	off := max(j.Blamed-j.Saved, j.Saved-j.Blamed)
	return float64(off-blameTolerance(j.Step, j.Saved)) / float64(j.Step)
}

// HasCause reports whether a scenario has a cause that takes a class of its step.
func (j *Judged) HasCause() bool {
	return j.Cause != "" && float64(j.Blamed) >= classOfCause*float64(j.Step)
}

// Tally counts the verdicts on one cause, or on all.
type Tally struct {
	Cause string `json:"cause"`
	N     int    `json:"n"`
	Agree int    `json:"agree"`
	Over  int    `json:"over"`
	Under int    `json:"under"`
	Wrong int    `json:"wrong_sign"`
	Doubt int    `json:"in_doubt"` // judged too, and not counted before
	Meant int    `json:"drawn_for"`
}

func (t *Tally) add(j *Judged) {
	if j.Doubt != "" {
		t.Doubt++
		return
	}
	t.N++
	switch j.Verdict {
	case Agrees:
		t.Agree++
	case Over:
		t.Over++
	case Under:
		t.Under++
	case WrongSign:
		t.Wrong++
	}
}

// BlameReport is the result of random scenarios for the account of lost time.
type BlameReport struct {
	Seed   uint64  `json:"seed"`
	Drawn  int     `json:"drawn"`
	Causes []Tally `json:"causes"`
	All    Tally   `json:"all"`
	// of the judged scenarios, those whose cause costs at least 5 % of the step
	Caused int `json:"with_a_cause"`
	// of the judged scenarios, those whose simulated saving `railyard run` prints
	Small int      `json:"simulated_by_run"`
	Rows  []Judged `json:"scenarios"`
}

// NewBlameReport sums up the results.
func NewBlameReport(seed uint64, rows []Judged) *BlameReport {
	r := &BlameReport{Seed: seed, Drawn: len(rows), Rows: rows, All: Tally{Cause: "all"}}
	of := map[string]*Tally{}
	all := make([]Tally, len(cause.All()))
	for i, c := range cause.All() {
		all[i].Cause = c.Name
		of[c.Name] = &all[i]
	}
	for i := range rows {
		j := &rows[i]
		of[j.Meant].Meant++
		if r.All.Meant++; j.HasCause() {
			r.Caused++
		}
		if j.Verdict == Listed {
			continue
		}
		of[j.Cause].add(j)
		r.All.add(j)
		if j.Confirmed && j.Doubt == "" {
			r.Small++
		}
	}
	for _, t := range all {
		if t.N+t.Doubt+t.Meant > 0 {
			r.Causes = append(r.Causes, t)
		}
	}
	return r
}

// Worst returns the scenarios with the largest differences, sorted.
func (r *BlameReport) Worst(n int) (worst []*Judged) {
	for i := range r.Rows {
		if j := &r.Rows[i]; j.Off() > 0 && j.Doubt == "" {
			worst = append(worst, j)
		}
	}
	slices.SortStableFunc(worst, func(a, b *Judged) int { return cmp.Compare(b.Off(), a.Off()) })
	return worst[:min(n, len(worst))]
}

// Required accuracy of the account on a number of scenarios.
const (
	blameAgrees   = 0.90 // of those judged
	blameCaused   = 200  // of 300
	blameEach     = 15   // blame of 300 scenarios, each removable cause
	blameFullSize = 300
)

// Err returns the missed requirements; nil for none. Counts of causes scale with the scenarios drawn.
func (r *BlameReport) Err() error {
	var faults []error
	if r.All.N > 0 && float64(r.All.Agree) < blameAgrees*float64(r.All.N) {
		faults = append(faults, fmt.Errorf("%.1f %% of %d agree, %.0f %% must", 100*float64(r.All.Agree)/float64(r.All.N),
			r.All.N, 100*blameAgrees))
	}
	if r.All.Wrong > 0 {
		faults = append(faults, fmt.Errorf("%s of the wrong sign, none may be", unit.Plural(r.All.Wrong, "saving")))
	}
	if want := r.Drawn * blameCaused / blameFullSize; r.Caused < want {
		faults = append(faults, fmt.Errorf("%d scenarios have a cause of 5 %% of the step, %d must", r.Caused, want))
	}
	for _, t := range r.Causes {
		if want := r.Drawn * blameEach / blameFullSize; t.Meant > 0 && t.N+t.Doubt < want {
			faults = append(faults, fmt.Errorf("%s is the largest cause of %d scenarios, of %d it must be", t.Cause,
				t.N+t.Doubt, want))
		}
	}
	return errors.Join(faults...)
}
