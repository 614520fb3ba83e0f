package main

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/devices"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/queue"
	"railyard/internal/render"
	"railyard/internal/report"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
	"railyard/unit"
)

type configRenderCmd struct {
	Scenario   string `arg:"" help:"Scenario file (YAML); - reads standard input." placeholder:"SCENARIO"`
	OS         string `help:"Configuration language: nxos, sonic, frr, eos or nvue; that of the text with --onto." placeholder:"OS" name:"os"`
	Out        string `help:"Directory to write to; with --onto the file, else standard output." placeholder:"DIR"`
	Onto       string `help:"A device's running configuration, or a folder of them: print what is to be typed there, and what that interrupts." placeholder:"PATH"`
	Switch     string `help:"The switch of the fabric that it becomes; the one of its name unless given." placeholder:"NAME" with:"onto"`
	InBand     bool   `help:"Change ports over which the device may be managed: you reach it otherwise." name:"in-band" with:"onto"`
	Addressing string `help:"Cables between switches: unnumbered (IPv6 link-local) or p2p (a /31 each)." enum:"unnumbered,p2p" default:"unnumbered"`
	Multihome  string `help:"How two switches share a bundle: mlag or esi (EVPN); mlag, and esi for FRR, unless given." name:"multihoming" placeholder:"KIND"`
	ASIC       string `help:"Chip that SONiC's headroom is worked out for: spectrum, spectrum2 to spectrum6; the oldest with such ports unless given." name:"asic" placeholder:"CHIP"`
	NIC        string `help:"Write the servers' half too, for NICs of a kind: mlx5 (NVIDIA ConnectX), bnxt (Broadcom), ionic (AMD Pensando)." name:"nic" placeholder:"KIND"`
	deviceFlags
	Set   []string `help:"Override a value of the scenario." placeholder:"KEY=VALUE" sep:"none"`
	Force bool     `help:"Replace files that exist."`
	JSON  bool     `help:"Print the list of files as JSON."`
}

func (c *configRenderCmd) Help() string {
	return `Writes the configuration of every switch (QoS, PFC, watchdog, load balancing, MTU, LLDP, BGP,
VLANs and bundles), cabling.csv, addressing.csv, fabric.clab.yml (containerlab), topology.conf (Slurm) and
fabric.dot (Graphviz). Where packets say their ways (transport.forwarding srv6), SONiC and FRR get uSIDs
and static routes to the neighbours' instead of BGP. --nic adds a script per server (mlnx_qos, /sys, DCQCN's
parameters; bnxt_setupcc.sh; nicctl) and nccl.conf below hosts/, as config lint and hosts.config read them.
SONiC is told the lanes of each port, which differ between switches with as many ports: --hwsku or --profile
say which switch it is, or fabric.types.NAME in the scenario; nothing is written without. --onto takes the
device's own ports.

Examples:
  railyard config render scenarios/pod64-llama2-7b.yaml --os nxos --out configs/pod64
  railyard config render scenarios/lab-2x2.yaml --os frr --addressing p2p --out configs/lab
  railyard config render scenarios/pod64-llama2-7b.yaml --os sonic --hwsku ACS-SN5600 --out sonic
  railyard config render scenarios/lab-2x2.yaml --os sonic --hwsku ACS-MSN4700 --nic mlx5 --out a
  railyard config render scenarios/lab-2x2.yaml --os sonic --profile spine=device --out b
  railyard config render scenarios/lab-2x2.yaml --onto running.cfg --switch spine-1 > commands.txt
  railyard config render scenarios/lab-2x2.yaml --onto running --out commands
  railyard config lint configs/pod64 --fabric scenarios/pod64-llama2-7b.yaml`
}

// Run is the config render command.
func (c *configRenderCmd) Run(e *env) error {
	if !slices.Contains([]string{"", design.MLAG, design.ESI}, c.Multihome) {
		return field.Choice("--multihoming", c.Multihome, []string{design.MLAG, design.ESI}, "found %s",
			field.Quote(c.Multihome))
	}
	if _, ok := queue.ASICNamed(c.ASIC); c.ASIC != "" && !ok {
		return field.Choice("--asic", c.ASIC, queue.ASICs(), "found %s", field.Quote(c.ASIC))
	}
	if c.chosen().Given() && c.OS != "" && swconf.OS(c.OS) != swconf.SONiC {
		return field.New("--hwsku and --profile", "mean nothing with --os %s: SONiC alone is told lanes",
			c.OS)
	}
	if c.ASIC != "" && swconf.OS(c.OS) != swconf.SONiC {
		return field.New("--asic", "means nothing with --os %s: only the headroom of --os sonic depends on "+
			"the chip", c.OS)
	}
	if written := dialect.Written(); !slices.Contains(append(written, ""), c.OS) {
		return field.Choice("--os", c.OS, written, "found %s", field.Quote(c.OS))
	}
	if c.Onto == "" && (c.OS == "" || c.Out == "") {
		return field.New("--os and --out", "are needed, or --onto FILE; accepted as --os: %s",
			strings.Join(dialect.Written(), ", "))
	}
	plan, err := scenariofile.Cabled(c.Scenario, c.Set)
	if err != nil {
		return err
	}
	if c.Onto == "" && swconf.OS(c.OS) == swconf.SONiC {
		if err := c.chosen().Fit(plan.Graph); err != nil {
			return err
		}
	}
	if c.Onto != "" {
		return c.onto(e, plan)
	}
	d, err := render.Design(plan, c.Scenario, swconf.OS(c.OS), c.Addressing, c.Multihome, c.ASIC)
	if err != nil {
		return input.Fault(err)
	}
	files, err := dialect.Render(d)
	if err != nil {
		return input.Fault(err)
	}
	hosts, notes, err := c.hosts(plan)
	if err != nil {
		return input.Fault(err)
	}
	files = append(files, hosts...)
	if err := render.Write(c.Out, files, c.Force); err != nil {
		return err
	}
	if d.OS == swconf.SONiC {
		notes = append(notes, devices.BrokenOut(plan.Graph)...)
	}
	for _, n := range append(dialect.Unsaid(d), notes...) {
		report.Labelled(e.stderr, "note: ", n)
	}
	if c.JSON {
		var paths []string
		for _, f := range files {
			paths = append(paths, f.Path)
		}
		return printJSON(e.stdout, paths)
	}
	report.Wrap(e.stdout, "",
		fmt.Sprintf("%s in %s: %s for %s, cabling.csv, addressing.csv, fabric.clab.yml, "+
			"topology.conf, fabric.dot",
			unit.Plural(len(files), "file"), c.Out, dialect.Title(d.OS),
			unit.Plural(len(d.Switches), "switch")))
	if len(hosts) > 0 {
		report.Wrap(e.stdout, "", fmt.Sprintf("hosts/ has a script for each server's NICs (%s), and "+
			"nccl.conf", c.NIC))
	}
	report.Wrap(e.stdout, "", fmt.Sprintf("(railyard config lint %s --fabric %s%s checks them)",
		c.Out, c.Scenario, c.chosen().Words()))
	return nil
}

// hosts is the servers' half, where it is asked for.
func (c *configRenderCmd) hosts(p *scenario.Plan) ([]design.File, []string, error) {
	if c.NIC == "" {
		return nil, nil, nil
	}
	return render.Hosts(p, c.NIC, nil)
}
