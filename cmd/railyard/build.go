package main

import (
	"fmt"
	"os"
	"strings"

	"railyard/internal/assemble"
	"railyard/internal/output"
)

type buildCmd struct {
	With   []string `help:"Directory of an extension, with a go.mod; repeatable" required:"" placeholder:"DIR" sep:"none"`
	Source string   `help:"Directory of Railyard's source (that at or above the current directory)" placeholder:"DIR"`
	Out    string   `help:"Program to write" default:"railyard-extended" placeholder:"FILE"`
	Force  bool     `help:"Replace an existing program"`
	NoTest bool     `help:"Leave out the conformance tests" name:"no-test"`
}

func (c *buildCmd) Help() string {
	return `Builds Railyard with extensions by the Go tool: congestion controls, path choices, transports, importers,
causes of lost time and remedies that register with package railyard/extend. Their conformance tests run
first. See docs/extend.md.

Examples:
  railyard build --with ./examples/custom-cc
  railyard build --with ./mycc --with ./mypath --source . --out railyard-lab
  ./railyard-extended compare scenarios/three-flows.yaml --set cc.algorithm=dcqcn,vegas`
}

// Run is the build command.
func (c *buildCmd) Run(e *env) error {
	if err := output.Fits(c.Force, c.Out); err != nil {
		return err
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	b, err := assemble.New(c.Source, here, c.With, c.Out)
	if err != nil {
		return err
	}
	defer b.Close()
	if err := b.Open(); err != nil {
		return err
	}
	adds := b.Modules()
	if !c.NoTest {
		fmt.Fprintln(e.stderr, "1 of 2: compile, run the conformance tests")
		if adds, err = b.Check(); err != nil {
			return err
		}
	}
	fmt.Fprintln(e.stderr, "2 of 2: link")
	if err := b.Build(); err != nil {
		return err
	}
	fmt.Fprintln(e.stdout, c.built(adds))
	return nil
}

// built describes the contents of the program, and reports whether its conformance tests ran: then none failed.
func (c *buildCmd) built(adds []string) string {
	tests := "conformance tests passed"
	if c.NoTest {
		tests = "conformance tests not run (--no-test)"
	}
	return fmt.Sprintf("%s: Railyard with %s; %s", c.Out, strings.Join(adds, ", "), tests)
}
