package main

import (
	"errors"

	"railyard/internal/configuration"
	"railyard/internal/counters"
	"railyard/internal/diagnose"
	"railyard/internal/diagnose/readings"
	"railyard/internal/exec"
	"railyard/internal/fidelity"
	"railyard/internal/field"
	"railyard/internal/gnmi"
	"railyard/internal/importing"
	"railyard/internal/input"
	"railyard/internal/prometheus"
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
	gnmi.Flags
	Live prometheus.Flags `embed:""`
}

func (c *diagnoseCmd) Help() string {
	return `Reads output of show queuing interface, show interface priority-flow-control, show policy-map, show
priority-flow-control counters, show pfc counters, show pfc priority, show queue counters,
COUNTERS_DB, ethtool -S, rdma statistic and show lldp neighbors, with the prompts (leaf1# show ...)
that name the device. Rates need two snapshots: two rounds in one file, before/ and after/, or
--before. date +%s.%N, or show clock of NX-OS and EOS, before each round records
the time.

A finding is proven (an output or configuration states it, and the counters agree), likely (the
counters have hardly another explanation) or possible (they fit another cause as well).

Exit code 1: a fault was found (congestion is not a fault); 2: a file cannot be read.

Examples:
  railyard diagnose leaf1.txt leaf2.txt host-3.txt
  railyard diagnose incident/  # incident/before/, incident/after/
  railyard diagnose after/ --before before/ --cabling cables.csv --config configs/
  railyard diagnose incident/ --fabric scenarios/lab-2x2.yaml  # with a simulation
  railyard diagnose --gnmi leaf1,leaf2,spine1:6030 --gnmi-user admin --gnmi-interval 30s
  railyard diagnose --prometheus http://prometheus:9090 --prometheus-window 10m --cabling cables.csv
  railyard diagnose incident/ --json | jq '.findings[0] | .cause, .device, .port'`
}

// Run is the diagnose command.
func (c *diagnoseCmd) Run(e *env) error {
	in, notes, err := c.snapshots(e)
	if err != nil {
		return err
	}
	in.CNPDSCP = c.CNPDSCP
	if len(c.Cabling) > 0 {
		if in.Cables, _, err = importing.Cabling(c.Cabling, "", false); err != nil {
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
		report.Ignored(e.stderr, none)
		in.Configs = configs
	}
	if c.Fabric != "" {
		if in.Simulated, in.SimTook, err = c.simulated(e, in.After); err != nil {
			return err
		}
	}
	return c.tell(e, in, notes)
}

// simulated runs the scenario and returns the counters of its devices, with the port names of the given ones.
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
	before, after := census.Snapshots(counters.SystemOf(seen))
	for i := range after {
		d, err := counters.Delta(before[i], after[i])
		if err != nil {
			return nil, 0, err
		}
		all, took = append(all, d.Snapshot), after[i].At.Sub(before[i].At)
	}
	return all, took, nil
}

// tell diagnoses and prints.
func (c *diagnoseCmd) tell(e *env, in diagnose.Input, notes []string) error {
	r, err := diagnose.Diagnose(in)
	if err != nil {
		return input.Fault(err)
	}
	r.Notes = append(notes, r.Notes...)
	err = e.show(c.JSON, r, func() { report.Diagnosis(e.stdout, r) })
	if err == nil && r.Faults() > 0 {
		return &exitError{exitFailed}
	}
	return err
}

// deviceMB is the memory in which a device's answers are read.
const deviceMB = 80

// snapshots returns the snapshots of files, of live devices, or of both: outputs of hosts together with queried
// switches.
func (c *diagnoseCmd) snapshots(e *env) (in diagnose.Input, notes []string, err error) {
	if len(c.Files) == 0 && len(c.GNMI) == 0 && c.Live.URL == "" {
		return in, nil, input.Fault(errors.New("nothing to diagnose: name files of outputs, devices with --gnmi, or --prometheus URL"))
	}
	ctx, stop := interruptible()
	defer stop()
	if len(c.Files) > 0 {
		if in, notes, err = readings.Snapshots(c.Before, c.Files); err != nil {
			return in, nil, err
		}
	}
	if len(c.GNMI) > 0 {
		defer collect(deviceMB * min(len(c.GNMI), 10))() // a hostile device sends faster than garbage is noticed
		live, more, err := c.Read(ctx, e.stderr)
		if err != nil {
			return in, nil, err
		}
		if in.Before != nil {
			in.Before = append(in.Before, live...)
		}
		in.After, notes = append(in.After, live...), append(notes, more...)
	}
	if c.Live.URL != "" {
		was, is, more, err := c.Live.Read(ctx)
		if err != nil {
			return in, nil, err
		}
		in.Before, in.After = append(in.Before, was...), append(in.After, is...)
		notes = append(notes, more...)
	}
	return in, notes, nil
}
