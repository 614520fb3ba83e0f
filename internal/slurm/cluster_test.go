package slurm

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"railyard/internal/story"

	"pgregory.net/rapid"
)

// describe returns what is understood of a description.
func describe(in string) string {
	c := &Cluster{Open: func(name string) ([]byte, error) {
		switch name {
		case "nodes.conf":
			return []byte("NodeName=r[1-2]n[01-02] CPUs=4 Gres=gpu:h100:8,nic:mlx5:8 Features=h100\n"), nil
		case "itself.conf":
			return []byte("include itself.conf\n"), nil
		}
		return nil, errors.New("is not there")
	}}
	if err := c.Read("file", []byte(in)); err != nil {
		return err.Error()
	}
	var b strings.Builder
	for i := range c.Nodes {
		n := &c.Nodes[i]
		fmt.Fprintf(&b, "%s: %d CPUs, %d GPUs %s", n.Name, n.CPUs, n.GPUs, n.GPUType)
		for _, x := range []string{strings.Join(n.Features, "+"), strings.Join(n.Partitions, "+"), n.Down,
			n.Busy} {
			b.WriteString(", " + x)
		}
		b.WriteString("\n")
	}
	for _, s := range c.Switches {
		fmt.Fprintf(&b, "switch %s: nodes %s, switches %s\n", s.Name, Fold(s.Nodes), Fold(s.Switches))
	}
	for _, n := range c.Notes {
		fmt.Fprintf(&b, "note %d: %s\n", n.At.Line, n.Text)
	}
	if err := c.Check(); err != nil {
		fmt.Fprintln(&b, err)
	}
	return b.String()
}

// What slurm.conf, topology.conf, scontrol and sinfo say; those of scontrol and sinfo are of 22.05.
func TestDescriptions(t *testing.T) { story.Cases(t, "descriptions", describe) }

// Whatever the options and the cluster, a job gets no node twice, none that it cannot have, no more than it
// asks for, and every task has a place; and a description that is cut anywhere is read or refused.
func TestAnyRequest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &Cluster{}
		leaves := rapid.IntRange(1, 4).Draw(t, "leaves")
		for l := range leaves {
			var names []string
			for n := range rapid.IntRange(1, 5).Draw(t, "nodes") {
				name := fmt.Sprintf("n%d-%d", l, n)
				down := map[bool]string{true: "down"}[rapid.IntRange(0, 9).Draw(t, "down") == 0]
				c.Add(Node{Name: name, CPUs: rapid.SampledFrom([]int{0, 8, 32}).Draw(t, "cpus"), GPUs: 8,
					Down: down})
				names = append(names, name)
			}
			c.Switches = append(c.Switches, Switch{Name: fmt.Sprint("leaf", l), Nodes: names})
		}
		if rapid.Bool().Draw(t, "spine") {
			c.Switches = append(c.Switches, Switch{Name: "spine"})
			for l := range leaves {
				c.Switches[leaves].Switches = append(c.Switches[leaves].Switches, fmt.Sprint("leaf", l))
			}
		}
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		var line []string
		for _, o := range []string{"-N%d", "-n%d", "--ntasks-per-node=%d", "--gpus-per-node=%d", "-c%d",
			"--gpus=%d", "--gpus-per-task=%d"} {
			if rapid.Bool().Draw(t, o) {
				line = append(line, fmt.Sprintf(o, rapid.IntRange(1, 9).Draw(t, "value")))
			}
		}
		if rapid.Bool().Draw(t, "exclusive") {
			line = append(line, "--exclusive")
		}
		r, err := request(strings.Join(line, " "))
		if err != nil {
			return
		}
		a, err := c.Allocate(r)
		if err != nil {
			return
		}
		if n := len(a.Shares); n < r.MinNodes || n > r.MaxNodes {
			t.Fatalf("%v: %d nodes", line, n)
		}
		seen := map[int]bool{}
		for _, s := range a.Shares {
			if seen[s.Node] || c.Nodes[s.Node].Down != "" || len(s.GPUs) > 8 ||
				c.Nodes[s.Node].CPUs > 0 && s.CPUs > c.Nodes[s.Node].CPUs {
				t.Fatalf("%v: %+v", line, s)
			}
			seen[s.Node] = true
		}
		step, err := a.Step(r, &Request{})
		if err != nil {
			return
		}
		for rank, k := range step.Tasks {
			if k.Rank != rank || k.Node >= len(a.Shares) || r.Tasks > 0 && len(step.Tasks) != r.Tasks {
				t.Fatalf("%v: %+v", line, k)
			}
			a.Environment(r, "job", step, &step.Tasks[rank])
		}
	})
}
