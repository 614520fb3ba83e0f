package sweep

import (
	"fmt"
	"strings"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/study/space"
)

// File is the definition of a study: a scenario, the variation, the sampling, and the objectives.
type File struct {
	Name     string   `yaml:"name" json:"name,omitempty"`
	About    string   `yaml:"about" json:"about,omitempty"`
	Scenario string   `yaml:"scenario" json:"scenario"` // relative to the study
	Set      []string `yaml:"set" json:"set,omitempty"` // KEY=VALUE, of all trials
	Vary     []Vary   `yaml:"vary" json:"vary"`
	Require  []string `yaml:"require" json:"require,omitempty"` // conditions that points meet
	Sampler  string   `yaml:"sampler" enum:"grid,random,lhc,halton,morris" json:"sampler"`
	Samples  int      `yaml:"samples" json:"samples,omitempty"`
	DrawSeed uint64   `yaml:"draw_seed" json:"draw_seed,omitempty"` // of the sampler
	// number per point, starting with the scenario's seed
	Seeds      int      `yaml:"seeds" json:"seeds"`
	Objectives []string `yaml:"objectives" json:"objectives"`
	Rungs      []Rung   `yaml:"rungs" json:"rungs,omitempty"`
	Reduce     int      `yaml:"reduce" json:"reduce,omitempty"` // a rung passes one of N points on
	Keep       string   `yaml:"keep" json:"-"`                  // none, best:N, all: run directories

	Placed func(error) error `yaml:"-" json:"-"` // adds the places of values in the file to errors; nil: flags only
}

// Vary is a key that varies, with a list of values or a range.
type Vary struct {
	Key    string   `yaml:"key" json:"key"`
	Values []string `yaml:"values" json:"values,omitempty"`
	Range  string   `yaml:"range" json:"range,omitempty"`
	Zip    string   `yaml:"zip" json:"zip,omitempty"`
	When   string   `yaml:"when" json:"when,omitempty"`
	From   string   `yaml:"-" json:"-"` // the flag that gives it; "": the file
}

// Rung is a stage of successive halving: settings that make trials cheaper or longer.
type Rung struct {
	Set []string `yaml:"set" json:"set"`
}

// ScenarioKey varies the scenario file itself, SeedKey the seed that a point's trials begin with.
const (
	ScenarioKey = "scenario"
	SeedKey     = "seed"
)

// Limits of a study.
const (
	MaxTrials = 2_000_000
	MaxSeeds  = 100_000
	MaxRungs  = 10
	MaxReduce = 1000
)

// ReadFile reads a study. Names in it are relative to its directory.
func ReadFile(path string) (*File, error) {
	text, err := input.Text(path, scenario.MaxSize)
	if err != nil {
		return nil, input.Fault(err)
	}
	f := &File{}
	placed, err := scenario.Read(path, text, f)
	if err != nil {
		return nil, input.Fault(err)
	}
	if f.Scenario == "" {
		err = field.New("scenario", "expected the file of a scenario")
	}
	if err == nil {
		err = f.Settle()
	}
	if err != nil {
		return nil, input.Fault(placed(err))
	}
	f.Placed = placed
	f.Scenario = scenariofile.RelativeTo(path, f.Scenario)
	for i := range f.Vary {
		if v := &f.Vary[i]; v.Key == ScenarioKey {
			for k := range v.Values {
				v.Values[k] = scenariofile.RelativeTo(path, v.Values[k])
			}
		}
	}
	return f, nil
}

// flags that give lists of a study.
var flags = map[string]string{"vary": "--grid and --range", "objectives": "--objective", "samples": "--sample",
	"require": "--require", "rungs": "--rung"}

// blame names the flags, or the places in the file, of the values that errors are about.
func (f *File) blame(err error) error {
	for _, e := range field.All(err) {
		list, _, _ := strings.Cut(e.Path, "[")
		if f.Placed == nil && flags[list] != "" && (list != "vary" || e.Path == list) {
			e.Path = flags[list]
		}
		for i := range f.Vary {
			if at := field.At("vary", i); f.Vary[i].From != "" && (e.Path == at || strings.HasPrefix(e.Path, at+".")) {
				e.Path = f.Vary[i].From
			}
		}
	}
	if f.Placed != nil && err != nil {
		return f.Placed(err)
	}
	return field.Flags(err)
}

// IsStudy reports whether a file is a study rather than a scenario: it has one of the keys vary and scenario at the
// left margin.
func IsStudy(text string) bool {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "vary:") || strings.HasPrefix(line, "scenario:") {
			return true
		}
	}
	return false
}

// isEmpty reports whether a file has only comments and blank lines.
func isEmpty(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line != "---" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}

// Settle sets the defaults of open keys, and checks the rest.
func (f *File) Settle() error {
	if f.Seeds == 0 {
		f.Seeds = 1
	}
	if f.Reduce == 0 && len(f.Rungs) > 0 {
		f.Reduce = 4
	}
	if f.Sampler == "" {
		f.Sampler = "grid"
		if f.Samples > 0 {
			f.Sampler = "random"
		}
	}
	if len(f.Objectives) == 0 {
		f.Objectives = []string{"step_time"}
	}
	by, err := space.Lookup(f.Sampler)
	switch {
	case err != nil:
		return err
	case f.Seeds < 1 || f.Seeds > MaxSeeds:
		return field.Outside("seeds", 1, MaxSeeds, f.Seeds)
	case by.Whole && f.Samples != 0:
		return field.New("samples", "has no effect with the sampler %s, which takes %s", by.Name, by.Words)
	case !by.Whole && f.Samples == 0:
		return field.New("samples", "the number of points is missing, which the sampler %s needs; accepted: 1 to %d", by.Name,
			MaxTrials)
	case !by.Whole && (f.Samples < 1 || f.Samples > MaxTrials):
		return field.Outside("samples", 1, MaxTrials, f.Samples)
	case len(f.Rungs) == 1 || len(f.Rungs) > MaxRungs:
		return field.New("rungs", "%d rungs; accepted: 2 to %d, or none", len(f.Rungs), MaxRungs)
	case len(f.Rungs) > 0 && (f.Reduce < 2 || f.Reduce > MaxReduce):
		return field.Outside("reduce", 2, MaxReduce, f.Reduce)
	case len(f.Rungs) > 0 && f.Sampler == "morris":
		return field.New("rungs", "are not accepted with the sampler morris, whose trajectories need all their points")
	case len(f.Vary) == 0 && f.Seeds < 2:
		return field.New("vary", "nothing varies; accepted: keys with values or ranges, or several seeds")
	}
	for i, text := range f.Objectives {
		if _, err := ParseObjective(text); err != nil {
			return field.Under(field.At("objectives", i), err)
		}
	}
	if _, _, err := parseKeep(f.Keep); err != nil {
		return field.Under("keep", err)
	}
	return f.settings()
}

// settings checks that overrides have the form KEY=VALUE.
func (f *File) settings() error {
	check := func(at string, sets []string) error {
		for i, s := range sets {
			if key, _, ok := strings.Cut(s, "="); !ok || key == "" {
				return field.New(field.At(at, i), "%s is not KEY=VALUE", field.Quote(s))
			}
		}
		return nil
	}
	if err := check("set", f.Set); err != nil {
		return err
	}
	for i := range f.Rungs {
		if err := check(field.At("rungs", i)+".set", f.Rungs[i].Set); err != nil {
			return err
		}
	}
	return nil
}

// params returns the parameters of the space.
func (f *File) params() (params []space.Param, err error) {
	for i, v := range f.Vary {
		p := space.Param{Key: v.Key, List: v.Values, Zip: v.Zip, When: v.When}
		at := field.At("vary", i)
		switch {
		case v.Range != "" && len(v.Values) > 0:
			return nil, field.New(at+".range", "%s has values as well; accepted: one of the two", field.Clip(v.Key))
		case v.Range != "" && v.Key == ScenarioKey:
			return nil, field.New(at+".range", "scenarios are listed in values")
		case v.Range != "":
			if p.Range, err = space.ParseRange(v.Range); err != nil {
				return nil, field.Under(at+".range", err)
			}
		}
		seen := map[string]bool{}
		for k, x := range v.Values {
			if seen[x] {
				return nil, field.New(field.At(at+".values", k), "%s is repeated", field.Quote(x))
			}
			if seen[x] = true; x == "" {
				return nil, field.New(field.At(at+".values", k), "is empty")
			}
		}
		params = append(params, p)
	}
	return params, nil
}

// parseKeep reads which run directories are kept: the best n of them, or all.
func parseKeep(s string) (best int, all bool, err error) {
	switch {
	case s == "" || s == "none":
		return 0, false, nil
	case s == "all":
		return 0, true, nil
	}
	if _, err := fmt.Sscanf(s, "best:%d", &best); err == nil && best > 0 && s == fmt.Sprintf("best:%d", best) {
		return best, false, nil
	}
	return 0, false, field.New("", "%s is not accepted; accepted: none, best:N, all", field.Quote(s))
}
