package report

import (
	"fmt"
	"io"
	"text/tabwriter"

	"railyard/internal/tune"
	"railyard/unit"
)

// Tuning prints a search: the scenario as it is, the front, and what to do.
func Tuning(w io.Writer, name string, space *tune.Space, trials, front []tune.Trial, best tune.Trial,
	advice []string) {
	failed := 0
	for i := range trials {
		if trials[i].Outcome.Error != "" {
			failed++
		}
	}
	fmt.Fprintf(w, "%s: %s", name, unit.Plural(len(trials), "simulation"))
	if failed > 0 {
		fmt.Fprintf(w, ", %d of them did not end", failed)
	}
	fmt.Fprint(w, "\n\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	own := [2]string{"AI", "rate timer"}
	for i := range own {
		if knobs := space.Own(); i < len(knobs) {
			own[i] = knobs[i].Name
		} else if !space.DCQCN {
			own[i] = ""
		}
	}
	fmt.Fprintf(t, "trial\tcompletion\tpaused\tqueue\txON\tWRED min\tmax\t%%\txOFF\t%s\t%s\t\n", own[0],
		own[1])
	const most = 15
	row := func(mark string, x *tune.Trial) {
		c, o := &x.Candidate, &x.Outcome
		values := [2]string{c.AI.String(), c.RateTimer.String()}
		for i := range values {
			if i < len(space.Own()) {
				values[i] = fmt.Sprint(c.Knobs[i])
			} else if !space.DCQCN {
				values[i] = ""
			}
		}
		fmt.Fprintf(t, "%s%d\t%v\t%v\t%v\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t\n", mark, x.N, short(o.Time),
			short(o.Pause), kb(unit.Bytes(o.Queue)), kb(c.XOn), kb(c.WREDMin), kb(c.WREDMax), c.Probability,
			kb(c.XOff), values[0], values[1])
	}
	if len(trials) > 0 {
		row("as it is ", &trials[0])
	}
	if len(front) > 0 {
		row("best ", &best)
	}
	shown := 0
	for i := range front {
		if front[i].N != best.N && shown < most {
			row("", &front[i])
			shown++
		}
	}
	t.Flush()
	if more := len(front) - 1 - shown; more > 0 {
		fmt.Fprintf(w, "and %d more on the front (front.csv)\n", more)
	}
	fmt.Fprintln(w)
	for _, a := range advice {
		Wrap(w, "", a)
	}
}

// short prints picoseconds with four digits.
func short(ps int64) string {
	t := unit.Time(ps)
	switch {
	case t >= unit.Millisecond:
		return fmt.Sprintf("%.4gms", float64(t)/float64(unit.Millisecond))
	case t >= unit.Microsecond:
		return fmt.Sprintf("%.4gus", float64(t)/float64(unit.Microsecond))
	}
	return t.String()
}

// kb prints a size in kilobytes, as switches are configured.
func kb(b unit.Bytes) string { return fmt.Sprintf("%dK", (b+unit.KB/2)/unit.KB) }

// Half is a simulation with part of what a search found.
type Half struct {
	Name    string
	Outcome tune.Outcome
}

// Halves prints what the halves of a search's best bring, and words about it.
func Halves(w io.Writer, rows []Half, words []string) {
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "what brings it\tcompletion\tpaused\tqueue\t")
	for _, r := range rows {
		if r.Outcome.Error != "" {
			fmt.Fprintf(t, "%s\tdid not end\t\t\t\n", r.Name)
			continue
		}
		fmt.Fprintf(t, "%s\t%v\t%v\t%v\t\n", r.Name, short(r.Outcome.Time), short(r.Outcome.Pause),
			kb(unit.Bytes(r.Outcome.Queue)))
	}
	t.Flush()
	fmt.Fprintln(w)
	for _, s := range words {
		Wrap(w, "", s)
	}
}
