// Command accuracy simulates cases by packets and as flows, and writes what came out as
// internal/fidelity/accuracy.json:
//
//	go run ./internal/ci/accuracy > internal/fidelity/accuracy.json
//
// With words, only of the cases whose names or settings contain one of them:
//
//	go run ./internal/ci/accuracy timely permutation
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"railyard/internal/fidelity"
)

func main() {
	var lines []string
	seen := map[string]bool{}
	all := fidelity.Cases()
	for i, c := range all {
		about := c.Name + " " + strings.Join(c.Sets, " ")
		if words := os.Args[1:]; len(words) > 0 &&
			!slices.ContainsFunc(words, func(w string) bool { return strings.Contains(about, w) }) {
			continue
		}
		a, err := fidelity.Accurate(c.Name, c.Text, fidelity.Read, c.Sets...)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%d of %d: %s %v: %v\n", i+1, len(all), c.Name, c.Sets, err)
			continue
		}
		line, err := json.Marshal(&a)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Fprintf(os.Stderr, "%d of %d: %s %v %.1f %%\n", i+1, len(all), line, c.Sets, 100*a.Error())
		if !seen[string(line)] {
			seen[string(line)] = true
			lines = append(lines, string(line))
		}
	}
	fmt.Println("[")
	for i, line := range lines {
		end := ","
		if i == len(lines)-1 {
			end = ""
		}
		fmt.Println(line + end)
	}
	fmt.Println("]")
}
