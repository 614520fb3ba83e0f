package swconf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
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

// Finding is one finding of lint.
type Finding struct {
	Severity Severity `json:"severity"`
	Rule     string   `json:"rule"`
	File     string   `json:"file"`
	Line     int      `json:"line"` // 0: the file as a whole
	Column   int      `json:"column,omitempty"`
	Ports    string   `json:"ports,omitempty"` // ports whose packets are affected, if the message contains none
	Message  string   `json:"message"`
	Why      string   `json:"why"`
	Fix      string   `json:"fix"`
	// commands that fix it on the file's switch, in its language; none: Fix has none
	Commands []string  `json:"commands,omitempty"`
	on       *[]string // the same one by one
}

// Sort orders findings by file, line and rule and drops repetitions.
func Sort(f []Finding) []Finding {
	slices.SortFunc(f, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	out := f[:0]
	for _, x := range f {
		n := len(out) - 1
		if n < 0 || !out[n].same(&x) {
			out = append(out, x)
			continue
		}
		last := &out[n]
		if last.on != nil && x.on != nil {
			both := slices.Concat(*last.on, *x.on)
			last.on = &both
		}
		if !slices.Equal(last.Commands, x.Commands) { // of several ports
			last.Commands = slices.Concat(last.Commands, x.Commands)
		}
	}
	for i := range out {
		if x := &out[i]; x.on != nil {
			x.Ports, x.on = fewPorts(*x.on), nil
		}
	}
	return out
}

// same reports one finding that was made twice.
func (f *Finding) same(o *Finding) bool {
	return f.File == o.File && f.Line == o.Line && f.Rule == o.Rule && f.Message == o.Message
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

// fewPorts are names of ports, consecutive ones as a range and of many the first.
func fewPorts(names []string) string {
	const most = 6
	parts := strings.Split(Compress(names), ", ")
	if n := len(parts); n > most {
		return fmt.Sprintf("%s and %d more", strings.Join(parts[:most], ", "), n-most)
	}
	return strings.Join(parts, ", ")
}
