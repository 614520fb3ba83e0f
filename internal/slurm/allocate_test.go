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
		err = rest[0].At.Fail(rest[0].Text, "is no option")
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
	fmt.Fprintf(&b, "%s, tasks %s\n", Fold(a.Names()), Repeats(s.Counts))
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
