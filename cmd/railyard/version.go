package main

import (
	"fmt"
	"runtime"

	"railyard/internal/runner"
	"railyard/internal/scenario"
)

type versionCmd struct {
	JSON bool `help:"Print as JSON"`
}

// Run is the version command.
func (c *versionCmd) Run(e *env) error {
	if c.JSON {
		return printJSON(e.stdout, map[string]string{
			"version": runner.Version(),
			"go":      runtime.Version(),
			"os":      runtime.GOOS,
			"arch":    runtime.GOARCH,
		})
	}
	_, err := fmt.Fprintf(e.stdout, "railyard %s (%s, %s/%s)\n", runner.Version(), runtime.Version(), runtime.GOOS,
		runtime.GOARCH)
	return err
}

type schemaCmd struct{}

func (c *schemaCmd) Help() string {
	return `Example:
  railyard schema > scenarios/railyard.schema.json`
}

// Run is the schema command.
func (c *schemaCmd) Run(e *env) error {
	_, err := e.stdout.Write(scenario.Schema())
	return err
}
