package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/model"
)

// TestLowestZeRO lays a model out as a framework without stage 0 does, if no stage is set. A set stage that the
// framework lacks is rejected.
func TestLowestZeRO(t *testing.T) {
	net := filepath.Join(scenarios(t), "pod64-llama2-7b.yaml")
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"memory llama-3.1-8b --dp 8 --software torchtitan", "ZeRO2", exitOK},
		{"memory llama-3.1-8b --dp 8 --software torchtitan --zero 3", "ZeRO3", exitOK},
		{"memory llama-3.1-8b --dp 8 --software torchtitan --zero 0", "--zero: torchtitan does not have stage 0", exitInput},
		{"score llama-3.1-8b --global-batch 64 --software torchtitan --fabric " + net, "ZeRO2", exitOK},
		{"score llama-3.1-8b --global-batch 64 --software torchtitan --zero 0 --fabric " + net,
			"--zero: torchtitan does not have stage 0", exitInput},
	} {
		code, out, errs := call(t, append([]string{"plan"}, strings.Fields(c.args)...)...)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%s: exit %d, %s%s", c.args, code, out, errs)
		}
	}
}

// TestOneLimit states by memory and by score whether a job fits: in words, in JSON and by the exit code. Of the GPU's
// memory 90 % may be filled. The first job takes 80.0 GB of an H100's 85.5.
func TestOneLimit(t *testing.T) {
	net := filepath.Join(scenarios(t), "pod64-llama2-7b.yaml")
	for _, c := range []struct {
		zero, word string
		fits       bool
		code       int
	}{{"1", "oes not fit", false, exitFailed}, {"3", "its", true, exitOK}} {
		for _, args := range []string{
			"score llama-3.1-8b --fabric " + net + " --gpus 32 --sequence 8192 --global-batch 32 --zero " + c.zero,
			"memory llama-3.1-8b --dp 32 --sequence 8192 --microbatches 1 --zero " + c.zero} {
			code, out, errs := call(t, append([]string{"plan"}, strings.Fields(args)...)...)
			if code != c.code || !strings.Contains(out, c.word) || !strings.Contains(out, "90 % may be filled") {
				t.Errorf("%s: exit %d, %s%s", args, code, out, errs)
			}
			code, out, _ = call(t, append([]string{"plan"}, strings.Fields(args+" --json")...)...)
			got := struct {
				Fits  bool    `json:"fits"`
				GPU   float64 `json:"gpu_memory_bytes"`
				Limit float64 `json:"limit_bytes"`
			}{Fits: !c.fits}
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			if code != c.code || got.Fits != c.fits || got.Limit < 0.8999*got.GPU || got.Limit > 0.9*got.GPU {
				t.Errorf("%s: exit %d, %+v", args, code, got)
			}
		}
	}
}

// TestOneSize prints one memory size of each GPU, with a model and without: the one that its driver reports.
func TestOneSize(t *testing.T) {
	for _, gpu := range model.GPUNames() {
		sizes := map[float64]bool{}
		for _, args := range []string{"gpt3-13b", "--states 405B", "--weights 405B"} {
			_, out, _ := call(t, append([]string{"plan", "memory", "--json", "--gpu", gpu}, strings.Fields(args)...)...)
			var got struct {
				GPU float64 `json:"gpu_memory_bytes"`
			}
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			sizes[got.GPU] = true
		}
		if len(sizes) != 1 || !sizes[float64(model.GPUs[gpu].Usable)] {
			t.Errorf("%s: %v", gpu, sizes)
		}
	}
}

// TestSequenceParallel estimates the memory of one layout by score and by memory. Both assume sequence parallelism
// and print it, and both omit it with the same flag.
func TestSequenceParallel(t *testing.T) {
	net := filepath.Join(scenarios(t), "pod64-llama2-7b.yaml")
	most := map[string]float64{}
	for _, flag := range []string{"", " --no-sequence-parallel"} {
		var takes []float64
		for _, args := range []string{"score llama-3.1-8b --tp 4 --global-batch 64 --fabric " + net,
			"memory llama-3.1-8b --tp 4 --dp 16 --microbatches 4"} {
			args += flag
			_, out, errs := call(t, append([]string{"plan"}, strings.Fields(args)...)...)
			if strings.Contains(out, "With sequence parallelism") != (flag == "") {
				t.Errorf("%s:\n%s%s", args, out, errs)
			}
			_, out, _ = call(t, append([]string{"plan"}, strings.Fields(args+" --json")...)...)
			var got struct {
				Score  float64 `json:"memory_bytes"`
				Memory float64 `json:"worst_bytes"`
			}
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			takes = append(takes, got.Score+got.Memory)
		}
		if most[flag] = takes[0]; takes[0] != takes[1] || takes[0] == 0 {
			t.Errorf("score and memory%s: %.0f and %.0f bytes", flag, takes[0], takes[1])
		}
	}
	if most[""] >= most[" --no-sequence-parallel"] {
		t.Errorf("bytes with and without: %v", most)
	}
}
