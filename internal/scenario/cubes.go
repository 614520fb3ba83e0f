package scenario

import (
	"fmt"
	"slices"

	"railyard/internal/field"
	"railyard/internal/topo"
	"railyard/unit"
)

// Optics are the optical circuit switches of a kind of fabric that has them.
type Optics struct {
	Reconfigure unit.Time `yaml:"reconfigure" range:"0s,10s" doc:"time that a reconfigured circuit is dark (default 10ms, as mirrors take)"`
	Spares      int       `yaml:"spares" range:"0,2048" doc:"torus of cubes: number of spares, which no circuit connects at first"`
	Swaps       []Swap    `yaml:"swaps" doc:"torus of cubes: spare cubes that take the places of others, in the order of time"`
}

// Swap is a time at which circuits bypass one cube and connect another.
type Swap struct {
	At  unit.Time `yaml:"at" range:"0s,86400s" doc:"when mirrors begin to move"`
	Out string    `yaml:"out" doc:"the cube that loses its place: cube-2"`
	In  string    `yaml:"in" doc:"the cube that gets it"`
}

// optical connects the links that a kind of fabric assigns to optical circuit switches.
func (p *resolver) optical(g *topo.Graph) error {
	f := &p.File.Fabric
	if g.Cubes == nil {
		return nil
	}
	if f.Optics == nil {
		f.Optics = &Optics{}
	}
	if !p.says("fabric.optics.reconfigure") {
		f.Optics.Reconfigure = 10 * unit.Millisecond
	}
	w := &swapping{p: p, g: g, place: slices.Clone(g.Cubes.Place), ever: slices.Clone(g.Cubes.Place)}
	for i := range g.Cubes.Faces {
		w.face(&g.Cubes.Faces[i])
	}
	w.join(0, "fabric.optics")
	for i := range f.Optics.Swaps {
		if err := w.swap(i); err != nil {
			return err
		}
	}
	var circuits []int
	for _, o := range p.ocs {
		if err := o.cable(func(a, b string, c topo.Cable) (int, error) {
			return g.Connect(g.Node(a), g.Node(b), c), nil
		}); err != nil {
			return err
		}
		for _, c := range o.ever {
			circuits = append(circuits, c.link)
		}
	}
	g.Lay(w.ever, circuits)
	return nil
}

// swapping is the assignment of cubes to places over time.
type swapping struct {
	p     *resolver
	g     *topo.Graph
	place [][3]int16 // by cube, now
	ever  [][3]int16 // the one place that a cube has at some time
	at    unit.Time
}

// face is a face's circuit switch: cube i is plugged into ports 2i+1, with its far face, and 2i+2.
func (w *swapping) face(f *topo.Face) {
	fabric := &w.p.File.Fabric
	o := &optics{OCS: &OCS{Name: f.Switch(), Ports: 2 * len(f.Up), Reconfigure: fabric.Optics.Reconfigure},
		key: "fabric.optics", place: map[[2]int]int{}, group: circuitsOf + "cubes"}
	for cube := range f.Up {
		for _, node := range []int{f.Up[cube], f.Down[cube]} {
			o.ends = append(o.ends, fibre{w.g.Nodes[node].Name, fabric.FabricLink.cable()})
		}
	}
	w.p.ocs = append(w.p.ocs, o)
}

// join gives each face the circuits of the cubes' current positions.
func (w *swapping) join(at unit.Time, key string) {
	for i, o := range w.p.ocs {
		var pairs [][2]int
		for _, c := range w.g.Cubes.Circuits(w.g.Cubes.Faces[i].Dim, w.place) {
			a, b := 2*c[0]+1, 2*c[1]+2
			pairs = append(pairs, [2]int{min(a, b), max(a, b)})
		}
		o.maps = append(o.maps, moment{at, key, pairs})
	}
}

// swap removes a cube and inserts another.
func (w *swapping) swap(i int) error {
	o := w.p.File.Fabric.Optics
	s, key := &o.Swaps[i], field.At("fabric.optics.swaps", i)
	if s.At <= 0 || i > 0 && s.At < w.at+o.Reconfigure {
		least := unit.Time(1)
		if i > 0 {
			least = w.at + o.Reconfigure
		}
		return field.New(key+".at", "%v is too early: the map before connects from %v on", s.At, least)
	}
	out, err := w.cube(key+".out", s.Out)
	if err != nil {
		return err
	}
	in, err := w.cube(key+".in", s.In)
	if err != nil {
		return err
	}
	switch {
	case w.place[out][0] < 0:
		return field.New(key+".out", "%s has no place at %v", s.Out, s.At)
	case w.place[in][0] >= 0:
		return field.New(key+".in", "%s has a place at %v already: a spare cube has none", s.In, s.At)
	case w.ever[in][0] >= 0 && w.ever[in] != w.place[out]:
		return field.New(key+".in", "%s had another place before, which it keeps: routes in dimension order need one for each switch", s.In)
	}
	w.place[in], w.ever[in] = w.place[out], w.place[out]
	w.place[out], w.at = [3]int16{-1, -1, -1}, s.At
	w.join(s.At, key)
	w.p.note("from %v on circuits lead round %s and through %s: %d of %d circuits move, each dark for %v",
		s.At, s.Out, s.In, w.moving(), w.all(), o.Reconfigure)
	return nil
}

// cube returns a cube by its name.
func (w *swapping) cube(key, name string) (int, error) {
	c := w.g.Cubes
	for i := range c.Place {
		if c.Name(i) == name {
			return i, nil
		}
	}
	spares := "none is spare"
	switch n := c.Spares(); {
	case n == 1:
		spares = "the last is spare"
	case n > 1:
		spares = fmt.Sprintf("the last %d are spare", n)
	}
	return 0, field.New(key, "unknown cube %q; names are %s to %s, of which %s", name, c.Name(0),
		c.Name(len(c.Place)-1), spares)
}

// moving returns how many circuits the last map ends; all returns the number of its circuits.
func (w *swapping) moving() (n int) {
	for _, o := range w.p.ocs {
		now, was := o.maps[len(o.maps)-1].pairs, o.maps[len(o.maps)-2].pairs
		for _, pair := range was {
			if !slices.Contains(now, pair) {
				n++
			}
		}
	}
	return n
}

func (w *swapping) all() (n int) {
	for _, o := range w.p.ocs {
		n += len(o.maps[len(o.maps)-1].pairs)
	}
	return n
}

// hasSpares reports whether some cubes are initially connected to no circuit.
func (p *Plan) hasSpares() bool { return p.Graph.Cubes != nil && p.Graph.Cubes.Spares() > 0 }

// spared returns the GPUs of cubes with an initial position, if other cubes have none. Jobs without named GPUs use
// these. nil: all.
func (p *Plan) spared() (c crew) {
	g := p.Graph
	if !p.hasSpares() {
		return nil
	}
	for gpu := range g.TotalGPUs() {
		if g.Cubes.Place[g.Cubes.Of[g.Hosts[g.HostOf(gpu)]]][0] >= 0 {
			c = append(c, gpu)
		}
	}
	return c
}
