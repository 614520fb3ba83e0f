package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/output"
	"railyard/internal/report/table"
	"railyard/internal/validate"
)

// mostRandom is the maximum number of random scenarios per call.
const mostRandom = 100_000

var errBlame = errors.New("the account of lost time misses its aim on random scenarios")

// random checks the account of lost time on random scenarios, or Railyard on a random selection of published runs.
func (c *validateCmd) random(e *env) error {
	switch {
	case c.Random < 1 || c.Random > mostRandom:
		return field.New("--random", "%d is out of range 1–%d", c.Random, mostRandom)
	case c.Markdown != "":
		return field.New("--markdown", "is written of all groups, without --random")
	case c.Large && !slices.Equal(c.Only, []string{"blame"}):
		return field.New("--large", "is of random scenarios of blame: railyard validate blame --random %d --large",
			c.Random)
	case slices.Equal(c.Only, []string{"uet"}):
		return c.published(e)
	case !slices.Equal(c.Only, []string{"blame"}):
		return field.New("--random", "draws for one group, blame or uet: railyard validate blame --random %d",
			c.Random)
	case c.Number != nil && (*c.Number < 0 || *c.Number >= mostRandom):
		return field.New("--number", "%d is out of range 0–%d", *c.Number, mostRandom-1)
	}
	if c.Out != "" {
		if err := os.MkdirAll(c.Out, 0o755); err != nil {
			return input.Fault(fmt.Errorf("--out: %w", err))
		}
	}
	numbers := make([]int, c.Random)
	for i := range numbers {
		numbers[i] = i
	}
	if c.Number != nil {
		numbers = []int{*c.Number}
	}
	rows, err := judgeAll(e, c.Seed, numbers, c.Large)
	if err != nil {
		return err
	}
	r := validate.NewBlameReport(c.Seed, rows)
	shown := r.Worst(table.WorstShown)
	if c.Number != nil {
		shown = []*validate.Judged{&r.Rows[0]}
	}
	if c.Out != "" {
		for _, j := range shown {
			if err := c.keep(j); err != nil {
				return err
			}
		}
	}
	if err := e.show(c.JSON, r, func() { table.Blame(e.stdout, r, shown, c.Number != nil, c.next) }); err != nil {
		return err
	}
	if c.Number != nil {
		return nil
	}
	if err := r.Err(); err != nil {
		return errors.Join(errBlame, err)
	}
	return nil
}

// judgeAll judges scenarios, several at a time.
func judgeAll(e *env, seed uint64, numbers []int, large bool) ([]validate.Judged, error) {
	rows := make([]validate.Judged, len(numbers))
	tasks := make([]task, len(numbers))
	for i, n := range numbers {
		tasks[i].do = func() error { rows[i] = validate.JudgeRandom(seed, n, large); return nil }
	}
	return rows, e.spread("scenario", tasks)
}

// keep writes the scenario of a number, with its description, and its files.
func (c *validateCmd) keep(j *validate.Judged) error {
	if j.Case == nil {
		return nil
	}
	head := fmt.Sprintf("# %s\n# railyard validate blame %s --number %d\n", table.BlameWords(j), c.draws(), j.Number)
	if len(j.Set) > 0 {
		head += "# the run without it, as far as settings do: --set " + strings.Join(j.Set, " --set ") + "\n"
	}
	if err := output.WriteBytes(c.path(j), true, []byte(head+j.Case.Text)); err != nil {
		return err
	}
	for name, text := range j.Case.Files {
		if err := output.WriteBytes(filepath.Join(c.Out, name), true, []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// path returns the file name of a number's scenario.
func (c *validateCmd) path(j *validate.Judged) string { return filepath.Join(c.Out, j.Case.Name) }

// next is the command that shows more of a scenario.
func (c *validateCmd) next(j *validate.Judged) string {
	switch {
	case j.Case == nil || c.Out == "" && c.Number != nil:
		return ""
	case c.Out != "":
		return "railyard run " + c.path(j)
	}
	return fmt.Sprintf("railyard validate blame %s --number %d --out DIR", c.draws(), j.Number)
}

// draws returns the flags that draw the same scenarios.
func (c *validateCmd) draws() string {
	flags := fmt.Sprintf("--random %d --seed %d", c.Random, c.Seed)
	if c.Large {
		flags += " --large"
	}
	return flags
}
