package sonic

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/unit"
)

// Platform parses platform.json, which has each port's breakouts, with hwsku.json, which has the default breakouts.
// The switch lacks ports that hwsku.json omits.
func Platform(file string, text []byte, skuFile string, sku []byte) (*Profile, error) {
	root, err := document(file, text)
	if err != nil {
		return nil, err
	}
	chosen, err := document(skuFile, sku)
	if err != nil {
		return nil, err
	}
	all, now := root.get("interfaces"), chosen.get("interfaces")
	for _, x := range []struct {
		n    *node
		file string
	}{{all, file}, {now, skuFile}} {
		if !x.n.object() {
			return nil, &cli.SyntaxError{File: x.file, Line: 1, Col: 1, Msg: "has no interfaces: the object of ports that platform.json and hwsku.json have"}
		}
	}
	p := &Profile{From: file}
	total := 0
	for i, row := range values(all) {
		name := all.keys[i]
		if now.get(name) == nil {
			continue
		}
		c, err := cage(name, row, now)
		if err != nil {
			return nil, err
		}
		p.Cages = append(p.Cages, c)
		if total += len(c.Modes[0].Ports); total > mostOutlets {
			return nil, fault(row.at, "has the %dth port; a switch has %d at most", total, mostOutlets)
		}
	}
	if len(p.Cages) == 0 {
		return nil, fault(now.at, "interfaces has none of the ports of %s", file)
	}
	slices.SortStableFunc(p.Cages, func(a, b Cage) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(number(a.Name), number(b.Name)))
	})
	return p, p.check()
}

// cage reads a port of platform.json.
func cage(name string, row, now *node) (Cage, error) {
	c := Cage{Name: name}
	if err := nameOf(row.at, name); err != nil {
		return c, err
	}
	field := func(key, like string) (*node, error) {
		n := row.get(key)
		if n == nil || n.kind != '"' {
			return nil, fault(row.at, "interfaces.%s.%s is not text such as %q", name, key, like)
		}
		return n, nil
	}
	at, err := field("lanes", "1,2,3,4")
	if err != nil {
		return c, err
	}
	lanes, err := lanesOf(at.at, at.text)
	if err != nil {
		return c, err
	}
	if at, err = field("index", "1,1,1,1"); err != nil {
		return c, err
	}
	indexes, err := indexesOf(at, name, len(lanes))
	if err != nil {
		return c, err
	}
	c.Index = indexes[0]
	modes := row.get("breakout_modes")
	if !modes.object() || len(modes.keys) == 0 {
		return c, fault(row.at, `interfaces.%s.breakout_modes is not an object such as {"1x400G": ["etp1"]}`, name)
	}
	for i, text := range modes.keys {
		m, err := c.mode(text, modes.kids[i], lanes, indexes)
		if err != nil {
			return c, err
		}
		c.Modes = append(c.Modes, m)
	}
	return c, c.choose(now.get(name), now, modes.keys, len(lanes))
}

// indexesOf returns the front panel numbers of each lane's port; some files have one for all.
func indexesOf(n *node, name string, lanes int) (out []int, err error) {
	for word := range strings.SplitSeq(n.text, ",") {
		i, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || i < 0 || i > 65535 {
			return nil, fault(n.at, "interfaces.%s.index %q: %q is not a whole number from 0 to 65535", name,
				clip(n.text), clip(word))
		}
		out = append(out, i)
	}
	for len(out) < lanes {
		out = append(out, out[len(out)-1])
	}
	return out, nil
}

// choose applies a port's settings in hwsku.json: its breakout, and its error correction.
func (c *Cage) choose(said, all *node, texts []string, lanes int) error {
	m := said.get("default_brkout_mode")
	if m == nil || m.kind != '"' {
		return fault(said.at, "interfaces.%s.default_brkout_mode is missing; accepted: %s", c.Name,
			strings.Join(texts, ", "))
	}
	want := m.text
	i := slices.IndexFunc(c.Modes, func(m Mode) bool { return sameMode(m.Text, want, lanes) })
	if i < 0 {
		return fault(m.at, "interfaces.%s.default_brkout_mode %q is not one of the port's; accepted: %s", c.Name,
			clip(want), strings.Join(texts, ", "))
	}
	c.Modes[0], c.Modes[i] = c.Modes[i], c.Modes[0]
	own := c.Modes[0].Ports
	for k := range own {
		if f := all.get(own[k].Name).get("fec"); f != nil {
			for j := range own {
				if err := own[j].set(f.at, "fec", f.text); err != nil {
					return err
				}
			}
		}
	}
	for i := range own {
		own[i].at = m.at
	}
	return nil
}

// brokenOut is a part of a mode: 4x100G[50G](4) is four ports of 100 or 50 Gbit/s on four lanes. Some devices list the
// lanes first, which SONiC accepts as well.
var brokenOut = regexp.MustCompile(`^(\d{1,4})x(\d{1,7}G?)(?:\((\d{1,3})\))?(?:\[([\dG, ]*)\])?(?:\((\d{1,3})\))?$`)

// part is one of a mode's parts.
type part struct {
	ports, lanes int
	speeds       []int64 // initial speed, and further ones
}

// parts parses a mode: parts with + between them. lanes is the port's number of lanes.
func parts(text string, lanes int) (out []part, ok bool) {
	for word := range strings.SplitSeq(text, "+") {
		m := brokenOut.FindStringSubmatch(strings.TrimSpace(word))
		if m == nil {
			return nil, false
		}
		x := part{lanes: lanes}
		x.ports, _ = strconv.Atoi(m[1])
		if n := m[3] + m[5]; n != "" {
			x.lanes, _ = strconv.Atoi(n)
		}
		for i, s := range append([]string{m[2]}, strings.Split(m[4], ",")...) {
			if s = strings.TrimSpace(s); s == "" && i > 0 {
				continue
			}
			plain, giga := strings.CutSuffix(s, "G")
			v, err := strconv.ParseInt(plain, 10, 64)
			if giga {
				v *= 1000
			}
			if err != nil || v < 1 || v > mostSpeed {
				return nil, false
			}
			x.speeds = append(x.speeds, v)
		}
		if x.ports < 1 || x.lanes/x.ports < 1 {
			return nil, false
		}
		out = append(out, x)
	}
	used := 0
	for _, x := range out {
		used += x.lanes
	}
	return out, used <= lanes
}

// sameMode compares modes by meaning: speeds may be in any order, and lanes may be omitted.
func sameMode(a, b string, lanes int) bool {
	x, ok1 := parts(a, lanes)
	y, ok2 := parts(b, lanes)
	return ok1 && ok2 && slices.EqualFunc(x, y, func(a, b part) bool {
		others := func(s []int64) []int64 { return slices.Sorted(slices.Values(s)) }
		return a.ports == b.ports && a.lanes == b.lanes && slices.Equal(others(a.speeds), others(b.speeds))
	})
}

// mode creates the ports of a breakout of a cage; aliases are the labels.
func (c *Cage) mode(text string, aliases *node, lanes, indexes []int) (Mode, error) {
	m := Mode{Text: text}
	list, ok := parts(text, len(lanes))
	if !ok {
		return m, fault(aliases.at, "interfaces.%s.breakout_modes: %q is not a mode of %s; accepted: such as 1x400G, 2x200G[100G], 4x25G(4), 4x100G(4)+1x400G(4)", c.Name, clip(text),
			unit.Plural(len(lanes), "lane"))
	}
	count := 0
	for _, x := range list {
		count += x.ports
	}
	if aliases.kind != '[' || len(aliases.kids) < count {
		return m, fault(aliases.at, "interfaces.%s.breakout_modes.%s needs a list of %s, for what is printed next to them", c.Name, text, unit.Plural(count, "name"))
	}
	var names []string
	for _, a := range aliases.kids {
		names = append(names, a.text)
	}
	m.Ports = broken(list, number(c.Name), lanes, indexes, names, aliases.at)
	return m, nil
}

// broken distributes a cage's lanes like portconfig.py: ports are named by their first lane's position.
func broken(list []part, base int, lanes, indexes []int, aliases []string, at swconf.Place) (out []Outlet) {
	lane := 0
	for _, x := range list {
		own := x.lanes / x.ports
		for range x.ports {
			o := Outlet{Name: "Ethernet" + strconv.Itoa(base+lane), Lanes: lanes[lane : lane+own],
				Index: indexes[lane], Alias: aliases[len(out)], Speed: x.speeds[0], at: at,
				Speeds: slices.Sorted(slices.Values(x.speeds))}
			out = append(out, o)
			lane += own
		}
	}
	return out
}

// HasPorts reports whether a file is a JSON object with interfaces, like platform.json and hwsku.json. It is also
// true for an unreadable file, whose error is then reported by reading it.
func HasPorts(file string, text []byte) bool {
	root, err := document(file, text)
	return err != nil || root.get("interfaces").object() && len(root.get("interfaces").keys) > 0
}
