// Package importing makes scenarios from existing files. Read takes a Request. It detects by the beginnings of the
// files which of them describe cabling, ranks' work, a training, or the inside of a server. A Result has the
// scenario and a report of omissions and assumptions. Cabling reads cables alone.
package importing

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"railyard/internal/cabling"
	"railyard/internal/fidelity"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/model"
	"railyard/internal/recognise"
	"railyard/internal/report"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/unit"
)

// Request is the input files, and settings that they do not contain.
type Request struct {
	Files        []string // files that describe cabling, ranks' work or a training, or directories of them
	Format       string   // format of the files; "": recognised
	Out          string   // path of the scenario: files that it names are relative to it
	Force        bool     // replace existing files next to it
	Rate         string   // of cables, 400Gbps
	HostLength   string   // host length of cables to servers, 5m
	FabricLength string   // fabric length of cables between switches
	GPUs         int      // of a server
	NICPorts     int
	Servers      string // names, gpu-*
	Switches     string
	Server       string // a server's topology, instead of Files
	Management   bool   // management networks are cabling too
	Step         int    // step of a training, by its number; 0: the last that all files have
}

// Result is the result of an import.
type Result interface {
	YAML() string // a scenario, or a type of servers
	Text() string // report, line by line
	WrittenTo(path string)
	Comment() bool // whether the report is a comment of the YAML
}

// reader is the state of an import.
type reader struct {
	Request
	settings string   // YAML of a file with network settings
	notes    []string // notes on that file
}

// Imported is the JSON output of import.
type Imported struct {
	Formats  []string `json:"formats"`
	Files    int      `json:"files"`
	Servers  int      `json:"servers"`
	GPUs     int      `json:"gpus"`
	Switches int      `json:"switches"`
	Cables   int      `json:"cables"`
	Rules    int      `json:"rules"`        // number of rules with a pattern
	Single   int      `json:"single_rules"` // between named nodes
	Notes    []string `json:"notes"`
	Trace    *Trace   `json:"trace,omitempty"`
	Scenario string   `json:"scenario"`
	Written  string   `json:"written_to,omitempty"`
}

func (out *Imported) YAML() string          { return out.Scenario }
func (out *Imported) WrittenTo(path string) { out.Written = path }
func (out *Imported) Comment() bool         { return false }

// Read imports; the used parts of large traces are written next to the scenario.
func Read(r Request) (Result, error) {
	c := &reader{Request: r}
	switch {
	case c.Server != "" && len(c.Files) > 0:
		return nil, field.New("--server", "takes one file of a host; import the cabling %s separately", c.Files[0])
	case c.Server != "":
		return either(c.server())
	case len(c.Files) == 0:
		return nil, field.New("FILE", "is missing: cabling, or with --server the topology of a host")
	}
	if done, err := c.machine(); done != nil || err != nil {
		return done, err
	}
	if err := c.known(); err != nil {
		return nil, err
	}
	if err := c.takeSettings(); err != nil {
		return nil, err
	}
	args, others, err := c.splitArguments()
	if err != nil {
		return nil, err
	}
	traces, cablings, err := c.splitTraces(others)
	if err != nil {
		return nil, err
	}
	switch {
	case len(args) > 0 && len(traces) > 0:
		return nil, input.Fault(fmt.Errorf("%s describes a training, and %s operations of ranks: pass one of the two",
			args[0].Name, traces[0]))
	case len(args) > 0 && c.settings != "":
		return nil, field.New("FILE", "HPCC's settings go with its topology and flows, not with %s", args[0].Name)
	case len(args) > 0:
		return either(c.arguments(args, cablings))
	case len(traces) > 0:
		return either(c.traces(traces, cablings))
	}
	out, err := c.recognised()
	if err != nil {
		return nil, err
	}
	out.Scenario, out.Notes = out.Scenario+c.settings, append(out.Notes, c.notes...)
	if _, err := loads(out.Scenario, nil); err != nil {
		return nil, fmt.Errorf("the cabling cannot be simulated: %w", err)
	}
	return out, nil
}

// either returns the import, or nothing but an error.
func either[R Result](out R, err error) (Result, error) {
	if err != nil {
		return nil, err
	}
	return out, nil
}

// recognised makes a scenario from files that describe cabling.
func (c *reader) recognised() (*Imported, error) {
	o, err := c.options()
	if err != nil {
		return nil, err
	}
	read, passed, err := Cabling(c.Files, c.Format, c.Management)
	if wrong := (*field.Error)(nil); errors.As(err, &wrong) && slices.Equal(wrong.Accepted, cabling.Names()) {
		wrong.Accepted = formatNames() // the file may also be a trace
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
	out := &Imported{Formats: read.Formats, Files: len(c.Files), Cables: len(found.Graph.Links),
		Servers: len(found.Graph.Hosts), GPUs: found.Graph.TotalGPUs(),
		Switches: len(found.Graph.Nodes) - len(found.Graph.Hosts), Rules: found.Rules, Single: found.Single}
	out.Notes = append(out.Notes, passed...)
	for _, n := range read.Notes {
		out.Notes = append(out.Notes, noted(n))
	}
	if _, err := model.FindGPU(found.GPU); found.GPU != "" && err != nil {
		out.Notes = append(out.Notes, fmt.Sprintf("unknown GPU %s in the source: set server.gpu",
			found.GPU))
		found.GPU = ""
	}
	out.Notes = append(out.Notes, found.Notes...)
	name := scenariofile.Slug("", c.Files[0])
	out.Scenario = found.YAML(name, "Cabling of "+strings.Join(c.Files, ", ")+".")
	return out, nil
}

// besideOut reads files relative to the written scenario.
func (c *reader) besideOut() scenario.ReadFile {
	if c.Out == "" {
		return scenariofile.Beside("here.yaml")
	}
	return scenariofile.Beside(c.Out)
}

// options reads settings that the files do not contain.
func (c *reader) options() (o recognise.Options, err error) {
	o.GPUs, o.NICPorts, o.Servers, o.Switches = c.GPUs, c.NICPorts, c.Servers, c.Switches
	if c.Rate != "" {
		if o.Rate, err = unit.ParseRate(c.Rate); err != nil || o.Rate <= 0 {
			return o, field.New("--rate", "%s is not a rate; accepted: 400Gbps", field.Quote(c.Rate))
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
			return o, field.New(l.flag, "%s is not a length; accepted: 5m", field.Quote(l.text))
		}
	}
	return o, nil
}

// noted is a note with its first place and the number of places.
func noted(n cabling.Note) string {
	s := n.At.String() + ": " + n.Text
	if n.Count > 1 {
		s += fmt.Sprintf(" (%s in total)", unit.Plural(n.Count, "line"))
	}
	return s
}

// loads loads a scenario that has been written.
func loads(text string, read scenario.ReadFile) (*scenario.Plan, error) {
	doc, err := scenario.Parse("the scenario", []byte(text), nil)
	if err != nil {
		return nil, err
	}
	doc.Prefer(fidelity.Auto)
	if read == nil {
		read = func(string) ([]byte, error) { return nil, errors.New("no file is named") }
	}
	return doc.Checked(read)
}

// affordable lets the simulator choose flows if a loaded scenario has too many packets.
func (out *Imported) affordable(plan *scenario.Plan) {
	if plan.Unfit != "" {
		out.Notes = append(out.Notes, plan.Unfit)
	}
	if plan.Large() && plan.Fidelity == fidelity.Auto {
		out.Scenario += "fidelity: " + fidelity.Auto + "\n"
		out.Notes = append(out.Notes, fmt.Sprintf("%s packets or more: fidelity: auto simulates flows if packets would take too long", unit.ShowCount(plan.Packets())))
	}
}

// Text returns the report.
func (out *Imported) Text() string {
	var b strings.Builder
	if out.Trace != nil {
		b.WriteString(out.Trace.Words())
	}
	if out.Cables == 0 {
		if out.Written != "" {
			fmt.Fprintf(&b, "written to %s\n", out.Written)
		}
		out.noted(&b)
		return b.String()
	}
	report.Wrap(&b, "", fmt.Sprintf("%s: %s with %s, %s, %s",
		strings.Join(out.Formats, ", "), unit.Plural(out.Servers, "host"), unit.Plural(out.GPUs, "GPU"),
		unit.Plural(out.Switches, "switch"), unit.Plural(out.Cables, "cable")))
	s := fmt.Sprintf("The same graph in %s", unit.Plural(out.Rules, "rule"))
	if out.Single > 0 {
		s += fmt.Sprintf(" and %s between named nodes", unit.Plural(out.Single, "rule"))
	}
	if out.Written != "" {
		s += ": " + out.Written
	}
	report.Wrap(&b, "", s)
	out.noted(&b)
	return b.String()
}

// noted adds the notes about input that did not fit.
func (out *Imported) noted(b *strings.Builder) {
	if len(out.Notes) > 0 {
		b.WriteString("\nUnmatched or assumed:\n")
	}
	for i, n := range out.Notes {
		if i == 40 {
			report.Wrap(b, "  ", fmt.Sprintf("%d more: --json", len(out.Notes)-i))
			break
		}
		report.Wrap(b, "  ", n)
	}
}

// maxFiles bounds a folder of tables, one for each device.
const maxFiles = 20_000

// Cabling reads files and folders. In a directory, files of an unsupported format, or of a format other than the
// given one, are ignored and reported. Management networks are left out unless they are wanted.
func Cabling(paths []string, format string, management bool) (*cabling.Cabling, []string, error) {
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
		return nil, nil, input.Fault(fmt.Errorf("%s: no file in a supported format (see railyard import --help)",
			strings.Join(paths, ", ")))
	}
	if management {
		c, err := cabling.ReadAll(files, format)
		return c, passed, err
	}
	c, err := cabling.Read(files, format)
	return c, passed, err
}

// readFolder reads the files of a directory that describe cabling, sorted by name.
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
		passed = append(passed[:3:3], fmt.Sprintf("%d more", len(passed)-3))
	}
	if len(passed) > 0 {
		passed = []string{"ignored, no cabling in them: " + strings.Join(passed, ", ")}
	}
	return files, passed, err
}
