package recognise

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/cabling"
	"railyard/internal/panel"
	"railyard/internal/site"
	"railyard/internal/topo"
)

// ports makes switches' ports those of the source, as far as the language can say them: lanes and split of types
// without a model, and the ports that each rule uses at every switch, where the order of the rules gives others.
// It returns the graph with the most ports of the source.
func (f *finder) ports(g *topo.Graph) *topo.Graph {
	kept := func(g *topo.Graph) int { _, same := f.keptIn(cabling.Of(g)); return same }
	named, same := f.keptIn(cabling.Of(g))
	try := func(change func(s *site.Site)) {
		if same == named {
			return
		}
		before := *f.out.Site
		s := before
		s.Types, s.Cables = slices.Clone(s.Types), slices.Clone(s.Cables)
		change(&s)
		f.out.Site = &s
		if next, err := f.holds(); err == nil && kept(next) > same {
			g, same = next, kept(next)
			return
		}
		f.out.Site = &before
	}
	try(func(s *site.Site) {
		for i := range s.Types {
			f.lanes(&s.Types[i], f.ofType[i])
		}
	})
	try(func(s *site.Site) { f.list(s, g) })
	return g
}

// lanes sets how many lanes the ports of a type without a model have, where its names tell: EOS counts them behind
// the slash, SONiC through all ports.
func (f *finder) lanes(t *site.Type, nodes []int) {
	if t.Model != "" || t.OS != panel.EOS && t.OS != panel.SONiC {
		return
	}
	step, most, fast := 0, 0, false
	for _, n := range nodes {
		for _, k := range f.at[n] {
			name := f.end(k, n).Port
			digits := name[strings.LastIndexFunc(name, func(r rune) bool { return r < '0' || r > '9' })+1:]
			v, _ := strconv.Atoi(digits)
			if t.OS == panel.EOS && !strings.Contains(name, "/") {
				return
			}
			most, fast = max(most, v), fast || f.c.Cables[k].Rate >= defaultRate
			for step, v = v, step; v > 0; {
				step, v = v, step%v
			}
		}
	}
	switch {
	case t.OS == panel.SONiC:
		t.Lanes = min(step, 8)
	case most > 4 || fast:
		t.Lanes = 8
	default:
		t.Lanes = 4
	}
}

// list writes the ports of every rule, and how many parts a port has where no model says it.
func (f *finder) list(s *site.Site, g *topo.Graph) {
	cabled, err := s.Cabled(site.Defaults{Host: f.out.Host, Fabric: f.out.Fabric})
	if err != nil {
		return
	}
	jacks := map[int]map[string]panel.Jack{} // by node, by port
	for i := range s.Types {
		for _, parts := range []int{1, 2, 4, 8} {
			if found, ok := f.jacks(g, f.ofType[i], parts); ok {
				if s.Types[i].Model == "" && parts > 1 {
					s.Types[i].Split = parts
				}
				for n, of := range found {
					jacks[n] = of
				}
				break
			}
		}
	}
	type side struct{ rule, end int }
	lists := map[side]map[int][]panel.Jack{} // by node
	bad := map[side]bool{}
	source := f.sources()
	for _, c := range cabled {
		w := source(c)
		for end, name := range []string{c.From, c.To} {
			n, port := w.a, w.pa
			if f.c.Nodes[n].Name != name {
				n, port = w.b, w.pb
			}
			if f.kind[n] == cabling.Server {
				continue
			}
			at := side{c.Rule, end}
			j, ok := jacks[n][port]
			if bad[at] = bad[at] || !ok; lists[at] == nil {
				lists[at] = map[int][]panel.Jack{}
			}
			lists[at][n] = append(lists[at][n], j)
		}
	}
	for at, of := range lists {
		var longest []panel.Jack
		for _, l := range of {
			if len(l) > len(longest) {
				longest = l
			}
		}
		for _, l := range of {
			bad[at] = bad[at] || !slices.Equal(l, longest[:len(l)])
		}
		if bad[at] {
			continue
		}
		r := &s.Cables[at.rule]
		*[]*string{&r.FromPorts, &r.ToPorts}[at.end] = ports(longest)
	}
}

// jacks finds the jacks of the ports of some nodes, which are alike, where a port has at most so many parts; ok
// reports whether each has one of its own.
func (f *finder) jacks(g *topo.Graph, nodes []int, parts int) (of map[int]map[string]panel.Jack, ok bool) {
	of = map[int]map[string]panel.Jack{}
	var whole, part map[string]panel.Jack
	for _, n := range nodes {
		if f.gone[n] || f.kind[n] == cabling.Server {
			return nil, false
		}
		if whole == nil {
			p := g.Nodes[slices.IndexFunc(g.Nodes, func(x topo.Node) bool { return x.Name == f.c.Nodes[n].Name })].Panel
			whole, part = named(p, 1), named(p, parts)
		}
		shared := map[int32]int{}
		for _, k := range f.at[n] {
			if j, ok := part[cabling.PortKey(f.end(k, n).Port)]; ok && j.Part > 0 {
				shared[j.Port]++
			}
		}
		of[n] = map[string]panel.Jack{}
		taken := map[panel.Jack]bool{}
		for _, k := range f.at[n] {
			port := f.end(k, n).Port
			key := cabling.PortKey(port)
			j, ok := whole[key]
			if x, broken := part[key]; broken && (!ok || shared[x.Port] > 1) {
				j, ok = x, true
			}
			if !ok || taken[j] {
				return nil, false
			}
			taken[j], of[n][port] = true, j
		}
	}
	return of, true
}

// named lists the jacks of a panel by name, each port broken out into so many parts.
func named(p *panel.Panel, parts int) map[string]panel.Jack {
	const most = 1024 // where the number of ports is unknown
	ports := p.Ports()
	if ports == 0 {
		ports = most
	}
	system := ""
	if p != nil {
		system = p.System
	}
	out := map[string]panel.Jack{}
	for port := 1; port <= ports; port++ {
		j := panel.Jack{Port: int32(port)}
		if parts == 1 {
			out[cabling.PortKey(p.Name(system, j))] = j
			continue
		}
		for k := 1; k <= parts; k++ {
			j.Part, j.Parts = uint8(k), uint8(parts)
			out[cabling.PortKey(p.Name(system, j))] = panel.Jack{Port: j.Port, Part: j.Part}
		}
	}
	return out
}

// sources returns a function that gives the source's cable for each of a description; of parallel cables the one
// with the lowest port first.
func (f *finder) sources() func(c site.Cabled) wire {
	type key struct {
		a, b string
		nic  int
	}
	by := map[key][]int{}
	for i, w := range f.cables {
		k := key{a: f.c.Nodes[w.a].Name, b: f.c.Nodes[w.b].Name}
		if f.kind[w.a] == cabling.Server {
			k.nic = f.nic[i]
		}
		by[k] = append(by[k], i)
	}
	for _, all := range by {
		slices.SortStableFunc(all, func(x, y int) int {
			return cmp.Or(natural(f.cables[x].pa, f.cables[y].pa), natural(f.cables[x].pb, f.cables[y].pb))
		})
	}
	return func(c site.Cabled) wire {
		k := key{a: c.From, b: c.To}
		if c.NIC > 0 {
			k.nic = (c.NIC-1)*f.of[f.c.Node(c.From)].ports + c.Port
		} else if by[k] == nil {
			k.a, k.b = k.b, k.a
		}
		i := by[k][0]
		by[k] = by[k][1:]
		return f.cables[i]
	}
}

// ports writes jacks as rules list them: 1-4,7, and 5/1,5/2 where ports are broken out.
func ports(jacks []panel.Jack) string {
	var words []string
	for i := 0; i < len(jacks); {
		k := i + 1
		for k < len(jacks) && jacks[i].Part == 0 && jacks[k].Part == 0 && jacks[k].Port == jacks[k-1].Port+1 {
			k++
		}
		word := jacks[i].String()
		if k > i+1 {
			word += "-" + jacks[k-1].String()
		}
		words, i = append(words, word), k
	}
	return strings.Join(words, ",")
}
