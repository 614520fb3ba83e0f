package cabling

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/topo"
	"railyard/unit"
)

func looksInfra(_, text string) bool {
	return strings.Contains(text, "instances") && strings.Contains(text, "edges") && strings.Contains(text, "ep1") ||
		strings.Contains(text, "infrastructure:") && strings.Contains(text, "connections:")
}

// infra is an InfraGraph infrastructure: instances of devices, edges between their components.
type infra struct {
	b     *builder
	root  *tree
	count map[string]int    // of an instance
	of    map[string]string // its device
	parts map[string]*tree  // device
	named []string          // the links
	rate  map[string]unit.Rate
	mm    map[string]int64
}

// readInfra reads InfraGraph in its schema of 2025: instances, and edges with slices like host[0:2], combined one2one
// or many2many. Nodes are called host.0, as its graph calls them.
func readInfra(b *builder, text string) error {
	root, err := parseTree(text)
	if err != nil {
		return err
	}
	if root.has("infrastructure") {
		root = root.get("infrastructure")
	}
	g := &infra{b: b, root: root, count: map[string]int{}, of: map[string]string{}, parts: map[string]*tree{},
		rate: map[string]unit.Rate{}, mm: map[string]int64{}}
	for _, d := range root.get("devices").items {
		name := d.get("name").text
		if g.parts[name] != nil {
			return twice(d, "device", name)
		}
		if g.parts[name] = d; d.has("components") {
			if err := counted(d); err != nil {
				return err
			}
		}
	}
	if err := g.links(); err != nil {
		return err
	}
	for _, i := range root.get("instances").items {
		name := i.get("name").text
		n, err := strconv.Atoi(i.get("count").text)
		if err != nil || n < 1 || n > topo.MaxNodes || name == "" {
			return i.fail("instance %q with count %q; expected a name and 1 to %d", name,
				i.get("count").text, topo.MaxNodes)
		}
		if g.count[name] > 0 {
			return twice(i, "instance", name)
		}
		g.count[name], g.of[name] = n, i.get("device").text
		for k := range n {
			g.node(b.where(i), name, k)
		}
	}
	for _, e := range root.get("edges").items {
		if err := g.edge(e); err != nil {
			return err
		}
	}
	for _, c := range root.get("connections").items {
		if err := g.connection(c); err != nil {
			return err
		}
	}
	return nil
}

// twice refuses a duplicate name.
func twice(t *tree, what, name string) error {
	return t.fail("a second %s is called %s", what, field.Quote(name))
}

// mostOf is the largest number of components of one kind in a device.
const mostOf = 4096

// counted checks that a device's components have numeric counts; the default is one.
func counted(d *tree) error {
	for _, c := range d.get("components").items {
		n := c.get("count")
		if v, err := strconv.Atoi(n.text); n.text != "" && (err != nil || v < 0 || v > mostOf) {
			return n.fail("%s is not a number of components; accepted: 0 to %d", field.Quote(n.text), mostOf)
		}
	}
	return nil
}

// many is a component's count.
func many(c *tree) int {
	if v, err := strconv.Atoi(c.get("count").text); err == nil {
		return v
	}
	return 1
}

// node is the k-th of an instance.
func (g *infra) node(at Place, name string, k int) int {
	n := g.b.node(at, fmt.Sprintf("%s.%d", name, k))
	kind, role := kindOf(name)
	gpus := -1
	if d := g.parts[g.of[name]]; d != nil {
		ports, xpus, nics := g.components(d, "port"), g.components(d, "xpu")+g.components(d, "npu"),
			g.components(d, "nic")
		switch {
		case xpus > 0:
			kind, role, gpus = Server, "", xpus
		case ports > 0 && nics == 0:
			kind = Switch
		case nics > 0:
			kind, role, gpus = Server, "", 0
		}
	}
	g.b.is(n, kind, role)
	if gpus >= 0 {
		g.b.c.Nodes[n].GPUs = gpus
	}
	return n
}

// components counts a device's components of a kind.
func (g *infra) components(d *tree, choice string) (n int) {
	for _, c := range d.get("components").items {
		kind := c.get("choice").text
		if kind == "" {
			kind = c.get("type").text
		}
		if kind == choice {
			n += many(c)
		}
	}
	return n
}

// bandwidths are the units of a link's rate. Transfers have one bit per lane, and the number of lanes is not given.
var bandwidths = map[string]float64{"gigabits_per_second": 1e9, "giga_bits_per_second": 1e9,
	"gigabytes_per_second": 8e9, "giga_bytes_per_second": 8e9}

// links reads the kinds of cables: bandwidth and latency in the chosen unit.
func (g *infra) links() error {
	for _, l := range g.root.get("links").items {
		name := l.get("name").text
		if slices.Contains(g.named, name) {
			return twice(l, "link", name)
		}
		g.named = append(g.named, name)
		phys := l
		if l.has("physical") {
			phys = l.get("physical")
		}
		for _, k := range phys.get("bandwidth").keys {
			switch {
			case k.name == "choice":
				continue
			case k.name == "gigatransfers_per_second":
				g.b.note(g.b.where(k.at), "a link in transfers per second has no rate in bits: left out")
				continue
			case bandwidths[k.name] == 0:
				e := field.Choice("", k.name, slices.Sorted(maps.Keys(bandwidths)), "%s is not a unit of a bandwidth", field.Quote(k.name))
				e.Line, e.Col = k.at.line, k.at.col
				return e
			}
			f, err := strconv.ParseFloat(k.val.text, 64)
			r, err := bounded(k.val.text, f*bandwidths[k.name], err)
			if err != nil {
				return k.val.fail("%v", err)
			}
			g.rate[name] = r
		}
		for _, k := range phys.get("latency").keys {
			scale := map[string]float64{"ms": 1e9, "us": 1e6, "ns": 1e3}[k.name]
			if scale == 0 {
				continue
			}
			f, err := strconv.ParseFloat(k.val.text, 64)
			if err != nil {
				f = -1
			}
			if g.mm[name], err = lengthOf(k.val.text, f*scale); err != nil {
				return k.val.fail("%v", err)
			}
		}
	}
	return nil
}

// link returns the cable of a name. An unknown name would give cables without a rate.
func (g *infra) link(at *tree, name string) (x Cable, err error) {
	if name != "" && !slices.Contains(g.named, name) {
		e := field.Choice("", name, g.named, "unknown link %s", field.Quote(name))
		e.Line, e.Col = at.line, at.col
		return x, e
	}
	return Cable{Rate: g.rate[name], LengthMM: g.mm[name], At: g.b.where(at)}, nil
}

var slice = regexp.MustCompile(`^([A-Za-z_][\w-]*)(?:\[(\d*)(:?)(\d*)(?::(\d+))?\])?$`)

// span parses name[2:8:2]: from, below, step; all if there are no brackets.
func span(t *tree, count func(name string) int) (name string, idx []int, all bool, err *field.Error) {
	m := slice.FindStringSubmatch(t.text)
	if m == nil {
		return "", nil, false, t.fail("%s is not a name with a slice; accepted: host, host[3], host[0:4]",
			field.Quote(t.text))
	}
	n := count(m[1])
	lo, hi, step := 0, n, 1
	num := func(v *int, s string) {
		if s != "" {
			if x, err := strconv.Atoi(s); err == nil {
				*v = x
			} else {
				*v = n + 1
			}
		}
	}
	num(&lo, m[2])
	if num(&hi, m[4]); m[2] != "" && m[3] == "" {
		hi = lo + 1
	}
	num(&step, m[5])
	if n == 0 || lo < 0 || lo >= hi || hi > n || step < 1 {
		return "", nil, false, t.fail("%s: there are %d of %s", field.Quote(t.text), n, m[1])
	}
	for i := lo; i < hi; i += min(step, n) {
		idx = append(idx, i)
	}
	return m[1], idx, !strings.Contains(t.text, "["), nil
}

// ends are an endpoint's component instances, in order.
func (g *infra) ends(t *tree) ([]End, error) {
	inst := t.get("instance")
	name, nodes, _, err := span(inst, func(n string) int { return g.count[n] })
	if err != nil {
		return nil, err
	}
	dev := g.parts[g.of[name]]
	comp := t.get("component")
	part, idx, _, err := span(comp, func(n string) int {
		if dev == nil {
			return mostOf
		}
		for _, c := range dev.get("components").items {
			if c.get("name").text == n {
				return many(c)
			}
		}
		return 0
	})
	if err != nil {
		return nil, err
	}
	var out []End
	for _, k := range nodes {
		n := g.node(g.b.where(t), name, k)
		for _, i := range idx {
			if out = append(out, End{n, fmt.Sprintf("%s.%d", part, i)}); len(out) > topo.MaxLinks {
				return nil, t.fail("more than %d ends", topo.MaxLinks)
			}
		}
	}
	return out, nil
}

// edge connects the ends of both sides one to one, or each with each.
func (g *infra) edge(e *tree) error {
	a, err := g.ends(e.get("ep1"))
	if err != nil {
		return err
	}
	z, err := g.ends(e.get("ep2"))
	if err != nil {
		return err
	}
	x, err := g.link(e.get("link"), e.get("link").text)
	if err != nil {
		return err
	}
	x.At = g.b.where(e)
	scheme := e.get("scheme").text
	if scheme == "" && e.get("many2many").text == "true" {
		scheme = "many2many"
	}
	switch scheme {
	case "", "one2one":
		for i := range min(len(a), len(z)) {
			x.A, x.B = a[i], z[i]
			g.b.cable(x)
		}
		if len(a) != len(z) {
			g.b.note(x.At, "one2one between sides of different size connects as many as the smaller has")
		}
	case "many2many":
		for _, p := range a {
			for _, q := range z {
				if len(a) > 1 || len(z) > 1 { // a port cannot hold several cables, so its name is omitted
					p.Port, q.Port = "", ""
				}
				if x.A, x.B = p, q; p.Node != q.Node {
					g.b.cable(x)
				}
			}
		}
	default:
		return e.get("scheme").fail("%s is not a scheme; accepted: one2one, many2many", field.Quote(scheme))
	}
	return nil
}

// connection reads the older form: server.0.nic.1.eth.leaf.0.port.1.
func (g *infra) connection(c *tree) error {
	w := strings.Split(c.text, ".")
	if len(w) != 9 {
		return c.fail("%s is not a connection; expected instance.0.component.0.link.instance.0.component.0",
			field.Quote(c.text))
	}
	var n [4]int
	for i, at := range []int{1, 3, 6, 8} {
		v, err := strconv.Atoi(w[at])
		if err != nil || v < 0 || v > topo.MaxNodes {
			return c.fail("%s: %s is not a number", field.Quote(c.text), field.Quote(w[at]))
		}
		n[i] = v
	}
	for _, i := range []int{0, 2} {
		inst := w[i*5/2]
		if most, ok := g.count[inst]; ok && n[i] >= most {
			return c.fail("%s: there are %d of %s", field.Quote(c.text), most, inst)
		}
	}
	if len(g.named) == 0 { // the older form may lack it
		w[4] = ""
	}
	x, err := g.link(c, w[4])
	if err != nil {
		return err
	}
	x.A = End{g.node(x.At, w[0], n[0]), w[2] + "." + w[3]}
	x.B = End{g.node(x.At, w[5], n[2]), w[7] + "." + w[8]}
	g.b.cable(x)
	return nil
}
