package main

import (
	"encoding/csv"
	"fmt"
	"path/filepath"
	"strings"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/render"
	"railyard/internal/report/plot"
	"railyard/internal/scenario"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
	"railyard/internal/tune"
)

// write leaves the front as CSV and as a plot, and the best candidate as
// configuration of every switch and as overrides of the scenario.
func (t *tuning) write(front []tune.Trial, best tune.Trial) error {
	plan, err := t.plan(best)
	if err != nil {
		return err
	}
	files, refused := t.switchFiles(plan)
	hosts, notes, err := t.hostFiles(plan, best.Candidate)
	if err != nil {
		return input.Fault(err)
	}
	t.notes = notes
	if err := render.Write(filepath.Join(t.dir, "best"), append(files, hosts...), true); err != nil {
		return err
	}
	table, err := frontCSV(&t.search.Space, front)
	if err != nil {
		return err
	}
	args := "railyard run " + t.c.Scenario
	for _, o := range append(append([]string{}, t.c.Set...), t.overrides(best.Candidate)...) {
		args += " \\\n  --set " + o
	}
	if len(t.base.Texts) > 0 && len(t.base.Settled().Hosts) == 0 {
		args = "# the scenario takes its switches from a configuration text; use best/ as that text\n# " +
			strings.ReplaceAll(args, "\n", "\n# ")
	}
	if err := render.Write(t.dir, []design.File{
		{Path: "front.csv", Text: table}, {Path: "best.sh", Text: args + "\n"},
	}, true); err != nil {
		return err
	}
	p, err := plot.Trials(t.base.Name, t.search.Trials, front, best)
	if err == nil {
		err = plot.Write(p, filepath.Join(t.dir, "pareto.png"), true, 18, 12)
	}
	if err != nil {
		return err
	}
	return refused
}

// writable refuses a search whose best could not be written as SONiC: nobody said which switches those are.
func (t *tuning) writable() error {
	if t.c.OS != string(swconf.SONiC) {
		if t.c.chosen().Given() {
			return field.New("--hwsku and --profile", "mean nothing with --os %s: SONiC alone is told lanes",
				t.c.OS)
		}
		return nil
	}
	_, err := t.switchFiles(t.base)
	return err
}

// switchFiles are the switches' texts of a candidate, where the language has what they need.
func (t *tuning) switchFiles(plan *scenario.Plan) ([]design.File, error) {
	if t.c.chosen().Wanted(plan.Graph) && t.c.OS == string(swconf.SONiC) {
		if err := t.c.chosen().Fit(plan.Graph); err != nil {
			return nil, err
		}
	}
	d, err := render.Design(plan, t.c.Scenario, swconf.OS(t.c.OS), design.Unnumbered, "", "")
	if err != nil {
		return nil, input.Fault(err)
	}
	files, err := dialect.Render(d)
	if err != nil {
		return nil, input.Fault(err)
	}
	return files, nil
}

func frontCSV(space *tune.Space, front []tune.Trial) (string, error) {
	var b strings.Builder
	w := csv.NewWriter(&b)
	head := []string{"trial", "completion_ps", "pause_ps", "queue_peak_bytes", "ecn_marks", "drops", "xon",
		"wred_min", "wred_max", "probability", "xoff", "ai_bps", "rate_timer_ps", "alpha_timer_ps", "g"}
	for _, k := range space.Own() {
		head = append(head, k.Name)
	}
	w.Write(head)
	for _, x := range front {
		c, o := x.Candidate, x.Outcome
		row := strings.Split(fmt.Sprintf("%d|%d|%d|%d|%d|%d|%d|%d|%d|%d|%d|%d|%d|%d|%v", x.N, o.Time,
			o.Pause, o.Queue, o.Marks, o.Drops, int64(c.XOn), int64(c.WREDMin), int64(c.WREDMax),
			c.Probability,
			int64(c.XOff), int64(c.AI), int64(c.RateTimer), int64(c.AlphaTimer), c.G), "|")
		for i := range space.Own() {
			row = append(row, fmt.Sprint(c.Knobs[i]))
		}
		w.Write(row)
	}
	w.Flush()
	return b.String(), w.Error()
}

// summary says in words what the search found and where it is.
func (c *configTuneCmd) summary(t *tuning, best tune.Trial, ok bool) []string {
	if !ok {
		return []string{"No candidate has finished yet."}
	}
	base, o := t.first().Outcome, best.Outcome
	where := fmt.Sprintf("Its configuration for every switch is in %s; %s runs it; %s shows the front, %s "+
		"holds it.", filepath.Join(t.dir, "best"),
		filepath.Join(t.dir, "best.sh"), filepath.Join(t.dir, "pareto.png"),
		filepath.Join(t.dir, "front.csv"))
	if float64(o.Time) > 0.99*float64(base.Time) && o.Pause >= base.Pause &&
		float64(o.Queue) > 0.99*float64(base.Queue) {
		return []string{"No candidate does clearly better than the scenario as it is.", where}
	}
	speed := fmt.Sprintf("%.2fx sooner", float64(base.Time)/float64(max(o.Time, 1)))
	if o.Time > base.Time {
		speed = fmt.Sprintf("%.2fx later", float64(o.Time)/float64(max(base.Time, 1)))
	}
	pauses := ratio(o.Pause, base.Pause) + " of the pause time"
	if o.Pause == 0 && base.Pause == 0 {
		pauses = "no pause in either"
	}
	words := []string{fmt.Sprintf("Trial %d ends %s than the scenario as it is, with %s and %s of the "+
		"longest queue.", best.N, speed, pauses, ratio(o.Queue, base.Queue))}
	return append(words, where)
}

func ratio(a, b int64) string {
	switch {
	case a == b:
		return "100 %"
	case b == 0:
		return "more than none"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(a)/float64(b))
}
