package query

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"railyard/internal/report/screen"
	"railyard/unit"
)

// WriteCSV writes a result with a header; an empty field is no value.
func WriteCSV(w io.Writer, r *Result) error {
	c := csv.NewWriter(w)
	if err := c.Write(r.Columns); err != nil {
		return err
	}
	cells := make([]string, len(r.Columns))
	for _, row := range r.Rows {
		for i, v := range row {
			cells[i] = exact(v)
		}
		if err := c.Write(cells); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// exact formats a value without rounding.
func exact(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		if whole(v) {
			return strconv.FormatFloat(v, 'f', 0, 64)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// whole reports whether a number is an integer that it holds exactly, as results of a study are.
func whole(x float64) bool { return x == math.Trunc(x) && math.Abs(x) <= 1<<53 }

// WriteJSON writes a result as a list of objects whose keys keep the order of the columns; an infinity
// is null.
func WriteJSON(w io.Writer, r *Result) error {
	if _, err := io.WriteString(w, "["); err != nil {
		return err
	}
	for n, row := range r.Rows {
		line := ",\n  {"
		if n == 0 {
			line = "\n  {"
		}
		for i, v := range row {
			name, err := json.Marshal(r.Columns[i])
			if err != nil {
				return err
			}
			if x, ok := v.(float64); ok && (math.IsInf(x, 0) || math.IsNaN(x)) {
				v = nil // JSON has no infinity
			}
			value, err := json.Marshal(v)
			if err != nil {
				return err
			}
			if i > 0 {
				line += ", "
			}
			line += string(name) + ": " + string(value)
		}
		if _, err := io.WriteString(w, line+"}"); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "\n]\n")
	return err
}

// mostPrinted is the number of rows that Print prints.
const mostPrinted = 50

// Print prints the first rows of a result as a table.
func Print(w io.Writer, r *Result) {
	t := screen.Table{}
	for i, c := range r.Columns {
		left := len(r.Rows) > 0
		for _, row := range r.Rows[:min(len(r.Rows), mostPrinted)] {
			if _, text := row[i].(string); !text && row[i] != nil {
				left = false
			}
		}
		t.Columns = append(t.Columns, screen.Column{Head: c, Left: left})
	}
	for _, row := range r.Rows[:min(len(r.Rows), mostPrinted)] {
		var cells []string
		for _, v := range row {
			cell := exact(v)
			if v == nil {
				cell = unit.NotApplicable
			}
			if x, ok := v.(float64); ok && !whole(x) {
				cell = unit.Digits(x)
			}
			cells = append(cells, cell)
		}
		t.Add(cells...)
	}
	t.Print(w)
	if n := len(r.Rows); n > mostPrinted {
		fmt.Fprintf(w, "%s, the first %d printed; all: --csv or --json\n", unit.Plural(n, "row"), mostPrinted)
	} else {
		fmt.Fprintln(w, unit.Plural(n, "row"))
	}
}

// PrintTables prints the tables of a directory with their columns.
func PrintTables(w io.Writer, d *Dir) {
	for _, t := range d.Tables {
		text := ""
		for i, c := range t.Columns {
			if i > 0 {
				text += ", "
			}
			text += c
		}
		rows := unit.Plural(t.Rows, "row")
		if t.Cut != nil && t.Cut.Total > 0 {
			rows = fmt.Sprintf("the first %s of %s", unit.ShowCount(t.Rows), unit.Plural(t.Cut.Total, "row"))
		} else if t.Cut != nil {
			rows = "the first " + rows
		}
		screen.Labelled(w, fmt.Sprintf("%-13s ", t.Name), rows+": "+text)
	}
}
