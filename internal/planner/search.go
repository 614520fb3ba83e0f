package planner

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/internal/model"
	"railyard/unit"
)

// Site is what a search knows of the fabric.
type Site struct {
	GPU       model.GPU
	GPUs      int
	PerServer int       // GPUs that NVLink joins
	NVLink    unit.Rate // per GPU and direction
	NIC       unit.Rate // per GPU
	Latency   unit.Time // of a message between servers
	NVLatency unit.Time // inside one
	// Oversubscription of what lies above the rail switches, 1 is none; and how many
	// servers hang off one set of rail switches.
	Ratio   float64
	Segment int
}

// SearchInput is what is searched.
type SearchInput struct {
	Model      *model.Config
	Site       Site
	Global     int64   // sequences per step
	Seq        int64   // tokens
	Efficiency float64 // share of the peak that kernels reach
}

// Candidate is a layout with its estimated step.
type Candidate struct {
	Layout    Layout     `json:"layout"`
	Seconds   float64    `json:"step_seconds"`
	MFU       float64    `json:"mfu"`
	TokensGPU float64    `json:"tokens_per_second_gpu"`
	Memory    unit.Bytes `json:"memory_bytes"` // of the fullest rank
	Compute   float64    `json:"compute_seconds"`
	Bubble    float64    `json:"bubble_seconds"`
	Tensor    float64    `json:"exposed_tensor_seconds"`
	Pipeline  float64    `json:"exposed_pipeline_seconds"`
	Data      float64    `json:"exposed_data_seconds"`
	Experts   float64    `json:"exposed_expert_seconds"`
	Context   float64    `json:"exposed_context_seconds"`
	Optimizer float64    `json:"optimizer_seconds"`
}

// Rejected counts the layouts of one reason, with an example.
type Rejected struct {
	Reason  string `json:"reason"`
	Count   int    `json:"count"`
	Example string `json:"example"`
}

// Result is the candidates, best first, and why the others are none.
type Result struct {
	Candidates []Candidate `json:"candidates"`
	Rejected   []Rejected  `json:"rejected"`
	Tried      int         `json:"tried"`
}

// String writes a layout as people do.
func (l Layout) String() string {
	s := fmt.Sprintf("tp %d pp %d dp %d", l.TP, l.PP, l.DP)
	for _, f := range []struct {
		name string
		v    int
	}{{"vpp", l.VPP}, {"cp", l.CP}, {"ep", l.EP}} {
		if f.v > 1 {
			s += fmt.Sprintf(" %s %d", f.name, f.v)
		}
	}
	s += fmt.Sprintf(" micro %d", l.Micro)
	if l.ZeRO > 0 {
		s += fmt.Sprintf(" zero %d", l.ZeRO)
	}
	if l.Recompute != RecomputeSelective {
		s += " recompute " + l.Recompute
	}
	return s
}

// Search enumerates every layout that uses all GPUs, drops those that do not
// divide the model or the batch or do not fit the memory, and ranks the rest by
// a cost model of compute, pipeline bubble and communication on this fabric.
func Search(in SearchInput) (*Result, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	r := &Result{}
	rejected := map[string]*Rejected{}
	var order []string
	reject := func(reason string, l Layout) {
		if rejected[reason] == nil {
			rejected[reason] = &Rejected{Reason: reason, Example: l.String()}
			order = append(order, reason)
		}
		rejected[reason].Count++
	}
	in.layouts(func(l Layout) {
		r.Tried++
		if reason := in.refuses(l); reason != "" {
			reject(reason, l)
			return
		}
		ranks, err := l.Memory(in.Model)
		if err != nil {
			reject(err.Error(), l)
			return
		}
		worst := unit.Bytes(0)
		for _, m := range ranks {
			worst = max(worst, m.Total())
		}
		if worst > in.Site.GPU.Memory/100*reserve {
			reject(fmt.Sprintf("does not fit %d %% of the GPU's memory", reserve), l)
			return
		}
		c := in.estimate(l)
		c.Memory = worst
		r.Candidates = append(r.Candidates, c)
	})
	slices.SortStableFunc(r.Candidates, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Seconds, b.Seconds), cmp.Compare(a.Memory, b.Memory), cmp.Compare(a.Layout.String(), b.Layout.String()))
	})
	for _, reason := range order {
		r.Rejected = append(r.Rejected, *rejected[reason])
	}
	slices.SortStableFunc(r.Rejected, func(a, b Rejected) int { return b.Count - a.Count })
	return r, nil
}

// reserve is the percentage of the memory that a layout may fill: the rest is for
// fragmentation, the communication library and the framework.
const reserve = 90

func (in SearchInput) check() error {
	s := in.Site
	switch {
	case s.GPUs < 1 || s.GPUs > 1<<17:
		return fmt.Errorf("the number of GPUs must lie between 1 and %d, found %d", 1<<17, s.GPUs)
	case in.Global < 1 || in.Global > 1<<24:
		return fmt.Errorf("the global batch must lie between 1 and %d sequences, found %d", 1<<24, in.Global)
	case in.Seq < 1 || in.Seq > 1<<24:
		return fmt.Errorf("a sequence has 1 to %d tokens, found %d", 1<<24, in.Seq)
	case !(in.Efficiency > 0 && in.Efficiency <= 1):
		return fmt.Errorf("efficiency must lie above 0 and at most 100 %%, found %g %%", 100*in.Efficiency)
	case s.NIC <= 0 || s.NVLink <= 0 || s.PerServer < 1 || s.Ratio < 1 || s.Segment < 1:
		return fmt.Errorf("the fabric's rates must be positive")
	}
	return nil
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

// layouts visits TP x PP x VPP x DP x CP x EP x microbatch x ZeRO x recomputation.
// Dimensions that cannot matter are left at 1: context parallelism below 32
// thousand tokens, experts without experts.
func (in SearchInput) layouts(visit func(Layout)) {
	cps, eps := []int{1}, []int{1}
	if in.Seq >= 32_768 {
		cps = []int{1, 2, 4, 8, 16}
	}
	if in.Model.Experts > 0 {
		eps = divisors(int(in.Model.Experts))
	}
	n := in.Site.GPUs
	for _, tp := range divisors(n) {
		if tp > 64 {
			break
		}
		for _, pp := range divisors(n / tp) {
			if int64(pp) > in.Model.Layers {
				break
			}
			for _, cp := range cps {
				if n%(tp*pp*cp) != 0 {
					continue
				}
				dp := n / tp / pp / cp
				for _, ep := range eps {
					for _, vpp := range []int{1, 2, 4, 8} {
						if vpp > 1 && pp == 1 {
							break
						}
						for _, micro := range []int64{1, 2, 4, 8} {
							for zero := range 4 {
								for _, recompute := range []string{RecomputeNone, RecomputeSelective, RecomputeFull} {
									l := Layout{TP: tp, PP: pp, DP: dp, CP: cp, EP: ep, VPP: vpp, ZeRO: zero, Sequence: tp > 1, Recompute: recompute, Schedule: OneFOneB,
										Micro: micro, Microbatches: int(in.Global / (int64(dp) * micro)), Seq: in.Seq}
									if vpp > 1 {
										l.Schedule = Interleaved
									}
									visit(l)
								}
							}
						}
					}
				}
			}
		}
	}
}

// refuses names the family of reasons a layout is impossible for, without its
// numbers, so that they can be counted.
func (in SearchInput) refuses(l Layout) string {
	m := in.Model
	switch {
	case m.Heads%int64(l.TP) != 0:
		return "tp does not divide the attention heads"
	case m.Layers%int64(l.PP*l.VPP) != 0:
		return "pp times vpp does not divide the layers"
	case in.Global%(int64(l.DP)*l.Micro) != 0 || l.Microbatches < 1:
		return "the batch does not divide into replicas and microbatches"
	case l.Schedule == Interleaved && l.Microbatches%l.PP != 0:
		return "interleaving needs a multiple of pp microbatches"
	case l.EP > 1 && (l.DP*l.CP)%l.EP != 0:
		return "ep does not divide the data parallel ranks"
	case l.TP > in.Site.PerServer:
		return "tensor parallelism would leave the NVLink domain"
	case l.ZeRO > 0 && l.DP*l.CP == 1:
		return "ZeRO needs replicas to share with"
	case l.ZeRO >= 2 && l.PP > 1:
		return "ZeRO 2 and 3 with a pipeline reduce gradients every microbatch"
	case l.Recompute == RecomputeFull && l.ZeRO == 0 && l.DP > 1:
		return "full recomputation before ZeRO 1, which costs nothing"
	}
	return ""
}

// ring is the time of a ring over n ranks that moves bytes rounds/n times.
func ring(n int, bytes float64, rounds float64, rate unit.Rate, latency unit.Time) float64 {
	if n < 2 {
		return 0
	}
	return rounds*float64(n-1)/float64(n)*bytes*8/float64(rate) + rounds*float64(n-1)*latency.Seconds()
}

// estimate is the cost model. Tensor parallel collectives are exposed; data
// parallel ones overlap with the last microbatch's backward pass, as the workload
// builder has it; a pipeline's bubble is (p-1)/v microbatches.
func (in SearchInput) estimate(l Layout) Candidate {
	m, s := in.Model, in.Site
	p, v, mb := float64(l.PP), float64(l.VPP), float64(l.Microbatches)
	tokens := l.Micro * in.Seq / int64(l.CP)
	rate := s.GPU.BF16 * in.Efficiency * float64(l.TP)
	layers := float64(m.Layers / int64(l.PP))
	forward := layers * m.LayerFLOPs(tokens, in.Seq) / rate
	head := m.HeadFLOPs(tokens) / rate
	backward := 2 * forward
	switch l.Recompute {
	case RecomputeFull:
		backward += forward
	case RecomputeSelective: // scores and values of the attention
		backward += layers * float64(tokens) * 4 * float64(in.Seq) * float64(m.Heads*m.HeadDim) / rate
	}
	c := Candidate{Layout: l}
	act := float64(tokens * m.Hidden * 2)
	tensor := 4 * layers * ring(l.TP, act, 2, s.NVLink, s.NVLatency)
	if l.CP > 1 { // keys and values go around, forward once and backward twice
		kv := float64(2 * tokens * m.KVHeads * m.HeadDim * 2 / int64(l.TP))
		c.Context = mb * 3 * layers * ring(l.CP, kv*float64(l.CP), 1, s.NIC, s.Latency)
	}
	if l.EP > 1 { // tokens to their experts and back, forward and backward
		each := act * float64(m.TopK) / float64(l.TP)
		c.Experts = mb * 4 * layers * ring(l.EP, each, 1, s.NIC, s.Latency)
	}
	per := forward + backward + tensor
	c.Compute = mb*(forward+backward) + mb*3*head/p // the last stage's head, spread
	c.Tensor = mb * tensor
	c.Bubble = (p - 1) / v * per
	if l.PP > 1 {
		hop := act/float64(l.TP)*8/float64(s.NIC) + s.Latency.Seconds()
		c.Pipeline = 2 * (p - 1 + (v-1)*mb) * hop
	}
	params := (float64(m.Params())/p - float64(m.Layers)/p*float64(m.ExpertParams())*(1-1/float64(l.EP))) / float64(l.TP)
	if replicas := l.DP * l.CP; replicas > 1 {
		nic := s.NIC
		if replicas*l.TP > s.Segment*s.PerServer { // rings leave the rail switches
			nic = unit.Rate(float64(nic) / s.Ratio)
		}
		t := ring(replicas, params*gradBytes, 2, nic, s.Latency)
		window := backward / v
		if l.ZeRO == 3 { // every layer is gathered for each forward and backward pass, gradients scattered once
			t = layers * ring(replicas, params*gradBytes/layers, 2*mb+1, nic, s.Latency)
			window = mb * (forward + backward)
		}
		c.Data = max(t-window, t*0.02) // the last bucket has nothing to hide behind
	}
	shard := 1.0
	if l.ZeRO > 0 {
		shard = float64(l.DP * l.CP)
	}
	c.Optimizer = 28 * params / shard * 8 / float64(s.GPU.HBM)
	c.Seconds = c.Compute + c.Bubble + c.Tensor + c.Pipeline + c.Data + c.Experts + c.Context + c.Optimizer
	all := in.Global * in.Seq
	c.MFU = m.StepFLOPs(all, in.Seq) / (c.Seconds * float64(s.GPUs) * s.GPU.BF16)
	c.TokensGPU = float64(all) / c.Seconds / float64(s.GPUs)
	return c
}
