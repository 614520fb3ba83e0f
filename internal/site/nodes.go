package site

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"

	"railyard/internal/topo"
)

// node is one server or switch at its places.
type node struct {
	name  string
	group string
	typ   *Type
	at    []int // index by the group's places
	id    int   // in the graph
	ports budget
	rack  Rack
}

// group is all nodes of one name; its places are the places of its first entry.
type group struct {
	name   string
	places []string
	nodes  []*node
	size   []int // largest value by place
	server bool
}

// place is the index of a word among a group's places, -1 for none.
func (g *group) place(word string) int { return slices.Index(g.places, word) }

// expand makes the nodes of all groups, in the order in which they are written.
func (b *builder) expand() error {
	for i := range b.site.Nodes {
		if err := b.block(fmt.Sprintf("nodes[%d]", i), &b.site.Nodes[i]); err != nil {
			return err
		}
	}
	if len(b.nodes) == 0 {
		return field.New("nodes", "there are none")
	}
	return nil
}

var groupName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`)

// block expands one entry.
func (b *builder) block(key string, e *Group) error {
	if !groupName.MatchString(e.Name) {
		return field.New(key+".name", "%q is not a name: a letter, then up to 31 letters, digits, - and _", e.Name)
	}
	t := b.types[e.Type]
	if t == nil {
		return b.noType(key+".type", e.Type)
	}
	vals, places, err := b.placesOf(key, e)
	if err != nil {
		return err
	}
	g := b.groups[e.Name]
	if g == nil {
		g = &group{name: e.Name, places: places, size: make([]int, len(places)), server: t.server()}
		b.groups[e.Name] = g
		b.groupNames = append(b.groupNames, e.Name)
	}
	if !slices.Equal(g.places, places) {
		return field.New(key+".per", "%s has the places %s in another entry", e.Name, orNone(g.places))
	}
	if g.server != t.server() {
		return field.New(key+".type", "%s is servers in one entry and switches in another", e.Name)
	}
	total := 1
	for _, v := range vals {
		total *= len(v)
	}
	// Every port of a card has a cable, so topo.MaxLinks also limits ports.
	if b.ports += total * t.NICs * t.NICPorts; b.ports > topo.MaxLinks {
		return field.New(key, "more than %d ports of cards in total", topo.MaxLinks)
	}
	rack, err := b.racks(key, e, g)
	if err != nil {
		return err
	}
	at := make([]int, len(vals))
	return b.each(vals, at, 0, func() error {
		n := &node{group: e.Name, typ: t, at: slices.Clone(at), id: len(b.nodes)}
		n.name = b.nameOf(e, g, at)
		for i, v := range at {
			g.size[i] = max(g.size[i], v)
		}
		if other, twice := b.byName[n.name]; twice {
			return field.New(key, "%s is also a node of %s: name them apart with named", n.name, other.group)
		}
		if rack != nil {
			if n.rack, err = rack(at); err != nil {
				return field.New(key+".at", "%s would be in %v", n.name, err)
			}
		}
		b.byName[n.name] = n
		b.nodes = append(b.nodes, n)
		g.nodes = append(g.nodes, n)
		return nil
	})
}

// placesOf parses an entry's places: the places of per, in order, then n.
func (b *builder) placesOf(key string, e *Group) (vals [][]int, places []string, err error) {
	total := 1
	add := func(place string, v []int) error {
		vals, places = append(vals, v), append(places, place)
		if total *= len(v); total+len(b.nodes) > topo.MaxNodes {
			return field.New(key, "more than %d nodes in total", topo.MaxNodes)
		}
		return nil
	}
	for _, p := range e.Per {
		if !isWord(p.Key) || p.Key == "n" || p.Key == "nic" || p.Key == "port" {
			return nil, nil, field.New(key+".per", "%q is not a word for a place: letters and digits, but not n, nic or port, which are places already", p.Key)
		}
		v, err := values(p.Value)
		if err != nil {
			return nil, nil, field.New(key+".per."+p.Key, "%s", err.Error())
		}
		if err := add(p.Key, v); err != nil {
			return nil, nil, err
		}
	}
	count := max(e.Count, 1)
	if e.Count < 0 || e.Count > topo.MaxNodes {
		return nil, nil, field.New(key+".count", "%d: 1 to %d are possible", e.Count, topo.MaxNodes)
	}
	all, _ := span(nil, 1, count)
	return vals, places, add("n", all)
}

// each visits all combinations of values, the last place fastest.
func (b *builder) each(vals [][]int, at []int, i int, visit func() error) error {
	if i == len(vals) {
		return visit()
	}
	for _, at[i] = range vals[i] {
		if err := b.each(vals, at, i+1, visit); err != nil {
			return err
		}
	}
	return nil
}

// hole is a place in a pattern of names: {n}, {n-1} where names count from 0, {n:02} with zeros.
var hole = regexp.MustCompile(`\{([A-Za-z_#][A-Za-z0-9_]*)(?:-(\d{1,6}))?(?::0([1-9]))?\}`)

// nameOf names a node: its pattern filled in, or the group's name and its numbers.
func (b *builder) nameOf(e *Group, g *group, at []int) string {
	if e.Named != "" {
		return hole.ReplaceAllStringFunc(e.Named, func(s string) string {
			m := hole.FindStringSubmatch(s)
			v := len(g.nodes) + 1
			if m[1] != "#" {
				p := g.place(m[1])
				if p < 0 {
					return s
				}
				v = at[p]
			}
			less, _ := strconv.Atoi(m[2]) // digits, or none
			digits, _ := strconv.Atoi(m[3])
			return fmt.Sprintf("%0*d", digits, v-less)
		})
	}
	name := e.Name
	for i, v := range at {
		if i == len(at)-1 && i > 0 && e.Count <= 1 {
			break // n is 1
		}
		name += "-" + strconv.Itoa(v)
	}
	return name
}

func orNone(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}
