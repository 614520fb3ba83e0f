package main

import (
	"fmt"
	"io"
	"os"

	"railyard/internal/draft"
	"railyard/internal/output"
	"railyard/internal/report"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
)

type initCmd struct {
	File   string `arg:"" optional:"" help:"Scenario file to write; - writes to standard output (scenario.yaml)" placeholder:"SCENARIO"`
	GPUs   string `help:"GPUs in total (64)" name:"gpus" placeholder:"N"`
	Server string `help:"Server; railyard models lists them (dgx-h100)" placeholder:"MODEL"`
	Fabric string `help:"rail, rail-only or fat-tree (rail)" placeholder:"KIND"`
	Over   string `help:"Oversubscription of leaf switches (1)" name:"oversubscription" placeholder:"RATIO"`
	Work   string `help:"Model to train, or all-reduce, all-to-all, incast, permutation (llama-2-7b)" name:"workload" placeholder:"NAME"`
	LB     string `help:"Load balancing: ecmp, flowlet, dlb, spray, spray-least (ecmp)" name:"lb" placeholder:"NAME"`
	Force  bool   `help:"Replace an existing file"`
}

func (c *initCmd) Help() string {
	return `On a terminal it prompts for what no flag sets; elsewhere it takes the defaults. The scenario has a
comment for each block and runs without further edits.

Examples:
  railyard init
  railyard init pod.yaml --gpus 128 --server dgx-b200 --workload llama-3.1-8b --lb spray
  railyard init - --workload all-to-all | railyard run -`
}

// Run is the init command.
func (c *initCmd) Run(e *env) error {
	if c.File == "" {
		c.File = "scenario.yaml"
	}
	a := draft.Answers{GPUs: c.GPUs, Server: c.Server, Fabric: c.Fabric, Oversubscription: c.Over, Workload: c.Work,
		LB: c.LB}
	if onTerminal(os.Stdin) && onTerminal(e.stderr) {
		if err := a.Ask(os.Stdin, e.stderr); err != nil {
			return err
		}
	} else if redirected(os.Stdin) && !a.Complete() {
		fmt.Fprintln(e.stderr, "note: standard input is not a terminal: no answers are read from it; set them with flags")
	}
	if err := a.Defaults(); err != nil {
		return err
	}
	name := scenariofile.Slug("", c.File)
	text, err := a.Scenario(name)
	if err != nil {
		return err
	}
	doc, err := scenario.Parse(c.File, []byte(text), nil)
	if err != nil {
		return err
	}
	if _, err := doc.Resolve(nil); err != nil { // as run does
		return err
	}
	if a.Missed != "" {
		report.Labelled(e.stderr, "note: ", "--oversubscription: "+a.Missed)
	}
	if c.File == "-" {
		_, err := io.WriteString(e.stdout, text)
		return err
	}
	if err := output.WriteBytes(c.File, c.Force, []byte(text)); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%s: %s GPUs (%s), %s fabric, %s, %s\n", c.File, a.GPUs, a.Server, a.Fabric, a.Workload, a.LB)
	if a.Rails > 1 {
		report.Labelled(e.stderr, "note: ", fmt.Sprintf("the file has one of %d rails, a GPU of each server's %[1]d: all of them have more operations than a run simulates (workload.training.fold)", a.Rails))
	}
	fmt.Fprintf(e.stdout, "Next: railyard topo %s\n      railyard run %s\n", c.File, c.File)
	return nil
}

// redirected reports whether a file or a pipe replaces the terminal and may contain answers.
func redirected(f *os.File) bool {
	st, err := f.Stat()
	return err == nil && (st.Mode().IsRegular() && st.Size() > 0 || st.Mode()&os.ModeNamedPipe != 0)
}
