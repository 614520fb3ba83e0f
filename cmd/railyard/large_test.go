package main

import (
	"os"
	"strings"
	"testing"
)

// TestLargeSteps gives a step that is too large for a simulation to commands that do not simulate: they accept it.
// import notes that run does not, and check fails. Commands that simulate reject it and name the slice.
func TestLargeSteps(t *testing.T) {
	t.Chdir(t.TempDir())
	const fabric = "fabric: {kind: rail-only, hosts: 128, host_link: {rate: 400Gbps}}\n"
	for name, text := range map[string]string{
		"step.yaml": fabric + "workload: {training: {model: gpt3-175b, tp: 8, pp: 8, dp: 16, sequence: 2048, " +
			"micro_batch: 1, global_batch: 1536}}\n",
		"job.sh": "#!/bin/bash\n#SBATCH --nodes=128 --ntasks-per-node=8 --gpus-per-node=8\n" +
			"srun python pretrain_gpt.py --num-layers 96 --hidden-size 12288 --num-attention-heads 96 " +
			"--seq-length 2048 --max-position-embeddings 2048 --tensor-model-parallel-size 8 " +
			"--pipeline-model-parallel-size 8 --micro-batch-size 1 --global-batch-size 1536 --vocab-size 51200 --bf16\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args string
		says string // on either stream
	}{
		{"check step.yaml", "error: run refuses this: workload.training"},
		{"check step.yaml --json", "run refuses this: workload.training"},
		{"topo step.yaml", "1,024 GPUs"},
		{"plan traffic step.yaml", "1,024 ranks"},
		{"plan goodput step.yaml --days 30 --step 4s", "1,024 GPUs"},
		{"plan goodput step.yaml --days 30 --estimate", "1,024 GPUs"},
		{"config render step.yaml --os nxos --out rendered", "8 switches"},
		{"import job.sh", "run refuses this: workload.training"},
		{"submit job.sh --cluster step.yaml --dry-run", "1,024"},
	} {
		code, out, errs := call(t, strings.Fields(c.args)...)
		want := exitOK
		if strings.HasPrefix(c.args, "check") {
			want = exitInput
		}
		if words := strings.Join(strings.Fields(out+errs), " "); code != want || !strings.Contains(words, c.says) {
			t.Errorf("%s: exit %d, %s\n%s", c.args, code, errs, out)
		}
		if strings.Contains(out, " operations\n") || strings.Contains(out, `"operations"`) {
			t.Errorf("%s: counts operations that are sums:\n%s", c.args, out)
		}
	}
	for _, args := range []string{"run step.yaml", "compare step.yaml --set lb=ecmp,spray",
		"plan goodput step.yaml --days 30"} {
		if code, _, errs := call(t, strings.Fields(args)...); code != 2 || !strings.Contains(errs, "slice") {
			t.Errorf("%s: exit %d, %s", args, code, errs)
		}
	}
}
