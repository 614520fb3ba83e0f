package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/unit"
)

// Maximum numbers of queue pairs and of failed components in an outcome.
const (
	maxGaveUp = 1000
	maxBroken = 32
)

// outcome describes the failure of a job that is blocked on a lost rank; nil while the run proceeds, or has completed.
// Transports decide when a rank is lost, by their retries; its peers then hang until the time-out of their collectives
// (NCCL's watchdog) ends the job, which is computed and not simulated.
func (r *reading) outcome() *result.Outcome {
	if r.exec.Done() || len(r.seen.Lost)+len(r.seen.Dead) == 0 {
		return nil
	}
	o := &result.Outcome{Ended: result.RankLost, Failed: len(r.seen.Lost), Limit: int64(r.plan.Patience)}
	at := unit.Never
	if len(r.seen.Dead) > 0 {
		at = r.seen.Dead[0].At
	}
	if len(r.seen.Lost) > 0 {
		at = min(at, r.seen.Lost[0].At)
	}
	o.At = int64(at)
	down := r.downAt(at)
	o.Broken = r.brokenAt(at)
	o.CutOff = r.cutOff(down, at)
	for _, l := range r.seen.Lost[:min(len(r.seen.Lost), maxGaveUp)] {
		from, to := r.seen.peers(l.Conn)
		o.Errors = append(o.Errors, result.GaveUp{From: r.graph.NICName(int(from)),
			To: r.graph.NICName(int(to)), At: int64(l.At), Why: l.Why})
	}
	o.Done = r.finished()
	hangs := r.hangs(o)
	o.Job = int64(max(at, hangs+r.plan.Patience))
	o.LostMost, o.LostMean = int64(r.plan.Checkpoint), int64(r.plan.Checkpoint/2)
	if o.Restart = int64(r.plan.Restart); o.Restart > 0 && o.LostMost > 0 {
		o.Cost = o.Job + o.LostMean + o.Restart
	}
	o.Why = r.whyLost(o)
	return o
}

// downAt lists the links that are down at a time.
func (r *reading) downAt(at unit.Time) map[int]bool {
	down := map[int]bool{}
	for _, e := range r.plan.Events {
		if e.At > at {
			break
		}
		if down[e.Link] = true; e.Up {
			delete(down, e.Link)
		}
	}
	return down
}

// brokenAt lists the components that are down at a time, and since when: a switch instead of all its links.
func (r *reading) brokenAt(at unit.Time) (all []string) {
	var last []scenario.LinkEvent // of each failed link, in order of time
	for _, e := range r.plan.Events {
		if e.At > at || !e.Toggles {
			continue
		}
		last = slices.DeleteFunc(last, func(o scenario.LinkEvent) bool { return o.Link == e.Link })
		if !e.Up {
			last = append(last, e)
		}
	}
	latest := map[string]int{} // incident of each kind and component
	of := func(i scenario.Incident) string {
		component, _, _ := i.Describe(r.graph)
		return fmt.Sprintf("%T %s", i, component)
	}
	for n, i := range r.plan.Incidents {
		if i.When() <= at {
			latest[of(i)] = n
		}
	}
	for n, i := range r.plan.Incidents {
		component, change, faulty := i.Describe(r.graph)
		if last, ok := latest[of(i)]; component != "" && faulty && ok && last == n {
			all = append(all, fmt.Sprintf("%s %s since %s", component, change, i.When().Show()))
		}
	}
	seen := map[string]bool{}
	for i, e := range last {
		name := e.By
		if name == "" {
			name = r.cable(e.Link)
		}
		told := fmt.Sprintf("%s since %s", name, e.At.Show())
		if seen[told] {
			continue
		}
		if seen[told] = true; len(all) == maxBroken {
			return append(all, fmt.Sprintf("and up to %s more", unit.Plural(len(last)-i, "link")))
		}
		all = append(all, told)
	}
	return all
}

// cable names a link by both its ends.
func (r *reading) cable(link int) string {
	l := &r.graph.Links[link]
	return r.graph.End(link, l.A) + " – " + r.graph.End(link, l.B)
}

// cutOff lists the GPUs none of whose NICs is in the largest connected part, or one of whose ports is not, if the ports
// form no bond.
func (r *reading) cutOff(down map[int]bool, at unit.Time) (all []result.LostRank) {
	off := map[int]bool{}
	for _, nic := range r.graph.CutOff(down) {
		off[nic] = true
	}
	for gpu := range r.graph.TotalGPUs() {
		if i := slices.IndexFunc(r.seen.Dead, func(d scenario.Death) bool {
			return d.Of(gpu)
		}); i >= 0 {
			all = append(all, result.LostRank{GPU: r.graph.GPUName(gpu), Since: int64(r.seen.Dead[i].At),
				Why: cmp.Or(r.seen.Dead[i].Why, "its host is down")})
			continue
		}
		lost, first := true, r.graph.WayOf(gpu, 0)
		for way := range r.graph.Ways(gpu) {
			lost = lost && off[r.graph.WayOf(gpu, way)]
		}
		for way := 0; way < r.graph.Ways(gpu) && !lost; way++ {
			nic := r.graph.WayOf(gpu, way) // without a bundle no other port takes over
			if lost = off[nic] && r.graph.NICs[nic].Port > 0; lost {
				first = nic
			}
		}
		if !lost {
			continue
		}
		since, why := r.lastCut(first, down, at)
		all = append(all, result.LostRank{GPU: r.graph.GPUName(gpu), Since: int64(since), Why: why})
	}
	return all
}

// lastCut returns the time when the last of a NIC's links failed or, if they work, the last of all.
func (r *reading) lastCut(nic int, down map[int]bool, at unit.Time) (since unit.Time, why string) {
	own, broken := r.graph.NICs[nic].Links, 0
	for _, l := range own {
		if down[l] {
			broken++
		}
	}
	for _, e := range r.plan.Events {
		if e.Toggles && !e.Up && down[e.Link] && (broken < len(own) || slices.Contains(own, e.Link)) &&
			e.At >= since && e.At <= at {
			since, why = e.At, r.cable(e.Link)
		}
	}
	if broken == len(own) {
		return since, unit.Plural(len(own), "link") + " of its NIC down, last " + why
	}
	return since, "no path left, last failure " + why
}

// finished counts what had been done.
func (r *reading) finished() (f result.Finished) {
	d := r.dag
	f.OfOperations, f.Operations = len(d.Ops), len(d.Ops)-r.exec.Left
	f.Bytes, f.OfBytes = r.seen.Counted.NetworkBytes, int64(r.exec.NetBytes)
	colls := make([]bool, len(d.Colls)) // hang
	for i := range d.Ops {
		o, done := &d.Ops[i], r.exec.End[i] != unit.Never
		if o.Compute() {
			if f.OfComputed += int64(o.Dur); done {
				f.Computed += int64(o.Dur)
			}
		}
		if o.Coll >= 0 && !done {
			colls[o.Coll] = true
		}
	}
	f.OfColls = len(colls)
	for _, hangs := range colls {
		if !hangs {
			f.Collectives++
		}
	}
	return f
}

// hangs returns the start of the first transfer that never ends, and records when the last operation ended and how many
// GPUs that still compute have unfinished work.
func (r *reading) hangs(o *result.Outcome) (since unit.Time) {
	since = unit.Never
	waits := map[int32]bool{}
	for i := range r.dag.Ops {
		op := &r.dag.Ops[i]
		if end := r.exec.End[i]; end != unit.Never {
			o.Last = max(o.Last, int64(end))
			continue
		}
		if !r.exec.Dead(int(op.Rank)) {
			waits[op.Rank] = true
		}
		if begun := r.exec.Begun(int32(i)); begun && !op.Compute() {
			since = min(since, r.exec.Start[i])
		}
	}
	if o.Waited = len(waits); since == unit.Never {
		since = unit.Time(o.At)
	}
	return since
}

// whyLost is the outcome in a sentence.
func (r *reading) whyLost(o *result.Outcome) string {
	s := "a host failed"
	if dead := r.seen.Dead; len(dead) > 0 && dead[0].Why != "" {
		s = "a PCIe switch failed"
	}
	if len(o.Errors) > 0 && (len(r.seen.Dead) == 0 || o.Errors[0].At < int64(r.seen.Dead[0].At)) {
		first := o.Errors[0]
		s = fmt.Sprintf("the queue pair from %s to %s gave up (%s)", first.From, first.To, first.Why)
	}
	if n := len(o.CutOff); n > 0 {
		var names []string
		for _, c := range o.CutOff[:min(n, 4)] {
			names = append(names, c.GPU)
		}
		if n > 4 {
			names = append(names, fmt.Sprintf("%d more", n-4))
		}
		return s + "; isolated: " + strings.Join(names, ", ")
	}
	return s + "; no GPU is isolated: its packets or their acknowledgements were lost too often"
}
