package report

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/result"
	"railyard/unit"
)

// maxPauseRoots is the maximum number of roots in a report of one screen.
const maxPauseRoots = 3

// pauseRoots prints the roots of PFC pauses, and the flows in their queues.
func pauseRoots(w io.Writer, p *result.PauseRanking) {
	if p == nil || p.Time <= 0 {
		return
	}
	share := func(ps int64) string { return percent(float64(ps) / float64(p.Time)) }
	var said []string
	for i, r := range p.Roots[:min(len(p.Roots), maxPauseRoots)] {
		if i > 0 && 20*r.Time < p.Time {
			break
		}
		said = append(said, fmt.Sprintf("%s caused %s (%s) on %s, %s queued", PauseRootName(r), dur(r.Time),
			share(r.Time), unit.Plural(r.Ports, "port"), size(r.Bytes)))
	}
	if more := p.Count - len(said); more > 0 {
		said = append(said, fmt.Sprintf("%d more", more))
	}
	for _, j := range p.Jobs[:min(len(p.Jobs), maxPauseRoots)] {
		said = append(said, fmt.Sprintf("job %s %s", j.Job, share(j.Time)))
	}
	if len(p.Flows) > 0 {
		f := p.Flows[0]
		said = append(said, fmt.Sprintf("queued bytes of %s, most of %s → %s (%s)",
			unit.Plural(p.FlowCount, "flow"), f.From, f.To, share(f.Time)))
	}
	Labelled(w, "PFC pause roots: ", strings.Join(said, "; "))
}

// PauseRootName returns a root's name and kind.
func PauseRootName(r result.PauseRoot) string {
	switch r.Kind {
	case result.RootReceiver:
		return "slow receiver behind " + r.Name
	case result.RootCircular:
		return "circular pause dependency at " + r.Name
	}
	return r.Name
}
