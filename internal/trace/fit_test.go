package trace

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"railyard/internal/coll"
	"railyard/internal/workload"
	"railyard/unit"
)

// leaving returns how many bytes each rank sends to other servers, which have per ranks each.
func leaving(d *workload.DAG, per int) map[int32]unit.Bytes {
	out := map[int32]unit.Bytes{}
	for i := range d.Ops {
		if o := &d.Ops[i]; !o.Compute() && int(o.Rank)/per != int(o.Peer)/per {
			out[o.Rank] += o.Bytes
		}
	}
	return out
}

// logged is a log of NCCL in which all of n ranks call once.
func logged(n int, call string, more ...string) string {
	var b strings.Builder
	for r := range n {
		fmt.Fprintf(&b, "a:%d:1 [%d] NCCL INFO comm 0x%x rank %d nranks %d commId 0x7 - Init COMPLETE\n", r, r, r+1,
			r, n)
	}
	for _, line := range more {
		fmt.Fprintf(&b, "a:0:1 [0] NCCL INFO %s\n", line)
	}
	for r := range n {
		fmt.Fprintf(&b, "a:%d:1 [%d] NCCL INFO %s: opCount 0 count 1048576 datatype 1 op 0 root 1 comm 0x%x "+
			"[nranks=%d] stream 0x5\n", r, r, call, r+1, n)
	}
	return b.String()
}

// On a fabric whose servers have a NIC for each GPU, every collective leaves a server equally by all NICs: the
// bytes of one ring, divided among them.
func TestAllNICs(t *testing.T) {
	const per, n = 4, 12
	fabric := func(r Run, _ []int) Run {
		r.Servers, r.PerServer, r.Channels, r.By = coll.Even(per), per, per, "the test"
		return r
	}
	whole := unit.Bytes(1 << 20)
	for call, want := range map[string]unit.Bytes{ // bytes leaving a server, by all NICs
		"AllReduce": 2 * whole * (n - 1) / n, "AllGather": whole * (n - 1), "ReduceScatter": whole * (n - 1),
		"Broadcast": whole, "Reduce": whole} {
		for _, lean := range []bool{false, true} {
			if lean && (call == "Broadcast" || call == "Reduce") {
				continue
			}
			c := Options{On: fabric}
			x, err := c.Read(File{"log", []byte(logged(n, call))})
			if lean {
				x, err = leanly(c, logged(n, call))
			}
			if err != nil {
				t.Fatal(err)
			}
			sent := leaving(x.DAG, per)
			for server := range int32(n / per) {
				var by []unit.Bytes
				for rank := server * per; rank < (server+1)*per; rank++ {
					by = append(by, sent[rank])
				}
				chain := call == "Broadcast" || call == "Reduce" // which ends in a server, or returns to the root's
				uneven := slices.Min(by) < want/per*2/3 || slices.Max(by)-slices.Min(by) > want/per/8
				if !chain && uneven || slices.Max(by) > want/per+want/64 {
					t.Errorf("%s, lean %v: server %d sends %v by its NICs, of %v", call, lean, server, by, want)
				}
			}
			if len(x.Runs) != 1 || !strings.Contains(x.Runs[0].What, ", by the test") {
				t.Error(x.Runs)
			}
		}
	}
}

// leanly reads a log whose rings count as too many.
func leanly(o Options, text string) (*Trace, error) {
	on := o.On
	o.On = func(r Run, ranks []int) Run {
		if r = on(r, ranks); r.Channels > 0 {
			r.Channels = 0
			r.Algorithm = coll.ByRails
		}
		return r
	}
	return o.Read(File{"log", []byte(text)})
}

// Rings with more transfers than a workload supports run in two levels, on the same NICs.
func TestLean(t *testing.T) {
	const per, n = 8, 2048
	ranks := seqOf(n)
	f := fitter{on: func(r Run, _ []int) Run {
		r.Servers, r.PerServer, r.Channels, r.By = coll.Even(per), per, per, "the test"
		return r
	}}
	want := Run{CollectiveRun: workload.CollectiveRun{Kind: coll.AllGather, Bytes: unit.MB}}
	f.reckon(0, func(add func(Run, []int)) { add(want, ranks) })
	r := f.run(want, ranks)
	if r.Algorithm != coll.ByRails || r.Transfers(n) > workload.MaxOps/10 ||
		!strings.Contains(r.words(""), "too many transfers") {
		t.Error(r.words(""), r.Transfers(n))
	}
}

// Rings, trees and protocols of a log apply. Without a ring in the log the fabric determines everything.
func TestSaidRuns(t *testing.T) {
	both := []string{"Channel 00/02 : 0 1 2 3", "Channel 01/02 : 0 3 2 1"}
	algo := "AllReduce: 1048576 Bytes -> Algo %s proto %s channel{Lo..Hi}={0..1}"
	for _, c := range []struct {
		more []string
		want string
	}{
		{both, " as rings on 2 channels"},
		{both[:1], " as rings on 7 channels"},
		{nil, " as rings on 7 channels"},
		{append(both, fmt.Sprintf(algo, "TREE", "LL128")), " as trees (ll128)"},
		{append(both, fmt.Sprintf(algo, "RING", "SIMPLE")), " as rings (simple) on 2 channels"},
		{[]string{fmt.Sprintf(algo, "1", "0")}, " as rings (ll) on 7 channels"},
	} {
		x, err := Options{On: func(r Run, _ []int) Run {
			if r.Servers, r.By = coll.Even(2), "the test"; r.Algorithm != coll.ByTree {
				r.Channels = 7
			}
			return r
		}}.Read(File{"log", []byte(logged(4, "AllReduce", c.more...))})
		if err != nil {
			t.Fatal(err)
		}
		if len(x.Runs) != 1 || !strings.Contains(x.Runs[0].What, c.want+", by the test") {
			t.Errorf("%q: %v, want %s", c.more, x.Runs, c.want)
		}
	}
}

// A kernel's name shows whether it is a tree, for all-reduces only.
func TestKernelNames(t *testing.T) {
	names := map[string]string{"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)": coll.ByRing,
		"ncclDevKernel_AllReduce_Sum_bf16_TREE_LL(x)":  coll.ByTree,
		"ncclKernel_AllReduce_TREE_LL_Sum_float(x)":    coll.ByTree,
		"ncclDevKernel_AllReduce_Sum_f32_NVLS_TREE(x)": coll.ByNVLSTree,
		"ncclDevKernel_Generic(RING)":                  "", "nccl:all_reduce": ""}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if got := ofKernel(opAllReduce, name); algorithms[got.algorithm] != names[name] {
			t.Errorf("%s: %q, want %q", name, algorithms[got.algorithm], names[name])
		}
		if got := ofKernel(opAllGather, name); got != (how{}) {
			t.Errorf("%s: %+v of an all-gather", name, got)
		}
	}
}
