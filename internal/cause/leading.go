package cause

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/unit"
)

// Ranked returns an account's causes of time above line rate: the leading one, then the others by what they cost. This
// is the one rule of all views: a cause's figure is Costs, its own time and the reaction to it, in titles, tables and
// bars; the first cause is the main cause.
//
// A cause leads if it costs a given time and a run without it saves most: by simulation for the causes whose keys are
// given, else at most what it costs, as estimated. One that overlaps others is among them if simulated. A cause that
// no run is without, or an account without estimates, counts what it costs. Savings that differ by little of the time
// above line rate, or are little of it, are alike: then the larger cost comes first.
func (a *Account) Ranked(least int64, simulated ...string) []ID {
	ids := a.byWorth(least, simulated)
	slices.SortStableFunc(ids[min(1, len(ids)):], func(x, y ID) int { return cmp.Compare(a.Costs(y), a.Costs(x)) })
	return ids
}

// byWorth returns the causes in the order in which they lead.
func (a *Account) byWorth(least int64, simulated []string) (ids []ID) {
	for i, c := range all {
		if c.Loss && (a.Costs(ID(i)) > 0 || a.overlaps(ID(i), simulated)) {
			ids = append(ids, ID(i))
		}
	}
	slices.SortStableFunc(ids, func(x, y ID) int {
		return cmp.Or(cmp.Compare(a.weight(y, least, simulated), a.weight(x, least, simulated)),
			cmp.Compare(a.Costs(y), a.Costs(x)))
	})
	return ids
}

// Leading returns the first cause of those that cost a given time, and false if a run without it saves less than
// a tenth of the time above line rate: then it explains none of it, nor does any other cause alone.
func (a *Account) Leading(least int64, simulated ...string) (id ID, is bool) {
	for _, id := range a.byWorth(least, simulated) {
		return id, a.weight(id, least, simulated) > 0
	}
	return Latency, false
}

// overlaps reports whether a simulated run without a cause that overlaps others is known to save.
func (a *Account) overlaps(id ID, simulated []string) bool {
	return slices.Contains(simulated, id.Get().Key) && slices.Contains(a.Overlapped(), id)
}

// leastReaction is the share of a cause's cost from which the reaction to it is worth a word.
const leastReaction = 0.1

// Show formats a cause's cost with the reaction to it. If the reaction is more than half, it returns only that, and
// true.
func (a *Account) Show(id ID) (costs string, recovering bool) {
	reaction := unit.Time(a.Reaction[id]).Show()
	switch {
	case a.Reaction[id] > a.Own[id]:
		return reaction, true
	case float64(a.Reaction[id]) < leastReaction*float64(a.Costs(id)):
		return unit.Time(a.Costs(id)).Show(), false
	}
	return fmt.Sprintf("%s (%s CC recovering)", unit.Time(a.Costs(id)).Show(), reaction), false
}

// weight is a cause's worth in fiftieths of the time above line rate: two simulations differ by that much at random.
// Less than a tenth of the time weighs nothing, nor does a cause that costs less than a given time.
func (a *Account) weight(id ID, least int64, simulated []string) int64 {
	worth, lost := a.worth(id, simulated), max(1, a.Lost())
	large := a.Costs(id) >= least || a.overlaps(id, simulated) && a.Saves(id) >= least
	if worth <= 0 || 10*worth < lost || !large {
		return 0
	}
	return max(1, int64(50*float64(worth)/float64(lost)))
}

// worth is what removing a cause saves, as far as the time that it costs is saved.
func (a *Account) worth(id ID, simulated []string) int64 {
	c := id.Get()
	switch is := slices.Contains(simulated, c.Key); {
	case is && c.Wide == "":
		return a.Saves(id)
	case is || a.Expects() && !c.Lasting && (!c.Outside() || a.Saving[id] != 0):
		return min(a.Costs(id), a.Saves(id))
	}
	return a.Costs(id)
}
