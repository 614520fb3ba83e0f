package table

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestContention compares the known error of estimated steps with the validation report.
func TestContention(t *testing.T) {
	report, err := os.ReadFile("../../../docs/validation.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(string(report), "\n## estimates\n")
	rows, _, _ = strings.Cut(rows, "\n## ")
	least, largest, n := math.Inf(1), math.Inf(-1), 0
	for line := range strings.Lines(rows) {
		cells := strings.Split(line, "|")
		if len(cells) < 6 || !strings.Contains(cells[2], "estimated step") {
			continue
		}
		x, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(cells[5]), " %"), 64)
		if err != nil {
			t.Fatal(err)
		}
		least, largest, n = min(least, x), max(largest, x), n+1
	}
	if n < 10 || least != leastEstimate || largest != largestEstimate {
		t.Errorf("%d rows, %g to %g %%", n, least, largest)
	}
}
