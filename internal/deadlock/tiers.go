package deadlock

import "railyard/internal/topo"

// tiered reports whether tiers exclude every cycle because they order all buffers: upward links precede downward ones,
// and no packet turns up again. It checks only tiers, and the paths to one locator of each class: paths to other
// locators of the class are the same with two switches of one tier exchanged. That is fast in a Clos of any size. False
// is inconclusive.
func (r *Routing) tiered() bool {
	kinds := r.Routes.Kinds()
	if r.Legs || r.Anywhere || r.Pauses != nil || r.levelled() || !r.alike() ||
		float64(len(kinds))*float64(len(r.Graph.Links)) > most {
		return false
	}
	f := newFinder(r, kinds)
	for _, loc := range kinds {
		f.follow(loc, f.begin(), nil)
	}
	type step struct{ from, to, level int } // of tiers
	of := func(b int32) step {
		d := b / int32(f.levels)
		g := f.Graph
		return step{g.Nodes[f.from(d)].Tier, g.Nodes[f.to(d)].Tier, int(b) % f.levels}
	}
	turns := map[[2]step]bool{}
	for b := range f.turns {
		if f.turns[b] != nil {
			f.each(int32(b), func(next int32) { turns[[2]step{of(int32(b)), of(next)}] = true })
		}
	}
	for { // steps that lead nowhere cannot be on a ring
		begins := map[step]bool{}
		for t := range turns {
			begins[t[0]] = true
		}
		was := len(turns)
		for t := range turns {
			if !begins[t[1]] {
				delete(turns, t)
			}
		}
		if len(turns) == was {
			return was == 0
		}
	}
}

// levelled reports whether a link connects two switches of a tier: tiers then order nothing.
func (r *Routing) levelled() bool {
	g := r.Graph
	for l := range g.Links {
		a, b := &g.Nodes[g.Links[l].A], &g.Nodes[g.Links[l].B]
		if a.Role != topo.Host && b.Role != topo.Host && a.Tier == b.Tier && r.Routes.Up(l) {
			return true
		}
	}
	return false
}

// alike reports whether all switches with NICs are of one tier, so that any two may be exchanged.
func (r *Routing) alike() bool {
	tier := -1
	for loc := range r.Routes.Sets {
		for _, n := range r.Routes.Sets[loc] {
			if t := r.Graph.Nodes[n].Tier; tier < 0 {
				tier = t
			} else if t != tier {
				return false
			}
		}
	}
	return true
}

// begin returns the places where packets begin.
func (f *finder) begin() (begin []place) {
	for n, begins := range f.hosts {
		if (begins || f.Anywhere) && f.Graph.Nodes[n].Role != topo.Host {
			begin = append(begin, place{n, 0})
		}
	}
	return begin
}
