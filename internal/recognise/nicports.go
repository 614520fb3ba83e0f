package recognise

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/cabling"
	"railyard/internal/site"
)

// portForms match names with separate card and port: enp24s0f1np1 and ens1f0 (the PCI function), nic1p2, mlx5_0 port 1,
// slot3-p1, nic1/2, and enp1s0np1 (the port that a driver numbers).
var portForms = []*regexp.Regexp{
	regexp.MustCompile(`^(.*\d)f(\d)(?:np\d+|d\d+)?$`),
	regexp.MustCompile(`^(.*\d)np(\d+)$`),
	regexp.MustCompile(`^(.*\d)[-_/.: ]?p(?:ort)?[-_ ]?(\d+)$`),
	regexp.MustCompile(`^(.*\d)/(\d+)$`),
}

// card splits a port's name into its card's and its number there.
func card(name string) (head string, port int, ok bool) {
	low := strings.ToLower(strings.TrimSpace(name))
	for _, form := range portForms {
		if m := form.FindStringSubmatch(low); m != nil {
			port, err := strconv.Atoi(m[2])
			return m[1], port, err == nil
		}
	}
	return low, 0, false
}

// byCard compares ports by their cards, then by their numbers.
func byCard(a, b string) int {
	x, i, _ := card(a)
	y, k, _ := card(b)
	return cmp.Or(natural(x, y), cmp.Compare(i, k))
}

// cards returns the number of ports of the NICs of a group's servers: from --nic-ports, from port names, or from the
// number of GPUs, with a NIC each. Otherwise every link is one.
func (f *finder) cards(g *group) {
	g.ports = max(f.o.NICPorts, 1)
	if g.kind != cabling.Server || f.o.NICPorts > 0 || f.single {
		return
	}
	told, first := f.named(g.nodes[0]), f.c.Nodes[g.nodes[0]].Name
	for _, n := range g.nodes[1:] {
		if f.named(n) != told {
			f.note("the ports of %s and %s are named as of NICs of different sizes: every cable is read as a NIC (--nic-ports)", first, f.c.Nodes[n].Name)
			return
		}
	}
	if told > 0 {
		g.ports = told
		return
	}
	if p := f.shared(g); p > 1 {
		g.ports = p
		f.note("cables of %s not assigned to NICs: a NIC of %d ports for each GPU is assumed (--nic-ports 1: every cable is a NIC)", first, p)
		return
	}
	if n := f.c.Nodes[g.nodes[0]]; n.GPUs > 0 && n.GPUs != len(f.at[g.nodes[0]]) {
		f.note("cables of %s not assigned to NICs: every cable is read as one (--nic-ports)", first)
	}
}

// named returns the number of ports per NIC in a server's port names, 0 if unknown.
func (f *finder) named(n int) int {
	count := map[string]int{}
	for _, k := range f.at[n] {
		head, _, ok := card(f.end(k, n).Port)
		if !ok {
			return 0
		}
		count[head]++
	}
	first, _, _ := card(f.end(f.at[n][0], n).Port)
	for _, c := range count {
		if c != count[first] || c > site.MaxNICPorts {
			return 0
		}
	}
	return count[first]
}

// end is a node's end of a cable.
func (f *finder) end(cable, n int) cabling.End {
	if x := &f.c.Cables[cable]; x.A.Node == n {
		return x.A
	} else {
		return x.B
	}
}

// shared returns the number of ports of NICs if every GPU has one. It must be an integer on all servers, and the
// ports of a NIC, in the order of links, must lead to different switches; else it is 0.
func (f *finder) shared(g *group) (ports int) {
	for _, n := range g.nodes {
		gpus, k := f.c.Nodes[n].GPUs, len(f.at[n])
		if gpus < 0 {
			gpus = f.o.GPUs
		}
		if gpus <= 0 || k%gpus != 0 || k/gpus < 2 || k/gpus > site.MaxNICPorts || ports > 0 && k/gpus != ports {
			return 0
		}
		ports = k / gpus
		cables := slices.Clone(f.at[n])
		slices.SortStableFunc(cables, func(a, b int) int { return f.before(n, a, b) })
		for i := 0; i < k; i += ports {
			seen := map[int]bool{}
			for _, c := range cables[i : i+ports] {
				far := f.c.Cables[c].A.Node + f.c.Cables[c].B.Node - n
				if seen[far] {
					return 0
				}
				seen[far] = true
			}
		}
	}
	return ports
}

// before orders the links of a server: by port names if all have one, else by their far ends.
func (f *finder) before(n, a, b int) int {
	x, y := f.end(a, n).Port, f.end(b, n).Port
	if !slices.ContainsFunc(f.at[n], func(k int) bool { return f.end(k, n).Port == "" }) {
		return byCard(x, y)
	}
	far := func(k int) string { return f.c.Nodes[f.c.Cables[k].A.Node+f.c.Cables[k].B.Node-n].Name }
	return natural(far(a), far(b))
}
