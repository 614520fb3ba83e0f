package main

import (
	"errors"
	"fmt"
	"io"

	"railyard/internal/configuration"
	"railyard/internal/dcbx"
	"railyard/internal/input"
	"railyard/internal/output"
	"railyard/internal/report"
	"railyard/internal/report/table"
	"railyard/internal/scenariofile"
	"railyard/unit"
)

type configDcbxCmd struct {
	readConfig
	Files  []string `arg:"" help:"Configurations, or directories" placeholder:"FILE"`
	Fabric string   `help:"Scenario with the cabling; includes the hosts' NICs" placeholder:"SCENARIO"`
	Set    []string `help:"Override a value of the scenario; repeatable" placeholder:"KEY=VALUE" sep:"none" with:"fabric"`
	Link   []string `help:"A link, leaf-1:Ethernet1/3=spine-1:Ethernet1/1; repeatable (from interface descriptions)" placeholder:"A=B" sep:"none"`
	NIC    string   `help:"DCBX of the NICs: willing (accepts the switch's PFC), fixed (PFC on priority 3) or silent (no LLDP)" enum:"willing,fixed,silent" default:"willing" name:"nic"`
	roceDSCP
	Pcap  string `help:"Write the LLDP frames as pcapng" placeholder:"FILE"`
	Force bool   `help:"Replace an existing capture" with:"pcap"`
	All   bool   `help:"Print every link, not one of each kind"`
	JSON  bool   `help:"Print as JSON"`
}

func (c *configDcbxCmd) Help() string {
	return `Runs the LLDP exchange of neighbors from their configurations (IEEE and CEE DCBX, willing bits) and
prints the operational PFC state of each port. Exit code 1: two ends disagree.

Examples:
  railyard config dcbx leaf.cfg spine.cfg --link leaf-1:Ethernet1/3=spine-1:Ethernet1/1
  railyard config dcbx configs/pod64 --fabric scenarios/pod64-llama2-7b.yaml`
}

// Run is the config dcbx command.
func (c *configDcbxCmd) Run(e *env) error {
	files, err := configuration.Files(c.Files)
	if err != nil {
		return err
	}
	files, hosts := configuration.WithoutHosts(files, c.OS)
	for i := range hosts {
		hosts[i] += ": a host's configuration; hosts take part with --fabric SCENARIO and --nic"
	}
	if len(files) == 0 {
		return input.Fault(fmt.Errorf("no switch's configuration among %s; the first is %s",
			unit.Plural(len(hosts), "file"), hosts[0]))
	}
	configs, none, err := configuration.ParseAll(files, c.OS)
	if err != nil {
		return err
	}
	report.Ignored(e.stderr, append(hosts, none...))
	results, err := c.play(dcbx.Among(configs))
	if err != nil {
		return err
	}
	if len(results) == 0 {
		return input.Fault(
			errors.New("no cable connects these switches; name it with --link leaf-1:Ethernet1/3=spine-1:Ethernet1/1, or set --fabric"))
	}
	if c.Pcap != "" {
		err := output.Write(c.Pcap, c.Force, func(w io.Writer) error { return dcbx.Capture(w, program(), results) })
		if err != nil {
			return err
		}
	}
	bad := 0
	for _, r := range results {
		if !r.OK() {
			bad++
		}
	}
	err = e.show(c.JSON, dcbx.Rows(results), func() {
		table.DCBX(e.stdout, results, c.All)
		fmt.Fprintf(e.stdout, "\n%s, %d of them with problems\n", unit.Plural(len(results), "cable"), bad)
		if c.Pcap != "" {
			fmt.Fprintf(e.stdout, "LLDP frames in %s\n", c.Pcap)
		}
	})
	if err == nil && bad > 0 {
		return &exitError{exitFailed}
	}
	return err
}

// play simulates DCBX on the scenario's cables, the named ones, or those in interface descriptions.
func (c *configDcbxCmd) play(switches dcbx.Switches) ([]*dcbx.Result, error) {
	var m dcbx.Marking
	var err error
	if c.Fabric == "" {
		if m.Data, m.CNP, err = c.dscps(switches, 0, 0); err != nil {
			return nil, err
		}
		if len(c.Link) > 0 {
			return m.Links(switches, c.Link)
		}
		return m.Described(switches), nil
	}
	plan, err := scenariofile.Network(c.Fabric, c.Set)
	if err != nil {
		return nil, err
	}
	if m.Data, m.CNP, err = c.dscps(nil, plan.Default().DSCP, plan.Default().CNPDSCP); err != nil {
		return nil, err
	}
	return m.Fabric(plan.Graph, switches, c.NIC), nil
}
