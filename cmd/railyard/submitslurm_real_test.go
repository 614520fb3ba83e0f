package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"railyard/internal/submission"
)

// realJob is a script that Slurm runs and submit reads. It is an all-reduce of real processes, whose ranks are
// Slurm's, and prints each one's environment.
const realJob = `#!/bin/bash
#SBATCH --job-name=ring -N 3
#SBATCH --ntasks-per-node=2 --gpus-per-node=4
#SBATCH --output=%[1]s/job.out
export MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 NCCL_IB_QPS_PER_CONNECTION=1
PER_NODE=$((SLURM_NTASKS / SLURM_NNODES))
export NCCL_MIN_NCHANNELS=$PER_NODE
srun --gpus-per-task=2 bash -c 'export LOCAL_RANK=$SLURM_LOCALID; env -0 > %[1]s/env.$SLURM_PROCID
  RAILYARD_CHILD=stdin exec %[2]s rdma allreduce --bytes 64KiB --iters 2 --addr 127.0.9.$((SLURM_PROCID + 1))'
`

// slurmCluster is a slurmctld with six slurmd in its own network.
type slurmCluster struct {
	t          *testing.T
	net        network
	dir        string
	conf, tree string
}

// startSlurm starts a cluster in a folder, and waits until all nodes are idle.
func startSlurm(t *testing.T, suffix string) *slurmCluster {
	t.Helper()
	needsSlurm(t, "slurmctld", "slurmd", "sbatch", "salloc", "srun", "sinfo", "nsenter")
	dir := t.TempDir()
	c := &slurmCluster{t, ownNetwork(t, suffix), dir, filepath.Join(dir, "slurm.conf"),
		filepath.Join(dir, "topology.conf")}
	for g := range 8 {
		if err := os.Symlink("/dev/null", filepath.Join(dir, fmt.Sprint("gpu", g))); err != nil {
			t.Fatal(err)
		}
	}
	gres := fmt.Sprintf("NodeName=node[1-6] Name=gpu Type=h100 File=%s/gpu[0-7]\n", dir)
	for file, text := range map[string]string{c.conf: fmt.Sprintf(realConf, dir),
		c.tree: realTree, filepath.Join(dir, "gres.conf"): gres} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "state"), 0o755); err != nil {
		t.Fatal(err)
	}
	daemons := [][]string{{"slurmctld", "-D", "-f", c.conf}}
	for n := range 6 {
		daemons = append(daemons, []string{"slurmd", "-D", "-N", fmt.Sprint("node", n+1), "-f", c.conf})
	}
	for _, d := range daemons {
		c.net.daemon(t, d[0], d[1:]...)
	}
	until(t, "six nodes are idle", func() bool {
		out, _ := c.command("sinfo", "-h", "-o", "%D %t").CombinedOutput()
		return strings.TrimSpace(string(out)) == "6 idle"
	})
	return c
}

// needsSlurm skips where no Slurm can be started.
func needsSlurm(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skip(p, " is not installed")
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("slurmctld with SlurmUser=root needs root")
	}
	if err := makesNamespaces(); err != nil {
		t.Skip("this machine makes no network namespaces: ", err)
	}
}

// command is a program that talks to the cluster.
func (c *slurmCluster) command(name string, args ...string) *exec.Cmd {
	cmd := c.net.command(name, args...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+c.conf)
	return cmd
}

// batch runs a script to its end and returns its output.
func (c *slurmCluster) batch(out string, args ...string) string {
	c.t.Helper()
	said, err := c.command("sbatch", append([]string{"-W", "-o", out}, args...)...).CombinedOutput()
	b, _ := os.ReadFile(out)
	if err != nil {
		c.t.Errorf("sbatch %v: %v\n%s%s", args, err, said, b)
	}
	return strings.TrimSpace(string(b))
}

// A real Slurm runs the same script, with an all-reduce over RoCEv2 as the job. submit has predicted the rank, node
// and GPUs of each process, and every variable of its environment.
func TestRealSlurmAgrees(t *testing.T) {
	t.Parallel()
	c := startSlurm(t, "slur")
	dir, conf, tree := c.dir, c.conf, c.tree
	t.Run("choices", c.agreeChoices)
	t.Run("random", c.agreeRandom)
	executable, err := os.Executable()
	self := filepath.Join(dir, "railyard") // submit knows it by this name
	if err == nil {
		err = os.Symlink(executable, self)
	}
	if err != nil {
		t.Fatal(err)
	}
	job := filepath.Join(dir, "job.sbatch")
	if err := os.WriteFile(job, fmt.Appendf(nil, realJob, dir, self), 0o644); err != nil {
		t.Fatal(err)
	}
	out := c.batch(filepath.Join(dir, "job.out"), job)
	if !strings.Contains(out, "6 ranks") || !strings.Contains(out, "Out of bounds values : 0 OK") {
		t.Fatalf("the job printed %s", out)
	}
	code, said, errs := call(t, "submit", job, "--slurm-conf", conf, "--topology", tree, "--dry-run",
		"--json")
	if code != 0 {
		t.Fatal(errs)
	}
	var got submission.Report
	if err := json.Unmarshal([]byte(said), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Ranks) != 6 || got.Benchmark == "" {
		t.Fatalf("%d ranks, %q", len(got.Ranks), got.Benchmark)
	}
	for i := range got.Ranks {
		agreeEnvironment(t, filepath.Join(dir, fmt.Sprint("env.", i)), &got.Ranks[i])
	}
}

// agreeEnvironment compares a process's environment with the predicted one.
func agreeEnvironment(t *testing.T, file string, r *submission.Rank) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	real := map[string]string{}
	for _, l := range strings.Split(string(b), "\x00") {
		if k, v, ok := strings.Cut(l, "="); ok {
			real[k] = v
		}
	}
	told := map[string]string{}
	for _, l := range r.Environ {
		k, v, _ := strings.Cut(l, "=")
		told[k] = v
	}
	for k, want := range told {
		if k == "SLURM_JOB_ID" || k == "SLURM_JOBID" { // counted
			continue
		}
		if v, ok := real[k]; !ok || v != want {
			t.Errorf("rank %d: %s is %q, said was %q", r.Rank, k, v, want)
		}
	}
	for _, k := range []string{"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURMD_NODENAME",
		"CUDA_VISIBLE_DEVICES", "MASTER_ADDR", "LOCAL_RANK", "NCCL_MIN_NCHANNELS"} {
		if _, ok := told[k]; !ok {
			t.Errorf("rank %d: nothing is said of %s, which is %q", r.Rank, k, real[k])
		}
	}
	if first, _, _ := strings.Cut(real["CUDA_VISIBLE_DEVICES"], ","); r.Host != real["SLURMD_NODENAME"] ||
		strconv.Itoa(r.GPU) != first {
		t.Errorf("rank %d is on %s, GPU %d; %v", r.Rank, r.Host, r.GPU, real["SLURMD_NODENAME"])
	}
}

// idle waits until nodes have released the previous job, because Slurm would otherwise use others.
func (c *slurmCluster) idle() {
	c.t.Helper()
	until(c.t, "all nodes are idle", func() bool {
		b, err := c.command("sinfo", "-h", "-N", "-o", "%T").Output()
		return err == nil && strings.Trim(strings.ReplaceAll(string(b), "idle", ""), " \n") == ""
	})
}

// agreeChoices compares the nodes and the tasks on each with the stored ones; -rewrite records them.
func (c *slurmCluster) agreeChoices(t *testing.T) {
	probe := filepath.Join(c.dir, "probe")
	if err := os.WriteFile(probe, []byte("#!/bin/bash\necho $SLURM_JOB_NODELIST $SLURM_TASKS_PER_NODE\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	var kept strings.Builder
	for _, choice := range recorded(t, choices) {
		options := choice[0]
		c.idle()
		b, err := c.command("salloc", append(append([]string{"-Q"}, strings.Fields(options)...),
			probe)...).Output()
		if err != nil {
			t.Errorf("salloc %s: %v", options, err)
		}
		real := strings.TrimSpace(string(b))
		fmt.Fprintf(&kept, "%s => %s\n", options, real)
		if !*rewrite && real != choice[1] {
			t.Errorf("%s: Slurm has %q, and %q is kept", options, real, choice[1])
		}
	}
	if *rewrite {
		if err := os.WriteFile(choices, []byte(kept.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
