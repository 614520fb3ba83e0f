package recognise

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"railyard/internal/cabling"
	"railyard/internal/field"
	"railyard/internal/site"
	"railyard/internal/topo"
	"railyard/unit"
)

// Options are the facts that a list of cables often lacks.
type Options struct {
	Rate     unit.Rate // rate of cables, 400 Gbit/s unless given
	HostMM   int64     // length of cables to servers, 5 m unless given
	FabricMM int64     // length of cables between switches, 30 m
	GPUs     int       // GPUs of a server; default: one for each cable
	NICPorts int       // NIC ports of a NIC; default from names and GPUs
	Servers  string    // names of servers, overriding other evidence: gpu-*
	Switches string    // and switches
}

// Found is a description and its components.
type Found struct {
	Site         *site.Site
	Host, Fabric topo.Cable // defaults of links
	GPU          string     // GPU of the servers, if the source has it
	Graph        *topo.Graph
	Notes        []string // assumptions, and mismatches
	Rules        int      // rules in Site.Cables with a pattern
	Single       int      // number of cables between named nodes
}

// Defaults of Options.
const (
	defaultRate     = 400 * unit.Gbps
	defaultHostMM   = 5_000
	defaultFabricMM = 30_000
)

// Recognise describes a cabling.
func Recognise(c *cabling.Cabling, o Options) (*Found, error) {
	f := &finder{c: c, o: o, out: &Found{GPU: c.GPU}}
	steps := []func() error{f.clean, f.kinds, f.tiers, f.defaults, f.found}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	f.words()
	f.describe()
	f.modelled()
	f.models()
	g, err := f.build()
	if err != nil {
		return nil, fmt.Errorf("the description that was found cannot be built (a bug of Railyard): %w", err)
	}
	rules := len(f.out.Site.Cables)
	g = f.ports(g)
	f.out.Rules += len(f.out.Site.Cables) - rules
	f.out.Graph = g
	if named, same := f.keptIn(cabling.Of(g)); same < named {
		f.note("%d of %d ports of switches are called as in the source; the others are numbered in the order of the rules", same, named)
	}
	if diff := cabling.Same(f.wanted(), cabling.Of(g), true, true); diff != "" {
		return nil, fmt.Errorf("the description that was found differs from the cables (a bug of Railyard): %s", diff)
	}
	return f.out, nil
}

// found finds groups and rules. If ports assumed to share a NIC have paths that no rule can express, every link is a
// NIC of its own.
func (f *finder) found() error {
	notes, pattern := len(f.out.Notes), error(nil)
	for {
		err := f.group()
		if err == nil {
			err = f.nics()
		}
		if err == nil {
			err = f.infer()
		}
		guessed := slices.ContainsFunc(f.groups, func(g *group) bool { return g.ports > 1 })
		if err == nil || f.single || f.o.NICPorts > 0 || !guessed {
			if err == nil && pattern != nil {
				f.note("the ports of NICs of several have no common rule: every cable is read as a NIC")
			}
			return err
		}
		pattern, f.single, f.groups, f.out.Notes = err, true, nil, f.out.Notes[:notes]
	}
}

// build builds the graph of the findings. A rule whose ends are named by two patterns may connect nothing in one of
// them, if its step leaves the group: site refuses that, and it is removed.
func (f *finder) build() (g *topo.Graph, err error) {
	s := f.out.Site
	for range len(s.Cables) + 1 {
		g, err = s.Build(site.Defaults{Host: f.out.Host, Fabric: f.out.Fabric})
		faults := field.All(err)
		if len(faults) == 0 || !strings.HasPrefix(faults[0].Msg, "connects nothing") {
			break
		}
		i := 0
		if _, bad := fmt.Sscanf(faults[0].Path, "cables[%d]", &i); bad != nil || i >= len(s.Cables) {
			break
		}
		s.Cables = slices.Delete(s.Cables, i, i+1)
	}
	return g, err
}

// finder is the state of a search.
type finder struct {
	c       *cabling.Cabling
	o       Options
	kind    []cabling.Kind
	tier    []int
	role    []topo.Role
	gone    []bool  // nodes left out
	at      [][]int // cables of a node
	cables  []wire
	groups  []*group
	of      []*group // of a node
	place   []int    // in its group
	nic     []int    // NIC of a cable to a server
	ofType  [][]int  // nodes of each of the description's types
	rules   []*rule
	most    int  // a result with as many rules is no better than the current one
	single  bool // every cable is a NIC
	assumed int  // assumed GPUs of a server
	out     *Found
}

// wire is a link from a lower node, a server if there is one, to a higher one.
type wire struct {
	a, b   int
	pa, pb string
	rate   unit.Rate
	mm     int64
	src    int
}

func (f *finder) note(format string, args ...any) {
	f.out.Notes = append(f.out.Notes, fmt.Sprintf(format, args...))
}

// wanted is the expected cabling: with kinds, rates and lengths.
func (f *finder) wanted() *cabling.Cabling {
	var nodes []cabling.Node
	index := make([]int, len(f.c.Nodes))
	for i, n := range f.c.Nodes {
		if f.gone[i] {
			continue
		}
		index[i] = len(nodes)
		n.Kind = f.kind[i]
		nodes = append(nodes, n)
	}
	var cables []cabling.Cable
	for _, w := range f.cables {
		cables = append(cables, cabling.Cable{A: cabling.End{Node: index[w.a]},
			B:    cabling.End{Node: index[w.b]},
			Rate: w.rate, LengthMM: w.mm})
	}
	return cabling.New(nodes, cables)
}

var unfit = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// clean converts names to valid characters of a node: letters, digits, dots, hyphens, underscores.
func (f *finder) clean() error {
	nodes := slices.Clone(f.c.Nodes)
	taken := map[string]bool{}
	for _, n := range nodes {
		taken[n.Name] = true
	}
	for i := range nodes {
		was := nodes[i].Name
		name := strings.TrimLeft(unfit.ReplaceAllString(was, "-"), "._-")
		if name = name[:min(len(name), 60)]; name == "" {
			name = "node"
		}
		if name == was {
			continue
		}
		unique := name
		for k := 2; taken[unique]; k++ {
			unique = fmt.Sprintf("%.50s-%d", name, k)
		}
		taken[unique], nodes[i].Name = true, unique
		f.note("%q is called %s: names have letters, digits, dots, hyphens and underscores, at most 60",
			field.Clip(was), unique)
	}
	c := cabling.New(nodes, f.c.Cables)
	c.GPU = f.c.GPU
	f.c = c
	return nil
}

// kinds separates servers and switches: by the source, or by the name. Of the rest, a node with one link is a
// server, and a node linked to a server is a switch.
func (f *finder) kinds() error {
	n := len(f.c.Nodes)
	f.kind, f.gone, f.at = make([]cabling.Kind, n), make([]bool, n), make([][]int, n)
	for i := range f.c.Cables {
		x := &f.c.Cables[i]
		f.at[x.A.Node], f.at[x.B.Node] = append(f.at[x.A.Node], i), append(f.at[x.B.Node], i)
	}
	for i, x := range f.c.Nodes {
		f.kind[i] = x.Kind
	}
	if err := f.told(); err != nil {
		return err
	}
	f.spread(cabling.Server, cabling.Switch)
	unknown, guessed := 0, 0
	for i := range f.kind {
		if f.kind[i] == cabling.Unknown && len(f.neighbours(i)) == 1 {
			f.kind[i] = cabling.Server
			guessed++
		}
	}
	f.spread(cabling.Server, cabling.Switch)
	least := f.fewest()
	for i := range f.kind {
		if f.kind[i] != cabling.Unknown {
			continue
		}
		unknown++
		if f.kind[i] = cabling.Switch; least > 0 && len(f.at[i]) == least && !f.beside(i, cabling.Server) {
			f.kind[i] = cabling.Server
		}
	}
	if guessed+unknown > 0 {
		f.note("%d nodes are classified as servers or switches by their cables: neither the source nor their name contains it",
			guessed+unknown)
	}
	servers := 0
	for i, k := range f.kind {
		switch {
		case len(f.at[i]) == 0:
			f.gone[i] = true
			f.note("%s is cabled to nothing: left out", f.c.Nodes[i].Name)
		case k == cabling.Server:
			servers++
		}
	}
	for i := range f.c.Cables {
		x := &f.c.Cables[i]
		if f.kind[x.A.Node] == cabling.Server && f.kind[x.B.Node] == cabling.Server {
			return &field.Error{File: x.At.File, Line: x.At.Line, Col: x.At.Col, Msg: fmt.Sprintf(
				"%s and %s are both servers; a cable needs a switch (name one of them as a switch, or name the source that contains their roles)", f.c.End(x.A), f.c.End(x.B))}
		}
	}
	if servers == 0 {
		return &field.Error{File: f.c.Nodes[0].At.File, Msg: "no node is a server (by its name, as host-1, or its role), and a fabric without servers has no traffic: add their cables, or name them with railyard import --servers"}
	}
	return nil
}

// told applies the user's meaning of names.
func (f *finder) told() error {
	for _, t := range []struct {
		flag, text string
		kind       cabling.Kind
	}{{"--servers", f.o.Servers, cabling.Server}, {"--switches", f.o.Switches, cabling.Switch}} {
		if t.text == "" {
			continue
		}
		match, err := site.Pattern(t.text)
		n := 0
		for i, x := range f.c.Nodes {
			if err == nil && match(x.Name) {
				f.kind[i] = t.kind
				n++
			}
		}
		if n == 0 {
			return field.New(t.flag, "%s means no node; accepted: gpu-*, gpu-[1-4]", field.Quote(t.text))
		}
	}
	return nil
}

// spread gives the neighbours of nodes of a kind another one.
func (f *finder) spread(of, to cabling.Kind) {
	for _, x := range f.c.Cables {
		for _, e := range [][2]int{{x.A.Node, x.B.Node}, {x.B.Node, x.A.Node}} {
			if f.kind[e[0]] == of && f.kind[e[1]] == cabling.Unknown {
				f.kind[e[1]] = to
			}
		}
	}
}

// neighbours are the nodes that a node is cabled to.
func (f *finder) neighbours(i int) (out []int) {
	seen := map[int]bool{}
	for _, k := range f.at[i] {
		x := &f.c.Cables[k]
		if o := x.A.Node + x.B.Node - i; !seen[o] {
			seen[o] = true
			out = append(out, o)
		}
	}
	return out
}

func (f *finder) beside(i int, k cabling.Kind) bool {
	return slices.ContainsFunc(f.neighbours(i), func(o int) bool { return f.kind[o] == k })
}

// fewest is the minimum number of links of a node, if no server is known.
func (f *finder) fewest() (least int) {
	for i, k := range f.kind {
		if k == cabling.Server {
			return 0
		}
		if n := len(f.at[i]); n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// tiers are distances from servers; roles are read from source or name, or follow from the tier.
func (f *finder) tiers() error {
	n := len(f.c.Nodes)
	f.tier, f.role = make([]int, n), make([]topo.Role, n)
	var queue []int
	for i := range f.tier {
		if f.tier[i] = -1; f.kind[i] == cabling.Server {
			f.tier[i] = 0
			queue = append(queue, i)
		}
	}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, o := range f.neighbours(i) {
			if f.tier[o] < 0 {
				f.tier[o] = f.tier[i] + 1
				queue = append(queue, o)
			}
		}
	}
	for i := range f.role {
		if f.kind[i] != cabling.Switch {
			continue
		}
		if f.tier[i] < 0 && !f.gone[i] {
			f.gone[i] = true
			f.note("%s reaches no server: left out", f.c.Nodes[i].Name)
		}
		if r, err := topo.ParseRole(f.c.Nodes[i].Role); err == nil && r != topo.Host {
			f.role[i] = r
		} else {
			f.role[i] = []topo.Role{topo.Leaf, topo.Leaf, topo.Spine, topo.Core}[max(0, min(f.tier[i], 3))]
		}
	}
	return nil
}

// defaults orients links upwards and sets their rates and lengths: the most frequent value becomes the fabric's
// default, missing ones are assumed.
func (f *finder) defaults() error {
	var count [2]map[wire]int
	var missing int
	var short [2]int
	count[0], count[1] = map[wire]int{}, map[wire]int{}
	rate := f.o.Rate
	if rate == 0 {
		rate = defaultRate
	}
	for i, x := range f.c.Cables {
		if f.gone[x.A.Node] || f.gone[x.B.Node] {
			continue
		}
		w := wire{x.A.Node, x.B.Node, x.A.Port, x.B.Port, x.Rate, x.LengthMM, i}
		if f.tier[w.a] > f.tier[w.b] {
			w.a, w.b, w.pa, w.pb = w.b, w.a, w.pb, w.pa
		}
		if w.rate == 0 {
			w.rate = rate
			missing++
		}
		up, length := 1, f.o.FabricMM
		if f.tier[w.a] == 0 {
			up, length = 0, f.o.HostMM
		}
		if w.mm == 0 {
			if w.mm = length; w.mm == 0 {
				w.mm = [2]int64{defaultHostMM, defaultFabricMM}[up]
			}
			short[up]++
		}
		f.cables = append(f.cables, w)
		count[up][wire{rate: w.rate, mm: w.mm}]++
	}
	if len(f.cables) == 0 {
		return &field.Error{File: f.c.Nodes[0].At.File, Msg: "has no cable that reaches a server"}
	}
	if missing > 0 {
		f.note("rate of %s not set: %v (--rate)", unit.Plural(missing, "cable"), rate)
	}
	lengths := [2]string{metres(f.o.HostMM, defaultHostMM) + " to servers (--host-length)",
		metres(f.o.FabricMM, defaultFabricMM) + " between switches (--fabric-length)"}
	for up, n := range short {
		if n > 0 {
			f.note("length of %s not set: %s", unit.Plural(n, "cable"), lengths[up])
		}
	}
	for i, m := range count {
		var best wire
		for w, n := range m {
			if b := m[best]; n > b || n == b && (w.rate > best.rate || w.rate == best.rate && w.mm < best.mm) {
				best = w
			}
		}
		d := topo.Cable{Rate: best.rate, LengthMM: best.mm}
		if i == 0 {
			f.out.Host = d
		} else if f.out.Fabric = d; len(m) == 0 {
			f.out.Fabric = f.out.Host
		}
	}
	return nil
}

func metres(mm, def int64) string {
	if mm == 0 {
		mm = def
	}
	return site.Length(mm).String()
}
