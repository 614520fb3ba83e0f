package submission

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/model"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/slurm"
	"railyard/internal/topo"
	"railyard/unit"
)

// cluster is the nodes that a job is allocated from, and their fabric.
type cluster struct {
	slurm *slurm.Cluster
	from  []string    // files
	graph *topo.Graph // graph of a scenario; nil: only Slurm describes it
	text  string      // content of that scenario, without workload
	notes []string
}

// cluster reads the one that the flags name.
func (c *Request) cluster() (*cluster, error) {
	files := append(slices.DeleteFunc([]string{c.SlurmConf, c.Topology, c.Sinfo},
		func(file string) bool { return file == "" }), c.Scontrol...)
	switch {
	case c.Cluster != "" && (len(files) > 1 || len(files) == 1 && c.Sinfo == ""):
		return nil, field.New("--cluster", "a scenario describes the whole cluster: %s repeats it; accepted with it: --sinfo, for the states of nodes, or --option=--exclude=NODES", files[0])
	case c.Cluster != "":
		k, err := simulatedCluster(c.Cluster)
		if err == nil && c.Sinfo != "" {
			err = k.states(c.Sinfo)
		}
		return k, err
	case len(files) == 0:
		return nil, field.New("--cluster", "is missing: a scenario whose servers the job gets; or Slurm's description of a cluster, by --slurm-conf, --topology, --sinfo, --scontrol")
	}
	k := &cluster{slurm: &slurm.Cluster{}, from: files}
	for _, f := range files {
		b, err := input.Text(f, scenario.MaxSize*32)
		if err != nil {
			return nil, input.Fault(err)
		}
		k.slurm.Open = scenariofile.Below(f)
		if err := k.slurm.Read(f, b); err != nil {
			return nil, err
		}
	}
	if len(k.slurm.Nodes) == 0 && len(k.slurm.Switches) > 0 { // topology.conf alone
		for _, s := range k.slurm.Switches {
			for _, n := range s.Nodes {
				k.slurm.Add(slurm.Node{Name: n, At: s.At})
			}
		}
	}
	if c.SlurmConf == "" {
		k.slurm.Sort() // sinfo groups nodes by their state
	}
	if err := k.slurm.Check(); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(k.slurm.Nodes, func(n slurm.Node) bool { return n.GPUs > 0 }) {
		per := c.GPUs
		if per == 0 {
			per = 8
			k.notes = append(k.notes, "GPUs per node not set: 8 are assumed (--gpus)")
		}
		for i := range k.slurm.Nodes {
			k.slurm.Nodes[i].GPUs = per
		}
	}
	return k, nil
}

// simulatedCluster is a scenario's servers.
func simulatedCluster(path string) (*cluster, error) {
	plan, err := scenariofile.Servers(path, nil)
	if err != nil {
		return nil, err
	}
	g := plan.Graph
	k := &cluster{slurm: &slurm.Cluster{}, from: []string{path}, graph: g}
	for h := range g.Hosts {
		first, last := g.GPUsOf(h)
		n := slurm.Node{Name: g.Nodes[g.Hosts[h]].Name, GPUs: last - first}
		if plan.Kinds[h].Named {
			n.GPUType = plan.Kinds[h].GPU.Name
		}
		k.slurm.Add(n)
	}
	k.tree()
	if err := k.slurm.Check(); err != nil {
		return nil, err
	}
	var keep []string
	for _, l := range strings.Split(scenario.WithoutBlocks(plan.Text(), "name", "about", "workload", "jobs", "placement"),
		"\n") {
		if !strings.HasPrefix(l, "#") {
			keep = append(keep, l)
		}
	}
	k.text = strings.Join(keep, "\n")
	return k, nil
}

// states sets the states that sinfo's output has for a scenario's servers, by name.
func (k *cluster) states(sinfo string) error {
	b, err := input.Text(sinfo, scenario.MaxSize*32)
	if err != nil {
		return input.Fault(err)
	}
	var said slurm.Cluster
	if err := said.Read(sinfo, b); err != nil {
		return err
	}
	var unknown []string
	for _, n := range said.Nodes {
		i := slices.IndexFunc(k.slurm.Nodes, func(own slurm.Node) bool { return own.Name == n.Name })
		if i < 0 {
			unknown = append(unknown, n.Name)
			continue
		}
		k.slurm.Nodes[i].Down, k.slurm.Nodes[i].Busy = n.Down, n.Busy
	}
	switch {
	case len(unknown) == len(said.Nodes):
		return field.New("--sinfo", "%s has no node of %s, found %s; accepted: names such as %s, or --option=--exclude=NODES instead of --sinfo",
			sinfo, k.from[0], slurm.Fold(unknown), k.slurm.Nodes[0].Name)
	case len(unknown) > 0:
		k.notes = append(k.notes, fmt.Sprintf("%s: %s without a server of %s: left out", sinfo, slurm.Fold(unknown), k.from[0]))
	}
	k.from = append(k.from, sinfo)
	return nil
}

// typed gives a scenario's servers the requested type of GPUs where it names their model, as gpu:nvidia_h100_80gb names
// an h100. A type that names no model is none that a scenario has: it is not compared.
func (k *cluster) typed(want string) {
	named := func(n slurm.Node) bool { return n.GPUType == want }
	if k.graph == nil || want == "" || slices.ContainsFunc(k.slurm.Nodes, named) {
		return
	}
	name := gpuNamed([]string{want})
	for i := range k.slurm.Nodes {
		if n := &k.slurm.Nodes[i]; name == "" || gpuNamed([]string{n.GPUType}) == name {
			n.GPUType = want
		}
	}
	if name == "" {
		k.notes = append(k.notes, fmt.Sprintf("GPU type %s not compared with %s: it names no model", want, k.from[0]))
	}
}

// tree describes the switches as in Slurm's topology: servers below a leaf, leaves that a tier connects, all.
func (k *cluster) tree() {
	racks, pods := k.graph.Racks()
	var leaves, above []slurm.Switch
	at, up := map[int]int{}, map[int]int{}
	for h := range k.graph.Hosts {
		d := k.graph.DomainOf(h)
		i, ok := at[racks[d]]
		if !ok {
			i = len(leaves)
			at[racks[d]] = i
			leaves = append(leaves, slurm.Switch{Name: fmt.Sprintf("leaf-%d", i+1)})
			p, ok := up[pods[d]]
			if !ok {
				p = len(above)
				up[pods[d]] = p
				above = append(above, slurm.Switch{Name: fmt.Sprintf("pod-%d", p+1)})
			}
			above[p].Switches = append(above[p].Switches, leaves[i].Name)
		}
		leaves[i].Nodes = append(leaves[i].Nodes, k.graph.Nodes[k.graph.Hosts[h]].Name)
	}
	k.slurm.Switches = append(leaves, above...)
	if len(above) > 1 {
		root := slurm.Switch{Name: "fabric"}
		for _, s := range above {
			root.Switches = append(root.Switches, s.Name)
		}
		k.slurm.Switches = append(k.slurm.Switches, root)
	}
}

// leafOf is the leaf of a node, and how many nodes that has; without a tree all are on one.
func (k *cluster) leafOf(node string) (name string, nodes int) {
	for _, s := range k.slurm.Switches {
		if slices.Contains(s.Nodes, node) {
			return s.Name, len(s.Nodes)
		}
	}
	return "leaf", len(k.slurm.Nodes)
}

// plainNode is a name that a scenario takes for a server.
func plainNode(name string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, name), "-")
}

// scenarioOf is the assumed fabric where only Slurm describes a cluster: the job's nodes, a NIC for each GPU, a
// switch for each rail and leaf of the topology, with equal numbers of cables up and down.
func (k *cluster) scenarioOf(a *slurm.Allocation, rate unit.Rate) (string, error) {
	gpus, kind := 0, ""
	for _, s := range a.Shares {
		n := &k.slurm.Nodes[s.Node]
		if gpus != 0 && n.GPUs != gpus {
			return "", field.New("--cluster", "%s has %s and others of the job have %d: a scenario describes such a cluster", n.Name, unit.Plural(n.GPUs, "GPU"), gpus)
		}
		gpus = n.GPUs
		if kind == "" {
			kind = gpuNamed(append([]string{n.GPUType}, n.Features...))
		}
	}
	if gpus == 0 {
		return "", field.New("--gpus", "%s has no GPU; set their number per node with --gpus",
			k.slurm.Nodes[a.Shares[0].Node].Name)
	}
	if kind == "" {
		kind = "h100"
		k.notes = append(k.notes, "GPU model not set: h100 is assumed (--set server.gpu=a100 changes it)")
	}
	var leaves, hosts []string
	size, most := map[string]int{}, 0
	of := map[string]string{}
	for _, name := range a.Names() {
		leaf, n := k.leafOf(name)
		if leaf = plainNode(leaf); !slices.Contains(leaves, leaf) {
			leaves = append(leaves, leaf)
		}
		size[leaf], most, of[name] = n, max(most, n), leaf
		hosts = append(hosts, plainNode(name))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "fabric:\n  kind: graph\n  host_link: {rate: %v}\n  fabric_link: {rate: %v}\n  graph:\n",
		rate, rate)
	fmt.Fprintf(&b, "    hosts: [%s]\n    switches:\n", strings.Join(hosts, ", "))
	for _, leaf := range leaves {
		for r := range gpus {
			fmt.Fprintf(&b, "      - {name: %s-rail-%d, role: rail, tier: 1}\n", leaf, r+1)
		}
	}
	spines := 0
	if len(leaves) > 1 {
		spines = min(16, most)
	}
	for s := range spines {
		fmt.Fprintf(&b, "      - {name: spine-%d, role: spine, tier: 2}\n", s+1)
	}
	b.WriteString("    links:\n")
	for _, name := range a.Names() {
		for r := range gpus {
			fmt.Fprintf(&b, "      - {from: %s, to: %s-rail-%d}\n", plainNode(name), of[name], r+1)
		}
	}
	for _, leaf := range leaves {
		for r := range gpus {
			for s := range spines {
				fmt.Fprintf(&b, "      - {from: %s-rail-%d, to: spine-%d, count: %d}\n", leaf, r+1, s+1,
					(size[leaf]+spines-1)/spines)
			}
		}
	}
	fmt.Fprintf(&b, "server: {gpu: %s, gpus: %d, nics: %d}\n", kind, gpus, gpus)
	above := ""
	if spines > 0 {
		above = fmt.Sprintf(", %s above with as many cables up as down", unit.Plural(spines, "spine"))
	}
	k.notes = append(k.notes, fmt.Sprintf("Slurm has no NICs and no cables: a NIC of %v for each GPU and a switch for each rail of %s%s are assumed", rate, unit.Plural(len(leaves), "leaf"), above))
	return b.String(), nil
}

// gpuNamed is the GPU that one of some words names.
func gpuNamed(words []string) string {
	for _, w := range words {
		for _, name := range model.GPUNames() {
			if strings.Contains(strings.ToLower(w), name) {
				return name
			}
		}
	}
	return ""
}
