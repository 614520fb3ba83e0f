package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"railyard/internal/cabling"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/jobscript"
	"railyard/internal/model"
	"railyard/internal/output"
	"railyard/internal/recognise"
	"railyard/internal/report"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/trace"
	"railyard/unit"
)

type importCmd struct {
	settings string   // YAML, of a file that says how a network behaves
	notes    []string // what became of that file

	Files        []string `arg:"" optional:"" help:"Files that say what is cabled, or folders of them; files that say what ranks do." placeholder:"FILE"`
	Format       string   `help:"Format of the files; recognised unless given." placeholder:"FORMAT"`
	Out          string   `help:"Scenario to write; standard output unless given." placeholder:"FILE.yaml"`
	Force        bool     `help:"Replace the file." with:"out"`
	Rate         string   `help:"Rate of cables whose source says none: 400Gbps." placeholder:"RATE"`
	HostLength   string   `help:"Length of cables to servers whose source says none: 5m." placeholder:"LENGTH"`
	FabricLength string   `help:"Length of cables between switches: 30m." placeholder:"LENGTH"`
	GPUs         int      `help:"GPUs of a server whose source says none; as many as NICs unless given." name:"gpus" range:"1,576"`
	NICPorts     int      `help:"Ports of a NIC, one after the other in a server's cables; as names of ports and GPUs tell unless given." name:"nic-ports" range:"1,8"`
	Servers      string   `help:"Names of servers, where neither source nor name nor cables tell: gpu-*." placeholder:"NAMES"`
	Switches     string   `help:"Names of switches." placeholder:"NAMES"`
	Server       string   `help:"What nvidia-smi topo -m prints, or NCCL's topology XML: a type of servers comes of it." placeholder:"FILE"`
	Step         int      `help:"Step of a training, where the files hold several (PyTorch's profiler, execution traces), by their number; the last that all have unless given." placeholder:"N" range:"0,1000000000"`
	JSON         bool     `help:"Print what was found as JSON."`
}

func (c *importCmd) Help() string {
	var b strings.Builder
	b.WriteString(`Reads what exists and writes a scenario that has the same nodes and cables, in the
language of types, nodes and cables: as few rules as give the same graph, which is built again and compared.
A report says what did not fit, and what was assumed because no file says it.

Examples:
  railyard import cables.csv --out site.yaml
  railyard import lldp/ --gpus 8 --rate 400Gbps --out site.yaml   (one file per device)
  railyard import fabric.clab.yml | railyard topo -
  railyard import topology.txt --format hpcc --json
  railyard import llama.goal --out llama.yaml && railyard run llama.yaml
  railyard import allreduce.xml --out msccl.yaml                  (MSCCL)
  railyard import et/*.et groups.json --out step.yaml             (Chakra: a file a rank, or et)
  railyard import rank*.pt.trace.json.gz --step 12 --out step.yaml  (PyTorch's profiler; any size)
  railyard import et_*.json --step 12 --out calls.yaml            (PyTorch's execution traces)
  railyard import nccl_trace_rank_*                               (PyTorch's Flight Recorder)
  railyard import nccl.*.log --out job.yaml                       (NCCL_DEBUG=INFO)
  railyard import train.sh config.json --out train.yaml           (a training as it is started)
  railyard import ds_config.json args.yaml cables.csv --out site.yaml
  railyard import topology.txt flow.txt config.txt --out h.yaml   (HPCC's: and its settings)
  railyard import fat_tree_1024.topo perm.cm --out htsim.yaml     (htsim's: fabric, flows)
  nvidia-smi topo -m > topo.txt && railyard import topo.txt       (or NCCL's XML)

Formats:
`)
	for _, f := range cabling.Formats() {
		fmt.Fprintf(&b, "  %-14s %s\n", f.Name, f.About)
	}
	b.WriteString("\nWhat ranks do, which becomes the workload:\n")
	for _, f := range trace.Formats() {
		fmt.Fprintf(&b, "  %-14s %s\n", f.Name, f.About)
	}
	b.WriteString("\nWhat is trained, which becomes a training step:\n")
	for _, k := range jobscript.Kinds {
		fmt.Fprintf(&b, "  %-14s %s\n", k.Name, k.About)
	}
	return strings.TrimRight(b.String(), "\n")
}

// Imported is what import says with --json.
type imported struct {
	Formats   []string       `json:"formats"`
	Files     int            `json:"files"`
	Servers   int            `json:"servers"`
	GPUs      int            `json:"gpus"`
	Switches  int            `json:"switches"`
	Cables    int            `json:"cables"`
	Rules     int            `json:"rules"`        // that stand for a pattern
	Single    int            `json:"single_rules"` // between named nodes
	Notes     []string       `json:"notes"`
	Trace     *importedTrace `json:"trace,omitempty"`
	Scenario  string         `json:"scenario"`
	WrittenTo string         `json:"written_to,omitempty"`
}

// Run is the import command.
func (c *importCmd) Run(e *env) error {
	switch {
	case c.Server != "" && len(c.Files) > 0:
		return field.New("--server", "takes one file of a server; import the cables of %s apart", c.Files[0])
	case c.Server != "":
		return c.importServer(e)
	case len(c.Files) == 0:
		return field.New("FILE", "is missing: it says what is cabled; or --server, what is inside a server")
	}
	if done, err := c.importMachine(e); done {
		return err
	}
	if err := c.known(); err != nil {
		return err
	}
	if err := c.takeSettings(); err != nil {
		return err
	}
	args, others, err := c.splitArguments()
	if err != nil {
		return err
	}
	traces, cablings, err := c.splitTraces(others)
	if err != nil {
		return err
	}
	if len(args) > 0 && len(traces) > 0 {
		return input.Fault(fmt.Errorf("%s says what is trained, and %s what ranks do: name one of the two",
			args[0].Name, traces[0]))
	}
	if len(args) > 0 && c.settings != "" {
		return field.New("FILE", "HPCC's settings go with its topology and flows, not with %s", args[0].Name)
	}
	if len(args) > 0 {
		return c.importArguments(e, args, cablings)
	}
	if len(traces) > 0 {
		return c.importTraces(e, traces, cablings)
	}
	out, err := c.recognised()
	if err != nil {
		return err
	}
	out.Scenario, out.Notes = out.Scenario+c.settings, append(out.Notes, c.notes...)
	if _, err := loads(out.Scenario, nil); err != nil {
		return fmt.Errorf("what is cabled cannot be simulated as it is: %w", err)
	}
	return c.print(e, out)
}

// recognised makes a scenario of what files say is cabled.
func (c *importCmd) recognised() (*imported, error) {
	o, err := c.options()
	if err != nil {
		return nil, err
	}
	read, passed, err := readCabling(c.Files, c.Format)
	if wrong := (*field.Error)(nil); errors.As(err, &wrong) && slices.Equal(wrong.Accepted, cabling.Names()) {
		wrong.Accepted = formatNames() // it might as well have been a trace
	}
	if err != nil {
		return nil, err
	}
	if err := read.Err(); err != nil {
		return nil, err
	}
	found, err := recognise.Recognise(read, o)
	if err != nil {
		return nil, err
	}
	out := &imported{Formats: read.Formats, Files: len(c.Files), Cables: len(found.Graph.Links),
		Servers: len(found.Graph.Hosts), GPUs: found.Graph.TotalGPUs(),
		Switches: len(found.Graph.Nodes) - len(found.Graph.Hosts), Rules: found.Rules, Single: found.Single}
	out.Notes = append(out.Notes, passed...)
	for _, n := range read.Notes {
		out.Notes = append(out.Notes, noted(n))
	}
	if _, err := model.FindGPU(found.GPU); found.GPU != "" && err != nil {
		out.Notes = append(out.Notes, fmt.Sprintf("the source's GPU %s is not known here: give server.gpu",
			found.GPU))
		found.GPU = ""
	}
	out.Notes = append(out.Notes, found.Notes...)
	name := scenariofile.Slug("", c.Files[0])
	out.Scenario = found.YAML(name, "What "+strings.Join(c.Files, ", ")+" says is cabled.")
	return out, nil
}

// besideOut reads files as the scenario that is written will.
func (c *importCmd) besideOut() scenario.ReadFile {
	if c.Out == "" {
		return scenariofile.Beside("here.yaml")
	}
	return scenariofile.Beside(c.Out)
}

// options reads what the files do not say.
func (c *importCmd) options() (o recognise.Options, err error) {
	o.GPUs, o.NICPorts, o.Servers, o.Switches = c.GPUs, c.NICPorts, c.Servers, c.Switches
	if c.Rate != "" {
		if o.Rate, err = unit.ParseRate(c.Rate); err != nil || o.Rate <= 0 {
			return o, field.New("--rate", "%s is no rate; accepted: 400Gbps", field.Quote(c.Rate))
		}
	}
	for _, l := range []struct {
		flag, text string
		mm         *int64
	}{{"--host-length", c.HostLength, &o.HostMM}, {"--fabric-length", c.FabricLength, &o.FabricMM}} {
		if l.text == "" {
			continue
		}
		if *l.mm, err = unit.ParseLength(l.text); err != nil || *l.mm <= 0 {
			return o, field.New(l.flag, "%s is no length; accepted: 5m", field.Quote(l.text))
		}
	}
	return o, nil
}

// noted is a note with its first place and how often it holds.
func noted(n cabling.Note) string {
	s := n.At.String() + ": " + n.Text
	if n.Count > 1 {
		s += fmt.Sprintf(" (and %s more)", unit.Plural(n.Count-1, "time"))
	}
	return s
}

// loads loads a scenario that has been written.
func loads(text string, read scenario.ReadFile) (*scenario.Plan, error) {
	doc, err := scenario.Parse("the scenario", []byte(text), nil)
	if err != nil {
		return nil, err
	}
	if read == nil {
		read = func(string) ([]byte, error) { return nil, errors.New("no file is named") }
	}
	return doc.Resolve(read)
}

func (c *importCmd) print(e *env, out *imported) error {
	if c.Out != "" {
		if err := output.WriteBytes(c.Out, c.Force, []byte(out.Scenario)); err != nil {
			return err
		}
		out.WrittenTo = c.Out
	}
	if c.JSON {
		return printJSON(e.stdout, out)
	}
	if c.Out == "" {
		for _, l := range strings.Split(strings.TrimSpace(out.text()), "\n") {
			fmt.Fprintln(e.stdout, strings.TrimRight("# "+l, " "))
		}
		_, err := io.WriteString(e.stdout, out.Scenario)
		return err
	}
	_, err := io.WriteString(e.stdout, out.text())
	return err
}

// text is the report.
func (out *imported) text() string {
	var b strings.Builder
	if out.Trace != nil {
		b.WriteString(out.Trace.words())
	}
	if out.Cables == 0 {
		if out.WrittenTo != "" {
			fmt.Fprintf(&b, "written to %s\n", out.WrittenTo)
		}
		out.noted(&b)
		return b.String()
	}
	report.Wrap(&b, "", fmt.Sprintf("%s: %s with %s, %s, %s",
		strings.Join(out.Formats, ", "), unit.Plural(out.Servers, "server"), unit.Plural(out.GPUs, "GPU"),
		unit.Plural(out.Switches, "switch"), unit.Plural(out.Cables, "cable")))
	s := fmt.Sprintf("The same graph in %s", unit.Plural(out.Rules, "rule"))
	if out.Single > 0 {
		s += fmt.Sprintf(" and %s between named nodes", unit.Plural(out.Single, "rule"))
	}
	if out.WrittenTo != "" {
		s += ": " + out.WrittenTo
	}
	report.Wrap(&b, "", s)
	out.noted(&b)
	return b.String()
}

// noted adds what did not fit.
func (out *imported) noted(b *strings.Builder) {
	if len(out.Notes) > 0 {
		b.WriteString("\nWhat did not fit, and what was assumed:\n")
	}
	for i, n := range out.Notes {
		if i == 40 {
			report.Wrap(b, "  ", fmt.Sprintf("and %d more like these (--json has all)", len(out.Notes)-i))
			break
		}
		report.Wrap(b, "  ", n)
	}
}

// maxFiles bounds a folder of tables, one for each device.
const maxFiles = 20_000

// readCabling reads files and folders. In a folder what is in no known format, or not in the one
// that is given, is passed over and told.
func readCabling(paths []string, format string) (*cabling.Cabling, []string, error) {
	var files []cabling.File
	var passed []string
	for _, p := range paths {
		st, err := os.Stat(p)
		if err != nil {
			return nil, nil, input.Fault(err)
		}
		if !st.IsDir() {
			text, err := input.Text(p, cabling.MaxSize)
			if err != nil {
				return nil, nil, input.Fault(err)
			}
			files = append(files, cabling.File{Name: p, Text: text})
			continue
		}
		some, others, err := readFolder(p, format)
		if err != nil {
			return nil, nil, input.Fault(err)
		}
		files, passed = append(files, some...), append(passed, others...)
	}
	if len(files) == 0 {
		return nil, nil, input.Fault(fmt.Errorf("%s: no file in a format that is read (railyard import "+
			"--help lists them)",
			strings.Join(paths, ", ")))
	}
	c, err := cabling.Read(files, format)
	return c, passed, err
}

// readFolder reads the files of a folder that say what is cabled, in the order of their names.
func readFolder(dir, format string) (files []cabling.File, passed []string, err error) {
	err = input.Walk(dir, maxFiles, func(path string) error {
		text, err := input.Text(path, cabling.MaxSize)
		if err != nil {
			return err
		}
		f := cabling.File{Name: path, Text: text}
		if looks := cabling.Looks(f); looks == "" || format != "" && looks != format {
			passed = append(passed, path)
			return nil
		}
		files = append(files, f)
		return nil
	})
	if slices.Sort(passed); len(passed) > 3 {
		passed = append(passed[:3:3], fmt.Sprintf("and %d more", len(passed)-3))
	}
	if len(passed) > 0 {
		passed = []string{"passed over, because they say of no cable: " + strings.Join(passed, ", ")}
	}
	return files, passed, err
}
