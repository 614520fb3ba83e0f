package planner

import (
	"slices"

	"railyard/internal/field"
	"railyard/internal/partition"
)

// Only is the restriction of a search; an empty list means all.
type Only struct {
	TP, PP, CP, EP, VPP, ZeRO  []int
	Micro                      []int64
	Recompute, Schedule, Order []string
}

// takes reports whether a layout meets the limits.
func (o *Only) takes(l *partition.Layout) bool {
	return listed(o.TP, l.TP) && listed(o.PP, l.PP) && listed(o.CP, l.CP) && listed(o.EP, l.EP) &&
		listed(o.VPP, l.VPP) && listed(o.ZeRO, l.ZeRO) && listed(o.Micro, l.Micro) &&
		listed(o.Recompute, l.Recompute) && listed(o.Schedule, l.Schedule) &&
		(l.DP == 1 || l.PP == 1 || listed(o.Order, l.Order))
}

func listed[T comparable](all []T, x T) bool { return len(all) == 0 || slices.Contains(all, x) }

// check rejects values that no layout has.
func (o *Only) check() error {
	for _, f := range []struct {
		name string
		all  []int
		last int
	}{{"tp", o.TP, 1 << 20}, {"pp", o.PP, 1 << 20}, {"cp", o.CP, 1 << 20}, {"ep", o.EP, 1 << 20}, {"vpp", o.VPP, 1 << 20},
		{"zero", o.ZeRO, 3}} {
		first := 1
		if f.name == "zero" {
			first = 0
		}
		for _, v := range f.all {
			if v < first || v > f.last {
				return field.New(f.name, "%d is out of range %d–%d", v, first, f.last)
			}
		}
	}
	for _, v := range o.Micro {
		if v < 1 || v > 1<<20 {
			return field.New("micro_batch", "%d is out of range 1–%d", v, 1<<20)
		}
	}
	for _, f := range []struct {
		name      string
		all, from []string
	}{{"recompute", o.Recompute, partition.Recomputations},
		{"schedule", o.Schedule, []string{partition.OneFOneB, partition.Interleaved, partition.ZeroBubble}},
		{"order", o.Order, []string{partition.DataInside, partition.PipelineInside}}} {
		for _, v := range f.all {
			if !slices.Contains(f.from, v) {
				return field.Choice(f.name, v, f.from, "%q is not known", v)
			}
		}
	}
	return nil
}
