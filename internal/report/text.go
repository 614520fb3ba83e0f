package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/result"
	"railyard/unit"
)

const width = 98

// Text prints the report of one run: one screen, 100 columns at most.
func Text(w io.Writer, s *result.Summary) {
	how := "every packet simulated"
	if s.Fidelity != "" && s.Fidelity != "packet" {
		how = "fidelity " + s.Fidelity
	}
	gpus := unit.Plural(s.GPUs, "GPU")
	if s.IdleGPUs > 0 {
		gpus = fmt.Sprintf("%d of %d GPUs train, %d idle", s.TrainingGPUs, s.TrainingGPUs+s.IdleGPUs, s.IdleGPUs)
	}
	head := fmt.Sprintf("%s   %s, %s, seed %d", s.Name, gpus, how, s.Seed)
	switch {
	case s.Outcome != nil:
		head += "   " + strings.ToUpper(s.Outcome.Ended)
	case !s.Complete:
		head += "   INCOMPLETE"
	}
	if len([]rune(head)) <= width {
		fmt.Fprintln(w, head)
	} else {
		Wrap(w, "", head)
	}
	if s.Transport != "" {
		Wrap(w, "", "Transport: "+s.Transport)
	}
	if s.Congestion != "" { // a run of an older version does not say
		Wrap(w, "", "Congestion control: "+s.Congestion)
	}
	if outcome(w, s.Outcome, s.GPUs); s.Outcome == nil { // else there is no step time
		steps(w, s)
	}
	jobs(w, s.Jobs, s.Outcome)
	Meetings(w, s.Meetings, 4, "in summary.json")
	lost(w, s, true)
	if len(s.Story) > 0 {
		fmt.Fprintln(w)
		Story(w, s.Story)
	}
	storage(w, s)
	linkEvents(w, s.LinkEvents)
	moves(w, s.Moves)
	colls(w, s.Collectives)
	network(w, s)
	slowest(w, s.Slowest)
	fmt.Fprintln(w)
	Wrap(w, "",
		fmt.Sprintf("%s packets, %s packet-hops, %.1f s of events = %.1f M packet-hops/s, peak memory %.0f "+
			"MB",
			count(s.Packets), count(s.PacketHops), s.SimSeconds,
			float64(s.PacketHops)/max(s.SimSeconds, 1e-9)/1e6, float64(s.PeakMemory)/1e6))
}

// jobs prints when each of several jobs ran and what it waited for.
func jobs(w io.Writer, all []result.Job, ended *result.Outcome) {
	if len(all) < 2 {
		return
	}
	fmt.Fprintf(w, "\nJobs side by side\n")
	for _, j := range all[:min(len(all), maxJobs)] {
		line := fmt.Sprintf("%s, %s: from %v, ", j.Name, unit.Plural(j.GPUs, "GPU"), unit.Time(j.Start))
		switch {
		case j.Complete:
			line += fmt.Sprintf("step %v", unit.Time(j.StepTime))
		case ended != nil: // what is left of it hangs: there will be no step
			Wrap(w, "  ", line+fmt.Sprintf("lost: its last operation that ended did so at %v",
				unit.Time(j.End)))
			continue
		default:
			line += fmt.Sprintf("step %v so far", unit.Time(j.StepTime))
		}
		total := float64(max(j.StepTime, 1)) / 100
		line += fmt.Sprintf(", %.1f %% computing, %.1f %% exposed communication, %.1f %% bubble",
			float64(j.Compute)/total, float64(j.ExposedComm)/total, float64(j.Bubble)/total)
		if j.MFU > 0 {
			line += fmt.Sprintf(", MFU %.1f %%", 100*j.MFU)
		}
		Wrap(w, "  ", line)
	}
	if more := len(all) - maxJobs; more > 0 {
		fmt.Fprintf(w, "  and %d more, in summary.json\n", more)
	}
}

// maxLinkEvents is how many events of links a report of one screen shows.
const maxLinkEvents = 8

// linkEvents prints what happened to cables.
func linkEvents(w io.Writer, all []result.LinkEvent) {
	for i, e := range all[:min(len(all), maxLinkEvents)] {
		label := "           "
		if i == 0 {
			fmt.Fprintln(w)
			label = "Events     "
		}
		line := fmt.Sprintf("%v %s: %s", unit.Time(e.At), e.Link, e.Change)
		if e.Cables > 0 {
			line += fmt.Sprintf(" (%s)", unit.Plural(e.Cables, "cable"))
		}
		if e.Ends > 0 {
			line += fmt.Sprintf(", its ends know from %v on", unit.Time(e.Ends))
		}
		if e.Routes > 0 {
			line += fmt.Sprintf(", routes know from %v on", unit.Time(e.Routes))
		}
		Labelled(w, label, line)
	}
	if more := len(all) - maxLinkEvents; more > 0 {
		fmt.Fprintf(w, "           and %d more, in summary.json\n", more)
	}
}

// maxJobs is how many jobs a report of one screen shows.
const maxJobs = 8

// rareParts are those of a step that are not named where there are none.
var rareParts = []string{"exposed context parallel", "exposed expert parallel", "waiting for data",
	"saving checkpoints"}

func steps(w io.Writer, s *result.Summary) {
	fmt.Fprintf(w, "\nStep time  %v", unit.Time(s.StepTime))
	if s.Steps > 1 {
		fmt.Fprintf(w, " for %d steps, %v each", s.Steps, unit.Time(s.StepTime/int64(s.Steps)))
	}
	if s.MFU > 0 && s.StepTime > 0 {
		fmt.Fprintf(w, "   (MFU %.1f %%, %.0f tokens/s/GPU)", 100*s.MFU,
			float64(s.Tokens)/unit.Time(s.StepTime).Seconds()/float64(max(s.TrainingGPUs+s.IdleGPUs, 1)))
	}
	fmt.Fprintln(w)
	total := float64(max(s.StepTime, 1))
	for _, p := range []struct {
		name string
		v    int64
	}{{"compute", s.Compute}, {"exposed tensor parallel", s.ExposedTP},
		{"exposed pipeline parallel", s.ExposedPP},
		{"exposed data parallel", s.ExposedDP}, {"exposed context parallel", s.ExposedCP},
		{"exposed expert parallel", s.ExposedEP}, {"transfers and waits", s.ExposedOther},
		{"waiting for data", s.ExposedLoad}, {"saving checkpoints", s.ExposedSave}, {"bubble", s.Bubble}} {
		if rare := slices.Contains(rareParts, p.name); p.v == 0 &&
			(p.name == "transfers and waits" || rare || s.Params == 0) {
			continue
		}
		share := float64(p.v) / total
		fmt.Fprintf(w, "  %-26s %10v %5.1f %%  %s\n", p.name, unit.Time(p.v), 100*share, Bar(share, 40))
	}
}

// Bar is a share of n blocks.
func Bar(share float64, n int) string {
	k := int(share*float64(n) + 0.5)
	return strings.Repeat("█", min(max(k, 0), n))
}

func colls(w io.Writer, list []result.Collective) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%-18s %6s %9s %5s %10s %7s %7s  %s\n", "Collective, GB/s", "count", "mean size", "ranks",
		"mean time", "algbw", "busbw", "line-rate bound")
	for _, c := range list {
		name := c.Name
		if c.Job != "" {
			name = c.Job + ": " + name
		}
		bound := "not known"
		if c.Bound > 0 {
			bound = fmt.Sprintf("%.2f by %s (%.0f %%)", c.Bound/1e9, c.BoundWhy, 100*c.BusBW/c.Bound)
		}
		fmt.Fprintf(w, "%-18s %6d %9v %5d %10v %7.2f %7.2f  %s\n", clip(name, 18), c.Count,
			size(c.Bytes), c.Ranks,
			unit.Time(c.Time), c.AlgBW/1e9, c.BusBW/1e9, bound)
	}
}

func size(b int64) string {
	switch {
	case b >= 1e9:
		return fmt.Sprintf("%.2f GB", float64(b)/1e9)
	case b >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(b)/1e6)
	case b >= 1e3:
		return fmt.Sprintf("%.1f KB", float64(b)/1e3)
	}
	return fmt.Sprintf("%d B", b)
}

func network(w io.Writer, s *result.Summary) {
	l := s.Links
	fmt.Fprintf(w, "\nLinks      max %.1f %%, mean %.1f %% over the step", 100*l.Max, 100*l.Mean)
	if l.Uplinks > 0 {
		fmt.Fprintf(w, "; uplinks %.1f..%.1f %%, %d of %d idle", 100*l.UplinkMin, 100*l.UplinkMax,
			l.UplinkIdle, l.Uplinks)
	}
	fmt.Fprintln(w)
	for _, h := range l.Hottest {
		figures := fmt.Sprintf(" %5.1f %%  queue peak %-8s  marks %-7s  paused %v", 100*h.Utilisation,
			size(h.QueuePeak), count(h.Marks), unit.Time(h.Paused))
		n := min(34, width-len(figures)) // large figures go before the end of a long name
		fmt.Fprintf(w, "  %-*s%s\n", n, clip(h.Name, n), figures)
	}
	met := fmt.Sprintf("%s ECN marks, %s CNPs, %s PFC pauses (%v in all), %s drops",
		count(s.ECNMarks), count(s.CNPs), count(s.PFCPauses), unit.Time(s.PFCPause), count(s.Drops))
	if s.Trims > 0 {
		met += fmt.Sprintf(", %s packets trimmed (%s of payload)", count(s.Trims), size(s.TrimmedBytes))
	}
	Labelled(w, "Congestion ", met)
	pauseRoots(w, s.PauseRoots)
	chains(w, s.Deadlock)
	dropped(w, s)
	scheduled(w, s.Scheduled)
	control(w, s.Control)
	transport := fmt.Sprintf("%s retransmissions, %s out of order, %s NAKs, %s timeouts",
		count(s.Retransmissions), count(s.OutOfOrder), count(s.Naks), count(s.Timeouts))
	if s.FailedQPs > 0 {
		transport += fmt.Sprintf(", %s QUEUE PAIRS FAILED", count(s.FailedQPs))
	}
	Labelled(w, "Transport  ", transport)
	f := s.Flows
	if f.Count > 0 {
		Labelled(w, "Flows      ", fmt.Sprintf("%s messages: mean %v, p50 %v, p99 %v, max %v", count(f.Count),
			unit.Time(f.Mean), unit.Time(f.P50), unit.Time(f.P99), unit.Time(f.Max)))
	}
}

// dropped says what packets were lost to, where it was not a full buffer alone.
func dropped(w io.Writer, s *result.Summary) {
	var parts []string
	for _, d := range []struct {
		n   int64
		why string
	}{
		{s.DropsWRED, "by WRED, of packets that it does not or cannot mark"},
		{s.DropsTrimmed, "trimmed, where there was no room for headers"},
		{s.DropsStorm, fmt.Sprintf("by the PFC watchdog in %s", unit.Plural(int(s.PFCStorms), "storm"))},
		{s.DropsDown, "on broken links"},
		{s.DropsNoRoute, "where no route led on"},
		{s.DropsCorrupt, "corrupted on links"},
		{lacking(s), "that lacked cells"},
	} {
		if d.n > 0 {
			parts = append(parts, count(d.n)+" "+d.why)
		}
	}
	if len(parts) > 0 {
		var b strings.Builder
		Wrap(&b, "           ", strings.Join(parts, ", "))
		fmt.Fprint(w, "Drops      "+b.String()[11:])
	} else if s.PFCStorms > 0 {
		Wrap(w, "Storms     ", unit.Plural(int(s.PFCStorms), "PFC storm")+", in which the watchdog forwarded")
	}
}

func slowest(w io.Writer, s *result.Slowest) {
	if s == nil {
		return
	}
	Labelled(w, "Slowest    ", fmt.Sprintf("%s → %s, %s in %v", s.From, s.To, size(s.Bytes),
		unit.Time(s.Time)))
	Wrap(w, "           ", s.Why)
	if len(s.SharedWith) > 0 {
		Wrap(w, "           ", "shared with "+strings.Join(s.SharedWith, ", "))
	}
	if len(s.PausedBy) > 0 {
		Wrap(w, "           ", "paused by "+strings.Join(s.PausedBy, " ← "))
	}
}

// Wrap prints text behind an indent, breaking lines at spaces.
func Wrap(w io.Writer, indent, text string) {
	line := indent
	words := strings.Fields(text)
	for i := len(words) - 1; i > 0; i-- {
		if strings.HasPrefix(words[i], "%") || words[i] == "MB" { // stays with its number
			words[i-1] += " " + words[i]
			words = slices.Delete(words, i, i+1)
		}
	}
	for _, word := range words {
		if len([]rune(line))+1+len([]rune(word)) > width && line != indent {
			fmt.Fprintln(w, line)
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(w, line)
}

func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// count prints a number with thousands separated.
func count(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
