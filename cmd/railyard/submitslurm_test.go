package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"railyard/internal/slurm"
)

// realConf is a cluster of six nodes on this machine, each a slurmd of its own (HANDBOOK.md 17); GPUs are
// files. Railyard reads the same text.
const realConf = `ClusterName=railyard
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=%[1]d
SlurmUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool-%%n
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmdPidFile=%[2]s/slurmd-%%n.pid
SlurmctldLogFile=%[2]s/slurmctld.log
SlurmdLogFile=%[2]s/slurmd-%%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
TopologyPlugin=topology/tree
ReturnToService=2
MessageTimeout=100
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1
GresTypes=gpu
NodeName=node[1-6] NodeAddr=127.0.0.1 NodeHostname=localhost Port=[%[3]d-%[4]d] CPUs=32 Boards=1 \
  SocketsPerBoard=2 CoresPerSocket=16 ThreadsPerCore=1 Gres=gpu:h100:8 Feature=h100 State=UNKNOWN
PartitionName=gpu Nodes=ALL Default=YES State=UP MaxTime=INFINITE
`

const realTree = `SwitchName=leaf1 Nodes=node[1-2]
SwitchName=leaf2 Nodes=node[3-6]
SwitchName=spine Switches=leaf[1-2]
`

// realJob is a script that Slurm runs and submit reads: an all-reduce of real processes, whose ranks are
// Slurm's, and what each finds in its environment.
const realJob = `#!/bin/bash
#SBATCH --job-name=ring -N 3
#SBATCH --ntasks-per-node=2 --gpus-per-node=4
#SBATCH --output=%[1]s/job.out
export MASTER_ADDR=127.0.0.1 MASTER_PORT=%[3]d NCCL_IB_QPS_PER_CONNECTION=1
PER_NODE=$((SLURM_NTASKS / SLURM_NNODES))
export NCCL_MIN_NCHANNELS=$PER_NODE
srun --gpus-per-task=2 bash -c 'export LOCAL_RANK=$SLURM_LOCALID; env -0 > %[1]s/env.$SLURM_PROCID
  exec %[2]s rdma allreduce --bytes 64KiB --iters 2 --addr 127.0.9.$((SLURM_PROCID + 1))'
`

// startSlurm starts slurmctld and six slurmd in a folder, and waits until all nodes are idle.
func startSlurm(t *testing.T, dir string) (conf, tree string) {
	t.Helper()
	for _, p := range []string{"slurmctld", "slurmd", "sbatch", "salloc", "srun", "sinfo"} {
		if _, err := exec.LookPath(p); err != nil {
			t.Skip(p, " is not installed")
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("slurmctld with SlurmUser=root needs root")
	}
	base := freePorts(t, 8)
	conf, tree = filepath.Join(dir, "slurm.conf"), filepath.Join(dir, "topology.conf")
	for g := range 8 {
		if err := os.Symlink("/dev/null", filepath.Join(dir, fmt.Sprint("gpu", g))); err != nil {
			t.Fatal(err)
		}
	}
	gres := fmt.Sprintf("NodeName=node[1-6] Name=gpu Type=h100 File=%s/gpu[0-7]\n", dir)
	for file, text := range map[string]string{conf: fmt.Sprintf(realConf, base, dir, base+1, base+6),
		tree: realTree, filepath.Join(dir, "gres.conf"): gres} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "state"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLURM_CONF", conf)
	daemons := [][]string{{"slurmctld", "-D", "-f", conf}}
	for n := range 6 {
		daemons = append(daemons, []string{"slurmd", "-D", "-N", fmt.Sprint("node", n+1), "-f", conf})
	}
	for _, d := range daemons {
		cmd := exec.Command(d[0], d[1:]...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			cmd.Process.Signal(os.Interrupt)
			late := time.AfterFunc(5*time.Second, func() { cmd.Process.Kill() })
			cmd.Wait()
			late.Stop()
		})
	}
	var out []byte
	for range 900 {
		out, _ = exec.Command("sinfo", "-h", "-o", "%D %t").CombinedOutput()
		if strings.TrimSpace(string(out)) == "6 idle" {
			return conf, tree
		}
		time.Sleep(200 * time.Millisecond)
	}
	log, _ := os.ReadFile(dir + "/slurmctld.log")
	t.Fatalf("six nodes do not come up: %s\n%.2000s", out, log)
	return "", ""
}

// freePorts finds so many ports in a row that nobody listens at.
func freePorts(t *testing.T, n int) int {
	t.Helper()
	for base := 21_000 + os.Getpid()%8000; base < 60_000; base += n {
		free := true
		for p := range n {
			l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", base+p))
			if err != nil {
				free = false
				break
			}
			l.Close()
		}
		if free {
			return base
		}
	}
	t.Fatal("no ports are free")
	return 0
}

// batch runs a script by Slurm to its end and returns what it printed.
func batch(t *testing.T, out string, args ...string) string {
	t.Helper()
	said, err := exec.CommandContext(t.Context(), "sbatch", append([]string{"-W", "-o", out},
		args...)...).CombinedOutput()
	b, _ := os.ReadFile(out)
	if err != nil {
		t.Errorf("sbatch %v: %v\n%s%s", args, err, said, b)
	}
	return strings.TrimSpace(string(b))
}

// A real Slurm runs the same script, with an all-reduce over RoCEv2 as the job: submit has said who gets
// which rank, node and GPUs, and every variable that each process then finds.
func TestSlurmAgrees(t *testing.T) {
	dir := t.TempDir()
	conf, tree := startSlurm(t, dir)
	t.Run("choices", func(t *testing.T) { agreeChoices(t, dir, conf, tree) })
	t.Run("random", func(t *testing.T) { agreeRandom(t, dir) })
	self := filepath.Join(dir, "railyard")
	if b, err := exec.Command("go", "build", "-o", self, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	job := filepath.Join(dir, "job.sbatch")
	if err := os.WriteFile(job, fmt.Appendf(nil, realJob, dir, self, freePorts(t, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	out := batch(t, filepath.Join(dir, "job.out"), job)
	if !strings.Contains(out, "6 ranks") || !strings.Contains(out, "Out of bounds values : 0 OK") {
		t.Fatalf("the job printed %s", out)
	}
	code, said, errs := call(t, "submit", job, "--slurm-conf", conf, "--topology", tree, "--dry-run",
		"--json")
	if code != 0 {
		t.Fatal(errs)
	}
	var got submitted
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

// agreeEnvironment compares what a process found with what it was said to find.
func agreeEnvironment(t *testing.T, file string, r *submittedRank) {
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

// choices are options for which Slurm is asked which nodes it takes and how it deals tasks out.
var choices = []string{
	"-N2 -n8 --gpus-per-node=8", "-N2 -n8 --exclusive", "-N3 -n4 --gpus-per-node=2", "-n20 --gpus-per-task=1",
	"-N2 -G4 -n4", "-N5 --ntasks-per-node=1 --gres=gpu:8", "-n 40 -c 2", "-N 2-4 --gres=gpu:8",
	"-N2 -w node6 -x node5 --gpus-per-node=8", "-N3 -w node2", "-N4 -x node3", "-G33",
	"-N1-6 -n100", "-N6 -n100", "-N1-6 -n7", "-N1-3 -n 50", "-N 2-4 -n 3", "-N2-3 -n 70 -w node6",
	"-N2 -n8 -c3", "-n 30 -c3", "-n 25 -c 5", "-N3 -n 10 -c 7", "-n 12 -c 3 --ntasks-per-node=4",
	"-n100 --ntasks-per-node=20", "-N6 -n 50 --ntasks-per-node=10", "-n 7 --ntasks-per-node=3",
	"-N4 --ntasks-per-node=5 -c 3", "-N2 -n70 --overcommit", "-N1 -n40 -O", "-N3 -O -n 5", "-n 100 -O",
}

// idle waits until nodes have given back what the job before had, without which Slurm takes others.
func idle(t *testing.T) {
	t.Helper()
	var last string
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		b, err := exec.CommandContext(t.Context(), "sinfo", "-h", "-N", "-o", "%T").Output()
		last = string(b)
		if err == nil && strings.Trim(strings.ReplaceAll(last, "idle", ""), " \n") == "" {
			return
		}
	}
	t.Fatalf("nodes are not idle: %s", last)
}

// agreeChoices compares the nodes and the tasks on each.
func agreeChoices(t *testing.T, dir, conf, tree string) {
	probe := filepath.Join(dir, "probe")
	if err := os.WriteFile(probe, []byte("#!/bin/bash\necho $SLURM_JOB_NODELIST $SLURM_TASKS_PER_NODE\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	for _, options := range choices {
		idle(t)
		b, err := exec.CommandContext(t.Context(), "salloc", append(append([]string{"-Q"},
			strings.Fields(options)...), probe)...).Output()
		if err != nil {
			t.Errorf("salloc %s: %v", options, err)
		}
		real := strings.TrimSpace(string(b))
		c, r := &slurm.Cluster{}, &slurm.Request{}
		var words []slurm.Word
		for _, w := range strings.Fields(options) {
			words = append(words, slurm.Word{Text: w})
		}
		for _, file := range []string{conf, tree} {
			b, err := os.ReadFile(file)
			if err == nil {
				err = c.Read(file, b)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		_, err = r.Options(words, false)
		if err == nil {
			err = r.Check()
		}
		if err != nil {
			t.Fatal(err)
		}
		a, err := c.Allocate(r)
		if err != nil {
			t.Fatal(err)
		}
		ours := slurm.Fold(a.Names())
		for _, v := range a.Batch(r, "job") {
			if v.Name == "SLURM_TASKS_PER_NODE" {
				ours += " " + v.Value
			}
		}
		if ours != real {
			t.Errorf("%s: Slurm has %q, submit %q", options, real, ours)
		}
	}
}
