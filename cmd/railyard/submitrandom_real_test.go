package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"railyard/internal/long"
	"railyard/internal/slurm"
)

// randomOptions draws options of a job in realistic combinations. Most sets fit on six nodes of 32 cores and eight
// GPUs, some do not.
func randomOptions(r *rand.Rand) string {
	var all []string
	add := func(f string, args ...any) { all = append(all, fmt.Sprintf(f, args...)) }
	chance := func(percent int) bool { return r.IntN(100) < percent }
	upTo := func(n int) int { return 1 + r.IntN(n) }
	if chance(70) {
		if lo := upTo(6); chance(20) {
			add("-N%d-%d", lo, lo+r.IntN(7-lo))
		} else {
			add("-N%d", lo)
		}
	}
	if chance(60) {
		most := []int{6, 12, 48, 100}[r.IntN(4)]
		add("-n%d", upTo(most))
	}
	if chance(35) {
		add("--ntasks-per-node=%d", upTo(8))
	}
	if chance(25) {
		add("-c%d", upTo(9))
	}
	switch r.IntN(6) {
	case 0:
		add("--gpus-per-node=%d", upTo(8))
	case 1:
		add("--gpus=%d", upTo(24))
	case 2:
		add("--gpus-per-task=%d", upTo(3))
	case 3:
		add("--gres=gpu:%d", upTo(8))
	}
	if chance(10) {
		add("--gpus-per-task=%d", upTo(2))
	}
	if chance(25) {
		add("--distribution=%s", []string{"block", "cyclic", "plane=2", "plane=3"}[r.IntN(4)])
	}
	if chance(12) {
		add("--exclusive")
	}
	if chance(15) {
		add("--switches=%d@0", upTo(2))
	}
	if chance(15) {
		add("--exclude=%s", randomNodes(r, upTo(3)))
	}
	if chance(15) {
		add("--nodelist=%s", randomNodes(r, upTo(2)))
	}
	if len(all) == 0 {
		add("-n1")
	}
	return strings.Join(all, " ")
}

// randomNodes draws n of six nodes.
func randomNodes(r *rand.Rand, n int) string {
	var names []string
	for _, i := range r.Perm(6)[:n] {
		names = append(names, fmt.Sprint("node", i+1))
	}
	sort.Strings(names)
	return slurm.Fold(names)
}

// probeJob writes what Slurm gave a job, and starts its tasks, which write what they have. The last line marks the
// end.
const probeJob = `#!/bin/bash
{
  echo "A $SLURM_JOB_NODELIST $SLURM_TASKS_PER_NODE"
  scontrol show job -d $SLURM_JOB_ID | grep -E '^ *Nodes='
  srun -Q bash -c 'echo "T $SLURM_PROCID $SLURMD_NODENAME $SLURM_LOCALID ${CUDA_VISIBLE_DEVICES--}"' ||
    echo "S refused"
} > $1.part 2>&1
mv $1.part $1
`

var sharesOf = regexp.MustCompile(`Nodes=(\S+) .*GRES=(?:gpu(?::h100)?:(\d+))?`)

// ask makes the cluster start a job with such options, and returns what it did.
func (c *slurmCluster) ask(probe, options string) string {
	t := c.t
	said := probe + ".said"
	os.Remove(said)
	args := append(append([]string{"-o", "/dev/null"}, strings.Fields(options)...), probe, said)
	if b, err := c.command("sbatch", args...).CombinedOutput(); err != nil {
		if _, refused := err.(*exec.ExitError); !refused {
			t.Fatalf("sbatch %s: %v: %s", options, err, b)
		}
		return "refused"
	}
	var out []byte
	refused, looked := false, 0
	until(t, options+": the job ends, or cannot start", func() bool {
		if looked++; looked%50 == 0 { // accepted jobs that never start
			b, _ := c.command("squeue", "-h", "-o", "%i %r").Output()
			f := strings.Fields(string(b))
			if len(f) == 2 && slices.Contains([]string{"PartitionConfig", "BadConstraints"}, f[1]) {
				_ = c.command("scancel", f[0]).Run()
				refused = true
			}
		}
		b, err := os.ReadFile(said)
		if err == nil {
			out = b
		}
		return refused || out != nil
	})
	if refused {
		return "refused"
	}
	var nodes, tasks string
	gpus, ranks := map[string]int{}, map[int]askedRank{}
	for _, l := range strings.Split(string(out), "\n") {
		f := strings.Fields(l)
		switch {
		case len(f) == 3 && f[0] == "A":
			nodes, tasks = f[1], f[2]
		case len(f) == 5 && f[0] == "T":
			rank, _ := strconv.Atoi(f[1])
			local, _ := strconv.Atoi(f[3])
			ranks[rank] = askedRank{f[2], local, f[4]}
		case l == "S refused":
			return nodes + " tasks " + tasks + " step refused"
		default:
			if m := sharesOf.FindStringSubmatch(l); m != nil {
				n, _ := strconv.Atoi(m[2])
				names, err := slurm.Hosts(m[1])
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range names {
					gpus[name] = n
				}
			}
		}
	}
	names, err := slurm.Hosts(nodes)
	if err != nil {
		t.Fatalf("sbatch %s printed %q: %v", options, out, err)
	}
	var has []int
	for _, n := range names {
		has = append(has, gpus[n])
	}
	var in []askedRank
	for i := range len(ranks) {
		in = append(in, ranks[i])
	}
	return tellPlaces(nodes, tasks, has, in)
}

// agreeRandom runs a real Slurm with random options, and with -rewrite records what it did.
func (c *slurmCluster) agreeRandom(t *testing.T) {
	probe := filepath.Join(c.dir, "asked")
	if err := os.WriteFile(probe, []byte(probeJob), 0o755); err != nil {
		t.Fatal(err)
	}
	sets := long.N(5, 20) // of those in the file, all of which TestSlurmAnswers reads; a job takes one or two seconds
	if v := os.Getenv("RAILYARD_SLURM_SETS"); v != "" {
		sets, _ = strconv.Atoi(v)
	}
	six := sixNodes(t)
	r := rand.New(rand.NewPCG(18, 1))
	var kept []string
	for range sets {
		options := randomOptions(r)
		c.idle()
		real := c.ask(probe, options)
		kept = append(kept, options+" => "+real)
		if ours := answer(six, options); ours != real && !*rewrite {
			t.Errorf("%s\n  Slurm:  %s\n  submit: %s", options, real, ours)
		}
	}
	if *rewrite {
		slices.Sort(kept)
		text := strings.Join(slices.Compact(kept), "\n") + "\n"
		if err := os.WriteFile(answers, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
