package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/output"
	"railyard/internal/planner"
	"railyard/internal/report/table"
	"railyard/internal/validate"
)

type validateCmd struct {
	Only     []string `arg:"" optional:"" help:"Groups to run (all)" placeholder:"GROUP"`
	List     bool     `help:"List the groups" without:"quick,random,markdown,json"`
	Quick    bool     `help:"Skip slow groups and large scenarios"`
	JSON     bool     `help:"Print as JSON"`
	Markdown string   `help:"Write the report as Markdown too" name:"markdown" placeholder:"FILE"`
	Force    bool     `help:"Replace a file that is not such a report" with:"markdown"`
	Random   int      `help:"Random scenarios: of blame, remove the largest cause of each and compare; of uet, runs of uet-htsim" placeholder:"N" range:"0,100000"`
	Seed     uint64   `help:"Random seed" default:"1" with:"random"`
	Number   *int     `help:"Check one of the random scenarios, by number" placeholder:"N" with:"random" range:"0,99999"`
	Large    bool     `help:"Of blame, scenarios of 20,000 messages or more" with:"random"`
	Out      string   `help:"Write the scenarios with the largest errors" placeholder:"DIR" with:"random"`
}

func (c *validateCmd) Help() string {
	return `Each row has a claim, its source, the expected and the simulated value. Exit code 1: a row fails
without a known reason. The group published first prints the error of plan score for published trainings by
framework: of the half that its figures were fitted to, and of the half held out.

Examples:
  railyard validate --list
  railyard validate --quick
  railyard validate headroom "SONiC's headroom" ECMP
  railyard validate --json | jq '.[] | select(.ok | not)'
  railyard validate blame --random 20 --seed 3
  railyard validate blame --random 300 --out worst
  railyard validate blame --random 6 --large
  railyard validate uet --random 4
  railyard validate published
  railyard validate --markdown docs/validation.md`
}

// validationHead is the first line of a report, by which an earlier one is recognized.
const validationHead = "# Validation\n"

// earlier reports whether the file to be written is a report from before.
func (c *validateCmd) earlier() bool {
	b, err := input.Text(c.Markdown, 1<<24)
	return err == nil && strings.HasPrefix(string(b), validationHead)
}

var errDisagree = errors.New("some rows disagree with their reference and no reason is known")

// checks returns the requested checks, in the report's order.
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
			return nil, field.Choice("GROUP", name, names, "unknown group %s", field.Quote(name)).ListedBy("railyard validate --list")
		}
	}
	return picked, nil
}

// compute runs checks, as many at a time as there are processors and as fit the memory.
func compute(e *env, checks []validate.Check) ([]validate.Group, error) {
	all, tasks := make([]validate.Group, len(checks)), make([]task, len(checks))
	for i, c := range checks {
		all[i].Check = c
		tasks[i] = task{seconds: c.Seconds, mb: c.MB, do: func() error {
			var err error
			if all[i].Rows, err = c.Run(); err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
			return nil
		}}
	}
	return all, e.spread("group", tasks)
}

// Run is the validate command.
func (c *validateCmd) Run(e *env) error {
	switch {
	case c.List:
		for _, check := range validate.Checks() {
			fmt.Fprintln(e.stdout, check.Name)
		}
		return nil
	case c.Random != 0:
		return c.random(e)
	}
	checks, err := c.checks()
	if err != nil {
		return err
	}
	left := ""
	if c.Quick {
		checks, left = validate.Quick(checks)
	}
	force := c.Force || c.earlier()
	if err := output.Fits(force, c.Markdown); err != nil { // before validation, which takes a minute
		return err
	}
	groups, err := compute(e, checks)
	if err != nil {
		return err
	}
	all := []validate.Row{}
	var md strings.Builder
	md.WriteString(validationHead +
		"\nWritten by `railyard validate --markdown docs/validation.md`. Every row runs the simulator.\n")
	for _, g := range groups {
		all = append(all, g.Rows...)
		md.WriteString(g.Markdown())
	}
	said, failed := table.Verdict(all)
	if left != "" {
		left = "Left out by --quick: " + left + "\n"
	}
	var lost error
	if c.Markdown != "" {
		lost = output.WriteBytes(c.Markdown, force, []byte(md.String()+"\n"+said+"\n"+left))
	}
	var trainings *planner.PublishedReport
	if slices.Equal(c.Only, []string{"published"}) {
		if trainings, err = planner.ReportPublished(); err != nil {
			return err
		}
	}
	switch {
	case c.JSON && trainings != nil:
		lost = errors.Join(printJSON(e.stdout, publishedResult{trainings, all}), lost)
	case c.JSON:
		lost = errors.Join(printJSON(e.stdout, all), lost)
	default:
		if trainings != nil {
			table.Trainings(e.stdout, trainings)
		}
		table.Validation(e.stdout, groups)
		fmt.Fprintf(e.stdout, "\n%s\n%s", said, left)
	}
	if failed {
		return errors.Join(errDisagree, lost)
	}
	return lost
}
