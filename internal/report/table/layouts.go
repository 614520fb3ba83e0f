package table

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/planner"
	"railyard/internal/report"
	"railyard/internal/report/screen"
	"railyard/internal/study/layouts"
	"railyard/internal/workload"
	"railyard/unit"
)

// Layouts prints the results of a search over layouts: the best ones, the simulated ones, and infeasible ones with
// reasons. The origin of the efficiency is printed.
func Layouts(w io.Writer, in *planner.SearchInput, r *planner.Result, c planner.Comparison, sims []layouts.Simulated,
	top int, cc, origin string) {
	screen.Painted(w, screen.Answer, "", layoutAnswer(r, c.Error, sims))
	report.Wrap(w, "", fmt.Sprintf("%s on %s %s, %s sequences of %s tokens per step; %s of %s configurations feasible",
		in.Training.Model.Name, unit.ShowCount(in.Site.GPUs), strings.ToUpper(in.Site.GPU.Name),
		unit.ShowCount(in.Training.GlobalBatch), unit.ShowCount(in.Training.Seq), unit.ShowCount(len(r.Candidates)),
		unit.ShowCount(r.Tried)))
	mixed(w, &in.Site)
	if p := in.Training.Precision; p != workload.BF16 && p != "" {
		report.Wrap(w, "", fmt.Sprintf("Matrix products in %s; MFU is of the GPU's peak in %[1]s", p))
	}
	if by := in.Training.Software; by == nil {
		efficiency(w, in, origin)
	} else {
		report.Wrap(w, "", fmt.Sprintf("Kernels and overheads of %s, and what it can run", by))
	}
	if e := c.Error; e != nil && len(r.Candidates) > 0 {
		report.Wrap(w, "", fmt.Sprintf("90 %% interval of each estimate: ÷ and × %s, with an MFU of at most 100 %%, by %s", unit.Digits(e.Factor()),
			judges(in, e)))
	}
	if len(r.Candidates) > 0 {
		uneven(w, in.Training.Model, &r.Candidates[0].Layout)
	}
	asFast(w, r.Candidates)
	nearest(w, in, c.Nearest)
	here(w, r.Candidates, c.Nearest)
	if cc != "" {
		report.Wrap(w, "", fmt.Sprintf("%s: transfers between hosts take %s as long as without congestion control, measured on a ring of four hosts", cc, unit.ShowFactor(in.Site.Waste)))
	}
	simulated(w, sims, len(r.Candidates))
	candidates(w, r.Candidates[:min(top, len(r.Candidates))], len(sims) > 0, in.Training.Software != nil)
	rejected(w, r.Rejected)
}

// layoutAnswer names the best layout: of those simulated, or by the cost model.
func layoutAnswer(r *planner.Result, e *planner.Error, sims []layouts.Simulated) string {
	ran := 0
	for _, s := range sims {
		if s.Skipped == "" {
			ran++
		}
	}
	for _, s := range sims {
		if s.Skipped == "" {
			return fmt.Sprintf("Best of %d simulated: %s: step %s%s, MFU %s", ran, s.Layout,
				took(s.Seconds), report.Approximation(s.Fidelity, s.Expected), unit.ShowShare(s.MFU))
		}
	}
	if r.Tried == 0 {
		return "No configuration of these GPUs has the sizes, schedule and order that the search is limited to"
	}
	if len(r.Candidates) == 0 {
		if slices.ContainsFunc(r.Rejected, func(x planner.Rejected) bool { return x.Reason == planner.AboveMemory }) {
			return "No configuration is feasible. Those above GPU memory need more GPUs, or GPUs with more memory"
		}
		return "No configuration is feasible; none is above GPU memory"
	}
	x := &r.Candidates[0]
	interval := ""
	if e != nil {
		low, high := x.Interval(e)
		interval = fmt.Sprintf(" (90 %% interval %s to %s)", took(low), took(high))
	}
	return fmt.Sprintf("Best estimate: %s: step %s%s, MFU %s", x.Layout, took(x.Seconds), interval,
		unit.ShowShare(x.MFU))
}

// efficiency prints the share of the peak that was assumed, and its origin.
func efficiency(w io.Writer, in *planner.SearchInput, origin string) {
	report.Wrap(w, "", fmt.Sprintf("Matrix products at %v %% of the GPU's peak (%s)", in.Training.Efficiency, origin))
}

// judges names the trainings that an interval is from.
func judges(in *planner.SearchInput, e *planner.Error) string {
	of, more := "trainings held out", ""
	switch by := in.Training.Software; {
	case by == nil:
		of, more = fmt.Sprintf("published trainings at %v %%", in.Training.Efficiency), "; --software narrows it"
	case by.Rows == 0: // no figures of the user's own trainings
		of = "trainings of any framework held out"
	}
	return fmt.Sprintf("%s %s (%s: RMS of the logarithm %s)%s", unit.ShowCount(e.Rows), of, e.Kind, unit.Digits(e.RMS), more)
}

// nearest prints the nearest published training.
func nearest(w io.Writer, in *planner.SearchInput, n *planner.Nearest) {
	if n != nil {
		report.Wrap(w, "", fmt.Sprintf("Nearest published: %s %s, sequences of %s tokens, %s, %s: MFU %s",
			unit.ShowCount(n.GPUs), strings.ToUpper(in.Site.GPU.Name), unit.ShowCount(n.Sequence), n.Layout, n.Software,
			unit.ShowShare(n.MFU)))
	}
}

// asFast counts the configurations that a search cannot order.
func asFast(w io.Writer, all []planner.Candidate) {
	const share = 0.05
	n := 0
	for i := range all {
		if all[i].Seconds <= (1+share)*all[0].Seconds {
			n++
		}
	}
	if n > 1 {
		report.Wrap(w, "", fmt.Sprintf("%s configurations are within %s of the best: closer than estimates are to measured steps",
			unit.ShowCount(n), unit.ShowShare(share)))
	}
}

// here describes the result of the nearest published configuration in this search.
func here(w io.Writer, all []planner.Candidate, n *planner.Nearest) {
	if n == nil {
		return
	}
	i := slices.IndexFunc(all, func(c planner.Candidate) bool { return c.Layout.String() == n.Layout })
	if i > 0 {
		report.Wrap(w, "", fmt.Sprintf("That configuration here: step %s (%s), place %s", took(all[i].Seconds),
			unit.ShowChange(all[i].Seconds, all[0].Seconds), unit.ShowCount(i+1)))
	}
}

// candidates prints estimates, the best first.
func candidates(w io.Writer, all []planner.Candidate, again, framework bool) {
	if len(all) == 0 {
		return
	}
	if again {
		fmt.Fprintln(w, "\nEstimates")
	} else {
		if !framework {
			fmt.Fprintln(w, "Estimates only: --simulate 3 simulates the best three and ranks them again.")
		}
		fmt.Fprintln(w)
	}
	t := screen.Table{Columns: []screen.Column{{Head: "Step"}, {Head: "MFU, %"}, {Head: "tok/s/GPU", Spare: true}, {Head: "GB"},
		{Head: "TP", Rare: true}, {Head: "PP", Rare: true}, {Head: "DP", Rare: true}, {Head: "CP", Rare: true},
		{Head: "EP", Rare: true}, {Head: "bubble", Rare: true}, {Head: "host", Spare: true}, {Head: "leaf", Spare: true},
		{Head: "spine", Spare: true}, {Head: "configuration", Left: true}}}
	for i := range all {
		x := &all[i]
		pc := func(v float64) string { return percent(v / x.Seconds) }
		t.Add(took(x.Seconds), unit.Digits(100*x.MFU), unit.Digits(x.TokensGPU),
			unit.Digits(float64(x.Memory)/1e9), pc(x.Tensor), pc(x.Pipeline), pc(x.Data), pc(x.Context), pc(x.Experts),
			pc(x.Bubble), unit.Digits(x.Tiers[0]/1e9), unit.Digits(x.Tiers[1]/1e9), unit.Digits(x.Tiers[2]/1e9),
			x.Layout.String())
	}
	t.Print(w)
	legend := "GB: memory per GPU. Columns of a parallelism: its exposed communication; bubble: idle time; % of the step."
	if t.Fits(screen.Of(w)) {
		legend += " host, leaf, spine: GB that a GPU sends per step inside its host, through one leaf, over spines."
	}
	if slices.ContainsFunc(all, func(x planner.Candidate) bool { return x.Layout.Sequence }) {
		legend += " TP has sequence parallelism (workload.training.sequence_parallel: true)."
	}
	report.Wrap(w, "", legend)
	contention(w, slices.ContainsFunc(all, func(x planner.Candidate) bool { return x.Layout.EP > 1 }))
}

// rejected prints why layouts are infeasible, in one paragraph, the most frequent reason first.
func rejected(w io.Writer, all []planner.Rejected) {
	if len(all) == 0 {
		return
	}
	sum, said := 0, make([]string, len(all))
	for i, x := range all {
		sum += x.Count
		said[i] = fmt.Sprintf("%s %s (%s)", unit.ShowCount(x.Count), x.Reason, x.Example)
	}
	report.Labelled(w, fmt.Sprintf("\n%s infeasible (example): ", unit.ShowCount(sum)), strings.Join(said, "; "))
}

// simulated prints the simulated layouts out of all feasible ones, the best first.
func simulated(w io.Writer, sims []layouts.Simulated, feasible int) {
	if len(sims) == 0 {
		return
	}
	level := ", packet level"
	if slices.ContainsFunc(sims, func(s layouts.Simulated) bool { return s.Fidelity != "" }) {
		level = ""
	}
	fmt.Fprintln(w)
	ran := 0
	for _, s := range sims {
		if s.Skipped == "" {
			ran++
		}
	}
	some := ""
	if ran < feasible {
		some = fmt.Sprintf(": %s of %s feasible, best estimates first; others may be faster: --simulate N",
			unit.ShowCount(ran), unit.ShowCount(feasible))
	}
	report.Wrap(w, "", "Simulated"+level+some)
	t := screen.Table{Columns: []screen.Column{{Head: "Step"}, {Head: "MFU, %"}, {Head: "estimate"}, {Head: "error"},
		{Head: "bubble", Rare: true}, {Head: "exposed"}, {Head: "packets", Spare: true},
		{Head: "configuration", Left: true}}}
	for _, s := range sims {
		if s.Skipped == "" {
			t.Add(took(s.Seconds), unit.Digits(100*s.MFU), took(s.Estimate),
				unit.ShowChange(s.Estimate, s.Seconds), took(s.Bubble), took(s.Exposed),
				packetsOf(&s), s.Layout)
		}
	}
	t.Print(w)
	for _, s := range sims {
		switch {
		case s.Skipped != "":
			report.Labelled(w, "not simulated: ", s.Layout+": "+s.Skipped)
		case s.Slice != "":
			report.Labelled(w, "simulated in part: ", fmt.Sprintf("%s: %s (%s); the cost model adds %s for the rest",
				s.Layout, s.Slice, took(s.Ran), added(s.Added)))
		}
		if s.Fidelity != "" {
			report.Labelled(w, "simulated as flows: ", fmt.Sprintf("%s: too many packets; %s", s.Layout,
				report.ErrorOf(s.Expected)))
		}
	}
}

// packetsOf returns the number of simulated packets.
func packetsOf(s *layouts.Simulated) string {
	if s.Fidelity != "" {
		return unit.NotApplicable
	}
	return unit.ShowCount(s.Packets)
}

// took is a time in seconds for people.
func took(seconds float64) string { return unit.ShowSeconds(seconds) }

// added is a difference in seconds for people.
func added(seconds float64) string {
	if seconds < 0 {
		return "−" + took(-seconds)
	}
	return took(seconds)
}
