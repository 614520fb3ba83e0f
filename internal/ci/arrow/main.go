// Command arrow reads all tables of a run directory with Apache Arrow's Parquet reader and compares each value with
// what railyard query prints. The two readers share no code. It is a separate module, so that other programs do not
// need Arrow.
//
//	cd internal/ci/arrow && go run . /path/to/railyard /path/to/run
package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: arrow RAILYARD RUN")
	}
	tables, err := filepath.Glob(filepath.Join(os.Args[2], "*.parquet"))
	if err != nil || len(tables) < 10 {
		log.Fatalf("%s has %d tables, expected 10 or more (%v)", os.Args[2], len(tables), err)
	}
	rows, values := 0, 0
	for _, path := range tables {
		theirs, err := read(path)
		if err != nil {
			log.Fatalf("%s: %v", path, err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".parquet")
		ours, err := queried(os.Args[1], os.Args[2], name)
		if err != nil {
			log.Fatalf("%s: %v", name, err)
		}
		n, err := compare(ours, theirs)
		if err != nil {
			log.Fatalf("%s: %v", name, err)
		}
		rows, values = rows+len(theirs)-1, values+n
	}
	fmt.Printf("%d tables, %d rows, %d values read alike by Arrow\n", len(tables), rows, values)
}

// read returns a table's column names and its rows as strings.
func read(path string) (rows [][]string, err error) {
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	t, err := r.ReadTable(context.Background())
	if err != nil {
		return nil, err
	}
	defer t.Release()
	rows = make([][]string, t.NumRows()+1)
	for i := range int(t.NumCols()) {
		rows[0] = append(rows[0], t.Schema().Field(i).Name)
		at := 1
		for _, part := range t.Column(i).Data().Chunks() {
			for n := range part.Len() {
				rows[at] = append(rows[at], text(part, n))
				at++
			}
		}
	}
	return rows, nil
}

// text returns a value as a string; "" for null.
func text(of arrow.Array, n int) string {
	if of.IsNull(n) {
		return ""
	}
	if s, ok := of.(*array.String); ok {
		return s.Value(n)
	}
	return of.ValueStr(n)
}

// queried returns a table as railyard query prints it.
func queried(railyard, run, table string) ([][]string, error) {
	var errs bytes.Buffer
	cmd := exec.Command(railyard, "query", run, "select * from "+table, "--csv")
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, &errs)
	}
	return csv.NewReader(bytes.NewReader(out)).ReadAll()
}

// compare returns the number of equal values, or the first difference.
func compare(ours, theirs [][]string) (n int, err error) {
	if len(ours) != len(theirs) {
		return 0, fmt.Errorf("railyard reads %d rows, Arrow %d", len(ours)-1, len(theirs)-1)
	}
	for r := range ours {
		if len(ours[r]) != len(theirs[r]) {
			return n, fmt.Errorf("row %d: railyard reads %d columns, Arrow %d", r, len(ours[r]), len(theirs[r]))
		}
		for c, x := range ours[r] {
			if y := theirs[r][c]; x != y && !same(x, y) {
				return n, fmt.Errorf("row %d, %s: railyard reads %q, Arrow %q", r, ours[0][c], x, y)
			}
			n++
		}
	}
	return n, nil
}

// same reports whether strings are the same number; SQLite has 0 and 1 for false and true.
func same(x, y string) bool {
	switch y {
	case "true":
		y = "1"
	case "false":
		y = "0"
	}
	a, errA := strconv.ParseFloat(x, 64)
	b, errB := strconv.ParseFloat(y, 64)
	return errA == nil && errB == nil && a == b
}
