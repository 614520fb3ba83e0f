package validate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"railyard/internal/scenario"
	"railyard/internal/sim"
)

// Row is one claim and its result.
type Row struct {
	Claim    string `json:"claim"`
	Source   string `json:"source"`
	Expected string `json:"expected"`
	Ours     string `json:"ours"`
	Diff     string `json:"difference"`
	OK       bool   `json:"ok"`
	Note     string `json:"note,omitempty"` // a remark that excuses nothing
	*Reason         // reason for the difference; nil: none, or unknown
}

// Verdict returns "ok", "differs" for a known difference, or "FAILS". A difference is known if the row has a source, a
// mechanism and a setting or why there is none. A figure that could not be computed fails in any case.
func (r Row) Verdict() string {
	switch {
	case r.OK:
		return "ok"
	case r.Source != "" && r.Reason.complete() && !strings.Contains(r.Ours+r.Expected, "NaN"):
		return "differs"
	}
	return "FAILS"
}

// Markdown returns the row as lines of the report's table.
func (r *Row) Markdown() string {
	cell := strings.NewReplacer("|", "\\|", "\n", " ").Replace
	verdict := r.Verdict()
	if r.Reason != nil {
		verdict += ": " + r.Name
	}
	text := fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n", verdict, cell(r.Claim), cell(r.Expected),
		cell(r.Ours), cell(r.Diff), cell(r.Source))
	if r.Note != "" {
		text += fmt.Sprintf("| | *%s* | | | | |\n", cell(r.Note))
	}
	return text
}

// failure carries the error of a scenario up to caught. Rows are computed in sequence. A scenario of this package
// that does not run fails its whole group.
type failure struct{ error }

// do panics with an error, for caught.
func do(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// must returns a value, or panics with the error, for caught; must2 does so with two.
func must[A any](a A, err error) A { do(err); return a }

func must2[A, B any](a A, b B, err error) (A, B) { do(err); return a, b }

// caught sets a function's error to what do panicked with. It is for defer.
func caught(err *error) {
	switch f := recover().(type) {
	case nil:
	case failure:
		*err = f.error
	default:
		panic(f)
	}
}

// start builds the run of a scenario.
func start(text string, sets ...string) (*sim.Run, error) {
	return startWith(text, connections, sets...)
}

// startWith is start for scenarios with files.
func startWith(text string, read scenario.ReadFile, sets ...string) (*sim.Run, error) {
	return sim.New(must(plan("validate", []byte(text), read, sets)))
}

// closing are settings of a reason (TestSettingsClose). Every scenario that accepts them gets them.
var closing []string

// plan reads a scenario.
func plan(name string, text []byte, read scenario.ReadFile, sets []string) (*scenario.Plan, error) {
	if len(closing) > 0 {
		if d, err := scenario.Parse(name, text, slices.Concat(sets, closing)); err == nil {
			if p, err := d.Resolve(read); err == nil {
				return p, nil
			}
		}
	}
	return must(scenario.Parse(name, text, sets)).Resolve(read)
}

// finish runs a scenario to its end.
func finish(text string, sets ...string) (*sim.Run, error) {
	r := must(start(text, sets...))
	return r, r.Go(nil)
}

// exact is a row whose two sides must be equal.
func exact[T comparable](claim, source string, want, got T) Row {
	r := Row{Claim: claim, Source: source, Expected: fmt.Sprint(want), Ours: fmt.Sprint(got), OK: want == got,
		Diff: "none"}
	if !r.OK {
		r.Diff = "differs"
	}
	return r
}

// within is a row whose sides may differ by tol, relative to want.
func within(claim, source string, want, got, tol float64, format string) Row {
	d := (got - want) / want
	return Row{Claim: claim, Source: source, Expected: fmt.Sprintf(format, want),
		Ours: fmt.Sprintf(format, got),
		Diff: fmt.Sprintf("%+.2f %%", 100*d), OK: math.Abs(d) <= tol}
}

// Group is a check with the rows that it computed.
type Group struct {
	Check
	Rows []Row
}

// Markdown returns a reason as an item of a list below the table.
func (r *Reason) Markdown() string {
	remedy := r.Effect
	if r.Setting != NoSetting {
		remedy = "`" + r.Setting + "`, " + remedy
	} else {
		remedy = NoSetting + ": " + remedy
	}
	return fmt.Sprintf("- **%s.** %s *Setting that closes the gap:* %s.\n", r.Name, r.Mechanism, remedy)
}

// Markdown returns a group of a report in Markdown: the table of its rows, then why some of them differ.
func (g *Group) Markdown() string {
	var md strings.Builder
	md.WriteString("\n## " + g.Name +
		"\n\n| | claim | expected | simulated | difference | source |\n|---|---|---|---|---|---|\n")
	for _, r := range g.Rows {
		md.WriteString(r.Markdown())
	}
	for i, why := range g.Reasons() {
		if i == 0 {
			md.WriteString("\n")
		}
		md.WriteString(why.Markdown())
	}
	return md.String()
}
