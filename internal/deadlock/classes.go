package deadlock

import "railyard/internal/topo"

// Rising describes classes that rise with each cable between regions of a fabric, while there are any.
type Rising struct {
	Graph *topo.Graph
	Most  int // levels
	of    []int32
}

// NewRising returns n levels.
func NewRising(g *topo.Graph, levels int) *Rising {
	return &Rising{Graph: g, Most: max(1, levels), of: g.RegionOf()}
}

// Levels returns the number of classes.
func (r *Rising) Levels() int { return r.Most }

// States of a packet are its levels.
func (r *Rising) States() int { return r.Most }

// Behind is the next level at a link that connects two regions.
func (r *Rising) Behind(link, _, level int) int {
	l := &r.Graph.Links[link]
	if level < r.Most-1 && r.of[l.A] != r.of[l.B] {
		return level + 1
	}
	return level
}

// Level is the packet's.
func (r *Rising) Level(state, _ int) int { return state }

// Dateline is two classes on a torus. Packets change to the second class at the cable that closes a ring, and keep
// it until they leave the ring (Dally and Seitz 1987).
type Dateline struct {
	*topo.Grid
	Most int // 1: there is no second class
}

// Levels returns the number of classes.
func (r *Dateline) Levels() int { return r.Most }

// States are the dimension of a packet's last link, and its level there; 0 at its start.
func (r *Dateline) States() int { return 1 + 3*2 }

// Behind is a state.
func (r *Dateline) Behind(link, _, level int) int {
	if r.Wrap[link] {
		level = r.Most - 1
	}
	return 1 + 2*int(r.Dim[link]) + level
}

// Level stays the previous one while a packet stays in its ring.
func (r *Dateline) Level(state, link int) int {
	if state == 0 || (state-1)/2 != int(r.Dim[link]) {
		return 0
	}
	return (state - 1) % 2
}
