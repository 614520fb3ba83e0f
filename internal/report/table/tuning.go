package table

import (
	"fmt"
	"io"
	"path/filepath"

	"railyard/internal/report"
	"railyard/internal/study/tuning"
	"railyard/internal/tune"
	"railyard/unit"
)

// Tuned describes the search's result and its files.
func Tuned(t *tuning.Tuning, best tune.Trial, ok bool) []string {
	if !ok {
		return []string{"No candidate has finished yet."}
	}
	base, o := t.First().Outcome, best.Outcome
	where := fmt.Sprintf("Results: %s (switch configurations of the best trial), best.sh (simulates it), pareto.png, front.csv",
		filepath.Join(t.Dir, "best"))
	if float64(o.Time) > 0.99*float64(base.Time) && o.Pause >= base.Pause &&
		float64(o.Queue) > 0.99*float64(base.Queue) {
		return []string{"No candidate is clearly better than the unchanged scenario.", where}
	}
	speed := unit.ShowChange(float64(o.Time), float64(base.Time))
	pauses := ratio(o.Pause, base.Pause) + " of the pause time"
	if o.Pause == 0 && base.Pause == 0 {
		pauses = "no pause in either"
	}
	words := []string{fmt.Sprintf("Trial %d vs the unchanged scenario: step %s, %s, %s of the longest queue.", best.N, speed, pauses, ratio(o.Queue, base.Queue))}
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

// Halves prints the gains by the halves.
func Halves(w io.Writer, t *tuning.Tuning, h *tuning.Halves, best tune.Trial) {
	base := t.First().Outcome
	rows := []report.Half{{Name: "unchanged", Outcome: base}, {Name: "switch side alone",
		Outcome: h.Switches},
		{Name: "host side alone", Outcome: h.Hosts}}
	if h.Unwritten {
		rows = append(rows, report.Half{Name: "both, as searched", Outcome: best.Outcome})
	}
	if h.Both != nil {
		rows = append(rows, report.Half{Name: "both, as written", Outcome: *h.Both})
	} else {
		rows = append(rows, report.Half{Name: "both", Outcome: best.Outcome})
	}
	words := []string{"Host side and switch side together save too little time to attribute it."}
	if h.Share != nil {
		words = []string{fmt.Sprintf("Share of the time saved by both: switch side alone %s, host side alone %s%s.", share(h.Share.Switches), share(h.Share.Hosts), together(*h.Share))}
	}
	words = append(words, h.Notes...)
	if h.Unwritten {
		words = append(words, "The written configuration has the effect of the switch side.")
	}
	if h.NIC != "" {
		words = append(words, fmt.Sprintf("%s: a script per host.",
			filepath.Join(t.Dir, "best", "hosts")))
	}
	report.Halves(w, rows, words)
}

// share formats a side's part of the saved time, negative if it costs time.
func share(percent float64) string { return unit.ShowShare(percent / 100) }

// together reports whether the gain of both sides together differs from their sum: the rest needs both, or their
// effects overlap.
func together(s tuning.Shares) string {
	switch sum := s.Switches + s.Hosts; {
	case sum < 90:
		return "; the rest needs both"
	case sum > 110:
		return "; their effects overlap"
	}
	return ""
}
