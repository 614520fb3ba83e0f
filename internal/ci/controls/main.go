// Command controls measures, with packets, the utilisation of a link that several senders share under each
// congestion control. It also measures that of a link that one sender has alone again. It writes both as
// internal/flows/controls.json:
//
//	go run ./internal/ci/controls > internal/flows/controls.json
//
// With names, only of these settings, and as it comes:
//
//	go run ./internal/ci/controls cc.algorithm=swift
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"railyard/cc"
	"railyard/internal/flows"
	"railyard/internal/scenario"
	"railyard/unit"
)

func main() {
	var all []flows.Curve
	settings := os.Args[1:]
	if len(settings) == 0 {
		for _, name := range cc.Names() {
			settings = append(settings, "cc.algorithm="+name)
		}
		for _, name := range scenario.Presets() {
			settings = append(settings, "transport="+name)
		}
	}
	seen := map[string]bool{}
	for _, set := range settings {
		for _, rate := range []unit.Rate{100 * unit.Gbps, 200 * unit.Gbps, 400 * unit.Gbps, 800 * unit.Gbps} {
			for _, n := range []int{2, 3, 4, 8, 16, 32} {
				c, err := flows.Measure(rate, n, strings.Split(set, ",")...)
				if err != nil {
					fmt.Fprintf(os.Stderr, "%s: %v\n", set, err)
					break
				}
				key := fmt.Sprint(c.Control, rate, n)
				if seen[key] {
					continue
				}
				seen[key] = true
				all = append(all, c)
				fmt.Fprintln(os.Stderr, c.Control, rate, n, c.Shared, c.Alone)
			}
		}
	}
	fmt.Print("[\n")
	for i := range all {
		line, err := json.Marshal(&all[i])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		end := ",\n"
		if i == len(all)-1 {
			end = "\n"
		}
		fmt.Printf("%s%s", line, end)
	}
	fmt.Println("]")
}
