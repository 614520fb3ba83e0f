package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/topo"
	"railyard/unit"
)

// OCS is an optical circuit switch: it joins fibres two by two and looks at no packet. What is plugged
// into two joined ports has one cable.
type OCS struct {
	Name        string    `yaml:"name" doc:"unique name, for links"`
	Ports       int       `yaml:"ports" doc:"how many; links take them in their order, from 1"`
	Reconfigure unit.Time `yaml:"reconfigure" doc:"how long a circuit that moves is dark: mirrors take about 10ms"`
	Circuits    []string  `yaml:"circuits" doc:"pairs of ports that are joined at first, as 1-5; each port once"`
	Schedule    []Mapping `yaml:"schedule" doc:"other circuits later, in the order of time"`
}

// Mapping is what an OCS joins from a moment on.
type Mapping struct {
	At       unit.Time `yaml:"at" doc:"when circuits that are not in the new map go dark; new ones shine when reconfigure has passed"`
	Circuits []string  `yaml:"circuits" doc:"all pairs of ports that are joined from then on"`
}

// circuit is two ports of an OCS that are joined at some time, as a cable between what is plugged in.
type circuit struct {
	a, b int // ports, from 1, the lower first
	link int
}

func (c circuit) String() string { return fmt.Sprintf("%d-%d", c.a, c.b) }

// optics is an OCS with what is plugged into it.
type optics struct {
	*OCS
	key   string // of its block
	ends  []fibre
	maps  [][][2]int // by moment: pairs of ports
	ever  []circuit  // that are joined at some time, in order
	place map[[2]int]int
}

// fibre is a cable from a switch to a port of an OCS.
type fibre struct {
	node string
	c    topo.Cable
}

// optics reads the OCSes of a graph.
func (p *resolver) opticals(e *Graph, taken func(string) bool) (map[string]*optics, error) {
	all := map[string]*optics{}
	for i := range e.OCS {
		o := &optics{OCS: &e.OCS[i], key: field.At("fabric.graph.ocs", i), place: map[[2]int]int{}}
		if err := topo.CheckName(o.Name); err != nil {
			return nil, field.Under(o.key+".name", err)
		}
		if taken(o.Name) || all[o.Name] != nil {
			return nil, field.New(o.key+".name", "%q stands twice", o.Name)
		}
		all[o.Name] = o
		p.ocs = append(p.ocs, o)
	}
	return all, nil
}

// plug takes the next port of an OCS.
func (o *optics) plug(key, node string, host bool, c topo.Cable) error {
	switch {
	case host:
		return field.New(key, "%s is a server: an OCS joins switches", node)
	case len(o.ends) == o.Ports:
		return field.New(key, "%s has %d ports, and all are taken", o.Name, o.Ports)
	}
	o.ends = append(o.ends, fibre{node, c})
	return nil
}

// join reads the maps of an OCS and runs a cable for each circuit that there is at some time.
func (o *optics) join(b *topo.Explicit) error {
	at := unit.Time(0)
	for i := -1; i < len(o.Schedule); i++ {
		key, pairs := o.key+".circuits", o.Circuits
		if i >= 0 {
			m := &o.Schedule[i]
			key, pairs = field.At(o.key+".schedule", i), m.Circuits
			if i > 0 && m.At < at+o.Reconfigure || m.At <= 0 {
				return field.New(key+".at", "%v is too early: the map before is joined from %v on", m.At,
					at+o.Reconfigure)
			}
			at, key = m.At, key+".circuits"
		}
		one, err := o.match(key, pairs)
		if err != nil {
			return err
		}
		o.maps = append(o.maps, one)
	}
	for _, one := range o.maps {
		for _, pair := range one {
			if _, known := o.place[pair]; known {
				continue
			}
			x, y := o.ends[pair[0]-1], o.ends[pair[1]-1]
			c := x.c
			c.LengthMM += y.c.LengthMM
			c.Delay += y.c.Delay
			c.BER += y.c.BER
			link, err := b.Joined(x.node, y.node, c)
			if err != nil {
				return field.Under(o.key+".circuits", err)
			}
			o.place[pair] = len(o.ever)
			o.ever = append(o.ever, circuit{pair[0], pair[1], link})
		}
	}
	return nil
}

// match reads a map, which has to be a matching of ports with something plugged in.
func (o *optics) match(key string, pairs []string) (all [][2]int, err error) {
	used := map[int]string{}
	for i, text := range pairs {
		at := field.At(key, i)
		x, y, ok := strings.Cut(text, "-")
		a, err1 := strconv.Atoi(strings.TrimSpace(x))
		b, err2 := strconv.Atoi(strings.TrimSpace(y))
		if !ok || err1 != nil || err2 != nil {
			return nil, field.New(at, "%s is no pair of ports; write for example 1-5", field.Quote(text))
		}
		for _, port := range []int{a, b} {
			switch {
			case port < 1 || port > o.Ports:
				return nil, field.New(at, "%s has no port %d; its ports are 1 to %d", o.Name, port, o.Ports)
			case port > len(o.ends):
				return nil, field.New(at, "nothing is plugged into port %d of %s; links take %d of its %d",
					port,
					o.Name, len(o.ends), o.Ports)
			case used[port] != "":
				return nil, field.New(at, "port %d is in circuit %s already: a map joins each port once",
					port,
					used[port])
			case a == b:
				return nil, field.New(at, "joins port %d to itself", a)
			}
		}
		used[a], used[b] = text, text
		m, n := o.ends[a-1], o.ends[b-1]
		switch {
		case m.node == n.node:
			return nil, field.New(at, "both ports lead to %s", m.node)
		case m.c.Rate != n.c.Rate:
			return nil, field.New(at, "joins %v of %s to %v of %s: light has one rate", m.c.Rate, m.node,
				n.c.Rate, n.node)
		}
		all = append(all, [2]int{min(a, b), max(a, b)})
	}
	return all, nil
}

// reconfigured is what circuits go through: those that are not in the first map are dark from the start,
// others go dark when a map without them begins, and shine when one with them is set.
func (p *resolver) reconfigured() (changes []change) {
	for _, o := range p.ocs {
		on := make([]bool, len(o.ever))
		for _, pair := range o.maps[0] {
			on[o.place[pair]] = true
		}
		moment := func(i int, at unit.Time, up *bool, key string) {
			c := o.ever[i]
			l := &p.Graph.Links[c.link]
			w := &thing{kind: "circuit", name: o.Name, cards: c.String(), node: l.A, nic: -1,
				links: []int{c.link}, near: []int{l.A}}
			m := change{what: w, at: at, until: at, up: up, key: key}
			if at > 0 {
				p.timing(&m, nil, nil)
			}
			changes = append(changes, m)
		}
		for i := range o.ever {
			if !on[i] {
				p.Dark = append(p.Dark, o.ever[i].link)
				moment(i, 0, &no, o.key+".circuits")
			}
		}
		moved := 0
		for k, one := range o.maps[1:] {
			s := &o.Schedule[k]
			key := field.At(o.key+".schedule", k)
			next := make([]bool, len(o.ever))
			for _, pair := range one {
				next[o.place[pair]] = true
			}
			for i := range o.ever {
				switch {
				case on[i] && !next[i]:
					moment(i, s.At, &no, key)
				case !on[i] && next[i]:
					moment(i, s.At+o.Reconfigure, &yes, key)
					moved++
				}
			}
			on = next
		}
		if len(o.Schedule) > 0 {
			p.note("%s joins %s at first; later maps move %s, each dark for %v. Tables of the fabric count "+
				"every circuit that there is at some time, %d, as a cable with ports of its own", o.Name,
				unit.Plural(len(o.maps[0]), "circuit"), unit.Plural(moved, "circuit"), o.Reconfigure,
				len(o.ever))
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	return changes
}
