package main

import (
	"errors"
	"fmt"
	"regexp"

	"railyard/internal/configuration"
	"railyard/internal/devices"
	"railyard/internal/field"
	"railyard/internal/importing"
	"railyard/internal/input"
	"railyard/internal/recognise"
	"railyard/internal/report"
	"railyard/internal/scenariofile"
	"railyard/internal/swconf"
	"railyard/internal/swconf/dialect"
	"railyard/internal/swconf/findings"
)

type configLintCmd struct {
	readConfig
	Files  []string `arg:"" optional:"" help:"Configurations of switches and hosts, or directories; with --rules: a rule" placeholder:"FILE"`
	Rules  bool     `help:"List the rules, or explain the one that is named" without:"fabric,host,cabling,sarif,baseline"`
	Fabric string   `help:"Scenario of the fabric: checks cabling, tiers, MTU and DSCPs" placeholder:"SCENARIO"`
	deviceFlags
	Set     []string `help:"Override a value of the scenario; repeatable" placeholder:"KEY=VALUE" sep:"none" with:"fabric"`
	Host    []string `help:"Directory with the configuration of one host; repeatable" placeholder:"DIR" sep:"none"`
	Cabling []string `help:"Cabling without a scenario: files that import reads; repeatable" placeholder:"FILE" sep:"none" without:"fabric"`
	roceDSCP
	PathMTU  int  `help:"RoCE path MTU, in bytes" default:"4096" name:"path-mtu" range:"256,16384"`
	Commands bool `help:"Print the commands that fix the findings, by switch" without:"json,sarif,rules"`
	JSON     bool `help:"Print the findings as JSON" without:"sarif"`
	SARIF    bool `help:"Print the findings as SARIF 2.1.0" name:"sarif"`

	Baseline string `help:"Known findings to leave out: --json or --sarif output of an earlier run" placeholder:"FILE"`
}

func (c *configLintCmd) Help() string {
	return `Exit code 1: there are errors; 2: a file cannot be read. All files are taken as one fabric and
compared with each other, also those of one directory: lint the configurations of unrelated fabrics
apart. In directories, files that are not configurations are skipped and listed. To explain a rule:
railyard config lint --rules RULE.

Examples:
  railyard config lint leaf.cfg
  railyard config lint rail-*.cfg spine-*.cfg --fabric scenarios/pod64-llama2-7b.yaml
  railyard config lint configs/ --cabling cables.csv  # circular pause dependencies, PFC at one end only
  railyard config lint configs/ --fabric scenarios/lab-2x2.yaml --json | jq '.[].rule'
  railyard config lint leaf.cfg node1.sh nccl.conf  # hosts against switches
  railyard config lint leaf.cfg --sarif > leaf.sarif
  railyard config lint configs/ --commands  # what to enter on each switch
  railyard config lint configs/ --json > known.json  # findings of today
  railyard config lint configs/ --baseline known.json  # CI: fails on new findings
  railyard config lint --rules
  railyard config lint --rules threshold-order
  railyard config lint --rules --json | jq -r '.[] | select(.severity == "error").rule'`
}

// importFlags are flags that notes on a cabling name, and that import has and lint does not.
var importFlags = regexp.MustCompile(` ?\(--[^)]*\)`)

// Run is the config lint command.
func (c *configLintCmd) Run(e *env) error {
	if c.Rules {
		return printRules(e, c.Files, c.JSON)
	}
	if len(c.Files)+len(c.Host) == 0 {
		return field.New("FILE", "is missing; name configurations or directories, or --rules")
	}
	in := swconf.Input{PathMTU: c.PathMTU}
	if c.Fabric != "" {
		plan, err := scenariofile.Network(c.Fabric, c.Set)
		if err != nil {
			return err
		}
		if c.chosen().Wanted(plan.Graph) {
			if err := c.chosen().Fit(plan.Graph); err != nil {
				return err
			}
		}
		configuration.Against(&in, plan)
	} else if c.chosen().Given() {
		return field.New("--hwsku and --profile", "need --fabric SCENARIO")
	}
	if len(c.Cabling) > 0 {
		read, _, err := importing.Cabling(c.Cabling, "", false)
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
		for _, n := range found.Notes { // values that no file sets are assumed, and findings may depend on them
			report.Labelled(e.stderr, "note: ", importFlags.ReplaceAllString(n, ""))
		}
		in.Graph, in.Plugged = found.Graph, configuration.Plugged(read)
		in.Sockets = configuration.Sockets(found.Graph, read)
	}
	files, err := configuration.Files(c.Files)
	if err != nil {
		return err
	}
	if in.Hosts, files, err = configuration.HostsAmong(c.Host, files, c.OS); err != nil {
		return err
	}
	var none []string
	var part *configuration.PartlyRead // reported after the findings
	if in.Configs, none, err = configuration.ParseAll(files, c.OS); err != nil && !errors.As(err, &part) {
		return err
	}
	report.Ignored(e.stderr, none)
	if c.Fabric != "" && !c.chosen().Wanted(in.Graph) {
		if err := devices.FitTexts(in.Graph, in.Configs); err != nil {
			return err
		}
	}
	if in.DataDSCP, in.CNPDSCP, err = c.dscps(in.Configs, in.DataDSCP, in.CNPDSCP); err != nil {
		return err
	}
	in.Assumed = swconf.Assumed{Data: c.DataDSCP == nil && c.Fabric == "", CNP: c.CNPDSCP == nil && c.Fabric == ""}
	if d := in.DataDSCP; in.Assumed.Data && d != 24 && d != 26 {
		report.Labelled(e.stderr, "note: ", fmt.Sprintf("assumed DSCP %d for RoCE data, which is lossless or marked by ECN here; set --data-dscp", d))
	}
	var base *findings.Baseline
	if c.Baseline != "" {
		if base, err = findings.Read(c.Baseline); err != nil {
			return err
		}
	}
	all := swconf.Lint(in)
	list := all
	var against findings.Comparison
	if base != nil {
		against = base.Split(all)
		list = against.Fresh
	}
	switch {
	case c.SARIF:
		err = findings.WriteSARIF(e.stdout, all, base)
	case c.Commands:
		report.Commands(e.stdout, list, in.Configs)
	case c.JSON:
		err = printJSON(e.stdout, append([]swconf.Finding{}, list...))
	default:
		report.Findings(e.stdout, list, configuration.Lines(), configuration.Names(in.Configs, in.Hosts))
		report.Tally(e.stdout, in.Configs, in.Hosts, dialect.Title, list)
	}
	if base != nil && !c.SARIF {
		against.Tell(e.stderr)
	}
	if err == nil && part != nil {
		return input.Fault(part)
	}
	if err == nil && swconf.Count(list, swconf.Error) > 0 {
		return &exitError{exitFailed}
	}
	return err
}
