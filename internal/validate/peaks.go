package validate

import (
	"fmt"

	"railyard/internal/model"
	"railyard/internal/partition"
	"railyard/internal/workload"
)

// Why peaks of memory differ.
var (
	fewerMicrobatches = reason("microbatches of torchtitan's pipelines",
		"The table names the batch and not how it is cut. torchtitan's default is as many microbatches as stages, here of four sequences, which keep four times the activations and logits of the one that the row is computed with. With context parallel ranks the keys and values that arrive are held besides.",
		NoSetting, "with --micro-batch 4 --microbatches 8 plan memory has 68 GB for the first row's 88.6; what else stages hold is not published")
	reserved = reason("torchtitan's peak is of reserved memory",
		"torchtitan prints what PyTorch's allocator has reserved, which is more than tensors fill: blocks of past sizes that no later tensor fits stay reserved. The model counts tensors.",
		NoSetting, "fragmentation depends on the order of allocations, which is not modelled")
	laterTorchtitan = reason("a later torchtitan with FP8",
		"The rows are of June 2025 with FP8 products. The model has selective checkpointing and the loss of torchtitan in December 2024, when 8B on 128 GPUs took 66.6 GB. FP8 alone does not shrink by a quarter what is kept.",
		NoSetting, "what the later version keeps is not published with the rows")
)

// peakRows holds plan memory to peaks that torchtitan's authors measured.
func peakRows() ([]Row, error) {
	const december, june = "pytorch/torchtitan, benchmarks, 2024-12", "pytorch/torchtitan, benchmarks by trainy, 2025-06"
	var rows []Row
	stack := must(workload.FindSoftware("torchtitan")).Stack
	for _, c := range []struct {
		name, model                string
		tp, pp, dp, cp, vpp, later int
		micro                      int64
		micros                     int
		seq                        int64
		recompute                  string
		gb                         float64
		why                        *Reason
	}{
		{"8B on 8, eager", "llama-3.1-8b", 1, 1, 8, 1, 1, 0, 2, 1, 8192, partition.RecomputeSelective, 88.5, nil},
		{"8B on 8, compiled", "llama-3.1-8b", 1, 1, 8, 1, 1, 0, 2, 1, 8192, partition.RecomputeSelective, 82.7, nil},
		{"8B on 128, compiled", "llama-3.1-8b", 1, 1, 128, 1, 1, 0, 2, 1, 8192, partition.RecomputeSelective, 66.6, nil},
		{"8B on 8, 32k tokens", "llama-3.1-8b", 1, 1, 8, 1, 1, 0, 1, 1, 32768, partition.RecomputeFull, 90.1, nil},
		{"8B on 8, 64k tokens, CP 2", "llama-3.1-8b", 1, 1, 4, 2, 1, 0, 1, 1, 65536, partition.RecomputeFull, 90.4, nil},
		{"8B on 8, 256k tokens, CP 8", "llama-3.1-8b", 1, 1, 1, 8, 1, 0, 1, 1, 262144, partition.RecomputeFull, 90.7, nil},
		{"70B on 256, TP 8", "llama-3.1-70b", 8, 1, 32, 1, 1, 0, 16, 1, 8192, partition.RecomputeFull, 77.2, reserved},
		{"405B on 512, 1F1B", "llama-3.1-405b", 8, 8, 8, 1, 1, 0, 1, 32, 8192, partition.RecomputeFull, 88.6, fewerMicrobatches},
		{"405B on 512, interleaved", "llama-3.1-405b", 8, 8, 8, 1, 2, 0, 1, 32, 8192, partition.RecomputeFull, 78.1, fewerMicrobatches},
		{"405B on 512, 32k tokens", "llama-3.1-405b", 8, 8, 8, 1, 1, 0, 1, 8, 32768, partition.RecomputeFull, 80.9, fewerMicrobatches},
		{"405B on 512, 256k tokens, CP 8", "llama-3.1-405b", 8, 8, 1, 8, 1, 0, 1, 8, 262144, partition.RecomputeFull, 91.2, fewerMicrobatches},
		{"8B on 32 H200, FP8", "llama-3.1-8b", 1, 1, 32, 1, 1, 1, 2, 1, 8192, partition.RecomputeSelective, 51.5, laterTorchtitan},
		{"8B on 64 H200, FP8", "llama-3.1-8b", 1, 1, 64, 1, 1, 1, 2, 1, 8192, partition.RecomputeSelective, 50.4, laterTorchtitan},
	} {
		l := partition.Layout{TP: c.tp, PP: c.pp, DP: c.dp, CP: c.cp, EP: 1, VPP: c.vpp, ZeRO: 3, Micro: c.micro,
			Microbatches: c.micros, Seq: c.seq, Recompute: c.recompute, Sequence: true, Schedule: partition.OneFOneB,
			Stack: stack}
		if c.vpp > 1 {
			l.Schedule = partition.Interleaved
		}
		m := must(model.Builtin(c.model))
		worst := must(l.Settled(m).Worst(m))
		source := december
		if c.later > 0 {
			source = june
		}
		rows = append(rows, within(fmt.Sprintf("peak GB per GPU, torchtitan's %s", c.name), source, c.gb,
			float64(worst.Total())/1e9, 0.1, "%.1f").because(c.why))
	}
	return rows, nil
}
