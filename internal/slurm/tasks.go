package slurm

import (
	"slices"
	"strconv"
	"strings"

	"railyard/unit"
)

// Task is one process that srun starts.
type Task struct {
	Rank  int // SLURM_PROCID
	Node  int // SLURM_NODEID, which is the place in the allocation's shares
	Local int // SLURM_LOCALID
	GPUs  []int
	Bound bool // whether the task sees no other GPUs of its node
}

// Step is a job step that srun starts within an allocation.
type Step struct {
	Request *Request
	Nodes   []int // shares, in order
	Counts  []int // tasks by node of these
	Tasks   []Task
}

// Step lays out the tasks of a step, whose options override the job's. Both have passed Check.
func (a *Allocation) Step(job, own *Request) (*Step, error) { return a.step(job, own, own.CPUs) }

// step lays out tasks with the given CPUs each. Since Slurm 22.05 srun does not take --cpus-per-task over from the
// job (srun(1)): it deals tasks out as if each had one.
func (a *Allocation) step(job, own *Request, cpus int) (*Step, error) {
	r := inherit(job, own)
	r.CPUs = cpus
	s := &Step{Request: r}
	if err := a.stepNodes(s, own); err != nil {
		return nil, err
	}
	total := r.Tasks
	if total == 0 && r.PerNode > 0 {
		total = r.PerNode * len(s.Nodes)
	}
	if total == 0 {
		total = len(s.Nodes)
	}
	room := make([]int, len(s.Nodes))
	all := 0
	for i, n := range s.Nodes {
		sh := &a.Shares[n]
		room[i] = sh.Most
		if sh.CPUs > 0 && !slices.Contains([]int{0, 1}, r.CPUs) {
			room[i] = max(1, min(room[i], sh.CPUs/r.CPUs))
		}
		if (own.Tasks > 0 || cpus < job.CPUs) && own.PerNode == 0 && sh.CPUs > 0 {
			room[i] = max(room[i], sh.CPUs/max(1, r.CPUs))
		}
		if r.PerNode > 0 && (own.PerNode > 0 || r.Plane == 0) {
			room[i] = min(room[i], r.PerNode)
		}
		if r.Over && r.PerNode == 0 {
			room[i] = total
		}
		if r.GPUsPerTask > 0 && len(sh.GPUs) > 0 {
			room[i] = min(room[i], len(sh.GPUs)/r.GPUsPerTask)
		}
		all = min(all+room[i], maxCount)
	}
	over := r.Over || own.Tasks == 0 && own.CPUs == 0 && r.CPUs > 1 && all < maxCount
	if total > all && !over {
		return nil, own.fail([]string{"ntasks", "ntasks-per-node", "nodes", "gpus-per-task"},
			"the step is for %s, and the job allows %d on %s", unit.Plural(total, "task"), all,
			unit.Plural(len(s.Nodes), "node"))
	}
	s.deal(total, room)
	for i := range s.Tasks {
		a.visible(r, &s.Tasks[i])
	}
	return s, nil
}

// inherit returns a step's request, whose open fields are taken from the job's environment, as srun does.
func inherit(job, own *Request) *Request {
	r := *own
	if r.Tasks == 0 && r.PerNode == 0 {
		r.Tasks, r.PerNode = job.Tasks, job.PerNode
		if r.Tasks == 0 && job.PerGPU > 0 {
			r.Tasks = job.PerGPU * job.GPUs
		}
		if r.Tasks == 0 && job.GPUsPerTask > 0 && job.GPUs > 0 {
			r.Tasks = job.GPUs / job.GPUsPerTask
		}
	}
	for _, x := range []struct {
		to   *int
		from int
	}{{&r.GPUsPerTask, job.GPUsPerTask}, {&r.PerGPU, job.PerGPU}} {
		if *x.to == 0 {
			*x.to = x.from
		}
	}
	r.Over = own.Over || job.Over
	if r.GPUBind == "" {
		r.GPUBind = job.GPUBind
	}
	if r.Distribution == "" {
		r.Distribution, r.Plane = job.Distribution, job.Plane
	}
	return &r
}

// stepNodes chooses the nodes of a step: those it names, or the first.
func (a *Allocation) stepNodes(s *Step, own *Request) error {
	names := a.Names()
	if len(own.NodeList) > 0 {
		for _, n := range own.NodeList {
			i := slices.Index(names, n)
			if i < 0 {
				return own.fail([]string{"nodelist"}, "the job has no node %s; it has %s", n, Fold(names))
			}
			s.Nodes = append(s.Nodes, i)
		}
		slices.Sort(s.Nodes)
	}
	want := len(a.Shares)
	if own.MinNodes > 0 {
		if own.MinNodes > want {
			return own.fail([]string{"nodes"}, "the step is for %s, and the job has %d",
				unit.Plural(own.MinNodes, "node"), want)
		}
		want = min(want, own.MaxNodes)
	} else if len(s.Nodes) > 0 {
		want = len(s.Nodes)
	}
	if n := s.Request.Tasks; n > 0 {
		want = min(want, n)
	}
	for i := range a.Shares {
		if len(s.Nodes) < want && !slices.Contains(s.Nodes, i) && !slices.Contains(own.Exclude, names[i]) {
			s.Nodes = append(s.Nodes, i)
		}
	}
	slices.Sort(s.Nodes)
	return nil
}

// deal lays tasks out: the number per node is counted in turn, then tasks are numbered by the distribution, by
// default block (slurm_step_layout: a cyclic count, made in blocks).
func (s *Step) deal(total int, room []int) {
	s.Counts = make([]int, len(room))
	size := 1
	if s.Request.Distribution == "plane" {
		size = s.Request.Plane
	}
	var turns []int // nodes, by rank, in turn
	full := 0
	for len(turns) < total {
		for i := range room {
			for k := 0; k < size && s.Counts[i] < room[i] && len(turns) < total; k++ {
				s.Counts[i]++
				turns = append(turns, i)
			}
		}
		if len(turns) == full { // CPUs are short: in turn, beyond them
			for i := range room {
				room[i]++
			}
		}
		full = len(turns)
	}
	if d := s.Request.Distribution; d != "cyclic" && d != "plane" {
		slices.Sort(turns)
	}
	next := make([]int, len(room))
	for rank, i := range turns {
		s.Tasks = append(s.Tasks, Task{Rank: rank, Node: s.Nodes[i], Local: next[i]})
		next[i]++
	}
}

// visible sets which GPUs a task sees (srun(1), --gpus-per-task and --gpu-bind).
func (a *Allocation) visible(r *Request, t *Task) {
	have := a.Shares[t.Node].GPUs
	t.GPUs = have
	take := func(first, n int) {
		if first >= 0 && n > 0 && first+n <= len(have) {
			t.GPUs, t.Bound = have[first:first+n], true
		}
	}
	how, list, _ := strings.Cut(strings.TrimPrefix(r.GPUBind, "verbose,"), ":")
	switch {
	case how == "none":
	case how == "map_gpu":
		ids := strings.Split(list, ",")
		if g, err := strconv.Atoi(ids[t.Local%len(ids)]); err == nil {
			take(slices.Index(have, g), 1)
		}
	case how == "single" && len(have) > 0:
		n, _ := strconv.Atoi(list)
		take(t.Local/max(1, n)%len(have), 1)
	case how == "per_task":
		n, _ := strconv.Atoi(list)
		take(t.Local*n, n)
	case r.GPUsPerTask > 0:
		take(t.Local*r.GPUsPerTask, r.GPUsPerTask)
	case r.PerGPU > 0:
		take(t.Local/r.PerGPU, 1)
	}
}
