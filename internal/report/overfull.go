package report

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/result"
)

// overfull names variants whose training is estimated to need more memory than may be filled.
func overfull(w io.Writer, all []result.Variant) {
	var needs []string
	of := map[string][]string{}
	for _, v := range all {
		if v.Over == "" {
			continue
		}
		if of[v.Over] == nil {
			needs = append(needs, v.Over)
		}
		of[v.Over] = append(of[v.Over], v.Label)
	}
	for _, need := range needs {
		Labelled(w, "does not fit: ", fmt.Sprintf("%s: the fullest GPU needs %s", strings.Join(of[need], ", "), need))
	}
}

// isBest names the best variant by a metric, with its drawbacks.
func isBest(v *result.Variant, by string) string {
	text, first := v.Label+" "+by, v.Runs[0]
	if first.IdleGPUs > 0 {
		text += fmt.Sprintf(", on %d of %d GPUs", first.TrainingGPUs, first.TrainingGPUs+first.IdleGPUs)
	}
	if v.Over != "" {
		text += ", which does not fit the GPU memory"
	}
	return text
}
