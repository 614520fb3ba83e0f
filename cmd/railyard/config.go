package main

import (
	"errors"
	"fmt"
	"slices"

	"railyard/internal/queue"
	"railyard/internal/report"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/internal/swconf/dialect"
)

type configCmd struct {
	Lint   configLintCmd   `cmd:"" help:"Find what is wrong in switch configurations."`
	Show   configShowCmd   `cmd:"" help:"Show what a switch will do with packets, whatever the syntax."`
	Render configRenderCmd `cmd:"" help:"Write the configuration of every switch of a fabric, and its plans."`
	Dcbx   configDcbxCmd   `cmd:"" help:"Play the LLDP/DCBX exchange between neighbours."`
	Rules  configRulesCmd  `cmd:"" help:"What lint checks: a page for each rule, with a bad and a good example."`
	Tune   configTuneCmd   `cmd:"" help:"Search ECN, PFC and DCQCN parameters with simulations as the judge."`
}

func (c *configCmd) Help() string {
	return `Reads Cisco NX-OS, SONiC config_db.json, FRR, Arista EOS, Cumulus NVUE (commands, YAML, JSON),
Dell Enterprise SONiC and Junos (QFX).

Examples:
  railyard config lint leaf.cfg spine.cfg --fabric scenarios/pod64-llama2-7b.yaml
  railyard config show leaf.cfg
  railyard config render scenarios/pod64-llama2-7b.yaml --os nxos --out configs
  railyard config render scenarios/lab-2x2.yaml --os nvue --out configs/cumulus`
}

// readConfig is the flag of commands that read configurations.
type readConfig struct {
	OS string `help:"The configuration language: nxos, sonic, frr, eos, nvue, dell or junos; found out unless given." placeholder:"OS" name:"os"`
}

// parse reads one configuration file.
func (r readConfig) parse(path string) (*swconf.Config, error) {
	text, err := readBounded(path, cli.MaxSize)
	if err != nil {
		return nil, &inputError{err}
	}
	c, err := dialect.Parse(path, text, swconf.OS(r.OS))
	if err != nil {
		return nil, &inputError{err}
	}
	return c, nil
}

// roceDSCP says how RoCE traffic is marked.
type roceDSCP struct {
	DataDSCP *int `help:"DSCP of RoCE data; the scenario's, else 24 or 26, whichever is lossless at most switches, else another that is." name:"data-dscp" placeholder:"N" range:"0,63"`
	CNPDSCP  *int `help:"DSCP of CNPs; the scenario's, else 48." name:"cnp-dscp" placeholder:"N" range:"0,63"`
}

// dscps are the flags', else a scenario's (0: there is none), else the usual ones.
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
	Files []string `arg:"" help:"Configurations of switches and of servers; a folder is one server's." placeholder:"FILE"`
	JSON  bool     `help:"Print as JSON."`
}

func (c *configShowCmd) Help() string {
	return `One table per group of ports that are alike: which DSCPs go to which group and queue, how the
queue is scheduled, where ECN marks, what PFC pauses. Of a server (a script with mlnx_qos, nicctl or
bnxt_setupcc.sh, what such tools print, NCCL's variables, or a folder of these) the same by priority.

Examples:
  railyard config show leaf.cfg
  railyard config show node1.sh
  railyard config show config_db.json --json | jq '.[0].views[0].rows'`
}

// shown is one file's part of the JSON.
type shown struct {
	File  string        `json:"file"`
	Name  string        `json:"name"`
	OS    swconf.OS     `json:"os"`
	Spec  *queue.Spec   `json:"spec,omitempty"`
	Notes []string      `json:"notes,omitempty"`
	SRv6  string        `json:"srv6,omitempty"`
	Hash  string        `json:"ecmp_hash,omitempty"`
	Views []swconf.View `json:"views"`
	Host  *shownHost    `json:"host,omitempty"`
}

// Run is the config show command.
func (c *configShowCmd) Run(e *env) error {
	var all []shown
	for i, f := range c.Files {
		host, err := hostOf(f, c.OS)
		if err != nil {
			return err
		}
		if host != nil {
			all = append(all, c.host(e, i, f, host))
			continue
		}
		cfg, err := c.parse(f)
		if err != nil {
			return err
		}
		spec, notes, err := cfg.Spec(queue.Default())
		if errors.Is(err, swconf.ErrNoQoS) {
			return &inputError{err}
		}
		s := shown{File: f, Name: cfg.Name(), OS: cfg.OS, Notes: notes, SRv6: cfg.Segments(),
			Hash: cfg.Hash.V, Views: cfg.Views()}
		if err == nil {
			s.Spec = &spec
		} else {
			s.Notes = append(s.Notes, "cannot be simulated: "+err.Error())
		}
		all = append(all, s)
		if c.JSON {
			continue
		}
		if i > 0 {
			fmt.Fprintln(e.stdout)
		}
		report.Behaviour(e.stdout, cfg, dialect.Title(cfg.OS))
		for _, n := range s.Notes {
			report.Labelled(e.stdout, "note: ", n)
		}
	}
	if c.JSON {
		return printJSON(e.stdout, slices.Clip(all))
	}
	return nil
}
