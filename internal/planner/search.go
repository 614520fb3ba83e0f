package planner

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"railyard/internal/field"
	"railyard/internal/partition"
	"railyard/internal/workload"
	"railyard/unit"
)

// SearchInput is the input of a search.
type SearchInput struct {
	// Training is the common part of all candidates: the model, batch, sequence, kernels, the reduction of gradients.
	// The parallelism of its layout is searched; channels 0 are one per GPU in a server.
	Training workload.Training
	Site     Site
	Only     Only
}

// Rejected counts the layouts of one reason, with an example.
type Rejected struct {
	Reason  string `json:"reason"`
	Count   int    `json:"count"`
	Example string `json:"example"`
}

// Result is the candidates, best first, and the reasons of refused layouts.
type Result struct {
	Candidates []Candidate `json:"candidates"`
	Rejected   []Rejected  `json:"rejected"`
	Tried      int         `json:"tried"`
}

// Search enumerates every layout that uses all GPUs. It drops those that do not divide the model or the batch or do
// not fit the memory. It ranks the others by a cost model of computation, pipeline bubble and communication on this
// fabric.
func Search(in SearchInput) (*Result, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	r := &Result{}
	rejected := map[string]*Rejected{}
	var order []string
	in.layouts(func(l partition.Layout) {
		if !in.Only.takes(&l) {
			return
		}
		r.Tried++
		memory, reason := in.fits(l)
		if reason == "" {
			c := in.Estimate(l)
			c.Memory = memory
			r.Candidates = append(r.Candidates, c)
			return
		}
		if rejected[reason] == nil {
			rejected[reason] = &Rejected{Reason: reason, Example: l.String()}
			order = append(order, reason)
		}
		rejected[reason].Count++
	})
	slices.SortStableFunc(r.Candidates, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Seconds, b.Seconds), cmp.Compare(a.Memory, b.Memory),
			cmp.Compare(a.Layout.String(), b.Layout.String()))
	})
	r.Candidates = slices.CompactFunc(r.Candidates, func(a, b Candidate) bool {
		same := twins(a, b)
		if same && rejected[noEffect] == nil {
			rejected[noEffect] = &Rejected{Reason: noEffect, Example: b.Layout.String()}
			order = append(order, noEffect)
		}
		if same {
			rejected[noEffect].Count++
		}
		return same
	})
	for _, reason := range order {
		r.Rejected = append(r.Rejected, *rejected[reason])
	}
	slices.SortStableFunc(r.Rejected, func(a, b Rejected) int { return b.Count - a.Count })
	return r, nil
}

// noEffect is the reason of a twin.
const noEffect = "order of ranks without effect: the other order has the same transfers"

// twins reports whether two candidates differ only in the order of ranks, send equal bytes in hosts and below one
// leaf, and send none over spines. Hosts below one leaf can be exchanged.
func twins(a, b Candidate) bool {
	b.Layout.Order = a.Layout.Order
	return a == b && a.Tiers[2] == 0
}

// fits returns the memory of a layout's fullest rank, or the reason why it is impossible, without numbers, so that
// reasons can be counted.
func (in SearchInput) fits(l partition.Layout) (unit.Bytes, string) {
	switch {
	case l.Microbatches < 1 || l.Global() != in.Training.GlobalBatch:
		return 0, "batch not divisible by DP × microbatch"
	case l.TP > in.Site.PerServer:
		return 0, "TP beyond the NVLink domain"
	case l.ZeRO > 0 && l.DP*l.CP == 1:
		return 0, "ZeRO without replicas (DP × CP = 1)"
	case l.Recompute == partition.RecomputeNone && in.Training.Kernels != workload.Unfused:
		return 0, "recomputation none: the same as selective with FlashAttention"
	}
	if by := in.Training.Software; by != nil && by.Permits(l) != nil {
		return 0, "ZeRO stage, schedule or PP that " + by.Name + " does not have"
	}
	if err := l.Check(in.Training.Model); err != nil {
		var e *field.Error
		if errors.As(err, &e) && families[e.Path] != "" {
			return 0, families[e.Path]
		}
		return 0, err.Error()
	}
	l.Unfused = in.Training.Kernels == workload.Unfused
	worst, err := l.Worst(in.Training.Model)
	if err != nil {
		return 0, err.Error()
	}
	if worst.Total() > partition.Fillable(in.Site.GPU.Usable) {
		return 0, AboveMemory
	}
	return worst.Total(), ""
}

// AboveMemory is the reason of layouts that do not fit.
var AboveMemory = fmt.Sprintf("over %d %% of GPU memory", partition.MostMemory)

// families are the reasons of a layout's check by the field at fault.
var families = map[string]string{
	"tp":        "TP does not divide the attention heads",
	"pp":        "PP × VPP above the number of layers",
	"schedule":  "interleaving needs a multiple of PP microbatches",
	"recompute": "zero-bubble schedule with full recomputation",
	"ep":        "EP does not divide the experts, or DP × CP",
	"cp":        "CP does not divide the sequence",
}

// CheckEfficiency refuses an efficiency that is not a percentage of a peak. Below 1 % it is a share of 1, which a
// number without a unit does not show.
func CheckEfficiency(percent float64) error {
	if !(percent >= 1 && percent <= 100) {
		return field.New("efficiency", "%g %% is out of range: at least 1, at most 100 %%", percent)
	}
	return nil
}

func (in SearchInput) check() error {
	switch {
	case in.Training.GlobalBatch < 1 || in.Training.GlobalBatch > 1<<24:
		return field.New("global_batch", "%[2]d is out of range 1–%[1]d sequences",
			1<<24, in.Training.GlobalBatch)
	case in.Training.Seq < 1 || in.Training.Seq > 1<<24:
		return field.New("sequence", "%[2]d is out of range 1–%[1]d tokens", 1<<24, in.Training.Seq)
	}
	if err := CheckEfficiency(in.Training.Efficiency); err != nil {
		return err
	}
	if err := in.Training.CheckPrecision(in.Site.GPU); err != nil {
		return err
	}
	if err := in.Only.check(); err != nil {
		return err
	}
	return in.Site.check()
}

// divisors lists the divisors of n in order.
func divisors(n int) (out []int) {
	for d := 1; d*d <= n; d++ {
		if n%d == 0 {
			out = append(out, d)
			if d*d != n {
				out = append(out, n/d)
			}
		}
	}
	slices.Sort(out)
	return out
}

// layouts visits TP x PP x CP x EP x schedule and VPP x order of ranks x microbatch x ZeRO x recomputation. Expert
// parallelism without experts stays 1, and so does a context of less than 1,024 tokens a rank, unless requested. A
// requested size that no layout can have is visited, so that it is refused with its reason.
func (in SearchInput) layouts(visit func(partition.Layout)) {
	cps, eps := []int{1}, []int{1}
	for cp := 2; cp <= 64 && in.Training.Seq/int64(cp) >= leastContext; cp *= 2 {
		cps = append(cps, cp)
	}
	if len(in.Only.CP) > 0 {
		cps = in.Only.CP
	}
	switch {
	case len(in.Only.EP) > 0:
		eps = in.Only.EP
	case in.Training.Model.Experts > 0:
		eps = divisors(int(in.Training.Model.Experts))
	}
	n, spent := in.Site.GPUs, partition.Layout{}
	if by := in.Training.Software; by != nil {
		by.Spends(&spent)
	}
	for _, tp := range divisors(n) {
		if tp > 64 && len(in.Only.TP) == 0 {
			break
		}
		for _, pp := range divisors(n / tp) {
			if int64(pp) > in.Training.Model.Layers && len(in.Only.PP) == 0 {
				break
			}
			for _, cp := range cps {
				if n%(tp*pp*cp) != 0 {
					continue
				}
				for _, ep := range eps {
					in.variants(partition.Layout{TP: tp, PP: pp, DP: n / tp / pp / cp, CP: cp, EP: ep,
						Sequence: tp > 1, Seq: in.Training.Seq, Stack: spent.Stack, GradBytes: spent.GradBytes}, visit)
				}
			}
		}
	}
}

// leastContext is the fewest tokens of a context parallel rank that a search tries: a tile of attention is 128.
const leastContext = 1024

// chunks returns the numbers of model chunks per rank to try: the requested ones, or those that divide the layers.
// Where the stages do not divide them either, powers of two spread them as evenly as can be.
func (in SearchInput) chunks(l partition.Layout) (all []int) {
	if len(in.Only.VPP) > 0 {
		return slices.DeleteFunc(slices.Clone(in.Only.VPP), func(vpp int) bool { return vpp == 1 })
	}
	uneven := l.Settled(in.Training.Model).Uneven
	for vpp := 2; l.PP*vpp <= int(in.Training.Model.Layers)+2; vpp++ {
		l.VPP = vpp
		if power := vpp&(vpp-1) == 0; uneven && power || !l.Settled(in.Training.Model).Uneven {
			all = append(all, vpp)
		}
	}
	return all
}

// variants visits the ways to run one partition.
func (in SearchInput) variants(l partition.Layout, visit func(partition.Layout)) {
	type schedule struct {
		name string
		vpp  int
	}
	schedules, orders := []schedule{{partition.OneFOneB, 1}}, []string{partition.DataInside}
	if l.PP > 1 {
		schedules = append(schedules, schedule{partition.ZeroBubble, 1})
		for _, vpp := range in.chunks(l) {
			schedules = append(schedules, schedule{partition.Interleaved, vpp})
		}
		if l.DP > 1 {
			orders = append(orders, partition.PipelineInside)
		}
	}
	micros := []int64{1, 2, 4, 8}
	if len(in.Only.Micro) > 0 {
		micros = in.Only.Micro
	}
	for _, s := range schedules {
		for _, order := range orders {
			for _, micro := range micros {
				for zero := range 4 {
					for _, recompute := range []string{partition.RecomputeNone, partition.RecomputeSelective,
						partition.RecomputeFull} {
						l.Schedule, l.VPP, l.Order, l.Micro, l.ZeRO, l.Recompute = s.name, s.vpp, order,
							micro, zero, recompute
						l.Microbatches = int(in.Training.GlobalBatch / (int64(l.DP) * micro))
						visit(l.Settled(in.Training.Model))
					}
				}
			}
		}
	}
}
