package planner

import (
	"math"

	"railyard/internal/partition"
	"railyard/internal/workload"
	"railyard/unit"
)

// Candidate is a layout with its estimated step.
type Candidate struct {
	Layout    partition.Layout `json:"layout"`
	Seconds   float64          `json:"step_seconds"`
	MFU       float64          `json:"mfu"`
	TokensGPU float64          `json:"tokens_per_second_gpu"`
	Memory    unit.Bytes       `json:"memory_bytes"` // memory of the fullest rank
	Compute   float64          `json:"compute_seconds"`
	Bubble    float64          `json:"bubble_seconds"`
	Tensor    float64          `json:"exposed_tensor_seconds"`
	Pipeline  float64          `json:"exposed_pipeline_seconds"`
	Data      float64          `json:"exposed_data_seconds"`
	Experts   float64          `json:"exposed_expert_seconds"`
	Context   float64          `json:"exposed_context_seconds"`
	Optimizer float64          `json:"optimizer_seconds"`
	Host      float64          `json:"host_seconds,omitempty"` // GPUs without work: launches, data
	// bytes per step: in the server, through one leaf, over spines
	Tiers [3]float64 `json:"bytes_per_gpu"`
}

// Exposed is all communication that nothing hides.
func (c *Candidate) Exposed() float64 { return c.Tensor + c.Pipeline + c.Data + c.Experts + c.Context }

// sum sets the values that follow from the parts.
func (c *Candidate) sum(in SearchInput) {
	c.Seconds = c.Compute + c.Bubble + c.Exposed() + c.Optimizer + c.Host
	all := float64(c.Layout.Global() * in.Training.Seq)
	gpus := c.Layout.GPUs()
	c.MFU = in.Training.Model.StepFLOPs(int64(all), in.Training.Seq) /
		(c.Seconds * in.Site.peak(&in.Training, gpus))
	c.TokensGPU = all / c.Seconds / float64(gpus)
}

// Step returns a layout's step for the workload builder.
func (in SearchInput) Step(l partition.Layout) *workload.Training {
	t := in.Training
	t.Layout, t.GlobalBatch = l, l.Global()
	t.Steps = l.StepsInRow()
	t.GatherAhead = t.GatherAhead && (l.ZeRO == 1 || l.ZeRO == 2)
	t.GPU, t.PerServer, t.NVLink, t.NVLatency = in.Site.GPU, in.Site.PerServer, in.Site.NVLink, in.Site.NVLatency
	t.Mesh, t.Switch = in.Site.Mesh, in.Site.Switch
	t.Channels = t.Rings()
	return &t
}

// replicas is the group that shares parameters: context ranks and data ranks.
func replicas(l partition.Layout, context, data int) group {
	if l.CP > 1 && data == context*l.CP || l.DP == 1 {
		return group{l.DP * l.CP, context}
	}
	return group{l.DP * l.CP, data}
}

// Estimate is the cost model: computation as in the workload builder, the schedule's bubble, and collectives by the
// rate of the slowest link that they cross. Tensor, expert and pipeline parallel transfers are exposed; context
// parallel ones overlap with attention, data parallel ones with the passes.
func (in SearchInput) Estimate(l partition.Layout) Candidate {
	c := Candidate{Layout: l}
	t := in.Step(l)
	forward, backward, head := t.LayerTimes()
	context, data, pipeline := groupsOf(l)
	p, v, mb := float64(l.PP), float64(l.VPP), float64(l.Microbatches)
	layers := float64(in.Training.Model.Layers) / p
	f, b := layers*forward.Seconds(), layers*backward.Seconds()
	tf, tb := t.TensorTimes()
	tensor := layers * t.ShownTensorTime().Seconds()
	fc, bc := in.context(t, context)
	expert := context
	if l.OverTP {
		expert = 1
	}
	fe := t.ExpertTransfers() * in.experts(t, expert)
	comm := tensor + layers*(fc+bc+fe)
	host := layers * max(0, t.HostTime()-(forward+backward).Seconds()-comm/layers)
	b += host
	worst, mean := in.stages(l, forward+backward, head, (comm+host)/layers)
	// shares of activations that other stages send
	join := 2 * v * t.ReceiveTime().Seconds() * (p*v - 1) / (p * v)
	tensor, comm = tensor+join, comm+join
	c.Compute = mb * (f + b + head.Seconds()/p)
	c.Tensor, c.Context, c.Experts = mb*tensor, mb*layers*(fc+bc), mb*layers*fe
	c.Bubble = (p-1)/v*(f+b+comm) + mb*(worst-mean)
	if l.Schedule == partition.ZeroBubble {
		w := layers * t.WeightTime().Seconds() // needs no wait, and transfers of earlier microbatches fill gaps
		c.Bubble -= min((p-1)*(f+b+comm), (p-1+min(p-1, mb-1))*w)
	}
	if l.Schedule == partition.TwoVersions { // filled and emptied once for all steps
		c.Bubble /= float64(l.StepsInRow())
	}
	if l.PP > 1 {
		tokens := float64(l.Micro * in.Training.Seq / int64(l.CP))
		act := tokens * float64(in.Training.Model.Hidden) * 2 / float64(l.TP)
		hop := in.Site.send(pipeline, act)
		// When the pipeline fills and drains, a microbatch passes all stages between two chunks. In between, a
		// chunk's transfers overlap with the passes of the other direction.
		c.Pipeline = 2 * (p - 1 + (v-1)*p) * hop
		if l.Schedule == partition.TwoVersions {
			c.Pipeline /= float64(l.StepsInRow())
		}
		in.book(&c, pipeline, 2*mb*v*act*(p*v-1)/(p*v))
	}
	c.Host = mb * host
	c.Compute -= c.Host
	if t.Software != nil {
		c.Host += t.Software.HostStep
	}
	in.data(&c, t, replicas(l, context, data), f+layers*tf.Seconds(), b+layers*tb.Seconds())
	in.traffic(&c, t, context, expert)
	c.sum(in)
	return c
}

// stages returns the time of a microbatch on the slowest stage and on the mean one.
func (in SearchInput) stages(l partition.Layout, layer, head unit.Time, comm float64) (worst, mean float64) {
	if in.Training.Software != nil && l.Uneven && l.PP > 1 {
		return in.balanced(l, layer.Seconds()+comm, head.Seconds())
	}
	for p := range l.PP {
		s := float64(l.StageLayers(in.Training.Model, p)) * (layer.Seconds() + comm)
		if p == l.PP-1 {
			s += head.Seconds()
		}
		worst, mean = max(worst, s), mean+s/float64(l.PP)
	}
	return worst, mean
}

// balanced is the result of stages for layers spread so that the slowest stage is fastest, as by Megatron's
// pipeline_model_parallel_layout. The last stage, which has the head, has fewer layers.
func (in SearchInput) balanced(l partition.Layout, layer, head float64) (worst, mean float64) {
	layers, others := float64(in.Training.Model.Layers), float64(l.PP-1)
	worst = math.Inf(1)
	for last := 0.0; last <= layers; last++ {
		worst = min(worst, max(last*layer+head, math.Ceil((layers-last)/others)*layer))
	}
	return worst, (layers*layer + head) / float64(l.PP)
}

// context returns the exposed time of a layer's ring of keys and values beyond its attention, forward and backward.
func (in SearchInput) context(t *workload.Training, stride int) (forward, backward float64) {
	if t.CP == 1 {
		return 0, 0
	}
	hop := in.Site.send(stride, float64(t.Keys()))
	f, b := t.AttentionTimes()
	n := float64(t.CP)
	return (n - 1) * max(0, hop-f.Seconds()/n), (n-1)*max(0, 2*hop-b.Seconds()/n) + hop
}

// experts is the time of one all-to-all.
func (in SearchInput) experts(t *workload.Training, stride int) float64 {
	if t.EP == 1 {
		return 0
	}
	s := in.Site
	k := s.inServer(group{t.EP, stride})
	each := float64(t.Routed()) / float64(t.TP) / float64(t.EP)
	near := each
	if t.Dedup() {
		near *= workload.Distinct(float64(t.EP), float64(t.Model.TopK))
		each *= workload.Distinct(float64(t.EP)/float64(k), float64(t.Model.TopK))
	}
	links := 1.0 // at once
	if s.Mesh && t.Experts != "pairwise" {
		links = float64(max(1, k-1))
	}
	out, local := 0.0, near*float64(k-1)/links*8/float64(s.NVLink)+s.NVLatency.Seconds()
	if k < t.EP {
		// on average half round the group
		out = each*float64(t.EP-k)*8/float64(s.rate(t.EP/k/2*s.PerServer, 1)) + s.Latency.Seconds()
	}
	return max(out, local)
}

// data returns the exposed part of gradient reductions and parameter gatherings. The rest is hidden by a
// microbatch's forward and backward pass with its tensor parallel transfers over NVLink.
func (in SearchInput) data(c *Candidate, t *workload.Training, g group, f, b float64) {
	l := t.Layout
	dense, sparse := t.StageParams(0)
	if d, s := t.StageParams(l.PP - 1); d+s > dense+sparse {
		dense, sparse = d, s
	}
	c.Optimizer = t.OptimizerTime(dense + sparse).Seconds()
	if g.n < 2 {
		return
	}
	mb := float64(l.Microbatches)
	experts := group{l.ExpertRanks() / l.EP, g.stride * l.ExpertTP() / l.TP * l.EP}
	// round is the time of one round of all parameters or gradients, of these bytes each.
	round := func(each float64) float64 {
		pieces := func(params float64) float64 { return math.Ceil(each * params / float64(t.Bucket)) }
		if l.ZeRO == 3 {
			pieces = func(float64) float64 {
				return float64(in.Training.Model.Layers) / float64(l.PP) * float64(max(1, t.Gathers))
			}
		}
		return in.Site.ring(g, t.Channels, dense*each, pieces(dense)) +
			in.Site.ring(experts, t.Channels, sparse*each, pieces(sparse))
	}
	const weight = partition.WeightBytes
	gradient := float64(l.Gradient())
	gather, reduce := round(weight), round(gradient)
	// the last bucket, a share, has nothing to overlap with
	last := func(each float64) float64 { return min(1, float64(t.Bucket)/(each*(dense+sparse))) }
	hide := func(time, window float64) float64 {
		if !in.Training.Overlap {
			return time
		}
		return max(time-window, time*last(gradient))
	}
	sent := gradient + weight // bytes per parameter
	after := gather
	if in.Training.GatherAhead {
		after = max(gather-f/float64(l.VPP), gather*last(weight))
	}
	switch l.ZeRO {
	case 0:
		c.Data = hide(2*reduce, b/float64(l.VPP))
		sent = 2 * gradient
	case 1:
		c.Data = hide(reduce, b/float64(l.VPP)) + after
	case 2:
		c.Data = mb*hide(reduce, b) + after
		sent = mb*gradient + weight
	case 3:
		again := 1.0 // gatherings of the backward pass
		if t.Regather {
			again++
		}
		// the one-time part of each pass, which no pass precedes
		first := (gather + reduce) / float64(in.Training.Model.Layers/int64(l.PP))
		c.Data = mb * (max(reduce+again*gather-b, 0) + max(gather-f, 0) + float64(l.VPP)*first)
		sent = mb * (gradient + (1+again)*weight)
	}
	k := float64(in.Site.inServer(g))
	sent *= (dense*(float64(g.n)-1)/float64(g.n) +
		sparse*max(0, float64(experts.n)-1)/float64(experts.n))
	if k < float64(g.n) {
		in.book(c, max(g.stride, in.Site.PerServer), sent/k)
		sent -= sent / k
	}
	in.book(c, 1, sent)
}

// traffic books what layers send.
func (in SearchInput) traffic(c *Candidate, t *workload.Training, stride, expert int) {
	passes := float64(t.Microbatches) * float64(in.Training.Model.Layers) / float64(t.PP)
	in.book(c, 1, passes*t.TensorBytes())
	if t.CP > 1 {
		in.book(c, stride, passes*float64(t.Keys())*float64(3*t.CP-2))
	}
	if t.EP > 1 {
		k := float64(in.Site.inServer(group{t.EP, expert}))
		each := passes * 4 * float64(t.Routed()) / float64(t.TP) / float64(t.EP)
		in.book(c, 1, each*(k-1))
		in.book(c, in.Site.PerServer*t.EP/int(k)/2, each*(float64(t.EP)-k))
	}
}

// book adds bytes that a GPU sends to a rank a stride away to their tier.
func (in SearchInput) book(c *Candidate, stride int, bytes float64) {
	local, crossing := in.Site.reach(stride)
	if local {
		c.Tiers[0] += bytes
		return
	}
	c.Tiers[1] += bytes * (1 - crossing)
	c.Tiers[2] += bytes * crossing
}
