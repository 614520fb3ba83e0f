package slurm

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/unit"
)

// enough reports whether n nodes of a part, or all of it if n is unset, have room for the tasks and GPUs of a job.
func (h *hall) enough(part []int, nodes int) bool {
	var usable []int
	for _, i := range part {
		if h.room[i] > 0 {
			usable = append(usable, i)
		}
	}
	if len(usable) < nodes {
		return false
	}
	if h.r.MaxNodes < maxCount { // the roomiest
		slices.SortStableFunc(usable, func(a, b int) int {
			return cmp.Or(cmp.Compare(h.room[b], h.room[a]), cmp.Compare(h.gpus(b), h.gpus(a)))
		})
		usable = usable[:nodes]
	}
	tasks, gpus := 0, 0
	for _, i := range usable {
		tasks = min(tasks+h.room[i], maxCount)
		gpus += h.gpus(i)
	}
	return tasks >= h.need() && gpus >= h.r.GPUs
}

// gpus returns the number of GPUs that a node can give.
func (h *hall) gpus(i int) int {
	if h.r.GPUsPerNode > 0 {
		return h.r.GPUsPerNode
	}
	return h.c.Nodes[i].GPUs
}

// count returns the number of free nodes of a part.
func (h *hall) count(part []int) (n int) {
	for _, i := range part {
		if h.room[i] > 0 {
			n++
		}
	}
	return n
}

// holds reports whether a part has all named nodes.
func (h *hall) holds(part []int) bool {
	for _, name := range h.r.NodeList {
		if _, in := slices.BinarySearch(part, h.c.byName[name]); !in {
			return false
		}
	}
	return true
}

// lowest returns the nodes below the lowest switch with enough nodes, the one with the fewest of those. Room for tasks
// and GPUs is ignored: a higher switch may have it.
func (h *hall) lowest(nodes int) (best []int) {
	for _, part := range h.tree {
		n := h.count(part)
		if n >= nodes && h.holds(part) && h.below(part, nodes) && (best == nil || n < h.count(best) ||
			n == h.count(best) && len(part) < len(best)) {
			best = part
		}
	}
	return best
}

// below reports whether a part is below a switch that has enough of everything.
func (h *hall) below(part []int, nodes int) bool {
	return slices.ContainsFunc(h.tree, func(p []int) bool { return within(part, p) && h.enough(p, nodes) })
}

// within reports whether a part is part of another one.
func within(part, of []int) bool {
	return len(part) <= len(of) && !slices.ContainsFunc(part, func(i int) bool {
		_, in := slices.BinarySearch(of, i)
		return !in
	})
}

// wider is the nodes below the next switch above a part, that has others to give.
func (h *hall) wider(part []int) (best []int) {
	for _, p := range h.tree {
		if len(p) > len(part) && within(part, p) && h.count(p) > 0 && (best == nil || len(p) < len(best)) {
			best = p
		}
	}
	return best
}

// missing is the remaining need of a job.
type missing struct{ nodes, tasks, gpus int }

func (m missing) none() bool { return m.nodes <= 0 && m.tasks <= 0 && m.gpus <= 0 }

// take counts a chosen node.
func (h *hall) take(m *missing, i int) {
	m.nodes--
	m.tasks -= h.room[i]
	m.gpus -= h.gpus(i)
	h.room[i] = 0
}

// best picks nodes leaf after leaf: named nodes and others of their leaves first, then the tightest leaf with room
// for all missing nodes, or else the one with most. (Slurm's topology guide: the lowest switch that can satisfy the
// request, and of its leaves those on a best-fit basis.)
func (h *hall) best(part []int, nodes int) (chosen []int) {
	left := missing{nodes, h.need(), h.r.GPUs}
	near := map[int]bool{} // leaves
	for _, name := range h.r.NodeList {
		i := h.c.byName[name]
		chosen = append(chosen, i)
		h.take(&left, i)
		near[h.leafOf(i)] = true
	}
	used := map[int]bool{}
	for part != nil && !left.none() {
		leaf, nodes := h.leaf(part, left.nodes, near)
		if leaf < 0 {
			part = h.wider(part)
			continue
		}
		for _, i := range nodes {
			if !left.none() && len(chosen) < h.r.MaxNodes {
				chosen = append(chosen, i)
				used[leaf] = true
			}
			h.take(&left, i)
		}
	}
	for leaf := range near {
		used[leaf] = true
	}
	h.scattered(len(used))
	return chosen
}

// scattered reports that more leaves are used than requested.
func (h *hall) scattered(leaves int) {
	if s := h.r.Switches; s > 0 && leaves > s && len(h.c.Switches) > 0 {
		p, _ := h.r.at("switches")
		h.a.Notes = append(h.a.Notes, Note{p, fmt.Sprintf("--switches requests %s, and the nodes are on %d: Slurm first waits until better ones are free", unit.Plural(s, "leaf"), leaves)})
	}
}

// leafOf is the leaf of a node.
func (h *hall) leafOf(node int) int {
	for s := range h.tree {
		if _, in := slices.BinarySearch(h.tree[s], node); in && h.isLeaf(s) {
			return s
		}
	}
	return -1
}

// isLeaf reports whether a switch has nodes itself; without a tree all nodes are on one.
func (h *hall) isLeaf(s int) bool { return len(h.c.Switches) == 0 || len(h.c.Switches[s].Nodes) > 0 }

// leaf returns the next leaf to pick from, and its nodes within a part; -1: none is left.
func (h *hall) leaf(part []int, nodes int, near map[int]bool) (best int, mine []int) {
	best = -1
	for s, below := range h.tree {
		if !h.isLeaf(s) {
			continue
		}
		var has []int
		for _, i := range below {
			if _, in := slices.BinarySearch(part, i); in && h.room[i] > 0 {
				has = append(has, i)
			}
		}
		fits, fitted := len(has) >= nodes, len(mine) >= nodes
		switch {
		case len(has) == 0:
		case best < 0, near[s] && !near[best]:
			best, mine = s, has
		case near[best] && !near[s]:
		case fits && !fitted, fits && len(has) < len(mine), !fits && !fitted && len(has) > len(mine):
			best, mine = s, has
		}
	}
	return best, mine
}

// spread distributes a number over nodes in order, up to each node's limit, but at least one for each required
// node, and one for each further one, as cons_tres does.
func spread(total, nodes int, most []int) []int {
	out := make([]int, len(most))
	for i := range most {
		out[i] = max(1, min(most[i], total-max(0, nodes-i-1)))
		total = max(0, total-out[i])
	}
	return out
}

// tasks returns the number of tasks that the job may have on each node, in the order in which they were chosen. A
// range of nodes needs its least, and gets the rest after that.
func (h *hall) tasks(chosen []int) map[int]int {
	n := len(chosen)
	fits, of := make([]int, n), map[int]int{}
	for k, i := range chosen {
		fits[k] = h.fit(&h.c.Nodes[i])
	}
	needs := n
	if h.r.MaxNodes < maxCount && h.r.MinNodes < h.r.MaxNodes {
		needs = h.r.MinNodes
	}
	for k, most := range spread(max(h.need(), n), needs, fits) {
		of[chosen[k]] = most
	}
	return of
}

// share computes the job's share of each node; GPUs are assigned in the order of nodes.
func (h *hall) share(chosen []int) {
	r := h.r
	n := len(chosen)
	counts := h.tasks(chosen)
	slices.Sort(chosen)
	has := make([]int, n)
	for k, i := range chosen {
		has[k] = h.c.Nodes[i].GPUs
	}
	gpus := spread(max(r.GPUs, n), n, has)
	var planes []int
	if r.PerNode > 0 && r.Plane > 0 && !h.a.Whole { // tasks in turn, even beyond the number per node
		planes = inPlanes(r.PerNode*n, n, r.Plane)
	}
	for k, i := range chosen {
		node := &h.c.Nodes[i]
		s := Share{Node: i, Most: h.fit(node), CPUs: node.CPUs}
		if !h.a.Whole && (r.PerNode > 0 || r.Tasks > 0 || node.CPUs > 0) {
			s.Most = counts[i]
			if r.PerNode > 0 {
				s.Most = r.PerNode
				if planes != nil {
					s.Most = min(planes[k], max(1, h.fitCPUs(node)))
				}
			}
			s.CPUs = s.Most * max(1, r.CPUs)
			if h.byCPU() {
				s.CPUs, s.Most = s.Most, max(1, s.Most/r.CPUs)
			} else if r.Over && r.PerNode == 0 {
				s.CPUs = 1
			}
		}
		get := node.GPUs
		switch {
		case r.GPUsPerNode > 0:
			get = r.GPUsPerNode
		case r.GPUs > 0:
			get = gpus[k]
		case r.GPUsPerTask > 0:
			tasks := counts[i]
			if r.PerNode > 0 {
				tasks = r.PerNode
			}
			get = min(get, r.GPUsPerTask*min(s.Most, tasks))
		}
		for g := range get {
			s.GPUs = append(s.GPUs, g)
		}
		if s.Held = get; h.a.Whole {
			s.Held = node.GPUs
		} else if !h.a.Asked {
			s.Held = 0
		}
		h.a.Shares = append(h.a.Shares, s)
	}
}

// fitCPUs returns the number of tasks that a node has CPUs for.
func (h *hall) fitCPUs(n *Node) int {
	if n.CPUs == 0 {
		return maxCount
	}
	return n.CPUs / max(1, h.r.CPUs)
}

// inPlanes distributes tasks over nodes, n at a time.
func inPlanes(total, nodes, size int) []int {
	out := make([]int, nodes)
	round := nodes * size
	for i := range out {
		out[i] = total/round*size + min(size, max(0, total%round-i*size))
	}
	return out
}

// Names are the nodes of an allocation, which every rank's environment has.
func (a *Allocation) Names() []string {
	if a.names == nil {
		for _, s := range a.Shares {
			a.names = append(a.names, a.Cluster.Nodes[s.Node].Name)
		}
	}
	return a.names
}

// list is the names as Slurm writes them.
func (a *Allocation) list() string {
	if a.folded == "" {
		a.folded = Fold(a.Names())
	}
	return a.folded
}
