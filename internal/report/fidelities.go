package report

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/report/screen"
	"railyard/internal/result"
)

// byPackets returns the variant with every packet among variants that are one network by several fidelities, else -1.
func byPackets(variants []result.Variant) int {
	exact := -1
	for i, v := range variants {
		if len(v.Runs) == 0 || v.Label != v.Runs[0].Fidelity {
			return -1
		}
		if !approximate(v.Runs[0]) {
			exact = i
		}
	}
	return exact
}

// doubt warns of variants that an approximate fidelity simulated, with their largest expected error.
func doubt(w io.Writer, all []result.Variant) {
	var worst *result.Expected
	n := 0
	var labels []string
	for _, v := range all {
		if len(v.Runs) == 0 {
			continue
		}
		if n++; approximate(v.Runs[0]) {
			labels = append(labels, v.Label)
		}
		if e := v.Runs[0].Expected; e != nil && (worst == nil || e.Worst > worst.Worst) {
			worst = e
		}
	}
	if worst == nil || byPackets(all) >= 0 { // they show the error
		return
	}
	whose := ""
	if len(labels) < n {
		whose = ": " + strings.Join(labels, ", ")
	}
	screen.Painted(w, screen.Warning, "", fmt.Sprintf("Simulated as flows, %s%s. Smaller differences may not be real.", ErrorOf(worst), whose))
}
