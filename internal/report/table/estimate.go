package table

import (
	"fmt"
	"io"

	"railyard/internal/report"
)

// Least and largest difference of estimated steps from steps that were simulated packet by packet, in percent: the
// group estimates of the validation report.
const (
	leastEstimate   = -7.23
	largestEstimate = 2.96
)

// contention prints that exposed transfers are an estimate, and its known error.
func contention(w io.Writer) {
	const note = "exposed transfers are estimated without contention between parallelisms, which ZeRO 3 with context parallelism has; steps of Llama 2 7B on 32 GPUs are %s to %s off simulated ones (railyard validate); plan search --simulate 3 ranks by simulated steps"
	report.Labelled(w, "note: ", fmt.Sprintf(note, signed(leastEstimate/100), signed(largestEstimate/100)))
}
