package submission

import (
	"strings"
	"testing"
)

// A job with more operations than a simulation takes is refused with what can be simulated, and each offer holds;
// its sums have no such limit.
func TestLargeJob(t *testing.T) {
	const site = "name: site\nfabric: {kind: rail, segments: 16, hosts: 8, spines: 16}\n" +
		"server: {gpu: h100, gpus: 8, nics: 8}\nworkload: {traffic: {alltoall: {bytes: 1MB}}}\n"
	const head = "#!/bin/bash\n#SBATCH -N128 --ntasks-per-node=8 --gpus-per-node=8\n"
	for job, want := range map[string][]string{
		"srun python pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 " +
			"--vocab-size 32000 --tensor-model-parallel-size 8 --micro-batch-size 1 --global-batch-size 2048\n": {
			"global_batch=512 simulates 4 of 16 microbatches on all nodes", "--dry-run prints the placement"},
		"srun all_reduce_perf -b 8G -e 8G\n": {"plan collective --no-simulate", "--dry-run prints the placement"},
	} {
		folder(t, map[string]string{"site.yaml": site, "job": head + job})
		s, err := Follow(&Request{Script: "job", Cluster: "site.yaml"})
		if err != nil || !s.Large || s.Nothing == nil {
			t.Fatalf("%v, %+v", err, s)
		}
		for _, w := range want {
			if !strings.Contains(s.Nothing.Error(), w) {
				t.Errorf("no %q in %v", w, s.Nothing)
			}
		}
	}
}
