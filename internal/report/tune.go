package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/report/screen"
	"railyard/internal/tune"
	"railyard/unit"
)

// Tuning prints a search: the baseline, the best trial, the rest of the Pareto front, and advice.
func Tuning(w io.Writer, name string, space *tune.Space, trials, front []tune.Trial, best tune.Trial,
	advice []string) {
	failed := 0
	for i := range trials {
		if trials[i].Outcome.Error != "" {
			failed++
		}
	}
	screen.Painted(w, screen.Answer, "", tuned(name, trials, best, failed))
	fmt.Fprintln(w)
	own := [2]string{"AI", "rate timer"}
	for i := range own {
		if knobs := space.Own(); i < len(knobs) {
			own[i] = knobs[i].Name
		} else if !space.DCQCN {
			own[i] = ""
		}
	}
	t := screen.Table{Columns: []screen.Column{{Head: "Trial"}, {Head: "step"}, {Head: "paused", Rare: true},
		{Head: "queue"}, {Head: "xON", Spare: true}, {Head: "WRED min"}, {Head: "max"}, {Head: "%"}, {Head: "xOFF", Spare: true},
		{Head: own[0], Rare: true}, {Head: own[1], Rare: true}}}
	const most = 15
	row := func(style screen.Style, mark string, x *tune.Trial) {
		c, o := &x.Candidate, &x.Outcome
		values := [2]string{c.AI.Show(), c.RateTimer.Show()}
		for i := range values {
			if i < len(space.Own()) {
				values[i] = fmt.Sprint(c.Knobs[i])
			} else if !space.DCQCN {
				values[i] = ""
			}
		}
		t.AddStyled(style, strings.TrimSpace(fmt.Sprintf("%d %s", x.N, mark)), dur(o.Time), dur(o.Pause), size(o.Queue),
			c.XOn.Show(), c.WREDMin.Show(), c.WREDMax.Show(), fmt.Sprint(c.Probability), c.XOff.Show(), values[0],
			values[1])
	}
	if len(trials) > 0 {
		row(screen.Baseline, "baseline", &trials[0])
	}
	if len(front) > 0 {
		row(screen.Remedy, "best", &best)
	}
	shown := 0
	for i := range front {
		if front[i].N != best.N && shown < most {
			row("", "", &front[i])
			shown++
		}
	}
	t.Print(w)
	if more := len(front) - 1 - shown; more > 0 {
		fmt.Fprintf(w, "%d more on the Pareto front of time, pauses and queue (front.csv)\n", more)
	}
	fmt.Fprintln(w)
	for _, a := range advice {
		Wrap(w, "", a)
	}
}

// tuned is the answer of a search: the gain of the best trial.
func tuned(name string, trials []tune.Trial, best tune.Trial, failed int) string {
	head := name + ": "
	if len(trials) > 0 && best.Outcome.Time > 0 && trials[0].Outcome.Time > 0 {
		a, b := &trials[0].Outcome, &best.Outcome
		by := ""
		faster := func(t tune.Trial) bool { return t.Outcome.Error == "" && t.Outcome.Time < b.Time }
		if slices.ContainsFunc(trials, faster) {
			by = fmt.Sprintf(" (within %.0f %% of the fastest the least pauses, then the shortest queue)", 100*tune.Tolerance)
		}
		head += fmt.Sprintf("best of %s%s: step %s (%s vs baseline)", unit.Plural(len(trials), "simulation"), by,
			dur(b.Time), unit.ShowChange(float64(b.Time), float64(a.Time)))
		if a.Pause != b.Pause {
			head += fmt.Sprintf(", PFC pauses %s instead of %s", dur(b.Pause), dur(a.Pause))
		}
	} else {
		head += unit.Plural(len(trials), "simulation")
	}
	if failed > 0 {
		head += fmt.Sprintf("; %d did not end", failed)
	}
	return head
}

// Half is a simulation with a part of a search's result.
type Half struct {
	Name    string
	Outcome tune.Outcome
}

// Halves prints what switch parameters and host parameters of a search's best trial contribute, and notes.
func Halves(w io.Writer, rows []Half, words []string) {
	fmt.Fprintln(w)
	t := screen.Table{Columns: []screen.Column{{Head: "Contribution"}, {Head: "step"}, {Head: "paused", Rare: true},
		{Head: "queue"}}}
	for _, r := range rows {
		if r.Outcome.Error != "" {
			t.AddStyled(screen.Error, r.Name, "did not end")
			continue
		}
		t.Add(r.Name, dur(r.Outcome.Time), dur(r.Outcome.Pause), size(r.Outcome.Queue))
	}
	t.Print(w)
	fmt.Fprintln(w)
	for _, s := range words {
		Wrap(w, "", s)
	}
}
