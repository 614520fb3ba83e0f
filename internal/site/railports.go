package site

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/panel"
	"railyard/unit"
)

// Methods of assigning a switch's ports to rails. In order is server by server, as the groups of eight interfaces of
// the source's figure 13-4. Panel is the source's figure 13-6: the rows of the front panel from the top, rail by rail,
// with the rest for other switches. Blocks are consecutive ports.
const (
	railOrder  = "order"
	railPanel  = "panel"
	railBlocks = "blocks"
)

var railMaps = []string{railOrder, railPanel, railBlocks}

// mapped reports whether rails have ports of their own.
func (t *Type) mapped() bool {
	return len(t.RailPorts) > 0 || t.RailMap != "" && t.RailMap != railOrder
}

// checkRails checks a switch's map of ports to rails, and that its front panel is known if needed.
func (t *Type) checkRails(key string) error {
	switch {
	case t.RailMap != "" && !slices.Contains(railMaps, t.RailMap):
		return field.Choice(key+".rail_map", t.RailMap, railMaps, "%s is not a map", field.Quote(t.RailMap))
	case t.RailMap != "" && len(t.RailPorts) > 0:
		return field.New(key+".rail_map", "rail_ports sets the ports of rails too: use one of the two")
	case t.mapped() && t.Ports == "":
		return field.New(key, "a map of ports to rails needs the switch's ports, or a model that has them")
	}
	if t.RailMap == railPanel {
		m := modelOf(strings.ToLower(t.Model))
		if m == nil || m.Rows == 0 {
			var known []string
			for i := range models {
				if models[i].Rows > 0 {
					known = append(known, models[i].Key)
				}
			}
			slices.Sort(known)
			return field.New(key+".rail_map", "panel needs a model whose rows of ports are known: %s; or write rail_ports", strings.Join(known, ", "))
		}
		own, _ := parsePorts(t.Ports)
		if all, _ := parsePorts(m.Ports); len(own) != 1 || own[0].count != all[0].count {
			return field.New(key+".rail_map", "panel has the %d ports of a %s, not %s; write rail_ports",
				all[0].count, m.Name, t.Ports)
		}
		t.Rows = m.Rows
	}
	var err error
	t.RailJacks, err = t.parseRails(key + ".rail_ports")
	return err
}

// parseRails reads {1: "1,4,7,10", 2: 5/1, 6-8}: by rail its ports in the order of servers. The parts of a split port
// are numbered from 1 after a slash.
func (t *Type) parseRails(key string) (map[int][]panel.Jack, error) {
	out, taken := map[int][]panel.Jack{}, map[panel.Jack]string{}
	kinds, _ := parsePorts(t.Ports) // checked before
	for _, p := range t.RailPorts {
		rail, err := strconv.Atoi(p.Key)
		if err != nil || rail < 1 || rail > MaxValue {
			return nil, field.New(key+"."+p.Key, "is not a rail; they are numbered from 1")
		}
		jacks, err := parseJacks(p.Value)
		if err != nil {
			return nil, field.New(key+"."+p.Key, "%s", err.Error())
		}
		for _, j := range jacks {
			whole := panel.Jack{Port: j.Port}
			twice := taken[j]
			if twice == "" && j.Part > 0 {
				twice = taken[whole]
			}
			switch k := kindAt(kinds, j.Port); {
			case k == nil:
				last := kinds[len(kinds)-1]
				return nil, field.New(key+"."+p.Key, "unknown port %d; they go from 1 to %d", j.Port,
					last.before+last.count)
			case twice != "":
				return nil, field.New(key+"."+p.Key, "port %d is rail %s's already", j.Port, twice)
			case int(j.Part) > max(t.Split, 1):
				return nil, field.New(key+"."+p.Key, "port %d has no part %d; it splits into %d", j.Port,
					j.Part, max(t.Split, 1))
			}
			if taken[j] = p.Key; j.Part > 0 && taken[whole] == "" {
				taken[whole] = p.Key
			}
		}
		out[rail] = jacks
	}
	return out, nil
}

// mostJacks is the maximum length of a list of ports: all parts of the most ports of a type.
const mostJacks = 4096 * 8

// parseJacks reads 1,4,7-9,12/2,13-16/1-2.
func parseJacks(text string) (out []panel.Jack, err error) {
	stretch := func(word string, most int) (lo, hi int, ok bool) {
		from, to, both := strings.Cut(word, "-")
		lo, err := strconv.Atoi(from)
		if hi = lo; err == nil && both {
			hi, err = strconv.Atoi(to)
		}
		return lo, hi, err == nil && lo >= 1 && hi >= lo && hi <= most
	}
	for _, word := range strings.Split(text, ",") {
		port, part, broken := strings.Cut(strings.TrimSpace(word), "/")
		a, b, ok := stretch(port, 4096)
		first, last := 0, 0
		if ok && broken {
			first, last, ok = stretch(part, 8)
		}
		if !ok {
			return nil, fmt.Errorf("%s is not a list of ports; accepted: 1,4,7,10, also 1-4, 5/2, the second part of port 5, and 1-4/1-2, both parts of each", field.Quote(text))
		}
		if len(out)+(b-a+1)*(last-first+1) > mostJacks {
			return nil, fmt.Errorf("more than %d ports are listed", mostJacks)
		}
		for ; a <= b; a++ {
			for k := first; k <= last; k++ {
				out = append(out, panel.Jack{Port: int32(a), Part: uint8(k)})
			}
		}
	}
	return out, nil
}

// kindAt returns a port's kind, nil if there is no port of that number.
func kindAt(kinds []portKind, port int32) *portKind {
	for i, k := range kinds {
		if int(port) > k.before && int(port) <= k.before+k.count {
			return &kinds[i]
		}
	}
	return nil
}

// railed plugs the cables of servers into the ports that their switches' maps have for their rails.
func (b *builder) railed() error {
	servers, others := map[*node][]*cable{}, map[*node]int{}
	for i := range b.cables {
		c := &b.cables[i]
		if c.nic > 0 {
			servers[c.to] = append(servers[c.to], c)
			continue
		}
		others[c.from]++
		others[c.to]++
	}
	for _, n := range b.nodes {
		if !n.typ.server() && n.typ.mapped() {
			if err := b.railsOf(n, servers[n], others[n]); err != nil {
				return err
			}
		}
	}
	return nil
}

// rail is which rail a server's cable is on: the switch's, or its card's place in the server.
func (c *cable) railOf() int {
	if c.rail > 0 {
		return c.rail
	}
	return c.nic
}

// railsOf plugs a switch's cables of servers.
func (b *builder) railsOf(n *node, cables []*cable, others int) error {
	by := map[int][]*cable{}
	var rails []int
	for _, c := range cables {
		r := c.railOf()
		if by[r] == nil {
			rails = append(rails, r)
		}
		by[r] = append(by[r], c)
	}
	slices.Sort(rails)
	jacks, key := n.typ.RailJacks, fmt.Sprintf("types[%d]", b.typeAt(n.typ))
	if len(n.typ.RailPorts) > 0 {
		key += ".rail_ports"
	} else {
		key += ".rail_map"
		var err error
		if jacks, err = n.typ.dealt(rails, by, others); err != nil {
			return field.New(key, "%s: %v", n.name, err)
		}
	}
	n.ports.reserved = map[int32]bool{}
	for _, list := range jacks {
		for _, j := range list {
			n.ports.reserved[j.Port] = true
		}
	}
	for _, r := range rails {
		if len(by[r]) > len(jacks[r]) {
			return field.New(key, "%s has %s of rail %d (%s on), and the map %s for it", n.name,
				unit.Plural(len(by[r]), "cable"), r, by[r][0].from.name,
				unit.Plural(len(jacks[r]), "port"))
		}
		for i, c := range by[r] {
			if err := n.plug(c, 1, jacks[r][i]); err != nil {
				return field.New(key, "%s, rail %d: %v", n.name, r, err)
			}
		}
	}
	return nil
}

// dealt returns the map of rail_map for a number of cables: whole ports, or split ones if these are too few.
func (t *Type) dealt(rails []int, by map[int][]*cable, others int) (map[int][]panel.Jack, error) {
	kinds, _ := parsePorts(t.Ports)
	all, most, rate := 0, 0, unit.Rate(0)
	for _, k := range kinds {
		all += k.count
	}
	for _, r := range rails {
		most = max(most, len(by[r]))
		for _, c := range by[r] {
			rate = max(rate, c.rate)
		}
	}
	if len(rails) == 0 {
		return nil, nil
	}
	if rate == 0 || rate > kinds[0].rate {
		return nil, fmt.Errorf("ports of %v do no %v", kinds[0].rate, rate)
	}
	parts := 1
	if len(rails)*most+others > all {
		parts = max(1, min(t.Split, int(kinds[0].rate/rate)))
	}
	size := (most + parts - 1) / parts // ports of a rail
	out := map[int][]panel.Jack{}
	for i, r := range rails {
		for k := range len(by[r]) {
			port := i*size + k/parts + 1
			if t.RailMap == railPanel {
				port = t.stacked(i, k/parts, size, all)
			}
			if port > all || port < 1 {
				return nil, fmt.Errorf("%s of %s are more than its %d ports", unit.Plural(len(rails), "rail"),
					unit.Plural(size, "port"), all)
			}
			j := panel.Jack{Port: int32(port)}
			if parts > 1 {
				j.Part, j.Parts = uint8(k%parts+1), uint8(parts)
			}
			out[r] = append(out[r], j)
		}
	}
	return out, nil
}

// stacked returns the kth port of a rail on a panel whose ports are numbered down its columns; 0 if none is left. A
// row is assigned to rails while it has ports for them, then the next one.
func (t *Type) stacked(rail, k, size, all int) int {
	columns := all / t.Rows
	row, column := rail*((size+columns-1)/columns)+k/columns, k%columns
	if per := columns / size; per > 0 {
		row, column = rail/per, rail%per*size+k
	}
	if row >= t.Rows {
		return 0
	}
	return column*t.Rows + row + 1
}
