package table

import (
	"fmt"
	"io"
	"slices"

	"railyard/internal/report"
	"railyard/internal/report/screen"
	"railyard/internal/speed"
	"railyard/unit"
)

// Speed prints the times of simulations on this computer, each with the times of other simulators.
func Speed(w io.Writer, rows []speed.Row) {
	screen.Painted(w, screen.Answer, "", speedAnswer(rows))
	fmt.Fprintln(w)
	t := screen.Table{Columns: []screen.Column{{Head: "Run"}, {Head: "wall"}, {Head: "CPU", Spare: true}, {Head: "event loop", Spare: true},
		{Head: "memory"}, {Head: "M hops/s"}, {Head: "× Railyard", Rare: true}}}
	var sources []string
	for _, r := range rows {
		t.Add(r.Name, took(r.Wall), known(r.CPU, took), known(r.Events, took), r.Memory.Show(), millions(r.Rate), "")
		for _, p := range r.Peers {
			mark := 1 + slices.Index(sources, p.Source)
			if mark == 0 {
				sources = append(sources, p.Source)
				mark = len(sources)
			}
			slower := unit.NotApplicable
			if p.Wall > 0 && r.Wall > 0 {
				slower = unit.ShowFactor(p.Wall / r.Wall)
			}
			t.Add(fmt.Sprintf("  %s [%d]", p.Name, mark), known(p.Wall, took), unit.NotApplicable, unit.NotApplicable,
				known(float64(p.Memory), func(b float64) string { return unit.Bytes(b).Show() }),
				known(p.Rate, millions), slower)
		}
	}
	t.Print(w)
	fmt.Fprintln(w)
	report.Wrap(w, "", "Measured on this computer: Railyard, whole process. Reference figures, measured elsewhere:")
	for i, s := range sources {
		report.Labelled(w, fmt.Sprintf("[%d] ", i+1), s)
	}
	report.Wrap(w, "", "docs/comparison/run builds uet-htsim and HPCC's ns-3 and runs the same work on this computer.")
}

// speedAnswer compares the first run that has a peer with it.
func speedAnswer(rows []speed.Row) string {
	for _, r := range slices.Backward(rows) {
		if len(r.Peers) > 0 && r.Rate > 0 {
			p := &r.Peers[0]
			return fmt.Sprintf("%s: %s, %s M packet-hops/s; %s: %s (reference)", r.Name, took(r.Wall), millions(r.Rate),
				p.Name, known(p.Wall, took))
		}
	}
	return "No run has a reference figure"
}

// known shows a figure that a source may not have.
func known(x float64, show func(float64) string) string {
	if x == 0 {
		return unit.NotApplicable
	}
	return show(x)
}

// millions shows a rate.
func millions(perSecond float64) string {
	if perSecond == 0 {
		return unit.NotApplicable
	}
	return unit.Digits(perSecond / 1e6)
}
