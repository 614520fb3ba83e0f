package report

import (
	"fmt"
	"io"
	"slices"

	"railyard/internal/diagnose"
	"railyard/unit"
)

// What is printed of a diagnosis at most: somebody reads it.
const (
	mostFindings = 12
	mostEvidence = 8
	mostEdges    = 10
	mostNotes    = 12
)

// Diagnosis prints what was found, the surest first, and what it rests on.
func Diagnosis(w io.Writer, r *diagnose.Report) {
	for i := range r.Findings {
		if i == mostFindings {
			fmt.Fprintf(w, "and %d more (--json has all)\n\n", len(r.Findings)-i)
			break
		}
		finding(w, i+1, &r.Findings[i])
	}
	switch {
	case len(r.Findings) > 0:
	case len(r.Drops) > 0:
		_, most := classDrops(r.Drops[0])
		n := uint64(0)
		for _, d := range r.Drops {
			n += d.Packets
		}
		Wrap(w, "", fmt.Sprintf("%s dropped, and these counters do not show why; most: %s",
			unit.Plural(n, "packet"), most))
		fmt.Fprintln(w)
	default:
		fmt.Fprint(w, "nothing is wrong that these counters show\n\n")
	}
	section(w, "who pauses whom (pauses begin at *):", r.Pauses, pauseEdge)
	section(w, "drops:", r.Drops, classDrops)
	besideSimulation(w, r.Compared)
	if len(r.Notes) > 0 {
		fmt.Fprintln(w, "what cannot be told, and what to know:")
		for i, n := range r.Notes {
			if i == mostNotes {
				fmt.Fprintf(w, "   and %d more\n", len(r.Notes)-i)
				break
			}
			Labelled(w, "   - ", n)
		}
		fmt.Fprintln(w)
	}
	faults := r.Faults()
	fault := "fault"
	if faults > 0 && !slices.ContainsFunc(r.Findings, surer) {
		fault = "possible fault"
	}
	Wrap(w, "", fmt.Sprintf("%s, %s of congestion, in the counters of %s of %s", unit.Plural(faults, fault),
		unit.Plural(len(r.Findings)-faults, "place"), unit.Plural(r.Ports, "port"),
		unit.Plural(r.Devices, "device")))
}

// surer reports a fault that is more than possible.
func surer(x diagnose.Finding) bool { return x.Grade == diagnose.Fault && x.Sure < diagnose.Possible }

// finding prints one.
func finding(w io.Writer, n int, x *diagnose.Finding) {
	Wrap(w, "", fmt.Sprintf("%d. %s (%v, %v)", n, x.Cause, x.Grade, x.Sure))
	Wrap(w, "   ", x.Says)
	for i, e := range x.Evidence {
		if i == mostEvidence {
			fmt.Fprintf(w, "      and %d more\n", len(x.Evidence)-i)
			break
		}
		Labelled(w, "      ", e.String())
	}
	Labelled(w, "   why: ", x.Why)
	Labelled(w, "   fix: ", x.Fix)
	for _, s := range x.Next {
		Labelled(w, "   next: ", fmt.Sprintf("%s# %s   (%s)", s.Device, s.Command, s.Why))
	}
	fmt.Fprintln(w)
}

// section prints a line for each of a list, as many as one reads, with a heading unless there is none.
func section[T any](w io.Writer, heading string, all []T, line func(T) (label, text string)) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(w, heading)
	for i, x := range all {
		if i == mostEdges {
			fmt.Fprintf(w, "   and %d more\n", len(all)-i)
			break
		}
		label, text := line(x)
		Labelled(w, label, text)
	}
	fmt.Fprintln(w)
}

// pauseEdge is who pauses whom.
func pauseEdge(e diagnose.Edge) (label, text string) {
	mark, rate := " ", ""
	if e.Begins {
		mark = "*"
	}
	if e.PerSec > 0 {
		rate = fmt.Sprintf(", %s/s", diagnose.Short(e.PerSec))
	}
	class := "all priorities"
	if e.Class >= 0 {
		class = fmt.Sprintf("priority %d", e.Class)
	}
	return " " + mark + " ", fmt.Sprintf("%s -> %s, %s: %s%s", e.From, e.To, class,
		unit.Plural(e.Frames, "pause"), rate)
}

// classDrops is what a port dropped of a class.
func classDrops(d diagnose.Drop) (label, text string) {
	where, kind := "egress", "may drop"
	if d.Ingress {
		where = "ingress"
	}
	if d.Lossless {
		kind = "lossless"
	}
	if d.Class < 0 {
		return "   ", fmt.Sprintf("%s, %s, not counted by class: %s (%s:%d)", d.Port, where,
			unit.Plural(d.Packets, "packet"), d.File, d.Line)
	}
	return "   ", fmt.Sprintf("%s, class %d (%s), %s: %s (%s:%d)", d.Port, d.Class, kind, where,
		unit.Plural(d.Packets, "packet"), d.File, d.Line)
}

// besideSimulation prints what a simulation counted otherwise.
func besideSimulation(w io.Writer, all []diagnose.Compared) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(w, "beside a simulation of this fabric (per second):")
	for _, c := range all {
		Labelled(w, "   ", fmt.Sprintf("%s: %s: %.4g, simulated %.4g", c.Port, c.Counter, c.Seen, c.Simulated))
	}
	fmt.Fprintln(w)
}
