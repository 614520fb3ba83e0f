package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/result"
)

// smallFabric is for a step of a small training: tensor and data parallel groups, pipeline stages.
const smallFabric = `
name: small
fabric: {kind: rail, hosts: 2, spines: 1}
server: {gpus: 8, nics: 8, gpu: h100}
`

const smallStep = `workload:
  training: {model: gpt3-125m, tp: 2, pp: 2, global_batch: 8}
`

// An exported workload, imported again on the same fabric, takes equal time: a step of a training to the
// microsecond as GOAL, whose times are nanoseconds; a collective in every format. The remaining difference is due
// to the numbers of operations, which order connections and simultaneous events.
func TestExportRunsTheSame(t *testing.T) {
	t.Chdir(t.TempDir())
	step := func(dir, text string) int64 {
		t.Helper()
		if err := os.WriteFile("s.yaml", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if code, _, errs := call(t, "run", "s.yaml", "--out", dir, "--force"); code != 0 {
			t.Fatalf("%s\n%s", errs, text)
		}
		s, err := result.ReadSummary(dir)
		if err != nil {
			t.Fatal(err)
		}
		return s.Step.StepTime
	}
	for _, c := range []struct {
		work    string
		formats []string
		within  float64 // share of the time
	}{
		{smallStep, []string{"goal", "goal-binary"}, 1e-3},
		{"workload: {traffic: {ring-allreduce: {bytes: 4MB}}}\n", []string{"goal", "goal-binary", "chakra",
			"htsim-cm",
			"simai"}, 2e-3},
	} {
		want := step("run", smallFabric+c.work)
		for _, format := range c.formats {
			out := filepath.Join("x", format)
			os.Mkdir("x", 0o755)
			if code, _, errs := call(t, "export", "run", "--as", format, "--out", out, "--force"); code != 0 {
				t.Fatalf("%s: %s", format, errs)
			}
			files, err := filepath.Glob(out + "*")
			if err != nil || format == "goal" && len(files) > 2 {
				t.Fatal(files, err)
			}
			if format == "goal" {
				files = []string{out}
			}
			ring := "" // SimAI's files do not contain the algorithm of a collective
			if format == "simai" {
				ring = ", algorithm: ring, protocol: none, channels: 1"
			}
			got := step("again", smallFabric+"workload: {trace: {format: "+format+ring+", files: "+
				"["+strings.Join(files, ", ")+"]}}\n")
			if d := float64(got-want) / float64(want); d > c.within || d < -c.within {
				t.Errorf("%s: %d ps, was %d", format, got, want)
			}
		}
	}
}

// Errors are reported with the flag, and written files as JSON.
func TestExportWords(t *testing.T) {
	t.Chdir(t.TempDir())
	text := smallFabric + "jobs:\n  a: {gpus: 8, traffic: {ring-allreduce: {bytes: 1MB}}}\n  b: {gpus: 8, " +
		"traffic: " +
		"{broadcast: {bytes: 1MB}}}\n"
	if err := os.WriteFile("two.yaml", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"two.yaml", "--as", "gaol"}, `--job: is missing: there are a, b`},
		{[]string{"two.yaml", "--as", "gaol", "--job", "a"},
			`--as: "gaol" is not written (did you mean "goal"?)`},
		{[]string{"two.yaml", "--as", "goal", "--job", "c"}, `--job: unknown job "c"`},
		{[]string{"two.yaml", "--as", "simai", "--job", "b"}, "two.yaml has a broadcast: SimAI's workloads " +
			"have"},
		{[]string{"two.yaml", "--as", "chakra", "--job", "a"}, "--out: is missing: chakra has 8 files"},
		{[]string{"none.yaml", "--as", "goal"}, "none.yaml"},
		{[]string{".", "--as", "goal"}, ". is not a run: "},
	} {
		if code, _, errs := call(t, append([]string{"export"}, c.args...)...); code != 2 ||
			!strings.Contains(errs, c.want) {
			t.Errorf("%v: %d %s\nwant %s", c.args, code, errs, c.want)
		}
	}
	code, out, errs := call(t, "export", "two.yaml", "--as", "chakra", "--job", "a", "--out", "et/a",
		"--json")
	var got exported
	if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil || len(got.Files) != 8 ||
		got.Ranks != 8 ||
		got.Files[3] != "et/a.3.et" || got.Mapped[0].N != 112 {
		t.Errorf("%d %v %+v %s", code, err, got, errs)
	}
	if code, out, _ := call(t, "export", "two.yaml", "--as", "goal", "--job", "a"); code != 0 ||
		!strings.HasPrefix(out, "num_ranks 8\n") {
		t.Errorf("%d %.40s", code, out)
	}
}

// A disk that is full is said once.
func TestExportToFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	code, _, errs := call(t, "export", scenarios(t)+"/lab-2x2.yaml", "--as", "goal", "--out", "/dev/full",
		"--force")
	if code != 1 || strings.Count(errs, "no space left") != 1 {
		t.Errorf("exit %d: %s", code, errs)
	}
}
