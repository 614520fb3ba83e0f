package planner

import (
	"math"
	"testing"

	"railyard/internal/partition"
	"railyard/internal/topo"
	"railyard/internal/workload"
	"railyard/unit"
)

func layout(tp, pp, dp, batches int, seq int64) partition.Layout {
	return partition.Layout{TP: tp, PP: pp, DP: dp, CP: 1, EP: 1, VPP: 1,
		Recompute: partition.RecomputeSelective, Schedule: partition.OneFOneB, Micro: 1,
		Microbatches: batches, Seq: seq}
}

// The matrix of a step matches the closed forms: rings send 2(n-1)/n of their bytes to one neighbour, and stages
// send a share of the activations to the next.
func TestTrafficMatrix(t *testing.T) {
	m := builtin(t, "gpt3-13b")
	const tp, pp, dp, micro, seq, batches = 4, 2, 4, 1, 2048, 3
	tr := workload.Training{Model: m, GPU: gpu(t, "h100"), Layout: layout(tp, pp, dp, batches, seq),
		Bucket: 1 * unit.GB, Overlap: true, Efficiency: 50, Channels: 1, ScatterGather: true}
	d, err := tr.Build()
	if err != nil {
		t.Fatal(err)
	}
	c := topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 3000}
	g, err := topo.Build("rail", topo.Params{Server: topo.Server{GPUs: tp, NICs: tp, Ports: 1}, Hosts: 4,
		Segments: 2, Spines: 2, Uplinks: 1, HostCable: c, Fabric: c})
	if err != nil {
		t.Fatal(err)
	}
	x, err := Matrix(d, g)
	if err != nil {
		t.Fatal(err)
	}
	act := float64(micro * seq * m.Hidden * 2)
	layers := float64(m.Layers / pp)
	near := func(what string, got int64, want, tol float64) {
		t.Helper()
		if math.Abs(float64(got)/want-1) > tol {
			t.Errorf("%s: %d bytes, want %.0f", what, got, want)
		}
	}
	// Per group: four all-reduces per layer and microbatch.
	// and shares gathered at stage borders
	near("tensor parallel", x.Kinds[KindTensor], dp*batches*(pp*4*layers*act*2*(tp-1)+2*act*(tp-1)), 1e-6)
	near("pipeline parallel", x.Kinds[KindPipeline], tp*dp*batches*2*act/tp, 1e-6)
	// both ends of the pipeline have the tied embedding
	near("data parallel", x.Kinds[KindData], dp*2*float64(m.Params()+m.Vocab*m.Hidden)*(dp-1)/dp*2, 2e-3)
	if x.ByTier[InServer][KindTensor] != x.Kinds[KindTensor] || x.ByTier[OffRail] != [Kinds]int64{} {
		t.Errorf("tensor parallel traffic leaves the servers, or rails are left: %v", x.ByTier)
	}
	// Each rank sends to its ring neighbours and to one stage.
	if pairs := len(x.Pairs); pairs != 32*2+32 {
		t.Errorf("%d pairs carry traffic", pairs)
	}
	cells, per := x.Cells(8, Kinds)
	sum := 0.0
	for _, row := range cells {
		for _, b := range row {
			sum += b
		}
	}
	if per != 4 || len(cells) != 8 || sum != float64(x.Total()) {
		t.Errorf("%d cells of %d ranks hold %g of %d bytes", len(cells), per, sum, x.Total())
	}
}
