package query

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// row is a row of the table that tests query.
type row struct {
	Name  string   `parquet:"name"`
	Bytes int64    `parquet:"bytes"`
	Port  int32    `parquet:"port"`
	Share *float64 `parquet:"share,optional"`
	Up    bool     `parquet:"up"`
}

// dir returns a directory with three tables.
func dir(t *testing.T) *Dir {
	t.Helper()
	path, half := t.TempDir(), 0.5
	rows := []row{{"a → b", 9_007_199_254_740_993, 1, &half, true}, {`quote " and, comma`, -3, 2, nil, false}}
	if err := parquet.WriteFile(filepath.Join(path, "flows.parquet"), rows); err != nil {
		t.Fatal(err)
	}
	many := make([]row, 3*batch+7)
	for i := range many {
		many[i] = row{Name: "n", Bytes: int64(i), Port: int32(i % 3)}
	}
	if err := parquet.WriteFile(filepath.Join(path, "ports.parquet"), many); err != nil {
		t.Fatal(err)
	}
	rate := []struct {
		Rate int64 `parquet:"rate_bps"`
	}{{1}}
	if err := parquet.WriteFile(filepath.Join(path, "rates.parquet"), rate); err != nil {
		t.Fatal(err)
	}
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestSelect compares results as CSV and JSON; integers are exact beyond 2^53.
func TestSelect(t *testing.T) {
	d := dir(t)
	for q, want := range map[string]string{
		"select name, bytes, share, up from flows order by port": "name,bytes,share,up\na → b,9007199254740993,0.5,1\n" +
			"\"quote \"\" and, comma\",-3,,0\n",
		"SELECT count(*) AS n, sum(bytes) FROM ports": "n,sum(bytes)\n1543,1189653\n",
		"with x as (select port, max(bytes) as m from ports group by 1) select f.name, x.m from flows f join x using (port)": "" +
			"name,m\na → b,1540\n\"quote \"\" and, comma\",1541\n",
		"select name from flows where bytes > 1e30": "name\n",
	} {
		r, err := d.Select(context.Background(), q)
		if err != nil {
			t.Errorf("%s: %v", q, err)
			continue
		}
		var text strings.Builder
		if err := WriteCSV(&text, r); err != nil || text.String() != want {
			t.Errorf("%s: %v\n%s", q, err, &text)
		}
		back, err := csv.NewReader(strings.NewReader(text.String())).ReadAll()
		if err != nil || len(back) != len(r.Rows)+1 {
			t.Errorf("%s: %d rows, %v", q, len(back), err)
		}
		text.Reset()
		var objects []map[string]any
		if err := WriteJSON(&text, r); err != nil || json.Unmarshal([]byte(text.String()), &objects) != nil ||
			len(objects) != len(r.Rows) {
			t.Errorf("%s: %v\n%s", q, err, &text)
		}
	}
}

// TestRefused checks that a query that cannot be is one error, and changes nothing.
func TestRefused(t *testing.T) {
	d := dir(t)
	for q, want := range map[string]string{
		"":                                       "is not a query; it begins with select or with",
		"drop table flows":                       "is not a query",
		"attach 'x.db' as y":                     "is not a query",
		"selec name from flows":                  "is not a query",
		"select name fro flows":                  `does not parse: near "flows": syntax error`,
		"select name from flows where":           "does not parse: incomplete input",
		"select 'open from flows":                "does not parse: unrecognized token",
		"select name from flow":                  `unknown table "flow" (did you mean "flows"?)`,
		"select nam from flows":                  `unknown column "nam" (did you mean "name"?)`,
		"select rate_bps from flows":             `unknown column "rate_bps", which other tables have: rates; accepted: `,
		"select nosuch(name) from flows":         "no such function: nosuch",
		"select 1; drop table flows":             "has more than one statement",
		"with x as (select 1) delete from flows": "readonly",
	} {
		_, err := d.Select(context.Background(), q)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "QUERY: ") {
			t.Errorf("%q: %v, want %s", q, err, want)
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := d.Select(ended, "select * from ports"); err == nil {
		t.Error("a cancelled query returns a result")
	}
}

// TestDamaged checks that a directory without tables, and a table that is cut or no table, are one error each.
func TestDamaged(t *testing.T) {
	empty := t.TempDir()
	if _, err := Open(empty); err == nil || !strings.Contains(err.Error(), "contains no table") {
		t.Error(err)
	}
	if _, err := Open(filepath.Join(empty, "nowhere")); err == nil || !strings.Contains(err.Error(), "is not a run directory") {
		t.Error(err)
	}
	d := dir(t)
	file := filepath.Join(d.Path, "flows.parquet")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(whole); n += 17 {
		damaged := append([]byte{}, whole...)
		damaged[n] ^= 0x5a
		for _, text := range [][]byte{whole[:n], damaged} {
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
			again, err := Open(d.Path)
			if err == nil {
				_, err = again.Select(context.Background(), "select * from flows")
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("byte %d: %v", n, err)
			}
		}
	}
}

// TestWhole writes integers that a study keeps as real numbers without rounding, and an infinity as JSON takes it.
func TestWhole(t *testing.T) {
	r, err := dir(t).Select(context.Background(), "select 1513379980.0 as a, 9e999 as b, 0.12345 as c, ';' as d; -- end")
	if err != nil {
		t.Fatal(err)
	}
	var table, text, list strings.Builder
	Print(&table, r)
	if err := errors.Join(WriteCSV(&text, r), WriteJSON(&list, r)); err != nil {
		t.Fatal(err)
	}
	if text.String() != "a,b,c,d\n1513379980,+Inf,0.12345,;\n" {
		t.Errorf("%s", &text)
	}
	if list.String() != "[\n  {\"a\": 1513379980, \"b\": null, \"c\": 0.12345, \"d\": \";\"}\n]\n" {
		t.Errorf("%s", &list)
	}
	if !strings.Contains(table.String(), "1513379980  ") || !strings.Contains(table.String(), "0.123  ") {
		t.Errorf("%s", &table)
	}
}

// TestSeveral refuses a query of several statements, whose first results would be lost.
func TestSeveral(t *testing.T) {
	for _, q := range []string{"select 1; select 2", "select ';' ;; -- x\nselect 2", "select 1 /* ; */; ;values (3)"} {
		if _, err := dir(t).Select(context.Background(), q); err == nil || !strings.Contains(err.Error(), "more than one statement") {
			t.Errorf("%s: %v", q, err)
		}
	}
}
