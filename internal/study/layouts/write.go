package layouts

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"

	"railyard/internal/model"
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

// Scenario returns the fabric's scenario with a layout's training as its workload, for a file at out, and checks that
// it resolves with the study's overrides.
func (c *Study) Scenario(l partition.Layout, in planner.SearchInput, out string) (w Written, err error) {
	doc, err := scenariofile.Read(c.Fabric, c.Set)
	if err != nil {
		return w, err
	}
	t := in.Step(l)
	t.Name, t.By = c.Model, c.Software
	for _, file := range []*string{&t.Name, &t.By} { // files are relative to the scenario
		if model.IsFile(*file) && !filepath.IsAbs(*file) {
			if *file, err = relative(filepath.Dir(out), *file); err != nil {
				return w, err
			}
		}
	}
	if t.By != "" { // has its own
		def := workload.NewTraining()
		t.Efficiency, t.Kernels, t.TensorOverlap = def.Efficiency, def.Kernels, def.TensorOverlap
	}
	fabric := strings.TrimRight(scenario.WithoutBlocks(doc.Text, "workload", "jobs", "placement"), "\n")
	text := func(how string) string {
		return fmt.Sprintf("%s\n# railyard plan search: %s\n%sworkload:\n  training:\n%s", fabric, l, how, keys(t))
	}
	w.Text = text("")
	again, err := scenario.Parse(out, []byte(w.Text), c.Set)
	if err != nil {
		return w, err
	}
	plan, err := again.Sums(scenariofile.Beside(out))
	if err != nil {
		return w, err
	}
	w.Next = "railyard run " + out
	for _, set := range c.Set {
		w.Next += " --set " + set
	}
	if w.Unfit = plan.Unfit; w.Unfit == "" {
		return w, nil
	}
	if small := t.Smaller(); len(small) > 0 {
		w.Next += " --set workload.training." + strings.Join(small[0], " --set workload.training.")
		w.Text = text("# Too large for run, which takes a part of the step:\n# " + w.Next + "\n")
	} else {
		w.Next = ""
	}
	return w, nil
}

// relative returns the path of a file from a folder, in a form that a scenario takes for a file.
func relative(folder, file string) (string, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	if file, err = filepath.Abs(file); err != nil {
		return "", err
	}
	if file, err = filepath.Rel(folder, file); err == nil && !model.IsFile(file) {
		file = "./" + file
	}
	return file, err
}

// Written is the scenario of a layout.
type Written struct {
	Text  string
	Unfit string // reason why no simulation covers the whole step; "" if one does
	Next  string // the command that simulates the step, or a part of it; empty: there is none
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
