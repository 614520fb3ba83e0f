package slurm

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/unit"
)

// Share is the part of a node that a job gets.
type Share struct {
	Node int   // of the cluster
	CPUs int   // 0: unknown
	Most int   // tasks that fit
	Told int   // tasks, as in SLURM_TASKS_PER_NODE
	GPUs []int // GPUs that its tasks see
	Held int   // GPUs reserved for the job: all of a whole node
}

// Allocation is the nodes of a job in the order of Slurm's node IDs.
type Allocation struct {
	Cluster *Cluster
	Shares  []Share
	Whole   bool
	Asked   bool // whether the job requests GPUs: Slurm then sets CUDA_VISIBLE_DEVICES
	Notes   []Note

	names  []string // names of the shares' nodes, computed on first use; folded in one string
	folded string
}

// hall is the set of nodes to choose from.
type hall struct {
	c    *Cluster
	r    *Request
	room []int // by node: number of tasks; 0: unavailable
	tree [][]int
	a    *Allocation
}

// Allocate chooses nodes for a request that Check has accepted: idle ones if they suffice, below the lowest switch with
// enough room, on the best-fitting leaves.
func (c *Cluster) Allocate(r *Request) (*Allocation, error) {
	h := &hall{c: c, r: r, a: &Allocation{Cluster: c, Whole: c.whole(r),
		Asked: r.GPUs+r.GPUsPerNode+r.GPUsPerTask > 0}}
	if err := r.counts(); err != nil {
		return nil, err
	}
	if err := h.names(); err != nil {
		return nil, err
	}
	h.features()
	h.parts()
	chosen, _ := h.choose(false)
	if chosen == nil {
		var why error
		if chosen, why = h.choose(true); chosen == nil {
			return nil, why
		}
		h.a.Notes = append(h.a.Notes, Note{Text: fmt.Sprintf("the job is blocked on nodes of other jobs (%s are idle): shown as if they had ended", unit.Plural(h.idle(), "node"))})
	}
	h.share(chosen)
	h.a.tell(r)
	return h.a, nil
}

// whole reports whether jobs get whole nodes.
func (c *Cluster) whole(r *Request) bool {
	of := r.Partitions
	if len(of) == 0 && c.Default != "" {
		of = []string{c.Default}
	}
	return r.Exclusive || c.Whole || slices.ContainsFunc(of, func(p string) bool {
		return slices.Contains(c.Exclusive, p)
	})
}

// names refuses nodes, partitions and features that there are not.
func (h *hall) names() error {
	for _, list := range []struct {
		option string
		names  []string
	}{{"nodelist", h.r.NodeList}, {"exclude", h.r.Exclude}} {
		for _, n := range list.names {
			if _, ok := h.c.Node(n); !ok {
				return h.r.fail([]string{list.option}, "the cluster has no node %s; it has %s",
					field.Quote(n), field.Clip(h.c.all()))
			}
		}
	}
	var known []string
	for i := range h.c.Nodes {
		for _, p := range h.c.Nodes[i].Partitions {
			if !slices.Contains(known, p) {
				known = append(known, p)
			}
		}
	}
	for _, p := range h.r.Partitions {
		if len(known) > 0 && !slices.Contains(known, p) {
			at, name := h.r.at("partition")
			return at.choice(name, p, known, "the cluster has no partition %s", field.Quote(p))
		}
	}
	return nil
}

// features ignores a constraint if the features of nodes are unknown.
func (h *hall) features() {
	if h.r.Constraint == "" || slices.ContainsFunc(h.c.Nodes, func(n Node) bool { return len(n.Features) > 0 }) {
		return
	}
	p, _ := h.r.at("constraint")
	h.a.Notes = append(h.a.Notes, Note{p, "--constraint=" + h.r.Constraint + ": the features of the nodes are unknown: left out"})
	r := *h.r
	r.Constraint = ""
	h.r = &r
}

// all is the names of all nodes.
func (c *Cluster) all() string {
	var names []string
	for i := range c.Nodes {
		names = append(names, c.Nodes[i].Name)
	}
	return Fold(names)
}

// parts finds which nodes share a leaf, and which leaves a switch above them, from the leaves up.
func (h *hall) parts() {
	if len(h.c.Switches) == 0 {
		var all []int
		for i := range h.c.Nodes {
			all = append(all, i)
		}
		h.tree = [][]int{all}
		return
	}
	index := map[string]int{}
	for i := range h.c.Switches {
		index[h.c.Switches[i].Name] = i
	}
	done := map[int][]int{}
	var below func(i int) []int
	below = func(i int) []int {
		if all, ok := done[i]; ok {
			return all
		}
		done[i] = nil // a switch below itself has nothing there
		var all []int
		for _, n := range h.c.Switches[i].Nodes {
			all = append(all, h.c.byName[n])
		}
		for _, s := range h.c.Switches[i].Switches {
			all = append(all, below(index[s])...)
		}
		slices.Sort(all)
		done[i] = slices.Compact(all)
		return done[i]
	}
	for i := range h.c.Switches {
		h.tree = append(h.tree, below(i))
	}
}

// refuse returns the reason why a node is unavailable; "": it is available.
func (h *hall) refuse(n *Node, busy bool) string {
	r := h.r
	switch {
	case n.Down != "":
		return n.Down
	case n.Busy != "" && !busy:
		return n.Busy
	case slices.Contains(r.Exclude, n.Name):
		return "excluded"
	case len(n.Partitions) > 0 && len(r.Partitions) > 0 && !slices.ContainsFunc(r.Partitions,
		func(p string) bool { return slices.Contains(n.Partitions, p) }):
		return "in no such partition"
	case len(n.Partitions) > 0 && len(r.Partitions) == 0 && h.c.Default != "" &&
		!slices.Contains(n.Partitions, h.c.Default):
		return "not in the default partition"
	case r.Constraint != "" && !suits(r.Constraint, n.Features):
		return "without the feature " + r.Constraint
	case r.GPUType != "" && n.GPUType != "" && r.GPUType != n.GPUType:
		return "without GPUs of that type"
	case n.GPUs < r.GPUsPerNode || n.GPUs < r.GPUsPerTask || n.GPUs == 0 && r.GPUs > 0:
		return fmt.Sprintf("with %s", unit.Plural(n.GPUs, "GPU"))
	}
	return ""
}

// suits reports whether a node has features: a&b, a|b; a count after * is ignored.
func suits(constraint string, features []string) bool {
	for _, any := range strings.FieldsFunc(constraint, func(r rune) bool { return r == '|' }) {
		all := true
		for _, f := range strings.FieldsFunc(any, func(r rune) bool { return strings.ContainsRune("&,[]()", r) }) {
			f, _, _ = strings.Cut(f, "*")
			all = all && slices.Contains(features, f)
		}
		if all {
			return true
		}
	}
	return false
}

// byCPU reports whether room is counted in CPUs and not in tasks. The job then requests the CPUs of all tasks
// together, and a node's CPUs beyond whole tasks count, too.
func (h *hall) byCPU() bool {
	r := h.r
	return r.CPUs > 1 && r.PerNode == 0 && r.GPUsPerTask == 0 && r.PerGPU == 0 && !r.Over && !h.a.Whole
}

// need returns the room that the job's tasks take.
func (h *hall) need() int {
	if h.byCPU() {
		return min(h.r.Tasks, maxCount/h.r.CPUs) * h.r.CPUs
	}
	return h.r.Tasks
}

// fit returns the number of tasks (or their CPUs) that a node has room for; without a number of CPUs there is no
// bound but GPUs.
func (h *hall) fit(n *Node) int {
	switch {
	case h.r.Over && h.r.PerNode == 0 && h.r.GPUsPerTask == 0:
		return maxCount
	case h.byCPU() && n.CPUs < h.r.CPUs && n.CPUs > 0:
		return 0
	case h.byCPU() && n.CPUs > 0:
		return n.CPUs
	}
	most := maxCount
	if n.CPUs > 0 {
		most = n.CPUs / max(1, h.r.CPUs)
	}
	if h.r.PerNode > 0 {
		if most < h.r.PerNode {
			return 0
		}
		most = h.r.PerNode
	}
	gpus := n.GPUs
	if h.r.GPUsPerNode > 0 {
		gpus = h.r.GPUsPerNode
	}
	if h.r.GPUsPerTask > 0 {
		most = min(most, gpus/h.r.GPUsPerTask)
	}
	return most
}

// choose finds nodes, optionally also busy ones.
func (h *hall) choose(busy bool) ([]int, error) {
	h.room = make([]int, len(h.c.Nodes))
	why := map[string]int{}
	var order []string
	for i := range h.c.Nodes {
		n := &h.c.Nodes[i]
		no := h.refuse(n, busy)
		if no == "" {
			if h.room[i] = h.fit(n); h.room[i] == 0 {
				no = "too small for its tasks"
			}
		}
		if no == "" {
			continue
		}
		if slices.Contains(h.r.NodeList, n.Name) {
			return nil, h.r.fail([]string{"nodelist"}, "node %s cannot be had: it is %s", n.Name, no)
		}
		if why[no]++; why[no] == 1 {
			order = append(order, no)
		}
	}
	most := h.r.MaxNodes
	if h.r.Tasks > 0 {
		most = min(most, max(h.r.Tasks, h.r.MinNodes)) // every node gets at least one task
	}
	if most < maxCount && h.r.MaxNodes < maxCount && h.r.GPUs+h.r.GPUsPerTask == 0 {
		if part := h.lowest(most); part != nil { // the largest part that fits
			return h.best(part, most), nil
		}
	}
	if part := h.lowest(h.r.MinNodes); part != nil {
		return h.best(part, h.r.MinNodes), nil
	}
	return nil, h.short(why, order)
}

// short describes the missing resources, and the reasons why nodes are unavailable.
func (h *hall) short(why map[string]int, order []string) error {
	lo, tasks := h.r.MinNodes, h.r.Tasks
	free := len(h.c.Nodes)
	var reasons []string
	for _, no := range order {
		free -= why[no]
		reasons = append(reasons, fmt.Sprintf("%d are %s", why[no], no))
	}
	s := fmt.Sprintf("%s of the cluster's %d can be had", unit.Plural(free, "node"), len(h.c.Nodes))
	if len(h.c.Switches) > 0 && len(reasons) == 0 && free >= lo {
		s += ", below one switch"
	}
	if len(reasons) > 0 {
		s += " (" + strings.Join(reasons, ", ") + ")"
	}
	names := []string{"nodes", "ntasks", "gpus", "gpus-per-node", "gres", "gpus-per-task", "ntasks-per-node",
		"constraint", "switches"}
	want := nodesWord(lo, lo)
	if tasks > 0 {
		want += fmt.Sprintf(" with room for %s", unit.Plural(tasks, "task"))
	}
	if h.r.GPUs > 0 {
		want += fmt.Sprintf(" and %s", unit.Plural(h.r.GPUs, "GPU"))
	}
	return h.r.fail(names, "the job needs %s; %s", want, s)
}

// idle returns the number of nodes that can be had now.
func (h *hall) idle() (n int) {
	for i := range h.c.Nodes {
		if h.refuse(&h.c.Nodes[i], false) == "" {
			n++
		}
	}
	return n
}
