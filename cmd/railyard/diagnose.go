package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"railyard/internal/configuration"
	"railyard/internal/counters"
	"railyard/internal/diagnose"
	"railyard/internal/exec"
	"railyard/internal/fidelity"
	"railyard/internal/field"
	"railyard/internal/importing"
	"railyard/internal/input"
	"railyard/internal/report"
	"railyard/internal/scenariofile"
	"railyard/unit"
)

type diagnoseCmd struct {
	readConfig
	Files   []string `arg:"" optional:"" help:"Output of show commands on switches and hosts: files or directories; before/ and after/ hold two snapshots" placeholder:"FILE"`
	Before  string   `help:"Earlier snapshot of the same devices" placeholder:"FILE"`
	Cabling []string `help:"Cabling, in files that import reads (LLDP in the output); repeatable" placeholder:"FILE" sep:"none"`
	Config  []string `help:"Configurations of switches and hosts (mlnx_qos, cma_roce_tos, NCCL); repeatable" placeholder:"FILE" sep:"none"`
	Fabric  string   `help:"Scenario of the fabric: cabling, and simulated counters to compare" placeholder:"SCENARIO"`
	Set     []string `help:"Override a value of the scenario; repeatable" placeholder:"KEY=VALUE" sep:"none" with:"fabric"`
	CNPDSCP int      `help:"DSCP of CNPs" name:"cnp-dscp" default:"48" placeholder:"N" range:"0,63"`
	JSON    bool     `help:"Print as JSON"`
	liveCounters
}

func (c *diagnoseCmd) Help() string {
	return `Reads output of show queuing interface, show interface priority-flow-control, show policy-map, show
priority-flow-control counters, show pfc counters, show pfc priority, show queue counters,
COUNTERS_DB, ethtool -S, rdma statistic and show lldp neighbors, with the prompts (leaf1# show ...)
that name the device. Rates need two snapshots: two rounds in one file, before/ and after/, or
--before. date +%s.%N before each round records the time.

Exit code 1: a fault was found (congestion is not a fault); 2: a file cannot be read.

Examples:
  railyard diagnose leaf1.txt leaf2.txt host-3.txt
  railyard diagnose incident/  # incident/before/, incident/after/
  railyard diagnose after/ --before before/ --cabling cables.csv --config configs/
  railyard diagnose incident/ --fabric scenarios/lab-2x2.yaml  # with a simulation
  railyard diagnose --gnmi leaf1,leaf2,spine1:6030 --gnmi-user admin --gnmi-interval 30s
  railyard diagnose incident/ --json | jq '.findings[0] | .cause, .device, .port'`
}

// Run is the diagnose command.
func (c *diagnoseCmd) Run(e *env) error {
	in := diagnose.Input{CNPDSCP: c.CNPDSCP}
	var notes []string
	var err error
	if in.Before, in.After, notes, err = c.snapshots(e); err != nil {
		return err
	}
	if len(c.Cabling) > 0 {
		if in.Cables, _, err = importing.Cabling(c.Cabling, ""); err != nil {
			return err
		}
	}
	if len(c.Config) > 0 {
		files, err := configuration.Files(c.Config)
		if err != nil {
			return err
		}
		if in.Hosts, files, err = configuration.HostsAmong(nil, files, c.OS); err != nil {
			return err
		}
		configs, none, err := configuration.ParseAll(files, c.OS)
		if err != nil {
			return err
		}
		tellNone(e.stderr, none)
		in.Configs = configs
	}
	if c.Fabric != "" {
		if in.Simulated, in.SimTook, err = c.simulated(e, in.After); err != nil {
			return err
		}
	}
	return c.tell(e, in, notes)
}

// simulated runs the scenario and returns what its devices count, named as those at hand
// name their ports.
func (c *diagnoseCmd) simulated(e *env, seen []counters.Snapshot) (all []counters.Snapshot, took unit.Time,
	err error) {
	plan, err := scenariofile.Plan(c.Fabric, c.Set, nil)
	if err != nil {
		return nil, 0, err
	}
	limit, err := parseMemory("")
	if err != nil {
		return nil, 0, err
	}
	run, err := e.newRun(plan, limit)
	if err != nil {
		return nil, 0, err
	}
	counted, ok := run.Run.(fidelity.Counter)
	if !ok {
		return nil, 0, field.New("--fabric", "only a simulation of packets has devices that count")
	}
	census := counted.Census()
	if err := watched(run, e, func(watch exec.Observer) error { return run.Go(watch) }); err != nil {
		return nil, 0, err
	}
	before, after := census.Snapshots(systemOf(seen))
	for i := range after {
		d, err := counters.Delta(before[i], after[i])
		if err != nil {
			return nil, 0, err
		}
		all, took = append(all, d.Snapshot), after[i].At.Sub(before[i].At)
	}
	return all, took, nil
}

// systemOf is the system of the switches whose outputs these are: the first that says so.
func systemOf(seen []counters.Snapshot) string {
	for i := range seen {
		if f := counters.Find(seen[i].Format); f != nil && f.System != "" && f.System != "host" {
			return f.System
		}
	}
	return counters.Systems[0]
}

// tell diagnoses and prints.
func (c *diagnoseCmd) tell(e *env, in diagnose.Input, notes []string) error {
	r, err := diagnose.Diagnose(in)
	if err != nil {
		return input.Fault(err)
	}
	r.Notes = append(notes, r.Notes...)
	if c.JSON {
		err = printJSON(e.stdout, r)
	} else {
		report.Diagnosis(e.stdout, r)
	}
	if err == nil && r.Faults() > 0 {
		return &exitError{exitFailed}
	}
	return err
}

// snapshots are those of files, of live devices, or of both: hosts' outputs beside switches
// that are asked.
func (c *diagnoseCmd) snapshots(e *env) (before, after []counters.Snapshot, notes []string, err error) {
	if len(c.Files) == 0 && len(c.GNMI) == 0 {
		return nil, nil, nil, input.Fault(errors.New("nothing to diagnose: name files of outputs, or devices with --gnmi"))
	}
	if len(c.Files) > 0 {
		if before, after, notes, err = c.outputs(); err != nil {
			return nil, nil, nil, err
		}
	}
	if len(c.GNMI) > 0 {
		live, more, err := c.live(e)
		if err != nil {
			return nil, nil, nil, err
		}
		if before != nil {
			before = append(before, live...)
		}
		after, notes = append(after, live...), append(notes, more...)
	}
	return before, after, notes, nil
}

// outputs reads both moments. A folder with before and after, or two arguments of these
// names, says which is which.
func (c *diagnoseCmd) outputs() (before, after []counters.Snapshot, notes []string, err error) {
	var first, second []string
	if c.Before != "" {
		first = []string{c.Before}
	}
	for _, a := range c.Files {
		was, is := filepath.Join(a, "before"), filepath.Join(a, "after")
		switch {
		case folder(was) && folder(is):
			first, second = append(first, was), append(second, is)
		case len(c.Files) == 2 && len(first) == 0 && filepath.Base(a) == "before" && folder(a):
			first = append(first, a)
		default:
			second = append(second, a)
		}
	}
	r := &outputReader{}
	if after, err = r.read(second); err != nil {
		return nil, nil, nil, err
	}
	if first != nil {
		before, err = r.read(first)
	}
	return before, after, r.summary(), err
}

func folder(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// outputReader reads outputs and remembers what was not understood.
type outputReader struct {
	unknown []counters.Unknown
	passed  []string
	total   int
}

// maxOutputs bounds the files of a folder, and all bytes together.
const (
	maxOutputs     = 20_000
	maxOutputBytes = 512 << 20
)

// read reads files, and folders in the order of names. What a folder holds beside outputs
// is passed over; a file that was named must be one.
func (r *outputReader) read(paths []string) (all []counters.Snapshot, err error) {
	for _, p := range paths {
		if !folder(p) {
			s, err := r.file(p)
			if err != nil {
				return nil, input.Fault(err)
			}
			all = append(all, s...)
			continue
		}
		some, err := r.folder(p)
		if err != nil {
			return nil, input.Fault(err)
		}
		all = append(all, some...)
	}
	if len(all) == 0 {
		return nil, input.Fault(fmt.Errorf("%s: contains no output of a switch or a host (accepted: railyard diagnose --help)", strings.Join(paths, ", ")))
	}
	return all, nil
}

func (r *outputReader) folder(dir string) (all []counters.Snapshot, err error) {
	err = input.Walk(dir, maxOutputs, func(path string) error {
		s, err := r.file(path)
		var no *noOutput
		if errors.As(err, &no) {
			r.passed = append(r.passed, err.Error())
			return nil
		}
		all = append(all, s...)
		return err
	})
	return all, err
}

// noOutput is a text that holds no output that is read.
type noOutput struct{ err error }

func (n *noOutput) Error() string { return n.err.Error() }
func (n *noOutput) Unwrap() error { return n.err }

// file reads one text.
func (r *outputReader) file(path string) ([]counters.Snapshot, error) {
	text, err := input.Text(path, counters.MaxSize)
	if err != nil {
		return nil, err
	}
	if r.total += len(text); r.total > maxOutputBytes {
		return nil, fmt.Errorf("%s: with this file there are more than %d MiB to read", path,
			maxOutputBytes>>20)
	}
	s, unknown, err := counters.Read(path, text)
	r.unknown = append(r.unknown, unknown...)
	if err != nil && s == nil {
		var e *field.Error
		if looks := diagnose.Looks(text); looks != "" && errors.As(err, &e) && e.Line == 0 {
			e.Msg += "; it looks like " + looks
		}
		return nil, &noOutput{err}
	}
	return s, err
}

// summary tells in a few lines what was not understood.
func (r *outputReader) summary() (notes []string) {
	const few = 3
	for i, u := range r.unknown {
		if i == few {
			notes = append(notes, fmt.Sprintf("%d more lines were not understood", len(r.unknown)-few))
			break
		}
		notes = append(notes, fmt.Sprintf("%s:%d: %s: %s", u.File, u.Line, u.Why, clipLine(u.Text)))
	}
	slices.Sort(r.passed)
	for i, p := range r.passed {
		if i == few {
			notes = append(notes, fmt.Sprintf("%d more files hold no output that is read", len(r.passed)-few))
			break
		}
		notes = append(notes, "ignored: "+p)
	}
	return notes
}

// clipLine is a line as far as it is needed to find it.
func clipLine(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "..."
	}
	return s
}
