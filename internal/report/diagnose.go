package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"railyard/internal/diagnose"
	"railyard/internal/report/screen"
	"railyard/unit"
)

// Maximum lengths of a diagnosis's parts.
const (
	mostFindings = 12
	mostEvidence = 8
	mostEdges    = 10
	mostNotes    = 12
)

// Diagnosis prints the answer, then findings with their evidence, the surest first, pauses, drops and notes.
func Diagnosis(w io.Writer, r *diagnose.Report) {
	screen.Painted(w, screen.Answer, "", answered(r))
	incomplete(w, r.Incomplete)
	for i := range r.Findings {
		if i == mostFindings {
			fmt.Fprintf(w, "\n%d more findings: --json\n", len(r.Findings)-i)
			break
		}
		fmt.Fprintln(w)
		if x := &r.Findings[i]; len(r.Findings) > 1 {
			Wrap(w, "", fmt.Sprintf("%d. %s: %v (%v)", i+1, x.Grade, titled(x), x.Sure))
		}
		finding(w, &r.Findings[i])
	}
	pauses(w, r.Pauses)
	section(w, "Drops", r.Drops, classDrops)
	besideSimulation(w, r.Compared)
	if len(r.Notes) > 0 {
		fmt.Fprintln(w)
	}
	for i, n := range r.Notes {
		if i == mostNotes {
			fmt.Fprintf(w, "%d more notes: --json\n", len(r.Notes)-i)
			break
		}
		Labelled(w, "note: ", n)
	}
	fmt.Fprintf(w, "\n%s of %s read\n", unit.Plural(r.Ports, "port"), unit.Plural(r.Devices, "device"))
}

// answered is the first line: the number of faults and congestion points, and the first of them.
func answered(r *diagnose.Report) string {
	faults := r.Faults()
	congested := len(r.Findings) - faults
	switch {
	case len(r.Findings) > 0:
	case len(r.Drops) > 0:
		_, most := classDrops(r.Drops[0])
		n := uint64(0)
		for _, d := range r.Drops {
			n += d.Packets
		}
		return fmt.Sprintf("%s dropped, cause unknown from these counters; most: %s", unit.Plural(n, "packet"), most)
	case r.Undecided != "":
		return "Undecided: " + r.Undecided
	case r.Missed() != "":
		return "No fault and no congestion in what could be read; " + r.Missed()
	default:
		return "No fault and no congestion in these counters"
	}
	said := "No fault"
	if faults > 0 {
		fault := "fault"
		if !slices.ContainsFunc(r.Findings, surer) {
			fault = "possible fault"
		}
		said = unit.Plural(faults, fault)
	} else if r.Missed() != "" {
		said += " in what could be read"
	}
	if r.Missed() != "" {
		said += "; " + r.Missed()
	}
	if congested > 0 {
		said += "; " + unit.Plural(congested, "congestion point")
	}
	first := &r.Findings[0]
	of := ": "
	if len(r.Findings) > 1 {
		of = "; first: "
	}
	said += of + titled(first) + fmt.Sprintf(" (%v)", first.Sure)
	if r.Undecided != "" {
		said += "; congestion undecided: " + r.Undecided
	}
	return said
}

// incomplete prints the devices some of whose counters have no difference.
func incomplete(w io.Writer, all []diagnose.Incomplete) {
	section(w, "Incomplete: faults there may be missed", all, func(x diagnose.Incomplete) (label, text string) {
		text = x.String()
		if x.File != "" {
			text += " (" + x.File + ")"
		}
		return "  ", text
	})
}

// titled names a finding: the cause and the port.
func titled(x *diagnose.Finding) string {
	at := x.Device
	if x.Port != "" {
		at += " " + x.Port
	}
	if at == "" {
		return x.Cause
	}
	return x.Cause + " at " + at
}

// surer reports whether a fault is more than possible.
func surer(x diagnose.Finding) bool { return x.Grade == diagnose.Fault && x.Sure < diagnose.Possible }

// finding prints one.
func finding(w io.Writer, x *diagnose.Finding) {
	Wrap(w, "  ", x.Says)
	for i, e := range x.Evidence {
		if i == mostEvidence {
			fmt.Fprintf(w, "    %d more lines of evidence: --json\n", len(x.Evidence)-i)
			break
		}
		Labelled(w, "    ", e.String())
	}
	Labelled(w, "  Cause: ", x.Why)
	Labelled(w, "  Remedy: ", x.Fix)
	for _, s := range x.Next {
		Labelled(w, "  Next: ", fmt.Sprintf("%s# %s   (%s)", s.Device, s.Command, s.Why))
	}
}

// pauses prints the PFC pause tree, roots first.
func pauses(w io.Writer, all []diagnose.Edge) {
	if len(all) == 0 {
		return
	}
	head := "PFC pauses"
	one := !slices.ContainsFunc(all, func(e diagnose.Edge) bool { return e.Class != all[0].Class })
	if one && all[0].Class >= 0 {
		head += fmt.Sprintf(", priority %d", all[0].Class)
	}
	t := screen.Table{Columns: []screen.Column{{Head: head}, {Head: "priority", Rare: true}, {Head: "frames"},
		{Head: "per second", Rare: true, Spare: true}, {Left: true, Rare: true}}}
	for _, e := range all[:min(len(all), mostEdges)] {
		class, rate, root := "", "", ""
		switch {
		case one:
		case e.Class >= 0:
			class = strconv.Itoa(e.Class)
		default:
			class = "all"
		}
		if e.PerSec > 0 {
			rate = diagnose.Short(e.PerSec)
		}
		if e.Begins {
			root = "root"
		}
		t.Add(e.From+" pauses "+e.To, class, unit.ShowCount(e.Frames), rate, root)
	}
	fmt.Fprintln(w)
	t.Print(w)
	if n := len(all) - mostEdges; n > 0 {
		fmt.Fprintf(w, "%d more: --json\n", n)
	}
}

// section prints a heading and a line for each of a list, up to mostEdges.
func section[T any](w io.Writer, heading string, all []T, line func(T) (label, text string)) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", heading)
	for i, x := range all {
		if i == mostEdges {
			fmt.Fprintf(w, "  %d more: --json\n", len(all)-i)
			break
		}
		label, text := line(x)
		Labelled(w, label, text)
	}
}

// classDrops returns a port's drops of a class.
func classDrops(d diagnose.Drop) (label, text string) {
	where, kind := "egress", "lossy"
	if d.Ingress {
		where = "ingress"
	}
	if d.Lossless {
		kind = "lossless"
	}
	if d.Class < 0 {
		return "  ", fmt.Sprintf("%s, %s, not counted by class: %s (%s:%d)", d.Port, where,
			unit.Plural(d.Packets, "packet"), d.File, d.Line)
	}
	return "  ", fmt.Sprintf("%s, class %d (%s), %s: %s (%s:%d)", d.Port, d.Class, kind, where,
		unit.Plural(d.Packets, "packet"), d.File, d.Line)
}

// besideSimulation prints counters that a simulation of the fabric counted otherwise.
func besideSimulation(w io.Writer, all []diagnose.Compared) {
	if len(all) == 0 {
		return
	}
	t := screen.Table{Columns: []screen.Column{{Head: "Counters, per second"}, {Head: "", Left: true}, {Head: "measured"},
		{Head: "simulated"}}}
	for _, c := range all {
		t.Add(c.Port, c.Counter, diagnose.Short(c.Seen), diagnose.Short(c.Simulated))
	}
	fmt.Fprintln(w)
	t.Print(w)
}
