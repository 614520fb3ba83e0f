package explain

import (
	"testing"

	shapes "railyard/internal/model"
	"railyard/internal/partition"
	"railyard/internal/workload"
	"railyard/unit"
)

// GPUs that the layout leaves idle halve what all of them reach.
func TestMFUCountsIdleGPUs(t *testing.T) {
	m, err := shapes.Builtin("llama-2-7b")
	if err != nil {
		t.Fatal(err)
	}
	h100, err := shapes.FindGPU("h100")
	if err != nil {
		t.Fatal(err)
	}
	step := workload.Training{Layout: partition.Layout{TP: 4, PP: 1, DP: 8, CP: 1, Micro: 1, Microbatches: 4,
		Seq: 4096}, Model: m, GPU: h100}
	all := trained(&step, unit.Second, true)
	step.Idle = 32
	half := trained(&step, unit.Second, true)
	if all.MFU <= 0 || half.MFU != all.MFU/2 || half.IdleGPUs != 32 || half.TrainingGPUs != 32 {
		t.Errorf("MFU %g with all, %g with half of the GPUs idle; %+v", all.MFU, half.MFU, half)
	}
}
