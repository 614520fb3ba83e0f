package trace

import (
	"slices"
	"strconv"
	"strings"

	"railyard/internal/tally"
	"railyard/internal/workload"
)

// fill gives ranks without a file the acts of another rank, in their own groups: groups with the same offset from
// the rank. Layouts of ranks are regular, so one rank of each kind determines the others.
func (c *calls) fill() error {
	present := len(c.members)
	if present == c.ranks {
		return nil
	}
	if total := float64(c.ranks) * float64(max(1, len(c.members[0].acts))); total > workload.MaxOps {
		return at(c.file, 0, "%d ranks that do as rank %d does take %.3g operations, more than the %d of a workload", c.ranks, c.members[0].rank, total, workload.MaxOps)
	}
	f := &filler{calls: c, said: len(c.groups), byRank: map[int]int{}, in: map[int][]int32{},
		used: make([][]int32, present), made: map[[2]int]int32{}}
	for i := range c.members {
		f.byRank[c.members[i].rank] = i
	}
	for g := range c.groups {
		if ranks := c.groups[g].ranks; len(ranks) < c.ranks {
			for _, r := range ranks {
				f.in[r] = append(f.in[r], int32(g))
			}
		}
	}
	lacking := strings.TrimSuffix(strings.TrimSuffix(missingRanks(f.byRank, c.ranks), " is"), " are")
	for r := range c.ranks {
		if _, ok := f.byRank[r]; ok {
			continue
		}
		i := f.like(r, present)
		like := &c.members[i]
		of, ok := f.shifted(i, r)
		if !ok {
			return at(like.file, 0, "no file is of rank %d, and the groups of rank %d follow no pattern to derive it: name a file of each rank", r, like.rank)
		}
		c.members = append(c.members, member{rank: r, file: like.file, acts: like.acts, after: like.after, of: of})
	}
	slices.SortStableFunc(c.members, func(a, b member) int { return a.rank - b.rank })
	tally.Add(&c.report.Guessed, c.ranks-present, "ranks without a file ("+lacking+"), simulated like another rank", c.file, 0)
	return nil
}

// filler makes members of ranks that no file is of.
type filler struct {
	*calls
	said   int             // number of groups in files
	byRank map[int]int     // members of files
	in     map[int][]int32 // by rank: its groups in files, except groups of all ranks
	used   [][]int32       // by member: groups of its calls
	made   map[[2]int]int32
}

// like returns the rank whose acts a rank without a file gets: a member of the smallest group with equal acts, or
// else any rank.
func (f *filler) like(r, present int) int {
	best, size := r%present, f.ranks+1
	for _, g := range f.in[r] {
		ranks := f.groups[g].ranks
		if len(ranks) >= size || f.groups[g].class == workload.PipelineParallel {
			continue
		}
		for _, other := range ranks {
			if i, ok := f.byRank[other]; ok {
				best, size = i, len(ranks)
				break
			}
		}
	}
	return best
}

// shifted returns the groups of a rank whose acts are those of a member.
func (f *filler) shifted(member, r int) ([]int32, bool) {
	like := &f.members[member]
	if f.used[member] == nil {
		f.used[member] = []int32{}
		seen := map[int32]bool{}
		for i := range like.acts {
			a := &like.acts[i]
			if a.what != opCompute && a.what != opNothing && !seen[a.group] {
				seen[a.group] = true
				f.used[member] = append(f.used[member], a.group)
			}
		}
	}
	of := make([]int32, f.said)
	for _, g := range f.used[member] {
		of[g] = g
		x := &f.groups[g]
		if len(x.ranks) == f.ranks || x.place(r) >= 0 {
			continue
		}
		first, ok := translated(x.ranks, r, f.ranks)
		if !ok {
			return nil, false
		}
		key := [2]int{int(g), first}
		n, ok := f.made[key]
		if !ok {
			ranks := make([]int, len(x.ranks))
			for i := range ranks {
				ranks[i] = first + x.ranks[i] - x.ranks[0]
			}
			n = f.grouped(x.name, ranks)
			f.made[key] = n
		}
		of[g] = n
	}
	return of, true
}

// translated returns the first rank of a rank's group if another group has even steps: ranks s, s+d, ... of n fill
// blocks of n*d ranks d times over.
func translated(ranks []int, r, world int) (int, bool) {
	n := len(ranks)
	if n < 2 {
		return r, n == 1
	}
	d := ranks[1] - ranks[0]
	if d < 1 || world%(n*d) != 0 || ranks[0]%(n*d) >= d {
		return 0, false
	}
	for i := range ranks {
		if ranks[i] != ranks[0]+i*d {
			return 0, false
		}
	}
	return r/(n*d)*(n*d) + r%d, true
}

// place returns a rank's position in a group, below 0 for none. Most groups lie in even steps.
func (g *group) place(r int) int {
	if len(g.ranks) > 1 {
		if d := g.ranks[1] - g.ranks[0]; d != 0 {
			if i := (r - g.ranks[0]) / d; i >= 0 && i < len(g.ranks) && g.ranks[i] == r {
				return i
			}
		}
		if g.even {
			return -1
		}
	}
	return slices.Index(g.ranks, r)
}

// few lists ranks briefly.
func few(ranks []int) string {
	var words []string
	for i, r := range ranks {
		if i == 8 && len(ranks) > 9 {
			return strings.Join(words, ", ") + " and " + strconv.Itoa(len(ranks)-8) + " more"
		}
		words = append(words, strconv.Itoa(r))
	}
	return strings.Join(words, ", ")
}
