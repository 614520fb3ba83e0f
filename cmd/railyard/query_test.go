package main

import (
	"encoding/csv"
	"os"
	"strings"
	"testing"
)

// TestQuery queries a run and a study as scripts do: tables, CSV, JSON, a table on the screen. An invalid query is
// one line.
func TestQuery(t *testing.T) {
	smallFile(t)
	for _, args := range [][]string{{"run", "small.yaml", "--out", "r"},
		{"sweep", "run", "small.yaml", "--grid", "lb=ecmp,spray", "--out", "s"}} {
		if code, _, errs := call(t, args...); code != exitOK {
			t.Fatal(errs)
		}
	}
	code, out, errs := call(t, "query", "r")
	if code != exitOK || !strings.Contains(out, "flows         3 rows: message, from, to,") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	code, out, errs = call(t, "query", "r", `select "from", bytes, done_ps > posted_ps as ok from flows order by 1`, "--csv")
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if code != exitOK || err != nil || len(rows) != 4 || rows[1][1] != "2000000" || rows[1][2] != "1" {
		t.Errorf("exit %d, %v, %s%s", code, err, out, errs)
	}
	code, out, errs = call(t, "query", "s", "select lb, step_time_ps > 0 as ran from results where point is not null order by lb")
	if code != exitOK || !strings.Contains(out, "ecmp") || !strings.Contains(out, "3 rows") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	for query, want := range map[string]string{"select": "does not parse: incomplete input", "select x from flows": "unknown column"} {
		if code, out, errs := call(t, "query", "r", query); code != exitInput || out != "" || !strings.Contains(errs, want) ||
			strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: exit %d, %s%s", query, code, out, errs)
		}
	}
}

// TestQueryCut queries a run whose summary names a truncated table: each query of that table warns, others do not.
func TestQueryCut(t *testing.T) {
	smallFile(t)
	if code, _, errs := call(t, "run", "small.yaml", "--out", "r"); code != exitOK {
		t.Fatal(errs)
	}
	text, err := os.ReadFile("r/summary.json")
	if err != nil {
		t.Fatal(err)
	}
	cut := strings.Replace(string(text), "{\n", `{"tables_cut": [{"table": "pauses", "rows": 0, "total_rows": 7}],`+"\n", 1)
	if err := os.WriteFile("r/summary.json", []byte(cut), 0o644); err != nil {
		t.Fatal(err)
	}
	const warning = "table pauses holds the first 0 of 7 rows: counts and sums over it are too low"
	for query, want := range map[string]string{"select count(*) as n from pauses": "warning: " + warning,
		"select count(*) as n from flows": ""} {
		for _, format := range []string{"--json", "--csv"} {
			if code, out, errs := call(t, "query", "r", query, format); code != exitOK || out == "" ||
				strings.Join(strings.Fields(errs), " ") != want {
				t.Errorf("%s %s: exit %d, %q, want %q\n%s", query, format, code, errs, want, out)
			}
		}
	}
	if code, out, errs := call(t, "query", "r"); code != exitOK || !strings.Contains(out, "pauses        the first 0 of 7 rows: ") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	if code, out, errs := call(t, "query", "r", "--json"); code != exitOK || !strings.Contains(out, `"total_rows": 7`) {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	if code, out, errs := call(t, "report", "r"); code != exitOK || !strings.Contains(out, "Note: "+warning[:40]) {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
}
