package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"railyard/internal/result"
	"railyard/internal/submission"
)

// tinyJob trains a small model on two servers of two GPUs, as its flags define.
const tinyJob = `#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=2 --gpus-per-node=2
export NCCL_IB_QPS_PER_CONNECTION=2 NCCL_IB_TC=96
srun python pretrain_gpt.py --num-layers 2 --hidden-size 512 --num-attention-heads 8 --vocab-size 32000 \
  --seq-length 512 --tensor-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 4
`

const tinySite = "name: site\nfabric: {kind: rail, hosts: 2, segments: 2, spines: 2}\n" +
	"server: {gpus: 2, nics: 2}\nseed: 7\nworkload: {traffic: {alltoall: {bytes: 1MB}}}\n"

// submit runs the scenario that it writes: both take equal time.
func TestSubmitRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"job.sbatch": tinyJob, "site.yaml": tinySite} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	code, out, errs := call(t, "submit", "job.sbatch", "--cluster", "site.yaml", "--out", "a", "--scenario",
		"job.yaml", "--json")
	if code != 0 {
		t.Fatal(errs)
	}
	var got struct {
		Submitted submission.Report
		Run       string
		Summary   result.Summary
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if s := got.Submitted; s.World != 4 || len(s.Ranks) != 4 || got.Run != "a" {
		t.Errorf("%+v in %s", s, got.Run)
	}
	code, out, errs = call(t, "run", "job.yaml", "--json", "--out", "b")
	if code != 0 {
		t.Fatal(errs)
	}
	var again result.Summary
	if err := json.Unmarshal([]byte(out), &again); err != nil {
		t.Fatal(err)
	}
	if again.StepTime != got.Summary.StepTime || again.Packets != got.Summary.Packets || again.Packets == 0 {
		t.Errorf("%v and %v, %d and %d packets", got.Summary.StepTime, again.StepTime, got.Summary.Packets,
			again.Packets)
	}
}

// Every line that submit prints fits 100 columns, even for a large job and long names, and their number is bounded.
func TestSubmitFits(t *testing.T) {
	t.Chdir(t.TempDir())
	long := strings.Repeat("very-long-", 5)
	var b strings.Builder
	b.WriteString("ClusterName=x\nNodeName=" + long + "[001-128] CPUs=64 Gres=gpu:h100:8\n")
	script := "#!/bin/bash\n#SBATCH -N32 --ntasks-per-node=8 --gpus-per-node=8\nexport NCCL_SOCKET_IFNAME=" +
		strings.Repeat("eth,", 100) + "\nsrun python train.py --model_name_or_path gpt3-125m " +
		strings.Repeat("--some-flag-that-nobody-knows 1 ", 300) + "\n"
	for name, text := range map[string]string{"slurm.conf": b.String(), "job": script} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	code, out, errs := call(t, "submit", "job", "--slurm-conf", "slurm.conf", "--dry-run")
	if code != 0 {
		t.Fatal(errs)
	}
	rows := strings.Split(out, "\n")
	if len(rows) > 100 {
		t.Errorf("%d lines", len(rows))
	}
	for _, l := range rows {
		if n := len([]rune(l)); n > 100 {
			t.Errorf("%d columns: %s", n, l)
		}
	}
}
