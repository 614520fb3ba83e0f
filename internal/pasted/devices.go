package pasted

import (
	"errors"
	"slices"

	"railyard/internal/configuration"
	"railyard/internal/counters"
	"railyard/internal/devices"
	"railyard/internal/diagnose"
	"railyard/internal/diagnose/readings"
	"railyard/internal/scenario"
	"railyard/internal/swconf"
	"railyard/internal/swconf/dialect"
)

// Read is the result for pasted texts: counters are diagnosed, configurations are linted.
type Read struct {
	Lint      *Linted          `json:"lint,omitempty"`
	Diagnosis *diagnose.Report `json:"diagnosis,omitempty"`
	Faults    int              `json:"faults"` // of the diagnosis
}

// Linted is lint's findings in configurations.
type Linted struct {
	Devices  []Device      `json:"devices"`
	Findings []LintFinding `json:"findings"` // errors first
	Ignored  []string      `json:"ignored"`
	Unread   string        `json:"unread,omitempty"` // configurations that cannot be read, with the reasons
	DataDSCP int           `json:"data_dscp"`        // data DSCP of RoCE data, set or assumed
}

// LintFinding is one finding of lint.
type LintFinding struct{ swconf.Finding }

// Device is a configuration that was read.
type Device struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	OS     string `json:"os"`
	Lines  int    `json:"lines"`
	Known  int    `json:"known"` // lines that were understood, or are irrelevant to the fabric
	OnHost bool   `json:"host"`
}

// Devices reads texts. Texts with counters are diagnosed, with the rest as configurations; without counters all are
// linted, against the fabric of a plan unless that is nil.
func Devices(texts []Text, plan *scenario.Plan) (*Read, error) {
	f, err := write(texts)
	if err != nil {
		return nil, err
	}
	defer f.close()
	var outputs, configs []string
	for i, t := range texts {
		if s, _, _ := counters.Read(t.Name, []byte(t.Text)); len(s) > 0 {
			outputs = append(outputs, f.paths[i])
		} else {
			configs = append(configs, f.paths[i])
		}
	}
	r := &Read{}
	if len(outputs) > 0 {
		r.Diagnosis, err = f.diagnose(outputs, configs)
	} else {
		r.Lint, err = f.lint(configs, plan)
	}
	if err != nil {
		return nil, f.plain(err)
	}
	if r.Diagnosis != nil {
		r.Faults = r.Diagnosis.Faults()
	}
	return r, nil
}

// read parses configurations of hosts and switches. Other texts are listed with the reason.
func (f *folder) read(paths []string) (hosts []*swconf.Host, all []*swconf.Config, none []string, unread string,
	err error) {
	files, err := configuration.Files(paths)
	if err != nil {
		return nil, nil, nil, "", err
	}
	if len(files) > 1 { // a single text is refused with its reason
		for i := range files {
			files[i].Perhaps = true
		}
	}
	if hosts, files, err = configuration.HostsAmong(nil, files, ""); err != nil || len(files) == 0 {
		return hosts, nil, nil, "", err
	}
	var part *configuration.PartlyRead
	all, none, err = configuration.ParseAll(files, "")
	if errors.As(err, &part) {
		return hosts, all, none, f.name(part.Error()), nil
	}
	return hosts, all, none, "", err
}

// lint lints configurations.
func (f *folder) lint(paths []string, plan *scenario.Plan) (*Linted, error) {
	in := swconf.Input{PathMTU: 4096}
	if plan != nil {
		configuration.Against(&in, plan)
	}
	var none []string
	l := &Linted{Devices: []Device{}, Findings: []LintFinding{}}
	var err error
	if in.Hosts, in.Configs, none, l.Unread, err = f.read(paths); err != nil {
		return nil, err
	}
	if plan != nil {
		if err := devices.FitTexts(in.Graph, in.Configs); err != nil {
			return nil, err
		}
	}
	if in.DataDSCP == 0 && in.CNPDSCP == 0 {
		in.DataDSCP, in.CNPDSCP = swconf.UsualDSCPs(in.Configs)
	}
	l.DataDSCP, l.Ignored = in.DataDSCP, f.names(none)
	for _, c := range in.Configs {
		l.Devices = append(l.Devices, Device{Name: f.name(c.Name()), File: f.name(c.File), OS: dialect.Title(c.OS),
			Lines: c.Total, Known: c.Read + c.Passed})
	}
	for _, h := range in.Hosts {
		l.Devices = append(l.Devices, Device{Name: f.name(h.Name()), File: f.name(h.File), OnHost: true})
	}
	found := swconf.Lint(in)
	order := []swconf.Severity{swconf.Error, swconf.Warning, swconf.Info}
	slices.SortStableFunc(found, func(a, b swconf.Finding) int {
		return slices.Index(order, a.Severity) - slices.Index(order, b.Severity)
	})
	for _, x := range found {
		x.File, x.Message, x.Why, x.Fix = f.name(x.File), f.name(x.Message), f.name(x.Why), f.name(x.Fix)
		l.Findings = append(l.Findings, LintFinding{x})
	}
	return l, nil
}

// diagnose diagnoses by counters, and by configurations if there are some.
func (f *folder) diagnose(outputs, configs []string) (*diagnose.Report, error) {
	in, notes, err := readings.Snapshots(f.rounds(outputs))
	if err != nil {
		return nil, err
	}
	in.CNPDSCP = 48
	if len(configs) > 0 {
		var none []string
		if in.Hosts, in.Configs, none, _, err = f.read(configs); err != nil {
			notes = append(notes, "ignored: "+err.Error())
		}
		for _, n := range none {
			notes = append(notes, "ignored: "+n)
		}
	}
	r, err := diagnose.Diagnose(in)
	if err != nil {
		return nil, err
	}
	r.Notes = f.names(append(notes, r.Notes...))
	for i := range r.Findings {
		for k := range r.Findings[i].Evidence {
			e := &r.Findings[i].Evidence[k]
			e.File, e.Says = f.name(e.File), f.name(e.Says)
		}
	}
	for i := range r.Incomplete {
		r.Incomplete[i].File = f.name(r.Incomplete[i].File)
	}
	for i := range r.Drops {
		r.Drops[i].File = f.name(r.Drops[i].File)
	}
	return r, nil
}

// rounds separates outputs of two times: those below a directory before, and the rest. Without the first, all are
// of one time, or hold both.
func (f *folder) rounds(outputs []string) (earlier string, later []string) {
	for _, path := range outputs {
		dir := before(path)
		if dir == "" {
			later = append(later, path)
		} else {
			earlier = dir
		}
	}
	if len(later) == 0 { // the last reading has no successor: no pair
		return "", outputs
	}
	return earlier, later
}
