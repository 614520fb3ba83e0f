package workload

import (
	"fmt"

	"railyard/internal/coll"
	"railyard/internal/model"
	"railyard/unit"
)

// Training describes one step of a transformer on TP x PP x DP ranks.
//
// Rank order is tensor parallel fastest, then data, then pipeline, as in
// Megatron, so a tensor parallel group of a server's GPUs stays in the server
// and every data parallel group is one rail.
type Training struct {
	Model      *model.Config
	GPU        model.GPU
	TP, PP, DP int
	Micro      int64 // sequences per microbatch and replica
	Global     int64 // sequences per step
	Seq        int64
	GradBytes  int64      // bytes per gradient element, 2 for bf16
	Bucket     unit.Bytes // gradient bytes per all-reduce
	Overlap    bool       // reduce buckets while the backward pass goes on
	Efficiency float64    // share of the GPU's peak that kernels reach
	Channels   int        // parallel rings per gradient bucket
	Schedule   string     // of the pipeline: 1f1b, or gpipe; "" is 1f1b
}

// Pipeline schedules.
const (
	OneFOneB = "1f1b"  // one forward, one backward, once the pipeline is full
	GPipe    = "gpipe" // all forward passes first (Huang et al. 2019): more activations, the same bubble
)

// FieldError names the field of a training description that cannot be.
type FieldError struct{ Field, Msg string }

func (e *FieldError) Error() string { return e.Field + ": " + e.Msg }

func fieldErr(field, format string, args ...any) error {
	return &FieldError{field, fmt.Sprintf(format, args...)}
}

// Ranks returns TP x PP x DP.
func (t *Training) Ranks() int { return t.TP * t.PP * t.DP }

// Rank numbers a rank.
func (t *Training) Rank(tp, pp, dp int) int { return (pp*t.DP+dp)*t.TP + tp }

// Microbatches returns how many microbatches a replica runs per step.
func (t *Training) Microbatches() int { return int(t.Global / int64(t.DP) / t.Micro) }

// Validate refuses partitions that do not divide the model or the batch.
func (t *Training) Validate() error {
	m := t.Model
	switch {
	case t.TP < 1 || t.TP > 4096 || t.PP < 1 || t.PP > 4096 || t.DP < 1 || t.DP > 100_000:
		return fieldErr("tp", "tp, pp and dp must be at least 1 and reasonable, found %d, %d, %d", t.TP, t.PP, t.DP)
	case m.Heads%int64(t.TP) != 0:
		return fieldErr("tp", "%d does not divide the %d attention heads of %s", t.TP, m.Heads, m.Name)
	case m.Layers%int64(t.PP) != 0:
		return fieldErr("pp", "%d does not divide the %d layers of %s", t.PP, m.Layers, m.Name)
	case t.Micro < 1 || t.Micro > 1<<20:
		return fieldErr("micro_batch", "must be at least 1, found %d", t.Micro)
	case t.Global < 1 || t.Global > 1<<30 || t.Global%(int64(t.DP)*t.Micro) != 0:
		return fieldErr("global_batch", "%d sequences do not divide into dp %d times micro_batch %d", t.Global, t.DP, t.Micro)
	case t.Seq < 1 || t.Seq > 1<<24:
		return fieldErr("sequence", "must lie between 1 and 16777216, found %d", t.Seq)
	case !(t.Efficiency > 0 && t.Efficiency <= 1):
		return fieldErr("efficiency", "must lie in (0,1], found %v", t.Efficiency)
	case t.Bucket < 1*unit.KB:
		return fieldErr("bucket", "must be at least 1KB, found %v", t.Bucket)
	case t.GradBytes != 2 && t.GradBytes != 4:
		return fieldErr("grad_bytes", "gradients have 2 or 4 bytes, found %d", t.GradBytes)
	case t.Schedule != "" && t.Schedule != OneFOneB && t.Schedule != GPipe:
		return fieldErr("schedule", "found %q; accepted: %s, %s", t.Schedule, OneFOneB, GPipe)
	case t.Channels < 1 || t.Channels > 64:
		return fieldErr("channels", "must lie between 1 and 64, found %d", t.Channels)
	}
	return nil
}

// compute turns FLOPs of one rank's share into time.
func (t *Training) compute(flops float64) unit.Time {
	return unit.Time(flops / float64(t.TP) / (t.GPU.BF16 * t.Efficiency) * float64(unit.Second))
}

// step holds the state of building one training step.
type step struct {
	*Training
	b      *Builder
	layers int
	last   []int32   // by rank: the compute op that came last
	sent   [][]int32 // by rank: deliveries the next compute op waits for
	fwdIn  map[[3]int]int32
	bwdIn  map[[3]int]int32
	done   [][]int32 // by rank: gradient reductions finished
	chain  [][]int32 // by rank: the previous bucket, buckets go in order
}

// Build lowers the step to a DAG: 1F1B or GPipe over the pipeline, tensor parallel
// all-reduces inside every layer, gradient buckets reduced over the data
// parallel group as the last backward pass completes them, then the optimizer.
func (t *Training) Build() (*DAG, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	n := t.Ranks()
	ops := int64(n) * t.Model.Layers / int64(t.PP) * int64(t.Microbatches()) * int64(8*t.TP+6)
	if ops > MaxOps {
		return nil, fieldErr("micro_batch", "the step would have about %d operations, at most %d are taken; use larger microbatches", ops, MaxOps)
	}
	s := &step{Training: t, b: NewBuilder(n), layers: int(t.Model.Layers) / t.PP,
		last: make([]int32, n), sent: make([][]int32, n), done: make([][]int32, n), chain: make([][]int32, n),
		fwdIn: map[[3]int]int32{}, bwdIn: map[[3]int]int32{}}
	for i := range s.last {
		s.last[i] = -1
	}
	s.schedule()
	s.optimizer()
	return s.b.Seal()
}

// schedule emits the microbatches of every stage in an order in which each
// op's inputs exist already: stages take turns, each following its 1F1B list.
func (s *step) schedule() {
	m := s.Microbatches()
	lists := make([][]int, s.PP) // +k: forward of microbatch k-1, -k: backward
	for p := range lists {
		warm := min(s.PP-p-1, m)
		if s.Schedule == GPipe {
			warm = m
		}
		for i := range warm {
			lists[p] = append(lists[p], i+1)
		}
		for i := range m - warm {
			lists[p] = append(lists[p], warm+i+1, -(i + 1))
		}
		for i := m - warm; i < m; i++ {
			lists[p] = append(lists[p], -(i + 1))
		}
	}
	at := make([]int, s.PP)
	for moved := true; moved; {
		moved = false
		for p := range s.PP {
			for at[p] < len(lists[p]) && s.ready(p, lists[p][at[p]]) {
				k := lists[p][at[p]]
				if k > 0 {
					s.forward(p, k-1)
				} else {
					s.backward(p, -k-1, -k == m)
				}
				at[p]++
				moved = true
			}
		}
	}
}

func (s *step) ready(p, k int) bool {
	if k > 0 {
		_, ok := s.fwdIn[[3]int{p, k - 1, 0}]
		return p == 0 || ok
	}
	_, ok := s.bwdIn[[3]int{p, -k - 1, 0}]
	return p == s.PP-1 || ok
}

// op adds a compute op to a rank: after the rank's previous one and whatever
// it waits for.
func (s *step) op(rank int, d unit.Time, c Class, after ...int32) {
	if s.last[rank] >= 0 {
		after = append(after, s.last[rank])
	}
	after = append(after, s.sent[rank]...)
	s.sent[rank] = nil
	s.last[rank] = s.b.Compute(rank, d, c, after...)
}

// tpReduce makes the ranks of a tensor parallel group all-reduce b bytes; their
// next compute ops wait for it.
func (s *step) tpReduce(p, dp int, b unit.Bytes) {
	if s.TP == 1 {
		return
	}
	ranks := make([]int, s.TP)
	ready := make([][]int32, s.TP)
	for i := range ranks {
		ranks[i] = s.Rank(i, p, dp)
		ready[i] = []int32{s.last[ranks[i]]}
	}
	s.b.Collective(Collective{"tp all-reduce", coll.AllReduce, TensorParallel, b, ranks}, func() {
		for i, d := range coll.RingAllReduce(s.b, ranks, b, ready) {
			s.sent[ranks[i]] = d[:1]
		}
	})
}

func (s *step) forward(p, k int) {
	tokens := s.Micro * s.Seq
	layer := s.Model.LayerFLOPs(tokens, s.Seq)
	attn := s.Model.AttentionShare(s.Seq)
	act := unit.Bytes(tokens * s.Model.Hidden * 2)
	for dp := range s.DP {
		for range s.layers {
			for _, share := range []float64{attn, 1 - attn} {
				for tp := range s.TP {
					s.take(s.fwdIn, p, k, s.Rank(tp, p, dp))
					s.op(s.Rank(tp, p, dp), s.compute(layer*share), Forward)
				}
				s.tpReduce(p, dp, act)
			}
		}
		for tp := range s.TP {
			if r := s.Rank(tp, p, dp); p == s.PP-1 {
				s.op(r, s.compute(s.Model.HeadFLOPs(tokens)), Forward)
			} else {
				s.pass(s.fwdIn, r, s.Rank(tp, p+1, dp), p+1, k, act)
			}
		}
	}
}

// pass sends a microbatch's activations (or their gradients) to the
// neighbouring stage: with tensor parallelism each rank sends its share along
// its rail, the scatter-gather optimisation of Megatron.
func (s *step) pass(in map[[3]int]int32, from, to, stage, k int, b unit.Bytes) {
	after := append([]int32{s.last[from]}, s.sent[from]...)
	b = (b + unit.Bytes(s.TP) - 1) / unit.Bytes(s.TP)
	s.b.Collective(Collective{"pp send", coll.SendRecv, PipelineParallel, b, []int{from, to}}, func() {
		in[[3]int{stage, k, to + 1}] = s.b.Transfer(from, to, b, after...)
		in[[3]int{stage, k, 0}] = 0 // the stage may be scheduled
	})
}

// take makes a rank's next op wait for its microbatch's input.
func (s *step) take(in map[[3]int]int32, p, k, rank int) {
	key := [3]int{p, k, rank + 1}
	if id, ok := in[key]; ok {
		s.sent[rank] = append(s.sent[rank], id)
		delete(in, key)
	}
}

func (s *step) backward(p, k int, final bool) {
	tokens := s.Micro * s.Seq
	layer := 2 * s.Model.LayerFLOPs(tokens, s.Seq)
	attn := s.Model.AttentionShare(s.Seq)
	act := unit.Bytes(tokens * s.Model.Hidden * 2)
	if p == s.PP-1 {
		for dp := range s.DP {
			for tp := range s.TP {
				s.op(s.Rank(tp, p, dp), s.compute(2*s.Model.HeadFLOPs(tokens)), Backward)
			}
		}
	}
	perLayer := unit.Bytes(s.Model.LayerParams() * s.GradBytes / int64(s.TP))
	pending := unit.Bytes(0)
	if p == s.PP-1 || p == 0 { // embeddings lie at the ends
		pending = unit.Bytes(s.Model.EmbeddingParams() * s.GradBytes / int64(s.TP))
		if s.PP > 1 {
			pending /= 2
		}
	}
	for l := range s.layers {
		for dp := range s.DP {
			for _, share := range []float64{1 - attn, attn} {
				for tp := range s.TP {
					s.take(s.bwdIn, p, k, s.Rank(tp, p, dp))
					s.op(s.Rank(tp, p, dp), s.compute(layer*share), Backward)
				}
				s.tpReduce(p, dp, act)
			}
		}
		if !final {
			continue
		}
		pending += perLayer
		if s.Overlap && pending >= s.Bucket {
			pending = s.reduce(p, pending)
		}
		if l == s.layers-1 {
			for pending > 0 {
				pending = s.reduce(p, pending)
			}
		}
	}
	if p > 0 {
		for dp := range s.DP {
			for tp := range s.TP {
				s.pass(s.bwdIn, s.Rank(tp, p, dp), s.Rank(tp, p-1, dp), p-1, k, act)
			}
		}
	}
}

// reduce all-reduces one bucket of a stage's gradients over every data
// parallel group and returns what is left of pending.
func (s *step) reduce(p int, pending unit.Bytes) unit.Bytes {
	b := min(pending, s.Bucket)
	if s.DP == 1 {
		return pending - b
	}
	for tp := range s.TP {
		ranks := make([]int, s.DP)
		ready := make([][]int32, s.DP)
		for dp := range ranks {
			r := s.Rank(tp, p, dp)
			ranks[dp] = r
			ready[dp] = append([]int32{s.last[r]}, s.chain[r]...)
		}
		s.b.Collective(Collective{"dp all-reduce", coll.AllReduce, DataParallel, b, ranks}, func() {
			next := make([][]int32, s.DP)
			for c := range s.Channels {
				part := b*unit.Bytes(c+1)/unit.Bytes(s.Channels) - b*unit.Bytes(c)/unit.Bytes(s.Channels)
				for i, d := range coll.RingAllReduce(s.b, ranks, part, ready) {
					next[i] = append(next[i], d[0])
				}
			}
			for i, r := range ranks {
				s.chain[r] = next[i]
			}
		})
	}
	return pending - b
}

// optimizer ends the step: it streams gradients, master weights and both Adam
// moments through the GPU's memory, 28 bytes per parameter.
func (s *step) optimizer() {
	params := s.Model.Params() / int64(s.PP) / int64(s.TP)
	d := unit.Serialize(unit.Bytes(28*params), s.GPU.HBM)
	for r := range s.Ranks() {
		s.op(r, d, Optimizer, s.chain[r]...)
	}
}
