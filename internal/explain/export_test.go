package explain

import (
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
