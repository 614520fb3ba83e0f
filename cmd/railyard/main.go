// Command railyard simulates the back-end network of an AI training cluster.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"railyard/cc"
	"railyard/internal/field"
	"railyard/internal/goodput"
	"railyard/internal/input"
	"railyard/internal/ranks"
	"railyard/internal/report"
	"railyard/internal/report/screen"
	"railyard/internal/report/usage"
	"railyard/internal/result"
	"railyard/internal/runner"

	"github.com/alecthomas/kong"
	"golang.org/x/term"
)

type commands struct {
	Init      initCmd      `cmd:"" help:"Write a first scenario from six answers"`
	Run       runCmd       `cmd:"" help:"Simulate a scenario and report where the time went"`
	Compare   compareCmd   `cmd:"" help:"Simulate variants and tabulate the differences"`
	Sweep     sweepCmd     `cmd:"" help:"Simulate thousands of variants and rank them"`
	Worker    workerCmd    `cmd:"" help:"Simulate trials of sweeps on other computers"`
	Report    reportCmd    `cmd:"" help:"Print, plot or export a run"`
	Why       whyCmd       `cmd:"" help:"Explain a run: causes, remedies, and what they save"`
	Serve     serveCmd     `cmd:"" help:"Start the web page"`
	Explain   explainCmd   `cmd:"" help:"Describe any file: its content and the next commands"`
	Topo      topoCmd      `cmd:"" help:"Print tiers, links, ports and failure domains"`
	Import    importCmd    `cmd:"" help:"Convert cabling, traces and job files to a scenario"`
	Query     queryCmd     `cmd:"" help:"Run SQL over the tables of a run or a study"`
	Submit    submitCmd    `cmd:"" help:"Place and run the job of a Slurm batch script"`
	Export    exportCmd    `cmd:"" help:"Write a workload as GOAL, Chakra, htsim or SimAI files"`
	Check     checkCmd     `cmd:"" help:"Validate a scenario and print its effective values"`
	Calibrate calibrateCmd `cmd:"" help:"Fit a scenario to nccl-tests or perftest results"`
	Validate  validateCmd  `cmd:"" help:"Check against closed forms and published results"`
	Bench     benchCmd     `cmd:"" help:"Measure the speed of simulations on this computer"`
	Rdma      rdmaCmd      `cmd:"" help:"Measure real queue pairs over UDP sockets"`
	Pcap      pcapCmd      `cmd:"" help:"Decode a RoCEv2 capture message by message"`
	Plan      planCmd      `cmd:"" help:"Plan GPUs, parallelism, fabrics, failures and goodput"`
	Config    configCmd    `cmd:"" help:"Render, lint, show and tune configurations"`
	Diagnose  diagnoseCmd  `cmd:"" help:"Find faults and congestion in device counters"`
	Lab       labCmd       `cmd:"" help:"Emulate a fabric in Linux namespaces (needs root)"`
	Docs      docsCmd      `cmd:"" help:"Print, serve or write the documentation"`
	Models    modelsCmd    `cmd:"" help:"List known switches, hosts and GPUs with sources"`
	Schema    schemaCmd    `cmd:"" help:"Print the JSON Schema of scenarios or outputs"`
	Build     buildCmd     `cmd:"" help:"Build this program with extensions"`
	Complete  completeCmd  `cmd:"" name:"completion" help:"Print a completion script for bash, zsh or fish"`
	Version   versionCmd   `cmd:"" help:"Print the version"`
}

func main() {
	ranks.FollowParent()
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
}

// Main runs the command line and returns the exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	return (&env{stdout: stdout, stderr: stderr}).main(args)
}

// main runs the command line with the process and the clock of e.
func (e *env) main(args []string) int {
	out := &printer{Writer: e.stdout}
	e.stdout, e.told = out, e.clock()
	code := exitOK
	if !helped(out, args) {
		e.args = e.renamed(usual(args))
		code = execute(e.args, e)
	}
	if out.enough() {
		return exitOK
	}
	if out.err != nil && code != exitInterupt {
		fmt.Fprintf(e.stderr, "error: writing to standard output: %v\n", out.err)
		return exitFailed
	}
	return code
}

// onTerminal reports whether the output is a terminal.
func onTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// maxFault is the maximum number of printed characters of an error.
const maxFault = 1500

// systemCall matches the name of a system call before its path.
var systemCall = regexp.MustCompile(`(^|: )(?:stat|lstat|open|openat|mkdir|rename|unlink|readlink|symlink) ([^:]+: )`)

// complain prints one error, in several lines for people and in one line for programs.
func complain(w io.Writer, fault string, wrapped bool) {
	fault = systemCall.ReplaceAllString(fault, "$1$2")
	if r := []rune(fault); len(r) > maxFault { // values quoted in it may have any length
		fault = fmt.Sprintf("%s … (%d characters more)", string(r[:maxFault]), len(r)-maxFault)
	}
	if wrapped {
		if onTerminal(w) {
			w = &printer{Writer: w}
		}
		l := screen.Of(w)
		label := l.Paint(screen.Error, "error:") + " "
		if what, accepted, ok := strings.Cut(fault, "; accepted: "); ok && len(fault) > l.Width {
			report.Labelled(w, label, what)
			screen.Painted(w, screen.Baseline, "  accepted: ", accepted)
			return
		}
		report.Labelled(w, label, fault)
		return
	}
	fmt.Fprintf(w, "error: %s\n", fault)
}

// usual converts common arguments of other programs to this program's.
func usual(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "--version" || args[0] == "-V":
		return append([]string{"version"}, args[1:]...)
	case args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	}
	return args
}

// helpWords are values inserted into help texts.
var helpWords = kong.Vars{"congestion": strings.Join(cc.Names(), ", "),
	"rates": strings.Join(goodput.SetNames(), ", "), "sequences": sequenceWords()}

// runnable is a command.
type runnable interface{ Run(e *env) error }

// parser is the grammar of the command line, with the parsed values.
type parser struct {
	commands commands
	kong     *kong.Kong
}

// newParser builds a parser, which takes 7 ms.
func newParser() (p *parser, release func()) {
	p = &parser{}
	var err error
	if p.kong, err = kong.New(&p.commands, kong.Name("railyard"), kong.Description(about), helpWords); err != nil {
		panic(err) // the command structs are wrong: our bug
	}
	return p, func() {}
}

// program is the program's name in its output.
func program() string { return "railyard " + runner.Version() }

// execute runs a command.
func execute(args []string, e *env) int {
	stdout, stderr := e.stdout, e.stderr
	build := newParser
	if e.parser != nil {
		build = e.parser
	}
	p, release := build()
	defer release()
	p.kong.Stdout, p.kong.Stderr = stdout, stderr
	ctx, helped, err := usage.Parse(p.kong, args, printHelp)
	if helped && err == nil {
		return exitOK
	}
	if unprinted(e, err) {
		return exitFailed // Main prints it
	}
	if err != nil {
		what, next := usage.Refused(p.kong.Model, ctx, err)
		fmt.Fprintf(stderr, "error: %s\n", what)
		report.Labelled(stderr, "  ", next)
		return exitInput
	}
	if err := usage.CheckFlags(ctx); err != nil {
		complain(stderr, err.Error(), onTerminal(stderr))
		return exitInput
	}
	err = ctx.Selected().Target.Addr().Interface().(runnable).Run(e)
	if unprinted(e, err) {
		return exitFailed
	}
	var exit *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit):
		return exit.code
	case errors.Is(err, context.Canceled): // by Ctrl-C
		if !errors.Is(err, runner.ErrInterrupted) { // the error text is the library's
			err = runner.ErrInterrupted
		}
		fmt.Fprintf(stderr, "%v\n", err)
		return exitInterupt
	}
	for _, line := range strings.Split(err.Error(), "\n") { // one line per error
		complain(stderr, line, onTerminal(stderr))
	}
	if field.All(err) != nil || input.IsFault(err) || errors.Is(err, result.ErrExists) {
		return exitInput
	}
	return exitFailed
}

// unprinted reports whether an error is only that standard output accepts no data.
func unprinted(e *env, err error) bool {
	p, ok := e.stdout.(*printer)
	return ok && err != nil && p.err != nil && strings.Contains(err.Error(), p.err.Error())
}

// env is the outputs of commands, and their process.
type env struct {
	stdout, stderr io.Writer
	args           []string  // arguments as parsed
	told           time.Time // time of the last progress line without a terminal
	doing          string    // name of the current simulation of several
	acknowledge    func()    // prints once that Ctrl-C was noticed (endable)

	// For tests.
	now    func() time.Time                   // clock of progress reports; nil: the system's
	guest  bool                               // the process runs other commands too, and keeps its threads
	parser func() (p *parser, release func()) // nil: newParser
}

// clock returns the time for progress reports.
func (e *env) clock() time.Time {
	if e.now != nil {
		return e.now()
	}
	return time.Now()
}

// threads sets how many processors run Go code, unless the process runs other commands, too.
func (e *env) threads(n int) {
	if !e.guest {
		runtime.GOMAXPROCS(n)
	}
}

// exitError passes on the exit code of a program that was run for the user.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// early marks an error of the input, which ends a command before it prints. A write error is reported after the
// result, which is printed anyway.
func early(err error) error {
	if input.IsFault(err) {
		return err
	}
	return nil
}
