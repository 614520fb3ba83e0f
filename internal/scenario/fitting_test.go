package scenario_test

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/scenario"
	"railyard/internal/workload"
	"railyard/unit"
)

// by returns the bytes that leave each GPU for another server of eight.
func by(d *workload.DAG) string {
	out := make([]unit.Bytes, 16)
	for i := range d.Ops {
		if o := &d.Ops[i]; !o.Compute() && o.Rank/8 != o.Peer/8 {
			out[o.Rank] += o.Bytes
		}
	}
	return fmt.Sprint(out)
}

// A trace's collective leaves servers by the same NICs, with equal bytes, as the scenario's own collective with
// that algorithm. Values that the trace does not set are those of NCCL's tuning model.
func TestTracedCollectives(t *testing.T) {
	const head = "fabric: {kind: rail, hosts: 2, spines: 1}\nserver: {gpus: 8, nics: 8}\n"
	resolve := func(text string, files map[string]string) *scenario.Plan {
		t.Helper()
		d, err := scenario.Parse("x.yaml", []byte(head+text), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Resolve(texts(files))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	kernel := func(name string) map[string]string {
		return map[string]string{"t.json": `{"distributedInfo": {"rank": 0, "world_size": 16}, "traceEvents": [
			{"ph": "X", "cat": "kernel", "name": "gemm", "ts": 1, "dur": 9, "args": {"stream": 7}},
			{"ph": "X", "cat": "kernel", "name": "` + name + `", "ts": 10, "dur": 9, "args": {"stream": 20,
			"Collective name": "allreduce", "In msg nelems": 26214400, "Out msg nelems": 26214400,
			"Group size": 16, "dtype": "BFloat16", "Process Group Name": "0"}}]}`}
	}
	simai := map[string]string{"t.json": "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 ep: 1 pp: 1 " +
		"vpp: 1 ga: 1 all_gpus: 16 checkpoints: 0 checkpoint_initiates: 0\n1\n" +
		"a -1 1 NONE 0 2 NONE 0 4 ALLREDUCE 52428800 0\n"}
	for _, c := range []struct {
		files           map[string]string
		algorithm, says string
		set             string // equivalent settings of the scenario
	}{
		{kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)"), "ring, channels: 8", "8 channels over 8 NICs", ""},
		{kernel("ncclDevKernel_AllReduce_Sum_bf16_TREE_LL(x)"), "tree", "by the trace", ""},
		{kernel("ncclDevKernel_Generic(x)"), "auto", "NVLSTree (simple) over 8 NICs of each server, by NCCL's tuning", ""},
		{simai, "auto", "NVLSTree (simple) over 8 NICs of each server, by NCCL's tuning", ""},
		{simai, "ring, channels: 8", "rings (ll128) on 8 channels over 8 NICs of each server, by the scenario",
			", algorithm: ring"},
		{simai, "ring, channels: 1", "rings (ll128) on 1 channel over 1 NIC of", ", algorithm: ring, channels: 1"},
	} {
		got := resolve("workload: {trace: {files: [t.json]"+c.set+"}}\n", c.files)
		want := resolve("workload: {traffic: {collective: {bytes: 50MiB, protocol: auto, algorithm: "+c.algorithm+
			"}}}\n", nil)
		if a, b := by(got.Jobs[0].DAG), by(want.Jobs[0].DAG); a != b {
			t.Errorf("%s: %s\nwant %s", c.algorithm, a, b)
		}
		if s := strings.Join(got.Notes, "\n"); !strings.Contains(s, c.says) {
			t.Errorf("%s: %s", c.algorithm, s)
		}
	}
}

// TestCopies checks that ranks copy data sent with protocol LL at the rate of NCCL's kernels, 45 GB/s on two
// servers of H100, in scenarios and in traces, whoever selected LL. No other data are copied: 16 channels of LL128
// and 36.7 GB/s exceed NVLink.
func TestCopies(t *testing.T) {
	const head = "fabric: {kind: rail, hosts: 2, spines: 1}\nserver: {gpu: h100, gpus: 8, nics: 8}\nworkload: {"
	trace := texts(map[string]string{"t.json": `{"distributedInfo": {"rank": 0, "world_size": 16}, "traceEvents": [
		{"ph": "X", "cat": "kernel", "name": "gemm", "ts": 1, "dur": 9, "args": {"stream": 7}},
		{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_bf16_TREE_LL(x)", "ts": 10, "dur": 9,
		"args": {"stream": 20, "Collective name": "allreduce", "In msg nelems": 26214400,
		"Out msg nelems": 26214400, "Group size": 16, "dtype": "BFloat16", "Process Group Name": "0"}}]}`})
	for _, c := range []struct {
		workload string
		copies   bool
	}{
		{"traffic: {collective: {bytes: 45MB, algorithm: ring, protocol: ll}}", true},
		{"traffic: {collective: {bytes: 45MB, algorithm: tree, protocol: ll}}", true},
		{"traffic: {collective: {bytes: 4500B, algorithm: ring, protocol: auto}}", true},
		{"traffic: {collective: {kind: broadcast, bytes: 45MB, protocol: ll}}", true},
		{"traffic: {collective: {bytes: 45MB, algorithm: ring, protocol: ll128}}", false},
		{"traffic: {collective: {bytes: 45MB, algorithm: ring, protocol: simple}}", false},
		{"trace: {files: [t.json], algorithm: tree, protocol: ll}", true},
	} {
		d, err := scenario.Parse("x.yaml", []byte(head+c.workload+"}\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Resolve(trace)
		if err != nil {
			t.Fatal(err)
		}
		dag, copied := p.Jobs[0].DAG, 0
		for i := range dag.Ops {
			o := &dag.Ops[i]
			if !o.Copies() {
				continue
			}
			copied++
			sent := dag.Ops[dag.After(int32(i))[0]]
			want := unit.Time(float64(sent.Bytes) / 2 / 45e9 * float64(unit.Second)) // half of LL's bytes are flags
			off := o.Dur - want
			if sent.Compute() || sent.Rank != o.Rank || off < -unit.Nanosecond || off > unit.Nanosecond {
				t.Fatalf("%s: %+v before %+v, want %v", c.workload, *o, sent, want)
			}
		}
		if (copied > 0) != c.copies {
			t.Errorf("%s: %d copies", c.workload, copied)
		}
	}
}
