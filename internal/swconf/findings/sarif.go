package findings

import (
	"encoding/json"
	"io"
	"path/filepath"

	"railyard/docs/rules"
	"railyard/internal/runner"
	"railyard/internal/swconf"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
)

// levels are SARIF's words for severities.
var levels = map[swconf.Severity]string{swconf.Error: "error", swconf.Warning: "warning", swconf.Info: "note"}

// WriteSARIF writes findings in the Static Analysis Results Interchange Format
// 2.1.0 (OASIS), which code review systems show at their lines. Each rule comes with its page. With a
// baseline findings are new, unchanged or absent (3.27.24).
func WriteSARIF(w io.Writer, list []swconf.Finding, base *Baseline) error {
	run := sarif.NewRunWithInformationURI("railyard", "")
	run.Tool.Driver.InformationURI = nil // no page exists for a reference
	v := runner.Version()
	run.Tool.Driver.Version = &v
	for _, r := range swconf.Rules() {
		help := sarif.NewMultiformatMessageString().WithText(r.Short + ". " + r.Why)
		if page, ok := rules.Page(r.ID); ok {
			help = help.WithMarkdown(page)
		}
		run.AddRule(r.ID).WithDescription(r.Short).WithHelp(help).
			WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(levels[r.Severity]))
	}
	if base == nil {
		addResults(run, list, "")
	} else {
		c := base.Split(list)
		addResults(run, c.Fresh, "new")
		addResults(run, c.known, "unchanged")
		for _, i := range c.gone {
			addResult(run, &base.were[i], "no longer found", base.is[i], base.words[i]).WithBaselineState("absent")
		}
	}
	// Encoding a sarif.Report would link its Validate: a JSON Schema validator and text/template.
	rep := sarif.NewReport()
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Schema  string       `json:"$schema"`
		Version string       `json:"version"`
		Runs    []*sarif.Run `json:"runs"`
	}{rep.Schema, rep.Version, []*sarif.Run{run}})
}

// addResults adds findings that are all in one state of a baseline, "" without one.
func addResults(run *sarif.Run, list []swconf.Finding, state string) {
	for i := range list {
		f := &list[i]
		r := addResult(run, f, f.Message+". Why: "+f.Why+". Fix: "+f.Fix, fingerprint(f), wordprint(f))
		if r.WithLevel(levels[f.Severity]); state != "" {
			r.WithBaselineState(state)
		}
	}
}

// addResult adds one in some words.
func addResult(run *sarif.Run, f *swconf.Finding, text, print, words string) *sarif.Result {
	region := sarif.NewRegion().WithStartLine(max(f.Line, 1))
	if f.Column > 0 {
		region.WithStartColumn(f.Column)
	}
	return run.CreateResultForRule(f.Rule).WithMessage(sarif.NewTextMessage(text)).
		WithPartialFingerprints(map[string]string{Print: print, wordsKey: words}).
		AddLocation(sarif.NewLocationWithPhysicalLocation(sarif.NewPhysicalLocation().WithArtifactLocation(
			sarif.NewArtifactLocation().WithURI(filepath.ToSlash(f.File))).WithRegion(region)))
}
