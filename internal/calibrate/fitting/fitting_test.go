package fitting

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"railyard/internal/calibrate"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/study"
	"railyard/unit"
)

const measuredCluster = `name: cluster
fabric: {kind: rail, hosts: 2, spines: 1, host_link: {rate: 200Gbps}}
server: {gpu: a100, gpus: 4, nics: 4}
`

// file writes a file to a new folder.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func contents(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// simulate returns the step time of a plan in seconds.
func simulate(p *scenario.Plan) (*result.Summary, error) {
	s, _, err := new(study.Pool).Whole(context.Background(), "", p)
	return s, err
}

func quiet(float64, string) {}

// allReduce returns the time of an all-reduce on the first servers of a scenario, in microseconds. If congestion
// control reacts to it, the time is that after warm-up runs.
func allReduce(t *testing.T, text string, bytes, servers int) float64 {
	return timeOf(t, text, "all-reduce", bytes, servers)
}

// timeOf returns the time of a collective as allReduce does.
func timeOf(t *testing.T, text, kind string, bytes, servers int) float64 {
	t.Helper()
	run := func(repeat int) *result.Summary {
		path := file(t, "s.yaml", text+fmt.Sprintf("jobs:\n  - {on: [%s], traffic: {collective: {kind: %s, "+
			"bytes: %dB, algorithm: auto, protocol: auto, repeat: %d}}}\n",
			strings.Join([]string{"host-1", "host-2"}[:servers], ", "), kind, bytes, repeat))
		p, err := scenariofile.Plan(path, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := simulate(p)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := run(1)
	if s.CNPs > 0 {
		s = run(5)
	}
	return s.Iteration().Seconds() * 1e6
}

// ncclTests prints a cluster's measurements as nccl-tests does: all-reduces of the sizes, on the servers.
func ncclTests(t *testing.T, text string, sizes []int, servers int) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintln(&b, "# Collective test starting: all_reduce_perf")
	ranks := 4 * servers
	for r := range ranks {
		fmt.Fprintf(&b, "#  Rank %2d Group  0 Pid %d on n%d device %d [0x00] NVIDIA A100\n", r, 100+r, r/4, r%4)
	}
	for _, n := range sizes {
		us := allReduce(t, text, n, servers)
		alg := float64(n) / us / 1e3
		bus := alg * 2 * float64(ranks-1) / float64(ranks)
		fmt.Fprintf(&b, "%d %d float sum -1 %.2f %.3f %.3f 0 %.2f %.3f %.3f 0\n", n, n/4, us, alg, bus, us, alg, bus)
	}
	return b.String()
}

// Measurements of a cluster with a known calibration give it back, and the written scenario has it. A second fit to
// the same measurements changes nothing.
func TestFindsWhatIsThere(t *testing.T) {
	t.Parallel()
	truth := measuredCluster + "calibration: {nvlink_share: 70, nic_share: 85, launch: 25us, network_step: 4us}\n"
	var sizes []int
	for n := 1 << 13; n <= 1<<25; n <<= 2 {
		sizes = append(sizes, n)
	}
	q := &Question{Fabric: file(t, "plain.yaml", measuredCluster), Aside: 3, Largest: 64 * unit.MiB, Algorithm: "auto",
		NCCLTests: []string{file(t, "one.txt", ncclTests(t, truth, sizes, 1)),
			file(t, "two.txt", ncclTests(t, truth, sizes, 2))},
		Out: filepath.Join(t.TempDir(), "calibrated.yaml")}
	r, b, err := q.Fitted(simulate, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if e := r.Errors["aside"]; e[0] < 0.2 || e[1] > 0.02 {
		t.Errorf("errors %v, values %+v", r.Errors, r.Values)
	}
	want := map[string]float64{"nvlink_share": 70, "nic_share": 85, "launch": 25, "network_step": 4}
	for _, v := range r.Values {
		if w := want[v.Name]; w > 0 && (v.Is < 0.9*w || v.Is > 1.1*w) {
			t.Errorf("%s is %v, was measured with %v", v.Name, v.Is, w)
		}
		delete(want, v.Name)
	}
	if len(want) > 0 {
		t.Errorf("not fitted: %v (%+v)", want, r.Refused)
	}
	aside := 0
	for _, p := range r.Points {
		if p.Aside {
			aside++
		}
	}
	if len(r.Points) != 2*len(sizes) || aside != len(r.Points)/3 {
		t.Errorf("%d points, %d aside", len(r.Points), aside)
	}
	if err := q.Write(b, r); err != nil {
		t.Fatal(err)
	}
	again := *q
	again.Fabric, again.Out = q.Out, filepath.Join(t.TempDir(), "again.yaml")
	r, b, err = again.Fitted(simulate, quiet)
	if err == nil {
		err = again.Write(b, r)
	}
	if err != nil {
		t.Fatal(err)
	}
	if text := contents(t, again.Out); strings.Count(text, "\ncalibration:") != 1 || r.Errors["fitted"][0] > 0.02 {
		t.Errorf("%v: %s", r.Errors, text)
	}
}

// A report has the scenario's times, uncalibrated and calibrated, also of sizes larger than those that the fit
// simulates.
func TestSimulatesWhatItWrites(t *testing.T) {
	t.Parallel()
	sizes := []int{1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 23}
	rows := ncclTests(t, measuredCluster+"calibration: {nic_share: 60, launch: 30us}\n", sizes, 2)
	q := &Question{Fabric: file(t, "plain.yaml", measuredCluster), Aside: 3, Largest: 4 * unit.MiB, Algorithm: "auto",
		NCCLTests: []string{file(t, "out.txt", rows)}, Out: filepath.Join(t.TempDir(), "calibrated.yaml")}
	r, b, err := q.Fitted(simulate, quiet)
	if err == nil {
		err = q.Write(b, r)
	}
	if err != nil || len(r.Points) != len(sizes) {
		t.Fatal(err, r)
	}
	written := contents(t, q.Out)
	for _, p := range r.Points {
		before, after := allReduce(t, measuredCluster, int(p.Bytes), 2), allReduce(t, written, int(p.Bytes), 2)
		if math.Abs(p.Before-before) > 1e-6*before || math.Abs(p.After-after) > 1e-6*after {
			t.Errorf("%d bytes: reported %v and %v us, simulated %v and %v", p.Bytes, p.Before, p.After, before, after)
		}
	}
	if e := r.Errors["fitted"]; e[1] > e[0]/2 {
		t.Error(r.Errors)
	}
}

// Without times there is nothing to fit: a report has no points, and the calibration is the scenario's.
func TestNothingTimed(t *testing.T) {
	t.Parallel()
	q := &Question{Fabric: file(t, "s.yaml", measuredCluster+"calibration: {launch: 9us}\n"), Capture: []string{"x"}}
	r, b, err := q.Fitted(func(*scenario.Plan) (*result.Summary, error) { return nil, errors.New("simulated") }, quiet)
	if err != nil || q.Timed() || len(r.Points) > 0 || len(r.Values) > 0 || b.Start.Launch != 9*unit.Microsecond {
		t.Errorf("%v, %+v, %+v", err, r, b)
	}
	for name, q := range map[string]Question{"nccl-tests": {NCCLTests: []string{"x"}},
		"perftest":  {Perftest: []string{"x"}},
		"inspector": {Inspector: []string{"x"}}, "step": {Step: 1}} {
		if !q.Timed() {
			t.Errorf("%s is not timed", name)
		}
	}
}

// A folder is read file by file, without the folders in it.
func TestReadsFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, n := range []int{1 << 20, 4 << 20} {
		text := ncclTests(t, measuredCluster, []int{n}, 1)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("out", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "older"), 0o700); err != nil {
		t.Fatal(err)
	}
	q := &Question{Inspector: []string{dir}}
	if set, err := q.read(); err != nil || len(set.Table()) != 2 {
		t.Errorf("%v, %+v", err, set)
	}
}

// An error is of the input, but for one of an interrupted simulation.
func TestRefuses(t *testing.T) {
	t.Parallel()
	plain := file(t, "plain.yaml", measuredCluster)
	out := file(t, "out.txt", ncclTests(t, measuredCluster, []int{1 << 20, 4 << 20}, 1))
	for want, set := range map[string]func(*Question){
		"contains no measurement":          func(q *Question) { q.NCCLTests = []string{plain} },
		"no such file":                     func(q *Question) { q.NCCLTests = []string{"none.txt"} },
		"not a regular file":               func(q *Question) { q.NCCLTests = []string{"/dev/null"} },
		"do not determine nic_share":       func(q *Question) { q.Fit = []string{"nic_share"} },
		"unknown parameter \"nic\"":        func(q *Question) { q.Fit = []string{"nic"} },
		"fabric.hosts":                     func(q *Question) { q.Set = []string{"fabric.hosts=0"} },
		"points of 4 ranks on 1 server":    func(q *Question) { q.Set = []string{"server.gpus=2", "server.nics=2"} },
		"--step: is how long a training s": func(q *Question) { q.NCCLTests, q.Step = nil, time.Second },
	} {
		q := &Question{Fabric: plain, NCCLTests: []string{out}, Aside: 3, Largest: 64 * unit.MiB, Algorithm: "auto"}
		set(q)
		_, _, err := q.Fitted(simulate, quiet)
		if err == nil || !strings.Contains(err.Error(), want) || field.All(err) == nil && !input.IsFault(err) {
			t.Errorf("want %s: %v", want, err)
		}
	}
	q := &Question{Fabric: plain, NCCLTests: []string{out}, Largest: 64 * unit.MiB, Algorithm: "auto"}
	_, _, err := q.Fitted(func(*scenario.Plan) (*result.Summary, error) { return nil, context.Canceled }, quiet)
	if !errors.Is(err, context.Canceled) || input.IsFault(err) {
		t.Errorf("interrupted: %v", err)
	}
}

// Errors are in percent, with the number of their points, and the report says if the fit is useless.
func TestWords(t *testing.T) {
	t.Parallel()
	points := []Point{{}, {}, {}, {Aside: true}}
	for _, c := range []struct {
		errors map[string][2]float64
		want   []string
	}{
		{map[string][2]float64{}, nil},
		{map[string][2]float64{"fitted": {0.5, 0.0123}}, []string{
			"50.0 % before, 1.2 % after (3 fitted points)"}},
		{map[string][2]float64{"aside": {0.2, 0.25}, "fitted": {0.2, 0.199}}, []string{
			"20.0 % before, 19.9 % after (3 fitted points): no better than without calibration",
			"20.0 % before, 25.0 % after (1 held-out point): worse than without calibration"}},
		{map[string][2]float64{"fitted": {0.001, 0.001}}, []string{
			"0.1 % before, 0.1 % after (3 fitted points)"}},
	} {
		if got := (&Report{Errors: c.errors, Points: points}).Words(); !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A scenario is written with its own text and without its earlier calibration. The fitted values precede those that
// it had.
func TestWrite(t *testing.T) {
	t.Parallel()
	q := &Question{Fabric: file(t, "s.yaml", measuredCluster+"calibration:\n  launch: 9us\n  message: 2us\n"),
		Set: []string{"lb=spray"}, Out: filepath.Join(t.TempDir(), "out.yaml")}
	b := &calibrate.Bench{Start: scenario.Calibration{Launch: 9 * unit.Microsecond, Message: 2 * unit.Microsecond}}
	r := &Report{Errors: map[string][2]float64{"fitted": {0.5, 0.01}},
		Values: []Value{{Name: "launch", Is: 12.3456}, {Name: "nic_share", Is: 87.654}},
		Points: []Point{{Name: "all-reduce", Measured: 10, Before: 5, After: 10.25},
			{Name: "write", Measured: 1, Aside: true}}}
	if err := q.Write(b, r); err != nil {
		t.Fatal(err)
	}
	const want = measuredCluster + `
# railyard calibrate: error 50.0 % before, 1.0 % after (1 fitted point)
# measured with --set lb=spray, which this file does not set
calibration:
  nic_share: 87.65
  launch: 12.346us
  message: 2us
# measured, simulated before and after, us
#   all-reduce                                          10.00         5.00        10.25
#   write                                                1.00         0.00         0.00  held out
`
	if got := contents(t, q.Out); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if err := q.Write(b, r); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("again: %v", err)
	}
	if q.Force = true; q.Write(b, r) != nil {
		t.Error("with force it is not replaced")
	}
}
