package explain

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/result"
	"railyard/unit"
)

// Most queue pairs that an outcome names, and most things that were broken.
const (
	maxGaveUp = 1000
	maxBroken = 32
)

// outcome says how a job ended that waits for somebody who is gone; nil while all goes on, or has ended
// well. Transports decide when a rank is lost, by their retries; its peers then hang until the time-out
// of their collectives (NCCL's watchdog) ends the job, which is computed and not simulated.
func (r *reading) outcome() *result.Outcome {
	if r.exec.Done() || len(r.seen.Lost) == 0 {
		return nil
	}
	o := &result.Outcome{Ended: result.RankLost, Failed: len(r.seen.Lost), Limit: int64(r.plan.Patience)}
	at := r.seen.Lost[0].At
	o.At = int64(at)
	down := r.downAt(at)
	o.Broken = r.brokenAt(at)
	o.CutOff = r.cutOff(down)
	for _, l := range r.seen.Lost[:min(len(r.seen.Lost), maxGaveUp)] {
		from, to := r.seen.peers(l.Conn)
		o.Errors = append(o.Errors, result.GaveUp{From: r.graph.NICName(int(from)),
			To: r.graph.NICName(int(to)), At: int64(l.At), Why: l.Why})
	}
	o.Done = r.finished()
	hangs := r.hangs(o)
	o.Job = int64(max(at, hangs+r.plan.Patience))
	o.LostMost, o.LostMean = int64(r.plan.Checkpoint), int64(r.plan.Checkpoint/2)
	o.Why = r.whyLost(o)
	return o
}

// downAt lists the links that are broken at a moment.
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

// brokenAt names what is broken at a moment, and since when.
func (r *reading) brokenAt(at unit.Time) []string {
	since := map[int]unit.Time{}
	var order []int
	for _, e := range r.plan.Events {
		if e.At > at || !e.Toggles {
			continue
		}
		order = slices.DeleteFunc(order, func(l int) bool { return l == e.Link })
		if since[e.Link] = e.At; !e.Up {
			order = append(order, e.Link)
		}
	}
	var all []string
	for i, l := range order {
		if i == maxBroken {
			return append(all, fmt.Sprintf("and %d more cables", len(order)-i))
		}
		all = append(all, fmt.Sprintf("%s since %v", r.cable(l), since[l]))
	}
	return all
}

// cable names a link by both its ends.
func (r *reading) cable(link int) string {
	l := &r.graph.Links[link]
	return r.graph.End(link, l.A) + " – " + r.graph.End(link, l.B)
}

// cutOff lists the GPUs none of whose NICs is where most others are.
func (r *reading) cutOff(down map[int]bool) (all []result.LostRank) {
	off := map[int]bool{}
	for _, nic := range r.graph.CutOff(down) {
		off[nic] = true
	}
	for gpu := range r.graph.TotalGPUs() {
		lost := true
		for way := range r.graph.Ways(gpu) {
			lost = lost && off[r.graph.WayOf(gpu, way)]
		}
		if !lost {
			continue
		}
		since, why := r.lastCut(r.graph.WayOf(gpu, 0), down)
		all = append(all, result.LostRank{GPU: r.graph.GPUName(gpu), Since: int64(since), Why: why})
	}
	return all
}

// lastCut is when the last of a NIC's cables broke, or, where they work, the last of all.
func (r *reading) lastCut(nic int, down map[int]bool) (since unit.Time, why string) {
	own, broken := r.graph.NICs[nic].Links, 0
	for _, l := range own {
		if down[l] {
			broken++
		}
	}
	for _, e := range r.plan.Events {
		if e.Toggles && !e.Up && down[e.Link] && (broken < len(own) || slices.Contains(own, e.Link)) &&
			e.At >= since {
			since, why = e.At, r.cable(e.Link)
		}
	}
	if broken == len(own) {
		return since, unit.Plural(len(own), "cable") + " of its NIC down, the last is " + why
	}
	return since, "beyond what is broken, the last is " + why
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

// hangs is since when the first transfer has been under way that never ends, and takes down when the
// last operation ended and how many GPUs have work that they will not do.
func (r *reading) hangs(o *result.Outcome) (since unit.Time) {
	since = unit.Never
	waits := map[int32]bool{}
	for i := range r.dag.Ops {
		op := &r.dag.Ops[i]
		if end := r.exec.End[i]; end != unit.Never {
			o.Last = max(o.Last, int64(end))
			continue
		}
		waits[op.Rank] = true
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
	first := o.Errors[0]
	s := fmt.Sprintf("the queue pair from %s to %s gave up (%s)", first.From, first.To, first.Why)
	if n := len(o.CutOff); n > 0 {
		var names []string
		for _, c := range o.CutOff[:min(n, 4)] {
			names = append(names, c.GPU)
		}
		if n > 4 {
			names = append(names, fmt.Sprintf("%d more", n-4))
		}
		return s + "; cut off: " + strings.Join(names, ", ")
	}
	return s + "; nobody is cut off: what it sent, or its answers, were lost too often"
}
