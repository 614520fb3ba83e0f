package slurm

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/unit"
)

// Request holds the options of a job, or of a step; zero is unset.
type Request struct {
	Name               string
	MinNodes, MaxNodes int
	Tasks              int
	PerNode            int // tasks
	PerGPU             int // tasks
	CPUs               int // per task
	GPUs               int
	GPUsPerNode        int
	GPUsPerTask        int
	GPUType            string
	GPUBind            string
	Exclusive          bool
	Over               bool // more tasks than CPUs
	Switches           int  // maximum number of leaves
	NodeList, Exclude  []string
	Constraint         string
	Partitions         []string
	Distribution       string // block, cyclic, plane
	Plane              int
	Time, Chdir        string
	Export             string

	At    map[string]Place // by option
	At0   Place            // command line
	Idle  []Word           // options without bearing
	Notes []Note

	unread []string
}

// nodes reads a number of nodes, or a range of numbers.
func (r *Request) nodes(v string) (err error) {
	lo, hi, to := strings.Cut(v, "-")
	if !to {
		hi = lo
	}
	var a, z int
	if a, err = number(lo); err == nil {
		z, err = number(hi)
	}
	if err != nil || z < a {
		return field.New("", "found %s, expected a number of nodes, up to %d, or a range such as 4 or 2-4",
			field.Quote(v), maxCount)
	}
	r.MinNodes, r.MaxNodes = a, z
	return nil
}

// gres reads gpu:8, gpu:h100:8 out of a list.
func (r *Request) gres(v string) error {
	for _, part := range strings.Split(v, ",") {
		part, _, _ = strings.Cut(strings.TrimPrefix(part, "gres/"), "(")
		name, rest, counted := strings.Cut(strings.ReplaceAll(part, "=", ":"), ":")
		switch {
		case name != "gpu":
			r.unread = append(r.unread, field.Quote(part)+" is not a GPU: left out")
		case !counted:
			r.GPUsPerNode = 1
		default:
			if err := gpus(func(r *Request) *int { return &r.GPUsPerNode })(r, rest); err != nil {
				return field.New("", "found %s, expected gpu:8 or gpu:h100:8", field.Quote(part))
			}
		}
	}
	return nil
}

// distribution reads how tasks are dealt out to nodes.
func (r *Request) distribution(v string) error {
	first, _, _ := strings.Cut(v, ":")
	first, _, _ = strings.Cut(first, ",")
	how, size, sized := strings.Cut(first, "=")
	switch how {
	case "block", "cyclic":
		r.Distribution = how
	case "*":
	case "plane":
		if !sized {
			return field.New("", "plane needs a size, as plane=4")
		}
		n, err := number(size)
		r.Distribution, r.Plane = how, n
		return err
	case "arbitrary":
		r.unread = append(r.unread, "an arbitrary order is in a file that is not read: block is taken")
	default:
		return field.Choice("", how, []string{"block", "cyclic", "plane=SIZE", "arbitrary"}, "found %s",
			field.Quote(v))
	}
	return nil
}

// at is the place of the first of some options that was given.
func (r *Request) at(names ...string) (Place, string) {
	for _, n := range names {
		if p, ok := r.At[n]; ok {
			return p, "--" + n
		}
	}
	return Place{}, "--" + names[0]
}

// Note adds a warning for the user, at an option's position.
func (r *Request) note(option, format string, args ...any) {
	p, _ := r.at(option)
	r.Notes = append(r.Notes, Note{p, fmt.Sprintf(format, args...)})
}

// fail is an error at the first of some options that was given.
func (r *Request) fail(names []string, format string, args ...any) error {
	p, name := r.at(names...)
	return p.Fail(name, format, args...)
}

// Check refuses contradictions, and derives the number of nodes and tasks.
func (r *Request) Check() error {
	if err := r.planes(); err != nil {
		return err
	}
	if r.MinNodes == 0 {
		r.guess()
	}
	if r.Tasks > 0 && r.Tasks < r.MinNodes { // sbatch does the same, with a warning
		r.note("ntasks", "%s on %s: Slurm takes %s", unit.Plural(r.Tasks, "task"),
			unit.Plural(r.MinNodes, "node"), unit.Plural(r.Tasks, "node"))
		r.MinNodes, r.MaxNodes = r.Tasks, r.Tasks
	}
	lo, hi := r.MinNodes, r.MaxNodes
	if r.PerNode > 0 && r.Tasks > hi*r.PerNode {
		return r.fail([]string{"ntasks", "ntasks-per-node"}, "%s do not fit on %s with --ntasks-per-node=%d",
			unit.Plural(r.Tasks, "task"), unit.Plural(hi, "node"), r.PerNode)
	}
	if n := r.GPUsPerNode; n > 0 && r.GPUs > 0 && (r.GPUs < lo*n || r.GPUs > hi*n || r.GPUs%n != 0) {
		return r.fail([]string{"gpus", "gpus-per-node", "gres"}, "%s, and %d per node on %s make %s",
			unit.Plural(r.GPUs, "GPU"), n, nodesWord(lo, hi), countWord(lo*n, hi*n))
	}
	if n := r.GPUsPerTask; n > 0 {
		if r.GPUsPerNode > 0 && r.PerNode > 0 && n*r.PerNode > r.GPUsPerNode {
			return r.fail([]string{"gpus-per-task"}, "%d for each of %s make %d on a node, which has %d",
				n, unit.Plural(r.PerNode, "task"), n*r.PerNode, r.GPUsPerNode)
		}
		if r.PerGPU > 0 {
			return r.fail([]string{"gpus-per-task"}, "does not go with --ntasks-per-gpu")
		}
	}
	return r.named()
}

// guess determines the number of nodes where no option sets it.
func (r *Request) guess() {
	switch {
	case r.PerNode > 0 && r.Tasks > 0:
		r.MinNodes = (r.Tasks + r.PerNode - 1) / r.PerNode
	case r.GPUs > 0 && r.GPUsPerNode > 0:
		r.MinNodes = max(1, r.GPUs/r.GPUsPerNode)
	case len(r.NodeList) > 0:
		r.MinNodes = len(r.NodeList)
	default:
		r.MinNodes = 1
		r.MaxNodes = maxCount // as many nodes as the tasks need
		return
	}
	r.MaxNodes = r.MinNodes
}

// named refuses lists of nodes that contradict each other.
func (r *Request) named() error {
	for _, n := range r.NodeList {
		if slices.Contains(r.Exclude, n) {
			return r.fail([]string{"exclude"}, "%s is in --nodelist as well", n)
		}
	}
	if len(r.NodeList) > r.MaxNodes {
		return r.fail([]string{"nodelist"}, "names %s, and the job is for %s",
			unit.Plural(len(r.NodeList), "node"), unit.Plural(r.MaxNodes, "node"))
	}
	return nil
}

func nodesWord(lo, hi int) string {
	if lo == hi {
		return unit.Plural(lo, "node")
	}
	return countWord(lo, hi) + " nodes"
}

func countWord(lo, hi int) string {
	if lo == hi {
		return fmt.Sprint(lo)
	}
	if hi >= maxCount {
		return fmt.Sprintf("%d or more", lo)
	}
	return fmt.Sprintf("%d to %d", lo, hi)
}
