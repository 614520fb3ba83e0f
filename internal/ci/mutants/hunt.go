package main

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// result is the outcome of a mutant.
type result struct {
	Number  int     `json:"number"`
	Group   string  `json:"group"`
	Place   string  `json:"place"`
	Func    string  `json:"func"`
	What    string  `json:"what"`
	Diff    string  `json:"diff"`
	Killed  bool    `json:"killed"`
	By      string  `json:"by,omitempty"`  // the test or group that noticed
	How     string  `json:"how,omitempty"` // fails, never ends
	CPU     float64 `json:"cpu_s"`
	Reached int     `json:"reached"` // tests and groups that execute the code
	Unrun   int     `json:"unrun"`   // of the mutants, those that the time did not suffice for
}

// chunk is the time that a process runs, in seconds of a processor without a mutant, before the next one is
// started.
const chunk = 4

// plan returns the units that reach a mutant, in order. The package's own tests come first, then all others. Each
// part is sorted by cost, and units of one binary are grouped up to a chunk's time.
func (b *bench) plan(m *mutant) (out [][]unit) {
	t := m.of()
	var own, others []unit
	for _, u := range b.units {
		base := b.log.Units[u.String()]
		switch {
		case base.Failed || !slices.Contains(base.Sites, m.number):
		case u.pkg == t.path:
			own = append(own, u)
		case slices.Contains(t.importers, u.pkg), u.pkg == "" && slices.Contains(t.validate, u.name):
			others = append(others, u)
		}
	}
	for _, us := range [][]unit{own, others} {
		slices.SortStableFunc(us, func(a, c unit) int {
			return cmp.Compare(b.log.Units[a.String()].CPU, b.log.Units[c.String()].CPU)
		})
		open := map[string]int{} // package → chunk that still has room
		for _, u := range us {
			i, ok := open[u.pkg]
			if !ok || u.pkg == "" || b.cost(out[i])+b.log.Units[u.String()].CPU > chunk {
				i = len(out)
				out = append(out, nil)
				open[u.pkg] = i
			}
			out[i] = append(out[i], u)
		}
	}
	return out
}

// cost returns the time of units without a mutant, in seconds.
func (b *bench) cost(us []unit) (s float64) {
	for _, u := range us {
		s += b.log.Units[u.String()].CPU
	}
	return s
}

// A process may be slower than without a mutant by the factor slower, and by besides seconds more. Beyond that it
// counts as endless.
const slower, besides = 10, 10

// hunt tries the units on a mutant until one notices or the time is used up.
func (b *bench) hunt(ctx context.Context, m *mutant) (result, error) {
	r := result{Number: m.number, Group: m.group.name, Place: m.place(), Func: m.site.fn, What: m.what,
		Diff: m.diff()}
	left := b.limit
	for _, us := range b.plan(m) {
		r.Reached += len(us)
		cost := b.cost(us)
		if cost*1.5 > left.Seconds() {
			r.Unrun += len(us)
			continue
		}
		most := min(left, time.Duration((cost*slower+besides)*float64(time.Second)))
		end, err := b.process(us[0].dir, command(us), strconv.Itoa(m.number), most).run(ctx)
		if err != nil {
			return r, err
		}
		left -= end.cpu
		r.CPU += end.cpu.Seconds()
		switch {
		case end.ok:
			continue
		case !end.ranOut:
			r.How = "fails"
		case most.Seconds() >= 3*cost+besides/2:
			r.How = "never ends"
		default: // ended by the limit, not by the mutant
			r.Unrun += len(us)
			continue
		}
		r.Killed, r.By = true, culprit(us, end.output)
		break
	}
	return r, nil
}

// failed finds the test that failed or in which a process died.
var failed = regexp.MustCompile(`(?m)^--- FAIL: (\w+)|railyard/[^\s(]*\.((?:Test|Example|Fuzz)\w+)\(`)

// culprit returns the unit that detected it, according to the output.
func culprit(us []unit, output []byte) string {
	if m := failed.FindSubmatch(output); m != nil && us[0].pkg != "" {
		return us[0].pkg + " " + string(m[1]) + string(m[2])
	}
	if len(us) == 1 {
		return us[0].String()
	}
	return us[0].pkg
}
