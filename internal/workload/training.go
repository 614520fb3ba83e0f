package workload

import (
	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/internal/model"
	"railyard/internal/partition"
	"railyard/unit"
)

// Training describes one step of a transformer: the keys of a scenario's training block (the tags), the input of the
// planner's search, and of Build.
//
// With the layout's usual order of ranks, a tensor parallel group of a server's GPUs stays in the server, and every
// data parallel group is one rail.
type Training struct {
	Name string `yaml:"model" doc:"a shipped model, or the path of a config.json"`
	partition.Layout
	GlobalBatch   int64      `yaml:"global_batch" range:"0|1,1073741824" doc:"sequences per step"`
	Bucket        unit.Bytes `yaml:"bucket" range:"1KB,100000GB" doc:"gradient bytes per all-reduce"`
	Overlap       bool       `yaml:"overlap" doc:"reduce buckets during the backward pass"`
	TensorOverlap bool       `yaml:"tp_overlap" doc:"compute weight gradients while input gradients are reduced"`
	ScatterGather bool       `yaml:"scatter_gather" doc:"a stage sends each activation once to the next, not once per tensor parallel rank"`
	Efficiency    float64    `yaml:"efficiency" range:"1,100" doc:"percent of the GPU's dense peak that kernels reach"`
	By            string     `yaml:"software" doc:"framework, NAME or NAME@VERSION, or a file of plan fit, whose kernels, launches and hidden transfers take the place of efficiency, kernels and tp_overlap; empty: those (railyard plan score --software)"`
	Precision     string     `yaml:"precision" enum:"bf16,fp8,fp8-block,mxfp8,nvfp4" doc:"arithmetic of the layers' matrix products: bf16; fp8 scaled per tensor or, fp8-block, per 128 values; mxfp8 (per 32), nvfp4 (per 16). Attention scores, head and router stay in bf16"`
	Kernels       string     `yaml:"kernels" enum:"flat,fused,unfused" doc:"flat: efficiency covers everything; fused: norms and activations also stream through memory; unfused: attention scores too"`
	Channels      int        `yaml:"channels" range:"0,64" doc:"parallel rings per bucket, crossing servers on different rails; 0: one for each GPU that a data parallel group has in a server, and so one per NIC; in one server one, or where GPUs are connected in pairs (XGMI) one per other GPU"`
	TensorBy      string     `yaml:"tp_algorithm" enum:"auto,ring,nvls" doc:"all-reduce of tensor parallel groups: nvls (by NVSwitch), ring, or auto: the one of both that NCCL's tuning model picks; gathering and scattering are rings"`
	Algorithm     string     `yaml:"dp_algorithm" enum:"ring,tree,halving-doubling,hierarchical,nvls-tree" doc:"all-reduce of gradients"`
	Experts       string     `yaml:"ep_algorithm" enum:"direct,pairwise,pxn" doc:"all-to-all of tokens to their experts"`
	Prefetch      int        `yaml:"prefetch" range:"0,1000" doc:"zero 3: layers gathered before they are used"`
	Gathers       int        `yaml:"gathers" range:"0|1,64" doc:"zero 3: collectives that gather a layer, one after the other; DeepSpeed has one per weight matrix"`
	Regather      bool       `yaml:"regather" doc:"zero 3 with recompute: full: recomputation and gradients gather a layer each, as DeepSpeed does with layers above stage3_max_reuse_distance"`
	GatherAhead   bool       `yaml:"gather_ahead" doc:"zero 1 and 2: gather parameters after the first forward passes, as Megatron's overlap-param-gather, not after the optimizer"`

	// Fold replaces each tensor parallel group by one rank that waits for the time of the group's rings over
	// NVLink. It represents one rail of a fabric with separate rails and a tensor parallel group per server.
	Fold bool `yaml:"fold" doc:"one rank per tensor parallel group, whose NVLink rings become waits: one rail of a fabric of separate rails"`

	Data       *Data       `yaml:"data" doc:"batches are loaded from storage servers, while earlier ones are processed"`
	Checkpoint *Checkpoint `yaml:"checkpoint" doc:"weights and optimizer states are written to storage servers"`

	// Model and hardware of the step, which the block does not contain.
	Model     *model.Config `yaml:"-"`
	GPU       model.GPU     `yaml:"-"`
	Software  *Software     `yaml:"-"` // the framework of By; nil: none
	Recipe    *Recipe       `yaml:"-"` // numerical recipe of this run; nil: that of the software
	Each      []model.GPU   `yaml:"-"` // by built rank, if they differ
	PerServer int           `yaml:"-"` // GPUs of a server: channels cross servers on different rails
	Servers   coll.Servers  `yaml:"-"` // servers of built ranks; default: PerServer in each
	// with Fold: whether GPUs of a server are connected in pairs, at NVLink's rate each
	Mesh      bool      `yaml:"-"`
	Switch    float64   `yaml:"-"` // share of NVLink's rate at which NVSwitch reduces; 0: it cannot
	NVLink    unit.Rate `yaml:"-"`
	NVLatency unit.Time `yaml:"-"` // with Fold
	Storage   *Storage  `yaml:"-"` // nil: there is none
	Idle      int       `yaml:"-"` // GPUs of the job for which the layout has no work
}

// NewTraining returns the default training.
func NewTraining() Training {
	return Training{Layout: partition.Layout{TP: 1, PP: 1, DP: 1, CP: 1, EP: 1, VPP: 1,
		Recompute: partition.RecomputeSelective, Schedule: partition.OneFOneB, Order: partition.DataInside,
		Micro: 1, Steps: 1, Seq: 2048, GradBytes: partition.GradBytes},
		Bucket: 100 * unit.MB, Overlap: true, ScatterGather: true, Efficiency: 50,
		Kernels: Flat, TensorBy: coll.ByRing, Algorithm: "ring", Precision: BF16,
		Experts: "direct", Prefetch: 1, Gathers: 1}
}

// Divide divides the global batch into replicas and microbatches; the default is a microbatch per replica.
func (t *Training) Divide() error {
	once := int64(t.DP) * t.Micro
	if t.GlobalBatch == 0 {
		t.GlobalBatch = once
	}
	if t.GlobalBatch%once != 0 {
		return field.New("global_batch", "%d sequences do not divide into dp %d times micro_batch %d",
			t.GlobalBatch, t.DP, t.Micro)
	}
	t.Microbatches = int(t.GlobalBatch / once)
	return nil
}
