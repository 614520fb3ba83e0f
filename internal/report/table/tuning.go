package table

import (
	"fmt"
	"io"
	"path/filepath"

	"railyard/internal/report"
	"railyard/internal/study/tuning"
	"railyard/internal/tune"
)

// Tuned says in words what the search found and where it is.
func Tuned(t *tuning.Tuning, best tune.Trial, ok bool) []string {
	if !ok {
		return []string{"No candidate has finished yet."}
	}
	base, o := t.First().Outcome, best.Outcome
	where := fmt.Sprintf("Its configuration for every switch is in %s; %s runs it; %s shows the front, %s holds it.", filepath.Join(t.Dir, "best"),
		filepath.Join(t.Dir, "best.sh"), filepath.Join(t.Dir, "pareto.png"),
		filepath.Join(t.Dir, "front.csv"))
	if float64(o.Time) > 0.99*float64(base.Time) && o.Pause >= base.Pause &&
		float64(o.Queue) > 0.99*float64(base.Queue) {
		return []string{"No candidate is clearly better than the scenario unchanged.", where}
	}
	speed := fmt.Sprintf("%.2fx earlier", float64(base.Time)/float64(max(o.Time, 1)))
	if o.Time > base.Time {
		speed = fmt.Sprintf("%.2fx later", float64(o.Time)/float64(max(base.Time, 1)))
	}
	pauses := ratio(o.Pause, base.Pause) + " of the pause time"
	if o.Pause == 0 && base.Pause == 0 {
		pauses = "no pause in either"
	}
	words := []string{fmt.Sprintf("Trial %d ends %s than the scenario unchanged, with %s and %s of the longest queue.", best.N, speed, pauses, ratio(o.Queue, base.Queue))}
	return append(words, where)
}

func ratio(a, b int64) string {
	switch {
	case a == b:
		return "100 %"
	case b == 0:
		return "more than none"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(a)/float64(b))
}

// Halves prints what the halves bring.
func Halves(w io.Writer, t *tuning.Tuning, h *tuning.Halves, best tune.Trial) {
	base := t.First().Outcome
	rows := []report.Half{{Name: "unchanged", Outcome: base}, {Name: "switch side alone",
		Outcome: h.Switches},
		{Name: "host side alone", Outcome: h.Hosts}}
	if h.Unwritten {
		rows = append(rows, report.Half{Name: "both, as searched", Outcome: best.Outcome})
	}
	if h.Both != nil {
		rows = append(rows, report.Half{Name: "both, as they are written", Outcome: *h.Both})
	} else {
		rows = append(rows, report.Half{Name: "both", Outcome: best.Outcome})
	}
	words := []string{"Host side and switch side together save too little time to attribute it."}
	if h.Share != nil {
		words = []string{fmt.Sprintf("Of the time that both save, the switch side alone %s, the host side alone %s%s.", brings(h.Share.Switches), brings(h.Share.Hosts), together(*h.Share))}
	}
	words = append(words, h.Notes...)
	if h.Unwritten {
		words = append(words, "The written configuration has the effect of the switch side.")
	}
	if h.NIC != "" {
		words = append(words, fmt.Sprintf("%s has a script for each server's NICs.",
			filepath.Join(t.Dir, "best", "hosts")))
	}
	report.Halves(w, rows, words)
}

// brings says what a half does with the time.
func brings(percent float64) string {
	if percent < 0 {
		return fmt.Sprintf("costs %g %% more", -percent)
	}
	return fmt.Sprintf("brings %g %%", percent)
}

// together says what is in neither half.
func together(s tuning.Shares) string {
	switch sum := s.Switches + s.Hosts; {
	case sum < 90:
		return "; the rest needs both"
	case sum > 110:
		return "; their effects overlap"
	}
	return ""
}
