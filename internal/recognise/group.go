package recognise

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/cabling"
	"railyard/internal/field"
	"railyard/internal/site"
)

// group is nodes whose names differ in numbers only: leaf-1-3 and leaf-2-1.
type group struct {
	name   string
	text   []string // between the numbers; one more than there are
	pad    []int    // digits of a number, 0 without leading zeros
	base   []int    // difference of a place's value and its number: 1 if names count from 0
	nodes  []int
	at     [][]int // places' values, from 1, by node
	size   []int   // largest value by place
	word   []string
	kind   cabling.Kind
	boxes  []box
	folded bool // whether its one number is two digits
	ports  int  // ports of a server's NICs
}

var number = regexp.MustCompile(`\d+`)

// parts splits a name into strings and numbers; numbers that are too long are strings.
func parts(name string) (text []string, nums []string) {
	last := 0
	for _, m := range number.FindAllStringIndex(name, -1) {
		if v, err := strconv.Atoi(name[m[0]:m[1]]); err != nil || v >= site.MaxValue || m[1]-m[0] > 9 {
			continue
		}
		text, nums = append(text, name[last:m[0]]), append(nums, name[m[0]:m[1]])
		last = m[1]
	}
	return append(text, name[last:]), nums
}

// group puts nodes together by their names.
func (f *finder) group() error {
	byKey := map[string]*group{}
	var order []*group
	var raw = map[*group][][]string{}
	for i, n := range f.c.Nodes {
		if f.gone[i] {
			continue
		}
		text, nums := parts(n.Name)
		key := fmt.Sprintf("%d %d %d %q", f.kind[i], f.role[i], f.tier[i], text)
		g := byKey[key]
		if g == nil {
			g = &group{text: text, kind: f.kind[i]}
			byKey[key] = g
			order = append(order, g)
		}
		g.nodes = append(g.nodes, i)
		raw[g] = append(raw[g], nums)
	}
	for _, g := range order {
		f.groups = append(f.groups, g.numbers(f, raw[g])...)
	}
	f.of, f.place = make([]*group, len(f.c.Nodes)), make([]int, len(f.c.Nodes))
	taken := map[string]bool{}
	for _, g := range f.groups {
		f.cards(g)
		g.sort(f)
		for k, n := range g.nodes {
			f.of[n], f.place[n] = g, k
		}
		g.call(func(name string) bool {
			n := f.c.Node(name)
			return taken[name] || n >= 0 && !(len(g.nodes) == 1 && g.nodes[0] == n)
		})
		taken[g.name] = true
	}
	slices.SortStableFunc(f.groups, func(a, b *group) int {
		return cmp.Compare(f.tier[a.nodes[0]], f.tier[b.nodes[0]])
	})
	if len(f.groups) > 20_000 {
		return &field.Error{File: f.c.Nodes[0].At.File, Msg: fmt.Sprintf(
			"has %d nodes whose names share nothing but numbers with no other: more than 20000 are not a pattern", len(f.groups))}
	}
	return nil
}

// numbers converts the numbers of a group's names to places: constant ones belong to the string, and names without a
// digit pattern are groups of their own.
func (g *group) numbers(f *finder, raw [][]string) []*group {
	n := len(g.text) - 1
	g.pad, g.base = make([]int, n), make([]int, n)
	for p := range n {
		for _, r := range raw {
			if len(r[p]) > 1 && r[p][0] == '0' && (g.pad[p] == 0 || len(r[p]) < g.pad[p]) {
				g.pad[p] = len(r[p])
			}
			if v, _ := strconv.Atoi(r[p]); v == 0 {
				g.base[p] = 1
			}
		}
	}
	for p := range n {
		for _, r := range raw {
			if v, _ := strconv.Atoi(r[p]); fmt.Sprintf("%0*d", g.pad[p], v) != r[p] {
				return g.apart(f)
			}
		}
	}
	g.at = make([][]int, len(raw))
	for k, r := range raw {
		for p := range n {
			v, _ := strconv.Atoi(r[p])
			g.at[k] = append(g.at[k], v+g.base[p])
		}
	}
	for p := n - 1; p >= 0; p-- {
		same := true
		for k := range raw {
			same = same && raw[k][p] == raw[0][p]
		}
		if !same || len(g.text) == 2 && g.at[0][p] == 1 {
			continue
		}
		g.text[p] += raw[0][p] + g.text[p+1]
		g.text = slices.Delete(g.text, p+1, p+2)
		g.pad, g.base = slices.Delete(g.pad, p, p+1), slices.Delete(g.base, p, p+1)
		for k := range g.at {
			g.at[k] = slices.Delete(g.at[k], p, p+1)
		}
	}
	return []*group{g}
}

// apart makes a group of each node.
func (g *group) apart(f *finder) (out []*group) {
	for _, n := range g.nodes {
		out = append(out, &group{text: []string{f.c.Nodes[n].Name}, kind: g.kind, nodes: []int{n}, at: [][]int{nil}})
	}
	return out
}

// box is nodes of one type at all combinations of some values of their places.
type box struct {
	typ  string
	vals [][]int
}

// sort puts nodes into boxes, and in the order in which package site makes them of these.
func (g *group) sort(f *finder) {
	g.size, g.word = make([]int, len(g.pad)), make([]string, len(g.pad))
	byType, nodeAt := map[string][][]int{}, map[string]int{}
	var types []string
	order := make([]int, len(g.nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return slices.Compare(g.at[a], g.at[b]) })
	for _, k := range order {
		t := f.typeOf(g, g.nodes[k])
		if byType[t] == nil {
			types = append(types, t)
		}
		byType[t] = append(byType[t], g.at[k])
		nodeAt[keyOf(g.at[k])] = g.nodes[k]
		for p, v := range g.at[k] {
			g.size[p] = max(g.size[p], v)
		}
	}
	g.nodes, g.at = nil, nil
	for _, t := range types {
		for _, vals := range boxes(byType[t], 0) {
			g.boxes = append(g.boxes, box{t, vals})
			each(vals, func(at []int) {
				g.at = append(g.at, slices.Clone(at))
				g.nodes = append(g.nodes, nodeAt[keyOf(at)])
			})
		}
	}
}

// boxes cuts sorted tuples into products of sets, from a place on.
func boxes(tuples [][]int, d int) (out [][][]int) {
	if len(tuples) == 0 || d == len(tuples[0]) {
		return [][][]int{nil}
	}
	type slab struct {
		vals []int
		subs [][][]int
	}
	var slabs []*slab
	alike := map[string]*slab{}
	for i := 0; i < len(tuples); {
		j := i
		for j < len(tuples) && tuples[j][d] == tuples[i][d] {
			j++
		}
		subs := boxes(tuples[i:j], d+1)
		key := fmt.Sprint(subs)
		s := alike[key]
		if s == nil {
			s = &slab{subs: subs}
			alike[key] = s
			slabs = append(slabs, s)
		}
		s.vals = append(s.vals, tuples[i][d])
		i = j
	}
	for _, s := range slabs {
		for _, sub := range s.subs {
			out = append(out, append([][]int{s.vals}, sub...))
		}
	}
	return out
}

// typeOf returns the properties that distinguish nodes of one group: a server's number and kind of GPUs, and NICs, a
// switch's model.
func (f *finder) typeOf(g *group, n int) string {
	if f.kind[n] != cabling.Server {
		return f.switchModel(n)
	}
	nics, gpu := len(f.at[n])/g.ports, ""
	if s := f.serverModel(n); s != nil {
		gpu = s.GPU
	}
	return fmt.Sprintf("%d %d %s", f.gpus(n, nics), nics, gpu)
}

// gpus returns a server's number of GPUs: from its source, or the options, or its number of NICs.
func (f *finder) gpus(n, nics int) int {
	switch g := f.c.Nodes[n].GPUs; {
	case g >= 0:
		return g
	case f.o.GPUs > 0:
		return f.o.GPUs
	}
	if s := f.serverModel(n); s != nil {
		return s.GPUs
	}
	f.assumed = max(f.assumed, nics)
	return nics
}

var noWord = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// call names a group: the last word of its names before the last number.
func (g *group) call(taken func(string) bool) {
	name := ""
	for p := len(g.text) - 1; p >= 0 && name == ""; p-- {
		if len(g.text) > 1 && p == len(g.text)-1 {
			continue // the last number has no separator after it
		}
		name = strings.Trim(noWord.ReplaceAllString(g.text[p], "-"), "-_")
	}
	name = strings.TrimLeft(name, "0123456789-_")
	if name == "" {
		name = map[cabling.Kind]string{cabling.Server: "host", cabling.Switch: "switch"}[g.kind]
	}
	name = strings.TrimRight(name[:min(len(name), 24)], "-_")
	g.name = name
	for k := 2; taken(g.name); k++ {
		g.name = strings.TrimRight(name, "0123456789") + strconv.Itoa(k)
	}
}

// nics numbers the links of every server: by the names of its ports, or by their far ends.
func (f *finder) nics() error {
	f.nic = make([]int, len(f.cables))
	byServer := map[int][]int{}
	for i, w := range f.cables {
		if f.kind[w.a] == cabling.Server {
			byServer[w.a] = append(byServer[w.a], i)
		}
	}
	odd, gpus := 0, 0
	for _, g := range f.groups {
		for _, n := range g.nodes {
			c := byServer[n]
			if g.kind == cabling.Server {
				gpus += f.gpus(n, len(c)/g.ports)
			}
			if g.kind != cabling.Server {
				continue
			}
			slices.SortStableFunc(c, func(x, y int) int { return f.before(n, f.cables[x].src, f.cables[y].src) })
			for k, i := range c {
				f.nic[i] = k + 1
			}
			if len(c)%g.ports != 0 {
				odd++
			}
		}
	}
	if odd > 0 {
		return field.New("--nic-ports", "%d servers have cables that %d ports a NIC do not divide", odd, f.o.NICPorts)
	}
	if gpus == 0 {
		return &field.Error{File: f.c.Nodes[0].At.File, Msg: "has no server with a GPU"}
	}
	return nil
}

// natural compares names with their numbers as numbers.
func natural(a, b string) int {
	ta, na := parts(a)
	tb, nb := parts(b)
	for i := range min(len(ta), len(tb)) {
		if c := cmp.Compare(ta[i], tb[i]); c != 0 {
			return c
		}
		if i < len(na) && i < len(nb) {
			x, _ := strconv.Atoi(na[i])
			y, _ := strconv.Atoi(nb[i])
			if c := cmp.Compare(x, y); c != 0 {
				return c
			}
		}
	}
	return cmp.Or(cmp.Compare(len(na), len(nb)), cmp.Compare(a, b))
}
