package sweep

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/output"
	"railyard/internal/runner"
	"railyard/internal/scenario"
	"railyard/internal/study/space"
)

// Design is one set of points of a study with all that determines their trials.
type Design struct {
	File
	Version string            `json:"version"`
	Content map[string]string `json:"content"`        // digest of a scenario and the files that it names, by path
	Reads   map[string]string `json:"reads"`          // digest of the files that a setting names, by KEY=VALUE
	Base    map[string]string `json:"base,omitempty"` // the scenario's values that conditions use
	Own     map[string]uint64 `json:"own_seeds"`      // the seed of a scenario with the study's set, by path

	Command string `json:"command,omitempty"` // the command of the simulations, other than sweep (Simulations)

	space  *space.Space
	points []space.Point // 0 is the unchanged scenario
	coords [][]float64   // of points
}

// sources are scenario files, each read once and shared by all trials.
type sources map[string]*source

// source is a scenario file with the files that it names.
type source struct {
	path  string
	text  []byte
	files *files
	built *built

	once  sync.Once
	whole *Bundle
}

// newDesign reads the scenarios of a study and checks each varying value, so that no trial fails for a reason known
// beforehand.
func newDesign(f *File, from sources) (*Design, error) {
	d := &Design{File: *f, Version: runner.Version(), Content: map[string]string{}, Reads: map[string]string{},
		Base: map[string]string{}, Own: map[string]uint64{}}
	params, err := d.params()
	if err != nil {
		return nil, err
	}
	for _, path := range d.scenarios() {
		src, err := readSource(path)
		if err != nil {
			return nil, err
		}
		from[path] = src
		if err := d.check(src); err != nil {
			return nil, err
		}
	}
	base := d.values(from[d.scenarios()[0]])
	err = d.build(params, func(key string) (string, bool) {
		v, ok := base[key]
		if ok {
			d.Base[key] = v
		}
		return v, ok
	})
	return d, err
}

// build makes the points.
func (d *Design) build(params []space.Param, base func(string) (string, bool)) (err error) {
	if d.space, err = space.New(params, d.Require, base); err != nil {
		return err
	}
	by, err := space.Lookup(d.Sampler)
	if err != nil {
		return err
	}
	d.points, d.coords = []space.Point{make(space.Point, len(params))}, [][]float64{nil}
	if len(params) == 0 {
		return nil
	}
	all, err := space.Points(d.space, by, d.Samples, d.DrawSeed)
	if err != nil {
		return err
	}
	for p, u := range all {
		if len(d.points)*d.Seeds > MaxTrials {
			return field.New("vary", "more than %d trials (points × seeds); accepted: fewer values, or a number of samples",
				MaxTrials)
		}
		d.points = append(d.points, p)
		if d.Sampler == "morris" {
			d.coords = append(d.coords, u)
		}
	}
	if len(d.points) == 1 {
		return field.New("require", "no point meets %s", field.Quote(strings.Join(d.Require, " and ")))
	}
	return nil
}

// reopen makes the points of a design that was written down.
func (d *Design) reopen() error {
	if d.Command != "" {
		return nil
	}
	if err := d.Settle(); err != nil {
		return err
	}
	params, err := d.params()
	if err != nil {
		return err
	}
	return d.build(params, func(key string) (string, bool) { v, ok := d.Base[key]; return v, ok })
}

// scenarios returns the scenario files that the study simulates.
func (d *Design) scenarios() []string {
	paths := []string{d.Scenario}
	for _, v := range d.Vary {
		if v.Key == ScenarioKey {
			for _, path := range v.Values {
				if !slices.Contains(paths, path) {
					paths = append(paths, path)
				}
			}
		}
	}
	return paths
}

// readSource reads a scenario.
func readSource(path string) (*source, error) {
	text, err := input.Text(path, scenario.MaxSize)
	if err != nil {
		return nil, input.Fault(err)
	}
	return &source{path: path, text: text, files: newFiles(path), built: new(built)}, nil
}

// document parses the scenario with overrides.
func (s *source) document(sets []string) (*scenario.Document, error) {
	return scenario.Parse(s.path, s.text, sets)
}

// check parses a scenario with each listed value, and both ends of each range, one at a time. It records the files that
// the scenario and its values name.
func (d *Design) check(src *source) error {
	read := func(sets []string) (names []string) {
		doc, err := src.document(sets)
		if err != nil {
			return nil
		}
		names = src.files.during(func() { _, _ = doc.Resolve(src.files.read) })
		return names
	}
	doc, err := src.document(d.Set)
	if err != nil {
		return input.Fault(err)
	}
	d.Own[src.path] = doc.File.Seed
	own := read(d.Set)
	d.Content[src.path] = src.digest(own)
	for i, r := range d.Rungs {
		if err := d.alone(src, own, r.Set, read); err != nil {
			return settingFault(field.At("rungs", i), err)
		}
	}
	for i, v := range d.Vary {
		values := v.Values
		if v.Key == ScenarioKey {
			continue
		}
		if v.Range != "" {
			p, err := space.ParseRange(v.Range)
			if err != nil {
				return field.Under(field.At("vary", i)+".range", err)
			}
			values = []string{p.At(0), p.At(1)}
		}
		for _, x := range values {
			if err := d.alone(src, own, []string{v.Key + "=" + x}, read); err != nil {
				return settingFault(field.At("vary", i), err)
			}
		}
	}
	return nil
}

// alone checks settings one at a time, and records their files in addition to the scenario's.
func (d *Design) alone(src *source, own, sets []string, read func([]string) []string) error {
	all := append(slices.Clone(d.Set), sets...)
	if _, err := src.document(all); err != nil {
		return err
	}
	var more []string
	for _, name := range read(all) {
		if !slices.Contains(own, name) {
			more = append(more, name)
		}
	}
	if more != nil {
		d.Reads[strings.Join(sets, " ")] = src.digest(more)
	}
	return nil
}

// settingFault moves errors about a setting to the value of the study that gives it.
func settingFault(at string, err error) error {
	for _, e := range field.All(err) {
		e.File, e.Line, e.Col, e.Path = "", 0, 0, at
	}
	return err
}

// digest is the hash of a scenario and its files.
func (s *source) digest(names []string) string {
	parts := []string{string(s.text)}
	for _, name := range names {
		parts = append(parts, name, s.files.digest(name))
	}
	return fmt.Sprintf("%x", digest(parts...))
}

// values returns the scenario's own values by key; values of an incomplete scenario are missing.
func (d *Design) values(src *source) map[string]string {
	doc, err := src.document(d.Set)
	if err != nil {
		return nil
	}
	_, values := doc.File.Values()
	if plan, err := doc.Resolve(src.files.read); err == nil {
		_, values = plan.Resolved()
	}
	return values
}

// manifest is study.json.
type manifest struct {
	Designs []*Design `json:"designs"`
}

// ManifestName is the file of a study that has its designs.
const ManifestName = "study.json"

// readDesigns reads the designs of a study's directory; none if there is no study.
func readDesigns(dir string) ([]*Design, error) {
	path := filepath.Join(dir, ManifestName)
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return nil, nil
	}
	text, err := input.Text(path, maxManifest)
	if err != nil {
		return nil, input.Fault(err)
	}
	m := &manifest{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, input.Fault(fmt.Errorf("%s is damaged: %w", path, err))
	}
	for _, d := range m.Designs {
		if err := d.reopen(); err != nil {
			return nil, input.Fault(fmt.Errorf("%s is damaged: %w", path, err))
		}
	}
	return m.Designs, nil
}

// maxManifest bounds study.json.
const maxManifest = 256 << 20

// writeDesigns writes study.json.
func writeDesigns(dir string, designs []*Design) error {
	return output.Write(filepath.Join(dir, ManifestName), true, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(manifest{designs})
	})
}

// same reports whether two designs have the same trials.
func (d *Design) same(o *Design) bool {
	a, b := d.File, o.File
	a.Name, a.About, a.Keep, a.Objectives, a.Scenario = b.Name, b.About, b.Keep, b.Objectives, b.Scenario
	return d.Version == o.Version && reflect.DeepEqual(settled(a), settled(b)) &&
		slices.Equal(slices.Sorted(maps.Values(d.Content)), slices.Sorted(maps.Values(o.Content))) &&
		reflect.DeepEqual(d.Reads, o.Reads)
}

// settled returns a file in which empty lists are nil.
func settled(f File) File {
	b, _ := json.Marshal(f)
	var g File
	_ = json.Unmarshal(b, &g)
	return g
}
