// Package scenariofile reads scenario files from disk or standard input, with the files that they name, and resolves
// them to plans. A fault of the file is marked by input.Fault.
package scenariofile

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/scenario"
	"railyard/internal/swconf/cli"
)

// Plan reads, binds and resolves a scenario file.
func Plan(path string, sets []string, seed *uint64) (*scenario.Plan, error) {
	doc, err := Read(path, sets)
	if err != nil {
		return nil, err
	}
	if seed != nil {
		doc.File.Seed = *seed
	}
	return Resolve(path, doc)
}

// Read reads and binds a scenario file.
func Read(path string, sets []string) (*scenario.Document, error) {
	name, read := path, func() ([]byte, error) { return input.Text(path, scenario.MaxSize) }
	if path == "-" {
		name, read = "standard input", stdin
	}
	text, err := read()
	if err != nil {
		return nil, input.Fault(err)
	}
	doc, err := scenario.Parse(name, text, sets)
	if err != nil {
		if is := Neighbor(name, text); is != "" && !strings.HasSuffix(is, " run "+name) {
			err = fmt.Errorf("%s: not a scenario%s", name, is)
		}
		return nil, input.Fault(err)
	}
	return doc, nil
}

// Resolve builds a document's plan; files it names are relative to it.
func Resolve(path string, doc *scenario.Document) (*scenario.Plan, error) {
	plan, err := doc.Resolve(Beside(path))
	if err != nil {
		return nil, input.Fault(err)
	}
	return plan, nil
}

// MaxSize bounds files that a scenario names: traces are large. Other readers bound theirs themselves.
const MaxSize = 512 << 20

// Beside reads files that a scenario names: relative to it.
func Beside(path string) scenario.ReadFile {
	return func(p string) ([]byte, error) { return input.Text(RelativeTo(path, p), MaxSize) }
}

// Cabled is loadNetwork for commands that use fixed cables: moving circuits are not part of them.
func Cabled(path string, sets []string) (*scenario.Plan, error) {
	plan, err := Network(path, sets)
	if err == nil && len(plan.Dark) > 0 {
		return nil, input.Fault(plan.Refuse("fabric.graph.ocs",
			"reconfigures circuits (schedule), which only the simulator supports; accepted here: an OCS that always connects the same ports"))
	}
	return plan, err
}

// Checked reads and resolves a scenario for commands that do not simulate: a step too large to simulate is a note.
func Checked(path string, sets []string) (*scenario.Plan, error) {
	return whole(path, sets, (*scenario.Document).Checked)
}

// Sums reads and resolves a scenario for commands that add up its bytes.
func Sums(path string, sets []string) (*scenario.Plan, error) {
	return whole(path, sets, (*scenario.Document).Sums)
}

// Network builds the plan of a scenario that may have no workload, and has none in it.
func Network(path string, sets []string) (*scenario.Plan, error) {
	return whole(path, sets, (*scenario.Document).Network)
}

// Servers is Network with what servers have inside.
func Servers(path string, sets []string) (*scenario.Plan, error) {
	return whole(path, sets, (*scenario.Document).Servers)
}

// whole reads a scenario and resolves it in one of its ways.
func whole(path string, sets []string,
	resolve func(*scenario.Document, scenario.ReadFile) (*scenario.Plan, error)) (*scenario.Plan, error) {
	doc, err := Read(path, sets)
	if err != nil {
		return nil, err
	}
	plan, err := resolve(doc, Beside(path))
	if err != nil {
		return nil, input.Fault(err)
	}
	return plan, nil
}

// kept are the keys of a workload that planning on the fabric alone reads.
var kept = []string{"workload.training.efficiency", "workload.training.fold", "workload.training.tp",
	"workload.traffic.collective.kind"}

// Fabric builds the plan of a scenario for its fabric only, without its workload. It refuses overrides of the workload
// that would have no effect.
func Fabric(path string, sets []string) (*scenario.Plan, error) {
	plan, err := whole(path, sets, (*scenario.Document).Fabric)
	for _, s := range sets {
		key, _, _ := strings.Cut(s, "=")
		if err == nil && strings.HasPrefix(key, "workload.") && !slices.Contains(kept, key) {
			return nil, field.New(field.Set(s), "has no effect: the command plans a workload of its own, which its flags set, on the scenario's fabric; railyard run simulates the scenario's")
		}
	}
	return plan, err
}

// ResolveModel is resolve for a document that names a model as given on the command line: relative to the working
// directory, not to the document.
func ResolveModel(path, model string, doc *scenario.Document) (*scenario.Plan, error) {
	plan, err := doc.Resolve(func(p string) ([]byte, error) {
		if p != model {
			p = RelativeTo(path, p)
		}
		return input.Text(p, cli.MaxSize)
	})
	if err != nil {
		return nil, input.Fault(err)
	}
	return plan, nil
}

// stdin is a scenario from standard input, which can be read once.
var stdin = sync.OnceValues(func() ([]byte, error) {
	return io.ReadAll(io.LimitReader(os.Stdin, scenario.MaxSize+1)) // Parse refuses one byte too many
})

func RelativeTo(file, p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(filepath.Dir(file), p)
}

// Slug makes a directory name of a scenario's name.
func Slug(name, path string) string {
	if name == "" && path == "-" {
		name = "stdin"
	} else if name == "" {
		name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	name = strings.TrimLeft(name, ".")
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, name[:min(len(name), 80)])
}
