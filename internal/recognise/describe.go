package recognise

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/cabling"
	"railyard/internal/site"
	"railyard/internal/topo"
)

// describe writes the findings in the language.
func (f *finder) describe() {
	s := &site.Site{}
	f.out.Site = s
	types := map[string]int{} // type: its index among them
	taken := map[string]bool{}
	for _, g := range f.groups {
		rest := g.nodes // nodes in the order of the boxes
		for _, b := range g.boxes {
			t := f.typed(g, b)
			key := fmt.Sprintf("%+v", t)
			i, ok := types[key]
			if !ok {
				i = len(s.Types)
				t.Name = g.name
				for k := 2; taken[t.Name]; k++ {
					t.Name = fmt.Sprintf("%s-%d", g.name, k)
				}
				types[key], taken[t.Name] = i, true
				s.Types, f.ofType = append(s.Types, t), append(f.ofType, nil)
			}
			n := 1
			for _, vals := range b.vals {
				n *= len(vals)
			}
			f.ofType[i], rest = append(f.ofType[i], rest[:n]...), rest[n:]
			s.Nodes = append(s.Nodes, g.entry(b, s.Types[i].Name))
		}
	}
	alike := f.alike()
	for _, r := range f.rules {
		for _, from := range f.apartFrom(alike, r.from, r.fix) {
			for _, to := range f.apartFrom(alike, r.to, r.toFix) {
				x := *r
				x.fix, x.toFix = from, to
				s.Cables = append(s.Cables, f.cabled(&x))
			}
		}
		if r.single {
			f.out.Single++
		} else {
			f.out.Rules++
		}
	}
	if f.assumed > 0 {
		twice := ""
		if !slices.ContainsFunc(f.groups, func(g *group) bool { return g.ports > 1 }) {
			twice = "; a NIC of two ports counts as two without --nic-ports"
		}
		f.note("GPUs per server not set: as many as NICs, %d (--gpus%s)", f.assumed, twice)
	}
}

// alike lists groups whose names differ in numbers only.
func (f *finder) alike() map[string][]*group {
	out := map[string][]*group{}
	for _, g := range f.groups {
		out[f.skeleton(g)] = append(out[f.skeleton(g)], g)
	}
	return out
}

// skeleton returns a group's names without numbers.
func (f *finder) skeleton(g *group) string {
	text, _ := parts(f.c.Nodes[g.nodes[0]].Name)
	return strings.Join(text, "\x00")
}

// apartFrom splits a choice of nodes until its pattern matches no node of another group, whose names may differ in
// numbers only: into boxes, and finally into single nodes.
func (f *finder) apartFrom(alike map[string][]*group, g *group, fix [][]int) [][][]int {
	chosen := slices.ContainsFunc(fix, func(v []int) bool { return v != nil })
	others := alike[f.skeleton(g)]
	if !chosen || len(others) < 2 || !f.confused(others, g, fix) {
		return [][][]int{fix}
	}
	var at [][]int
	for _, x := range g.at {
		if allowed(fix, x) {
			at = append(at, x)
		}
	}
	slices.SortFunc(at, slices.Compare)
	var out [][][]int
	for _, b := range boxes(at, 0) {
		if !f.confused(others, g, b) {
			out = append(out, b)
			continue
		}
		single := make([][]int, len(b))
		each(b, func(v []int) {
			for p, x := range v {
				single[p] = []int{x}
			}
			out = append(out, slices.Clone(single))
		})
	}
	return out
}

// confused reports whether the pattern of a choice also means a node of another group.
func (f *finder) confused(others []*group, g *group, fix [][]int) bool {
	match, err := site.Pattern(g.pattern(fix))
	for _, o := range others {
		if o == g {
			continue
		}
		for _, n := range o.nodes {
			if err != nil || match(f.c.Nodes[n].Name) {
				return true
			}
		}
	}
	return false
}

// usual is the tier that a role has unless it is given.
var usual = map[topo.Role]int{topo.Rail: 1, topo.Leaf: 1, topo.Aggregation: 2, topo.Spine: 2,
	topo.SuperSpine: 3,
	topo.Core:       3}

// typed is the type of a box's nodes.
func (f *finder) typed(g *group, b box) site.Type {
	n := g.nodes[0]
	if g.kind == cabling.Server {
		var t site.Type
		fmt.Sscanf(b.typ, "%d %d %s", &t.GPUs, &t.NICs, &t.GPU) // typeOf's notation
		if t.GPUs == 0 {
			t.GPU = ""
		}
		if g.ports > 1 {
			t.NICPorts = g.ports
		}
		return t
	}
	t := site.Type{Model: b.typ, Role: f.role[n].String(), OS: f.system(g)}
	if usual[f.role[n]] != f.tier[n] {
		t.Tier = f.tier[n]
	}
	return t
}

// entry is a box as an entry of nodes.
func (g *group) entry(b box, typ string) site.Group {
	e := site.Group{Name: g.name, Type: typ}
	last := len(g.pad) - 1
	named, usual := g.text[0], g.name
	for p, vals := range b.vals {
		w := g.word[p]
		if w == "n" {
			e.Count = len(vals)
		} else {
			text := ranges(vals)
			switch {
			case len(vals) == vals[len(vals)-1]:
				text = strconv.Itoa(len(vals))
			case len(vals) == 1: // a number alone would be as many
				text = fmt.Sprintf("%d-%d", vals[0], vals[0])
			}
			e.Per = append(e.Per, site.Pair{Key: w, Value: text})
		}
		if !g.folded {
			named += g.hole(p) + g.text[p+1]
		}
		usual += "-{" + w + "}"
	}
	if g.folded {
		named += "{#" + strings.TrimPrefix(g.hole(0), "{"+g.word[0]) + g.text[1]
	}
	if last < 0 || named != usual {
		e.Named = named
	}
	if e.Count == 1 && len(g.pad) > 1 {
		e.Named = named // a count of 1 would not be named
	}
	return e
}

// hole is a place in a pattern of names: {n}, {n-1} counting from 0, {n:02} with leading zeros.
func (g *group) hole(p int) string {
	s := g.word[p]
	if g.base[p] > 0 {
		s += fmt.Sprintf("-%d", g.base[p])
	}
	if g.pad[p] > 0 {
		s += fmt.Sprintf(":%02d", g.pad[p])
	}
	return "{" + s + "}"
}

// cabled is a rule in the language.
func (f *finder) cabled(r *rule) site.Rule {
	out := site.Rule{From: r.from.name, To: r.to.name, Wrap: r.wrap}
	if r.fix != nil {
		out.From = r.from.pattern(r.fix)
	}
	if r.toFix != nil {
		out.To = r.to.pattern(r.toFix)
	}
	for p, b := range r.binds {
		switch w := r.to.word[p]; {
		case b.src == anything:
		case b.same() && r.from.word[b.src] == w:
			out.Same = append(out.Same, w)
		default:
			out.Match = append(out.Match, site.Pair{Key: w, Value: b.text(r.from)})
		}
	}
	if r.between > 0 {
		out.Between, out.Each = r.to.word[r.between-1], r.each
	}
	if r.nics != nil {
		out.NICs = ranges(r.nics)
	}
	if r.count > 1 {
		out.Count = r.count
	}
	d := f.out.Fabric
	if r.from.kind == cabling.Server {
		d = f.out.Host
	}
	if r.rate != d.Rate {
		out.Rate = r.rate
	}
	if r.mm != d.LengthMM {
		out.Cable = site.Length(r.mm)
	}
	return out
}

// YAML is the fabric block of a scenario, with a workload that runs.
func (o *Found) YAML(name, about string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("name: %s", quote(name))
	if about != "" {
		line("about: %s", quote(about))
	}
	line("fabric:")
	line("  host_link: {rate: %v, cable: %v}", o.Host.Rate, site.Length(o.Host.LengthMM))
	line("  fabric_link: {rate: %v, cable: %v}", o.Fabric.Rate, site.Length(o.Fabric.LengthMM))
	line("  types:")
	for _, t := range o.Site.Types {
		line("    %s: {%s}", t.Name, typeWords(t))
	}
	line("  nodes:")
	list := repeated(o.Site.Nodes)
	for _, g := range o.Site.Nodes {
		if list {
			line("    - {name: %s, %s}", g.Name, groupWords(g))
		} else {
			line("    %s: {%s}", g.Name, groupWords(g))
		}
	}
	line("  cables:")
	for _, r := range o.Site.Cables {
		line("    - {%s}", ruleWords(r))
	}
	if o.GPU != "" {
		line("server: {gpu: %s}", o.GPU)
	}
	line("workload:")
	line("  traffic: {permutation: {bytes: 1MB}}")
	return b.String()
}

// repeated reports whether a group has several entries: then a mapping by name cannot hold them.
func repeated(nodes []site.Group) bool {
	seen := map[string]bool{}
	for _, g := range nodes {
		if seen[g.Name] {
			return true
		}
		seen[g.Name] = true
	}
	return false
}

// words formats non-empty key: value pairs.
type words []string

func (w *words) add(key string, value any) {
	if s := fmt.Sprint(value); s != "" && s != "0" && s != "false" {
		*w = append(*w, key+": "+s)
	}
}

func (w words) String() string { return strings.Join(w, ", ") }

func typeWords(t site.Type) words {
	var w words
	if t.Model != "" {
		w.add("model", quote(t.Model))
	}
	if t.NICs > 0 {
		w.add("gpu", t.GPU)
		w = append(w, fmt.Sprintf("gpus: %d", t.GPUs))
	}
	w.add("split", t.Split)
	w.add("lanes", t.Lanes)
	w.add("nics", t.NICs)
	w.add("nic_ports", t.NICPorts)
	w.add("role", t.Role)
	w.add("tier", t.Tier)
	w.add("os", t.OS)
	return w
}

func groupWords(g site.Group) words {
	var w words
	w.add("type", g.Type)
	if len(g.Per) > 0 {
		w.add("per", flow(g.Per))
	}
	w.add("count", g.Count)
	if g.Named != "" {
		w.add("named", quote(g.Named))
	}
	return w
}

func ruleWords(r site.Rule) words {
	var w words
	w.add("from", quote(r.From))
	w.add("to", quote(r.To))
	if len(r.Same) > 0 {
		w.add("same", "["+strings.Join(r.Same, ", ")+"]")
	}
	if len(r.Match) > 0 {
		w.add("match", flow(r.Match))
	}
	w.add("wrap", r.Wrap)
	w.add("between", r.Between)
	w.add("each", r.Each)
	w.add("count", r.Count)
	if r.NICs != "" {
		w.add("nics", quote(r.NICs))
	}
	if r.FromPorts != "" {
		w.add("from_ports", quote(r.FromPorts))
	}
	if r.ToPorts != "" {
		w.add("to_ports", quote(r.ToPorts))
	}
	if r.Rate > 0 {
		w.add("rate", r.Rate)
	}
	if r.Cable > 0 {
		w.add("length", r.Cable)
	}
	return w
}

func flow(p site.Pairs) string {
	var w words
	for _, x := range p {
		w.add(x.Key, quote(x.Value))
	}
	return "{" + w.String() + "}"
}

// quote quotes values that YAML would not read as a plain word.
func quote(s string) string {
	for i, r := range s {
		plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || i > 0 &&
			(r >= '0' && r <= '9' || strings.ContainsRune("+-/%._ ", r))
		if !plain {
			if strings.Trim(s, "0123456789") == "" && s != "" {
				return s
			}
			return strconv.Quote(s)
		}
	}
	if s == "" || s[len(s)-1] == ' ' || slices.Contains([]string{"true", "false", "yes", "no", "on", "off",
		"null"}, s) {
		return strconv.Quote(s)
	}
	return s
}
