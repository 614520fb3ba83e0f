package report

import (
	"fmt"
	"slices"
	"strings"
)

// Listed is some words, and how many more there are.
func Listed(all []string, most int) string {
	all = slices.Compact(slices.Clone(all))
	if len(all) <= most {
		return strings.Join(all, " ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:most], " "), len(all)-most)
}
