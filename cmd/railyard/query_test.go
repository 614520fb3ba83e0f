package main

import (
	"encoding/csv"
	"strings"
	"testing"
)

// TestQuery queries a run and a study as scripts do: tables, CSV, JSON, a table on the screen; a query that cannot be
// is one line.
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
