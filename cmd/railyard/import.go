package main

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/cabling"
	"railyard/internal/importing"
	"railyard/internal/jobscript"
	"railyard/internal/output"
	"railyard/internal/trace"
)

type importCmd struct {
	Files        []string `arg:"" optional:"" help:"Cabling, traces or training configurations: files or directories" placeholder:"FILE"`
	Format       string   `help:"Format of the files (detected)" placeholder:"FORMAT"`
	Out          string   `help:"Scenario to write (standard output)" placeholder:"FILE.yaml"`
	Force        bool     `help:"Replace an existing file" with:"out"`
	Rate         string   `help:"Rate of links without one in the source: 400Gbps" placeholder:"RATE"`
	HostLength   string   `help:"Length of cables to hosts without one in the source: 5m" placeholder:"LENGTH"`
	FabricLength string   `help:"Length of cables between switches without one in the source: 30m" placeholder:"LENGTH"`
	GPUs         int      `help:"GPUs per host without a count in the source (one per NIC)" name:"gpus" range:"1,576"`
	NICPorts     int      `help:"Ports per NIC, consecutive in a host's cables (from the names of ports and GPUs)" name:"nic-ports" range:"1,8"`
	Servers      string   `help:"Names of hosts, if source, name and cabling leave it open: gpu-*" placeholder:"NAMES"`
	Switches     string   `help:"Names of switches, likewise" placeholder:"NAMES"`
	Management   bool     `help:"Import management networks of LLDP tables: mgmt0, oob switches (left out)"`
	Server       string   `help:"Output of nvidia-smi topo -m, or NCCL's topology XML: adds a host type" placeholder:"FILE"`
	Step         int      `help:"Training step to import, by its number (the last that all ranks have)" placeholder:"N" range:"0,1000000000"`
	JSON         bool     `help:"Print the import statistics as JSON"`
}

func (c *importCmd) Help() string {
	var b strings.Builder
	b.WriteString(`Reads cabling and writes a scenario with the same nodes and links, in as few rules (types, nodes,
cables) as reproduce the graph. The report lists what did not match and what was assumed.

Examples:
  railyard import cables.csv --out site.yaml
  railyard import lldp/ --gpus 8 --rate 400Gbps --out site.yaml  # one file per device
  railyard import fabric.clab.yml | railyard topo -
  railyard import topology.txt --format hpcc --json
  railyard import llama.goal --out llama.yaml && railyard run llama.yaml
  railyard import allreduce.xml --out msccl.yaml  # MSCCL
  railyard import et/*.et groups.json --out step.yaml  # Chakra: one file per rank
  railyard import rank*.pt.trace.json.gz --step 12 --out step.yaml  # PyTorch's profiler
  railyard import et_*.json --step 12 --out calls.yaml  # PyTorch's execution traces
  railyard import nccl_trace_rank_*  # PyTorch's Flight Recorder
  railyard import nccl.*.log --out job.yaml  # NCCL_DEBUG=INFO
  railyard import train.sh config.json --out train.yaml  # training script
  railyard import ds_config.json args.yaml cables.csv --out site.yaml
  railyard import topology.txt flow.txt config.txt --out h.yaml  # HPCC
  railyard import fat_tree_1024.topo perm.cm --out htsim.yaml  # htsim: fabric, flows
  nvidia-smi topo -m > topo.txt && railyard import topo.txt

Cabling:
`)
	for _, f := range cabling.Formats() {
		fmt.Fprintf(&b, "  %-16s %s\n", f.Name, f.About)
	}
	b.WriteString("\nTraces (become the workload):\n")
	for _, f := range trace.Formats() {
		fmt.Fprintf(&b, "  %-16s %s\n", f.Name, f.About)
	}
	b.WriteString("\nTraining configurations (become a training step):\n")
	for _, k := range jobscript.Kinds {
		fmt.Fprintf(&b, "  %-16s %s\n", k.Name, k.About)
	}
	return strings.TrimRight(b.String(), "\n")
}

// Run is the import command.
func (c *importCmd) Run(e *env) error {
	out, err := importing.Read(importing.Request{Files: c.Files, Format: c.Format, Out: c.Out, Force: c.Force,
		Rate: c.Rate, HostLength: c.HostLength, FabricLength: c.FabricLength, GPUs: c.GPUs, NICPorts: c.NICPorts,
		Servers: c.Servers, Switches: c.Switches, Server: c.Server, Management: c.Management,
		Step: c.Step})
	if err != nil {
		return err
	}
	if c.Out != "" {
		if err := output.WriteBytes(c.Out, c.Force, []byte(out.YAML())); err != nil {
			return err
		}
		out.WrittenTo(c.Out)
	}
	if c.JSON {
		return printJSON(e.stdout, out)
	}
	if c.Out != "" && !out.Comment() {
		_, err := io.WriteString(e.stdout, out.Text())
		return err
	}
	for _, l := range strings.Split(strings.TrimSpace(out.Text()), "\n") {
		fmt.Fprintln(e.stdout, strings.TrimRight("# "+l, " "))
	}
	if c.Out == "" {
		_, err = io.WriteString(e.stdout, out.YAML())
	}
	return err
}
