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
	Scenario   string `arg:"" help:"Scenario file (YAML); - reads stdin" placeholder:"SCENARIO"`
	OS         string `help:"Language: nxos, sonic, frr, eos, nvue or junos (with --onto that of the configuration)" placeholder:"OS" name:"os"`
	Out        string `help:"Directory to write; with --onto a file (standard output)" placeholder:"DIR"`
	Onto       string `help:"Running configuration of a device, or a directory: print the commands that change it, and what they interrupt" placeholder:"PATH"`
	Switch     string `help:"Switch of the fabric (the one with the same name)" placeholder:"NAME" with:"onto"`
	InBand     bool   `help:"Change ports that may carry in-band management" name:"in-band" with:"onto"`
	Addressing string `help:"Links between switches: unnumbered (IPv6 link-local) or p2p (a /31 each)" enum:"unnumbered,p2p" default:"unnumbered"`
	Multihome  string `help:"Multihomed bundles: mlag or esi (mlag; FRR: esi)" name:"multihoming" placeholder:"KIND"`
	ASIC       string `help:"ASIC for SONiC's headroom: spectrum, spectrum2 … spectrum6 (the device's)" name:"asic" placeholder:"CHIP"`
	NIC        string `help:"Write host configurations too, by NIC driver: mlx5 (NVIDIA ConnectX), bnxt (Broadcom), ionic (AMD Pensando)" name:"nic" placeholder:"KIND"`
	deviceFlags
	Set   []string `help:"Override a value of the scenario; repeatable" placeholder:"KEY=VALUE" sep:"none"`
	Force bool     `help:"Replace existing files"`
	JSON  bool     `help:"Print the list of files as JSON"`
}

func (c *configRenderCmd) Help() string {
	return `Writes the configuration of every switch (QoS, PFC, watchdog, load balancing, MTU, LLDP, BGP, VLANs
and port channels), cabling.csv, addressing.csv, fabric.clab.yml (containerlab), topology.conf
(Slurm) and fabric.dot (Graphviz). With transport.forwarding srv6, SONiC and FRR get uSIDs and
static routes instead of BGP. --nic adds one script per host (mlnx_qos, sysfs, DCQCN parameters;
bnxt_setupcc.sh; nicctl) and nccl.conf in hosts/.

SONiC needs the lanes of each port: set --hwsku, --profile, or fabric.types.NAME in the scenario.
--onto uses the device's own ports.

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
		return field.New("--hwsku and --profile", "have no effect with --os %s: only SONiC configures lanes",
			c.OS)
	}
	if c.ASIC != "" && swconf.OS(c.OS) != swconf.SONiC {
		return field.New("--asic", "has no effect with --os %s: only the headroom of --os sonic depends on the chip", c.OS)
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
	for _, n := range slices.Concat(plan.QueueNotes, dialect.Unsaid(d), notes) {
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
		fmt.Sprintf("%s in %s: %s for %s, cabling.csv, addressing.csv, fabric.clab.yml, topology.conf, fabric.dot",
			unit.Plural(len(files), "file"), c.Out, dialect.Title(d.OS),
			unit.Plural(len(d.Switches), "switch")))
	if len(hosts) > 0 {
		report.Wrap(e.stdout, "", fmt.Sprintf("hosts/: a script per host (%s) and nccl.conf", c.NIC))
	}
	report.Wrap(e.stdout, "", fmt.Sprintf("Next: railyard config lint %s --fabric %s%s",
		c.Out, c.Scenario, c.chosen().Words()))
	return nil
}

// hosts returns the configurations of hosts if --nic is set, and notes.
func (c *configRenderCmd) hosts(p *scenario.Plan) ([]design.File, []string, error) {
	if c.NIC == "" {
		return nil, nil, nil
	}
	return render.Hosts(p, c.NIC, nil)
}
