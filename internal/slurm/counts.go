package slurm

import "railyard/unit"

// tell sets the number of tasks in the batch script's environment, and the CPUs after it: with whole nodes and no
// number of tasks, as many as their CPUs permit.
func (a *Allocation) tell(r *Request) {
	var counts []int
	if step, err := a.step(r, &Request{}, r.CPUs); err == nil && r.PerNode == 0 {
		counts = step.Counts
	}
	for i := range a.Shares {
		s := &a.Shares[i]
		switch {
		case r.PerNode > 0:
			if s.Told = s.Most; a.Whole || s.Most > maxCount/2 {
				s.Told = r.PerNode
			}
		case a.Whole && r.Tasks == 0 && s.CPUs > 0:
			s.Told = max(1, s.CPUs/max(1, r.CPUs))
		case i < len(counts):
			s.Told = counts[i]
		}
		if r.CPUs > 1 && r.PerNode == 0 && r.Tasks > 0 && !r.Over && !a.Whole && s.CPUs > 0 && s.Told > 0 {
			s.CPUs = min(a.Cluster.Nodes[s.Node].CPUs, s.Told*r.CPUs)
		}
	}
}

// counts refuses contradicting numbers as sbatch does, and derives tasks from GPUs. The rules are the results of a real
// Slurm 22.05, in TestSlurmAnswers.
func (r *Request) counts() error {
	_, said := r.At["nodes"]
	if n := r.GPUs; n > 0 && said && n < r.MinNodes {
		return r.fail([]string{"gpus"}, "%s on %s: every node needs one at least", unit.Plural(n, "GPU"),
			nodesWord(r.MinNodes, r.MaxNodes))
	}
	each := r.GPUsPerTask
	if each == 0 {
		return nil
	}
	exact := r.MinNodes == r.MaxNodes
	tasks, perNode := r.Tasks, r.PerNode
	switch {
	case tasks > 0:
	case perNode > 0 && (exact || !said):
		tasks = r.MinNodes * perNode
	case said && exact && r.CPUs == 0: // sbatch assumes one task per node, unless the nodes' CPUs are known
		tasks = r.MinNodes
	}
	if n := r.GPUsPerNode; n > 0 {
		switch {
		case n%each != 0:
			return r.fail([]string{"gpus-per-task"}, "%d do not divide the %d of a node", each, n)
		case perNode > 0 && perNode != n/each:
			return r.fail([]string{"gpus-per-task"}, "%d per task and %d per node make %s on a node, and --ntasks-per-node=%d", each, n, unit.Plural(n/each, "task"), perNode)
		}
		perNode = n / each
	}
	if n := r.GPUs; n > 0 {
		switch want := n / each; {
		case n%each != 0:
			return r.fail([]string{"gpus-per-task"}, "%d do not divide --gpus=%d", each, n)
		case tasks > 0 && tasks != want:
			return r.fail([]string{"gpus-per-task"}, "%d per task of --gpus=%d make %s, and the job has %d",
				each, n, unit.Plural(want, "task"), tasks)
		default:
			tasks = want
		}
	}
	switch {
	case tasks == 0:
		return r.fail([]string{"gpus-per-task"}, "needs --ntasks or --gpus with it: Slurm does not count tasks by nodes here")
	case perNode > tasks:
		return r.fail([]string{"gpus-per-task"}, "%s on each node, and the job has %d",
			unit.Plural(perNode, "task"), tasks)
	}
	if r.Tasks == 0 && r.PerNode == 0 && r.GPUsPerNode > 0 && r.GPUs == 0 {
		tasks = r.MinNodes * perNode
	}
	r.Tasks = tasks
	return nil
}

// planes refuses a distribution in planes that leaves nodes without a task, as sbatch and srun do, based on the
// requested nodes.
func (r *Request) planes() error {
	tasks, exact := r.Tasks, r.MinNodes == r.MaxNodes
	switch {
	case tasks == 0 && exact:
		tasks = r.MinNodes * max(1, r.PerNode)
	case tasks == 0:
		tasks = 1
	}
	if r.Plane == 0 || r.MinNodes == 0 || min(r.MinNodes-1, maxCount/r.Plane)*r.Plane < tasks {
		return nil
	}
	return r.fail([]string{"distribution"}, "%s in planes of %d do not reach %s; %d or more do",
		unit.Plural(tasks, "task"), r.Plane, unit.Plural(r.MinNodes, "node"),
		(r.MinNodes-1)*r.Plane+1)
}
