package jobscript

import (
	"slices"
	"strconv"
	"strings"

	"railyard/internal/slurm"
	"railyard/unit"
)

// Process is one that works on a GPU, with its environment.
type Process struct {
	Rank  int
	Node  int // share of the allocation
	Local int // index among the processes of its node
	GPU   int // of its node
	Task  *slurm.Task
	Each  int // number of the process in its task
}

// Crew is the processes of a launch.
type Crew struct {
	Launch    *Launch
	Step      *slurm.Step
	Processes []Process
	Notes     []slurm.Note

	alloc *slurm.Allocation
	job   *slurm.Request
	name  string
}

// Crew assigns a launch's processes to a job's nodes. Each program takes a number of GPUs per process.
func (l *Launch) Crew(a *slurm.Allocation, job *slurm.Request, name string, per int) (*Crew, error) {
	c := &Crew{Launch: l, alloc: a, job: job, name: name}
	own := l.Step
	if own == nil {
		own = &slurm.Request{MinNodes: 1, MaxNodes: 1, Tasks: 1, At0: l.At}
		if e := l.Elastic; e != nil && len(a.Shares) > 1 && (e.Nodes == 0 || e.Nodes > 1) {
			n := e.Nodes // a launcher that itself starts processes on all nodes
			if n == 0 {
				n = len(a.Shares)
			}
			own.MinNodes, own.MaxNodes, own.Tasks = n, n, n
		} else if len(a.Shares) > 1 {
			c.note(l.At, "is started by the batch script alone, on its first node: the other "+
				unit.Plural(len(a.Shares)-1, "node")+" of the job have nothing to do")
		}
	}
	var err error
	if c.Step, err = a.Step(job, own); err != nil {
		return nil, err
	}
	procs, err := c.elastic()
	if err != nil {
		return nil, err
	}
	return c, c.seat(procs, max(1, per))
}

func (c *Crew) note(at slurm.Place, text string) {
	c.Notes = append(c.Notes, slurm.Note{At: at, Text: text})
}

// elastic returns the number of processes that each task starts, 1 without a launcher that starts some.
func (c *Crew) elastic() (int, error) {
	e := c.Launch.Elastic
	if e == nil {
		return 1, nil
	}
	tasks := len(c.Step.Tasks)
	nodes := e.Nodes
	if nodes == 0 && e.World > 0 && e.Procs > 0 {
		nodes = max(1, e.World/e.Procs)
	}
	if nodes == 0 {
		nodes = tasks
	}
	switch {
	case nodes > tasks && tasks == 1 && nodes <= len(c.alloc.Shares): // one srun for each node
		own := &slurm.Request{MinNodes: nodes, MaxNodes: nodes, Tasks: nodes, At0: e.At}
		step, err := c.alloc.Step(c.job, own)
		if err != nil {
			return 0, err
		}
		c.Step, tasks = step, nodes
		c.note(e.At, e.Name+" is for "+unit.Plural(nodes, "node")+" and this command starts it on one: taken as if others start it on the rest")
	case nodes > tasks && tasks == 1:
		return 0, e.At.Fail(e.Name, "is for %s, and the job has %d", unit.Plural(nodes, "node"), len(c.alloc.Shares))
	case nodes != tasks:
		return 0, e.At.Fail(e.Name, "is for %s, and %s: the numbers of nodes must be equal", unit.Plural(nodes, "node"), strings.Replace("is started in "+
			unit.Plural(tasks, "task"), "in 1 task", "once", 1))
	}
	switch {
	case e.World > 0 && e.Procs == 0 && e.World%tasks != 0:
		return 0, e.At.Fail(e.Name, "%s do not divide into %s", unit.Plural(e.World, "process"),
			unit.Plural(tasks, "node"))
	case e.World > 0 && e.Procs == 0:
		return e.World / tasks, nil
	case e.Procs == AllGPUs:
		if n := len(c.Step.Tasks[0].GPUs); n > 0 {
			return n, nil
		}
		return 0, e.At.Fail(e.Name, "starts a process for each GPU, and the number of GPUs per node is not set")
	}
	return e.Procs, nil
}

// seat gives each process its rank and GPU: ranks follow the order of tasks.
func (c *Crew) seat(procs, per int) error {
	if len(c.Step.Tasks)*procs*per > 1<<20 {
		return c.Launch.At.Fail("", "%d processes are more than the %d that are taken",
			len(c.Step.Tasks)*procs*per, 1<<20)
	}
	local := map[int]int{}
	for i := range c.Step.Tasks {
		t := &c.Step.Tasks[i]
		for j := range procs * per {
			p := Process{Rank: len(c.Processes), Node: t.Node, Local: local[t.Node], Task: t, Each: j, GPU: -1}
			local[t.Node]++
			if n := len(t.GPUs); n > 0 {
				at := p.Local
				if t.Bound {
					at = j
				}
				if p.GPU = t.GPUs[at%n]; at >= n {
					return c.Launch.At.Fail("", "node %s has %s for the job, and %d processes or more there",
						c.alloc.Names()[t.Node], unit.Plural(n, "GPU"), at+1)
				}
			}
			c.Processes = append(c.Processes, p)
		}
	}
	return nil
}

// Environment returns the variables of a process: Slurm's, the script's exports, its launcher's.
func (c *Crew) Environment(p *Process) []slurm.Variable {
	all := c.alloc.Environment(c.job, c.name, c.Step, p.Task)
	set := func(name, value string) {
		i := slices.IndexFunc(all, func(v slurm.Variable) bool { return v.Name == name })
		if i < 0 {
			all = append(all, slurm.Variable{Name: name})
			i = len(all) - 1
		}
		all[i].Value = value
	}
	get := func(name string) (string, bool) {
		switch name {
		case "HOSTNAME":
			name = "SLURMD_NODENAME"
		case "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK":
			name = "SLURM_PROCID"
		case "OMPI_COMM_WORLD_LOCAL_RANK", "PMI_LOCAL_RANK":
			name = "SLURM_LOCALID"
		}
		i := slices.IndexFunc(all, func(v slurm.Variable) bool { return v.Name == name })
		if i < 0 {
			return "", false
		}
		return all[i].Value, true
	}
	for _, v := range c.Launch.Env {
		if s, ok := fill(v.Value, get); ok {
			set(v.Name, slurm.Open(s))
		}
	}
	if e := c.Launch.Elastic; e != nil {
		size := len(c.Processes) / len(c.Step.Tasks)
		set("RANK", strconv.Itoa(p.Rank))
		set("LOCAL_RANK", strconv.Itoa(p.Each))
		set("WORLD_SIZE", strconv.Itoa(len(c.Processes)))
		set("LOCAL_WORLD_SIZE", strconv.Itoa(size))
		if e.Name == "torchrun" {
			set("GROUP_RANK", strconv.Itoa(p.Task.Rank))
		}
		if host, port, _ := strings.Cut(e.Endpoint, ":"); host != "" {
			set("MASTER_ADDR", slurm.Open(host))
			if port != "" {
				set("MASTER_PORT", slurm.Open(port))
			}
		}
	}
	return all
}

// fill inserts a process's values; false: one of them is not set.
func fill(s string, get func(string) (string, bool)) (string, bool) {
	for {
		head, rest, ok := strings.Cut(s, each)
		if !ok {
			return s, true
		}
		name, tail, ok := strings.Cut(rest, string(slurm.Known))
		if !ok {
			return s, true
		}
		v, set := get(name)
		if !set {
			return "", false
		}
		s = head + v + tail
	}
}

// Host is the node of a process.
func (c *Crew) Host(p *Process) string { return c.alloc.Names()[p.Node] }
