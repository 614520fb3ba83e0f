package identify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"railyard/internal/calibrate/fitting"
	"railyard/unit"
)

// Judge sets the verdict on simulated measurements, which compares with their expected times, with assumptions and
// omissions, and the commands that find the cause. set are overrides of the scenario. algorithm is the one of
// all-reduces; without is the reason why larger sizes are not simulated.
func (a *Account) Judge(points []fitting.Point, scenario, algorithm, without string, set ...string) {
	bySize := slices.Clone(points)
	slices.SortStableFunc(bySize, func(x, y fitting.Point) int { return cmp.Compare(x.Bytes, y.Bytes) })
	var largest unit.Bytes // largest simulated size
	if len(bySize) > 0 {
		largest = unit.Bytes(bySize[len(bySize)-1].Bytes)
	}
	above := a.skipped(len(points), largest, without)
	if len(points) == 0 {
		a.Verdict = "not judged: no row was simulated"
		return
	}
	last := &bySize[len(bySize)-1]
	var slow, fast, slowLarge []fitting.Point
	large := fitting.Large(bySize)
	for i, p := range bySize {
		if d := p.Excess(); d > fitting.Expected {
			slow = append(slow, p)
			if large[i] {
				slowLarge = append(slowLarge, p)
			}
		} else if d < -fitting.Expected {
			fast = append(fast, p)
		}
	}
	says := func(p *fitting.Point) string {
		text := fmt.Sprintf("%s takes %s, simulated %s (%s)", p.Name, micros(p.Measured), micros(p.Before),
			signed(p.Before/p.Measured-1))
		if least, most := p.Range(); least < most {
			text += fmt.Sprintf(", expected %s to %s", micros(least), micros(most))
		}
		return text
	}
	faster := func() string {
		if len(fast) == 0 {
			return ""
		}
		return fmt.Sprintf("; %s faster than simulated: %s", unit.Plural(len(fast), "size"), says(&fast[0]))
	}
	f := &File{Path: a.Path, Scenario: scenario}
	calibrate := a.Next
	a.Next = nil
	run := func() {
		a.next("see where the time goes in its workload; then railyard why RUN --try 3", "run %s", shellWord(scenario))
	}
	late := fitting.Later(bySize)
	switch {
	case late > 0:
		a.Verdict = fmt.Sprintf("bandwidth as expected; below expectation in latency: each size takes %s longer, e.g. %s",
			micros(late), says(&bySize[0]))
		run()
	case len(slow) > 0 && slow[len(slow)-1].Name == last.Name:
		a.Verdict = "below expectation in bandwidth: " + says(last) + faster()
		a.next("find faults in counters of the switches and hosts", "diagnose FOLDER%s", f.fabric("--fabric"))
		a.next("find faults in their configurations", "config lint FOLDER")
	case len(slowLarge) > 0 && last.Excess() >= -fitting.Expected:
		p := &slowLarge[len(slowLarge)-1]
		a.Verdict = fmt.Sprintf("bandwidth of %s as expected; %s slower: %s", largest.ShowSet(),
			unit.Plural(len(slow), "smaller size"), says(p))
		if from := p.Untested(); from > 0 {
			a.Verdict += fmt.Sprintf("; no measurement of healthy servers validates the simulator's %s below %s", p.Algorithm,
				from.ShowSet())
		}
		a.Verdict += faster()
		a.next("find faults in counters of the switches and hosts", "diagnose FOLDER%s", f.fabric("--fabric"))
	case len(slow) > 0 && len(fast) == 0:
		worst := slices.MinFunc(slow, func(x, y fitting.Point) int {
			return cmp.Compare(x.Before/x.Measured, y.Before/y.Measured)
		})
		a.Verdict = fmt.Sprintf("bandwidth as expected; below expectation in launches and latency of sizes up to %s: %s",
			unit.Bytes(slow[len(slow)-1].Bytes).ShowSet(), says(&worst))
		run()
	case len(fast) > 0:
		a.Verdict = "faster than simulated, so the scenario is not the cluster (algorithm, channels, NICs, links): " +
			says(&fast[len(fast)-1])
		if len(slow) > 0 {
			a.Verdict += fmt.Sprintf("; %s slower than simulated: %s", unit.Plural(len(slow), "size"), says(&slow[0]))
		}
		a.next("print what the scenario has in effect", "check %s", shellWord(scenario))
	default:
		sizes := unit.Bytes(bySize[0].Bytes).ShowSet()
		if len(points) > 1 {
			sizes += " to " + largest.ShowSet()
		}
		of := ""
		if slices.ContainsFunc(points, func(p fitting.Point) bool { least, most := p.Range(); return least < most }) {
			of = " of the expected times"
		}
		a.Verdict = fmt.Sprintf("as expected: all %s within %.0f %%%s, %s; the scenario explains them without a fault",
			unit.Plural(len(points), "point"), 100*fitting.Expected, of, sizes)
		run()
	}
	if above > 0 {
		a.Verdict = fmt.Sprintf("%s; not judged: %s above %[3]s", strings.NewReplacer("as expected: ",
			"as expected up to "+largest.ShowSet()+": ", "bandwidth as expected; ", "").Replace(a.Verdict),
			unit.Plural(above, "row"), largest.ShowSet())
	}
	if measured := len(a.Measured.Collectives) > 0; measured && !a.Measured.AllReduces() {
		a.Assumed = "simulated with NCCL's protocols and channels; run has the scenario's"
	} else if measured {
		why := "set by the file"
		if a.Algorithm != algorithm {
			why = "--algorithm"
		}
		if algorithm == "auto" {
			why = "NCCL's tuning model chooses; the file sets none"
			if len(slow)+len(fast) > 0 {
				why += ", and hypotheses depend on it: compare with --algorithm ring"
				a.next("compare with another algorithm", "explain %s%s --algorithm ring", f.quoted(), f.fabric("--fabric"))
			}
		}
		const assumed = "algorithm of all-reduces %s (%s), with NCCL's protocols and channels; run has the scenario's"
		a.Assumed = fmt.Sprintf(assumed, algorithm, why)
	}
	if a.Assumed != "" && slices.ContainsFunc(points, func(p fitting.Point) bool { return p.Flows }) {
		a.Assumed += "; the largest sizes as flows"
	}
	if len(last.Settings) > 0 {
		command := "run " + shellWord(scenario)
		for _, s := range append(set, last.Settings...) {
			command += " --set " + shellWord(s)
		}
		purpose := fmt.Sprintf("simulate %s like here, %s", last.Name, micros(last.Before))
		if strings.Contains(command, "collective.repeat=") && !strings.Contains(command, "collective.repeat=0") {
			purpose += " in each of its last runs"
		}
		a.next(purpose, "%s", command)
	}
	a.Next = append(a.Next, calibrate...)
}

// skipped notes how many of the measured rows were not simulated, and returns those above the largest simulated size.
func (a *Account) skipped(simulated int, largest unit.Bytes, without string) (above int) {
	total := len(a.Measured.Table()) + len(a.Measured.Pairs)
	for _, c := range a.Measured.Table() {
		if c.Bytes > largest && len(a.Measured.Pairs) == 0 {
			above++
		}
	}
	var parts []string
	if above > 0 {
		of := unit.Plural(above, "row")
		if simulated > 0 {
			of += " above " + largest.ShowSet()
		}
		if without != "" {
			of += " (" + without + ")"
		}
		parts = append(parts, of)
	}
	if rest := total - simulated - above; rest > 0 {
		parts = append(parts, fmt.Sprintf("%s beyond --points or of a kind that is not modelled", unit.Plural(rest, "row")))
	}
	if len(parts) > 0 {
		a.Skipped = fmt.Sprintf("not simulated, of %d: %s; calibrate simulates all that are modelled", total,
			strings.Join(parts, ", "))
	}
	return above
}
