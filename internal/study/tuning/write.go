package tuning

import (
	"encoding/csv"
	"fmt"
	"path/filepath"
	"strings"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/render"
	"railyard/internal/scenario"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
	"railyard/internal/tune"
)

// Write writes the front as CSV, and the best candidate as configuration of every switch and as overrides of the
// scenario.
func (t *Tuning) Write(front []tune.Trial, best tune.Trial) error {
	plan, err := t.plan(best)
	if err != nil {
		return err
	}
	files, refused := t.switchFiles(plan)
	hosts, notes, err := t.hostFiles(plan, best.Candidate)
	if err != nil {
		return input.Fault(err)
	}
	if first := plan.PoolFirst(); first != "" {
		notes = append(notes, first)
	}
	t.notes = notes
	files = append(files, hosts...)
	for i := range files { // below Dir, so that a link called best is not followed
		files[i].Path = filepath.Join("best", files[i].Path)
	}
	if err := render.Write(t.Dir, files, true); err != nil {
		return err
	}
	table, err := frontCSV(&t.Search.Space, front)
	if err != nil {
		return err
	}
	args := "railyard run " + t.Scenario
	for _, o := range append(append([]string{}, t.Set...), t.overrides(best.Candidate)...) {
		args += " \\\n  --set " + o
	}
	if len(t.Base.Texts) > 0 && len(t.Base.Settled().Hosts) == 0 {
		args = "# the scenario takes its switches from a configuration text; use best/ as that text\n# " +
			strings.ReplaceAll(args, "\n", "\n# ")
	}
	if err := render.Write(t.Dir, []design.File{
		{Path: "front.csv", Text: table}, {Path: "best.sh", Text: args + "\n"},
	}, true); err != nil {
		return err
	}
	return refused
}

// writable refuses a search whose best cannot be written for SONiC: the switches' models are unknown.
func (t *Tuning) writable() error {
	if t.OS != string(swconf.SONiC) {
		if t.Devices.Given() {
			return field.New("--hwsku and --profile", "have no effect with --os %s: only SONiC configures lanes", t.OS)
		}
		return nil
	}
	_, err := t.switchFiles(t.Base)
	return err
}

// switchFiles returns a candidate's switch configurations, if the language supports them.
func (t *Tuning) switchFiles(plan *scenario.Plan) ([]design.File, error) {
	if t.Devices.Wanted(plan.Graph) && t.OS == string(swconf.SONiC) {
		if err := t.Devices.Fit(plan.Graph); err != nil {
			return nil, err
		}
	}
	d, err := render.Design(plan, t.Scenario, swconf.OS(t.OS), design.Unnumbered, "", "")
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
