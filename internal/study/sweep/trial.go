package sweep

import (
	"fmt"
	"strconv"
	"strings"

	"railyard/internal/scenario"
)

// Trial is one simulation of a study: a point with a seed, on a rung.
type Trial struct {
	ID     ID
	Number int // row of the results, from 0
	Point  int // point of the study, from 0: the scenario unchanged
	Seed   int // offset from the scenario's seed, see seed
	Rung   int

	design *Design
	local  int // point of the design
	// Of Simulations.
	task     *Task // nil: the point's
	label    string
	order    int // of the label, from 1; 0: none
	settings map[string]string
}

// row is the origin of a point of the study.
type row struct {
	design *Design
	local  int
}

// settings returns a trial's overrides and scenario.
func (d *Design) settings(local, rung int) (path string, sets []string) {
	path = d.Scenario
	sets = append(sets, d.Set...)
	for i, v := range d.points[local] {
		switch {
		case v == "":
		case d.space.Params[i].Key == ScenarioKey:
			path = v
		default:
			sets = append(sets, d.space.Params[i].Key+"="+v)
		}
	}
	if len(d.Rungs) > 0 {
		sets = append(sets, d.Rungs[rung].Set...)
	}
	return path, sets
}

// id addresses a trial.
func (d *Design) id(local, seed, rung int) ID {
	path, sets := d.settings(local, rung)
	parts := []string{"railyard trial 1", d.Version, d.Content[path], fmt.Sprint(seed)}
	for _, s := range sets {
		parts = append(parts, s, d.Reads[s])
	}
	if len(d.Rungs) > 0 {
		parts = append(parts, d.Reads[strings.Join(d.Rungs[rung].Set, " ")])
	}
	sum := digest(parts...)
	return ID(sum[:])
}

// seed returns the random seed of a trial, with which railyard run --seed repeats it. It returns false if an older
// version wrote the study's directory without it.
func (t *Trial) seed() (seed uint64, ok bool) {
	path, sets := t.design.settings(t.local, t.Rung)
	seed, ok = t.design.Own[path]
	for _, s := range sets {
		if v, own := strings.CutPrefix(s, SeedKey+"="); own {
			n, err := strconv.ParseUint(v, 0, 64)
			seed, ok = n, err == nil
		}
	}
	return seed + uint64(t.Seed), ok
}

// plan resolves a trial.
func (s *Study) plan(t *Trial) (*scenario.Plan, error) {
	path, sets := t.design.settings(t.local, t.Rung)
	return s.from[path].plan(sets, t.Seed)
}

// Describe returns the settings by which a point differs from the scenario, in the form of --set.
func (s *Study) Describe(point int) []string {
	r := s.rows[point]
	var out []string
	for i, v := range r.design.points[r.local] {
		if v != "" {
			out = append(out, r.design.space.Params[i].Key+"="+v)
		}
	}
	return out
}

// Value returns the value of a point for a column of parameters, "" if the point does not set it.
func (s *Study) Value(point int, key string) string {
	r := s.rows[point]
	for i := range r.design.space.Params {
		if r.design.space.Params[i].Key == key {
			return r.design.points[r.local][i]
		}
	}
	return ""
}
