// Package completion has what shells need to complete a command line: a script for each shell, and the values of
// flags and arguments (scenario keys, models, runs, ports of a scenario) for usage.Complete.
package completion

import (
	"embed"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"railyard/internal/model"
	"railyard/internal/reference"
	"railyard/internal/report/usage"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/site"
)

//go:embed railyard.*
var scripts embed.FS

// Script returns the script of a shell, bash, zsh or fish; empty: there is none. Where railyard has no value, the
// shell completes file names.
func Script(shell string) []byte {
	text, _ := scripts.ReadFile("railyard." + shell)
	return text
}

// Values returns a function that lists the values of a flag or an argument. It lists none where a shell completes
// file names. The argument pages lists the pages of the documentation.
func Values(pages func() []string) usage.Values {
	return func(name, holder, last string, before []string) []string {
		switch {
		case name == "set" || name == "grid" || name == "range":
			return settings(last)
		case holder == "MODEL" || name == "model":
			return slices.Concat(model.Names(), model.GPUNames(), site.ModelNames(), site.ServerNames())
		case holder == "RUN" || name == "run":
			return runNames()
		case holder == "PORT" || name == "capture":
			return portNames(before)
		case holder == "PAGE":
			return pages()
		}
		return nil
	}
}

// settings lists scenario keys with =, or the values of the key that is complete.
func settings(last string) (words []string) {
	key, _, complete := strings.Cut(last, "=")
	for _, k := range reference.KeyValues(scenario.Schema()) {
		switch {
		case !complete:
			words = append(words, k.Key+"=")
		case k.Key == key:
			for _, v := range k.Values {
				words = append(words, key+"="+v)
			}
		}
	}
	return words
}

// runNames lists the run directories below runs.
func runNames() (names []string) {
	found, _ := filepath.Glob("runs/*/run.json")
	for _, f := range found {
		names = append(names, filepath.ToSlash(filepath.Dir(f)))
	}
	return names
}

// portNames lists the ports of the scenario that the line names.
func portNames(line []string) (names []string) {
	for _, w := range line {
		if _, err := os.Stat(w); err != nil || !strings.HasSuffix(w, ".yaml") {
			continue
		}
		plan, err := scenariofile.Plan(w, nil, nil)
		if err != nil {
			return nil
		}
		for l := range plan.Graph.Links {
			names = append(names, plan.Graph.End(l, plan.Graph.Links[l].A), plan.Graph.End(l, plan.Graph.Links[l].B))
		}
	}
	return names
}
