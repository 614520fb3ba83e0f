package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"railyard/internal/queue"
	"railyard/internal/recognise"
	"railyard/internal/report"
	"railyard/internal/scenario"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/internal/swconf/dialect"
)

type configCmd struct {
	Lint   configLintCmd   `cmd:"" help:"Find what is wrong in switch configurations."`
	Show   configShowCmd   `cmd:"" help:"Show what a switch will do with packets, whatever the syntax."`
	Render configRenderCmd `cmd:"" help:"Write the configuration of every switch of a fabric, and its plans."`
	Dcbx   configDcbxCmd   `cmd:"" help:"Play the LLDP/DCBX exchange between neighbours."`
	Tune   configTuneCmd   `cmd:"" help:"Search ECN, PFC and DCQCN parameters with simulations as the judge."`
}

func (c *configCmd) Help() string {
	return `Reads Cisco NX-OS, SONiC config_db.json, FRR and Arista EOS.

Examples:
  railyard config lint leaf.cfg spine.cfg --fabric scenarios/pod64-llama2-7b.yaml
  railyard config show leaf.cfg
  railyard config render scenarios/pod64-llama2-7b.yaml --os nxos --out configs`
}

// readConfig is the flag of commands that read configurations.
type readConfig struct {
	OS string `help:"The configuration language: nxos, sonic, frr or eos; found out unless given." placeholder:"OS" name:"os"`
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

// parseAll reads configurations side by side; the error is that of the first that has one.
func (r readConfig) parseAll(files []string) ([]*swconf.Config, error) {
	out, errs := make([]*swconf.Config, len(files)), make([]error, len(files))
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(files)); i = next.Add(1) - 1 {
				out[i], errs[i] = r.parse(files[i])
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// roceDSCP says how RoCE traffic is marked.
type roceDSCP struct {
	DataDSCP *int `help:"DSCP of RoCE data; the scenario's, else 24 or 26, whichever is lossless." name:"data-dscp" placeholder:"N" range:"0,63"`
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

// maxConfigs bounds how many files one command reads.
const maxConfigs = 20_000

// configFiles lists configurations: files as they are, directories searched for
// what switches and render call theirs.
func configFiles(args []string) ([]string, error) {
	var out []string
	for _, a := range args {
		st, err := os.Stat(a)
		if err != nil {
			return nil, &inputError{err}
		}
		if !st.IsDir() {
			out = append(out, a)
			continue
		}
		before := len(out)
		err = filepath.WalkDir(a, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name := d.Name()
			if !d.IsDir() && (strings.HasSuffix(name, ".cfg") || name == "frr.conf" ||
				strings.HasSuffix(name, "config_db.json")) {
				out = append(out, path)
			}
			if len(out) > maxConfigs {
				return fmt.Errorf("more than %d configurations", maxConfigs)
			}
			return nil
		})
		if err != nil {
			return nil, &inputError{err}
		}
		if len(out) == before {
			return nil, &inputError{fmt.Errorf("%s: no configuration in it (*.cfg, config_db.json, frr.conf)",
				a)}
		}
	}
	return out, nil
}

type configLintCmd struct {
	readConfig
	Files   []string `arg:"" help:"Configurations, or directories of them." placeholder:"FILE"`
	Fabric  string   `help:"The scenario whose switches these are: cables, tiers, MTU and DSCPs are checked against it." placeholder:"SCENARIO"`
	Set     []string `help:"Override a value of the scenario." placeholder:"KEY=VALUE" sep:"none" with:"fabric"`
	Cabling []string `help:"What is cabled, in files or folders that import reads, where there is no scenario." placeholder:"FILE" sep:"none" without:"fabric"`
	roceDSCP
	PathMTU int  `help:"RoCE path MTU." default:"4096" name:"path-mtu" range:"256,16384"`
	JSON    bool `help:"Print the findings as JSON." without:"sarif"`
	SARIF   bool `help:"Print the findings as SARIF 2.1.0, for code review." name:"sarif"`
}

func (c *configLintCmd) Help() string {
	return `Exits with 1 when there are errors, with 2 when a file cannot be read.

Examples:
  railyard config lint leaf.cfg
  railyard config lint rail-*.cfg spine-*.cfg --fabric scenarios/pod64-llama2-7b.yaml
  railyard config lint configs/ --cabling cables.csv       (rings of pauses, PFC at one end alone)
  railyard config lint configs/ --fabric scenarios/lab-2x2.yaml --json | jq '.[].rule'
  railyard config lint leaf.cfg --sarif > leaf.sarif`
}

// Run is the config lint command.
func (c *configLintCmd) Run(e *env) error {
	in := swconf.Input{PathMTU: c.PathMTU, Base: queue.Default()}
	if c.Fabric != "" {
		plan, err := loadNetwork(c.Fabric, c.Set)
		if err != nil {
			return err
		}
		lintAgainst(&in, plan)
	}
	if len(c.Cabling) > 0 {
		read, _, err := readCabling(c.Cabling, "")
		if err != nil {
			return err
		}
		if err := read.Err(); err != nil {
			return err
		}
		found, err := recognise.Recognise(read, recognise.Options{})
		if err != nil {
			return err
		}
		for _, n := range found.Notes { // what no file says is assumed, and findings may rest on it
			report.Labelled(e.stderr, "note: ", n)
		}
		in.Graph, in.Plugged, in.Sockets = found.Graph, plugged(read), sockets(found.Graph, read)
	}
	files, err := configFiles(c.Files)
	if err != nil {
		return err
	}
	if in.Configs, err = c.parseAll(files); err != nil {
		return err
	}
	if in.DataDSCP, in.CNPDSCP, err = c.dscps(in.Configs, in.DataDSCP, in.CNPDSCP); err != nil {
		return err
	}
	list := swconf.Lint(in)
	switch {
	case c.SARIF:
		err = writeSARIF(e.stdout, list)
	case c.JSON:
		err = printJSON(e.stdout, append([]swconf.Finding{}, list...))
	default:
		report.Findings(e.stdout, list)
		report.Tally(e.stdout, in.Configs, dialect.Title, list)
	}
	if err == nil && swconf.Count(list, swconf.Error) > 0 {
		return &exitError{exitFailed}
	}
	return err
}

// lintAgainst takes what lint should know from a scenario.
func lintAgainst(in *swconf.Input, p *scenario.Plan) {
	s := p.Services[0]
	in.Graph, in.Base = p.Graph, p.Spec
	in.Response, in.Pipeline = p.Switching.Response, p.Switching.Pipeline
	in.DataDSCP, in.CNPDSCP, in.PathMTU = s.DSCP, s.CNPDSCP, p.RC.MTU
	in.Lossy = p.Spec.LosslessMask() == 0
}

type configShowCmd struct {
	readConfig
	Files []string `arg:"" help:"Configurations." placeholder:"FILE"`
	JSON  bool     `help:"Print as JSON."`
}

func (c *configShowCmd) Help() string {
	return `One table per group of ports that are alike: which DSCPs go to which group and queue, how the
queue is scheduled, where ECN marks, what PFC pauses.

Examples:
  railyard config show leaf.cfg
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
	Views []swconf.View `json:"views"`
}

// Run is the config show command.
func (c *configShowCmd) Run(e *env) error {
	var all []shown
	for i, f := range c.Files {
		cfg, err := c.parse(f)
		if err != nil {
			return err
		}
		spec, notes, err := cfg.Spec(queue.Default())
		if errors.Is(err, swconf.ErrNoQoS) {
			return &inputError{err}
		}
		s := shown{File: f, Name: cfg.Name(), OS: cfg.OS, Notes: notes, SRv6: cfg.Segments(),
			Views: cfg.Views()}
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
