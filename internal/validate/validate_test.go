package validate

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"railyard/internal/long"
	"railyard/internal/parallel"
)

// TestChecks runs the accuracy report, or what of it takes seconds: no row may disagree with its reference
// without a reason beside it, and docs/validation.md has the rows as they are.
func TestChecks(t *testing.T) {
	lines := documented(t)
	var jobs []parallel.Job
	for _, c := range Checks() {
		name, exact := c.Name, true
		if !long.On() {
			q, ok := c.Quick()
			if exact = !c.Long(); !ok {
				continue
			}
			c = q
		}
		jobs = append(jobs, parallel.Job{Seconds: c.Seconds, MB: c.MB, Do: func() {
			t.Run(c.Name, func(t *testing.T) { checkGroup(t, c, lines[name], exact) })
		}})
	}
	parallel.Run(jobs, runtime.GOMAXPROCS(0), 1024)
}

// checkGroup computes a group's rows; lines are those of the document, of which they may be a part.
func checkGroup(t *testing.T, c Check, lines []string, exact bool) {
	rows, err := c.Run()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		switch r.Verdict() {
		case "FAILS":
			t.Errorf("%s: expected %s (%s), ours %s, %s", r.Claim, r.Expected, r.Source, r.Ours, r.Diff)
		case "differs":
			t.Logf("%s: expected %s, ours %s: %s", r.Claim, r.Expected, r.Ours, r.Name)
		}
		got = append(got, strings.Split(strings.TrimSpace(r.Markdown()), "\n")...)
	}
	for _, why := range (&Group{Rows: rows}).Reasons() {
		got = append(got, strings.TrimSpace(why.Markdown()))
	}
	if len(rows) == 0 {
		t.Error("a group without rows")
	}
	if runtime.GOARCH != "amd64" { // others fuse a multiplication and an addition, and round once
		return
	}
	const stale = "docs/validation.md is stale (railyard validate --markdown docs/validation.md): "
	for _, line := range got {
		if !slices.Contains(lines, line) {
			t.Errorf("%sit lacks\n%s", stale, line)
		}
	}
	if exact && len(got) != len(lines) {
		t.Errorf("%sit has %d lines of this group, now there are %d", stale, len(lines), len(got))
	}
}

// documented reads the lines of the tables and the reasons in docs/validation.md by their headings.
func documented(t *testing.T) map[string][]string {
	b, err := os.ReadFile("../../docs/validation.md")
	if err != nil {
		t.Fatal(err)
	}
	lines, group, skip := map[string][]string{}, "", 0
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "## "); ok {
			group, skip = name, 2 // the table's head
		} else if strings.HasPrefix(line, "|") {
			if skip--; skip < 0 {
				lines[group] = append(lines[group], line)
			}
		} else if strings.HasPrefix(line, "- ") {
			lines[group] = append(lines[group], line)
		}
	}
	return lines
}

// What takes long is known by what was measured, and each long group says what of it does not.
func TestQuick(t *testing.T) {
	all, quick, left := 0., 0., []string{}
	names := map[string]bool{}
	for _, c := range Checks() {
		if names[c.Name] || c.Run == nil {
			t.Errorf("%q: twice, or nothing to run", c.Name)
		}
		names[c.Name] = true
		all += c.Seconds
		q, ok := c.Quick()
		if !ok {
			left = append(left, c.Name)
			continue
		}
		quick += q.Seconds
		if q.Name != c.Name || q.Long() || c.Part != nil && (!c.Long() || q.Seconds >= c.Seconds) {
			t.Errorf("%s takes %g s, its part %g s", c.Name, c.Seconds, q.Seconds)
		}
	}
	if quick > 70 || len(left) > 8 {
		t.Errorf("%.0f of %.0f s, without %v: two processors have 45 s", quick, all, left)
	}
}
