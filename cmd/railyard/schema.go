package main

import "railyard/internal/scenario"

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
