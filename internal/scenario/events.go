package scenario

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/internal/topo"
	"railyard/unit"
)

// LinkState is the state of a link.
type LinkState struct {
	Up   bool
	Rate unit.Rate // rate from the link's A to its B
	Back unit.Rate // and back
	BER  float64
}

// LinkEvent is the time at which a link changes. It contains the link's complete state from then on.
type LinkEvent struct {
	Link int
	At   unit.Time
	LinkState
	Toggles  bool      // the link fails or recovers
	Detect   unit.Time // time from At until the ends detect it, if Noticed
	Converge unit.Time // time from At until all routes have converged
	Noticed  bool      // whether the ends detect the failure before all routes converge
	Heard    bool      // routes learn of it; until then nothing changes the link again
	By       string    // target that changed with all of its links, "switch spine-1"; "": this link alone
}

// AsBuilt returns the state of a link before all events.
func AsBuilt(l *topo.Link) LinkState {
	return LinkState{Up: true, Rate: l.Rate, Back: l.Rate, BER: l.BER}
}

// FromStart reports whether the event precedes the run, and routes account for it.
func (e *LinkEvent) FromStart() bool { return e.At == 0 && (e.Converge == 0 || !e.Toggles) }

// linkEvents resolves the changes of components: failures, the short form for a link that fails and recovers, and
// events.
func (p *resolver) linkEvents() error {
	if len(p.File.Failures)+len(p.File.Events)+len(p.ocs) == 0 {
		return nil
	}
	t := newThings(p.Graph)
	t.optic, t.chip, t.pcie = p.optic, p.chip, p.pcieSwitch
	changes, err := p.failures(t)
	if err != nil {
		return err
	}
	more, err := p.changes(t)
	if err != nil {
		return err
	}
	changes = append(append(changes, more...), p.reconfigured()...)
	if err := p.phases(changes); err != nil {
		return err
	}
	if err := p.apart(changes); err != nil {
		return err
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	if err := p.inTime(changes); err != nil {
		return err
	}
	p.parted()
	return nil
}

// maxCuts is the maximum number of sets of links that are checked one by one.
const maxCuts = 64

// parted notes times at which routes are partitioned. A rank that is isolated for long enough is lost, which ends
// the job (result.Outcome).
func (p *resolver) parted() {
	if p.hasSpares() {
		return // cubes without circuits are isolated on purpose
	}
	heard := slices.DeleteFunc(slices.Clone(p.Events), func(e LinkEvent) bool { return !e.Heard })
	down := map[int]bool{}
	for _, e := range heard {
		if !e.Up {
			down[e.Link] = true
		}
	}
	if len(down) == 0 {
		return
	}
	err := p.Graph.CheckConnected(down)
	if err == nil {
		return // unchanged even with all links down
	}
	slices.SortStableFunc(heard, func(a, b LinkEvent) int { return cmp.Compare(a.At+a.Converge, b.At+b.Converge) })
	clear(down)
	seen := map[string]bool{}
	for i, e := range heard {
		if down[e.Link] = true; e.Up {
			delete(down, e.Link)
		}
		if i+1 < len(heard) && heard[i+1].At+heard[i+1].Converge == e.At+e.Converge {
			continue // routes learn of more at the same time
		}
		if set := fmt.Sprint(down); !seen[set] { // fmt sorts maps
			if seen[set] = true; len(seen) <= maxCuts {
				err = p.Graph.CheckConnected(down)
			} // otherwise by all of them together
			if err != nil {
				p.note("from %v on, by the routes, %v: the job fails if a rank is blocked on those for longer than the transport's retries", e.At+e.Converge, err)
				return
			}
		}
	}
}
