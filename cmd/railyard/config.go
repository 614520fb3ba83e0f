package main

import (
	"errors"
	"fmt"

	"railyard/internal/configuration"
	"railyard/internal/devices"
	"railyard/internal/input"
	"railyard/internal/report"
	"railyard/internal/swconf"
	"railyard/internal/swconf/dialect"
)

type configCmd struct {
	Lint   configLintCmd   `cmd:"" help:"Find errors in configurations; list its rules"`
	Show   configShowCmd   `cmd:"" help:"Show classification, scheduling, ECN and PFC per queue"`
	Render configRenderCmd `cmd:"" help:"Write switch and host configurations of a fabric"`
	Dcbx   configDcbxCmd   `cmd:"" help:"Negotiate PFC over LLDP/DCBX between neighbors"`
	Tune   configTuneCmd   `cmd:"" help:"Search ECN, PFC and DCQCN parameters by simulation"`
}

func (c *configCmd) Help() string {
	return `Reads Cisco NX-OS, SONiC config_db.json, FRR, Arista EOS, Cumulus NVUE (commands, YAML, JSON), Dell
Enterprise SONiC and Junos (QFX).

Examples:
  railyard config lint leaf.cfg spine.cfg --fabric scenarios/pod64-llama2-7b.yaml
  railyard config show leaf.cfg
  railyard config render scenarios/pod64-llama2-7b.yaml --os nxos --out configs
  railyard config render scenarios/lab-2x2.yaml --os nvue --out configs/cumulus`
}

// readConfig is the flag of commands that read configurations.
type readConfig struct {
	OS string `help:"Language: nxos, sonic, frr, eos, nvue, dell or junos (detected)" placeholder:"OS" name:"os"`
}

// roceDSCP describes the DSCP of RoCE traffic.
type roceDSCP struct {
	DataDSCP *int `help:"DSCP of RoCE data (the scenario's, or the DSCP that most switches configure as lossless)" name:"data-dscp" placeholder:"N" range:"0,63"`
	CNPDSCP  *int `help:"DSCP of CNPs (the scenario's, or 48)" name:"cnp-dscp" placeholder:"N" range:"0,63"`
}

// dscps returns the flags' DSCPs, else a scenario's (0: there is none), else the usual ones.
func (r roceDSCP) dscps(configs []*swconf.Config, data, cnp int) (int, int, error) {
	if data == 0 && cnp == 0 {
		data, cnp = swconf.UsualDSCPs(configs)
	}
	for _, f := range []struct {
		from *int
		to   *int
	}{{r.DataDSCP, &data}, {r.CNPDSCP, &cnp}} {
		if f.from == nil {
			continue
		}
		*f.to = *f.from
	}
	return data, cnp, nil
}

type configShowCmd struct {
	readConfig
	Files []string `arg:"" help:"Configurations of switches or hosts, or directories" placeholder:"FILE"`
	JSON  bool     `help:"Print as JSON"`
}

func (c *configShowCmd) Help() string {
	return `Prints one table per group of equally configured ports: DSCP, group, queue, scheduling, ECN marking
and PFC. For a host (mlnx_qos, nicctl or bnxt_setupcc.sh scripts, output of these tools, NCCL
variables, or a directory of these) it prints the same by priority.

Examples:
  railyard config show leaf.cfg
  railyard config show node1.sh
  railyard config show config_db.json --json | jq '.[0].views[0].rows'`
}

// Run is the config show command.
func (c *configShowCmd) Run(e *env) error {
	all := []configuration.Shown{}
	var part *configuration.PartlyRead // returned after the parsed part is printed
	for _, f := range c.Files {
		list, none, err := configuration.Devices(f, c.OS)
		if err != nil && !errors.As(err, &part) {
			return err
		}
		report.Ignored(e.stderr, none)
		for _, d := range list {
			s, err := d.Shown()
			if err != nil {
				return input.Fault(err)
			}
			if all = append(all, s); !c.JSON {
				c.print(e, len(all) == 1, d, s.Notes)
			}
		}
	}
	if c.JSON {
		if err := printJSON(e.stdout, all); err != nil {
			return err
		}
	}
	if part != nil {
		return input.Fault(part)
	}
	return nil
}

// print prints a host or a switch, after an empty line unless it is the first.
func (c *configShowCmd) print(e *env, first bool, d configuration.Device, notes []string) {
	if !first {
		fmt.Fprintln(e.stdout)
	}
	if d.Host != nil {
		report.Host(e.stdout, d.Host)
		return
	}
	report.Behaviour(e.stdout, d.Config, dialect.Title(d.Config.OS))
	for _, n := range notes {
		report.Labelled(e.stdout, "note: ", n)
	}
}

// deviceFlags name the devices of switches that run SONiC; the lanes and names of their ports depend on them.
type deviceFlags struct {
	HwSKU   []string `help:"SONiC hardware SKU, by switch, glob or role; railyard models lists them" group:"Devices" placeholder:"[SWITCH=]NAME" name:"hwsku" sep:"none"`
	Profile []string `help:"Hardware profile from the device's own files: port_config.ini, platform.json and hwsku.json, config_db.json" group:"Devices" placeholder:"[SWITCH=]PATH" sep:"none"`
}

// chosen returns the flags' values.
func (f *deviceFlags) chosen() *devices.Choice { return (*devices.Choice)(f) }
