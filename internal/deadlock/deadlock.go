package deadlock

import (
	"math/bits"
	"slices"

	"railyard/internal/topo"
)

// Routing describes the routes of packets.
type Routing struct {
	Graph  *topo.Graph
	Routes *topo.Routes
	// Classes lists the classes that a packet passes through; nil: its class is constant.
	Classes Classes
	// Legs: packets may be sent first to any of Routes.Regions, and from there to their destination.
	Legs bool
	// Anywhere reports that packets may begin at any switch: they do so after they leave a class in which no packet
	// waits for them.
	Anywhere bool
	// Pauses reports whether packets from a node on a link can be paused; nil: always.
	Pauses func(link, from int) bool
}

// Classes assigns a class, one of several levels, to packets on links. A packet's state is the part of its history
// that a switch needs for that. It begins with 0.
type Classes interface {
	Levels() int
	States() int
	// Behind is the state of a packet that arrived by a cable from a node, on a level.
	Behind(link, from, level int) (state int)
	// Level returns the level on which a packet of a state leaves by a link.
	Level(state, link int) int
}

// Buffer is a buffer that a packet occupies: the ingress memory of a cable, in the class of a level.
type Buffer struct {
	Link, From int // the cable, and the switch that sent
	Level      int
}

// most is the number of steps that a search may take: locators times cables. About 10 s of one core.
const most = 2e9

// some is the number of locators that are tried before all.
const some = 32

// Find returns a short cycle of buffers, each of which may wait for the next, or nil if there is none. If the
// fabric is too large to check, unknown is true.
func Find(r *Routing) (ring []Buffer, unknown bool) {
	if r.tiered() {
		return nil, false
	}
	if float64(len(r.Routes.Sets))*float64(len(r.Graph.Links)) > most {
		return nil, true
	}
	all := make([]int, len(r.Routes.Sets))
	for loc := range all {
		all[loc] = loc
	}
	if len(all) > 4*some && !r.Legs { // a cycle for some locators is sufficient, and usually there are many
		few := make([]int, some)
		for i := range few {
			few[i] = i * len(all) / some
		}
		f := newFinder(r, few)
		f.trace(few)
		if ring := f.ring(); ring != nil {
			return ring, false
		}
	}
	f := newFinder(r, all)
	f.trace(all)
	return f.ring(), false
}

// finder is the search. A directed cable between switches is 2 link + 1 when it leaves from B; a buffer is
// a directed cable and a level. Of parallel cables that all routes treat alike (merge), the first is for all.
type finder struct {
	*Routing
	levels int
	states int
	out    [][]int32  // by node: directed cables to other switches
	first  []int32    // by directed cable: the first of the parallel ones
	place  []int32    // by directed cable: place of the first in out
	turns  [][]uint64 // by buffer: bits of the places that it may wait for; nil: packets end there
	hosts  []bool     // by node: packets begin there

	at       []int32 // by node: its number among switches
	switches int
	row      []int32 // by locator: its row in ways, -1 for an unchecked one
	ways     []int32 // by row and switch: its set of next links, -1 for none
	sets     [][]way // by node

	lead  []int32 // by state and directed cable: the buffer that packets of the state take there
	ends  []int32 // by buffer: number of the place behind it (stand)
	queue []int32 // room to work in, numbers of places
	seen  []bool
}

// way is a set of next links of a switch.
type way struct {
	cables []int32  // directed
	bits   []uint64 // of their places
}

// newFinder prepares to look at some locators.
func newFinder(r *Routing, locators []int) *finder {
	g := r.Graph
	f := &finder{Routing: r, levels: 1, states: 1, out: make([][]int32, len(g.Nodes)),
		first: make([]int32, 2*len(g.Links)), place: make([]int32, 2*len(g.Links)), hosts: make([]bool, len(g.Nodes)),
		at: make([]int32, len(g.Nodes)), sets: make([][]way, len(g.Nodes)),
		row: make([]int32, len(r.Routes.Sets))}
	if r.Classes != nil {
		f.levels, f.states = r.Classes.Levels(), r.Classes.States()
	}
	f.turns = make([][]uint64, 2*len(g.Links)*f.levels)
	f.seen = make([]bool, len(g.Nodes)*f.states)
	for l := range g.Links {
		a, b := g.Links[l].A, g.Links[l].B
		switch {
		case !r.Routes.Up(l):
		case g.Nodes[a].Role == topo.Host:
			f.hosts[b] = true
		case g.Nodes[b].Role == topo.Host:
			f.hosts[a] = true
		default:
			f.out[a], f.out[b] = append(f.out[a], int32(2*l)), append(f.out[b], int32(2*l+1))
		}
	}
	f.fill(locators)
	f.merge()
	f.table()
	return f
}

// fill reads the routes.
func (f *finder) fill(locators []int) {
	for n := range f.Graph.Nodes {
		if f.Graph.Nodes[n].Role != topo.Host {
			f.at[n] = int32(f.switches)
			f.switches++
		}
	}
	for loc := range f.row {
		f.row[loc] = -1
	}
	for i, loc := range locators {
		f.row[loc] = int32(i)
	}
	f.ways = make([]int32, len(locators)*f.switches)
	row := make([]int32, len(f.row))
	for n := range f.Graph.Nodes {
		if f.Graph.Nodes[n].Role == topo.Host {
			continue
		}
		for i := range row {
			row[i] = -1
		}
		f.Routes.Row(n, row)
		for i, loc := range locators {
			f.ways[i*f.switches+int(f.at[n])] = row[loc]
			f.know(n, row[loc])
		}
	}
}

// set is a switch's set of next links to a locator.
func (f *finder) set(node, loc int) int32 { return f.ways[int(f.row[loc])*f.switches+int(f.at[node])] }

// know registers a set of a switch when it is first seen.
func (f *finder) know(n int, set int32) {
	for int(set) >= len(f.sets[n]) {
		f.sets[n] = append(f.sets[n], way{})
	}
	if set < 0 || f.sets[n][set].cables != nil {
		return
	}
	w := way{cables: []int32{}}
	for _, l := range f.Routes.Links(n, set) {
		w.cables = append(w.cables, f.directed(l, n))
	}
	f.sets[n][set] = w
}

// from and to are the ends of a directed cable.
func (f *finder) from(d int32) int {
	if l := &f.Graph.Links[d/2]; d&1 == 0 {
		return l.A
	}
	return f.Graph.Links[d/2].B
}

func (f *finder) to(d int32) int { return f.from(d ^ 1) }

// directed is a link as it leaves a node.
func (f *finder) directed(link, from int) int32 {
	if f.Graph.Links[link].A == from {
		return int32(2 * link)
	}
	return int32(2*link + 1)
}

// after is the state of packets after a cable that they crossed on a level.
func (f *finder) after(d int32, level int) int {
	if f.Classes == nil {
		return 0
	}
	return f.Classes.Behind(int(d/2), f.from(d), level)
}

// level returns the level on which packets of a state leave by a link.
func (f *finder) level(state int, d int32) int {
	if f.Classes == nil {
		return 0
	}
	return f.Classes.Level(state, int(d/2))
}

// buffer numbers them.
func (f *finder) buffer(d int32, level int) int32 { return d*int32(f.levels) + int32(level) }

// pauses reports whether the buffer at the end of a cable pauses its senders.
func (f *finder) pauses(d int32) bool { return f.Pauses == nil || f.Pauses(int(d/2), f.from(d)) }

// table fills lead and ends, for kept cables.
func (f *finder) table() {
	f.lead, f.ends = make([]int32, f.states*len(f.place)), make([]int32, len(f.place)*f.levels)
	for _, out := range f.out {
		for _, d := range out {
			for level := range f.levels {
				f.ends[f.buffer(d, level)] = f.stand(place{f.to(d), f.after(d, level)})
			}
			for state := range f.states {
				f.lead[state*len(f.place)+int(d)] = f.buffer(d, f.level(state, d))
			}
		}
	}
}

// may notes that a buffer waits for the next buffers on the paths to a locator.
func (f *finder) may(b int32, node, loc int) {
	set := f.set(node, loc)
	if set < 0 || f.Pauses != nil && !f.pauses(b/int32(f.levels)) {
		return
	}
	more := f.sets[node][set].bits
	if f.turns[b] == nil {
		f.turns[b] = make([]uint64, len(more))
	}
	turns := f.turns[b]
	for i, w := range more {
		turns[i] |= w
	}
}

// place is a position of a packet: at a switch, in a state.
type place struct{ node, state int }

// stand numbers places, and where is the place of a number.
func (f *finder) stand(p place) int32 { return int32(p.node*f.states + p.state) }
func (f *finder) where(n int32) place { return place{int(n) / f.states, int(n) % f.states} }

// trace follows packets to locators, from all switches where some begin.
func (f *finder) trace(locators []int) {
	begin := f.begin()
	if !f.Legs {
		for _, loc := range locators {
			f.follow(loc, begin, nil)
		}
		return
	}
	ended := map[place][]int32{} // end points of first legs, by buffers
	for _, region := range f.Routes.Regions {
		f.follow(region, begin, func(b int32, p place) { ended[p] = append(ended[p], b) })
	}
	for p := range ended {
		if !f.hosts[p.node] || p.state > 0 {
			begin = append(begin, p)
		}
	}
	slices.SortFunc(begin, func(a, b place) int { return (a.node-b.node)*f.states + a.state - b.state })
	final := make([]bool, len(f.Routes.Sets))
	for _, loc := range f.Routes.Locator {
		if loc >= 0 {
			final[loc] = true
		}
	}
	for loc, yes := range final {
		if !yes {
			continue
		}
		for p, buffers := range ended {
			for _, b := range buffers {
				f.may(b, p.node, loc)
			}
		}
		f.follow(loc, begin, nil)
	}
}

// follow walks all paths to a locator. end is called with the buffers that packets hold at the destination.
func (f *finder) follow(loc int, begin []place, end func(b int32, p place)) {
	seen := f.seen
	clear(seen)
	queue := f.queue[:0]
	for _, p := range begin {
		if n := f.stand(p); !seen[n] {
			seen[n] = true
			queue = append(queue, n)
		}
	}
	for len(queue) > 0 {
		p := f.where(queue[len(queue)-1])
		queue = queue[:len(queue)-1]
		set := f.set(p.node, loc)
		if set < 0 {
			continue
		}
		lead := f.lead[p.state*len(f.place):]
		for _, d := range f.sets[p.node][set].cables {
			b := lead[d]
			n := f.ends[b]
			next := f.where(n)
			f.may(b, next.node, loc)
			if end != nil && f.set(next.node, loc) < 0 {
				end(b, next)
			}
			if !seen[n] {
				seen[n] = true
				queue = append(queue, n)
			}
		}
	}
	f.queue, f.seen = queue, seen
}

// each calls a function with all that a buffer may wait for.
func (f *finder) each(b int32, do func(next int32)) {
	d := b / int32(f.levels)
	node, state := f.to(d), f.after(d, int(b)%f.levels)
	for w, word := range f.turns[b] {
		for ; word != 0; word &= word - 1 {
			next := f.out[node][w<<6+bits.TrailingZeros64(word)]
			if !f.pauses(next) {
				continue
			}
			do(f.buffer(next, f.level(state, next)))
		}
	}
}
