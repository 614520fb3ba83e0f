package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"railyard/internal/planner"
	"railyard/internal/result"
	"railyard/unit"

	"github.com/parquet-go/parquet-go"
)

func TestPlanSize(t *testing.T) {
	code, out, _ := call(t, "plan", "size", "--table", "all", "--json")
	var tables map[string][]struct{ GPUs, Published int64 }
	if err := json.Unmarshal([]byte(strings.ReplaceAll(out, "published_gpus", "published")),
		&tables); err != nil || code != exitOK || len(tables) != 3 {
		t.Fatalf("exit %d, %v", code, err)
	}
	for n, rows := range tables {
		for i, r := range rows {
			if r.GPUs != r.Published || r.GPUs == 0 {
				t.Errorf("table %s row %d: %d GPUs, published %d", n, i+1, r.GPUs, r.Published)
			}
		}
	}
	if code, out, _ := call(t, "plan", "size", "gpt3-175b", "--tokens", "300B", "--recompute", "--gpu",
		"a100", "--tflops", "140", "--utilisation", "100", "--gpus", "1024"); code != exitOK ||
		!strings.Contains(out, "33.8") {
		t.Errorf("exit %d: %s", code, out) // Megatron's 34 days
	}
}

func TestPlanMemory(t *testing.T) {
	if code, out, _ := call(t, "plan", "memory", "--states", "1.5T", "--efficiency", "75"); code != exitOK ||
		!strings.Contains(out, "375 H100") ||
		!strings.Contains(out, "the 85.5 GB that each one's driver reports") {
		t.Errorf("exit %d: %s", code, out)
	}
	if code, out, _ := call(t, "plan", "memory", "--weights", "405B"); code != exitOK ||
		!strings.Contains(out, "10 H100") || !strings.Contains(out, "= 810 GB of weights") {
		t.Errorf("exit %d: %s", code, out)
	}
	if code, out, _ := call(t, "plan", "memory", "gpt3-175b"); code != exitFailed ||
		!strings.Contains(out, "Does not fit") {
		t.Errorf("exit %d: %s", code, out)
	}
	code, out, _ := call(t, "plan", "memory", "gpt3-175b", "--tp", "8", "--pp", "8", "--json")
	var got struct {
		Stages []any
		Fits   bool
		GPUs   int
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != exitOK || len(got.Stages) != 8 ||
		!got.Fits || got.GPUs != 64 {
		t.Errorf("exit %d, %v: %+v", code, err, got)
	}
}

func TestPlanBadInput(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "config.json")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const llama = `{"model_type":"llama","hidden_size":4096,"num_hidden_layers":32,
  "num_attention_heads":32,"intermediate_size":11008,"vocab_size":32000}`
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"unknown GPU": {[]string{"size", "--params", "1B", "--tokens", "1B", "--weeks", "1", "--gpu",
			"h900"},
			`--gpu: unknown GPU "h900" (did you mean "h100"?); accepted: h100, `},
		"unknown model": {[]string{"size", "llama-9", "--tokens", "1B", "--weeks", "1"},
			`unknown model "llama-9"`},
		"no such file": {[]string{"memory", "nope/config.json"}, "no such file"},
		"no count": {[]string{"size", "--params", "many", "--tokens", "1B", "--weeks", "1"},
			"write a count from 1"},
		"negative": {[]string{"size", "--params=-1B", "--tokens", "1B", "--weeks", "1"},
			"write a count from 1"},
		"no question": {[]string{"size", "--params", "1B", "--tokens", "1B"}, "give --days or --weeks"},
		"both": {[]string{"size", "--params", "1B", "--tokens", "1B", "--weeks", "1", "--gpus",
			"4"}, "--weeks: has no effect with --gpus"},
		"utilisation": {[]string{"size", "--params", "1B", "--tokens", "1B", "--weeks", "1",
			"--utilisation", "140"}, "--utilisation: 140 is out of range 0.1–100"},
		"a100 has no fp8": {[]string{"size", "--params", "1B", "--tokens", "1B", "--weeks", "1", "--gpu",
			"a100", "--precision", "fp8"}, "a100 has no fp8"},
		"negative price": {[]string{"size", "--params", "1B", "--tokens", "1B", "--weeks", "1",
			"--price-kwh=-1"}, "--price-kwh: -1 is out of range 0–1000000"},
		"does not divide": {[]string{"memory", "gpt3-175b", "--tp", "7"},
			"tp: 7 does not divide the 96 attention heads"},
		"not JSON": {[]string{"memory", file("hello")}, "is not a model config.json"},
		"strings": {[]string{"memory", file(strings.Replace(llama, "4096", `"4096"`, 1))},
			"is not a model config.json"},
		"zero heads": {[]string{"memory", file(strings.Replace(llama, `heads":32`, `heads":0`, 1))},
			"is out of range 1–"},
		"10^12 layers": {[]string{"memory",
			file(strings.Replace(llama, `layers":32`, `layers":1000000000000`, 1))},
			"is out of range 1–10000"},
		"missing keys": {[]string{"memory", file(`{"model_type":"llama"}`)},
			"is out of range 1–"},
		"unknown type": {[]string{"memory", file(`{"model_type":"tree"}`)},
			`model_type: "tree" is not understood`},
		"experts half said": {[]string{"memory",
			file(strings.Replace(llama, "{", `{"num_local_experts":8,`, 1))}, "model_type llama has none"},
		"a binary": {[]string{"memory", file("\x00\x01\x02")}, "is not a model config.json"},
		"endless sequence": {[]string{"memory", "gpt3-175b", "--sequence", "99999999999"},
			"is out of range 1–"},
	} {
		code, _, err := call(t, append([]string{"plan"}, c.args...)...)
		if code != exitInput || !strings.Contains(err, c.want) || strings.Count(err, "\n") != 1 {
			t.Errorf("%s: exit %d: %s, want %q", name, code, err, c.want)
		}
	}
}

// Scenarios of plan fabric are accepted, have the requested GPUs, and the small ones run.
func TestPlanFabricScenarios(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		gpus string
	}{
		{[]string{"--gpus", "64"}, "64"},
		{[]string{"--gpus", "128", "--switch", "64x400G"}, "128"},
		{[]string{"--gpus", "1024", "--oversubscription", "2:1", "--nic-ports", "2"}, "1024"},
	} {
		out := filepath.Join(dir, c.gpus)
		if code, _, err := call(t, append([]string{"plan", "fabric", "--out", out},
			c.args...)...); code != exitOK {
			t.Fatal(err)
		}
		files, _ := filepath.Glob(out + "/*.yaml")
		if len(files) < 4 {
			t.Errorf("%s GPUs: %d scenarios", c.gpus, len(files))
		}
		for _, f := range files {
			code, text, err := call(t, "topo", f, "--json")
			var inv struct{ GPUs, NICs int }
			if code != exitOK || json.Unmarshal([]byte(text), &inv) != nil || inv.GPUs < 64 {
				t.Errorf("%s: exit %d: %s %+v", f, code, err, inv)
			}
			if c.gpus == "64" {
				if code, _, err := call(t, "run", f, "--out", filepath.Join(dir, "run"),
					"--force"); code != exitOK {
					t.Errorf("%s does not run: %s", f, err)
				}
			}
		}
		if code, _, err := call(t, append([]string{"plan", "fabric", "--out", out},
			c.args...)...); code != exitInput || !strings.Contains(err, "--force") {
			t.Errorf("written over: exit %d %s", code, err)
		}
	}
	prices := filepath.Join(dir, "prices.json")
	_, text, _ := call(t, "plan", "fabric", "--prices-example")
	os.WriteFile(prices, []byte(strings.Replace(text, `"price": 20000`, `"price": -20000`, 1)), 0o644)
	for want, args := range map[string][]string{
		"--gpus: is missing": {}, "is not a switch": {"--gpus", "64", "--switch", "many"},
		"is not an oversubscription": {"--gpus", "64", "--oversubscription", "1:7"},
		"price and watts 0–1e9":      {"--gpus", "64", "--prices", prices},
		"is out of range 1–":         {"--gpus=-5"},
		"do not fit ports of 128x400G; accepted: a faster switch (--switch), slower NICs (--nic)": {"--gpus", "64",
			"--nic", "800"},
		"with 1 port of 400 Gbit/s do not fit ports of 512x200G; accepted: a faster switch (--switch)": {"--gpus",
			"4608", "--gpu", "gb200", "--server", "4", "--switch", "512x200G"},
		"do not fit ports of 64x200G; accepted: a faster switch (--top-switch)": {"--gpus", "64", "--switch",
			"64x400G", "--top-switch", "64x200G"},
		"--nic: no port has 5 Gbit/s": {"--gpus", "64", "--nic", "5"},
	} {
		if code, _, err := call(t, append([]string{"plan", "fabric"}, args...)...); code != exitInput ||
			!strings.Contains(err, want) {
			t.Errorf("%v: exit %d: %s, want %q", args, code, err, want)
		}
	}
}

func TestPlanTraffic(t *testing.T) {
	dir := t.TempDir()
	code, out, errs := call(t, "plan", "traffic", "../../scenarios/gpt13b-128.yaml", "--plot", dir+"/t.png",
		"--parquet", dir+"/t.parquet", "--json")
	var got struct {
		Ranks, Pairs int
		Silent       float64 `json:"silent_share"`
		Kinds        map[string]struct{ Bytes int64 }
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != exitOK || got.Ranks != 128 ||
		got.Silent < 0.98 || got.Kinds["tensor"].Bytes == 0 {
		t.Fatalf("exit %d, %v %s: %+v", code, err, errs, got)
	}
	rows, err := parquet.ReadFile[planner.TrafficRow](dir + "/t.parquet")
	var tensor int64
	for _, r := range rows {
		tensor += r.Tensor
	}
	if err != nil || len(rows) != got.Pairs || tensor != got.Kinds["tensor"].Bytes {
		t.Errorf("%v: %d rows with %d bytes of tensor parallel traffic", err, len(rows), tensor)
	}
	if png, err := os.ReadFile(dir + "/t.png"); err != nil || !strings.HasPrefix(string(png), "\x89PNG") ||
		len(png) < 10_000 {
		t.Errorf("no plot: %v", err)
	}
	for want, args := range map[string][]string{
		"exists":              {"--plot", dir + "/t.png"},
		"writes .png or .svg": {"--plot", dir + "/t.gif"},
	} {
		if code, _, err := call(t, append([]string{"plan", "traffic", "../../scenarios/three-flows.yaml"},
			args...)...); code != exitInput || !strings.Contains(err, want) {
			t.Errorf("exit %d: %s, want %q", code, err, want)
		}
	}
	if code, _, err := call(t, "plan", "traffic", "../../scenarios/three-flows.yaml", "--plot",
		dir+"/f.svg"); code != exitOK {
		t.Errorf("a scenario without training: exit %d: %s", code, err)
	}
}

func TestPlanSearch(t *testing.T) {
	scenario := filepath.Join(t.TempDir(), "small.yaml")
	os.WriteFile(scenario,
		[]byte("name: small\nfabric: {kind: rail, hosts: 2, spines: 2, host_link: {rate: 400Gbps, cable: "+
			"3m}}\nworkload: {traffic: {permutation: {bytes: 1MB}}}\n"), 0o644)
	code, out, errs := call(t, "plan", "search", "gpt3-125m", "--fabric", scenario, "--global-batch", "16",
		"--simulate", "2", "--json")
	var got struct {
		Tried, Feasible int
		Candidates      []struct {
			Seconds float64 `json:"step_seconds"`
		}
		Rejected  []struct{ Count int }
		Simulated []struct {
			Seconds float64 `json:"step_seconds"`
			Skipped string
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != exitOK || len(got.Candidates) != 10 ||
		len(got.Simulated) != 2 || len(got.Rejected) == 0 {
		t.Fatalf("exit %d, %v %s %+v", code, err, errs, got)
	}
	for _, s := range got.Simulated {
		if s.Skipped != "" || s.Seconds <= 0 {
			t.Errorf("%+v", s)
		}
	}
	best, dir := scenario+".best", filepath.Join(t.TempDir(), "run")
	_, out, _ = call(t, "plan", "search", "gpt3-125m", "--fabric", scenario, "--global-batch", "16", "--simulate", "1",
		"--out", best)
	if code, ran, errs := call(t, "run", best, "--out", dir); code != exitOK ||
		!strings.Contains(out, "Next: railyard run "+best) {
		t.Errorf("exit %d, %s%s%s", code, out, ran, errs)
	} else if s, err := result.ReadSummary(dir); err != nil ||
		unit.Time(s.StepTime).Seconds() != got.Simulated[0].Seconds {
		t.Errorf("%v: the step that is written takes %d ps, simulated %g s", err, s.StepTime, got.Simulated[0].Seconds)
	}
	if want := "Simulated, packet level: 1 of 1,974 feasible"; got.Feasible != 1974 || !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
	for want, args := range map[string][]string{
		"unknown model": {"llama-9", "--fabric", scenario}, "the fabric of": {"llama-2-7b", "--fabric",
			scenario, "--gpus", "4096"},
		"is out of range": {"llama-2-7b", "--fabric", scenario, "--top", "0"},
		"no such file":    {"llama-2-7b", "--fabric", "nope.yaml"}, "efficiency": {"llama-2-7b", "--fabric",
			scenario, "--efficiency", "0"},
	} {
		if code, _, err := call(t, append([]string{"plan", "search"}, args...)...); code != exitInput ||
			!strings.Contains(err, want) {
			t.Errorf("exit %d: %s, want %q", code, err, want)
		}
	}
	if code, _, _ := call(t, "plan", "search", "llama-3.1-405b", "--fabric", scenario, "--simulate",
		"0"); code != exitFailed {
		t.Errorf("405 billion parameters on 16 GPUs: exit %d", code)
	}
}

// A fabric larger than the maximum of a whole simulation is reduced to a slice. The output names the slice, whose
// step is near the cost model's; the scenario's own workload is irrelevant.
func TestPlanSearchSlice(t *testing.T) {
	const built = "fabric: {kind: rail, hosts: 32, segments: 8, spines: 8, " +
		"host_link: {rate: 400Gbps, cable: 3m}}"
	const described = `
fabric:
  types: {host: {gpus: 8, nics: 8, nic_rate: 400Gbps}, leaf: {role: rail}, spine: {role: spine}}
  nodes:
    host: {type: host, per: {segment: 8}, count: 32}
    leaf: {type: leaf, per: {segment: 8, rail: 8}}
    spine: {type: spine, count: 8}
  cables:
    - {from: host, to: leaf, same: segment, match: {rail: nic}, length: 3m}
    - {from: leaf, to: spine, count: 4, length: 30m}
  fabric_link: {rate: 400Gbps}`
	type simulated struct {
		Seconds  float64 `json:"step_seconds"`
		Estimate float64 `json:"estimated_seconds"`
		Slice    string
		Skipped  string
		Packets  int64
	}
	search := func(fabric string) (ran []simulated) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "large.yaml")
		text := fabric + "\nworkload: {training: {model: llama-2-7b, tp: 8, dp: 256}}\n"
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		code, out, errs := call(t, "plan", "search", "llama-3.1-8b", "--fabric", path, "--global-batch",
			"2048", "--simulate", "1", "--packets", "2e6", "--json")
		var got struct{ Simulated []simulated }
		if err := json.Unmarshal([]byte(out), &got); err != nil || code != exitOK || len(got.Simulated) == 0 {
			t.Fatalf("exit %d, %v %s", code, err, errs)
		}
		for _, s := range got.Simulated {
			if s.Skipped == "" {
				ran = append(ran, s)
			}
		}
		return ran
	}
	ran := search(built)
	for _, s := range ran {
		if !strings.Contains(s.Slice, "replicas") || s.Packets > 10e6 || s.Seconds < 0.7*s.Estimate ||
			s.Seconds > 1.5*s.Estimate {
			t.Errorf("%+v", s)
		}
	}
	if len(ran) == 0 {
		t.Error("nothing ran")
	}
	// Described by types, nodes and cables the fabric and the slice are equal.
	if again := search(described); !slices.Equal(again, ran) {
		t.Errorf("%+v, built of rails %+v", again, ran)
	}
}

func TestPlanCollective(t *testing.T) {
	const pod = "../../scenarios/gpt13b-128.yaml"
	code, out, errs := call(t, "plan", "collective", pod, "--set", "fabric.hosts=2", "--sizes",
		"64KiB,1MiB", "--json")
	var rows []struct {
		Bytes int64
		Model []struct{ Algorithm string } `json:"nccl_model"`
		Runs  []struct {
			Algorithm, Skipped string
			BusBW              float64 `json:"busbw_gbytes_s"`
		} `json:"simulated"`
	}
	if err := json.Unmarshal([]byte(out), &rows); err != nil || code != exitOK || len(rows) != 2 {
		t.Fatalf("exit %d, %v %s", code, err, errs)
	}
	for _, r := range rows {
		if len(r.Model) != 7 || len(r.Runs) != 5 {
			t.Errorf("%+v", r)
		}
		for _, x := range r.Runs {
			// Two servers: a tree or a hierarchy sends every byte over the NICs once in each direction.
			if x.Skipped != "" || x.BusBW <= 0 || x.BusBW > 2*400 {
				t.Errorf("%+v", x)
			}
		}
	}
	if code, out, _ := call(t, "plan", "collective", pod, "--set", "fabric.hosts=2", "--kind", "all-to-all",
		"--sizes", "1MiB"); code != exitOK || !strings.Contains(out, "pxn") {
		t.Errorf("exit %d: %s", code, out)
	}
	for _, own := range []string{"collective: {kind: all-to-all, algorithm: pxn, bytes: 1MiB}", "alltoall: {bytes: 1MiB}"} {
		path := filepath.Join(t.TempDir(), "moe.yaml")
		if err := os.WriteFile(path, []byte("name: moe\nfabric: {kind: rail, hosts: 2, spines: 1}\nserver: {gpus: 2, nics: 2}\n"+
			"workload: {traffic: {"+own+"}}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, out, errs := call(t, "plan", "collective", path, "--sizes", "64KiB"); code != exitOK ||
			!strings.HasPrefix(out, "all-to-all: fastest simulated ") {
			t.Errorf("%s: exit %d: %s%s", own, code, out, errs)
		}
	}
	for want, args := range map[string][]string{
		"is not a collective": {"--kind", "gossip"}, "runs no all-gather": {"--kind", "all-gather",
			"--algorithms", "tree"}, "--sizes": {"--sizes", "-1MB"}, "unknown value": {"--groups", "some"},
		"nothing to print: the tuning model contains all-reduce": {"--kind", "broadcast", "--no-simulate"},
		"nothing to print: NCCL's tuning model has NVIDIA's":     {"--set", "server.gpu=mi300x", "--no-simulate"},
	} {
		if code, _, err := call(t, append([]string{"plan", "collective", pod},
			args...)...); code != exitInput || !strings.Contains(err, want) {
			t.Errorf("exit %d: %s, want %q", code, err, want)
		}
	}
}

// TestCollectiveRun checks that run simulates the result of plan collective, with the block in its note.
func TestCollectiveRun(t *testing.T) {
	const fabric = "fabric: {kind: rail, hosts: 2, spines: 2, host_link: {rate: 400Gbps}}\nserver: {gpu: h100, gpus: 8, nics: 8}\n"
	path, dir := filepath.Join(t.TempDir(), "fabric.yaml"), filepath.Join(t.TempDir(), "run")
	os.WriteFile(path, []byte(fabric), 0o600)
	var rows []struct {
		Simulated []struct{ Microseconds float64 }
	}
	args := []string{"plan", "collective", path, "--sizes", "4MiB", "--algorithms", "ring"}
	_, out, _ := call(t, append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		t.Fatal(err, out)
	}
	_, out, _ = call(t, args...)
	_, block, _ := strings.Cut(strings.Join(strings.Fields(out), " "), " with collective: {")
	block, _, ok := strings.Cut(block, "}")
	os.WriteFile(path, []byte(fabric+"workload: {traffic: {collective: {"+block+"}}}\n"), 0o600)
	if code, ran, errs := call(t, "run", path, "--out", dir); !ok || code != exitOK {
		t.Fatal(out, ran, errs)
	}
	if s, err := result.ReadSummary(dir); err != nil ||
		unit.Time(s.StepTime).Micros() != rows[0].Simulated[0].Microseconds {
		t.Errorf("%v: run takes %d ps, plan collective prints %v µs", err, s.StepTime, rows[0].Simulated[0].Microseconds)
	}
}
