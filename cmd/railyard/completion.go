package main

import (
	"fmt"

	"railyard/internal/completion"
	"railyard/internal/report/usage"
)

type completeCmd struct {
	Shell string   `arg:"" help:"bash, zsh or fish; words prints the words that complete a line" enum:"bash,zsh,fish,words" placeholder:"SHELL"`
	Line  []string `arg:"" optional:"" help:"With words: the words of the line, the last one incomplete" placeholder:"WORD"`
}

func (c *completeCmd) Help() string {
	return `Prints a script for a shell. It completes commands, flags, values, scenario keys after --set, models, runs
and the ports of a scenario.

Examples:
  railyard completion bash > /etc/bash_completion.d/railyard
  railyard completion zsh > ~/.zfunc/_railyard
  railyard completion fish > ~/.config/fish/completions/railyard.fish`
}

// Run is the completion command.
func (c *completeCmd) Run(e *env) error {
	if text := completion.Script(c.Shell); len(text) > 0 {
		_, err := e.stdout.Write(text)
		return err
	}
	if len(c.Line) == 0 {
		c.Line = []string{""}
	}
	p, release := newParser()
	defer release()
	for _, w := range usage.Complete(p.kong.Model.Node, c.Line, completion.Values(pageNames)) {
		if _, err := fmt.Fprintln(e.stdout, w); err != nil {
			return err
		}
	}
	return nil
}

// pageNames lists the pages of the documentation.
func pageNames() (names []string) {
	pages, err := documentation()
	if err != nil {
		return nil
	}
	for _, p := range pages.Pages() {
		names = append(names, p.Path)
	}
	return names
}
