package partition

import (
	"fmt"
	"slices"

	"railyard/internal/field"
	"railyard/internal/model"
	"railyard/unit"
)

// Recomputation of activations in the backward pass.
const (
	RecomputeNone      = "none"      // everything is kept, attention scores too where kernels are unfused
	RecomputeSelective = "selective" // the attention's large intermediates are made again
	RecomputeFull      = "full"      // only each layer's input is kept
)

// Recomputations are all of them.
var Recomputations = []string{RecomputeNone, RecomputeSelective, RecomputeFull}

// Pipeline schedules.
const (
	GPipe       = "gpipe"       // all forward passes, then all backward passes (Huang et al. 2019)
	OneFOneB    = "1f1b"        // one forward, one backward, once the pipeline is full
	Interleaved = "interleaved" // 1f1b with several model chunks per rank (Narayanan et al., SC'21)
	ZeroBubble  = "zero-bubble" // ZB-H1: weight gradients fill the bubble (Qi et al. 2023)
	// 1f1b across batches without a flush, with two versions of the weights (PipeDream-2BW, Narayanan et al. 2021)
	TwoVersions = "2bw"
)

// Schedules are all of them.
var Schedules = []string{OneFOneB, GPipe, Interleaved, ZeroBubble, TwoVersions}

// Orders of ranks, fastest first.
const (
	DataInside     = "tp-cp-dp-pp" // Megatron: replicas of a stage lie side by side
	PipelineInside = "tp-cp-pp-dp" // Llama 3: a replica's stages lie side by side
)

// Layout is the parallel configuration of a training: a model over GPUs, a batch over time. Its tags are keys of a
// scenario's training block, which contains it.
type Layout struct {
	TP int `json:"tp" yaml:"tp" range:"1,1048576" doc:"tensor parallel ranks"`
	PP int `json:"pp" yaml:"pp" range:"1,1048576" doc:"pipeline stages"`
	DP int `json:"dp" yaml:"dp" range:"1,1048576" doc:"data parallel replicas"`
	CP int `json:"cp" yaml:"cp" range:"1,1048576" doc:"context parallel ranks: parts of a sequence; keys and values go around a ring"`
	EP int `json:"ep" yaml:"ep" range:"1,1048576" doc:"expert parallel ranks, out of the dp x cp that share a model"`
	// OverTP forms expert parallel groups from tp x cp x dp ranks, with undivided experts, as Megatron's
	// expert_tensor_parallel_size of 1. Only the cost model supports it.
	OverTP    bool   `json:"ep_over_tp,omitempty" yaml:"-"`
	VPP       int    `json:"vpp" yaml:"vpp" range:"1,1048576" doc:"model chunks per rank, for the interleaved schedule"`
	ZeRO      int    `json:"zero" yaml:"zero" of:"0, 1, 2, 3" doc:"0: all-reduce; 1: shared optimizer; 2: and gradients; 3: and parameters (FSDP)"`
	Uneven    bool   `json:"uneven,omitempty" yaml:"uneven" doc:"layers that pp x vpp does not divide are spread as evenly as can be, the first and the last part last"`
	Sequence  bool   `json:"sequence_parallel" yaml:"sequence_parallel" doc:"tensor parallel ranks share the sequence between blocks: gather and scatter instead of all-reduce"`
	Recompute string `json:"recompute" yaml:"recompute" enum:"none,selective,full" doc:"activations made again in the backward pass; selective: attention scores only"`
	Schedule  string `json:"schedule" yaml:"schedule" enum:"1f1b,gpipe,interleaved,zero-bubble,2bw" doc:"pipeline schedule; zero-bubble is ZB-H1; 2bw (PipeDream-2BW) keeps two versions of the weights and never flushes, over steps of 2 and more"`
	Order     string `json:"order" yaml:"order" enum:"tp-cp-dp-pp,tp-cp-pp-dp" doc:"order of ranks, fastest first: replicas of a stage side by side, or stages of a replica"`
	// A token is 4 bytes when it is loaded, which is negligible compared with activations: a batch of 512 sequences of
	// 2,048 is 4 MiB. A seed makes that 4 GB.
	Micro        int64 `json:"micro_batch" yaml:"micro_batch" range:"1,1048576" doc:"sequences per microbatch and replica"`
	Microbatches int   `json:"microbatches" yaml:"-"` // per replica and step
	Steps        int   `json:"-" yaml:"steps" range:"1,1000" doc:"steps one after the other, each a batch"`
	Seq          int64 `json:"sequence" yaml:"sequence" range:"1,16777216" doc:"tokens per sequence"`

	GradBytes int64  `json:"-" yaml:"grad_bytes" of:"2, 4" doc:"bytes per gradient element, in memory and in reductions: 2 (bf16) or 4; default: those of software"`
	Stack     string `json:"-" yaml:"-"` // framework whose use of memory is assumed, see stacks; "": Megatron's
	// Unfused: attention writes its scores to memory, as kernels did before FlashAttention.
	Unfused bool `json:"-" yaml:"-"`
}

// Check refuses layouts that do not divide the model.
func (l Layout) Check(m *model.Config) error {
	for _, f := range []struct {
		name string
		v    int
	}{{"tp", l.TP}, {"pp", l.PP}, {"dp", l.DP}, {"cp", l.CP}, {"ep", l.EP}, {"vpp", l.VPP},
		{"microbatches", l.Microbatches}} {
		if f.v < 1 || f.v > 1<<20 {
			return field.New(f.name, "%[2]d is out of range 1–%[1]d", 1<<20, f.v)
		}
	}
	switch {
	case float64(l.TP)*float64(l.PP)*float64(l.DP)*float64(l.CP) > 1<<20:
		return field.New("tp", "tp %d x pp %d x dp %d x cp %d is more than the %d ranks that are taken",
			l.TP, l.PP, l.DP, l.CP, 1<<20)
	case l.ZeRO < 0 || l.ZeRO > 3:
		return field.New("zero", "stage %d does not exist; accepted: 0 to 3", l.ZeRO)
	case m.Heads%int64(l.TP) != 0:
		return field.New("tp", "%d does not divide the %d attention heads of %s", l.TP, m.Heads, m.Name)
	case !l.divides(m.Layers) && int64(l.Chunks()) > m.Layers:
		return field.New("pp", "pp %d times vpp %d are more parts than the %s of %s", l.PP, l.VPP,
			unit.Plural(m.Layers, "layer"), m.Name)
	case !l.divides(m.Layers) && l.VPP == 1:
		return field.New("pp",
			"%d does not divide the %s of %s, nor those and two more for the embedding and the head; uneven: true spreads them",
			l.PP, unit.Plural(m.Layers, "layer"), m.Name)
	case !l.divides(m.Layers):
		return field.New("vpp",
			"pp %d times vpp %d does not divide the %s of %s, nor those and two more for the embedding and the head; uneven: true spreads them", l.PP, l.VPP, unit.Plural(m.Layers, "layer"), m.Name)
	case l.Micro < 1 || l.Micro > 1<<20:
		return field.New("micro_batch", "%[2]d is out of range 1–%[1]d", 1<<20, l.Micro)
	}
	if err := l.checkSchedule(); err != nil {
		return err
	}
	return l.checkParts(m)
}

// Shards refuses a ZeRO stage without replicas, among which it would divide the training state.
func (l Layout) Shards() error {
	if l.ZeRO > 0 && l.DP*l.CP == 1 {
		return field.New("zero", "stage %d needs replicas: dp x cp is 1", l.ZeRO)
	}
	return nil
}

// checkSchedule refuses unknown names and invalid combinations.
func (l Layout) checkSchedule() error {
	if !slices.Contains(Schedules, l.Schedule) {
		return field.Choice("schedule", l.Schedule, Schedules, "%q is not known", l.Schedule)
	}
	if !slices.Contains(Recomputations, l.Recompute) {
		return field.Choice("recompute", l.Recompute, Recomputations, "%q is not known", l.Recompute)
	}
	switch {
	case l.Order != "" && l.Order != DataInside && l.Order != PipelineInside:
		return field.Choice("order", l.Order, []string{DataInside, PipelineInside}, "%q is not known",
			l.Order)
	case l.VPP > 1 && l.Schedule != Interleaved:
		return field.New("vpp", "%d model chunks per rank need the schedule %s", l.VPP, Interleaved)
	case l.VPP > 1 && l.PP == 1:
		return field.New("vpp", "%d model chunks per rank need a pipeline; pp is 1", l.VPP)
	case l.Schedule == Interleaved && l.PP > 1 && l.Microbatches%l.PP != 0:
		return field.New("schedule", "interleaving needs a multiple of pp %s, found %d",
			unit.Plural(l.PP, "microbatch"), l.Microbatches)
	case l.Schedule == TwoVersions && l.Microbatches < l.PP:
		return field.New("schedule", "%s needs as many microbatches as stages, so that two versions of the weights are enough: pp is %d, found %s", TwoVersions, l.PP, unit.Plural(l.Microbatches,
			"microbatch"))
	case l.Schedule == TwoVersions && l.ZeRO > 0:
		return field.New("zero", "stage %d shares out states that %s updates while the other version is in use; accepted: 0", l.ZeRO, TwoVersions)
	case l.Schedule == ZeroBubble && l.Recompute == RecomputeFull:
		return field.New("recompute",
			"zero-bubble schedules postpone what full recomputation does anyway; use none or selective")
	}
	return nil
}

// checkParts refuses experts and sequences that are not divided evenly.
func (l Layout) checkParts(m *model.Config) error {
	switch {
	case l.EP > 1 && m.Experts == 0:
		return field.New("ep", "%s has no experts; accepted: 1", m.Name)
	case l.EP > 1 && m.Experts%int64(l.EP) != 0:
		return field.New("ep", "%d does not divide the %d experts of %s", l.EP, m.Experts, m.Name)
	case l.EP > 1 && l.OverTP && l.ExpertRanks()%l.EP != 0:
		return field.New("ep", "%d does not divide tp %d times cp %d times dp %d, whose ranks it takes", l.EP, l.TP, l.CP, l.DP)
	case l.EP > 1 && !l.OverTP && l.ExpertRanks()%l.EP != 0:
		return field.New("ep", "%d does not divide dp %d times cp %d, whose ranks it takes", l.EP, l.DP, l.CP)
	case l.EP > 1 && l.TP > 1 && !l.Sequence:
		return field.New("ep",
			"experts on several ranks with tensor parallelism need sequence parallelism: each rank sends its own tokens")
	case l.Seq < 1 || l.Seq > 1<<24:
		return field.New("sequence", "%[2]d is out of range 1–%[1]d", 1<<24, l.Seq)
	case l.Seq%int64(l.CP) != 0:
		return field.New("cp", "a sequence of %d tokens is not cut into %d parts", l.Seq, l.CP)
	}
	return nil
}

// ExpertTP returns the number of tensor parallel ranks that share an expert.
func (l Layout) ExpertTP() int {
	if l.OverTP {
		return 1
	}
	return l.TP
}

// ExpertRanks returns the number of ranks from which expert parallel groups are formed.
func (l Layout) ExpertRanks() int { return l.DP * l.CP * l.TP / l.ExpertTP() }

// Chunks returns the number of parts that the layers are cut into: PP times VPP.
func (l Layout) Chunks() int { return l.PP * l.VPP }

// divides reports whether the layers can be divided into equal parts, or into parts of which the first and the last
// have one layer fewer for the embedding and the head, as in Llama 3 405B (section 3.3.2).
func (l Layout) divides(layers int64) bool {
	n := int64(l.Chunks())
	return layers%n == 0 || n > 1 && (layers+2)%n == 0 || l.Uneven && n <= layers
}

// Settled returns the layout with its defaults: without a schedule 1f1b, interleaved for several chunks per rank,
// layers distributed unevenly if they do not divide, and the bytes of a gradient.
func (l Layout) Settled(m *model.Config) Layout {
	l.GradBytes = l.Gradient()
	if l.Schedule == "" {
		l.Schedule = OneFOneB
		if l.VPP > 1 {
			l.Schedule = Interleaved
		}
	}
	parts := int64(max(1, l.Chunks()))
	l.Uneven = m.Layers%parts != 0 && (m.Layers+2)%parts != 0
	return l
}

// Layers returns the layers of a part; part c is on stage c mod PP.
func (l Layout) Layers(m *model.Config, chunk int) int64 {
	n := int64(l.Chunks())
	if m.Layers%n == 0 {
		return m.Layers / n
	}
	if (m.Layers+2)%n != 0 {
		per, more := m.Layers/n, m.Layers%n
		if turn := (int64(chunk) + n - 1) % n; turn < more { // the second part first, the first one last
			per++
		}
		return per
	}
	per := (m.Layers + 2) / n
	if chunk == 0 || chunk == l.Chunks()-1 {
		per--
	}
	return per
}

// Parts returns the layers of each part of a pipeline stage, by number from 0: the first layer and the end,
// exclusive.
func (l Layout) Parts(m *model.Config, stage int) (parts [][2]int64) {
	at := int64(0)
	for chunk := range l.Chunks() {
		n := l.Layers(m, chunk)
		if chunk%l.PP == stage {
			parts = append(parts, [2]int64{at, at + n})
		}
		at += n
	}
	return parts
}

// StageLayers returns the layers of all parts of a pipeline stage.
func (l Layout) StageLayers(m *model.Config, stage int) (n int64) {
	for v := range l.VPP {
		n += l.Layers(m, v*l.PP+stage)
	}
	return n
}

// GPUs returns the number of GPUs of a layout.
func (l Layout) GPUs() int { return l.TP * l.PP * l.DP * l.CP }

// Global returns the number of sequences that a step takes.
func (l Layout) Global() int64 { return l.Micro * int64(l.Microbatches) * int64(l.DP) }

// StepsInRow returns the number of steps that follow one another, at least one.
func (l Layout) StepsInRow() int { return max(1, l.Steps) }

// Rank numbers a rank.
func (l Layout) Rank(tp, cp, dp, pp int) int {
	if l.Order == PipelineInside {
		return ((dp*l.PP+pp)*l.CP+cp)*l.TP + tp
	}
	return ((pp*l.DP+dp)*l.CP+cp)*l.TP + tp
}

// String writes a layout as people do: TP4 PP2 VPP4 DP16 mb1 ZeRO3. Degrees of 1 are omitted.
func (l Layout) String() string {
	s := ""
	for _, f := range []struct {
		name string
		v    int
	}{{"TP", l.TP}, {"PP", l.PP}, {"VPP", l.VPP}, {"DP", l.DP}, {"CP", l.CP}, {"EP", l.EP}} {
		if f.v > 1 {
			s += fmt.Sprintf("%s%d ", f.name, f.v)
			if f.name == "EP" && l.OverTP {
				s += "over TP "
			}
		}
	}
	s += fmt.Sprintf("mb%d", l.Micro)
	if l.ZeRO > 0 {
		s += fmt.Sprintf(" ZeRO%d", l.ZeRO)
	}
	if l.Schedule == GPipe || l.Schedule == ZeroBubble || l.Schedule == TwoVersions {
		s += " " + l.Schedule
	}
	if l.Recompute != RecomputeSelective {
		s += " recompute " + l.Recompute
		if l.Unfused {
			s += " unfused"
		}
	}
	if l.Order == PipelineInside {
		s += " " + l.Order
	}
	return s
}
