package recognise

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/cabling"
	"railyard/internal/panel"
	"railyard/internal/site"
	"railyard/internal/topo"
)

// ports sets switches' ports to those of the source, as far as the language can express them. These are lanes and
// split of types without a model, and the ports of each rule at every switch, if the order of the rules gives
// others. It returns the graph with the most ports of the source.
func (f *finder) ports(g *topo.Graph) *topo.Graph {
	kept := func(g *topo.Graph) int { _, same := f.keptIn(cabling.Of(g)); return same }
	named, same := f.keptIn(cabling.Of(g))
	try := func(change func(s *site.Site)) {
		before := *f.out.Site
		s := before
		s.Types, s.Cables = slices.Clone(s.Types), slices.Clone(s.Cables)
		f.out.Site = &s
		change(&s)
		next, err := f.holds()
		if err == nil && kept(next) > same && cabling.Same(f.wanted(), cabling.Of(next), true, true) == "" {
			g, same = next, kept(next)
			return
		}
		f.out.Site = &before
	}
	lanes := func(s *site.Site) {
		for i := range s.Types {
			f.lanes(&s.Types[i], f.ofType[i])
		}
	}
	if same < named {
		try(lanes)
	}
	if same < named {
		try(func(s *site.Site) {
			lanes(s)
			if g, err := f.holds(); err == nil {
				f.list(s, g)
			}
		})
	}
	return g
}

// lanes sets the number of lanes of ports for a type without a model, if its names show it: EOS counts them after the
// slash, SONiC through all ports.
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

// list writes the ports of every rule, and the number of parts of a port if no model defines it. A rule whose switches
// use different ports becomes one for each list.
func (f *finder) list(s *site.Site, g *topo.Graph) {
	jacks := map[int]map[string]panel.Jack{} // by node, by port
	for i := range s.Types {
		for _, parts := range []int{1, 2, 4, 8} {
			if found, ok := f.jacks(g, f.ofType[i], parts); ok {
				if s.Types[i].Model == "" && parts > 1 {
					s.Types[i].Split = parts
				}
				maps.Copy(jacks, found)
				break
			}
		}
	}
	const passes = 4 // a division at one end changes the lists at the other
	lists := f.lists(s, jacks)
	for range passes {
		if !f.divide(s, lists) {
			break
		}
		lists = f.lists(s, jacks)
	}
	for i := range lists {
		r := &s.Cables[i]
		for end, text := range []*string{&r.FromPorts, &r.ToPorts} {
			if use := lists[i][end].alike(); len(use) == 1 {
				*text = ports(use[0].jacks)
			}
		}
	}
}

// portLists returns the ports of a rule at one of its ends, by switch; nil if a port has no jack.
type portLists map[int][]panel.Jack

// portList is the ports that some switches use.
type portList struct {
	jacks []panel.Jack // connectors of the switch with the most cables
	nodes []int
}

// alike groups switches that use the same ports, or the first of them.
func (p portLists) alike() (out []portList) {
	for _, n := range slices.Sorted(maps.Keys(p)) {
		l := p[n]
		i := slices.IndexFunc(out, func(x portList) bool {
			k := min(len(l), len(x.jacks))
			return slices.Equal(l[:k], x.jacks[:k])
		})
		if i < 0 {
			i, out = len(out), append(out, portList{})
		}
		if out[i].nodes = append(out[i].nodes, n); len(l) > len(out[i].jacks) {
			out[i].jacks = l
		}
	}
	return out
}

// lists returns by rule which ports the source uses at its from and its to.
func (f *finder) lists(s *site.Site, jacks map[int]map[string]panel.Jack) [][2]portLists {
	out, bad := make([][2]portLists, len(s.Cables)), make([][2]bool, len(s.Cables))
	cabled, err := s.Cabled(site.Defaults{Host: f.out.Host, Fabric: f.out.Fabric})
	if err != nil {
		return nil
	}
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
			j, ok := jacks[n][port]
			of := &out[c.Rule][end]
			if bad[c.Rule][end] = bad[c.Rule][end] || !ok; *of == nil {
				*of = portLists{}
			}
			(*of)[n] = append((*of)[n], j)
		}
	}
	for i := range out {
		for end := range out[i] {
			if bad[i][end] {
				out[i][end] = nil
			}
		}
	}
	return out
}

// divide makes several rules of each whose switches use different ports at an end, and reports whether it did.
func (f *finder) divide(s *site.Site, lists [][2]portLists) (some bool) {
	const most = 8 // lists of a rule; more are no pattern
	alike := f.alike()
	var out []site.Rule
	for i, r := range s.Cables {
		var parts []site.Rule
		for end := range 2 {
			use := []portList(nil)
			if i < len(lists) {
				use = lists[i][end].alike()
			}
			if parts != nil || len(use) < 2 || len(use) > most || r.Between != "" || r.From == r.To {
				continue
			}
			for _, u := range use {
				for _, text := range f.patterns(alike, u.nodes) {
					x := r
					*[]*string{&x.From, &x.To}[end] = text
					parts = append(parts, x)
				}
			}
		}
		if parts == nil {
			parts = []site.Rule{r}
		}
		some = some || len(parts) > 1
		out = append(out, parts...)
	}
	s.Cables = out
	return some
}

// patterns writes nodes of one group as rules name them.
func (f *finder) patterns(alike map[string][]*group, nodes []int) (out []string) {
	g := f.of[nodes[0]]
	var at [][]int
	for _, n := range nodes {
		at = append(at, g.at[f.place[n]])
	}
	slices.SortFunc(at, slices.Compare)
	for _, b := range boxes(at, 0) {
		for _, fix := range f.apartFrom(alike, g, b) {
			out = append(out, g.pattern(fix))
		}
	}
	return out
}

// jacks finds the jacks of the ports of some equal nodes, with at most the given number of parts per port; ok reports
// whether each has one of its own.
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

// named lists the jacks of a panel by name, with each port split into the given number of parts.
func named(p *panel.Panel, parts int) map[string]panel.Jack {
	const most = 1024 // if the number of ports is unknown
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

// ports writes jacks as rules list them: 1-4,7, and 5-6/1-2 where ports are broken out.
func ports(jacks []panel.Jack) string {
	type run struct{ port, last, part, lastPart int }
	var runs []run // runs of parts of one port, then of ports with the same parts
	for _, j := range jacks {
		x := run{int(j.Port), int(j.Port), int(j.Part), int(j.Part)}
		if n := len(runs) - 1; n >= 0 && x.part > 1 && runs[n].port == x.port && runs[n].lastPart == x.part-1 {
			runs[n].lastPart++
			continue
		}
		runs = append(runs, x)
	}
	stretch := func(lo, hi int) string {
		if lo == hi {
			return strconv.Itoa(lo)
		}
		return fmt.Sprintf("%d-%d", lo, hi)
	}
	var words []string
	for i := 0; i < len(runs); {
		x, k := runs[i], i+1
		for k < len(runs) && runs[k] == (run{x.last + 1, x.last + 1, x.part, x.lastPart}) {
			x.last, k = x.last+1, k+1
		}
		word := stretch(x.port, x.last)
		if x.part > 0 {
			word += "/" + stretch(x.part, x.lastPart)
		}
		words, i = append(words, word), k
	}
	return strings.Join(words, ",")
}
