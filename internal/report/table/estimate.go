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

// contention prints that exposed transfers are an estimate, and its known error, which is of a dense model: transfers
// between ranks of experts have none.
func contention(w io.Writer, experts bool) {
	const note = "exposed transfers are estimated without contention between parallelisms, which %s; steps of Llama 2 7B on 32 GPUs are %s to %s off simulated ones (railyard validate)%s; plan search --simulate 3 ranks by simulated steps"
	has, more := "ZeRO 3 with context parallelism has", ""
	if experts {
		has = "all-to-alls of experts and ZeRO 3 with context parallelism have"
		more = ", steps of mixtures of experts are not compared"
	}
	report.Labelled(w, "note: ", fmt.Sprintf(note, has, signed(leastEstimate/100), signed(largestEstimate/100), more))
}
