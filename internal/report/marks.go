package report

import (
	"cmp"
	"io"
	"strings"

	"railyard/internal/result"
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
