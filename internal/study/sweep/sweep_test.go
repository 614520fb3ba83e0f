package sweep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"railyard/internal/result"
	"railyard/internal/runner"
	"railyard/internal/study"
	"railyard/unit"

	"github.com/parquet-go/parquet-go"
)

const tiny = `name: tiny
fabric: {kind: rail-only, hosts: 4, host_link: {rate: 100Gbps, delay: 1us}, fabric_link: {rate: 100Gbps, delay: 1us}}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-3/gpu-1, bytes: 64KiB},
  {from: host-2/gpu-1, to: host-3/gpu-1, bytes: 64KiB}]}}
`

// written writes a file and returns its path.
func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// study of two keys and two seeds: 13 points and trials of 2 seeds.
func tinyFile(scenario string) *File {
	return &File{Scenario: scenario, Seeds: 2, Vary: []Vary{{Key: "transport.ack_every", Values: []string{"1", "2", "4"}},
		{Key: "workload.traffic.flows[0].bytes", Range: "4KiB..32KiB:4:log"}}}
}

// begun makes a study and opens its directory.
func begun(f *File, o Options) (*Study, error) {
	s, err := New(f, o)
	if err == nil {
		err = s.Open()
	}
	return s, err
}

// opened opens a study with workers.
func opened(t *testing.T, f *File, workers int, o Options) *Study {
	t.Helper()
	own := *f
	s, err := begun(&own, o)
	if err != nil {
		t.Fatal(err)
	}
	s.Pool = &study.Pool{Workers: workers, Memory: unit.GB}
	return s
}

// ran runs a study to its end and returns its results.
func ran(t *testing.T, f *File, workers int, o Options) (s *Study, a *Analysis, csv, parquet []byte) {
	t.Helper()
	s = opened(t, f, workers, o)
	defer s.Close()
	if err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s, analysed(t, s), held0(t, s, CSVName), held0(t, s, ParquetName)
}

func analysed(t *testing.T, s *Study) *Analysis {
	t.Helper()
	a, err := s.Analyse(true)
	if err == nil {
		err = s.Write()
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func held0(t *testing.T, s *Study, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(s.Dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Results have equal bytes with any number of workers, and after the process was killed at any time; the journal
// may end anywhere. Only missing trials are simulated again.
func TestKilled(t *testing.T) {
	f := tinyFile(written(t, "tiny.yaml", tiny))
	dir := t.TempDir()
	s, a, csv, table := ran(t, f, 1, Options{Dir: filepath.Join(dir, "one")})
	if s.Simulated != 26 || a.Counts.Done != 26 || len(a.Ranking) != 12 || a.Baseline == nil {
		t.Fatalf("%d simulated, %+v, %d ranked", s.Simulated, a.Counts, len(a.Ranking))
	}
	if _, _, again, same := ran(t, f, 4, Options{Dir: filepath.Join(dir, "four")}); !bytes.Equal(csv, again) ||
		!bytes.Equal(table, same) {
		t.Errorf("four workers give other results:\n%s\n%s", csv, again)
	}
	journal := held0(t, s, JournalName)
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		at := filepath.Join(dir, "killed")
		os.RemoveAll(at)
		os.MkdirAll(at, 0o755)
		cut := r.IntN(len(journal) + 1)
		os.WriteFile(filepath.Join(at, JournalName), journal[:cut], 0o600)
		whole := bytes.Count(journal[:cut], []byte("\n"))
		s, _, again, same := ran(t, f, 2, Options{Dir: at})
		if s.Simulated != 26-whole || s.Kept != whole || !bytes.Equal(csv, again) || !bytes.Equal(table, same) {
			t.Fatalf("cut at %d of %d: %d kept, %d simulated", cut, len(journal), s.Kept, s.Simulated)
		}
	}
}

// An interrupted study keeps completed trials. One that another process runs can be viewed and not run.
func TestInterrupted(t *testing.T) {
	f := tinyFile(written(t, "tiny.yaml", tiny))
	dir := filepath.Join(t.TempDir(), "s")
	s := opened(t, f, 1, Options{Dir: dir})
	ctx, cancel := context.WithCancel(context.Background())
	s.Pool.Progress = func(x study.State) {
		if x.Done == 5 {
			cancel()
		}
	}
	if err := s.Run(ctx); !errors.Is(err, runner.ErrInterrupted) {
		t.Fatal(err)
	}
	if _, err := begun(tinyFile(f.Scenario), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "another process simulates") {
		t.Error(err)
	}
	v, err := View(dir)
	if err != nil {
		t.Fatal(err)
	}
	if a := analysed(t, v); a.Counts.Done != s.Simulated || a.Counts.Open != 26-s.Simulated || s.Simulated < 5 {
		t.Errorf("%d simulated, seen %+v", s.Simulated, a.Counts)
	}
	v.Close()
	s.Close()
	if s, a, _, _ := ran(t, f, 2, Options{Dir: dir}); s.Kept < 5 || s.Kept+s.Simulated != 26 || a.Counts.Open != 0 {
		t.Errorf("%d kept, %d simulated", s.Kept, s.Simulated)
	}
}

// A rejected trial has its reason, and the others are kept. Halving promotes the best, and run directories are kept
// for the best.
func TestHalving(t *testing.T) {
	f := tinyFile(written(t, "tiny.yaml", tiny))
	f.Seeds = 1
	f.Rungs, f.Reduce, f.Keep = []Rung{{[]string{"fidelity=flow"}}, {[]string{"fidelity=packet"}}}, 4, "best:2"
	s := opened(t, f, 2, Options{Dir: filepath.Join(t.TempDir(), "s")})
	defer s.Close()
	if err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	a := analysed(t, s)
	if s.Simulated != 13+4 || s.Planned() != 17 || a.Rung != 1 || len(a.Ranking) != 3 {
		t.Errorf("%d of %d simulated, rung %d, %d ranked", s.Simulated, s.Planned(), a.Rung, len(a.Ranking))
	}
	dirs, err := s.Keep(context.Background(), a)
	if err != nil || len(dirs) != 2 {
		t.Fatal(dirs, err)
	}
	for i, dir := range dirs {
		if x, err := result.ReadSummary(dir); err != nil || float64(x.StepTime) != a.Ranking[i].Stats[0].Mean {
			t.Errorf("%s: %v", dir, err)
		}
	}
	bad := tinyFile(f.Scenario)
	bad.Vary[0] = Vary{Key: "switch.queues.3.wred_min", Values: []string{"50KB", "900MB"}}
	_, a, csv, _ := ran(t, bad, 2, Options{Dir: filepath.Join(t.TempDir(), "s")})
	if a.Counts.Refused != 8 || a.Counts.Done != 10 || !bytes.Contains(csv, []byte(",refused,")) || a.Counts.FirstError == "" {
		t.Errorf("%+v\n%s", a.Counts, csv)
	}
}

// The table is equal in both forms.
func TestResults(t *testing.T) {
	s, _, csv, table := ran(t, tinyFile(written(t, "tiny.yaml", tiny)), 2, Options{Dir: filepath.Join(t.TempDir(), "s")})
	p, err := parquet.OpenFile(bytes.NewReader(table), int64(len(table)))
	if err != nil || p.NumRows() != 26 {
		t.Fatal(err)
	}
	var names []string
	for _, f := range p.Schema().Fields() {
		names = append(names, f.Name())
	}
	head, _, _ := strings.Cut(string(csv), "\n")
	if strings.Join(names, ",") != head || !strings.HasPrefix(head, "trial,point,seed,transport.ack_every,"+
		"workload.traffic.flows[0].bytes_bytes,status,step_time_ps,") {
		t.Errorf("%s\n%s", head, names)
	}
	rows := make([]parquet.Row, 26)
	if n, _ := p.RowGroups()[0].Rows().ReadRows(rows); n != 26 {
		t.Errorf("%d rows", n)
	}
	line := strings.Split(strings.Split(string(csv), "\n")[3], ",")
	if rows[2][4].Double() != 4096 || line[4] != "4096" || rows[2][0].String() != line[0] || !rows[0][3].IsNull() {
		t.Errorf("%v\n%v", rows[2], line)
	}
	if s.Kept != 0 {
		t.Error(s.Kept)
	}
}

// The column seed has the seed with which a run repeats a trial: that of the scenario, the study or the point, plus
// the number of earlier trials. The name of its run directory has it, too.
func TestSeedColumn(t *testing.T) {
	other := written(t, "other.yaml", tiny+"seed: 9007199254740993\n") // no float64
	for want, f := range map[string]*File{
		"7 8 7 8": {Scenario: written(t, "tiny.yaml", tiny+"seed: 7\n"), Seeds: 2,
			Vary: []Vary{{Key: "transport.ack_every", Values: []string{"2"}}}},
		"30 31 30 31": {Scenario: other, Seeds: 2, Set: []string{"seed=30"},
			Vary: []Vary{{Key: "transport.ack_every", Values: []string{"2"}}}},
		"9007199254740993 5 6": {Scenario: other, Vary: []Vary{{Key: "seed", Values: []string{"5", "6"}}}},
		"9007199254740993 1": {Scenario: other, Vary: []Vary{{Key: "scenario",
			Values: []string{written(t, "third.yaml", tiny)}}}},
	} {
		f.Keep = "all"
		s := opened(t, f, 2, Options{Dir: filepath.Join(t.TempDir(), "s")})
		if err := s.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		a := analysed(t, s)
		if _, err := s.Keep(context.Background(), a); err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, line := range strings.Split(strings.TrimSpace(string(held0(t, s, CSVName))), "\n") {
			cells := strings.Split(line, ",")
			if i == 0 {
				if strings.Count(line, ",seed") != 1 {
					t.Error(line)
				}
				continue
			}
			got = append(got, cells[2])
			point, _ := strconv.Atoi(cells[1])
			name := fmt.Sprintf("point-%04d", point)
			if s.Seeds(point) > 1 {
				name += "-seed-" + cells[2]
			}
			m, err := result.ReadManifest(filepath.Join(s.Dir, RunsName, name))
			if err != nil || fmt.Sprint(m.Seed) != cells[2] {
				t.Errorf("%s: seed %d in its run, %s in results, %v", name, m.Seed, cells[2], err)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("seeds %v, want %s", got, want)
		}
		p, err := parquet.Read[struct {
			Seed uint64 `parquet:"seed,optional"`
		}](bytes.NewReader(held0(t, s, ParquetName)), int64(len(held0(t, s, ParquetName))))
		for i := range p {
			if err != nil || fmt.Sprint(p[i].Seed) != got[i] {
				t.Errorf("row %d: seed %d, %v", i, p[i].Seed, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Samples that repeat a point are counted. A part that is given twice, and an empty file, are rejected.
func TestNotWhatWasAsked(t *testing.T) {
	path := written(t, "tiny.yaml", tiny)
	for samples, fewer := range map[int]bool{1: false, 40: true} {
		f := &File{Scenario: path, Samples: samples, Vary: []Vary{{Key: "transport.ack_every", Values: []string{"2", "4"}}}}
		s := opened(t, f, 1, Options{Dir: filepath.Join(t.TempDir(), "s")})
		if n, points, less := s.Repeated(); less != fewer || less && (n != samples || points != 2) {
			t.Errorf("%d samples: %d, %d, %v", samples, n, points, less)
		}
		if _, err := Merge([]string{s.Dir, filepath.Join(s.Dir, "..", "s")}, t.TempDir()); err == nil ||
			!strings.Contains(err.Error(), "accepted: each part once") {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, text := range []string{"", "# no key\n\n"} {
		empty := written(t, "empty.yaml", text)
		if _, err := new(Flags).File(empty); err == nil || !strings.Contains(err.Error(), "empty.yaml is empty") {
			t.Error(err)
		}
	}
}

// The front is what no point dominates.
func TestFront(t *testing.T) {
	low, high := Objective{Figure: Figures[0]}, Objective{Figure: Figures[4], Max: true}
	points := [][]float64{{3, 1}, {1, 1}, {2, 5}, {2, 5}, {4, 6}, {3, 5}, {5, 6}}
	if got := Front(points, []Objective{low, high}); !reflect.DeepEqual(got, []int{1, 2, 4}) {
		t.Error(got)
	}
	if got := layers(points, []Objective{low, high}, 5); !reflect.DeepEqual(got, []int{1, 2, 4, 3, 6}) {
		t.Error(got)
	}
	if got := layers(points, []Objective{high}, 3); !reflect.DeepEqual(got, []int{6, 4, 0}) {
		t.Error(got)
	}
}

// Epsilon squared is the share of the variance between groups, and near 0 where groups do not matter.
func TestVariance(t *testing.T) {
	if got := epsilonSquared([][]float64{{1, 1, 1}, {3, 3, 3}}); got != 1 {
		t.Error(got)
	}
	if got := epsilonSquared([][]float64{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}); got != 0 {
		t.Error(got)
	}
	if got := epsilonSquared([][]float64{{1}, {2}}); !math.IsNaN(got) {
		t.Error(got)
	}
	// between 4, within 2·(2·0.25) of 8 values: 1 − (1/6)/(9/7)…
	if got := epsilonSquared([][]float64{{0, 1, 0, 1}, {2, 3, 2, 3}}); math.Abs(got-(1-2.0/10*7/6)) > 1e-12 {
		t.Error(got)
	}
}

// Impossible studies are rejected before the first simulation.
func TestBadStudies(t *testing.T) {
	path := written(t, "tiny.yaml", tiny)
	for text, want := range map[string]string{
		"vary: [{key: lb, values: [ecmp]}]":                                                                            "scenario: expected the file of a scenario",
		"scenario: tiny.yaml":                                                                                          "vary: nothing varies",
		"scenario: tiny.yaml\nvary: [{key: lb}]":                                                                       "study.yaml:2:8: vary[0]: lb has no values",
		"scenario: tiny.yaml\nvary: [{key: lbb, values: [a]}]":                                                         `unknown key "lbb"`,
		"scenario: tiny.yaml\nvary: [{key: lb, values: [a]}]":                                                          `study.yaml:2:8: vary[0]: unknown value "a"`,
		"scenario: tiny.yaml\nvary: [{key: lb, range: 1..2}]":                                                          `study.yaml:2:8: vary[0]: unknown value "1"`,
		"scenario: tiny.yaml\nvary: [{key: lb, vals: [a]}]":                                                            "unknown key",
		"scenario: tiny.yaml\nvary: [{key: seed, range: 5..1}]":                                                        "empty range",
		"scenario: tiny.yaml\nvary: [{key: seed, range: 1..5:99999999}]":                                               "out of range 2–100000",
		"scenario: tiny.yaml\nsampler: sobol\nvary: [{key: seed, range: 1..5}]":                                        "sampler",
		"scenario: tiny.yaml\nsamples: 0\nsampler: lhc\nvary: [{key: seed, range: 1..5}]":                              "samples: the number of points is missing, which the sampler lhc needs; accepted: 1 to 2000000",
		"scenario: tiny.yaml\nobjectives: [step]\nvary: [{key: seed, values: [1]}]":                                    `unknown figure "step"`,
		"scenario: tiny.yaml\nkeep: best\nvary: [{key: seed, values: [1]}]":                                            "accepted: none, best:N, all",
		"scenario: no.yaml\nvary: [{key: seed, values: [1]}]":                                                          "no.yaml",
		"scenario: tiny.yaml\nrungs: [{set: [fidelity=flow]}]\nvary: [{key: seed, values: [1]}]":                       "1 rungs; accepted: 2 to 10",
		"scenario: tiny.yaml\nvary:\n- {key: seed, range: 1..2000:2000}\n- {key: output.rows, range: 1000..3000:2000}": "vary: more than 2000000 trials",
	} {
		at := filepath.Join(filepath.Dir(path), "study.yaml")
		os.WriteFile(at, []byte(text+"\n"), 0o600)
		f, err := ReadFile(at)
		if err == nil {
			var s *Study
			if s, err = begun(f, Options{Dir: filepath.Join(filepath.Dir(path), "out")}); err == nil {
				s.Close()
			}
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v, want %s", text, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(path), "out")); err == nil {
		t.Error("a refused study leaves a directory")
	}
}

// Shards have all trials once, and joined they give the results of the whole.
func TestShards(t *testing.T) {
	f := tinyFile(written(t, "tiny.yaml", tiny))
	dir := t.TempDir()
	_, _, csv, table := ran(t, f, 2, Options{Dir: filepath.Join(dir, "whole")})
	var parts []string
	n := 0
	for k := 1; k <= 3; k++ {
		at := filepath.Join(dir, strings.Repeat("p", k))
		s, _, _, _ := ran(t, f, 2, Options{Dir: at, Shard: Shard{k, 3}})
		if n += s.Simulated; s.Simulated != s.options.Shard.size(26) {
			t.Errorf("shard %d simulates %d", k, s.Simulated)
		}
		parts = append(parts, at)
	}
	if _, a, _, _ := ran(t, f, 2, Options{Dir: filepath.Join(dir, "half"), Shard: Shard{2, 2}}); !a.Partial ||
		len(a.Ranking) != 12 || a.Ranking[0].Seeds != nil || a.Baseline == nil || a.Counts.Open != 13 {
		t.Errorf("the second seeds of all points: %d ranked, %+v", len(a.Ranking), a.Counts)
	}
	s, err := Merge(parts, filepath.Join(dir, "joined"))
	if err != nil || n != 26 || s.Taken != 26 {
		t.Fatal(n, err)
	}
	defer s.Close()
	if analysed(t, s); !bytes.Equal(held0(t, s, CSVName), csv) || !bytes.Equal(held0(t, s, ParquetName), table) {
		t.Error("the joined study has other results")
	}
	other := tinyFile(written(t, "tiny.yaml", tiny))
	other.Seeds = 1
	ran(t, other, 2, Options{Dir: filepath.Join(dir, "other")})
	if _, err := Merge([]string{parts[0], filepath.Join(dir, "other")}, filepath.Join(dir, "x")); err == nil ||
		!strings.Contains(err.Error(), "not parts of one study") {
		t.Error(err)
	}
	for _, bad := range []string{"0/3", "4/3", "1", "1/0", "1/3x", "a/b", "1/1000000"} {
		if _, err := ParseShard(bad); err == nil || !strings.Contains(err.Error(), "accepted: K/N") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// BenchmarkTrials simulates and stores trials on all cores: 1,000 of scenarios/three-flows.yaml by packets, at most
// 15 s on two cores, and a training step as flows, of which 10,000 should take 10 minutes (issue 31).
func BenchmarkTrials(b *testing.B) {
	for name, c := range map[string]struct {
		file  File
		seeds int
	}{
		"packet": {File{Scenario: "../../../scenarios/three-flows.yaml", Seeds: 500,
			Vary: []Vary{{Key: "lb", Values: []string{"spray"}}}}, 1000},
		"flow": {File{Scenario: "../../../scenarios/pod64-llama2-7b.yaml", Seeds: 40,
			Set: []string{"fidelity=flow", "output.causes=false"}}, 40},
		"causes": {File{Scenario: "../../../scenarios/pod64-llama2-7b.yaml", Seeds: 40, Set: []string{"fidelity=flow"}}, 40},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s, err := begun(&c.file, Options{Dir: filepath.Join(b.TempDir(), "s")})
				if err != nil {
					b.Fatal(err)
				}
				s.Pool = &study.Pool{Memory: unit.GB}
				if err := s.Run(context.Background()); err != nil || s.Simulated != c.seeds {
					b.Fatal(s.Simulated, err)
				}
				s.Close()
			}
			b.ReportMetric(float64(b.N*c.seeds)/b.Elapsed().Seconds(), "trials/s")
		})
	}
}

// Two parameters that decide together explain nothing each, and everything as a pair.
func TestTogether(t *testing.T) {
	both, groups := map[[2]string][]float64{}, map[string][]float64{}
	for _, a := range []string{"x", "y"} {
		for _, b := range []string{"x", "y"} {
			y := 1.0
			if a == b {
				y = 2
			}
			both[[2]string{a, b}], groups[a] = []float64{y, y}, append(groups[a], y, y)
		}
	}
	if each, pair := epsilonSquared(binned(groups)), together(both); each != 0 || pair != 1 {
		t.Errorf("each %g, together %g", each, pair)
	}
}
