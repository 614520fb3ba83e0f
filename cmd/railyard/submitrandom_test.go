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
	"time"

	"railyard/internal/slurm"
)

// answers are random options with what a real Slurm did with them, one a line, behind =>. They are written
// anew by RAILYARD_SLURM_SETS=300 go test -run TestSlurmAgrees/random -rewrite.
const answers = "testdata/slurm_answers.txt"

// randomOptions draws what a job may ask for, as people combine it: most sets fit on six nodes of 32 cores
// and eight GPUs, some do not.
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

// randomNodes draws so many of six nodes.
func randomNodes(r *rand.Rand, n int) string {
	var names []string
	for _, i := range r.Perm(6)[:n] {
		names = append(names, fmt.Sprint("node", i+1))
	}
	sort.Strings(names)
	return slurm.Fold(names)
}

// askedRank is one process: its node and the GPUs that it sees.
type askedRank struct {
	node  string
	local int
	gpus  string
}

// tellPlaces says who is where: nodes, tasks and GPUs of each, and the ranks in order, those alike together.
func tellPlaces(nodes, tasks string, gpus []int, ranks []askedRank) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s tasks %s gpus %s ranks", nodes, tasks, strings.Trim(fmt.Sprint(gpus), "[]"))
	seen := map[string]int{}
	for i := 0; i < len(ranks); {
		n := i
		for ; n < len(ranks) && ranks[n].node == ranks[i].node && ranks[n].gpus == ranks[i].gpus; n++ {
			if p := ranks[n]; p.local != seen[p.node] {
				fmt.Fprintf(&b, " (rank %d has local ID %d)", n, p.local)
			}
			seen[ranks[n].node]++
		}
		fmt.Fprintf(&b, " %s:%s", ranks[i].node, ranks[i].gpus)
		if n > i+1 {
			fmt.Fprintf(&b, "*%d", n-i)
		}
		i = n
	}
	return b.String()
}

// probeJob writes what Slurm gave a job, and starts its tasks, which say what they have. The last line says
// that nothing follows.
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

// askSlurm lets a real one start a job with such options, and says what it did.
func askSlurm(t *testing.T, probe, options string) string {
	said := probe + ".said"
	os.Remove(said)
	args := append(append([]string{"-o", "/dev/null"}, strings.Fields(options)...), probe, said)
	if b, err := exec.CommandContext(t.Context(), "sbatch", args...).CombinedOutput(); err != nil {
		if _, refused := err.(*exec.ExitError); !refused {
			t.Fatalf("sbatch %s: %v: %s", options, err, b)
		}
		return "refused"
	}
	var out []byte
	for i := range 2400 { // of 50 ms: two minutes, and then something is wrong
		if i%20 == 19 { // what is taken and never starts
			b, _ := exec.CommandContext(t.Context(), "squeue", "-h", "-o", "%i %r").Output()
			f := strings.Fields(string(b))
			if len(f) == 2 && slices.Contains([]string{"PartitionConfig", "BadConstraints"}, f[1]) {
				exec.CommandContext(t.Context(), "scancel", f[0]).Run()
				return "refused"
			}
		}
		if b, err := os.ReadFile(said); err == nil {
			out = b
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if out == nil {
		b, _ := exec.CommandContext(t.Context(), "squeue", "-h", "-o", "%t %r").CombinedOutput()
		t.Fatalf("sbatch %s: the job does not end: %s", options, b)
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

// answer is what submit says of the same options.
func answer(c *slurm.Cluster, options string) string {
	r := &slurm.Request{}
	var words []slurm.Word
	for _, w := range strings.Fields(options) {
		words = append(words, slurm.Word{Text: w})
	}
	rest, err := r.Options(words, false)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%v is no option", rest)
	}
	if err == nil {
		err = r.Check()
	}
	if err != nil {
		return "refused"
	}
	a, err := c.Allocate(r)
	if err != nil {
		return "refused"
	}
	var tasks string
	for _, v := range a.Batch(r, "job") {
		if v.Name == "SLURM_TASKS_PER_NODE" {
			tasks = v.Value
		}
	}
	var has []int
	for _, s := range a.Shares {
		has = append(has, s.Held)
	}
	nodes := slurm.Fold(a.Names())
	s, err := a.Step(r, &slurm.Request{})
	if err != nil {
		return nodes + " tasks " + tasks + " step refused"
	}
	var in []askedRank
	for _, k := range s.Tasks {
		sees := "-"
		if a.Asked {
			sees = strings.ReplaceAll(strings.Trim(fmt.Sprint(k.GPUs), "[]"), " ", ",")
		}
		in = append(in, askedRank{c.Nodes[a.Shares[k.Node].Node].Name, k.Local, sees})
	}
	return tellPlaces(nodes, tasks, has, in)
}

// sixNodes is the cluster that both are asked about.
func sixNodes(t *testing.T) *slurm.Cluster {
	c := &slurm.Cluster{}
	for i, text := range []string{fmt.Sprintf(realConf, 1, "", 2, 7), realTree} {
		if err := c.Read(fmt.Sprint("file ", i), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	return c
}

// agreeRandom asks a real Slurm with random options, and writes down what it did with -rewrite.
func agreeRandom(t *testing.T, dir string) {
	probe := filepath.Join(dir, "asked")
	if err := os.WriteFile(probe, []byte(probeJob), 0o755); err != nil {
		t.Fatal(err)
	}
	sets := 20 // of those in the file, which hold by themselves; a job takes one or two seconds
	if v := os.Getenv("RAILYARD_SLURM_SETS"); v != "" {
		sets, _ = strconv.Atoi(v)
	}
	c := sixNodes(t)
	r := rand.New(rand.NewPCG(18, 1))
	var kept []string
	for range sets {
		options := randomOptions(r)
		idle(t)
		real := askSlurm(t, probe, options)
		kept = append(kept, options+" => "+real)
		if ours := answer(c, options); ours != real && !*rewrite {
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

// What a real Slurm 22.05 did with random options on six nodes is what submit says, also where none is
// installed.
func TestSlurmAnswers(t *testing.T) {
	b, err := os.ReadFile(answers)
	if err != nil {
		t.Fatal(err)
	}
	c := sixNodes(t)
	for _, l := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		options, real, ok := strings.Cut(l, " => ")
		if !ok {
			t.Fatalf("%s: %q has no answer", answers, l)
		}
		if ours := answer(c, options); ours != real {
			t.Errorf("%s\n  Slurm:  %s\n  submit: %s", options, real, ours)
		}
	}
}
