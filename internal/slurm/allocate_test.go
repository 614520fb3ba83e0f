package slurm

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/story"
)

// six is a cluster of six servers with 32 cores and eight GPUs, two on one leaf and four on another.
const six = `
NodeName=node[1-6] CPUs=32 Gres=gpu:h100:8 Feature=h100,ib State=UNKNOWN
PartitionName=gpu Nodes=ALL Default=YES State=UP
`

const sixTree = `
SwitchName=leaf1 Nodes=node[1-2]
SwitchName=leaf2 Nodes=node[3-6]
SwitchName=spine Switches=leaf[1-2]
`

// cluster reads descriptions.
func cluster(t testing.TB, texts ...string) *Cluster {
	t.Helper()
	c := &Cluster{}
	for i, s := range texts {
		if err := c.Read(fmt.Sprintf("file-%d", i+1), []byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	return c
}

// words are those of a command line.
func words(line string) (all []Word) {
	col := 1
	for _, w := range strings.Fields(line) {
		all = append(all, Word{w, Place{"job", 1, col}})
		col += len(w) + 1
	}
	return all
}

// request reads options and settles them.
func request(line string) (*Request, error) {
	r := &Request{}
	rest, err := r.Options(words(line), false)
	if err == nil && len(rest) > 0 {
		err = rest[0].At.Fail(rest[0].Text, "is not an option")
	}
	if err == nil {
		err = r.Check()
	}
	return r, err
}

// tell says who gets what, as a job's own srun would print it.
func tell(c *Cluster, line string) string {
	job, step, _ := strings.Cut(line, " srun")
	r, err := request(job)
	if err != nil {
		return err.Error()
	}
	a, err := c.Allocate(r)
	if err != nil {
		return err.Error()
	}
	own := &Request{}
	if _, err = own.Options(words(step), true); err != nil {
		return err.Error()
	}
	if own.MinNodes+own.Tasks+own.PerNode > 0 && err == nil {
		nodes := own.MinNodes
		if nodes > 0 {
			err = own.Check()
		}
	}
	if err != nil {
		return err.Error()
	}
	s, err := a.Step(r, own)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	counts := s.Counts
	if step == "" { // what the batch script is told
		for i := range a.Shares {
			counts[i] = a.Shares[i].Told
		}
	}
	fmt.Fprintf(&b, "%s, tasks %s\n", Fold(a.Names()), Repeats(counts))
	for _, k := range s.Tasks {
		fmt.Fprintf(&b, "%d:%s:%d:%s ", k.Rank, c.Nodes[a.Shares[k.Node].Node].Name, k.Local, list(k.GPUs))
		if k.Rank == 7 && len(s.Tasks) > 8 {
			b.WriteString("...")
			break
		}
	}
	for _, n := range append(r.Notes, a.Notes...) {
		fmt.Fprintf(&b, "\nnote: %s", n.Text)
	}
	return b.String()
}

// What a real Slurm 22.05 did with the same options on the same cluster is what stands here: TestSlurmAgrees
// of cmd/railyard asks one again.
func TestAllocations(t *testing.T) {
	c := cluster(t, six, sixTree)
	story.Cases(t, "allocations", func(in string) string { return tell(c, strings.TrimSpace(in)) })
}

// A range of nodes gets its least first and one CPU of each of the others; tasks are dealt out in turn, and
// nodes beyond the tasks are not taken. What stands here a real Slurm 22.05 said.
func TestRanges(t *testing.T) {
	c := cluster(t, six, sixTree)
	for options, want := range map[string]string{
		"-N1-6 -n100":             "node[1-6] 1(x2),32,31(x2),4",
		"-N6 -n100":               "node[1-6] 1(x2),32(x3),2",
		"-N1-6 -n40":              "node[1-6] 1(x2),28,8,1(x2)",
		"-N1-6 -n7":               "node[1-6] 1(x2),2,1(x3)",
		"-N1-3 -n50":              "node[3-5] 31,18,1",
		"-N2-4 -n3":               "node[3-5] 1(x3)",
		"-N2-3 -n70 -w node6":     "node[3-4,6] 32,6,32",
		"-N2-5 -n90 -x node3":     "node[1-2,4-6] 1(x2),31(x2),26",
		"-N2-4 --gpus-per-node=8": "node[3-6] 1(x4)",
	} {
		r, err := request(options)
		if err != nil {
			t.Fatal(err)
		}
		a, err := c.Allocate(r)
		if err != nil {
			t.Fatal(err)
		}
		s, err := a.Step(r, &Request{})
		if err != nil {
			t.Fatal(err)
		}
		if got := Fold(a.Names()) + " " + Repeats(s.Counts); got != want {
			t.Errorf("%s: %s, a real one has %s", options, got, want)
		}
	}
	// GPUs are dealt out in the order of nodes, whichever were chosen first.
	r, err := request("-N6 -G20")
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.Allocate(r)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range a.Shares {
		if want := []int{8, 8, 1, 1, 1, 1}[i]; len(s.GPUs) != want {
			t.Errorf("-N6 -G20: node%d has %d GPUs, a real Slurm gives %d", i+1, len(s.GPUs), want)
		}
	}
}
