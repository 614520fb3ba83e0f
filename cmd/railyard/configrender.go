package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/output"
	"railyard/internal/queue"
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
	if c.given() && c.OS != "" && swconf.OS(c.OS) != swconf.SONiC {
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
		if err := c.fit(plan.Graph); err != nil {
			return err
		}
	}
	if c.Onto != "" {
		return c.onto(e, plan)
	}
	d, err := designOf(plan, c.Scenario, swconf.OS(c.OS), c.Addressing, c.Multihome, c.ASIC)
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
	if err := writeFiles(c.Out, files, c.Force); err != nil {
		return err
	}
	if d.OS == swconf.SONiC {
		notes = append(notes, brokenOut(plan.Graph)...)
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
		c.Out, c.Scenario, c.words()))
	return nil
}

// hosts is the servers' half, where it is asked for.
func (c *configRenderCmd) hosts(p *scenario.Plan) ([]design.File, []string, error) {
	if c.NIC == "" {
		return nil, nil, nil
	}
	return hostFiles(p, c.NIC, nil)
}

// designOf decides addresses and numbers for a plan's fabric.
func designOf(p *scenario.Plan, file string, os swconf.OS, addressing, multihome,
	asic string) (*design.Design, error) {
	if multihome == "" {
		multihome = dialect.Multihome(os)
	}
	if p.Scheduled != nil {
		return nil, fmt.Errorf("fabric.scheduled: VOQs, credits and cells are the chips' own matter, " +
			"which no switch configuration says; --set fabric.scheduled.on=false renders the switches " +
			"without")
	}
	if p.LB.Detours {
		return nil, fmt.Errorf("lb %s: no switch configuration can say by way of which group packets go; "+
			"--set lb=ecmp renders shortest ways", p.LB.Name)
	}
	if p.IPv6 {
		return nil, fmt.Errorf("fabric.ip 6: servers are given IPv4 addresses here; --set fabric.ip=4 " +
			"renders the same switches for them")
	}
	if p.LB.Ordered || p.LB.Escapes || p.LB.Informed {
		return nil, fmt.Errorf("lb %s: no public syntax has switches route so; --set lb=ecmp renders "+
			"shortest ways by hash, --set lb=dlb the least loaded of their ports", p.LB.Name)
	}
	if p.LB.ReadsEVs {
		return nil, fmt.Errorf("lb %s: no public syntax has switches take a port by bits of a UDP port or "+
			"flow "+
			"label; --set lb=ecmp renders switches that hash them, --set transport.forwarding=srv6 ways "+
			"in the "+
			"packet", p.LB.Name)
	}
	carried := p.Services[0].Carried
	gap, _ := p.LBValues["flowlet_gap"].(unit.Time)
	return design.Make(design.Fabric{Name: scenariofile.Slug(p.Name, file), Graph: p.Graph,
		Spec: func(n int) queue.Spec { return *p.SpecOf(n) },
		LB:   p.LB.Name, DLB: p.LB.DLB, FlowletGap: gap, SameSeed: p.Base.SameSeed,
		DataDSCP: p.Services[0].DSCP, CNPDSCP: p.Services[0].CNPDSCP, Response: p.Switching.Response,
		// ports are a protocol's planes, and no bundles
		Apart: carried != nil, Segments: carried != nil && carried.Segments,
		Pipeline: p.Switching.Pipeline, OS: os, ASIC: asic, Addressing: addressing, Multihome: multihome})
}

// writeFiles writes files below a directory, each under a temporary name first.
// Without force nothing is written when one of them exists.
func writeFiles(dir string, files []design.File, force bool) error {
	if a, b, clash := clashing(files); clash {
		return input.Fault(
			fmt.Errorf("%s and %s cannot both be written: rename the switch; nothing is written", a, b))
	}
	for _, f := range files {
		if !filepath.IsLocal(f.Path) {
			return input.Fault(fmt.Errorf("%q would lie outside %s: nothing is written", f.Path, dir))
		}
		if link := linked(dir, f.Path); link != "" {
			return input.Fault(fmt.Errorf("%s is a symbolic link: %s would be written where it leads, outside "+
				"%s; nothing is written", link, f.Path, dir))
		}
		_, err := os.Lstat(filepath.Join(dir, f.Path))
		switch {
		case err == nil && !force:
			return input.Fault(fmt.Errorf("%s exists; --force replaces it", filepath.Join(dir, f.Path)))
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return input.Fault(err)
		}
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return input.Fault(err)
		}
		if err := output.WriteBytes(path, force, []byte(f.Text)); err != nil {
			return err
		}
	}
	return nil
}

// linked is the first folder on the way from a directory to a file in it that is a symbolic link; "" for none.
// The directory itself may be one: whoever named it meant it.
func linked(dir, path string) string {
	at := dir
	for _, part := range strings.Split(filepath.Dir(filepath.Clean(path)), string(filepath.Separator)) {
		at = filepath.Join(at, part)
		if st, err := os.Lstat(at); part != "." && err == nil && st.Mode()&fs.ModeSymlink != 0 {
			return at
		}
	}
	return ""
}

// clashing finds two files of one name, or one whose name is another's folder: a switch
// called cabling.csv.
func clashing(files []design.File) (a, b string, clash bool) {
	folders, names := map[string]string{}, map[string]bool{}
	for _, f := range files {
		for d := filepath.Dir(f.Path); d != "."; d = filepath.Dir(d) {
			folders[d] = f.Path
		}
	}
	for _, f := range files {
		path := filepath.Clean(f.Path)
		if inside, ok := folders[path]; ok {
			return path, inside, true
		}
		if names[path] {
			return path, path, true
		}
		names[path] = true
	}
	return "", "", false
}
