package sonic

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/internal/panel"
	"railyard/internal/topo"
	"railyard/unit"
)

// use is a cable of a switch: its port, and its speed in Mbit/s.
type use struct {
	jack  panel.Jack
	speed int64
	link  int
}

// slot is a port of SONiC: a cage in a breakout mode, and the part from 0.
type slot struct{ cage, mode, part int }

// fitting is the assignment of a switch's cables to a profile's ports, in progress.
type fitting struct {
	p     *Profile
	g     *topo.Graph
	node  int
	uses  []use
	first int   // cage before which all are full
	mode  []int // by cage: its breakout; negative: empty
	taken []int // by cage: number of parts with a cable
	out   map[panel.Jack]slot
}

// Fit assigns the cables of switches to the ports of their profiles, if names select one. Cables are assigned to
// jacks if the switch's type defines them (its panel), else in order to SONiC's ports in the profile. Jacks are
// split if that is needed and supported. The switches' panels then have names, lanes and aliases.
func Fit(g *topo.Graph, of func(node int) *Profile) error {
	if errs := Try(g, of); len(errs) > 0 {
		return errs[0]
	}
	return nil
}

// Try is Fit for an uncertain profile: switches whose cables do not fit its ports stay unchanged, and the reason is
// returned.
func Try(g *topo.Graph, of func(node int) *Profile) (errs []error) {
	uses := make([][]use, len(g.Nodes))
	for i := range g.Links {
		l := &g.Links[i]
		for _, node := range []int{l.A, l.B} {
			if g.Nodes[node].Role != topo.Host {
				uses[node] = append(uses[node], use{g.Jack(i, node), int64(l.Rate / unit.Mbps), i})
			}
		}
	}
	for node := range g.Nodes {
		if g.Nodes[node].Role == topo.Host {
			continue
		}
		p := of(node)
		if p == nil {
			continue
		}
		f := &fitting{p: p, g: g, node: node, uses: uses[node], out: map[panel.Jack]slot{}}
		slices.SortStableFunc(f.uses, func(a, b use) int {
			return cmp.Or(cmp.Compare(a.jack.Port, b.jack.Port), cmp.Compare(a.jack.Part, b.jack.Part))
		})
		fit := f.deal
		if f.jacked() {
			fit = f.plug
		}
		err := fit()
		if err == nil {
			err = f.together()
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		f.panel()
	}
	return errs
}

// jacked reports whether the switch's type counts jacks like the device, and not SONiC's ports.
func (f *fitting) jacked() bool {
	front := f.g.Nodes[f.node].Panel
	if slices.ContainsFunc(f.uses, func(u use) bool { return u.jack.Parts > 1 }) {
		return true
	}
	return front != nil && len(front.Runs) > 0 && front.Ports() != len(f.p.now())
}

// refuse returns the error about a cable's port.
func (f *fitting) refuse(u use, format string, args ...any) error {
	l := &f.g.Links[u.link]
	far := f.g.Nodes[l.A+l.B-f.node].Name
	port := fmt.Sprint(u.jack.Port)
	if u.jack.Parts > 1 {
		port += fmt.Sprintf(" part %d", u.jack.Part)
	}
	return fmt.Errorf("%s: port %s, to %s at %v: %s", f.g.Nodes[f.node].Name, port, far, l.Rate,
		fmt.Sprintf(format, args...))
}

func (f *fitting) start() {
	f.mode, f.taken = make([]int, len(f.p.Cages)), make([]int, len(f.p.Cages))
	for i := range f.mode {
		f.mode[i] = -1
	}
	f.first = 0
	clear(f.out)
}

// plug puts cables into the jacks set by the switch's type.
func (f *fitting) plug() error {
	f.start()
	for i, u := range f.uses {
		at := int(u.jack.Port) - 1
		if at >= len(f.p.Cages) {
			return f.refuse(u, "%v has %s on its front", f.p, unit.Plural(len(f.p.Cages), "jack"))
		}
		c := &f.p.Cages[at]
		if f.mode[at] < 0 {
			end := i
			for end < len(f.uses) && f.uses[end].jack.Port == u.jack.Port {
				end++
			}
			if f.mode[at] = c.jack(f.uses[i:end]); f.mode[at] < 0 {
				what := "cannot be used"
				if n := u.jack.Parts; n > 1 {
					what = fmt.Sprintf("cannot be broken out into %d", n)
				}
				return f.refuse(u, "%s of %v %s so; it can be: %s", c.Name, f.p, what, c.modes())
			}
		}
		f.out[u.jack] = slot{at, f.mode[at], max(int(u.jack.Part), 1) - 1}
		f.taken[at] = len(c.Modes[f.mode[at]].Ports)
	}
	return nil
}

// jack returns the mode of a cage that fits its cables, negative if none does.
func (c *Cage) jack(uses []use) int {
	parts := max(int(uses[0].jack.Parts), 1)
	return slices.IndexFunc(c.Modes, func(m Mode) bool {
		return len(m.Ports) == parts && !slices.ContainsFunc(uses, func(u use) bool {
			return !slices.Contains(m.Ports[max(int(u.jack.Part), 1)-1].Speeds, u.speed)
		})
	})
}

// deal assigns cables in order to SONiC's ports: the device's own or, if those are too few, with jacks split into
// two, four, eight.
func (f *fitting) deal() error {
	var failed int
	for _, parts := range []int{0, 1, 2, 4, 8} {
		f.start()
		n := slices.IndexFunc(f.uses, func(u use) bool { return !f.place(u, parts) })
		if n < 0 {
			return nil
		}
		failed = max(failed, n)
	}
	u := f.uses[failed]
	for i := range f.p.Cages {
		for k := range f.p.Cages[i].Modes {
			m := &f.p.Cages[i].Modes[k]
			if slices.ContainsFunc(m.Ports, func(o Outlet) bool { return slices.Contains(o.Speeds, u.speed) }) {
				return f.refuse(u, "the switch has %s, and %v has no port left for this one: %s, of which the first can be: %s", unit.Plural(len(f.uses), "cable"), f.p,
					unit.Plural(len(f.p.Cages), "jack"), f.p.Cages[0].modes())
			}
		}
	}
	return f.refuse(u, "no port of %v has that speed; the first can be: %s", f.p, f.p.Cages[0].modes())
}

// place takes the next free port that runs at a cable's speed. An empty jack is split into the given number of
// parts, 0: the device's default. If that is impossible for this speed, it is split into a possible number.
func (f *fitting) place(u use, parts int) bool {
	for i := f.first; i < len(f.p.Cages); i++ {
		c := &f.p.Cages[i]
		if f.mode[i] < 0 {
			if f.mode[i] = c.into(u.speed, parts); f.mode[i] < 0 {
				continue
			}
		}
		m := &c.Modes[f.mode[i]]
		if n := f.taken[i]; n < len(m.Ports) && slices.Contains(m.Ports[n].Speeds, u.speed) {
			f.taken[i]++
			f.out[u.jack] = slot{i, f.mode[i], n}
			return true
		}
		if i == f.first && f.taken[i] == len(m.Ports) {
			f.first++
		}
	}
	return false
}

// into returns the mode whose first port has a speed. It has the given number of parts (0: the device's default),
// else the next fewer, else the next more; negative: none.
func (c *Cage) into(speed int64, parts int) int {
	if parts == 0 {
		parts = len(c.Modes[0].Ports)
	}
	best, far := -1, 0
	for i := range c.Modes {
		m := &c.Modes[i]
		away := parts - len(m.Ports)
		if away < 0 {
			away = 1000 - away
		}
		if slices.Contains(m.Ports[0].Speeds, speed) && (best < 0 || away < far) {
			best, far = i, away
		}
	}
	return best
}

// panel sets the switch's ports.
func (f *fitting) panel() {
	n := &f.g.Nodes[f.node]
	front := panel.Panel{}
	if n.Panel != nil {
		front = *n.Panel
	}
	d := &panel.Device{HwSKU: f.p.HwSKU, Platform: f.p.Platform, Chip: f.p.Chip, From: f.p.String(),
		Sockets: map[panel.Jack]panel.Socket{}}
	for _, u := range f.uses {
		d.Sockets[u.jack] = f.p.socket(f.out[u.jack], u.speed)
		d.Ports = max(d.Ports, int(u.jack.Port))
	}
	f.spare(d)
	front.Device = d
	n.Panel = &front
	if front.System != panel.SONiC {
		return
	}
	for _, u := range f.uses { // the graph's ports have the device's names
		l := &f.g.Links[u.link]
		if l.A == f.node {
			l.APort = front.Own(u.jack)
		} else {
			l.BPort = front.Own(u.jack)
		}
	}
}

// spare numbers ports without a cable, for those between the two switches of a pair, which have the speed of the
// switch's first port.
func (f *fitting) spare(d *panel.Device) {
	if len(f.uses) == 0 {
		return
	}
	speed, jacked := f.uses[0].speed, f.jacked()
	for i := range f.p.Cages {
		c, mode, parts := &f.p.Cages[i], f.mode[i], 0
		if jacked {
			parts = 1
		}
		if mode < 0 {
			mode = c.into(speed, parts)
		}
		if mode < 0 || jacked && f.taken[i] > 0 {
			continue
		}
		for k := f.taken[i]; k < len(c.Modes[mode].Ports); k++ {
			j := panel.Jack{Port: int32(d.Ports + 1)}
			if jacked {
				j.Port = int32(i + 1)
			}
			if s := f.p.socket(slot{i, mode, k}, speed); s.Can(speed) {
				d.Sockets[j], d.Ports = s, max(d.Ports, int(j.Port))
			}
		}
	}
}

// together finds lanes and aliases of two ports that are both used.
func (f *fitting) together() error {
	lanes, aliases := map[int]*Outlet{}, map[string]*Outlet{}
	for _, u := range f.uses {
		o := f.p.at(f.out[u.jack])
		if old := aliases[o.Alias]; old != nil && o.Alias != "" {
			return fault(o.at, "the alias %s is that of %s (line %d) as well, and both are used",
				clip(o.Alias),
				old.Name, old.at.Line)
		}
		aliases[o.Alias] = o
		for _, l := range o.Lanes {
			if old := lanes[l]; old != nil {
				return fault(o.at, "lane %d of %s is one of %s's (line %d) as well, and both are used: a lane goes to one port", l, o.Name, old.Name, old.at.Line)
			}
			lanes[l] = o
		}
	}
	return nil
}

// at returns the outlet at a slot.
func (p *Profile) at(s slot) *Outlet { return &p.Cages[s.cage].Modes[s.mode].Ports[s.part] }

// socket is a port at a speed.
func (p *Profile) socket(at slot, speed int64) panel.Socket {
	c := &p.Cages[at.cage]
	m, o := &c.Modes[at.mode], p.at(at)
	s := panel.Socket{Name: o.Name, Alias: o.Alias, Lanes: numbers(o.Lanes), Index: o.Index, Sub: at.part + 1,
		Speeds: o.Speeds, FEC: o.fec(speed), More: o.More, Cage: c.Name, Mode: m.Text}
	if len(m.Ports) == 1 {
		s.Sub = 0
	}
	return s
}
