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

// OCS is an optical circuit switch: it connects fibers in pairs and reads no packets. The devices at two connected
// ports have one link.
type OCS struct {
	Name        string     `yaml:"name" doc:"unique name, for links"`
	Ports       int        `yaml:"ports" range:"2,4096" doc:"how many; links take them in their order, from 1"`
	Reconfigure unit.Time  `yaml:"reconfigure" range:"0s,10s" doc:"how long a circuit that moves is dark: mirrors take about 10ms"`
	Circuits    []string   `yaml:"circuits" doc:"pairs of ports that are connected at first, as 1-5; each port once"`
	Phases      []PhaseMap `yaml:"phases" doc:"maps for phases of the job instead: mirrors move when transfers wait that need another one"`
	Schedule    []Mapping  `yaml:"schedule" doc:"other circuits later, in the order of time"`
}

// Mapping is the set of an OCS's connections from a time on.
type Mapping struct {
	At       unit.Time `yaml:"at" range:"0s,86400s" doc:"when circuits that are not in the new map go dark; new ones shine when reconfigure has passed"`
	Circuits []string  `yaml:"circuits" doc:"all pairs of ports that are connected from then on"`
}

// circuit is a pair of OCS ports connected at some time, as a link between the devices at them.
type circuit struct {
	a, b int // ports, from 1, the lower first
	link int
}

func (c circuit) String() string { return fmt.Sprintf("%d-%d", c.a, c.b) }

// optics is an OCS with the devices at its ports.
type optics struct {
	*OCS
	key     string // key of its block
	ends    []fibre
	maps    []moment
	ever    []circuit // pairs connected at some time, in order
	place   map[[2]int]int
	stuck   []jam
	byPhase [][][2]int
	group   string // "": its circuits are identified by its name
}

// moment is a map and its start time: pairs of ports.
type moment struct {
	at    unit.Time
	key   string
	pairs [][2]int
}

// jam is mirrors that do not move any more.
type jam struct {
	at   unit.Time
	pair [2]int
	key  string
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
			return nil, field.New(o.key+".name", "%q is repeated", o.Name)
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
		return field.New(key, "%s is a server: an OCS connects switches", node)
	case len(o.ends) == o.Ports:
		return field.New(key, "%s has %d ports, and all are taken", o.Name, o.Ports)
	}
	o.ends = append(o.ends, fibre{node, c})
	return nil
}

// runner runs a cable between two nodes and returns its number.
type runner func(a, b string, c topo.Cable) (link int, err error)

// join reads the maps of an OCS and adds a link for each circuit that exists at some time.
func (o *optics) join(run runner) error {
	if err := o.read(); err != nil {
		return err
	}
	return o.cable(run)
}

// read reads the maps.
func (o *optics) read() error {
	at := unit.Time(0)
	for i := -1; i < len(o.Schedule); i++ {
		key, pairs := o.key+".circuits", o.Circuits
		if i >= 0 {
			m := &o.Schedule[i]
			key, pairs = field.At(o.key+".schedule", i), m.Circuits
			if i > 0 && m.At < at+o.Reconfigure || m.At <= 0 {
				return field.New(key+".at", "%v is too early: the map before connects from %v on", m.At,
					at+o.Reconfigure)
			}
			at, key = m.At, key+".circuits"
		}
		one, err := o.match(key, pairs)
		if err != nil {
			return err
		}
		o.maps = append(o.maps, moment{at, key, one})
	}
	return o.readPhases()
}

// cable runs the cables.
func (o *optics) cable(run runner) error {
	all := make([][][2]int, 0, len(o.maps)+len(o.byPhase))
	for _, m := range o.maps {
		all = append(all, m.pairs)
	}
	for _, pairs := range append(all, o.byPhase...) {
		for _, pair := range pairs {
			if _, known := o.place[pair]; known {
				continue
			}
			x, y := o.ends[pair[0]-1], o.ends[pair[1]-1]
			c := x.c
			c.LengthMM += y.c.LengthMM
			c.Delay += y.c.Delay
			c.BER += y.c.BER
			link, err := run(x.node, y.node, c)
			if err != nil {
				return field.Under(o.key+".circuits", err)
			}
			o.place[pair] = len(o.ever)
			o.ever = append(o.ever, circuit{pair[0], pair[1], link})
		}
	}
	return nil
}

// match reads a map, which must be a matching of connected ports.
func (o *optics) match(key string, pairs []string) (all [][2]int, err error) {
	used := map[int]string{}
	for i, text := range pairs {
		at := field.At(key, i)
		pair, err := ports(at, text)
		if err != nil {
			return nil, err
		}
		a, b := pair[0], pair[1]
		for _, port := range []int{a, b} {
			switch {
			case port < 1 || port > o.Ports:
				return nil, field.New(at, "%s has no port %d; its ports are 1 to %d", o.Name, port, o.Ports)
			case port > len(o.ends):
				return nil, field.New(at, "nothing is plugged into port %d of %s; links take %d of its %d",
					port,
					o.Name, len(o.ends), o.Ports)
			case used[port] != "":
				return nil, field.New(at, "port %d is in circuit %s already: a map connects each port once",
					port,
					used[port])
			case a == b:
				return nil, field.New(at, "connects port %d to itself", a)
			}
		}
		used[a], used[b] = text, text
		m, n := o.ends[a-1], o.ends[b-1]
		switch {
		case m.node == n.node:
			return nil, field.New(at, "both ports lead to %s", m.node)
		case m.c.Rate != n.c.Rate:
			return nil, field.New(at, "connects %v of %s to %v of %s: a circuit has one rate", m.c.Rate, m.node,
				n.c.Rate, n.node)
		}
		all = append(all, pair)
	}
	return all, nil
}

// ports reads a circuit, the lower port first.
func ports(key, text string) (pair [2]int, err error) {
	x, y, ok := strings.Cut(text, "-")
	a, err1 := strconv.Atoi(strings.TrimSpace(x))
	b, err2 := strconv.Atoi(strings.TrimSpace(y))
	if !ok || err1 != nil || err2 != nil {
		return pair, field.New(key, "%s is not a pair of ports; write for example 1-5", field.Quote(text))
	}
	return [2]int{min(a, b), max(a, b)}, nil
}

// reconfigured returns the events of circuits. Those outside the first map are dark from the start; others become
// dark when a map without them begins, and light up when a map with them is set.
func (p *resolver) reconfigured() (changes []change) {
	for _, o := range p.ocs {
		changes = append(changes, p.mirrors(o)...)
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	return changes
}

// mirrors returns the events of one OCS.
func (p *resolver) mirrors(o *optics) (changes []change) {
	turn := func(i int, at unit.Time, up *bool, key string) {
		m := change{what: p.circuit(o, i), at: at, until: at, up: up, key: key}
		if at > 0 {
			p.timing(&m, nil, nil)
		}
		changes = append(changes, m)
	}
	on := o.lit(o.maps[0].pairs)
	for i, lit := range on {
		if !lit {
			p.Dark = append(p.Dark, o.ever[i].link)
			turn(i, 0, &no, o.key+".circuits")
		}
	}
	moved := 0
	for _, m := range o.maps[1:] {
		next := o.held(m, on)
		for i := range o.ever {
			switch {
			case on[i] && !next[i]:
				turn(i, m.at, &no, m.key)
			case !on[i] && next[i]:
				turn(i, m.at+o.Reconfigure, &yes, m.key)
				moved++
			}
		}
		for _, j := range o.stuck {
			if j.at <= m.at && on[o.place[j.pair]] && !slices.Contains(m.pairs, j.pair) {
				p.note("%s: circuit %d-%d is stuck since %v and stays connected at %v; the map's circuits of its ports stay dark", o.Name, j.pair[0], j.pair[1], j.at, m.at)
			}
		}
		on = next
	}
	if len(o.Schedule) > 0 {
		p.note("%s connects %s at first; later maps reconfigure %s, each dark for %v. Tables of the fabric count every circuit of any map, %d, as a cable with ports of its own", o.Name,
			unit.Plural(len(o.maps[0].pairs), "circuit"), unit.Plural(moved, "circuit"), o.Reconfigure,
			len(o.ever))
	}
	return changes
}

// lit returns, by circuit, whether it is one of some pairs.
func (o *optics) lit(pairs [][2]int) []bool {
	on := make([]bool, len(o.ever))
	for _, pair := range pairs {
		on[o.place[pair]] = true
	}
	return on
}

// held returns the connections of a map if some mirrors do not move. Their circuits remain, and circuits that need
// their ports are dark.
func (o *optics) held(m moment, on []bool) []bool {
	next := o.lit(m.pairs)
	for _, j := range o.stuck {
		stays := o.place[j.pair]
		if j.at > m.at || !on[stays] {
			continue
		}
		for i, c := range o.ever {
			if slices.Contains(j.pair[:], c.a) || slices.Contains(j.pair[:], c.b) {
				next[i] = i == stays
			}
		}
	}
	return next
}

// circuit returns a circuit of an OCS as the target of map changes.
func (p *resolver) circuit(o *optics, i int) *thing {
	c := o.ever[i]
	l := &p.Graph.Links[c.link]
	return &thing{kind: "circuit", name: o.Name, cards: c.String(), group: o.group, node: l.A, nic: -1,
		links: []int{c.link}, near: []int{l.A}}
}
