package trace

import (
	"fmt"
	"slices"
	"strings"
)

// disagreements lists, for each group, the first call in which its ranks differ, the earliest group first. Some
// ranks lack it, make another one, or never end. Such a call hangs a job. Only ranks with a dump are listed; a call
// that a rank's buffer has overwritten is not missing.
func disagreements(c *calls, all []*recorder) []string {
	type finding struct {
		at   int64 // time of its first call
		text string
	}
	var found []finding
	for g := range c.groups {
		by := map[int64]map[int]*recorded{}
		span := map[int][2]int64{} // by rank: range of the sequence numbers in its buffer
		var ranks []int
		for _, r := range all {
			for i := range r.entries {
				e := &r.entries[i]
				if int(e.group) != g || e.what == opSend || e.what == opRecv {
					continue
				}
				if by[e.seq] == nil {
					by[e.seq] = map[int]*recorded{}
				}
				by[e.seq][r.rank] = e
				s, ok := span[r.rank]
				if !ok {
					ranks, s = append(ranks, r.rank), [2]int64{e.seq, e.seq}
				}
				span[r.rank] = [2]int64{min(s[0], e.seq), max(s[1], e.seq)}
			}
		}
		for _, r := range all { // a rank that has a dump and made no call
			if _, ok := span[r.rank]; !ok && slices.Contains(c.groups[g].ranks, r.rank) {
				ranks, span[r.rank] = append(ranks, r.rank), [2]int64{0, -1}
			}
		}
		if len(ranks) < 2 {
			continue
		}
		slices.Sort(ranks)
		var numbers []int64
		for seq := range by {
			numbers = append(numbers, seq)
		}
		slices.Sort(numbers)
		for _, seq := range numbers {
			if text := c.differs(&c.groups[g], seq, ranks, by[seq], span); text != "" {
				first := int64(0)
				for _, r := range ranks {
					if e := by[seq][r]; e != nil && (first == 0 || e.created < first) {
						first = e.created
					}
				}
				found = append(found, finding{first, text})
				break
			}
		}
	}
	slices.SortStableFunc(found, func(a, b finding) int { return int(max(-1, min(1, a.at-b.at))) })
	var texts []string
	for _, f := range found {
		texts = append(texts, f.text)
	}
	return texts
}

// differs describes how ranks differ in a call; "" if they do not.
func (c *calls) differs(g *group, seq int64, ranks []int, made map[int]*recorded, span map[int][2]int64) string {
	name := g.name
	if name == "" {
		name = "of ranks " + few(g.ranks)
	}
	var missing, last []string
	var first *recorded
	kinds, sizes, states := map[string][]int{}, map[string][]int{}, map[string][]int{}
	for _, r := range ranks {
		e := made[r]
		if e == nil {
			if s := span[r]; s[1] < seq || s[0] < seq {
				missing = append(missing, fmt.Sprint(r))
				said := "made none"
				if s[1] >= 0 {
					said = fmt.Sprintf("its last is %d", s[1]>>16)
				}
				last = append(last, said)
			}
			continue
		}
		if first == nil {
			first = e
		}
		kinds[e.what.String()] = append(kinds[e.what.String()], r)
		size := e.size
		if e.what != opAllReduce && e.what != opAllGather && e.what != opReduceScatter {
			size = "" // roots, and uneven exchanges, may differ
		}
		sizes[size] = append(sizes[size], r)
		states[e.state] = append(states[e.state], r)
	}
	number := fmt.Sprint(seq >> 16)
	what := "collective " + number + " of group " + name
	where := ""
	if first != nil && first.where != "" {
		where = " (" + first.where + ")"
	}
	switch {
	case len(missing) > 0:
		who, more := "rank "+missing[0]+" is", ""
		if len(missing) > 1 {
			who = "ranks " + strings.Join(missing[:min(len(missing), 8)], ", ") + " are"
			if len(missing) > 8 {
				more = fmt.Sprintf(" (%d in total)", len(missing))
			}
		}
		return fmt.Sprintf("%s, %v of %s%s: %s missing%s, %s", what, first.what, first.size, where, who, more,
			last[0])
	case len(kinds) > 1:
		return what + where + ": " + split(kinds, "makes ", "make ")
	case len(sizes) > 1:
		return what + ", " + first.what.String() + where + ": " + split(sizes, "has ", "have ")
	case len(states["completed"]) > 0 && len(states) > 1:
		return what + ", " + first.what.String() + " of " + first.size + where + ": " + split(states, "", "")
	}
	return ""
}

// split describes the groups of ranks that differ.
func split(by map[string][]int, one, several string) string {
	var keys []string
	for k := range by {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return by[a][0] - by[b][0] })
	var parts []string
	for _, k := range keys {
		who, verb := "rank ", one
		if len(by[k]) > 1 {
			who, verb = "ranks ", several
		}
		parts = append(parts, who+few(by[k])+" "+verb+k)
	}
	return strings.Join(parts, ", ")
}
