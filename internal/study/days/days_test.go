package days

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"railyard/internal/goodput"
	"railyard/internal/result"
	"railyard/internal/scenario"
)

// llama2 is a training on two servers of four GPUs. Llama 2 7B has 6,738,415,616 parameters (Touvron et al., arXiv
// 2307.09288), and an H100 989.4 TFLOP/s in bf16 (NVIDIA H100 data sheet, SXM).
const llama2 = `
name: llama2
fabric: {kind: rail, hosts: 2, spines: 1, host_link: {rate: 400Gbps}}
server: {gpu: h100, gpus: 4, nics: 4}
workload: {training: {model: llama-2-7b, tp: 2, pp: 2, dp: 2, sequence: 2048, micro_batch: 1, global_batch: 4,
  steps: 3, efficiency: 50}}
`

// checkpointed is the size of llama2's checkpoint: 2 bytes of weights and 12 of fp32 states for each parameter.
const checkpointed = 14 * 6_738_415_616

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// unsimulated fails a test that simulates a step.
func unsimulated(t *testing.T) func(*scenario.Plan) (*result.Summary, error) {
	return func(*scenario.Plan) (*result.Summary, error) {
		t.Error("simulates a step")
		return nil, errors.New("simulated")
	}
}

// flags is a job described completely by the command line: a checkpoint of 1 TB to 100 GB/s takes 10 s.
func flags() Question {
	return Question{GPUs: 64, Days: 5, Checkpoint: "1TB", Step: 2 * time.Second, Spares: 3, Repair: time.Hour,
		Seeds: 4, Seed: 9}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set  func(*Question)
		want func(*goodput.Input, *Report)
	}{
		"defaults": {func(*Question) {}, func(*goodput.Input, *Report) {}},
		"times": {func(q *Question) {
			detect, restart := 2*time.Minute, 90*time.Second
			q.Detect, q.Restart, q.Interval = &detect, &restart, 20*time.Minute
		}, func(in *goodput.Input, r *Report) {
			in.Detect, in.Restart, in.Interval = 120*goodput.Second, 100*goodput.Second, 1200*goodput.Second
			r.Detect, r.Restart = 120, 100
		}},
		"zero is a time, not a default": {func(q *Question) { q.Detect = new(time.Duration) },
			func(in *goodput.Input, r *Report) { in.Detect, r.Detect = 0, 0 }},
		"asynchronous": {func(q *Question) { q.Async, q.Snapshot, q.Storage = true, new(1500*time.Millisecond), "50GB/s" },
			func(in *goodput.Input, r *Report) { // the snapshot stops the job, and the write of 20 s does not
				in.Stall, in.Write, in.Restart = 1_500_000, 20*goodput.Second, 620*goodput.Second
				r.Stall, r.Write, r.Restart, r.Storage, r.Async = 1.5, 20, 620, 50e9, true
			}},
		"a snapshot takes 5 s": {func(q *Question) { q.Async = true },
			func(in *goodput.Input, r *Report) {
				in.Stall, in.Write = 5*goodput.Second, 10*goodput.Second
				r.Stall, r.Async = 5, true
			}},
		"a snapshot takes no longer than the write": {func(q *Question) { q.Async, q.Storage = true, "500GB/s" },
			func(in *goodput.Input, r *Report) {
				in.Stall, in.Write, in.Restart = 2*goodput.Second, 2*goodput.Second, 602*goodput.Second
				r.Stall, r.Write, r.Restart, r.Storage, r.Async = 2, 2, 602, 500e9, true
			}},
		"a job smaller than a host": {func(q *Question) { q.GPUs = 4 },
			func(in *goodput.Input, r *Report) { in.GPUs, in.PerServer = 4, 4 }},
		"degraded": {func(q *Question) { q.Short, q.Replica, q.PerServer = true, 16, 4 },
			func(in *goodput.Input, r *Report) { in.Replica, in.PerServer, r.Short = 16, 4, true }},
		"a replica matters to a degraded job only": {func(q *Question) { q.Replica = 16 },
			func(*goodput.Input, *Report) {}},
		"spares without end are never repaired": {func(q *Question) { q.Spares = -1 },
			func(in *goodput.Input, r *Report) { in.Spares, r.Spares, r.Repair = -1, -1, 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			want := goodput.Input{GPUs: 64, PerServer: 8, Days: 5, Rates: goodput.Llama3(), Detect: 60 * goodput.Second,
				Restart: 610 * goodput.Second, Stall: 10 * goodput.Second, Step: 2 * goodput.Second, Spares: 3,
				Repair: 3600 * goodput.Second, Seed: 9, Seeds: 4}
			says := Report{Checkpoint: 1e12, Storage: 100e9, Stall: 10, Write: 10, Detect: 60, Restart: 610, Step: 2,
				StepBy: "as given", Spares: 3, Repair: 3600}
			c.want(&want, &says)
			q := flags()
			c.set(&q)
			in, r, err := q.Input(unsimulated(t))
			if err != nil || !reflect.DeepEqual(in, want) || !reflect.DeepEqual(r, says) {
				t.Errorf("%v\n%+v\n%+v, want\n%+v\n%+v", err, in, r, want, says)
			}
		})
	}
}

// A scenario has what no flag sets: GPUs, the replica, the checkpoint's size, the step.
func TestScenario(t *testing.T) {
	t.Parallel()
	q := Question{Scenario: file(t, "llama2.yaml", llama2), Days: 5, Short: true, Seeds: 1}
	in, r, err := q.Input(func(plan *scenario.Plan) (*result.Summary, error) {
		if n := plan.Jobs[0].Training.StepsInRow(); n != 3 {
			t.Errorf("simulates %d steps", n)
		}
		return &result.Summary{Step: result.Step{StepTime: 13e12, ExposedSave: 1e12}}, nil // ps
	})
	if err != nil {
		t.Fatal(err)
	}
	if in.GPUs != 8 || in.PerServer != 4 || in.Replica != 4 || r.Checkpoint != checkpointed {
		t.Errorf("%+v, checkpoint %d", in, r.Checkpoint)
	}
	if in.Step != 4*goodput.Second || r.Step != 4 || r.StepBy != "simulated" { // (13 - 1) / 3
		t.Errorf("step %v, %v %s", in.Step, r.Step, r.StepBy)
	}
	lost := errors.New("a rank is lost")
	_, _, err = q.Input(func(*scenario.Plan) (*result.Summary, error) { return nil, lost })
	if !errors.Is(err, lost) {
		t.Errorf("of a step that fails: %v", err)
	}
	// Flags override all of it.
	q = flags()
	q.Scenario, q.PerServer, q.Short, q.Replica = file(t, "llama2.yaml", llama2), 2, true, 8
	in, r, err = q.Input(unsimulated(t))
	if err != nil || in.GPUs != 64 || in.PerServer != 2 || in.Replica != 8 || r.Checkpoint != 1e12 || r.Step != 2 {
		t.Errorf("with flags: %v, %+v, %+v", err, in, r)
	}
}

// The cost model's step takes longer than the GPUs' computation, and less than twice as long: 6 floating point
// operations for each parameter and token (Kaplan et al., arXiv 2001.08361), at half of the data sheet's rate.
func TestEstimate(t *testing.T) {
	t.Parallel()
	q := Question{Scenario: file(t, "llama2.yaml", llama2), Days: 5, Estimate: true, Seeds: 1}
	in, r, err := q.Input(unsimulated(t))
	computes := 6 * 6.738e9 * 4 * 2048 / (8 * 989.4e12 / 2)
	if s := in.Step.Seconds(); err != nil || r.StepBy != "by the cost model" || s < computes || s > 2*computes {
		t.Errorf("%v: %v s %s, computing takes %v", err, s, r.StepBy, computes)
	}
}

// A folded step is simulated: the cost model has no servers of all GPUs.
func TestEstimateOfFolded(t *testing.T) {
	text := strings.NewReplacer("gpus: 4, nics: 4", "gpus: 1, nics: 1", "tp: 2,", "tp: 2, fold: true,",
		"hosts: 2", "hosts: 4").Replace(llama2)
	q := Question{Scenario: file(t, "folded.yaml", text), Days: 5, Estimate: true, Seeds: 1}
	if _, _, err := q.Input(unsimulated(t)); err == nil || !strings.Contains(err.Error(), "workload.training.fold") {
		t.Error(err)
	}
}

// A scenario's storage has a rate, and its training a mode and a size of checkpoints. 10 bytes for each parameter
// to 2 x 20 GB/s take 1.684604 s, for which an asynchronous checkpoint does not stall.
func TestStorage(t *testing.T) {
	t.Parallel()
	text := strings.Replace(llama2, "steps: 3", "steps: 3, checkpoint: {every: 3, mode: async, bytes: 10}", 1) +
		"storage: {servers: 2, nics: 2, nic_rate: 200Gbps, write: 20GB/s}\n"
	q := Question{Scenario: file(t, "stored.yaml", text), Days: 5, Step: time.Second, Snapshot: new(time.Duration),
		Seeds: 1}
	in, r, err := q.Input(unsimulated(t))
	if err != nil || r.Checkpoint != 67_384_156_160 || r.Storage != 40e9 || !r.Async || in.Stall != 0 ||
		in.Write != 1_684_604 || in.Restart != 601_684_604 {
		t.Errorf("%v, %+v, %+v", err, in, r)
	}
	// A GPU's eighth of it over PCIe, at 50 GB/s, as in a run.
	text = strings.Replace(text, "server: {", "server: {pcie: 50GB/s, ", 1)
	q = Question{Scenario: file(t, "copied.yaml", text), Days: 5, Step: time.Second, Seeds: 1}
	if in, r, err = q.Input(unsimulated(t)); err != nil || in.Stall != 168_460 || r.Useless() {
		t.Errorf("copied: %v, %+v, %+v", err, in, r)
	}
}

// A scenario's settings for failing jobs apply if no flag is set. A scenario without them has the defaults that
// check prints.
func TestOnFailure(t *testing.T) {
	t.Parallel()
	const all = "on_failure: {checkpoint_every: 1800s, restart: 300s, collective_timeout: 45s}\n"
	detect, restart := 2*time.Minute, time.Minute
	for _, c := range []struct {
		name                    string
		text                    string
		q                       Question
		detect, restart, spaced goodput.Span
	}{
		{"nothing", "", Question{}, 600, 600, 0},
		{"the scenario", all, Question{}, 45, 300, 1800},
		{"NCCL's watchdog is the default", "on_failure: {restart: 300s}\n", Question{}, 600, 300, 0},
		{"flags", all, Question{Detect: &detect, Restart: &restart, Interval: 20 * time.Minute}, 120, 60, 1200},
		{"one flag", all, Question{Restart: &restart}, 45, 60, 1800},
	} {
		c.q.Scenario, c.q.Days, c.q.Seeds = file(t, "llama2.yaml", llama2+c.text), 5, 1
		c.q.Checkpoint, c.q.Step = "100GB", time.Second // read in a second
		in, _, err := c.q.Input(unsimulated(t))
		if err != nil || in.Detect != c.detect*goodput.Second || in.Restart != (c.restart+1)*goodput.Second ||
			in.Interval != c.spaced*goodput.Second {
			t.Errorf("%s: %v, %+v", c.name, err, in)
		}
	}
}

// Rates of a file replace Llama 3's.
func TestRates(t *testing.T) {
	t.Parallel()
	q := flags()
	q.Rates = file(t, "rates.yaml", "source: ours\nrates: [{component: gpu, mtbf_hours: 50000}]\n")
	want := &goodput.Rates{Source: "ours", Rates: []goodput.Rate{{Component: "gpu", MTBF: 50000}}}
	if in, _, err := q.Input(unsimulated(t)); err != nil || !reflect.DeepEqual(in.Rates, want) {
		t.Errorf("%v, %+v", err, in.Rates)
	}
}

// Every error names the flag, or the line, that is to be changed.
func TestRefuses(t *testing.T) {
	t.Parallel()
	rates := file(t, "rates.yaml", "source: ours\nrates:\n- {component: gpu}\n- {component: gpu, mtbf_hours: -1}\n")
	three := file(t, "three.yaml", strings.Replace(llama2, "tp: 2", "tp: 3", 1))
	plain := file(t, "plain.yaml", "fabric: {kind: rail, hosts: 2, spines: 1}\n"+
		"workload: {traffic: {permutation: {bytes: 1MB}}}\n")
	for want, set := range map[string]func(*Question){
		"--gpus: is missing":                           func(q *Question) { q.GPUs = 0 },
		"--gpus: 63 are not a whole number of servers": func(q *Question) { q.GPUs = 63 },
		"--replica: is missing":                        func(q *Question) { q.Short = true },
		"--replica: 7 GPUs do not divide the 64":       func(q *Question) { q.Short, q.Replica = true, 7 },
		"--checkpoint: is missing":                     func(q *Question) { q.Checkpoint = "" },
		"--checkpoint: \"1 heap\"":                     func(q *Question) { q.Checkpoint = "1 heap" },
		"--checkpoint: must be more than nothing":      func(q *Question) { q.Checkpoint = "0B" },
		"--storage: \"fast\"":                          func(q *Question) { q.Storage = "fast" },
		"--storage: must be more than nothing":         func(q *Question) { q.Storage = "0bps" },
		"--storage: takes 11.6 days for a checkpoint":  func(q *Question) { q.Storage = "8Mbps" },
		"--step: is missing":                           func(q *Question) { q.Step = 0 },
		"--step: 1.5µs is finer than a microsecond":    func(q *Question) { q.Step = 1500 },
		"--snapshot: 1ns is finer":                     func(q *Question) { q.Snapshot = new(time.Duration(1)) },
		"--detect: 1ns is finer":                       func(q *Question) { q.Detect = new(time.Duration(1)) },
		"--step: a step of 5 days is not over in 5":    func(q *Question) { q.Step = 120 * time.Hour },
		"--estimate and --set need a scenario":         func(q *Question) { q.Estimate = true },
		"--seeds":                                      func(q *Question) { q.Seeds = 0 },
		rates + ":4:":                                  func(q *Question) { q.Rates = rates },
		"none.yaml: no such file":                      func(q *Question) { q.Scenario = "none.yaml" },
		three + ":5:":                                  func(q *Question) { q.Scenario = three },
		"which SCENARIO with a training?":              func(q *Question) { q.Scenario, q.Step = plain, 0 },
	} {
		q := flags()
		set(&q)
		if _, _, err := q.Input(unsimulated(t)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s: %v", want, err)
		}
	}
}

func TestBrief(t *testing.T) {
	t.Parallel()
	for s, want := range map[float64]string{0: "0 ms", 0.0015: "1.5 ms", 0.9999: "1.00 s", 1: "1 s", 119: "119 s",
		120: "2 min", 7140: "119 min", 7200: "2 h", 169200: "47 h", 172800: "2 days", 1e6: "11.6 days"} {
		if got := Brief(s); got != want {
			t.Errorf("%v s: %s, want %s", s, got, want)
		}
	}
}
