package collectives

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"railyard/internal/coll"
	"railyard/internal/long"
	"railyard/internal/scenariofile"
	"railyard/internal/study"
	"railyard/unit"
)

// A ring all-reduce over one switch: the bus bandwidth stays below the NICs' and approaches it with size. Without
// simulation, NCCL's model alone answers. One worker and several have equal results.
func TestRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	const text = "name: a\nfabric: {kind: rail-only, hosts: 4, host_link: {rate: 400Gbps}}\nserver: {gpus: 1, nics: 1}\n" +
		"cc: {algorithm: none}\nworkload: {traffic: {permutation: {bytes: 1MB}}}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	plan, err := scenariofile.Plan(path, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	sizes := []unit.Bytes{64 * unit.KiB, 64 * unit.MiB}
	var before []Row
	for _, workers := range []int{1, 3} {
		s := Study{Fabric: path, Groups: "all", Pool: &study.Pool{Workers: workers}}
		rows, err := s.Rows(context.Background(), plan, coll.AllReduce, sizes, []string{"ring"}, true)
		if err != nil || len(rows) != 2 {
			t.Fatalf("%+v, %v", rows, err)
		}
		for i, r := range rows {
			if unit.Bytes(r.Bytes) != sizes[i] || len(r.Runs) != 1 || r.Runs[0].Micros <= 0 || r.Runs[0].BusBW >= 50 {
				t.Errorf("%+v", r)
			}
			if before != nil && r.Runs[0] != before[i].Runs[0] {
				t.Errorf("%d workers: %+v, one: %+v", workers, r.Runs[0], before[i].Runs[0])
			}
		}
		if large := rows[1].Runs[0].BusBW; large < 0.95*50*0.98 || rows[0].Runs[0].BusBW >= large {
			t.Errorf("64 KiB %v GB/s, 64 MiB %v", rows[0].Runs[0].BusBW, large)
		}
		before = rows
	}
	s := Study{Fabric: path, Groups: "all", Pool: &study.Pool{}}
	rows, err := s.Rows(context.Background(), plan, coll.AllReduce, sizes[:1], []string{"ring"}, false)
	if err != nil || len(rows) != 1 || len(rows[0].Runs) != 0 || len(rows[0].Model) == 0 {
		t.Errorf("%+v, %v", rows, err)
	}
}

// A large broadcast takes its bytes over the bus bandwidth: NVLink's 371 GB/s (450 at the share of NCCL's kernels).
// This also holds if servers with as many NICs as GPUs, 8 of 50 GB/s, share it. A chain over one NIC would take
// eight times as long.
func TestBroadcastBandwidth(t *testing.T) {
	for _, hosts := range []string{"1", "2", "4"} {
		path := filepath.Join(t.TempDir(), "a.yaml")
		text := "name: a\nfabric: {kind: rail, hosts: " + hosts + ", spines: 1, host_link: {rate: 400Gbps}}\n" +
			"server: {gpus: 8, nics: 8}\ncc: {algorithm: none}\nworkload: {traffic: {permutation: {bytes: 1MB}}}\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		plan, err := scenariofile.Plan(path, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := Study{Fabric: path, Groups: "all", Pool: &study.Pool{Workers: 2}}
		rows, err := s.Rows(context.Background(), plan, coll.Bcast, []unit.Bytes{512 * unit.MiB},
			[]string{"chain"}, true)
		if err != nil || rows[0].Runs[0].BusBW < 0.85*371 || rows[0].Runs[0].BusBW > 372 {
			t.Errorf("%s hosts: %+v, %v", hosts, rows, err)
		}
	}
}

// TestLL simulates all-reduces with protocol LL by packets and flows. They take the time of NCCL's tuning model,
// whose kernels copy 45 GB/s on two servers of H100 and 35 GB/s on more, for any NICs and NVLink.
func TestLL(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	const text = "name: a\nfabric: {kind: rail, hosts: 2, spines: 4, host_link: {rate: 400Gbps}}\n" +
		"server: {gpu: h100, gpus: 8, nics: 8}\ntransport: {mtu: 4096}\n" +
		"workload: {traffic: {permutation: {bytes: 1MB}}}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, set := range [][]string{{"fabric.hosts=2", "fidelity=flow"}, {"fabric.hosts=2", "fidelity=packet"},
		{"fabric.hosts=8", "fidelity=flow"}} {
		s := Study{Fabric: path, Set: set, Groups: "all", Pool: &study.Pool{}}
		plan, err := scenariofile.Plan(path, set, nil)
		if err != nil {
			t.Fatal(err)
		}
		model, err := s.Tuned(plan, coll.AllReduce, 64*unit.MiB)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range model {
			if c.Protocol != coll.LL {
				continue
			}
			got, err := s.simulated(context.Background(), plan.Rings(), coll.AllReduce, c.Algorithm, 64*unit.MiB,
				[]coll.Choice{c})
			if err != nil || math.Abs(got.Micros/c.Micros-1) > 0.1 {
				t.Errorf("%v, %s: %.0f us, NCCL's model has %.0f, %v", set, c.Algorithm, got.Micros, c.Micros, err)
			}
		}
	}
}

// TestTimesGrow doubles collectives from 1 KiB to 8 GiB, with the algorithm and protocol of NCCL's choice. Neither the
// simulated time nor that of NCCL's model falls.
func TestTimesGrow(t *testing.T) {
	for _, nodes := range []int{2, 4, 16} {
		for _, kind := range []coll.Kind{coll.AllReduce, coll.AllGather, coll.ReduceScatter} {
			largest := 8 * unit.GiB
			if nodes == 16 && !long.On() { // 128 GPUs
				largest = unit.MiB
			}
			was, wasModel := 0.0, 0.0
			for b := unit.KiB; b <= largest; b *= 2 {
				text := fmt.Sprintf("name: a\nfabric: {kind: rail-only, hosts: %d, host_link: {rate: 400Gbps}}\n"+
					"server: {gpu: h100, gpus: 8, nics: 8}\nfidelity: %s\nworkload: {traffic: {collective: {kind: %v, "+
					"bytes: %dB, algorithm: auto, protocol: auto}}}\n", nodes, fidelityOf(nodes, b), kind, b)
				path := filepath.Join(t.TempDir(), "a.yaml")
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				plan, err := scenariofile.Plan(path, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				s, _, err := new(study.Pool).Whole(context.Background(), "", plan)
				if err != nil {
					t.Fatal(err)
				}
				us, model := float64(s.StepTime)/1e6, plan.Modelled.Micros
				if us < was || model < wasModel {
					t.Errorf("%v of %v on %d servers: %.1f us after %.1f, model %.1f us after %.1f", kind, b, nodes, us, was,
						model, wasModel)
				}
				was, wasModel = us, model
			}
		}
	}
}

// fidelityOf is packets for what takes a second by them.
func fidelityOf(nodes int, b unit.Bytes) string {
	if b > 16*unit.MiB/unit.Bytes(nodes) {
		return "flow"
	}
	return "packet"
}
