package main

import (
	_ "embed"
	"maps"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/reference"
	"railyard/internal/scenario"
)

type schemaCmd struct {
	Command []string `arg:"" optional:"" help:"Command whose --json output is described (scenario files)" placeholder:"COMMAND"`
}

func (c *schemaCmd) Help() string {
	return `Prints the JSON Schema of scenario files, or of the output that a command prints with --json. Later
versions add keys to an output; they do not remove keys or change their types.

Examples:
  railyard schema > scenarios/railyard.schema.json
  railyard schema run
  railyard schema plan memory`
}

// outputs is a JSON Schema with the output of each command as a property. TestOutputs writes it from the Go types.
//
//go:embed outputs.json
var outputs []byte

// Run is the schema command.
func (c *schemaCmd) Run(e *env) error {
	if len(c.Command) == 0 {
		_, err := e.stdout.Write(scenario.Schema())
		return err
	}
	all, err := reference.ReadOutputs(outputs)
	if err != nil {
		return err
	}
	name := strings.Join(c.Command, " ")
	schema := all.Of(name)
	if schema == nil {
		schema = all.Of(name + " run") // the schema of a group whose first command needs no name
	}
	if schema == nil {
		return input.Fault(field.Choice("COMMAND", name, slices.Sorted(maps.Keys(all.Commands)),
			"no command %s with --json", field.Quote(name)).ListedBy("railyard help all"))
	}
	return printJSON(e.stdout, schema)
}
