package explain

import (
	"railyard/internal/cause"
	"railyard/internal/exec"
	"railyard/internal/scenario"
	"railyard/unit"
)

// Replayed says how long the replay with all causes takes, and the run.
func Replayed(p *scenario.Plan, x *exec.Execution, seen *Observation) (replayed, took unit.Time) {
	r := newReading(p, x, seen)
	ops := r.all()
	last, _ := r.lastOf(ops)
	return r.newBlamer().newAccounts().base.ends(ops), x.End[last]
}

// Timed returns the times of deliveries and of begins and ends of operations in replays, each without one cause. If
// ahead is set, the replays execute operations that wait for no network ahead. some reports whether there were such
// operations.
func Timed(p *scenario.Plan, x *exec.Execution, seen *Observation, grain unit.Time, ahead bool) (
	all []unit.Time, some bool) {
	m := newReading(p, x, seen).newBlamer().newModel()
	m.measured()
	m.present()
	m.grain = grain
	for _, id := range []cause.ID{cause.LineRate, cause.Latency, cause.Collision} {
		v := without{}.and(id)
		if k := [4]bool{v.has(cause.Latency), false, false, false}; !ahead {
			m.aheads[k] = &exec.Ahead{Whole: x.Work, Rest: x.Work}
		}
		p := m.replay(v)
		all, some = append(all, p.done...), some || p.ahead.Rest != x.Work
		for i := range int32(len(x.DAG.Ops)) {
			all = append(all, p.starts(i), p.stops(i))
		}
	}
	return all, some
}

// LimitRows sets the limits of the tables of collectives and ranks, and returns a function that restores them.
func LimitRows(colls, ranks int) func() {
	c, r := maxCollectiveRows, maxRankRows
	maxCollectiveRows, maxRankRows = colls, ranks
	return func() { maxCollectiveRows, maxRankRows = c, r }
}

// LimitReplays sets the number of messages up to which lost time is divided, and returns a function that restores
// it.
func LimitReplays(n int) func() {
	was := mostReplayed
	mostReplayed = n
	return func() { mostReplayed = was }
}

// Broken returns when the routes of a run first avoid a link; 0: never, or always.
func Broken(p *scenario.Plan, x *exec.Execution, seen *Observation) unit.Time {
	return newReading(p, x, seen).newBlamer().newModel().broken
}
