package trace

import (
	"railyard/internal/coll"
	"railyard/internal/tally"
	"railyard/internal/workload"
	"railyard/unit"
)

// Run is the algorithm, protocol and channels of a traced collective.
type Run struct {
	workload.CollectiveRun        // values missing in the trace are ""
	NICs                   int    // of each server
	By                     string // source of the choice: the trace, or NCCL's tuning model
	named                  bool   // Algorithm is from the name of a kernel
	asked                  string // the trace's own values
}

// Fit is the fabric of a trace. It returns a collective as NCCL runs it there among some ranks, with the number of
// channels and NICs, and with the trace's algorithm and protocol if it has them.
type Fit func(run Run, ranks []int) Run

// Named reports whether the algorithm is from the name of a kernel. NCCL has kernels of rings and of trees. All
// other algorithms run in the kernels of rings, and all protocols in the kernels of LL (best_kernel of nccl's
// src/device/generate.py).
func (r *Run) Named() bool { return r.named }

// Say sets a run's algorithm, overriding the trace.
func (r *Run) Say(algorithm, by string) {
	r.Algorithm, r.By, r.named, r.Orders = algorithm, by, false, nil
}

// words describes a run; more follows the algorithm.
func (r *Run) words(more string) string {
	s := map[string]string{coll.ByRing: "rings", coll.ByTree: "trees", coll.ByNVLS: "NVLS",
		coll.ByNVLSTree: "NVLSTree", coll.ByRails: "rings inside servers and rings of rails", coll.ByChain: "chains",
		"direct": "direct exchanges"}[r.algorithm()] + more
	if r.By == "" {
		return s
	}
	if r.Protocol != "" {
		s += " (" + r.Protocol + ")"
	}
	n, nics := max(1, r.Channels), r.NICs
	if r.Orders != nil {
		n = len(r.Orders)
	}
	switch r.algorithm() {
	case coll.ByRing, coll.ByChain:
		s += " on " + unit.Plural(n, "channel")
		nics = min(nics, n)
	}
	if nics > 0 {
		s += " over " + unit.Plural(nics, "NIC") + " of each server"
	}
	return s + ", by " + r.By
}

// algorithm is the name of a run's algorithm.
func (r *Run) algorithm() string {
	switch {
	case r.Algorithm != "":
		return r.Algorithm
	case r.Kind == coll.ToAll:
		return "direct"
	case r.Kind == coll.Bcast:
		return coll.ByChain
	case r.Kind == coll.SendRecv:
		return ""
	}
	return coll.ByRing
}

// fitter decides how the collectives of a trace run.
type fitter struct {
	on   Fit // nil: nothing is known of the fabric
	per  int // GPUs of a server, without a fabric; 0: not known
	lean bool
	have map[fitKey]Run
	runs []tally.Count
}

type fitKey struct {
	ranks               *int
	n                   int
	kind                coll.Kind
	bytes               unit.Bytes
	algorithm, protocol string
	named               bool
}

// run completes want, the part of a collective's algorithm that the trace has.
func (f *fitter) run(want Run, ranks []int) Run {
	key := fitKey{&ranks[0], len(ranks), want.Kind, want.Bytes, want.Algorithm, want.Protocol, want.named}
	r, known := f.have[key]
	if !known {
		if r = want; f.on != nil {
			r = f.on(want, ranks)
		}
		if r.By == "" { // of no fabric
			r.Servers, r.Protocol = coll.Even(max(1, f.per)), ""
			if r.Algorithm != coll.ByTree {
				r.Algorithm = ""
			}
		}
		if r.algorithm() != coll.ByRing {
			r.Orders = nil
		}
		if want.Algorithm != "" && want.Algorithm != r.algorithm() && !want.named {
			r.asked = want.Algorithm
		}
		if f.have == nil {
			f.have = map[fitKey]Run{}
		}
		f.have[key] = r
	}
	if f.lean && (r.Channels > 1 || len(r.Orders) > 1) && r.algorithm() == coll.ByRing && r.Servers.AsMany(ranks) {
		r.Algorithm, r.Channels, r.Orders = coll.ByRails, 0, nil
		r.By += ", whose rings take too many transfers"
	}
	return r
}

// reckon sums the operations of all collectives. Rings with too many operations run in two levels, which use the
// same links with fewer. each calls its argument with every collective.
func (f *fitter) reckon(acts float64, each func(add func(want Run, ranks []int))) {
	total := acts
	each(func(want Run, ranks []int) {
		r := f.run(want, ranks)
		total += r.Transfers(len(ranks))
	})
	f.lean = total > workload.MaxOps
}

// note records the description of a run.
func (f *fitter) note(report *Report, what string, r *Run, more, file string, line int) {
	if r.asked != "" {
		note(&report.Guessed, what+" recorded as "+r.asked+", simulated as "+r.words(more), file, line)
	}
	what += ", as " + r.words(more)
	note(&report.Mapped, what, file, line)
	if r.By != "" {
		note(&f.runs, what, file, line)
	}
}
