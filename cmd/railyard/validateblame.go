package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/output"
	"railyard/internal/report"
	"railyard/internal/runner"
	"railyard/internal/validate"
	"railyard/unit"
)

// mostRandom bounds how many scenarios are drawn at once.
const mostRandom = 100_000

// worstShown is how many scenarios are written, whose blame is farthest from what was saved.
const worstShown = 5

var errBlame = errors.New("the account of lost time misses its aim on random scenarios")

// random checks the account of lost time on random scenarios, or ours on published runs that are drawn.
func (c *validateCmd) random(e *env) error {
	switch {
	case c.Random < 1 || c.Random > mostRandom:
		return field.New("--random", "%d is out of range 1–%d", c.Random, mostRandom)
	case c.Markdown != "":
		return field.New("--markdown", "is written of all groups, without --random")
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
	rows, err := judgeAll(e, c.Seed, numbers)
	if err != nil {
		return err
	}
	r := validate.NewBlameReport(c.Seed, rows)
	shown := r.Worst(worstShown)
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
	if c.JSON {
		if err := printJSON(e.stdout, r); err != nil {
			return err
		}
	} else {
		c.printBlame(e.stdout, r, shown)
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
func judgeAll(e *env, seed uint64, numbers []int) ([]validate.Judged, error) {
	ctx, release := endable()
	defer release()
	bar := newMeter(e)
	defer bar.finish()
	rows := make([]validate.Judged, len(numbers))
	var mu sync.Mutex
	done := 0
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(numbers)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range next {
				if ctx.Err() != nil {
					continue
				}
				rows[i] = validate.JudgeRandom(seed, numbers[i])
				mu.Lock()
				done++
				bar.show(float64(done)/float64(len(rows)), fmt.Sprintf("scenario %d of %d", done, len(rows)))
				mu.Unlock()
			}
		}()
	}
	for i := range numbers {
		next <- i
	}
	close(next)
	wg.Wait()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%w after %d of %d scenarios; nothing was written", runner.ErrInterrupted, done, len(rows))
	}
	return rows, nil
}

// keep writes the scenario of a number, with what it says of itself, and the files that it names.
func (c *validateCmd) keep(j *validate.Judged) error {
	if j.Case == nil {
		return nil
	}
	head := fmt.Sprintf("# %s\n# railyard validate blame --random %d --seed %d --number %d\n", words(j), c.Random, c.Seed,
		j.Number)
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

// path is where the scenario of a number goes.
func (c *validateCmd) path(j *validate.Judged) string { return filepath.Join(c.Out, j.Case.Name) }

// words says of a scenario what was blamed and what was saved.
func words(j *validate.Judged) string {
	if j.Verdict == validate.Listed {
		return fmt.Sprintf("number %d: %s", j.Number, j.Reason)
	}
	share := func(ps int64) string {
		return fmt.Sprintf("%v (%.1f %%)", unit.Time(ps), 100*float64(ps)/float64(j.Step))
	}
	return fmt.Sprintf("number %d, %s: step %v, blamed %s, saved %s by: %s", j.Number, j.Cause, unit.Time(j.Step),
		share(j.Blamed), share(j.Saved), j.Without)
}

// printBlame prints the verdicts by cause, the worst scenarios, and why others were not judged.
func (c *validateCmd) printBlame(w io.Writer, r *validate.BlameReport, shown []*validate.Judged) {
	if c.Number == nil {
		share := 0.0
		if r.All.N > 0 {
			share = 100 * float64(r.All.Agree) / float64(r.All.N)
		}
		fmt.Fprintf(w, "%.1f %% of %d savings agree with the blame (%s, seed %d; %d with a cause of 5 %% or more)\n\n",
			share, r.All.N, unit.Plural(r.Drawn, "scenario"), r.Seed, r.Caused)
		fmt.Fprintf(w, "%-28s %5s %6s %5s %6s %11s %9s %6s\n", "cause taken away", "n", "agree", "over", "under",
			"wrong sign", "in doubt", "drawn")
		for _, t := range append(slices.Clone(r.Causes), r.All) {
			fmt.Fprintf(w, "%-28s %5d %6d %5d %6d %11d %9d %6d\n", t.Cause, t.N, t.Agree, t.Over, t.Under, t.Wrong,
				t.Doubt, t.Meant)
		}
	}
	for i, j := range shown {
		if i == 0 && c.Number == nil {
			fmt.Fprintln(w, "\nFarthest off:")
		}
		report.Wrap(w, "  ", j.Verdict+", "+words(j))
		switch {
		case j.Case == nil:
		case c.Out != "":
			fmt.Fprintf(w, "    railyard run %s\n", c.path(j))
		case c.Number == nil:
			fmt.Fprintf(w, "    railyard validate blame --random %d --seed %d --number %d --out DIR\n", c.Random, c.Seed,
				j.Number)
		}
	}
	if c.Number != nil {
		return
	}
	doubts, agree, reasons := map[string]int{}, map[string]int{}, map[string]int{}
	for i := range r.Rows {
		switch j := &r.Rows[i]; {
		case j.Verdict == validate.Listed:
			reasons[j.Reason]++
		case j.Doubt != "":
			k := j.Cause + ": " + j.Doubt
			if doubts[k]++; j.Verdict == validate.Agrees {
				agree[k]++
			}
		}
	}
	list := func(title string, counts map[string]int) {
		if len(counts) == 0 {
			return
		}
		fmt.Fprintf(w, "\n%s:\n", title)
		keys := slices.Sorted(maps.Keys(counts))
		slices.SortStableFunc(keys, func(a, b string) int { return counts[b] - counts[a] })
		for _, k := range keys {
			says := k
			if n, ok := agree[k]; ok {
				says += fmt.Sprintf(" (%d agree)", n)
			}
			report.Labelled(w, fmt.Sprintf("  %4d  ", counts[k]), says)
		}
	}
	list("In doubt, counted apart", doubts)
	list("Not judged", reasons)
}
