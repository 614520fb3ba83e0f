package swconf

import (
	"cmp"
	"slices"
)

// Severity of a finding.
type Severity string

// Severities. An error breaks the fabric, a warning weakens it, an info is
// worth knowing.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// Finding is one thing that lint has to say.
type Finding struct {
	Severity Severity `json:"severity"`
	Rule     string   `json:"rule"`
	File     string   `json:"file"`
	Line     int      `json:"line"` // 0: the file as a whole
	Column   int      `json:"column,omitempty"`
	Message  string   `json:"message"`
	Why      string   `json:"why"`
	Fix      string   `json:"fix"`
}

// Sort orders findings by file, line and rule and drops repetitions.
func Sort(f []Finding) []Finding {
	slices.SortFunc(f, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(f, func(a, b Finding) bool {
		return a.File == b.File && a.Line == b.Line && a.Rule == b.Rule && a.Message == b.Message
	})
}

// Count returns how many findings have a severity.
func Count(f []Finding, s Severity) (n int) {
	for i := range f {
		if f[i].Severity == s {
			n++
		}
	}
	return n
}
