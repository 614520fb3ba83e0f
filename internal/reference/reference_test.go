package reference

import (
	"reflect"
	"strings"
	"testing"

	"railyard/docs"
	"railyard/internal/cause"
	"railyard/internal/result"
	"railyard/internal/scenario"
)

// TestKeys checks that nested keys, lists and maps of the schema are listed with their values.
func TestKeys(t *testing.T) {
	pages, err := Keys(scenario.Schema())
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, p := range pages {
		all += p.Text
	}
	for _, want := range []string{"| `cc.algorithm` | dcqcn", "| `switch.queues.NAME.wred_min` | between",
		"| `events[].at` |", "| `fabric.cables[].lag` | whole number, 1–64 |", "| `transport.qps` |", "| `lb` | ecmp",
		"| `workload.traffic.flows[].bytes` |"} {
		if !strings.Contains(all, want) {
			t.Errorf("no key %s", want)
		}
	}
	if n := strings.Count(all, "\n| `"); n < 850 {
		t.Errorf("%d keys", n)
	}
}

// TestColumns checks that every column of every table is listed, with a meaning.
func TestColumns(t *testing.T) {
	text := Columns(result.Declared()).Text
	tables := reflect.TypeFor[result.Tables]()
	for i := range tables.NumField() {
		rows := tables.Field(i)
		if rows.Type.Kind() != reflect.Slice {
			continue
		}
		row := rows.Type.Elem()
		for j := range row.NumField() {
			name, _, _ := strings.Cut(row.Field(j).Tag.Get("parquet"), ",")
			if name != "-" && !strings.Contains(text, "| `"+name+"` |") {
				t.Errorf("%s.%s has no row", row.Name(), name)
			}
		}
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "| `") && strings.HasSuffix(line, "|  |\n") {
			t.Errorf("no meaning: %s", line)
		}
	}
}

// TestAccuracy checks that each row of the validation report is counted once.
func TestAccuracy(t *testing.T) {
	report, err := docs.Files.ReadFile("validation.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := comparisons(string(report))
	if want := strings.Count(string(report), "\n| ok |") + strings.Count(string(report), "\n| differs"); len(rows) != want {
		t.Errorf("%d rows of %d", len(rows), want)
	}
	text := Accuracy(string(report)).Text
	for _, want := range []string{"| Measured systems |", "## Other simulators", "Llama 3: interruptions"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	_, measured, _ := strings.Cut(text, "## Measured systems")
	measured, _, _ = strings.Cut(measured, "\n## ")
	for _, not := range []string{"NCCL src/", "topo.h", "PERFORMANCE.md", "Korthikanti"} {
		if strings.Contains(measured, not) {
			t.Errorf("%s is no measurement", not)
		}
	}
	if !oneSided.MatchString("<= 50.00") || oneSided.MatchString("50.00") {
		t.Error("bounds are not told from figures")
	}
}

// TestMessages checks that all causes are listed.
func TestMessages(t *testing.T) {
	text := Messages("Exit codes\n").Text
	for _, c := range cause.All() {
		if !strings.Contains(text, "`"+c.Key+"`") {
			t.Errorf("no cause %s", c.Key)
		}
	}
}
