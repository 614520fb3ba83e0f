package main

import (
	"fmt"
	"runtime"
)

type versionCmd struct {
	JSON bool `help:"Print as JSON."`
}

// Run is the version command.
func (c *versionCmd) Run(e *env) error {
	if c.JSON {
		return printJSON(e.stdout, map[string]string{
			"version": version(),
			"go":      runtime.Version(),
			"os":      runtime.GOOS,
			"arch":    runtime.GOARCH,
		})
	}
	_, err := fmt.Fprintf(e.stdout, "railyard %s (%s, %s/%s)\n", version(), runtime.Version(), runtime.GOOS,
		runtime.GOARCH)
	return err
}
