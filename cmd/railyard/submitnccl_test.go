package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const fourSite = "name: site\nfabric: {kind: rail, hosts: 2, segments: 1, spines: 2}\n" +
	"server: {gpus: 4, nics: 4}\nseed: 7\nworkload: {traffic: {alltoall: {bytes: 1MB}}}\n"

// benched is what a benchmark of two servers of four GPUs took, and how.
type benched struct {
	Time        float64 `json:"step_time_ps"`
	Packets     float64 `json:"data_packets"`
	Hops        float64 `json:"data_packet_hops"`
	Collectives []struct {
		Algorithm string `json:"algorithm"`
	} `json:"collectives"`
	text, said string
}

// benchScript submits an all-reduce with some variables of NCCL's.
func benchScript(t *testing.T, nodes int, env, size string) (b benched) {
	t.Helper()
	t.Chdir(t.TempDir())
	job := fmt.Sprintf("#!/bin/bash\n#SBATCH -N%d --ntasks-per-node=4 --gpus-per-node=4\nexport A=1 %s\n"+
		"srun all_reduce_perf -b %s -e %s\n", nodes, env, size, size)
	for name, text := range map[string]string{"site.yaml": fourSite, "job": job} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	code, out, errs := call(t, "submit", "job", "--cluster", "site.yaml", "--scenario", "job.yaml", "--out",
		"run")
	if code != 0 {
		t.Fatalf("%s: exit %d: %s", env, code, errs)
	}
	text, err := os.ReadFile("job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(filepath.Join("run", "summary.json"))
	if err == nil {
		err = json.Unmarshal(said, &b)
	}
	if err != nil || b.Time == 0 || len(b.Collectives) == 0 {
		t.Fatalf("%s: %v: %.500s", env, err, said)
	}
	b.text, b.said = string(text), strings.Join(strings.Fields(out), " ")
	return b
}

// NCCL's variables change a run as its guide says they change NCCL: rings and where they go, which NICs there
// are, pieces, and what the tuning model may take.
func TestSubmitNCCLChangesRuns(t *testing.T) {
	base := benchScript(t, 2, "NCCL_ALGO=Ring", "16M")
	if h := base.Hops / base.Packets; h != 2 {
		t.Fatalf("rings leave their rails: %.2f hops a packet", h)
	}
	for _, c := range []struct {
		env, key    string
		least, most float64 // times the time of the base
		hops        float64
	}{
		{"NCCL_CROSS_NIC=0", "algorithm: ring", 1, 1, 2},
		{"NCCL_CROSS_NIC=1", "channels: 4, cross_nic: true", 1.5, 4.5, 4},
		// over two spines, which are narrow
		{"NCCL_IB_HCA=mlx5_0:1,mlx5_1:1", "nics: 2", 1.8, 2.1, 2},
		{"NCCL_IB_HCA==mlx5_0", "nics: 1", 3.6, 4.1, 2},
		{"NCCL_IB_HCA=^mlx5_2,mlx5_3", "nics: 2", 1.8, 2.1, 2},
		{"NCCL_IB_HCA=mlx5", "nics: 4", 1, 1, 2},
		{"NCCL_IB_HCA=^mlx5_3", "nics: 4", 1, 1, 2},      // three NICs for four GPUs: said and left out
		{"NCCL_MAX_NCHANNELS=1", "channels: 1", 3, 6, 4}, // one ring, in the order of ranks
		{"NCCL_MAX_NCHANNELS=2", "channels: 2", 1.5, 3, 2},
		{"NCCL_MIN_NCHANNELS=8", "channels: 8", 0.9, 1.1, 2},
		{"NCCL_MIN_NCHANNELS=2", "algorithm: ring", 1, 1, 2}, // there are four
		{"NCCL_BUFFSIZE=131072", "chunk: 16384B", 1.002, 4, 2},
		{"NCCL_BUFFSIZE=32768", "chunk: 4096B", 1.02, 4, 2},
	} {
		got := benchScript(t, 2, "NCCL_ALGO=Ring "+c.env, "16M")
		if x := got.Time / base.Time; !strings.Contains(got.text, c.key) || x < c.least || x > c.most ||
			got.Hops/got.Packets != c.hops {
			t.Errorf("%s: %.3f times as long, %.2f hops a packet, in\n%s", c.env, x, got.Hops/got.Packets,
				got.text)
		}
	}
	for _, c := range []struct {
		nodes               int
		env, key, algorithm string
	}{
		{2, "", "algorithm: auto", "tree"},
		{2, "NCCL_ALGO=^Tree", "without: [tree]", "nvls-tree"},
		{2, "NCCL_ALGO=Ring,NVLS", "without: [tree, nvls-tree]", "ring"},
		{2, "NCCL_PROTO=^LL128", "without: [ll128]", "nvls-tree"},
		{2, "NCCL_MAX_NCHANNELS=2", "channels: 2", "ring"},
		{1, "", "algorithm: auto", "nvls"},
		{1, "NCCL_NVLS_ENABLE=0", "without: [nvls, nvls-tree]", "ring"},
	} {
		size := map[int]string{1: "256M", 2: "16M"}[c.nodes]
		got := benchScript(t, c.nodes, c.env, size)
		if !strings.Contains(got.text, c.key) || got.Collectives[0].Algorithm != c.algorithm {
			t.Errorf("%s on %d: %v in\n%s", c.env, c.nodes, got.Collectives, got.text)
		}
	}
	for env, want := range map[string]string{
		"NCCL_IB_HCA=^mlx5_3":    "would leave 3 NICs, which 4 GPUs do not divide over: left out",
		"NCCL_IB_HCA=,":          "is no list of names as mlx5_0,mlx5_1:1: left out",
		"NCCL_CROSS_NIC=3":       "is none of 0, 1 and 2: left out",
		"NCCL_BUFFSIZE=x":        "is no number of bytes from 8192 to 1073741824: left out",
		"NCCL_BUFFSIZE=4194304":  "without NCCL_ALGO=Ring it is left out",
		"NCCL_MIN_NCHANNELS=900": "is no number of channels from 1 to 64: left out",
		"NCCL_ALGO=^PAT":         "is left to NCCL's tuning model",
	} {
		if got := benchScript(t, 2, env, "64K"); !strings.Contains(got.said, want) {
			t.Errorf("%s: no %q in %s", env, want, got.said)
		}
	}
}

// A training's tensor and data parallel groups follow NCCL_ALGO and NCCL_NVLS_ENABLE.
func TestSubmitNCCLTrains(t *testing.T) {
	for env, want := range map[string]string{
		"NCCL_NVLS_ENABLE=0": "tp_algorithm: ring", "NCCL_ALGO=Tree": "dp_algorithm: tree",
		"NCCL_ALGO=^NVLS,NVLSTree": "tp_algorithm: ring",
	} {
		t.Chdir(t.TempDir())
		job := strings.Replace(tinyJob, "export NCCL", "export "+env+" NCCL", 1)
		for name, text := range map[string]string{"site.yaml": tinySite, "job": job} {
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		code, _, errs := call(t, "submit", "job", "--cluster", "site.yaml", "--scenario", "job.yaml",
			"--dry-run")
		text, err := os.ReadFile("job.yaml")
		if code != 0 || err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: exit %d, %v, %s%s", env, code, err, errs, text)
		}
	}
}
