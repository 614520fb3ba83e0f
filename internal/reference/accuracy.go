package reference

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/fidelity"
	"railyard/internal/manual"
)

// A comparison is a row of the validation report.
type comparison struct {
	group, verdict, claim, expected, simulated, difference, source string
}

// classes are the kinds of sources, in order; the first whose expression matches a source names its class.
var classes = []struct {
	title, about string
	of           *regexp.Regexp
}{
	{"Other simulators", "The same work, simulated by htsim, ns-3, SimAI, LogGOPSim and others",
		regexp.MustCompile(`(?i)htsim|ns-3|simai|loggopsim|isekai|astra|spcl|monte carlo`)},
	{"Constants of vendors' code", "Numbers that NCCL's sources and tools state, not times",
		regexp.MustCompile(`^NCCL src/|topo\.h|PERFORMANCE\.md`)},
	{"Measured systems", "Figures that operators and vendors measured on hardware",
		regexp.MustCompile(`(?i)AWS|llama 3|narayanan|megatron|gangidi|kokolis|kalia|nccl|perftest|published run|measured`)},
	{"Published papers", "Tables, figures and equations of papers",
		regexp.MustCompile(`(?i)et al|arxiv|SIGCOMM|NSDI|SC'|figure|table|IJHPCA|FGCS|paper|DeepSeek`)},
	{"Standards and vendors' documents", "IBTA, IEEE, OCP, UEC, SAI, SONiC, NVIDIA and others",
		regexp.MustCompile(`(?i)IBTA|802\.|OCP|UEC|SAI|SONiC|NVIDIA|Broadcom|specification|docs/references`)},
	{"Closed forms and properties", "Arithmetic, symmetry, bounds, and runs without one cause",
		regexp.MustCompile(``)},
}

// Accuracy returns the page of all comparisons with sources outside this project, by class. report is the validation
// report in Markdown.
func Accuracy(report string) manual.Page {
	rows := comparisons(report)
	byClass := make([][]comparison, len(classes))
	for _, r := range rows {
		i := slices.IndexFunc(classes, func(c struct {
			title, about string
			of           *regexp.Regexp
		}) bool {
			return c.of.MatchString(r.source)
		})
		byClass[i] = append(byClass[i], r)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `# Accuracy: every published comparison

%d comparisons, which `+"`railyard validate`"+` computes again. A row differs if its difference is above the limit of the
check; then the [validation report](../validation.md) has the mechanism and the setting that closes the gap. The median
and the 90th percentile are those of differences in percent, without bounds, which a figure may keep by far.

| class | comparisons | differ | median | 90th percentile |
|---|---|---|---|---|
`, len(rows))
	for i, class := range classes {
		differ := 0
		var sizes []float64
		for _, r := range byClass[i] {
			if r.verdict != "ok" {
				differ++
			}
			if x, ok := percent(r.difference); ok && !oneSided.MatchString(r.expected) {
				sizes = append(sizes, x)
			}
		}
		slices.Sort(sizes)
		fmt.Fprintf(&b, "| %s | %d | %d | %s | %s |\n", class.title, len(byClass[i]), differ, quantile(sizes, 0.5),
			quantile(sizes, 0.9))
	}
	for i, class := range classes[:len(classes)-1] {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n", class.title, class.about)
		b.WriteString("| | claim | expected | simulated | difference | source |\n|---|---|---|---|---|---|\n")
		for _, r := range byClass[i] {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", r.verdict, r.claim, r.expected, r.simulated, r.difference,
				r.source)
		}
	}
	return manual.Page{Path: "reference/accuracy", Text: b.String()}
}

// comparisons reads the rows of a validation report.
func comparisons(report string) (rows []comparison) {
	group := ""
	for line := range strings.Lines(report) {
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "## "); ok {
			group = title
			continue
		}
		c := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
		if len(c) != 8 {
			continue
		}
		for i := range c {
			c[i] = strings.ReplaceAll(strings.TrimSpace(c[i]), "\x00", `\|`)
		}
		if c[1] == "ok" || strings.HasPrefix(c[1], "differs") {
			verdict, _, _ := strings.Cut(c[1], ":")
			rows = append(rows, comparison{group, verdict, c[2], c[3], c[4], c[5], c[6]})
		}
	}
	return rows
}

// oneSided matches an expected bound, from which a figure may lie far on the right side.
var oneSided = regexp.MustCompile(`^([<>]|at (most|least))`)

// difference matches a difference in percent.
var difference = regexp.MustCompile(`^([+-]?[0-9.]+) %$`)

// percent returns the size of a difference in percent.
func percent(text string) (float64, bool) {
	m := difference.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	x, err := strconv.ParseFloat(m[1], 64)
	return math.Abs(x), err == nil
}

// quantile returns a quantile of sorted values as a text, or –.
func quantile(sorted []float64, q float64) string {
	if len(sorted) == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", sorted[int(q*float64(len(sorted)-1))])
}

// Flows returns the page of the flow fidelity's errors: the largest by traffic, congestion control and paths.
func Flows() manual.Page {
	type group struct{ traffic, control, paths string }
	type size struct {
		group
		cases           int
		lowest, highest float64
	}
	all := map[group]*size{}
	for i := range fidelity.Accuracies {
		a := &fidelity.Accuracies[i]
		g := group{a.Traffic, a.Control, a.Paths}
		if all[g] == nil {
			all[g] = &size{group: g, lowest: a.Error(), highest: a.Error()}
		}
		s := all[g]
		s.cases, s.lowest, s.highest = s.cases+1, min(s.lowest, a.Error()), max(s.highest, a.Error())
	}
	var sorted []*size
	for _, s := range all {
		sorted = append(sorted, s)
	}
	slices.SortFunc(sorted, func(a, b *size) int {
		return cmp.Or(cmp.Compare(a.traffic, b.traffic), cmp.Compare(a.control, b.control),
			cmp.Compare(a.paths, b.paths))
	})
	var b strings.Builder
	fmt.Fprintf(&b, `# Errors of the flow fidelity

The difference of the step time by flows from that by packets, in %d cases that were simulated by both. The control is
transport, congestion control and what limits a queue. [Fidelities](../concepts/fidelities.md) explains flows.

| traffic | control | paths | cases | error |
|---|---|---|---|---|
`, len(fidelity.Accuracies))
	for _, s := range sorted {
		text := fmt.Sprintf("%+.1f %%", 100*s.lowest)
		if s.cases > 1 {
			text += fmt.Sprintf(" to %+.1f %%", 100*s.highest)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %s |\n", s.traffic, s.control, s.paths, s.cases,
			strings.ReplaceAll(text, "-", "−"))
	}
	return manual.Page{Path: "reference/flows", Text: b.String()}
}
