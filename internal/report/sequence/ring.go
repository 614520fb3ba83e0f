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
const mostRing = 4

// rounds adds each transfer.
func (s *Sequence) rounds(c *result.CollectiveRow, laps []lap) error {
	n := len(laps)
	s.Title = fmt.Sprintf("Ring all-reduce of %s over %d ranks: %d rounds of %s", bytes(c.Bytes), n, 2*(n-1),
		bytes(laps[0].sent[0].Bytes))
	shown := min(n, mostRing)
	for _, l := range laps[:shown] {
		s.lane(l.from)
	}
	for round := range 2 * (n - 1) {
		for i, l := range laps[:shown] {
			to, m := l.to, l.sent[round]
			if n > shown && i == shown-1 {
				to = "next rank"
			}
			chunk, sum := ((i-round)%n+n)%n, fmt.Sprintf("sum of %d of %d", round+1, n)
			if gather := round - (n - 1); gather >= 0 {
				chunk, sum = ((i+1-gather)%n+n)%n, "whole sum"
			} else if round == 0 {
				sum = "its own"
			}
			s.add(m.Posted, m.Done, l.from, to, Data, fmt.Sprintf("chunk %s, %s", letter(chunk), sum),
				fmt.Sprintf("round %d, %s", round+1, bytes(m.Bytes)))
		}
	}
	if n > shown {
		s.Notes = append(s.Notes, fmt.Sprintf("The first %d of %d ranks.", shown, n))
	}
	return nil
}

// letter names a chunk: A to Z, then A1 and so on.
func letter(i int) string {
	s := string(rune('A' + i%26))
	if i >= 26 {
		s += fmt.Sprint(i / 26)
	}
	return s
}
