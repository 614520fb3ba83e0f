package slurm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Variable is one of an environment.
type Variable struct{ Name, Value string }

// job is the variables that both the batch script and tasks have.
func (a *Allocation) job(r *Request, name string) []Variable {
	names := a.Names()
	cpus := make([]int, len(a.Shares))
	for i, s := range a.Shares {
		cpus[i] = s.CPUs
	}
	all := []Variable{
		{"SLURM_JOB_ID", "1"}, {"SLURM_JOBID", "1"}, {"SLURM_JOB_NAME", name},
		{"SLURM_JOB_NODELIST", a.list()}, {"SLURM_NODELIST", a.list()},
		{"SLURM_JOB_NUM_NODES", strconv.Itoa(len(names))}, {"SLURM_NNODES", strconv.Itoa(len(names))},
	}
	if cpus[0] > 0 {
		all = append(all, Variable{"SLURM_JOB_CPUS_PER_NODE", Repeats(cpus)})
	}
	for _, x := range []struct {
		name string
		n    int
	}{{"SLURM_CPUS_PER_TASK", r.CPUs}, {"SLURM_NTASKS_PER_NODE", r.PerNode},
		{"SLURM_GPUS_PER_TASK", r.GPUsPerTask}, {"SLURM_GPUS", r.GPUs}} {
		if x.n > 0 {
			all = append(all, Variable{x.name, strconv.Itoa(x.n)})
		}
	}
	if _, said := r.At["gpus-per-node"]; said {
		all = append(all, Variable{"SLURM_GPUS_PER_NODE", strconv.Itoa(r.GPUsPerNode)})
	}
	if len(r.Partitions) > 0 {
		all = append(all, Variable{"SLURM_JOB_PARTITION", r.Partitions[0]})
	} else if a.Cluster.Default != "" {
		all = append(all, Variable{"SLURM_JOB_PARTITION", a.Cluster.Default})
	}
	return all
}

// Batch is the environment of the batch script, which runs on the first node.
func (a *Allocation) Batch(r *Request, name string) []Variable {
	all := append(a.job(r, name), Variable{"SLURMD_NODENAME", a.Names()[0]},
		Variable{"SLURM_NODEID", "0"}, Variable{"SLURM_PROCID", "0"}, Variable{"SLURM_LOCALID", "0"})
	tasks := r.Tasks
	if tasks == 0 && r.PerNode > 0 {
		tasks = r.PerNode * len(a.Shares)
	}
	if tasks > 0 {
		all = append(all, Variable{"SLURM_NTASKS", strconv.Itoa(tasks)},
			Variable{"SLURM_NPROCS", strconv.Itoa(tasks)})
	}
	told := make([]int, len(a.Shares)) // the ranks of the job, whatever a step starts
	for i := range told {
		told[i] = a.Shares[i].Told
	}
	if !slices.Contains(told, 0) {
		all = append(all, Variable{"SLURM_TASKS_PER_NODE", Repeats(told)})
	}
	if n := len(a.Shares[0].GPUs); n > 0 {
		all = append(all, Variable{"SLURM_GPUS_ON_NODE", strconv.Itoa(n)})
		if a.Asked {
			all = append(all, Variable{"CUDA_VISIBLE_DEVICES", list(a.Shares[0].GPUs)})
		}
	}
	if n := a.Shares[0].CPUs; n > 0 {
		all = append(all, Variable{"SLURM_CPUS_ON_NODE", strconv.Itoa(n)})
	}
	return all
}

// Environment returns the variables that Slurm sets for a task.
func (a *Allocation) Environment(job *Request, name string, s *Step, t *Task) []Variable {
	all := append(a.job(job, name),
		Variable{"SLURMD_NODENAME", a.Names()[t.Node]},
		Variable{"SLURM_NODEID", strconv.Itoa(place(s.Nodes, t.Node))},
		Variable{"SLURM_PROCID", strconv.Itoa(t.Rank)}, Variable{"SLURM_LOCALID", strconv.Itoa(t.Local)},
		Variable{"SLURM_NTASKS", strconv.Itoa(len(s.Tasks))},
		Variable{"SLURM_NPROCS", strconv.Itoa(len(s.Tasks))},
		Variable{"SLURM_STEP_NUM_TASKS", strconv.Itoa(len(s.Tasks))},
		Variable{"SLURM_STEP_NUM_NODES", strconv.Itoa(len(s.Nodes))},
		Variable{"SLURM_STEP_TASKS_PER_NODE", Repeats(s.Counts)},
		Variable{"SLURM_TASKS_PER_NODE", Repeats(s.Counts)})
	if n := len(a.Shares[t.Node].GPUs); n > 0 {
		all = append(all, Variable{"SLURM_GPUS_ON_NODE", strconv.Itoa(n)})
		if a.Asked || t.Bound {
			all = append(all, Variable{"CUDA_VISIBLE_DEVICES", list(t.GPUs)})
		}
	}
	return all
}

// place is a node's number within a step.
func place(nodes []int, n int) int {
	for i, m := range nodes {
		if m == n {
			return i
		}
	}
	return 0
}

// list writes numbers with commas.
func list(all []int) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(all), " ", ","), "[]") }
