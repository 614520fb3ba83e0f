package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"railyard/internal/configuration"
	"railyard/internal/devices"
	"railyard/internal/input"
	"railyard/internal/queue"
	"railyard/internal/report"
	"railyard/internal/swconf"
	"railyard/internal/swconf/dialect"
)

type configCmd struct {
	Lint   configLintCmd   `cmd:"" help:"Find errors in switch and host configurations"`
	Show   configShowCmd   `cmd:"" help:"Show classification, scheduling, ECN and PFC per queue"`
	Render configRenderCmd `cmd:"" help:"Write switch and host configurations of a fabric"`
	Dcbx   configDcbxCmd   `cmd:"" help:"Negotiate PFC over LLDP/DCBX between neighbors"`
	Rules  configRulesCmd  `cmd:"" help:"List the rules of lint, or explain one"`
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

// roceDSCP says how RoCE traffic is marked.
type roceDSCP struct {
	DataDSCP *int `help:"DSCP of RoCE data (the scenario's, or the DSCP that most switches configure as lossless)" name:"data-dscp" placeholder:"N" range:"0,63"`
	CNPDSCP  *int `help:"DSCP of CNPs (the scenario's, or 48)" name:"cnp-dscp" placeholder:"N" range:"0,63"`
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
	var part *configuration.PartlyRead // told behind what was read
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
		files, err := configuration.Files([]string{path})
		if err != nil {
			return nil, err
		}
		hosts, rest, err := configuration.HostsAmong(nil, files, c.OS)
		if err != nil || len(rest) == 0 {
			h, err := configuration.ReadHost(path)
			return []shownDevice{{host: h}}, err
		}
		configs, none, err := configuration.ParseAll(rest, c.OS)
		if len(configs) == 0 {
			h, not := configuration.ReadHost(path)
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
			err = input.Fault(fmt.Errorf("%s: only routing configurations, which contain no queues", path))
		}
		return out, err
	}
	host, err := configuration.Host(path, c.OS)
	if err != nil || host != nil {
		return []shownDevice{{host: host}}, err
	}
	cfg, err := configuration.Parse(path, c.OS)
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

// deviceFlags say what switches are that run SONiC: lanes and names of their ports follow from that.
type deviceFlags struct {
	HwSKU   []string `help:"SONiC hardware SKU, by switch, glob or role; railyard models lists them" group:"Devices" placeholder:"[SWITCH=]NAME" name:"hwsku" sep:"none"`
	Profile []string `help:"Hardware profile from the device's own files: port_config.ini, platform.json and hwsku.json, config_db.json" group:"Devices" placeholder:"[SWITCH=]PATH" sep:"none"`
}

// chosen is what the flags say.
func (f *deviceFlags) chosen() *devices.Choice { return (*devices.Choice)(f) }
