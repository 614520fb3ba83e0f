package sim

import (
	"slices"

	"railyard/internal/explain"
)

// maxMoves is the number of connections that are followed when routes change, and of the ways that are kept of them.
const maxMoves = 100_000

// paths are those of all connections whose packets take one each, nil where they do not.
func (r *Run) paths() (all [][]int32) {
	if conns := r.Hosts.Conns(); r.Setup.LB.Fixed() && r.Plan.Default().Carried == nil && conns > 0 &&
		conns <= maxMoves {
		all = make([][]int32, conns)
		for c := range all {
			all[c] = r.Hosts.Path(int32(c))
		}
	}
	return all
}

// moved does what changes routes, and counts the connections that take other ways since: those whose way
// was broken, and those whose way was not, which a table of buckets keeps where they are.
func (r *Run) moved(change func()) {
	before := r.paths()
	change()
	if before == nil {
		return
	}
	m := explain.Move{At: r.Net.Q.Now(), Of: len(before), Before: map[int32][]int32{}}
	for c, now := range r.paths() {
		if slices.Equal(before[c], now) {
			continue
		}
		m.Moved++
		m.Before[int32(c)] = before[c]
		if !slices.ContainsFunc(before[c], func(p int32) bool { return r.Net.Ports[p].Down }) {
			m.Needless++
		}
	}
	r.moves = append(r.moves, m)
	if r.kept += len(m.Before); r.kept > maxMoves { // of a link that flaps for hours: some would say less than none
		for i := range r.moves {
			r.moves[i].Before = nil
		}
	}
}
