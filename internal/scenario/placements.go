package scenario

import (
	"cmp"
	"slices"

	"railyard/internal/field"
	"railyard/internal/rng"
)

// placement is a rule that selects the GPUs of a job.
type placement struct {
	name, doc string
	take      func(h *hall) (crew, error)
}

type placementList []placement

// placements lists the rules; the first is the default.
var placements = placementList{
	{"packed", "servers in their order", packed},
	{"rack", "as few racks as possible, in their order: servers on the same leaf", byRack},
	{"rail", "one rail after the other: the first GPU of every server, then the second", byRail},
	{"spread", "servers of each rack in turn", spread},
	{"random", "servers drawn by the seed and the job's name", random},
	{"slurm", "as Slurm's topology/tree: below the lowest switch with room enough, leaves that fit best", slurm},
}

func (l placementList) names() (all []string) {
	for _, w := range l {
		all = append(all, w.name)
	}
	return all
}

// hall is the set of GPUs that a placement selects from.
type hall struct {
	*floor
	need, together int
	rand           *rng.Stream
}

// room returns the number of GPUs of a server in whole groups.
func (h *hall) room(s *seats) int { return len(s.free) / h.together * h.together }

// fill takes servers in an order until there are enough GPUs, and seats ranks in the order of servers.
func (h *hall) fill(order []*seats) (all crew, err error) {
	for _, s := range order {
		n := min(h.room(s), (h.need-len(all)+h.together-1)/h.together*h.together)
		all = append(all, s.free[:max(0, n)]...)
	}
	slices.Sort(all)
	return all, nil
}

// order returns the servers in their order.
func (h *hall) order() (all []*seats) {
	for i := range h.servers {
		all = append(all, &h.servers[i])
	}
	return all
}

func packed(h *hall) (crew, error) { return h.fill(h.order()) }

func byRack(h *hall) (crew, error) {
	all := h.order()
	slices.SortStableFunc(all, func(a, b *seats) int { return cmp.Compare(a.rack, b.rack) })
	return h.fill(all)
}

func byRail(h *hall) (all crew, err error) {
	if h.together > 1 {
		return nil, field.New("", "rail takes one GPU of a server after the other, and groups of %d have to share one", h.together)
	}
	for i := range h.servers {
		all = append(all, h.servers[i].free...)
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(h.p.Graph.PlaceOf(a), h.p.Graph.PlaceOf(b)) })
	return all[:min(len(all), h.need)], nil
}

func spread(h *hall) (crew, error) {
	all := h.order()
	turn, nth := map[int]int{}, map[*seats]int{}
	for _, s := range all {
		if h.room(s) > 0 {
			nth[s] = turn[s.rack]
			turn[s.rack]++
		}
	}
	slices.SortStableFunc(all, func(a, b *seats) int {
		return cmp.Or(cmp.Compare(nth[a], nth[b]), cmp.Compare(a.rack, b.rack))
	})
	return h.fill(all)
}

func random(h *hall) (crew, error) {
	perm := make([]int, len(h.servers))
	h.rand.Perm(perm)
	var all []*seats
	for _, i := range perm {
		all = append(all, &h.servers[i])
	}
	return h.fill(all)
}

// slurm is the rule of Slurm's topology/tree plugin (its guide: "the lowest level switch that can satisfy the
// request, then leaves on a best-fit basis"). Of the leaves with enough free GPUs it takes the one with the fewest;
// if there is none, the one with the most.
func slurm(h *hall) (crew, error) {
	within := h.tightest(func(s *seats) int { return s.rack })
	if within == nil {
		within = h.tightest(func(s *seats) int { return s.pod })
	}
	if within == nil {
		within = h.order()
	}
	var chosen []*seats
	for missing := h.need; missing > 0 && len(within) > 0; {
		room := map[int]int{}
		for _, s := range within {
			room[s.rack] += h.room(s)
		}
		best := within[0].rack
		for _, s := range within {
			if a, b := room[s.rack], room[best]; b < missing && a > b || b >= missing && a >= missing && a < b {
				best = s.rack
			}
		}
		missing -= room[best]
		within = slices.DeleteFunc(within, func(s *seats) bool {
			if s.rack == best {
				chosen = append(chosen, s)
			}
			return s.rack == best
		})
	}
	return h.fill(chosen)
}

// tightest returns the servers below the switch that has the least sufficient room; nil: none has.
func (h *hall) tightest(of func(*seats) int) (all []*seats) {
	room := map[int]int{}
	for i := range h.servers {
		room[of(&h.servers[i])] += h.room(&h.servers[i])
	}
	best := -1
	for i := range h.servers {
		if at := of(&h.servers[i]); room[at] >= h.need && (best < 0 || room[at] < room[best]) {
			best = at
		}
	}
	for i := range h.servers {
		if of(&h.servers[i]) == best {
			all = append(all, &h.servers[i])
		}
	}
	return all
}
