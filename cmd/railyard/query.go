package main

import (
	"railyard/internal/query"
	"railyard/internal/report"
)

type queryCmd struct {
	Dir   string `arg:"" help:"Run directory, or directory of a study" placeholder:"RUN"`
	Query string `arg:"" optional:"" help:"SQL (SQLite's): select …; without it: tables and columns" placeholder:"QUERY"`
	CSV   bool   `help:"Print as CSV" name:"csv" without:"json" group:"Output"`
	JSON  bool   `help:"Print as JSON"`
}

func (c *queryCmd) Help() string {
	return `Tables are the *.parquet files of the directory: flows, ports, links, ranks, causes … of a run, results of a
study. Units are in the names of columns; a name with dots is quoted. percentile(X, 99) and median(X) are there besides
SQLite's functions. See docs/scripts.md.

Examples:
  railyard query runs/three-flows-001
  railyard query runs/a 'select name, ecn_marks from ports order by 2 desc'
  railyard query runs/a 'select bytes, done_ps - posted_ps from flows' --csv
  railyard query study 'select lb, step_time_ps from results' --json`
}

// Run is the query command.
func (c *queryCmd) Run(e *env) error {
	d, err := query.Open(c.Dir)
	if err != nil {
		return err
	}
	if c.Query == "" && c.JSON {
		return printJSON(e.stdout, d.Tables)
	}
	if c.Query == "" {
		query.PrintTables(e.stdout, d)
		return nil
	}
	ctx, cancel := interruptible()
	defer cancel()
	r, err := d.Select(ctx, c.Query)
	if err != nil {
		return err
	}
	for _, cut := range r.Cut {
		report.Labelled(e.stderr, "warning: ", cut.String())
	}
	switch {
	case c.CSV:
		return query.WriteCSV(e.stdout, r)
	case c.JSON:
		return query.WriteJSON(e.stdout, r)
	}
	query.Print(e.stdout, r)
	return nil
}
