package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/report"
	"railyard/internal/validate"
	"railyard/unit"
)

type validateCmd struct {
	Only     []string `arg:"" optional:"" help:"Groups to run: the headings of the report, all unless given." placeholder:"GROUP"`
	JSON     bool     `help:"Print as JSON."`
	Markdown string   `help:"Write the report as Markdown too." name:"markdown" placeholder:"FILE"`
	Force    bool     `help:"Replace a file that is no such report." with:"markdown"`
	Random   int      `help:"Of the group blame: draw scenarios, take the largest cause of each away and compare what that saves." placeholder:"N"`
	Seed     uint64   `help:"Seed of the drawing." default:"1" with:"random"`
	Number   *int     `help:"Judge one scenario of the drawing alone, by its number." placeholder:"N" with:"random"`
	Out      string   `help:"Write the scenarios that are farthest off into a folder." placeholder:"DIR" with:"random"`
}

func (c *validateCmd) Help() string {
	return `Each row names a claim, its source, what is expected, what this build gives and the difference.
Exit code 1 when a row disagrees and no reason is known.

Examples:
  railyard validate headroom "SONiC's headroom" ECMP
  railyard validate --json | jq '.[] | select(.ok | not)'
  railyard validate blame --random 20 --seed 3
  railyard validate blame --random 300 --out worst
  railyard validate --markdown docs/validation.md`
}

// validationHead is how a report begins, by which the one before is known.
const validationHead = "# Validation\n"

// earlier reports whether the file to be written is a report from before.
func (c *validateCmd) earlier() bool {
	b, err := readBounded(c.Markdown, 1<<24)
	return err == nil && strings.HasPrefix(string(b), validationHead)
}

var errDisagree = errors.New("some rows disagree with their reference and no reason is known")

// mostGroups is how many an error lists.
const mostGroups = 24

// checks are those asked for, in the report's order.
func (c *validateCmd) checks() (picked []validate.Check, err error) {
	all := validate.Checks()
	if len(c.Only) == 0 {
		return all, nil
	}
	var names []string
	for _, check := range all {
		names = append(names, check.Name)
		if slices.Contains(c.Only, check.Name) {
			picked = append(picked, check)
		}
	}
	for _, name := range c.Only {
		if !slices.Contains(names, name) {
			e := field.Choice("GROUP", name, names, "there is no group %s", field.Quote(name))
			if n := len(names) - mostGroups; n > 0 {
				e.Accepted = append(slices.Clone(names[:mostGroups]),
					fmt.Sprintf("and %d more, the headings of docs/validation.md", n))
			}
			return nil, e
		}
	}
	return picked, nil
}

// Run is the validate command.
func (c *validateCmd) Run(e *env) error {
	if c.Random != 0 {
		return c.random(e)
	}
	checks, err := c.checks()
	if err != nil {
		return err
	}
	force := c.Force || c.earlier()
	if c.Markdown != "" { // before it takes a minute
		f, err := create(c.Markdown, force)
		if err != nil {
			return err
		}
		f.drop()
	}
	all := []validate.Row{}
	var md strings.Builder
	md.WriteString(validationHead +
		"\nWritten by `railyard validate --markdown docs/validation.md`. Every row runs the real thing.\n")
	bad, explained := 0, 0
	for _, check := range checks {
		rows, err := check.Run()
		if err != nil {
			return fmt.Errorf("%s: %w", check.Name, err)
		}
		if !c.JSON {
			fmt.Fprintf(e.stdout, "\n%s\n", check.Name)
		}
		md.WriteString("\n## " + check.Name +
			"\n\n| | claim | expected | ours | difference | source |\n|---|---|---|---|---|---|\n")
		for _, r := range rows {
			all = append(all, r)
			verdict := r.Verdict()
			switch verdict {
			case "FAILS":
				bad++
			case "differs":
				explained++
			}
			cell := strings.NewReplacer("|", "\\|", "\n", " ").Replace
			fmt.Fprintf(&md, "| %s | %s | %s | %s | %s | %s |\n", verdict, cell(r.Claim), cell(r.Expected),
				cell(r.Ours), cell(r.Diff), cell(r.Source))
			if r.Note != "" {
				fmt.Fprintf(&md, "| | *%s* | | | | |\n", cell(r.Note))
			}
			if !c.JSON {
				fmt.Fprintf(e.stdout, "  %-7s %s\n", verdict, r.Claim)
				report.Wrap(e.stdout, "          ", fmt.Sprintf("expected %s, ours %s (%s)  [%s]", r.Expected,
					r.Ours, r.Diff, r.Source))
				if r.Note != "" {
					report.Wrap(e.stdout, "          ", r.Note)
				}
			}
		}
	}
	fmt.Fprintf(&md, "\n%s: %d agree, %d differ for the reason given, %d fail.\n",
		unit.Plural(len(all), "row"),
		len(all)-bad-explained, explained, bad)
	var lost error
	if c.Markdown != "" {
		lost = writeBytes(c.Markdown, force, []byte(md.String()))
	}
	if c.JSON {
		lost = errors.Join(printJSON(e.stdout, all), lost)
	} else {
		fmt.Fprintf(e.stdout, "\n%s: %d agree, %d differ for the reason given, %d fail\n",
			unit.Plural(len(all), "row"),
			len(all)-bad-explained, explained, bad)
	}
	if bad > 0 {
		return errors.Join(errDisagree, lost)
	}
	return lost
}
