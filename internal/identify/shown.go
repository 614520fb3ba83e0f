package identify

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"railyard/internal/cabling"
	"railyard/internal/capture"
	"railyard/internal/counters"
	"railyard/internal/diagnose"
	"railyard/internal/field"
	"railyard/internal/jobscript"
	"railyard/internal/machine"
	"railyard/internal/report"
	"railyard/internal/result"
	"railyard/internal/scenariofile"
	"railyard/internal/swconf"
	"railyard/internal/swconf/dialect"
	"railyard/internal/trace"
	"railyard/unit"
)

// isRun recognizes run directories.
func isRun(f *File) bool {
	_, err := os.Stat(filepath.Join(f.Path, "run.json"))
	return f.Dir && err == nil
}

// showRun adds the first line of a run's report and that of its lost time.
func showRun(f *File, a *Account) error {
	s, err := result.ReadSummary(f.Path)
	if err != nil {
		return err
	}
	var b strings.Builder
	report.Text(&b, s)
	a.show("%s", report.Answer(s))
	for line := range strings.Lines(b.String()) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "Time above") {
			a.show("%s", line)
		}
	}
	if !s.Complete {
		a.show("the run is incomplete: it was interrupted, or a job failed")
	}
	a.next("print the report", "report %s", f.quoted())
	a.nextWhy(f.Path)
	a.next("list the tables and columns of SQL queries", "query %s", f.quoted())
	a.next("write the report as a page", "report %s --html report.html", f.quoted())
	return nil
}

// mostPackets is the maximum number of counted packets of a capture.
const mostPackets = 1_000_000

// showCapture counts the packets of a capture.
func showCapture(f *File, a *Account) error {
	r, err := capture.Open(f.Path)
	if err != nil {
		return err
	}
	defer r.Close()
	n, more := 0, false
	var p capture.Packet
	for ; ; n++ {
		if more = n == mostPackets; more {
			break
		}
		if err := r.Next(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			a.show("%v", err)
			break
		}
	}
	words := unit.Plural(n, "packet")
	if more {
		words = "more than " + words
	}
	a.show("%s", words)
	a.next("decode it message by message", "pcap %s", f.quoted())
	if f.Scenario != "" {
		a.next("measure the delay from mark to CNP", "calibrate%s --capture %s", f.fabric("--fabric"), f.quoted())
	}
	return nil
}

// showTable names the run that a table belongs to.
func showTable(f *File, a *Account) error {
	dir, base := filepath.Dir(f.Path), filepath.Base(f.Path)
	name, is := strings.CutSuffix(base, ".parquet")
	if !is {
		return &field.Error{File: f.Path, Msg: "is a table without its name; accepted: the file in its run directory, NAME.parquet, not a pipe"}
	}
	n, err := result.TableRows(dir, name)
	if err != nil {
		return err
	}
	a.show("%s", unit.Plural(n, "row"))
	a.next("print the first rows", "query %s %s", shellWord(dir), shellWord("select * from "+name+" limit 10"))
	if isRun(&File{Path: dir, Dir: true}) {
		a.next("print the report of its run", "report %s", shellWord(dir))
	}
	return nil
}

// showMachine adds the GPUs and NICs of a server.
func showMachine(f *File, a *Account) error {
	text, err := f.text()
	if err != nil {
		return err
	}
	s, err := machine.Read(f.Path, text)
	if err != nil {
		return err
	}
	a.show("%s and %s", unit.Plural(len(s.GPUs), "GPU"), unit.Plural(len(s.NICs), "NIC"))
	a.next("convert to a scenario", "import --server %s", f.quoted())
	return nil
}

// showSlurm names what reads it.
func showSlurm(f *File, a *Account) error {
	a.show("nodes and partitions of a Slurm cluster")
	a.next("place a job on these nodes", "submit JOB.sbatch --slurm-conf %s --dry-run", f.quoted())
	return nil
}

// showStudy names what runs it.
func showStudy(f *File, a *Account) error {
	a.next("simulate its trials", "sweep run %s", f.quoted())
	return nil
}

// showScenario adds the fabric and the work of a scenario.
func showScenario(f *File, a *Account) error {
	p, err := scenariofile.Checked(f.Path, nil)
	if err != nil {
		return err
	}
	a.show("%s: %s, %s, %s", p.Name, unit.Plural(len(p.Graph.Hosts), "host"), unit.Plural(p.Graph.TotalGPUs(), "GPU"),
		unit.Plural(len(p.Graph.Links), "link"))
	if p.Unfit == "" {
		a.show("%s in %s", unit.Plural(p.Ops(), "operation"), unit.Plural(len(p.Jobs), "job"))
	}
	a.next("simulate it", "run %s", f.quoted())
	a.next("print tiers, links and failure domains", "topo %s", f.quoted())
	a.next("print the values in effect", "check %s", f.quoted())
	return nil
}

// showConfiguration adds language and findings of a configuration.
func showConfiguration(f *File, a *Account) error {
	text, err := f.text()
	if err != nil {
		return err
	}
	c, err := dialect.Parse(f.Path, text, "")
	if err != nil {
		return err
	}
	a.What = "configuration of " + dialect.Title(c.OS)
	a.show("%d of %d lines recognized", c.Read+c.Passed, c.Total)
	in := swconf.Input{Configs: []*swconf.Config{c}, PathMTU: 4096}
	in.DataDSCP, in.CNPDSCP = swconf.UsualDSCPs(in.Configs)
	found := swconf.Lint(in)
	if n := swconf.Count(found, swconf.Error); n > 0 {
		a.show("%s of lint", unit.Plural(n, "error"))
	}
	a.next("find errors, with remedies", "config lint %s%s", f.quoted(), f.fabric("--fabric"))
	if c.HasQoS() {
		a.next("print classification, scheduling, ECN and PFC", "config show %s", f.quoted())
	}
	return nil
}

// showHost names what reads the configuration of a host.
func showHost(f *File, a *Account) error {
	a.next("find errors, with remedies", "config lint %s%s", f.quoted(), f.fabric("--fabric"))
	a.next("print classification, scheduling, ECN and PFC", "config show %s", f.quoted())
	return nil
}

// showCounters adds devices and formats of counters.
func showCounters(f *File, a *Account) error {
	text, err := f.text()
	if err != nil {
		return err
	}
	seen, _, err := counters.Read(f.Path, text)
	if err != nil {
		return err
	}
	var devices, formats []string
	ports := 0
	for i := range seen {
		if ports += len(seen[i].Ports); !slices.Contains(devices, seen[i].Device) {
			devices = append(devices, seen[i].Device)
		}
		if !slices.Contains(formats, seen[i].Format) {
			formats = append(formats, seen[i].Format)
		}
	}
	a.show("%s: %s", unit.Plural(len(devices), "device"), first(devices, 4))
	a.show("%s of counters (%s)", unit.Plural(ports, "port"), first(formats, 4))
	if r, err := diagnose.Diagnose(diagnose.Input{After: seen, CNPDSCP: 48}); err == nil {
		for _, found := range r.Findings[:min(len(r.Findings), 3)] {
			a.show("%s", found.Says)
		}
	}
	a.next("find faults and congestion", "diagnose %s%s", f.quoted(), f.fabric("--fabric"))
	return nil
}

// showCabling adds nodes and cables.
func showCabling(f *File, a *Account) error {
	text, err := f.text()
	if err != nil {
		return err
	}
	c, err := cabling.Read([]cabling.File{{Name: f.Path, Text: text}}, "")
	if err != nil {
		return err
	}
	a.What = "cabling: " + strings.Join(c.Formats, ", ")
	a.show("%s, %s", unit.Plural(len(c.Nodes), "node"), unit.Plural(len(c.Cables), "cable"))
	a.next("convert to a scenario", "import %s --out imported.yaml", f.quoted())
	if f.Scenario != "" {
		a.next("compare with the scenario's cables", "topo %s --against %s", shellWord(f.Scenario), f.quoted())
	}
	return nil
}

// showTrace names the format of a trace.
func showTrace(f *File, a *Account) error {
	format, _ := trace.Detect(trace.File{Name: f.Path, Text: f.Head})
	a.What = "trace: " + format.Name
	a.show("%s", format.About)
	a.next("convert to a scenario", "import %s --out imported.yaml", f.quoted())
	return nil
}

// showScript names the program that a job script starts, or the arguments that a file has.
func showScript(f *File, a *Account) error {
	switch kind := jobscript.KindOf(f.Path, f.Head); kind {
	case "job-script":
		if strings.Contains(string(f.Head), "#SBATCH") {
			a.show("a batch script of Slurm")
			if f.Scenario != "" {
				a.next("place it on the fabric and print the ranks", "submit %s%s --dry-run", f.quoted(), f.fabric("--cluster"))
				a.next("simulate the job", "submit %s%s", f.quoted(), f.fabric("--cluster"))
			}
		}
	case "model-config":
		a.What = "model configuration"
		a.next("estimate GPUs, time and cost", "plan size %s --tokens 1T --days 30", f.quoted())
		a.next("estimate memory per stage", "plan memory %s", f.quoted())
		return nil
	default:
		a.What = "training configuration: " + kind
	}
	a.next("convert to a scenario", "import %s --out imported.yaml", f.quoted())
	return nil
}
