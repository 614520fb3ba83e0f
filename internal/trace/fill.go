package trace

import (
	"slices"
	"strconv"
	"strings"

	"railyard/internal/workload"
)

// fill gives ranks that no file is of what another rank did, in their own groups: those that lie as far from
// them as the other's from it. Layouts of ranks are regular, so that of all ranks one of each kind tells
// the others.
func (c *calls) fill() error {
	if len(c.members) == c.ranks {
		return nil
	}
	present := len(c.members)
	byRank := map[int]int{}
	for i := range c.members {
		byRank[c.members[i].rank] = i
	}
	if total := float64(c.ranks) * float64(len(c.members[0].acts)); total > workload.MaxOps {
		return at(c.file, 0, "%d ranks that do as rank %d does take %.3g operations, more than the %d of a "+
			"workload", c.ranks, c.members[0].rank, total, workload.MaxOps)
	}
	for r := range c.ranks {
		if _, ok := byRank[r]; ok {
			continue
		}
		like := &c.members[c.like(r, present, byRank)]
		of, ok := c.shifted(like, r)
		if !ok {
			return at(like.file, 0, "no file is of rank %d, and the groups of rank %d follow no pattern "+
				"that would say what it does: name a file of each rank", r, like.rank)
		}
		c.members = append(c.members, member{rank: r, file: like.file, acts: like.acts, after: like.after,
			of: of})
	}
	slices.SortStableFunc(c.members, func(a, b member) int { return a.rank - b.rank })
	for range c.ranks - present {
		note(&c.report.Guessed, "ranks without a file, which do as another one does", c.file, 0)
	}
	return nil
}

// like is the member that a rank without a file is taken to be like: one that shares a group in which all do
// the same, the smallest such group; else any.
func (c *calls) like(r, present int, byRank map[int]int) int {
	best, size := r%present, c.ranks+1
	for g := range c.groups {
		ranks := c.groups[g].ranks
		if len(ranks) >= size || len(ranks) == c.ranks || !slices.Contains(ranks, r) ||
			c.groups[g].class == workload.PipelineParallel {
			continue
		}
		for _, other := range ranks {
			if i, ok := byRank[other]; ok {
				best, size = i, len(ranks)
				break
			}
		}
	}
	return best
}

// shifted are the groups of a rank that does as another one does.
func (c *calls) shifted(like *member, r int) ([]int32, bool) {
	of := make([]int32, len(c.groups))
	for g := range of {
		of[g] = int32(g)
	}
	used := map[int32]bool{}
	for i := range like.acts {
		if like.acts[i].what != opCompute && like.acts[i].what != opNothing {
			used[like.acts[i].group] = true
		}
	}
	for g := range len(of) {
		if !used[int32(g)] {
			continue
		}
		x := c.groups[g]
		if slices.Contains(x.ranks, r) {
			continue
		}
		ranks, ok := translated(x.ranks, r, c.ranks)
		if !ok {
			return nil, false
		}
		of[g] = c.grouped(x.name, ranks)
	}
	return of, true
}

// translated is the group that a rank is in where another group lies in even steps: ranks s, s+d, ... of n
// fill blocks of n*d ranks d times over.
func translated(ranks []int, r, world int) ([]int, bool) {
	n := len(ranks)
	if n < 2 {
		return []int{r}, n == 1
	}
	d := ranks[1] - ranks[0]
	if d < 1 || world%(n*d) != 0 || ranks[0]%(n*d) >= d {
		return nil, false
	}
	first := r/(n*d)*(n*d) + r%d
	out := make([]int, n)
	for i := range out {
		if ranks[i] != ranks[0]+i*d {
			return nil, false
		}
		out[i] = first + i*d
	}
	return out, true
}

// few says ranks in a few words.
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
