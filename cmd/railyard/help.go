package main

import (
	"fmt"
	"io"

	"railyard/internal/report/usage"

	"github.com/alecthomas/kong"
)

// helpSections lists the commands by the reader's task. Subcommands of config, rdma and lab are listed by their own
// help; TestOutputOfAll checks that no command is missing.
var helpSections = []usage.Section{
	{Title: "Simulate: what a step takes, and why", Commands: [][2]string{
		{"init", "Write a first scenario from six answers"},
		{"run", "Simulate a scenario and report where the time went"},
		{"compare", "Simulate variants and tabulate the differences"},
		{"sweep, worker", "Simulate thousands of variants and rank them"},
		{"why", "Explain a run: causes, remedies, and what they save"},
		{"report, serve", "Print, plot or export a run; start the web page"},
		{"check", "Validate a scenario and print its effective values"}}},
	{Title: "Plan: jobs and fabrics", Commands: [][2]string{
		{"topo", "Print tiers, links, ports and failure domains"},
		{"submit", "Place and run the job of a Slurm batch script"},
		{"plan size, memory", "Estimate GPUs, time and cost; memory per stage"},
		{"plan search, score", "Find the fastest configuration; estimate one"},
		{"plan fit", "Fit a framework to measured trainings"},
		{"plan collective", "Estimate a collective by size and algorithm"},
		{"plan traffic", "Show traffic between GPUs by parallelism"},
		{"plan fabric", "Compare fabric designs: switches, power, cost"},
		{"plan circuits", "Plan optical circuits and their reconfiguration"},
		{"plan load", "Measure latency over offered load"},
		{"plan failures", "Rank single failures by slowdown"},
		{"plan goodput", "Estimate effective time with failures, checkpoints"},
		{"plan interference", "Measure the slowdown of jobs that share links"}}},
	{Title: "Operate: switches, hosts, counters, captures", Commands: [][2]string{
		{"explain", "Describe any file: its content and the next commands"},
		{"config", "Lint, show, render, tune configurations; dcbx"},
		{"diagnose", "Find faults and congestion in device counters"},
		{"pcap", "Decode a RoCEv2 capture message by message"},
		{"calibrate", "Fit a scenario to nccl-tests or perftest results"}}},
	{Title: "Live: real packets on this host", Commands: [][2]string{
		{"rdma", "Measure real queue pairs: perf, allreduce, bench"},
		{"lab", "Emulate a fabric in Linux namespaces: up, fail …"}}},
	{Title: "Data: formats, reference figures, extensions", Commands: [][2]string{
		{"query", "Run SQL over the tables of a run or a study"},
		{"import, export", "Convert cabling and traces (GOAL, Chakra, SimAI)"},
		{"models, validate", "List hardware; check against published results"},
		{"bench", "Measure the speed of simulations next to others"},
		{"build", "Build this program with extensions"},
		{"docs, completion", "Show the documentation; complete lines in a shell"}}},
}

// helpTopics are the topics of help besides commands.
var helpTopics = map[string]string{
	"exit": exitWords(),
	"examples": `Examples
  railyard run scenarios/pod64-llama2-7b.yaml
  railyard run scenarios/pod64-llama2-7b.yaml --set lb=spray --out runs/spray
  railyard compare scenarios/three-flows.yaml --set lb=ecmp,flowlet,spray
  railyard report runs/three-flows-001 --html three-flows.html
  railyard topo scenarios/pod64-llama2-7b.yaml --dot | dot -Tsvg > pod.svg
  railyard plan size llama-3.1-405b --tokens 15.6T --days 54
  railyard import cables.csv --out site.yaml
  railyard rdma allreduce --ranks 8 --bytes 64MiB
  railyard pcap capture.pcapng
  railyard serve
`,
}

const about = `Railyard simulates RoCEv2 fabrics packet by packet: how long a training step takes, what slows it down, ` +
	`and what would fix it.`

// printHelp prints the help of the program, of a group of commands or of a command.
func printHelp(ctx *kong.Context) error {
	usage.Print(ctx, usage.Program{About: about, Sections: helpSections, Notes: []string{
		"Example: railyard run scenarios/pod64-llama2-7b.yaml",
		"More: railyard COMMAND --help, help examples, help exit, help all"}})
	return nil
}

// helped prints a topic of help, or all commands, and reports whether args request that.
func helped(w io.Writer, args []string) bool {
	if len(args) != 2 || args[0] != "help" {
		return false
	}
	if text := helpTopics[args[1]]; text != "" {
		io.WriteString(w, text)
		return true
	}
	if args[1] != "all" {
		return false
	}
	p, release := newParser()
	defer release()
	for _, n := range p.kong.Model.Leaves(true) {
		fmt.Fprintf(w, "%-*s %s\n", usage.NameWidth, n.Path(), n.Help)
	}
	return true
}
