package main

import (
	"io"
	"path/filepath"

	"railyard/internal/swconf"

	"github.com/owenrumney/go-sarif/v3/pkg/report"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
)

// levels are SARIF's words for severities.
var levels = map[swconf.Severity]string{swconf.Error: "error", swconf.Warning: "warning", swconf.Info: "note"}

// writeSARIF writes findings in the Static Analysis Results Interchange Format
// 2.1.0 (OASIS), which code review systems show at their lines.
func writeSARIF(w io.Writer, list []swconf.Finding) error {
	run := sarif.NewRunWithInformationURI("railyard", "")
	run.Tool.Driver.InformationURI = nil // there is no page to point at
	v := version()
	run.Tool.Driver.Version = &v
	for _, r := range swconf.Rules() {
		run.AddRule(r.ID).WithDescription(r.Short).WithHelp(sarif.NewMultiformatMessageString().WithText(
			r.Short + ". " + r.Why)).
			WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(levels[r.Severity]))
	}
	for _, f := range list {
		region := sarif.NewRegion().WithStartLine(max(f.Line, 1))
		if f.Column > 0 {
			region.WithStartColumn(f.Column)
		}
		text := f.Message + ". Why: " + f.Why + ". Fix: " + f.Fix
		run.CreateResultForRule(f.Rule).WithLevel(levels[f.Severity]).WithMessage(sarif.NewTextMessage(text)).
			AddLocation(sarif.NewLocationWithPhysicalLocation(sarif.NewPhysicalLocation().
				WithArtifactLocation(
					sarif.NewArtifactLocation().WithURI(filepath.ToSlash(f.File))).WithRegion(region)))
	}
	rep := report.NewV210Report()
	rep.AddRun(run)
	return rep.PrettyWrite(w)
}
