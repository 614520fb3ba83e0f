package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"railyard/internal/slurm"
)

// What a real Slurm 22.05 did, one a line, after => and its options. Both files are written anew by
// RAILYARD_SLURM_SETS=300 go test -run TestRealSlurmAgrees -rewrite.
const (
	choices = "testdata/slurm_choices.txt" // nodes, and tasks on each
	answers = "testdata/slurm_answers.txt" // random options; GPUs and ranks too
)

// realConf is a cluster of six nodes on this host, each with its own slurmd (docs/references.md, slurm); GPUs are
// files. It has a folder, and ports of its own network. proctrack/pgid would take 3 s to detect the end of a batch
// job. Railyard reads the same text.
const realConf = `ClusterName=railyard
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=6817
SlurmUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation=%[1]s/state
SlurmdSpoolDir=%[1]s/spool-%%n
SlurmctldPidFile=%[1]s/slurmctld.pid
SlurmdPidFile=%[1]s/slurmd-%%n.pid
SlurmctldLogFile=%[1]s/slurmctld.log
SlurmdLogFile=%[1]s/slurmd-%%n.log
ProctrackType=proctrack/linuxproc
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
NodeName=node[1-6] NodeAddr=127.0.0.1 NodeHostname=localhost Port=[6818-6823] CPUs=32 Boards=1 \
  SocketsPerBoard=2 CoresPerSocket=16 ThreadsPerCore=1 Gres=gpu:h100:8 Feature=h100 State=UNKNOWN
PartitionName=gpu Nodes=ALL Default=YES State=UP MaxTime=INFINITE
`

const realTree = `SwitchName=leaf1 Nodes=node[1-2]
SwitchName=leaf2 Nodes=node[3-6]
SwitchName=spine Switches=leaf[1-2]
`

// askedRank is one process: its node and its visible GPUs.
type askedRank struct {
	node  string
	local int
	gpus  string
}

// tellPlaces describes the placement: nodes, tasks and GPUs of each, and the ranks in order, with equal ones
// grouped.
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

// answer returns submit's result for the same options.
func answer(c *slurm.Cluster, options string) string {
	r := &slurm.Request{}
	var words []slurm.Word
	for _, w := range strings.Fields(options) {
		words = append(words, slurm.Word{Text: w})
	}
	rest, err := r.Options(words, false)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%v is not an option", rest)
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

// sixNodes is the cluster for both.
func sixNodes(t *testing.T) *slurm.Cluster {
	c := &slurm.Cluster{}
	for i, text := range []string{fmt.Sprintf(realConf, ""), realTree} {
		if err := c.Read(fmt.Sprint("file ", i), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	return c
}

// submit's result for random options on six nodes equals that of a real Slurm 22.05, also where none is installed.
func TestSlurmAnswers(t *testing.T) {
	c := sixNodes(t)
	for _, a := range recorded(t, answers) {
		if ours := answer(c, a[0]); ours != a[1] {
			t.Errorf("%s\n  Slurm:  %s\n  submit: %s", a[0], a[1], ours)
		}
	}
}

// nodesTaken returns which nodes submit uses for options, and how many tasks it assigns to each.
func nodesTaken(t *testing.T, options string) string {
	t.Helper()
	c, r := sixNodes(t), &slurm.Request{}
	var words []slurm.Word
	for _, w := range strings.Fields(options) {
		words = append(words, slurm.Word{Text: w})
	}
	_, err := r.Options(words, false)
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
	said := slurm.Fold(a.Names())
	for _, v := range a.Batch(r, "job") {
		if v.Name == "SLURM_TASKS_PER_NODE" {
			said += " " + v.Value
		}
	}
	return said
}

// recorded are the lines of a file of Slurm's results: options, and the result after =>.
func recorded(t *testing.T, file string) (all [][2]string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		options, real, ok := strings.Cut(l, " => ")
		if !ok {
			t.Fatalf("%s: %q has no answer", file, l)
		}
		all = append(all, [2]string{options, real})
	}
	return all
}

// Realistic combinations of options: submit uses the nodes that a real Slurm 22.05 used, and distributes tasks as
// it did.
func TestSlurmChoices(t *testing.T) {
	all := recorded(t, choices)
	for _, c := range all {
		if ours := nodesTaken(t, c[0]); ours != c[1] {
			t.Errorf("%s: Slurm has %q, submit %q", c[0], c[1], ours)
		}
	}
	if len(all) < 30 {
		t.Errorf("%d sets of options", len(all))
	}
}
