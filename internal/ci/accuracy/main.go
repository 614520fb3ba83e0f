// Command accuracy simulates cases by packets and as flows, and writes the results as
// internal/fidelity/accuracy.json:
//
//	go run ./internal/ci/accuracy > internal/fidelity/accuracy.json
//
// With words, it simulates only the cases whose names or settings contain one of them:
//
//	go run ./internal/ci/accuracy timely permutation
//
// Settings that do not go together (spraying with HPCC, NDP without trimming) are no cases: each is listed. It exits
// with 1 if a case fails otherwise.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"railyard/internal/fidelity"
	"railyard/internal/field"
)

func main() {
	if err := measure(os.Stdout, os.Stderr, fidelity.Cases(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// measure writes the accuracy of the cases whose names or settings contain one of the words, or of all cases
// without words. The output is a JSON list without repetitions. It reports each error on progress.
func measure(out, progress io.Writer, all []fidelity.Case, words []string) error {
	var lines []string
	var failed []error
	for i, c := range all {
		about := c.Name + " " + strings.Join(c.Sets, " ")
		if len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(about, w) }) {
			continue
		}
		a, err := fidelity.Accurate(c.Name, c.Text, fidelity.Read, c.Sets...)
		if refused := (*field.Error)(nil); errors.As(err, &refused) {
			fmt.Fprintf(progress, "%d of %d: %s: not a case: %v\n", i+1, len(all), about, err)
			continue
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", about, err))
			continue
		}
		line, err := json.Marshal(&a)
		if err != nil {
			return err
		}
		fmt.Fprintf(progress, "%d of %d: %s: %.1f %%\n", i+1, len(all), about, 100*a.Error())
		if !slices.Contains(lines, string(line)) {
			lines = append(lines, string(line))
		}
	}
	_, err := fmt.Fprintf(out, "[\n%s\n]\n", strings.Join(lines, ",\n"))
	return errors.Join(append(failed, err)...)
}
