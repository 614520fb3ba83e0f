// Package query runs SQL over the Parquet tables of a run or a study.
//
// Open finds the tables of a directory. Select copies the tables that a query names into a database in memory,
// which modernc.org/sqlite provides in pure Go, and returns columns and rows; WriteCSV, WriteJSON and Print write
// them. Names and units of columns equal those of the files: time_ps is picoseconds. A query only reads.
package query

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/result"
	"railyard/unit"

	"github.com/parquet-go/parquet-go"
	"modernc.org/sqlite" // registers the driver, and names its errors
)

// Limits of a query: rows of the tables that it names together, and of its result.
const (
	maxRead   = 20_000_000
	maxResult = 5_000_000
	maxFile   = 2 << 30
)

// Dir is a directory with tables.
type Dir struct {
	Path   string
	Tables []Table
}

// Table is a Parquet file.
type Table struct {
	Name    string   `json:"table"`
	Rows    int64    `json:"rows"`
	Columns []string `json:"columns"`

	Cut *result.TableCut `json:"cut,omitempty"` // the rows that a run's table lacks

	path  string
	kinds []parquet.Kind
}

// Result is what a query returns.
type Result struct {
	Columns []string
	Rows    [][]any           // int64, float64, string or nil
	Cut     []result.TableCut // tables of the query that lack rows
}

// Open finds the tables of a run or a study.
func Open(dir string) (*Dir, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil {
		return nil, err
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return nil, input.Fault(field.New(dir, "is not a run directory or the directory of a study"))
	}
	if len(files) == 0 {
		return nil, input.Fault(field.New(dir,
			"contains no table (*.parquet): name a run or a study of railyard sweep; others print --json"))
	}
	d, cut := &Dir{Path: dir}, map[string]*result.TableCut{}
	switch s, err := result.ReadSummary(dir); {
	case errors.Is(err, os.ErrNotExist): // a study
	case err != nil:
		return nil, input.Fault(err)
	default:
		for i := range s.TablesCut {
			cut[s.TablesCut[i].Table] = &s.TablesCut[i]
		}
	}
	for _, path := range files {
		t := Table{Name: strings.TrimSuffix(filepath.Base(path), ".parquet"), path: path}
		t.Cut = cut[t.Name]
		if err := t.open(func(f *parquet.File) error { return nil }); err != nil {
			return nil, err
		}
		d.Tables = append(d.Tables, t)
	}
	return d, nil
}

// open opens the file of a table and reads its columns. What is damaged can end the library in a panic, which is an
// error here.
func (t *Table) open(read func(*parquet.File) error) (err error) {
	f, err := input.Open(t.path, maxFile)
	if err != nil {
		return input.Fault(err)
	}
	defer f.Close()
	defer func() {
		if x := recover(); x != nil {
			err = input.Fault(fmt.Errorf("%s is damaged: %v", t.path, x))
		}
	}()
	p, err := parquet.OpenFile(f, f.Size)
	if err != nil {
		return input.Fault(fmt.Errorf("%s is damaged: %w", t.path, err))
	}
	t.Rows, t.Columns, t.kinds = p.NumRows(), nil, nil
	for _, c := range p.Schema().Fields() {
		if !c.Leaf() || c.Repeated() {
			return input.Fault(fmt.Errorf("%s: column %s is a list, which queries do not read", t.path, c.Name()))
		}
		t.Columns, t.kinds = append(t.Columns, c.Name()), append(t.kinds, c.Type().Kind())
	}
	return read(p)
}

// quoted returns a name as SQL takes it.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// word matches the words of a query that may name a table.
var word = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

// reads matches queries that read.
var reads = regexp.MustCompile(`(?is)^\s*(select|with|values|explain)\b`)

// passive matches what has no effect on statements: comments, and texts and names in quotes.
var passive = regexp.MustCompile(`(?s)--[^\n]*|/\*.*?\*/|'[^']*'|"[^"]*"|` + "`[^`]*`" + `|\[[^\]]*\]`)

// several reports whether a query has statements after the first, of which the database would return the last alone.
func several(text string) bool {
	_, after, _ := strings.Cut(passive.ReplaceAllStringFunc(text, func(s string) string {
		if strings.HasPrefix(s, "--") || strings.HasPrefix(s, "/*") {
			return " "
		}
		return "x"
	}), ";")
	return strings.Trim(after, "; \t\r\n") != ""
}

// Select runs a query.
func (d *Dir) Select(ctx context.Context, text string) (*Result, error) {
	if !reads.MatchString(text) {
		return nil, field.New("QUERY", "%s is not a query; it begins with select or with", field.Quote(first(text)))
	}
	if several(text) {
		return nil, field.New("QUERY", "has more than one statement; write one, of which results are printed")
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // a second connection has a database of its own
	named, cut := word.FindAllString(strings.ToLower(text), -1), []result.TableCut(nil)
	total := int64(0)
	for i := range d.Tables {
		t := &d.Tables[i]
		if !slices.Contains(named, t.Name) {
			continue
		}
		if total += t.Rows; total > maxRead {
			return nil, field.New("QUERY", "reads %s, above the limit of %s", unit.Plural(total, "row"), unit.Plural(maxRead, "row"))
		}
		if t.Cut != nil {
			cut = append(cut, *t.Cut)
		}
		if err := t.load(ctx, db); err != nil {
			return nil, err
		}
	}
	if _, err := db.ExecContext(ctx, "pragma query_only = on"); err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return nil, d.refused(err, named)
	}
	defer rows.Close()
	r, err := d.result(rows, named)
	if err == nil {
		r.Cut = cut
	}
	return r, err
}

// result reads the rows of a result.
func (d *Dir) result(rows *sql.Rows, words []string) (r *Result, err error) {
	r = &Result{Rows: [][]any{}}
	if r.Columns, err = rows.Columns(); err != nil {
		return nil, err
	}
	for rows.Next() {
		if len(r.Rows) == maxResult {
			return nil, field.New("QUERY", "returns more than %s; add a limit", unit.Plural(maxResult, "row"))
		}
		row, to := make([]any, len(r.Columns)), make([]any, len(r.Columns))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		for i := range row {
			if b, ok := row[i].([]byte); ok {
				row[i] = string(b)
			}
		}
		r.Rows = append(r.Rows, row)
	}
	if err := rows.Err(); err != nil {
		return nil, d.refused(err, words)
	}
	return r, nil
}

// first returns the beginning of a query.
func first(text string) string {
	text = strings.TrimSpace(text)
	return text[:min(len(text), 40)]
}

// load copies a table into the database.
func (t *Table) load(ctx context.Context, db *sql.DB) error {
	var columns, places []string
	for i, c := range t.Columns {
		kind := "text"
		switch t.kinds[i] {
		case parquet.Boolean, parquet.Int32, parquet.Int64:
			kind = "integer"
		case parquet.Float, parquet.Double:
			kind = "real"
		}
		columns, places = append(columns, quoted(c)+" "+kind), append(places, "?")
	}
	if _, err := db.ExecContext(ctx, "create table "+quoted(t.Name)+" ("+strings.Join(columns, ", ")+")"); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // no effect after a commit
	insert, err := tx.PrepareContext(ctx, "insert into "+quoted(t.Name)+" values ("+strings.Join(places, ", ")+")")
	if err != nil {
		return err
	}
	if err := t.open(func(f *parquet.File) error { return t.copy(ctx, f, insert) }); err != nil {
		return err
	}
	return tx.Commit()
}

// batch is the number of rows that are read at a time.
const batch = 512

// copy inserts the rows of a file.
func (t *Table) copy(ctx context.Context, f *parquet.File, insert *sql.Stmt) error {
	buf, values := make([]parquet.Row, batch), make([]any, len(t.Columns))
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		for {
			n, err := rows.ReadRows(buf)
			for _, row := range buf[:n] {
				for _, v := range row {
					values[v.Column()] = goValue(v)
				}
				if _, err := insert.ExecContext(ctx, values...); err != nil {
					return errors.Join(err, rows.Close())
				}
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return errors.Join(input.Fault(fmt.Errorf("%s is damaged: %w", t.path, err)), rows.Close())
			}
		}
		if err := rows.Close(); err != nil {
			return err
		}
	}
	return nil
}

// goValue returns a cell as the database takes it.
func goValue(v parquet.Value) any {
	switch {
	case v.IsNull():
		return nil
	case v.Kind() == parquet.Boolean:
		return v.Boolean()
	case v.Kind() == parquet.Int32:
		return int64(v.Int32())
	case v.Kind() == parquet.Int64:
		return v.Int64()
	case v.Kind() == parquet.Float:
		return float64(v.Float())
	case v.Kind() == parquet.Double:
		return v.Double()
	}
	return v.String()
}

// missing matches the database's messages about unknown names.
var (
	noTable  = regexp.MustCompile(`no such table: (?:main\.)?(.+?)(?: \(\d+\))?$`)
	noColumn = regexp.MustCompile(`no such column: (?:\w+\.)?(.+?)(?: \(\d+\))?$`)
	syntax   = regexp.MustCompile(`(near ".*": syntax error|incomplete input|unrecognized token: ".*")`)
)

// refused returns the database's error as one of the query, which has these words.
func (d *Dir) refused(err error, words []string) error {
	text := err.Error()
	if m := noTable.FindStringSubmatch(text); m != nil {
		var names []string
		for _, t := range d.Tables {
			names = append(names, t.Name)
		}
		return field.Choice("QUERY", m[1], names, "unknown table %q", m[1])
	}
	if m := noColumn.FindStringSubmatch(text); m != nil {
		var names, others []string // columns of the query's tables, other tables that have this one
		for _, t := range d.Tables {
			switch {
			case slices.Contains(words, t.Name):
				names = append(names, t.Columns...)
			case slices.Contains(t.Columns, m[1]):
				others = append(others, t.Name)
			}
		}
		slices.Sort(names)
		names = slices.Compact(names)
		if len(others) > 0 {
			return field.New("QUERY", "unknown column %q, which other tables have: %s; accepted: %s", m[1],
				strings.Join(others, ", "), strings.Join(names, ", "))
		}
		return field.Choice("QUERY", m[1], names, "unknown column %q", m[1])
	}
	if m := syntax.FindString(text); m != "" {
		return field.New("QUERY", "does not parse: %s", m)
	}
	if of := (*sqlite.Error)(nil); errors.As(err, &of) {
		return field.New("QUERY", "%s", strings.TrimPrefix(text, "SQL logic error: "))
	}
	return err
}
