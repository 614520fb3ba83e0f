package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"railyard/internal/result"
	"railyard/internal/scenariofile"
	"railyard/internal/submission"
)

// tinyJob trains a small model on two servers of two GPUs, as its flags say.
const tinyJob = `#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=2 --gpus-per-node=2
export NCCL_IB_QPS_PER_CONNECTION=2 NCCL_IB_TC=96
srun python pretrain_gpt.py --num-layers 2 --hidden-size 512 --num-attention-heads 8 --vocab-size 32000 \
  --seq-length 512 --tensor-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 4
`

const tinySite = "name: site\nfabric: {kind: rail, hosts: 2, segments: 2, spines: 2}\n" +
	"server: {gpus: 2, nics: 2}\nseed: 7\nworkload: {traffic: {alltoall: {bytes: 1MB}}}\n"

// What submit runs is the scenario that it writes: both take as long.
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
	s := got.Submitted
	if s.World != 4 || len(s.Ranks) != 4 || s.Ranks[3].Host != "host-2" || s.Ranks[3].GPU != 1 ||
		s.Ranks[3].NIC != "nic-2" ||
		!slices.Contains(s.Ranks[3].Environ, "SLURM_PROCID=3") || got.Run != "a" {
		t.Errorf("%+v", s.Ranks[3])
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
	plan, err := scenariofile.Plan("job.yaml", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if plan.QPs != 2 || plan.Seed != 7 || plan.Services[plan.Jobs[0].Service].DSCP != 24 {
		t.Errorf("%d queue pairs, seed %d, %+v", plan.QPs, plan.Seed, plan.Services)
	}
}

// Every line that submit prints fits 100 columns, for a large job and long names too, and is bounded.
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

// Whatever somebody submits that cannot be is one line with its place, and exit code 2.
func TestSubmitRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	with := func(old, now string) string { return strings.Replace(tinyJob, old, now, 1) }
	files := map[string]string{"site.yaml": tinySite, "job": tinyJob, "many": with("--nodes=2", "--nodes=9"),
		"divide": with("parallel-size 2", "parallel-size 3"), "heads": with("heads 8", "heads 1"),
		"binary": "\x7fELF\x00", "quote": "#!/bin/sh\necho '", "bare": "srun x\n",
		"contradiction": with("--gpus", "--ntasks=8 --gpus"), "nothing": "#!/bin/sh\nls\n",
		"dos":        strings.ReplaceAll(tinyJob, "\n", "\r\n"),
		"loop.conf":  "SwitchName=a Switches=b\nSwitchName=b Switches=a\n",
		"nodes.conf": "NodeName=n[1-4] CPUs=64 Gres=gpu:8\n",
		"unknown":    "#!/bin/sh\nsrun ./solver --cells 100\n", "notes.txt": "hello\n",
		"flag": with("--num-layers", "--num-layer")}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if f, err := os.Create("large"); err != nil || f.Truncate(100<<20) != nil || f.Close() != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"many --cluster site.yaml", "many:2:9: --nodes: the job needs 9 nodes; 4 nodes"},
		{"divide --cluster site.yaml", "divide:5:20: --tensor-model-parallel-size: tp 3 x pp 1 x cp 1 is 3"},
		{"heads --cluster site.yaml", "heads:5:20: --tensor-model-parallel-size: 2 does not divide the 1 " +
			"att"},
		{"binary --cluster site.yaml", "binary:1:1: is no text"},
		{"large --cluster site.yaml", "large"},
		{"quote --cluster site.yaml", "quote:2:6: is no shell script"},
		{"contradiction --cluster site.yaml", "contradiction:2:39: --ntasks: 8 tasks do not fit on 2 nodes"},
		{"bare --cluster site.yaml", "bare:1:1: sbatch takes scripts whose first line"},
		{"dos --cluster site.yaml", "dos:1:1: ends its lines as DOS does (CR LF)"},
		{"job --slurm-conf nodes.conf --topology loop.conf", "loop.conf:2:1: Switches: switch b has " +
			"switch a below it, below which it lies itself"},
		{"job --cluster site.yaml --option=--gpus-per-node=1e9", "--option --gpus-per-node=1e9: " +
			"--gpus-per-node: found \"1e9\", expected a number of GPUs"},
		{"job --cluster site.yaml --option=--nodes=1000000000", "--option --nodes=1000000000: " +
			"--nodes: found \"1000000000\", expected a number of nodes, up to 1048576"},
		{"unknown --cluster site.yaml", "unknown:2:6: ./solver: what it computes is not said"},
		{"nothing --cluster site.yaml", "nothing: starts no program"},
		{"flag --cluster site.yaml", "flag:4:29: --num-layer: is no flag that is known"},
		{"job --cluster missing.yaml", "missing.yaml: no such file or directory"},
		{"job --sinfo notes.txt", "notes.txt: says nothing of a cluster"},
		{"job --cluster site.yaml --sinfo notes.txt", "--cluster: a scenario says all of a cluster"},
		{"job --cluster site.yaml --env X", "--env: found \"X\", expected NAME=VALUE"},
		{"job --cluster site.yaml --model gpt5", "--model: unknown model \"gpt5\""},
		{"job --cluster site.yaml --rank 4", "--rank: 4 is out of range 0–3"},
		{"job --cluster site.yaml --option=--gpus=3", "--option --gpus=3: --gpus: 3 GPUs, and 2 per node"},
		{"job", "--cluster: is missing"},
	} {
		code, _, errs := call(t, append([]string{"submit", "--dry-run"}, strings.Fields(c.args)...)...)
		if code != exitInput || !strings.HasPrefix(errs, "error: "+c.want) ||
			strings.Count(errs, "\n") > 5 {
			t.Errorf("%s: exit code %d, %s", c.args, code, errs)
		}
	}
	if left, _ := filepath.Glob("runs/*"); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// Variables of NCCL that nobody reads are named, those that change nothing are not.
func TestSubmitNamesUnreadNCCL(t *testing.T) {
	t.Chdir(t.TempDir())
	job := strings.Replace(tinyJob, "export NCCL", "export NCCL_DEBUG=INFO NCCL_NTHREADS=256 "+
		"NCCL_NET_GDR_LEVEL=3 NCCL", 1)
	for name, text := range map[string]string{"site.yaml": tinySite, "job": job} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	code, out, errs := call(t, "submit", "job", "--cluster", "site.yaml", "--dry-run")
	flat := strings.Join(strings.Fields(out), " ")
	if code != 0 || !strings.Contains(flat, "of NCCL's variables not read, though they may change what it "+
		"does: NCCL_NET_GDR_LEVEL, NCCL_NTHREADS") {
		t.Errorf("exit %d: %s%s", code, errs, out)
	}
}

// Variables of NCCL that a scenario has keys for act: the transport's, and how many rings a benchmark has.
func TestSubmitNCCLActs(t *testing.T) {
	t.Chdir(t.TempDir())
	job := "#!/bin/bash\n#SBATCH -N2 --ntasks-per-node=2 --gpus-per-node=2\nexport NCCL_ALGO=Ring " +
		"NCCL_PROTO=Simple NCCL_IB_TIMEOUT=17 " +
		"NCCL_IB_RETRY_CNT=5 NCCL_IB_QPS_PER_CONNECTION=2 NCCL_IB_SPLIT_DATA_ON_QPS=0 " +
		"NCCL_MAX_NCHANNELS=%s\nsrun all_reduce_perf -b 8M -e 8M\n"
	for channels, want := range map[string]string{"1": "channels: 1", "8": "protocol: simple}",
		"0": "left out"} {
		for name, text := range map[string]string{"site.yaml": tinySite, "job": fmt.Sprintf(job, channels)} {
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		code, out, errs := call(t, "submit", "job", "--cluster", "site.yaml", "--dry-run", "--scenario",
			"job.yaml", "--force")
		text, err := os.ReadFile("job.yaml")
		if err != nil {
			t.Fatal(code, errs, err)
		}
		for _, s := range []string{"timeout: 17", "retries: 5", "qps: 2"} {
			if !strings.Contains(string(text), s) {
				t.Errorf("no %s in %s", s, text)
			}
		}
		if all := string(text) + strings.Join(strings.Fields(out), " "); code != 0 ||
			!strings.Contains(all, want) || !strings.Contains(all, "each message over one queue pair") {
			t.Errorf("exit %d, no %q: %s%s", code, want, errs, all)
		}
	}
}
