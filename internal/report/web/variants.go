package web

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"railyard/internal/result"
	"railyard/internal/scenario"
)

// Variant is another run of a run's scenario and seed, with other settings.
type Variant struct {
	Run      string   `json:"run"`
	Sets     []string `json:"sets"` // its differing settings
	StepTime int64    `json:"step_time_ps"`
}

// variants lists the complete runs of a run's scenario and seed that differ from it by settings alone.
func (s *Server) variants(w http.ResponseWriter, q *http.Request) {
	r, err := s.run(q.PathValue("run"))
	if err != nil {
		send(w, nil, err)
		return
	}
	list, err := List(s.Root)
	out := []Variant{}
	base := settings(r.Manifest.Set)
	for _, e := range list {
		if e.Error != "" || !e.Complete || e.Name == r.Name || e.Seed != r.Summary.Seed || e.StepTime <= 0 {
			continue
		}
		dir := filepath.Join(s.Root, e.Name)
		var m result.Manifest
		if plain(dir) != nil || readJSON(filepath.Join(dir, "run.json"), &m) != nil ||
			m.Scenario != r.Manifest.Scenario {
			continue
		}
		other, sets := settings(m.Set), []string{}
		for _, k := range slices.Sorted(maps.Keys(other)) {
			if v, has := base[k]; !has || v != other[k] {
				sets = append(sets, k+"="+other[k])
			}
		}
		back := false // a setting of the run that the other lacks
		for k := range base {
			_, has := other[k]
			back = back || !has
		}
		if len(sets) > 0 && !back {
			out = append(out, Variant{e.Name, sets, e.StepTime})
		}
	}
	send(w, out, err)
}

// settings are overrides by key, the last of each. The seed is no setting.
func settings(sets []string) map[string]string {
	out := map[string]string{}
	for _, s := range sets {
		if k, v, _ := strings.Cut(s, "="); k != "seed" {
			out[k] = v
		}
	}
	return out
}

// variant makes the request for a run equal to another one, with further settings.
func (s *Server) variant(r request) (request, error) {
	of, err := s.run(r.Of)
	if err != nil {
		return r, err
	}
	m, shipped := &of.Manifest, r.files
	if m.Scenario == "" {
		return r, &InputError{fmt.Sprintf("run.json of %s has no scenario", r.Of)}
	}
	r.name, r.Text, r.added = m.Name+".yaml", m.Scenario, r.Sets
	r.Sets = append(append(slices.Clone(m.Set), fmt.Sprintf("seed=%d", m.Seed)), r.Sets...)
	r.files = scenario.ReadFile(func(name string) ([]byte, error) {
		if text, has := m.Configs[name]; has {
			return []byte(text), nil
		}
		if shipped == nil {
			return nil, os.ErrNotExist
		}
		return shipped(name)
	})
	return r, nil
}

// changed returns the settings that a request adds to its base.
func (r *request) changed() []string {
	if r.Of != "" {
		return r.added
	}
	return r.Sets
}
