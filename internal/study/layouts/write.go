package layouts

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"

	"railyard/internal/partition"
	"railyard/internal/planner"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/workload"
)

// Best returns the layout that a search ranks first: of those simulated, or by the cost model.
func Best(r *planner.Result, sims []Simulated) partition.Layout {
	for _, s := range sims {
		for i := range r.Candidates {
			if l := r.Candidates[i].Layout; s.Skipped == "" && l.String() == s.Layout {
				return l
			}
		}
	}
	return r.Candidates[0].Layout
}

// Scenario returns the text of the fabric's scenario with a layout's training as its workload, for a file at out, and
// checks that it resolves with the study's overrides. unfit is why no simulation takes the whole step; empty: one does.
func (c *Study) Scenario(l partition.Layout, in planner.SearchInput, out string) (text, unfit string, err error) {
	doc, err := scenariofile.Read(c.Fabric, c.Set)
	if err != nil {
		return "", "", err
	}
	t := in.Step(l)
	t.Name, t.By = c.Model, c.Software
	if filepath.Ext(c.Model) == ".json" { // files are relative to the scenario
		if t.Name, err = filepath.Rel(filepath.Dir(out), c.Model); err != nil {
			return "", "", err
		}
	}
	text = strings.TrimRight(scenario.WithoutBlocks(doc.Text, "workload", "jobs", "placement"), "\n") +
		fmt.Sprintf("\n# railyard plan search: %s\nworkload:\n  training:\n%s", l, keys(t))
	again, err := scenario.Parse(out, []byte(text), c.Set)
	if err != nil {
		return "", "", err
	}
	plan, err := again.Checked(scenariofile.Beside(out))
	if err != nil {
		return "", "", err
	}
	return text, plan.Unfit, nil
}

// keys are the lines of a training block: what differs from the defaults, in the order of the reference.
func keys(t *workload.Training) string {
	var b strings.Builder
	def := workload.NewTraining()
	var add func(v, d reflect.Value)
	add = func(v, d reflect.Value) {
		for i := range v.NumField() {
			f := v.Type().Field(i)
			switch key, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); {
			case f.Anonymous:
				add(v.Field(i), d.Field(i))
			case key == "" || key == "-" || v.Field(i).Kind() == reflect.Pointer || v.Field(i).Equal(d.Field(i)):
			default:
				fmt.Fprintf(&b, "    %s: %v\n", key, v.Field(i).Interface())
			}
		}
	}
	add(reflect.ValueOf(*t), reflect.ValueOf(def))
	return b.String()
}
