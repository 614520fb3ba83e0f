package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/cause"
	"railyard/internal/report/screen"
	"railyard/internal/result"
	"railyard/unit"
)

// Text prints the report of one run.
func Text(w io.Writer, s *result.Summary) {
	screen.Painted(w, screen.Answer, "", Answer(s))
	outcome(w, s.Outcome, s.GPUs)
	if s.Outcome == nil { // otherwise there is no step time
		steps(w, s)
	}
	jobs(w, s.Jobs, s.Outcome)
	Meetings(w, s.Meetings, 4, "in summary.json")
	lost(w, s, true)
	idleTimes(w, s)
	if len(s.Story) > 0 {
		fmt.Fprintln(w)
		Story(w, s.Story)
	}
	storage(w, s)
	linkEvents(w, s.LinkEvents, s.Missed)
	moves(w, s.Moves)
	colls(w, s.Collectives)
	network(w, s)
	messages(w, s)
	footer(w, s)
}

// Answer returns the first line of a report: what ran, how long it took, and why.
func Answer(s *result.Summary) string {
	head := s.Name + ": "
	switch {
	case s.Outcome != nil:
		head += "job fails at " + at(s.Outcome.At)
		if n := len(s.Outcome.CutOff); n > 0 {
			head += fmt.Sprintf(": %s isolated", unit.Plural(n, "GPU"))
		}
		return head
	case !s.Complete:
		head += "INCOMPLETE, "
	}
	training := s.Params > 0
	if training {
		head += "step "
	}
	head += dur(s.StepTime)
	head += fidelityOf(s)
	switch {
	case s.Steps > 1:
		head += fmt.Sprintf(" for %d steps, %s each", s.Steps, dur(s.StepTime/int64(s.Steps)))
	case !s.Complete:
		head += " simulated"
	}
	if x := s.Flows.Slowdown; x != nil {
		head += fmt.Sprintf(", slowdown of messages %s (p99 %s)", unit.ShowFactor(x.Mean), unit.ShowFactor(x.P99))
	} else if s.MFU > 0 {
		if head += ", MFU " + percent(s.MFU); s.IdleGPUs > 0 {
			head += fmt.Sprintf(", %d of %d GPUs idle", s.IdleGPUs, s.TrainingGPUs+s.IdleGPUs)
		}
	} else if computes(s) {
		head += fmt.Sprintf(", %s compute", percent(float64(s.Compute)/float64(s.StepTime)))
	} else if c := s.Collectives; len(c) == 1 && c[0].Bound > 0 {
		share := 100 * c[0].BusBW / c[0].Bound
		switch bound := AtBound(s); {
		case c[0].Uneven && bound:
			return head + ", bound by " + c[0].BoundWhy
		case bound:
			return head + fmt.Sprintf(", %.0f %% of line rate, bound by %s", share, c[0].BoundWhy)
		case !c[0].Uneven:
			head += fmt.Sprintf(", busiest %s at %.0f %% of line rate", c[0].BoundWhy, share)
		}
	}
	if why := MainCause(s); why != "" {
		head += "; main cause: " + why
	}
	return head
}

// nearBound is the minimum share of a collective's bound at which the bound is the limit.
const nearBound = 0.95

// AtBound reports whether a run is one collective or set of flows near its bound. The bound then limits it, and no
// cause does, if a run without it saves little. Waits of its messages for one another's NIC or NVLink are no loss
// there, because the bound contains them, too.
func AtBound(s *result.Summary) bool {
	c := s.Collectives
	if s.MFU > 0 || computes(s) || len(c) != 1 || s.Chain == nil || c[0].Bound <= 0 ||
		c[0].BusBW < nearBound*c[0].Bound {
		return false
	}
	most := idleOf(s).time
	for _, id := range s.Chain.Ranked(0) {
		costs := s.Chain.Costs(id)
		if slices.Contains(s.Simulated, id.Get().Key) || s.Chain.Beyond[id] > 0 {
			costs = min(costs, max(0, s.Chain.Saving[id]))
		}
		if id != cause.SharedNIC {
			most = max(most, costs)
		}
	}
	return float64(most) <= (1-nearBound)*float64(s.StepTime)
}

// computes reports whether computation is most of a step.
func computes(s *result.Summary) bool { return 2*s.Compute > s.StepTime }

// approximate reports whether a run simulated flows or reused packets.
func approximate(s *result.Summary) bool {
	return s.Fidelity != "" && s.Fidelity != "packet" && s.Reused == nil
}

// fidelityOf returns the fidelity of a time that was not simulated with packets.
func fidelityOf(s *result.Summary) string {
	switch {
	case s.Reused != nil && (s.Reused.Simulated == s.Reused.Episodes || s.PacketHops <= 0):
		return " (nothing repeats: every packet simulated)"
	case s.Reused != nil && s.Reused.PacketHops >= s.PacketHops: // short episodes are simulated beyond their ends
		return " (reuse saves nothing here: fidelity packet is as fast)"
	case s.Reused != nil:
		return fmt.Sprintf(" (%s of its packet-hops simulated, the others reused)",
			percent(float64(s.Reused.PacketHops)/float64(s.PacketHops)))
	case !approximate(s):
		return ""
	}
	return Approximation(s.Fidelity, s.Expected)
}

// Approximation names a fidelity and the error to expect, in brackets; "": every packet.
func Approximation(fidelity string, e *result.Expected) string {
	switch {
	case fidelity == "":
		return ""
	case e == nil: // runs of older versions do not record it
		return " (" + fidelity + " fidelity)"
	}
	return fmt.Sprintf(" (%s fidelity, %s)", fidelity, ErrorOf(e))
}

// fewCases are too few for their largest error to be a bound.
const fewCases = 5

// ErrorOf is the error to expect, and in how many cases it was measured. A small error of few cases promises nothing.
func ErrorOf(e *result.Expected) string {
	cases := unit.Plural(e.Cases, "case")
	switch {
	case e.Cases == 0:
		return "error not measured"
	case e.Cases < fewCases && e.Worst < smallError:
		return "error unknown, measured in " + cases + " only"
	case e.Cases == 1:
		return fmt.Sprintf("error %s in the only case measured", percent(e.Worst))
	case e.Cases < fewCases:
		cases += " only"
	case e.Worst < 0.0005:
		return "error below 0.1 % in " + cases
	}
	return "error up to " + percent(e.Worst) + " in " + cases
}

// smallError is an error that few cases may have by chance.
const smallError = 0.1

// FidelityLine describes an approximate fidelity: whether auto chose it, and the cases of its expected error; ""
// for packets.
func FidelityLine(s *result.Summary) string {
	if of := s.Reused; of != nil {
		return fmt.Sprintf("fidelity reuse: %s of %s", unit.Plural(of.Episodes, "episode"),
			unit.Plural(of.Kinds, "kind"))
	}
	if !approximate(s) {
		return ""
	}
	how := "fidelity " + s.Fidelity + ", approximate"
	e := s.Expected
	if e == nil {
		return how + " (railyard validate fidelity compares it with packets)"
	}
	if e.PacketHops > 0 {
		how += fmt.Sprintf(", chosen by auto (%s packet-hops by packets)", count(e.PacketHops))
	}
	switch {
	case e.Cases == 0:
		return how + "; its error is not measured for " + e.Of
	case e.Cases < fewCases: // the largest error is not a bound
		return fmt.Sprintf("%s; %s: %s", how, ErrorOf(e), e.Of)
	}
	return how + fmt.Sprintf("; error up to %s, mean %s, in %s also simulated by packets: %s", percent(e.Worst),
		percent(e.Mean), unit.Plural(e.Cases, "case"), e.Of)
}

// MainCause returns the pipeline's bubble or the wait for other ranks, or the leading cause of time above line rate
// if it costs more; "" if all are negligible.
func MainCause(s *result.Summary) string {
	if s.StepTime <= 0 {
		return ""
	}
	name, least := "", least(s)
	if x := idleOf(s); x.large(s) {
		name = fmt.Sprintf("%s (%s of the step)", x.name, percent(float64(x.time)/float64(s.StepTime)))
		least = max(least, x.time)
	}
	if s.Chain == nil && s.Slow >= least {
		return fmt.Sprintf("%s (%s of the step)", slowRanks(&s.Step), percent(float64(s.Slow)/float64(s.StepTime)))
	}
	id, is := leading(s, least)
	if main, _ := MainID(s); is && id == main {
		name = nameOf(s, id)
		if share := float64(s.Chain.Costs(id)) / float64(s.StepTime); share >= worthALine && share < result.Chance {
			name += fmt.Sprintf(" (%s of the step)", percent(share))
		}
	}
	return name
}

// least is the minimum cost of a main cause.
func least(s *result.Summary) int64 { return int64(worthALine * float64(s.StepTime)) }

// Ranked returns an account's causes, the main one of a run first, then by cost.
func Ranked(s *result.Summary, account *cause.Account) []cause.ID {
	return account.Ranked(least(s), s.Simulated...)
}

// MainID returns the leading cause of time above line rate; false for none.
func MainID(s *result.Summary) (cause.ID, bool) {
	return leading(s, least(s))
}

// Leading returns its name; "" for none.
func Leading(s *result.Summary) string {
	if id, is := MainID(s); is {
		return nameOf(s, id)
	}
	return ""
}

// leading returns the leading cause of those that cost a given time.
func leading(s *result.Summary, least int64) (cause.ID, bool) {
	account, _ := Account(s)
	if account == nil {
		return 0, false
	}
	return account.Leading(least, s.Simulated...)
}

// maxJobs is the maximum number of jobs in a report of one screen.
const maxJobs = 8

// jobs prints the run time of each of several jobs and the division of its time.
func jobs(w io.Writer, all []result.Job, ended *result.Outcome) {
	if len(all) < 2 {
		return
	}
	fmt.Fprintln(w)
	t := screen.Table{Columns: []screen.Column{{Head: "Job"}, {Head: "GPUs"}, {Head: "start", Rare: true}, {Head: "step"},
		{Head: "computing"}, {Head: "exposed"}, {Head: "bubble", Rare: true, Spare: true},
		{Head: "waiting", Rare: true, Spare: true}, {Head: "slow rank", Rare: true, Spare: true}, {Head: "MFU", Rare: true, Spare: true},
		{Head: "", Left: true, Rare: true}}}
	for _, j := range all[:min(len(all), maxJobs)] {
		total, note := float64(max(j.StepTime, 1)), ""
		step := dur(j.StepTime)
		switch {
		case j.Complete:
		case ended != nil: // the other operations hang, so there will be no step
			step, note = unit.NotApplicable, "fails; last operation ended at "+at(j.End)
		default:
			note = "incomplete"
		}
		t.Add(j.Name, unit.ShowCount(j.GPUs), at(j.Start), step, percent(float64(j.Compute)/total),
			percent(float64(j.ExposedComm)/total), percent(float64(j.Bubble)/total), percent(float64(j.Waiting)/total),
			percent(float64(j.Slow)/total), percent(j.MFU), note)
	}
	t.Print(w)
	if more := len(all) - maxJobs; more > 0 {
		fmt.Fprintf(w, "%d more in summary.json\n", more)
	}
}

// maxLinkEvents is the maximum number of link events in a report of one screen.
const maxLinkEvents = 8

// linkEvents prints changes of links, the times of their detection and rerouting, and the events after the run's end.
func linkEvents(w io.Writer, all []result.LinkEvent, missed *result.Missed) {
	if len(all) == 0 && missed == nil {
		return
	}
	fmt.Fprintln(w, "\nEvents")
	for _, e := range all[:min(len(all), maxLinkEvents)] {
		line := changed(&e)
		if e.Ends > 0 {
			line += ", detected at " + at(e.Ends)
		}
		if e.Routes > 0 {
			line += ", routes converged at " + at(e.Routes)
		}
		Labelled(w, fmt.Sprintf("  %9s  ", at(e.At)), line)
	}
	if more := len(all) - maxLinkEvents; more > 0 {
		fmt.Fprintf(w, "  %d more in summary.json\n", more)
	}
	switch {
	case missed == nil:
	case missed.Events == 1:
		Labelled(w, fmt.Sprintf("  %9s  ", at(missed.First.At)), changed(&missed.First)+
			": did not happen, the run ended before")
	default:
		Labelled(w, "  ", fmt.Sprintf("%d events did not happen, the run ended before; first at %s: %s", missed.Events,
			at(missed.First.At), changed(&missed.First)))
	}
}

// changed describes a change, with its number of links.
func changed(e *result.LinkEvent) string {
	line := e.Link + ": " + e.Change
	if e.Cables > 0 {
		line += fmt.Sprintf(" (%s)", unit.Plural(e.Cables, "link"))
	}
	return line
}

// steps prints the non-zero parts of a step.
func steps(w io.Writer, s *result.Summary) {
	total := float64(max(s.StepTime, 1))
	layout := screen.Of(w)
	t := screen.Table{Columns: []screen.Column{{}, {}, {}, {Left: true, Rare: true}}}
	note := ""
	if s.MFU > 0 && s.StepTime > 0 {
		rate := float64(s.Tokens) / unit.Time(s.StepTime).Seconds() / float64(max(s.TrainingGPUs+s.IdleGPUs, 1))
		note = unit.Digits(min(rate, 1e9)) + " tokens/s per GPU"
	}
	t.Add("Step time", dur(s.StepTime), "", note)
	for _, p := range Division(s) {
		share := float64(p.Time) / total
		t.Add("  "+p.Name, dur(p.Time), percent(share), layout.Bar(share, 40))
	}
	if t.Rows() > 2 || note != "" || s.Compute > 0 { // a single row of transfers is the whole step
		t.Print(w)
	}
}

// Part is what the rank that ended last did in a part of the step.
type Part struct {
	Key, Name string
	Time      int64 // ps
}

// Division returns the parts of a step that are not 0.
func Division(s *result.Summary) []Part {
	all := []Part{{"compute", "compute", s.Compute}, {"tp", "tensor parallel exposed", s.ExposedTP},
		{"pp", "pipeline parallel exposed", s.ExposedPP}, {"dp", "data parallel exposed", s.ExposedDP},
		{"cp", "context parallel exposed", s.ExposedCP}, {"ep", "expert parallel exposed", s.ExposedEP},
		{"transfers", "transfers and waits", s.ExposedOther}, {"loading", "waiting for data", s.ExposedLoad},
		{"storage", "writing checkpoints", s.ExposedSave}, {"host", "waiting for the host", s.ExposedHost},
		{result.Bubble, "bubble", s.Bubble}, {"waiting", waitingFor(s), s.Waiting}, {"slow", slowRanks(&s.Step), s.Slow}}
	return slices.DeleteFunc(all, func(p Part) bool { return p.Time == 0 })
}

func colls(w io.Writer, list []result.Collective) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := screen.Table{Columns: []screen.Column{{Head: "Collective, GB/s"}, {Head: "count"}, {Head: "size"},
		{Head: "ranks", Spare: true}, {Head: "time"}, {Head: "algbw", Spare: true}, {Head: "busbw"}, {Head: "bound"}}}
	for _, c := range list {
		name := c.Name
		if c.Job != "" {
			name = c.Job + ": " + name
		}
		bound := unit.NotApplicable
		if c.Bound > 0 {
			bound = fmt.Sprintf("%s %s %.0f %%", unit.Digits(c.Bound/1e9), c.BoundWhy, 100*c.BusBW/c.Bound)
		}
		bytes, alg, bus := size(c.Bytes), unit.Digits(c.AlgBW/1e9), unit.Digits(c.BusBW/1e9)
		if c.Uneven { // the rate of the largest message over the time of all is none
			bytes, alg, bus = "≤ "+bytes, unit.NotApplicable, unit.NotApplicable
			if c.Bound > 0 {
				bound = fmt.Sprintf("%s %.0f %%", c.BoundWhy, 100*c.BusBW/c.Bound)
			}
		}
		t.Add(name, count(int64(c.Count)), bytes, count(int64(c.Ranks)), dur(c.Time), alg, bus, bound)
	}
	t.Print(w)
}

// footer prints the simulated scenario, the model, and the speed.
func footer(w io.Writer, s *result.Summary) {
	how := FidelityLine(s)
	if how == "" {
		how = "packet level"
	}
	gpus := unit.Plural(s.GPUs, "GPU")
	if s.IdleGPUs > 0 {
		gpus = fmt.Sprintf("%d of %d GPUs train, %d idle", s.TrainingGPUs, s.TrainingGPUs+s.IdleGPUs, s.IdleGPUs)
	}
	fmt.Fprintln(w)
	for _, c := range s.TablesCut {
		Labelled(w, "Note: ", c.String())
	}
	by := fmt.Sprintf("%s, seed %d, %s", gpus, s.Seed, how)
	if s.Congestion != "" { // runs of older versions do not record it
		by += "; " + s.Congestion
	}
	screen.Painted(w, screen.Baseline, "", by)
	if s.Transport != "" {
		screen.Painted(w, screen.Baseline, "", "Transport: "+s.Transport)
	}
	if of := s.Reused; of != nil {
		reused(w, s, of)
		return
	}
	if approximate(s) {
		screen.Painted(w, screen.Baseline, "", fmt.Sprintf("%s as flows in %.1f s, %.0f MB",
			many(s.Flows.Count, "message"), s.SimSeconds, float64(s.PeakMemory)/1e6))
		return
	}
	screen.Painted(w, screen.Baseline, "", fmt.Sprintf("%s packets, %s packet-hops in %.1f s (%.1f M/s), %.0f MB",
		count(s.Packets), count(s.PacketHops), s.SimSeconds, float64(s.PacketHops)/max(s.SimSeconds, 1e-9)/1e6,
		float64(s.PeakMemory)/1e6))
}

// reused prints how much of a run was simulated, and the audited error of the remainder.
func reused(w io.Writer, s *result.Summary, of *result.Reused) {
	screen.Painted(w, screen.Baseline, "", fmt.Sprintf(
		"%s packets, %s packet-hops, %s of them simulated, in %.1f s, %.0f MB", count(s.Packets), count(s.PacketHops),
		count(of.PacketHops), s.SimSeconds, float64(s.PeakMemory)/1e6))
	switch a := of.Audit; {
	case a == nil:
	case a.Episodes == 0:
		fmt.Fprintln(w, "Audit: no episode that was reused was chosen")
	default:
		Labelled(w, "Audit: ", fmt.Sprintf(
			"%s of %s simulated as well: times of messages off by at most %.2g %%, %.2g %% on average",
			unit.Plural(a.Episodes, "reused episode"), unit.Plural(a.Messages, "message"), 100*a.Worst, 100*a.Mean))
	}
}

// dur formats picoseconds.
func dur(ps int64) string { return unit.Time(ps).Show() }

// at formats a point in simulated time, 0 at the beginning.
func at(ps int64) string {
	if ps == 0 {
		return "0"
	}
	return dur(ps)
}

func size(b int64) string      { return unit.Bytes(b).Show() }
func count(n int64) string     { return unit.ShowCount(n) }
func percent(v float64) string { return unit.ShowShare(v) }

// Wrap prints a paragraph after an indent: screen.Wrap.
func Wrap(w io.Writer, indent, text string) { screen.Wrap(w, indent, text) }

// Labelled prints a paragraph after a label, its further lines indented as far: screen.Labelled.
func Labelled(w io.Writer, label, text string) { screen.Labelled(w, label, text) }

// Ignored lists files of directories that were skipped, each with its reason.
func Ignored(w io.Writer, files []string) {
	const most = 10
	for _, why := range files[:min(len(files), most)] {
		label := "ignored: "
		if rest, read := strings.CutPrefix(why, "note: "); read { // a parsed file that contradicts another
			label, why = "note: ", rest
		}
		Labelled(w, label, why)
	}
	if len(files) > most {
		fmt.Fprintf(w, "ignored: %d more files\n", len(files)-most)
	}
}

func clip(s string, n int) string { return screen.Clip(s, n) }

// joined lists words: "a, b and c".
func joined(words []string, last string) string {
	words = slices.DeleteFunc(slices.Clone(words), func(s string) bool { return s == "" })
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " " + last + " " + words[n-1]
	}
	return strings.Join(words, "")
}
