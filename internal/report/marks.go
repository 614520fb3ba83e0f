package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"railyard/internal/report/screen"
	"railyard/internal/result"
	"railyard/internal/route"
	"railyard/unit"
)

// marks names the variants whose ECN thresholds are the default, as the footer of a run does.
func marks(w io.Writer, all []result.Variant) {
	var texts []string
	of := map[string][]string{}
	for _, v := range all {
		if len(v.Runs) == 0 {
			continue
		}
		for part := range strings.SplitSeq(v.Runs[0].Congestion, "; ") {
			if strings.HasPrefix(part, "ECN thresholds are the default") {
				if of[part] == nil {
					texts = append(texts, part)
				}
				of[part] = append(of[part], v.Label)
			}
		}
	}
	for _, text := range texts {
		if labels := of[text]; len(labels) < len(all) {
			text += ": " + strings.Join(labels, ", ")
		}
		Labelled(w, "note: ", text)
	}
}

// mainCause returns the main cause of lost time of most of a variant's seeds, or the bound that they reach; – for none.
func mainCause(v *result.Variant) string {
	times, most := map[string]int{}, unit.NotApplicable
	for _, s := range v.Runs {
		why, _, _ := strings.Cut(cmp.Or(MainCause(s), unit.NotApplicable), " (")
		if AtBound(s) {
			why = "bound by " + s.Collectives[0].BoundWhy
		}
		times[why]++
		if times[why] > times[most] {
			most = why
		}
	}
	return most
}

// mainCauses prints the main causes of lost time, each with its columns.
func mainCauses(w io.Writer, groups []group) {
	var all []string
	of := map[string][]string{}
	for i := range groups {
		why := mainCause(&groups[i].Variant)
		if of[why] == nil && why != unit.NotApplicable {
			all = append(all, why)
		}
		of[why] = append(of[why], groups[i].head)
	}
	for i, why := range all {
		if len(of[why]) < len(groups) {
			all[i] = why + " (" + strings.Join(of[why], ", ") + ")"
		}
	}
	if len(all) > 0 {
		Labelled(w, "Main cause: ", strings.Join(all, ", "))
	}
}

// notes prints additional notes, variant by variant; groups are those of the columns.
func notes(w io.Writer, all []result.Variant, groups []group) {
	for _, v := range all {
		if v.Failed != "" {
			screen.Painted(w, screen.Error, "", fmt.Sprintf("%s failed: %s", v.Label, v.Failed))
		}
		if stopped(&v) {
			screen.Painted(w, screen.Warning, "", v.Label+" was interrupted and is not ranked.")
		}
	}
	marks(w, all)
	moved := ""
	for _, v := range ranked(all) {
		s := v.Runs[len(v.Runs)/2]
		if s.IdleGPUs > 0 {
			Wrap(w, "", fmt.Sprintf("%s: %d of %d GPUs are idle in this parallel configuration.", v.Label, s.IdleGPUs,
				s.TrainingGPUs+s.IdleGPUs))
		}
		if more := s.Retransmissions - s.Trims - refused(s); more > 0 && s.Drops == 0 {
			why := "reordering is treated as loss"
			if 2*(s.Timeouts+s.EarlyTimeouts) > more {
				why = "the timeout is shorter than the wait in queues"
			}
			screen.Painted(w, screen.Warning, "", fmt.Sprintf("%s: %s: %s.", v.Label,
				many(more, "spurious retransmission"), why))
		}
		if lb := route.Lookup(s.LB); lb != nil && lb.Unmoved != "" && s.FlowletMoves == 0 && moved != lb.Unmoved {
			moved = lb.Unmoved
			Wrap(w, "", v.Label+": "+moved)
		}
	}
	for i := range groups {
		if g := &groups[i]; len(g.Runs) == 1 && !stopped(&g.Variant) && g.Runs[0].Slowest != nil {
			s := g.Runs[0].Slowest
			Labelled(w, "Slowest, "+cmp.Or(g.head, strings.Join(g.labels, ", "))+": ",
				fmt.Sprintf("%s → %s: %s", s.From, s.To, s.Why))
		}
	}
}
