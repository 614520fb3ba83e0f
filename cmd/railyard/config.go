package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"railyard/internal/input"
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
	text, err := input.Text(path, cli.MaxSize)
	if err != nil {
		return nil, input.Fault(err)
	}
	c, err := dialect.Parse(path, text, swconf.OS(r.OS))
	if err != nil {
		return nil, input.Fault(err)
	}
	return c, mistaken(path, text, c, r.OS)
}

// mistaken refuses a text of which most is not understood in the language that --os gives.
func mistaken(path string, text []byte, c *swconf.Config, os string) error {
	known := c.Read + c.Passed
	if os == "" || 2*known >= c.Total {
		return nil
	}
	if err := looksLike(path, text, c); err != nil || known > 0 {
		return err
	}
	return input.Fault(fmt.Errorf("%s: is no configuration of %s: none of its %d lines is understood", path,
		dialect.Title(c.OS), c.Total))
}

// looksLike refuses a text that another language understands better.
func looksLike(path string, text []byte, c *swconf.Config) error {
	found, err := dialect.Parse(path, text, "")
	if err != nil || found.OS == c.OS || found.Read <= c.Read {
		return nil
	}
	return input.Fault(fmt.Errorf("%s: looks like %s (%d of its %d lines are understood as that, %d as %s): "+
		"--os %s, or none", path, dialect.Title(found.OS), found.Read, found.Total, c.Read,
		dialect.Title(c.OS), found.OS))
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
	Files []string `arg:"" help:"Configurations of switches and of servers, or folders: of switches, or of one server." placeholder:"FILE"`
	JSON  bool     `help:"Print as JSON."`
}

func (c *configShowCmd) Help() string {
	return `One table per group of ports that are alike: which DSCPs go to which group and queue, how the
queue is scheduled, where ECN marks, what PFC pauses. Of a server (a script with mlnx_qos, nicctl or
bnxt_setupcc.sh, what such tools print, NCCL's variables, or a folder of these) the same by priority.
Of a folder with switches' texts every device.

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
	var part *partlyRead // told behind what was read
	for _, f := range c.Files {
		list, err := c.devices(e, f)
		if err != nil && !errors.As(err, &part) {
			return err
		}
		for _, d := range list {
			if d.host != nil {
				all = append(all, c.host(e, len(all), d.host.File, d.host))
				continue
			}
			s, err := c.show(e, len(all), d.config)
			if err != nil {
				return err
			}
			all = append(all, s)
		}
	}
	if c.JSON {
		if err := printJSON(e.stdout, slices.Clip(all)); err != nil {
			return err
		}
	}
	if part != nil {
		return input.Fault(part)
	}
	return nil
}

// shownDevice is what a file or one of a folder tells of: a server or a switch.
type shownDevice struct {
	host   *swconf.Host
	config *swconf.Config
}

// devices reads a file, or a folder: of switches each, with the servers beside them, and where there are none
// the texts of one server.
func (c *configShowCmd) devices(e *env, path string) ([]shownDevice, error) {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		files, err := configFiles([]string{path})
		if err != nil {
			return nil, err
		}
		hosts, rest, err := hostsAmong(nil, files, c.OS)
		if err != nil || len(rest) == 0 {
			h, err := readHost(path)
			return []shownDevice{{host: h}}, err
		}
		configs, none, err := c.parseAll(rest)
		if len(configs) == 0 {
			h, not := readHost(path)
			if len(hosts) == 0 && (not != nil || h.Read == 0) {
				return nil, err
			}
			return []shownDevice{{host: h}}, not
		}
		tellNone(e.stderr, none)
		var out []shownDevice
		for _, cfg := range configs {
			if cfg.HasQoS() { // routing beside a switch's own text is no device
				out = append(out, shownDevice{config: cfg})
			}
		}
		for _, h := range hosts {
			out = append(out, shownDevice{host: h})
		}
		if len(out) == 0 && err == nil {
			err = input.Fault(fmt.Errorf("%s: only texts of routing, which say nothing of queues", path))
		}
		return out, err
	}
	host, err := hostOf(path, c.OS)
	if err != nil || host != nil {
		return []shownDevice{{host: host}}, err
	}
	cfg, err := c.parse(path)
	return []shownDevice{{config: cfg}}, err
}

// show shows a switch.
func (c *configShowCmd) show(e *env, i int, cfg *swconf.Config) (s shown, err error) {
	spec, notes, err := cfg.Spec(queue.Default())
	if errors.Is(err, swconf.ErrNoQoS) {
		return s, input.Fault(err)
	}
	s = shown{File: cfg.File, Name: cfg.Name(), OS: cfg.OS, Notes: notes, SRv6: cfg.Segments(),
		Hash: cfg.Hash.V, Views: cfg.Views()}
	if err == nil {
		s.Spec = &spec
	} else {
		s.Notes = append(s.Notes, "cannot be simulated: "+err.Error())
	}
	if c.JSON {
		return s, nil
	}
	if i > 0 {
		fmt.Fprintln(e.stdout)
	}
	report.Behaviour(e.stdout, cfg, dialect.Title(cfg.OS))
	for _, n := range s.Notes {
		report.Labelled(e.stdout, "note: ", n)
	}
	return s, nil
}
