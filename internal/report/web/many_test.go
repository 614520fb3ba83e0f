package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/study"
	"railyard/internal/study/sweep"
	"railyard/unit"
)

// three is a short scenario that studies and comparisons vary.
const three = `name: three
seed: 1
fabric: {kind: rail, hosts: 4, segments: 2, spines: 2, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 1, nics: 1}
lb: ecmp
workload: {traffic: {incast: {bytes: 100KB, fan_in: 3}}}
`

// decoded sends a request to the server and decodes the answer.
func decoded[T any](t *testing.T, s *Server, path string) (v T) {
	t.Helper()
	w := ask(s, "GET", path, "", nil)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// Many runs are ranked by step time, with their differing settings, those that explain most first, and the figures
// of their summaries.
func TestManyRuns(t *testing.T) {
	s, first := server(t, "")
	names := []string{first}
	for i := range 6 {
		j, err := s.jobs.start(request{Text: three, Sets: []string{
			"lb=" + []string{"ecmp", "spray"}[i%2], fmt.Sprintf("seed=%d", 1+i/2)}})
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, await(t, s, j.ID).Run)
	}
	m := decoded[Many](t, s, "/api/many?runs="+strings.Join(append(names[1:], "nothing"), ","))
	keys := []string{}
	for _, a := range m.Axes {
		keys = append(keys, a.Key)
	}
	if !slices.Equal(keys, []string{"lb", "seed"}) || len(m.Points) != 6 || m.Title != "three" || len(m.Unlike) > 0 ||
		len(m.LeftOut) != 1 || !strings.Contains(m.LeftOut[0], "nothing") || m.Base.Name != names[1] {
		t.Errorf("%v %+v", keys, m)
	}
	step := slices.IndexFunc(m.Figures, func(f ManyFigure) bool { return f.Key == "step_time" })
	queue := slices.IndexFunc(m.Figures, func(f ManyFigure) bool { return f.Key == "queue_peak" })
	if !slices.Equal(m.By, []int{step, queue}) {
		t.Error("ranked by", m.By)
	}
	for i, p := range m.Points {
		sum, err := result.ReadSummary(filepath.Join(s.Root, p.Name))
		if err != nil {
			t.Fatal(err)
		}
		if p.Figures[step] != float64(sum.StepTime) || p.Figures[queue] != float64(sum.QueuePeak) ||
			m.Axes[0].Typed[p.At[0]] != sum.LB || i > 0 && p.Figures[step] < m.Points[i-1].Figures[step] {
			t.Errorf("%+v, the summary has %d, %d, %s", p, sum.StepTime, sum.QueuePeak, sum.LB)
		}
		parts := int64(0)
		for _, c := range p.Causes {
			parts += c.Time
		}
		if parts != sum.StepTime {
			t.Errorf("%s: causes of %d ps, a step of %d", p.Name, parts, sum.StepTime)
		}
	}
	m = decoded[Many](t, s, "/api/many?runs="+strings.Join(names, ","))
	if m.Title != "" || !slices.Equal(m.Unlike, []string{"the number of GPUs"}) {
		t.Errorf("runs of two scenarios: %q, unlike in %v", m.Title, m.Unlike)
	}
	for query, want := range map[string]string{"": "no run", "runs=..": "not the name",
		"runs=" + strings.Repeat("a,", maxManyRuns+1): "up to 500"} {
		if w := ask(s, "GET", "/api/many?"+query, "", nil); w.Code != http.StatusBadRequest ||
			!strings.Contains(w.Body.String(), want) {
			t.Errorf("%.20s: %d %s", query, w.Code, w.Body)
		}
	}
}

// studyOf makes a study of three points in a folder, with the seeds of the scenario and of each value of lb,
// without simulating.
func studyOf(t *testing.T, dir string) *sweep.Study {
	t.Helper()
	path := filepath.Join(t.TempDir(), "three.yaml")
	if err := os.WriteFile(path, []byte(three), 0o644); err != nil {
		t.Fatal(err)
	}
	f := &sweep.File{Name: "which", Scenario: path, Seeds: 2, Objectives: []string{"step_time", "queue_peak"},
		Vary: []sweep.Vary{{Key: "lb", Values: []string{"ecmp", "spray", "flowlet"}}}}
	x, err := sweep.New(f, sweep.Options{Dir: dir})
	if err == nil {
		err = x.Open()
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// halfway simulates trials by a function.
type halfway func(trials []*sweep.Trial) error

func (h halfway) Simulate(_ context.Context, _ *sweep.Study, trials []*sweep.Trial) error {
	return h(trials)
}

// A study fills while its trials end. A point appears when all its seeds have ended, and the page changes with the
// journal. It is no run, and only a folder of the server is read.
func TestStudyFills(t *testing.T) {
	s, _ := server(t, "")
	x := studyOf(t, filepath.Join(s.Root, "which"))
	defer x.Close()
	m := decoded[Many](t, s, "/api/studies/which")
	if m.Study.Open != 8 || m.Study.Points != 3 || len(m.Points) != 0 || m.Base != nil {
		t.Errorf("before the first trial: %+v", m)
	}
	x.Pool, x.Engine = &study.Pool{}, halfway(func(trials []*sweep.Trial) error {
		for n, trial := range trials {
			r := &sweep.Record{Status: sweep.Done, Figures: map[string]float64{"step_time": float64(1000 - n),
				"queue_peak": float64(n)}, Causes: map[string]int64{"incast": int64(1000 - n)}}
			if err := x.Take(trial, r); err != nil {
				return err
			}
			if n != 4 {
				continue
			}
			// the scenario and a point, and one seed of the next point
			m := decoded[Many](t, s, "/api/studies/which")
			if len(m.Points) != 1 || m.Base == nil || m.Study.Open != 3 || m.Points[0].Low != 997 ||
				m.Points[0].High != 998 || m.Points[0].Causes[0].Time != 997 {
				t.Errorf("while it runs: %+v", m)
			}
		}
		return nil
	})
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	m = decoded[Many](t, s, "/api/studies/which")
	step := m.By[0]
	if len(m.Points) != 3 || m.Study.Open != 0 || m.Title != "which" || m.Points[0].Figures[step] != 993.5 ||
		m.Axes[0].Key != "lb" || m.Axes[0].Typed[m.Points[0].At[0]] != "flowlet" {
		t.Errorf("at the end: %+v", m)
	}
	list := decoded[[]StudyEntry](t, s, "/api/studies")
	if len(list) != 1 || list[0].Title != "which" || !slices.Equal(list[0].Best, []string{"lb=flowlet"}) {
		t.Errorf("%+v", list)
	}
	for _, e := range decoded[[]Entry](t, s, "/api/runs") {
		if e.Name == "which" {
			t.Error("a study is listed as a run")
		}
	}
	os.Symlink(filepath.Join(s.Root, "which"), filepath.Join(s.Root, "linked"))
	for name, want := range map[string]string{"linked": "not a directory", "..%2fx": "not the name", "no": "unknown"} {
		if w := ask(s, "GET", "/api/studies/"+name, "", nil); w.Code != http.StatusBadRequest ||
			!strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

// Another command's study shows its simulations by their settings, or by their labels if settings do not
// distinguish them.
func TestOtherStudy(t *testing.T) {
	s, _ := server(t, "")
	path := filepath.Join(t.TempDir(), "three.yaml")
	if err := os.WriteFile(path, []byte(three), 0o644); err != nil {
		t.Fatal(err)
	}
	x, err := sweep.NewSimulations("compare", filepath.Join(s.Root, "a"), []string{path}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	x.Pool = &study.Pool{Trials: x}
	planned := func(set string) *scenario.Plan {
		d, err := scenario.Parse(path, []byte(three), []string{set})
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	simulate := func(label, set string, until unit.Time) {
		if _, err := x.Pool.Simulate(t.Context(), label, planned(set), until); err != nil {
			t.Fatal(err)
		}
	}
	if m := decoded[Many](t, s, "/api/studies/a"); len(m.Points) != 0 || m.Study.Command != "compare" {
		t.Errorf("without a simulation: %+v", m)
	}
	simulate("one", "lb=ecmp", 0)
	simulate("two", "lb=flowlet", 0)
	id, err := x.ID("stuck", planned("lb=spray"), 0, false)
	if err := cmp.Or(err, x.Keep(id, &study.Outcome{Err: errors.New("stuck")})); err != nil {
		t.Fatal(err)
	}
	axes := func() (keys []string) {
		m := decoded[Many](t, s, "/api/studies/a")
		for _, a := range m.Axes {
			keys = append(keys, a.Key)
		}
		if m.Base == nil || m.Base.Name != "one" || m.Study.Error != "stuck" || m.Study.Failed != 1 ||
			m.Study.Done != len(m.Points) || m.Points[0].Figures[m.By[0]] <= 0 {
			t.Errorf("%+v, %+v", m, m.Study)
		}
		return keys
	}
	if keys := axes(); !slices.Contains(keys, "lb") || slices.Contains(keys, "simulation") {
		t.Errorf("they differ in %v", keys)
	}
	simulate("again", "lb=ecmp", unit.Second)
	if keys := axes(); !slices.Contains(keys, "simulation") {
		t.Errorf("they differ in %v", keys)
	}
	list := decoded[[]StudyEntry](t, s, "/api/studies")
	if len(list) != 1 || list[0].Error != "" || list[0].State.Trials != 4 {
		t.Errorf("%+v", list)
	}
}

// Runs of compare --seeds are a point for each variant, with its seeds as an interval, by the settings that variants
// differ in.
func TestSeedsOfCompare(t *testing.T) {
	run := func(label, lb, algorithm string, seed uint64, step int64) (one, string) {
		s := result.Summary{Seed: seed}
		s.StepTime = step
		settings := map[string]string{"seed": fmt.Sprint(seed), "lb": lb, "cc.algorithm": algorithm,
			"computed.window": algorithm}
		if algorithm == "dcqcn" {
			settings["cc.dcqcn.ai"] = "80Mbps"
		}
		return one{label, s, settings, nil}, label
	}
	var all []one
	var labels []string
	for _, seed := range []uint64{3, 1, 2} {
		for i, lb := range []string{"ecmp", "spray"} {
			for j, algorithm := range []string{"dcqcn", "swift"} {
				x, label := run(lb+" "+algorithm, lb, algorithm, seed, int64(1000+100*i-300*j+10*int(seed)))
				all, labels = append(all, x), append(labels, label)
			}
		}
	}
	groups, names := bySeed(all, labels)
	m := &Many{}
	m.rank(groups)
	m.base("ecmp dcqcn")
	var keys []string
	for _, a := range m.Axes {
		keys = append(keys, a.Key)
	}
	if len(groups) != 4 || !slices.Equal(names, []string{"ecmp dcqcn", "ecmp swift", "spray dcqcn", "spray swift"}) ||
		!slices.Equal(keys, []string{"cc.algorithm", "lb"}) {
		t.Errorf("%d groups %v differ in %v", len(groups), names, keys)
	}
	for i, want := range []string{"ecmp swift", "spray swift", "ecmp dcqcn", "spray dcqcn"} {
		p := m.Points[i]
		base := []float64{700, 800, 1000, 1100}[i]
		if p.Name != want || !slices.Equal(p.Seeds, []float64{base + 10, base + 20, base + 30}) || p.Low != base+10 ||
			p.High != base+30 || p.Figures[m.By[0]] != base+20 || p.Over == nil || p.Over[0] != base-700 ||
			p.Tie != (i == 0) || p.Against == nil || p.Against[0] != base-1000 {
			t.Errorf("%d: %+v", i, p)
		}
	}
}

// A point of a study links to the stored runs of the study. Nothing else within a study is a run, and none is
// deleted.
func TestStudyRuns(t *testing.T) {
	s, name := server(t, "")
	x := studyOf(t, filepath.Join(s.Root, "which"))
	defer x.Close()
	x.Pool, x.Engine = &study.Pool{}, halfway(func(trials []*sweep.Trial) error {
		for n, trial := range trials {
			r := &sweep.Record{Status: sweep.Done, Figures: map[string]float64{"step_time": float64(1000 + n)}}
			if err := x.Take(trial, r); err != nil {
				return err
			}
		}
		return nil
	})
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m := decoded[Many](t, s, "/api/studies/which"); len(m.Points[0].Runs) != 0 {
		t.Errorf("runs that are not there: %v", m.Points[0].Runs)
	}
	runs := filepath.Join(s.Root, "which", sweep.RunsName)
	kept := filepath.Join(runs, "point-0001-seed-1")
	if err := os.CopyFS(kept, os.DirFS(filepath.Join(s.Root, name))); err != nil {
		t.Fatal(err)
	}
	found := ""
	for _, p := range decoded[Many](t, s, "/api/studies/which").Points {
		for _, r := range p.Runs {
			found += p.Name + " " + r
		}
	}
	if found != "point 1 which/point-0001-seed-1" {
		t.Errorf("found %q", found)
	}
	if v := decoded[Info](t, s, "/api/runs/which%2Fpoint-0001-seed-1/info"); v.Name != "which/point-0001-seed-1" {
		t.Errorf("opened %q", v.Name)
	}
	if m := decoded[Many](t, s, "/api/many?runs=which/point-0001-seed-1,"+name); len(m.Points) != 2 {
		t.Errorf("%+v", m.LeftOut)
	}
	os.Symlink(filepath.Join(s.Root, name), filepath.Join(runs, "linked"))
	for _, bad := range []string{"which%2Flinked", "which%2F..%2F..%2F" + name, name + "%2Fpoint-0001-seed-1",
		"which%2F", "%2Fpoint-0001-seed-1", "..%2Fwhich"} {
		if w := ask(s, "GET", "/api/runs/"+bad+"/info", "", nil); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", bad, w.Code, w.Body)
		}
	}
	if w := ask(s, "DELETE", "/api/runs/which%2Fpoint-0001-seed-1", "", nil); w.Code == http.StatusOK {
		t.Error("a run that a study keeps was deleted")
	}
}
