package importing

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"railyard/internal/cabling"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/report"
	"railyard/internal/scenariofile"
	"railyard/internal/trace"
	"railyard/unit"
)

// Trace is the JSON output of import for a trace.
type Trace struct {
	Format string   `json:"format"`
	Files  []string `json:"files"`
	Ranks  int      `json:"ranks"`
	trace.Report
	Findings []string `json:"findings,omitempty"`
	site     trace.Site
}

// splitTraces separates traces from cabling files: by the given format, or by their beginnings.
func (c *reader) splitTraces(files []string) (traces, cablings []string, err error) {
	for _, path := range files {
		st, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, nil, input.Fault(err)
		case st.IsDir():
			some, others, err := c.folder(path)
			if err != nil {
				return nil, nil, input.Fault(err)
			}
			traces, cablings = append(traces, some...), append(cablings, others...)
			continue
		case c.Format != "" && !slices.Contains(trace.Names(), c.Format):
			cablings = append(cablings, path)
			continue
		case c.Format != "":
			traces = append(traces, path)
			continue
		}
		text, err := beginning(path)
		if err != nil {
			return nil, nil, input.Fault(err)
		}
		if _, ok := trace.Detect(trace.File{Name: path, Text: text}); ok {
			traces = append(traces, path)
		} else {
			cablings = append(cablings, path)
		}
	}
	return traces, cablings, nil
}

// folder separates the traces in a directory from the other files. If a directory has no traces, its files are
// cablings. Other files that do not describe cables are ignored and reported.
func (c *reader) folder(dir string) (traces, cablings []string, err error) {
	if c.Format != "" && !slices.Contains(trace.Names(), c.Format) {
		return nil, []string{dir}, nil
	}
	passed, formats := 0, map[string]int{}
	err = input.Walk(dir, maxFiles, func(path string) error {
		text, err := beginning(path)
		if err != nil {
			return err
		}
		f, ok := trace.Detect(trace.File{Name: path, Text: text})
		switch {
		case ok && (c.Format == "" || c.Format == f.Name):
			traces = append(traces, path)
			formats[f.Name]++
		case cabling.Looks(cabling.File{Name: path, Text: text}) != "":
			cablings = append(cablings, path)
		default:
			passed++
		}
		return nil
	})
	if err != nil || len(traces) == 0 {
		return nil, []string{dir}, err
	}
	if formats["kineto"] > 0 {
		delete(formats, "pytorch-et") // profiles of the same ranks are read instead
	}
	if len(formats) > 1 {
		var all []string
		for _, name := range slices.Sorted(maps.Keys(formats)) {
			all = append(all, fmt.Sprintf("%s (%s)", name, unit.Plural(formats[name], "file")))
		}
		return nil, nil, fmt.Errorf("%s contains traces of several formats: %s; choose one with --format",
			dir, strings.Join(all, ", "))
	}
	if passed > 0 {
		c.notes = append(c.notes, fmt.Sprintf("%s: %s ignored", dir, unit.Plural(passed, "file")))
	}
	return traces, cablings, nil
}

// known refuses a format that is neither a cabling's nor a trace's.
func (c *reader) known() error {
	if names := formatNames(); c.Format != "" && !slices.Contains(names, c.Format) {
		return field.Choice("--format", c.Format, names, "unknown format %s", field.Quote(c.Format)).ListedBy("railyard import --help")
	}
	return nil
}

// formatNames are all formats that import reads, in alphabetical order.
func formatNames() []string {
	names := append(trace.Names(), kindNames()...)
	for _, f := range cabling.Formats() {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return slices.Compact(names) // simai is a fabric and a workload
}

// segment is the number of servers on one leaf of a rail in an assumed fabric.
const segment = 64

// ofHosts are traces whose nodes are servers with one NIC, not GPUs.
var ofHosts = []string{"hpcc-flows", "htsim-cm"}

// assumed returns a fabric for ranks of a trace without a fabric; site has their servers, if it names them.
func assumed(ranks int, format string, site trace.Site) (text, note string) {
	per := 8
	if ranks < per || slices.Contains(ofHosts, format) {
		per = 1
	}
	if site.GPUs > 0 {
		per = site.GPUs
	}
	nics := per
	if site.NICs > 0 && per%site.NICs == 0 {
		nics = site.NICs
	}
	hosts := max(2, (ranks+per-1)/per)
	shape, where := fmt.Sprintf("hosts: %d, spines: 1", hosts), "one segment of rails"
	if n := (hosts + segment - 1) / segment; n > 1 {
		shape = fmt.Sprintf("hosts: %d, segments: %d, spines: %d", segment, n, segment)
		where, hosts = fmt.Sprintf("%d segments of rails", n), n*segment
	}
	server := unit.Plural(per, "GPU")
	if nics != per {
		server += " and " + unit.Plural(nics, "NIC")
	}
	return fmt.Sprintf("fabric: {kind: rail, %s}\nserver: {gpus: %d, nics: %d}\n", shape, per, nics),
		fmt.Sprintf("no cabling in the files: %s of %s on %s assumed",
			unit.Plural(hosts, "host"), server, where)
}

// settings are blocks of a scenario from a trace's own settings.
func settings(all []trace.Setting) string {
	var b strings.Builder
	block := ""
	for _, s := range all {
		if s.Block != block {
			block = s.Block
			fmt.Fprintf(&b, "%s:\n", block)
		}
		fmt.Fprintf(&b, "  %s: %s # %s\n", s.Key, s.Value, s.From)
	}
	return b.String()
}

// workloadOf reads traces and returns the workload of a scenario that names them relative to its folder.
func (c *reader) workloadOf(paths []string) (string, *Trace, error) {
	out := &Trace{Files: paths}
	x, paths, err := c.readTraces(paths)
	if err != nil {
		return "", nil, input.Fault(err)
	}
	out.Format, out.Ranks, out.Report, out.site = x.Format, x.Ranks, x.Report, x.Site
	out.Findings = x.Findings
	var b strings.Builder
	b.WriteString(settings(x.Settings))
	fmt.Fprintf(&b, "workload:\n  trace:\n    format: %s\n    files:\n", x.Format)
	for _, path := range paths {
		fmt.Fprintf(&b, "      - %q\n", c.fromOut(path))
	}
	if c.Step != 0 {
		fmt.Fprintf(&b, "    step: %d\n", c.Step)
	}
	return b.String(), out, nil
}

// fromOut returns a file's path for the written scenario: relative to its directory, or absolute.
func (c *reader) fromOut(path string) string {
	if c.Out == "" || filepath.IsAbs(path) {
		return filepath.ToSlash(path)
	}
	to, err1 := filepath.Abs(filepath.Dir(c.Out))
	from, err2 := filepath.Abs(path)
	if rel, err := filepath.Rel(to, from); err == nil && err1 == nil && err2 == nil {
		path = rel
	}
	return filepath.ToSlash(path)
}

// sameNumbers are traces and cablings of one tool that number the same nodes, with the names of these nodes here.
var sameNumbers = []struct{ trace, cabling, nodes string }{
	{"hpcc-flows", "hpcc", "host-{n}"},
	{"htsim-cm", "htsim", "host-{n+1}"},
}

// siteOf returns the hosts of a trace, with --gpus if the trace has no count.
func (c *reader) siteOf(found *Trace) (trace.Site, error) {
	site := found.site
	if c.GPUs != 0 && site.GPUs != 0 && c.GPUs != site.GPUs {
		return site, field.New("--gpus", "%d contradicts the %s trace: %s per host; accepted: %[4]d, or no --gpus",
			c.GPUs, found.Format, unit.Plural(site.GPUs, "GPU"), site.GPUs)
	}
	site.GPUs = max(site.GPUs, c.GPUs)
	return site, nil
}

// traces makes a scenario of traces on the fabric that other files describe, or on an assumed one.
func (c *reader) traces(traces, cablings []string) (*Imported, error) {
	work, found, err := c.workloadOf(traces)
	if err != nil {
		return nil, err
	}
	out := &Imported{Formats: []string{found.Format}, Files: len(traces) + len(cablings), Trace: found}
	name := scenariofile.Slug("", traces[0])
	if len(cablings) == 0 {
		site, err := c.siteOf(found)
		if err != nil {
			return nil, err
		}
		text, note := assumed(found.Ranks, found.Format, site)
		out.Scenario = fmt.Sprintf("name: %s\n%s", name, text)
		out.Notes = append(out.Notes, note)
	} else {
		if out, err = c.cabledWith(out, cablings); err != nil {
			return nil, err
		}
	}
	for _, x := range sameNumbers {
		if found.Format == x.trace && slices.Contains(out.Formats, x.cabling) {
			work += "    nodes: " + x.nodes + "\n"
		}
	}
	out.Scenario, out.Notes = out.Scenario+work+c.settings, append(out.Notes, c.notes...)
	plan, err := loads(out.Scenario, c.besideOut())
	if err != nil {
		if len(cablings) == 0 {
			return nil, input.Fault(fmt.Errorf("%s: %s fit no default fabric; pass a file with the cabling too: %w", traces[0], unit.Plural(found.Ranks, "rank"), err))
		}
		return nil, err
	}
	for _, x := range plan.Traces { // the trace sets the algorithms of collectives on the fabric
		found.Mapped = x.Report.Mapped
	}
	if i := slices.IndexFunc(traces, input.Pipe); i >= 0 && c.Out != "" {
		out.Notes = append(out.Notes, fmt.Sprintf("%s is a pipe, and the scenario names it: run cannot read it again; save it as a file and import that", traces[i]))
	}
	out.affordable(plan)
	return out, nil
}

// Words is the report of a trace, line by line.
func (t *Trace) Words() string {
	var b strings.Builder
	report.Wrap(&b, "", fmt.Sprintf("%s: %s", t.Format, unit.Plural(t.Ranks, "rank")))
	for _, f := range t.Findings {
		report.Labelled(&b, "  found     ", f)
	}
	for _, part := range []struct {
		name string
		all  []trace.Count
	}{{"mapped", t.Mapped}, {"assumed", t.Guessed}, {"left out", t.Left}} {
		for _, x := range part.all {
			report.Labelled(&b, fmt.Sprintf("  %-9s ", part.name), x.Words())
		}
	}
	return b.String()
}
