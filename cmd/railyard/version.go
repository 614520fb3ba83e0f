package main

import (
	"fmt"
	"runtime"

	"railyard/internal/runner"
)

type versionCmd struct {
	JSON bool `help:"Print as JSON"`
}

// Run is the version command.
func (c *versionCmd) Run(e *env) error {
	if c.JSON {
		return printJSON(e.stdout, versionResult{runtime.GOARCH, runtime.Version(), runtime.GOOS, runner.Version()})
	}
	_, err := fmt.Fprintf(e.stdout, "railyard %s (%s, %s/%s)\n", runner.Version(), runtime.Version(), runtime.GOOS,
		runtime.GOARCH)
	return err
}
