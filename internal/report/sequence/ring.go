package sequence

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"railyard/internal/result"
)

// ring is the first ring all-reduce whose transfers all use the network: the chunk that each rank sends in each
// round, the sum, and the time. Chunk k starts at rank k. In round r of the reduce-scatter rank i sends chunk i-r,
// a sum of r+1 ranks. In the all-gather it sends chunk i+1-r, complete (Patarasuk and Yuan, JPDC 2009).
func ring(r run, s *Sequence) error {
	all, err := table[result.CollectiveRow](r, "collectives")
	if err != nil {
		return err
	}
	rings := map[string]bool{}
	for _, c := range r.Summary.Collectives {
		if c.Algorithm == "ring" && c.Kind == "all-reduce" {
			rings[c.Name] = true
		}
	}
	if len(rings) == 0 {
		if !r.Summary.Complete {
			return errors.New("no ring all-reduce completed in this run")
		}
		return errors.New("the run has no ring all-reduce")
	}
	flows, err := table[result.FlowRow](r, "flows")
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b result.CollectiveRow) int { return cmp.Compare(a.Start, b.Start) })
	found := false
	for _, c := range all {
		if !rings[c.Name] {
			continue
		}
		found = true
		if laps := lapsOf(&c, flows); laps != nil {
			return s.rounds(&c, laps)
		}
	}
	if found {
		return errors.New("no ring all-reduce of this run has all transfers in flows.parquet, where those over NVLink are not")
	}
	return errors.New("no ring all-reduce completed in this run")
}

// Rings reports whether a run has a ring all-reduce that can be drawn.
func (r *Run) Rings() bool { return ring(r, &Sequence{}) == nil }

// lap is the messages of one rank to the next one, one per round.
type lap struct {
	from, to string
	sent     []result.FlowRow
}

// lapsOf returns a ring's laps in its order, or nil if flows.parquet lacks some. Rings of other ranks run at the
// same time. Of the rings that run completely within the time of the collective it is the one that ends with it.
func lapsOf(c *result.CollectiveRow, flows []result.FlowRow) (best []lap) {
	by, order := map[string]*lap{}, []string{}
	for _, m := range flows {
		if m.Posted < c.Start || m.Done > c.End || m.Done < 0 || m.Class != c.Class || m.Job != c.Job {
			continue
		}
		l := by[m.From]
		if l == nil {
			l = &lap{from: m.From, to: m.To}
			by[m.From], order = l, append(order, m.From)
		}
		if l.to != m.To {
			l.to = "" // a rank that sends to two others
		}
		l.sent = append(l.sent, m)
	}
	last := int64(-1)
	for _, first := range order {
		if laps := around(first, by, int(c.Ranks)); laps != nil {
			end := int64(0)
			for _, l := range laps {
				end = max(end, l.sent[len(l.sent)-1].Done)
			}
			if end > last {
				best, last = laps, end
			}
		}
	}
	return best
}

// around follows a ring of n ranks from one back to it, or returns nil. Messages of one round, one for each queue pair,
// become one.
func around(first string, by map[string]*lap, n int) (laps []lap) {
	if n < 2 {
		return nil
	}
	rounds, at := 2*(n-1), first
	for range n {
		l := by[at]
		if l == nil || len(l.sent)%rounds != 0 || len(l.sent) != len(by[first].sent) || len(laps) > 0 && at == first {
			return nil
		}
		slices.SortStableFunc(l.sent, func(a, b result.FlowRow) int { return cmp.Compare(a.Posted, b.Posted) })
		one := lap{from: l.from, to: l.to}
		for part := range slices.Chunk(l.sent, len(l.sent)/rounds) {
			m := part[0]
			for _, x := range part[1:] {
				m.Done, m.Bytes = max(m.Done, x.Done), m.Bytes+x.Bytes
			}
			one.sent = append(one.sent, m)
		}
		laps, at = append(laps, one), l.to
	}
	if at != first {
		return nil
	}
	return laps
}

// mostRing bounds how many ranks are drawn.
const mostRing = 8

// rounds adds each transfer, in order of time, as a bar: of a larger ring those of the ranks around the slowest one.
func (s *Sequence) rounds(c *result.CollectiveRow, laps []lap) error {
	n := len(laps)
	s.Chart = true
	s.Title = fmt.Sprintf("Ring all-reduce of %s over %d ranks: %d rounds of %s", bytes(c.Bytes), n, 2*(n-1),
		bytes(laps[0].sent[0].Bytes))
	first := 0
	if n > mostRing {
		first = min(max(0, slowestLap(laps)-mostRing/2), n-mostRing)
		s.Notes = append(s.Notes, fmt.Sprintf("Ranks %d to %d of %d, around the slowest transfer.", first+1,
			first+mostRing, n))
	}
	for i := first; i < min(n, first+mostRing); i++ {
		s.lane(laps[i].from)
		done := int64(0)
		for round, m := range laps[i].sent {
			chunk, sum := ((i-round)%n+n)%n, fmt.Sprintf("sum of %d of %d", round+1, n)
			if gather := round - (n - 1); gather >= 0 {
				chunk, sum = ((i+1-gather)%n+n)%n, "whole sum"
			} else if round == 0 {
				sum = "its own"
			}
			s.Steps = append(s.Steps, Step{At: m.Posted, Begin: max(m.Posted, done), Until: m.Done,
				From: s.lane(m.From), Kind: Data, Group: chunk, Label: fmt.Sprintf("chunk %s, %s", letter(chunk), sum),
				Detail: fmt.Sprintf("round %d, %s", round+1, bytes(m.Bytes))})
			done = m.Done
		}
	}
	for i := range s.Steps { // lanes of senders first
		s.Steps[i].To = s.lane(laps[first+s.Steps[i].From].to)
	}
	slices.SortStableFunc(s.Steps, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	s.slowest()
	return nil
}

// slowestLap returns the lap with the longest transfer.
func slowestLap(laps []lap) (at int) {
	most := int64(-1)
	for i, l := range laps {
		for _, m := range l.sent {
			if took := m.Done - m.Posted; took > most {
				at, most = i, took
			}
		}
	}
	return at
}

// slowest finds the step that takes longest, and notes it: none if all take the same within 1 %.
func (s *Sequence) slowest() {
	took := func(x Step) int64 { return x.Until - x.At }
	top := slices.MaxFunc(s.Steps, func(a, b Step) int { return cmp.Compare(took(a), took(b)) })
	low := slices.MinFunc(s.Steps, func(a, b Step) int { return cmp.Compare(took(a), took(b)) })
	if 100*took(low) >= 99*took(top) {
		return
	}
	s.Slowest = slices.Index(s.Steps, top)
	note := fmt.Sprintf("Slowest: %s, %s, %s → %s, %s", top.Label, top.Detail, s.Lanes[top.From], s.Lanes[top.To],
		dur(took(top)))
	if top.blocked() {
		note += fmt.Sprintf(", %s of it blocked on the previous chunk", dur(top.Begin-top.At))
	}
	s.Notes = append(s.Notes, note+".")
}

// letter names a chunk: A to Z, then A1 and so on.
func letter(i int) string {
	s := string(rune('A' + i%26))
	if i >= 26 {
		s += fmt.Sprint(i / 26)
	}
	return s
}
