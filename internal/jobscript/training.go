package jobscript

import (
	"fmt"
	"strconv"
	"strings"

	"railyard/internal/partition"
	"railyard/internal/slurm"
	"railyard/internal/workload"
	"railyard/unit"
)

// Entry is a key of a scenario's training block with its value, and its source.
type Entry struct {
	Key   string      `json:"key"`
	Value string      `json:"value"`
	Name  string      `json:"from"` // the flag or key of the value; a reason if there is none
	At    slurm.Place `json:"-"`
	Said  bool        `json:"said"`
}

// Training is a training block.
type Training struct {
	Shape   *Shape
	Entries []Entry
	Ranks   int
}

// builder collects the entries.
type builder struct {
	*Said
	out Training
}

// say adds a flag's value, or a derived one.
func (b *builder) say(key string, value any, from string, why string) {
	e := Entry{Key: key, Value: fmt.Sprint(value), Name: why}
	if v, ok := b.vals[from]; ok && from != "" {
		e.Name, e.At, e.Said = v.Name, v.At, true
	}
	b.out.Entries = append(b.out.Entries, e)
}

// Training builds a training block from settings, for a number of processes; 0: the number that the settings need.
// Without a model there is none, which is no error.
func (s *Said) Training(world int) (*Training, error) {
	shape, err := s.shape()
	if err != nil || shape == nil {
		return nil, err
	}
	b := &builder{Said: s}
	b.out.Shape = shape
	degree := map[string]int64{}
	product := int64(1)
	for _, key := range []string{"tp", "pp", "cp"} {
		degree[key] = max(1, s.num(key))
		if degree[key] > 1<<20 || product > 1<<20 {
			v := s.vals[key]
			return nil, v.At.Fail(v.Name, "%d is more than a training has", degree[key])
		}
		product *= degree[key]
		b.say(key, degree[key], key, "default")
	}
	dp, err := b.replicas(int64(world), product)
	if err != nil {
		return nil, err
	}
	b.out.Ranks = int(product * dp)
	if ep := max(1, s.num("ep")); ep > 1 || s.has("ep") {
		b.say("ep", ep, "ep", "")
	}
	if err := b.pipeline(degree["pp"]); err != nil {
		return nil, err
	}
	if err := b.batch(dp, degree["pp"]); err != nil {
		return nil, err
	}
	b.precision()
	b.memory(degree["tp"])
	b.gradients(dp)
	if degree["tp"] > 1 && s.megatron() && !s.has("no tp overlap") {
		b.say("tp_overlap", true, "", "Megatron-LM's default")
	}
	return &b.out, nil
}

// megatron reports whether flags are Megatron-LM's, whose defaults hold then.
func (s *Said) megatron() bool {
	for _, key := range []string{"tp", "pp", "layers", "micro"} {
		if n := plainName(s.vals[key].Name); strings.HasSuffix(n, "model_parallel_size") ||
			n == "num_layers" && s.has("micro") {
			return true
		}
	}
	return false
}

// replicas returns the number of replicas: the number of processes over that of one model.
func (b *builder) replicas(world, product int64) (int64, error) {
	said, open := b.num("dp"), world == 0
	if once := b.num("micro") * b.num("accumulation"); world == 0 && said == 0 && once > 0 {
		world = product * max(1, b.num("global")/once) // DeepSpeed divides its batch so
	}
	if cp := max(1, b.num("cp")); world == 0 && said == 0 && b.num("ep")%cp == 0 {
		world = product * max(1, b.num("ep")/cp)
	}
	if world == 0 {
		world = product * max(1, said)
	}
	if world%product != 0 {
		v := b.vals["tp"]
		for _, key := range []string{"tp", "pp", "cp"} {
			if b.num(key) > 1 {
				v = b.vals[key]
			}
		}
		return 0, v.At.Fail(v.Name, "tp %d x pp %d x cp %d is %d, which does not divide the job's %s",
			max(1, b.num("tp")), max(1, b.num("pp")), max(1, b.num("cp")), product,
			unit.Plural(world, "process"))
	}
	dp := world / product
	if said > 0 && said != dp {
		v := b.vals["dp"]
		return 0, v.At.Fail(v.Name, "is %d, and the job's %s leave %d for replicas of %d", said,
			unit.Plural(world, "process"), dp, product)
	}
	why := fmt.Sprintf("%s / %d", unit.Plural(world, "process"), product)
	if open {
		why = "the number of replicas is not set"
		if dp > 1 {
			why = "as many as batch or experts take"
		}
	}
	b.say("dp", dp, "dp", why)
	return dp, nil
}

// pipeline sets the schedule of stages.
func (b *builder) pipeline(pp int64) error {
	vpp := b.num("vpp")
	from := "vpp"
	if per := b.num("chunk"); per > 0 && vpp == 0 {
		layers := b.out.Shape.Parsed.Layers
		if v := b.vals["chunk"]; layers%(pp*per) != 0 {
			return v.At.Fail(v.Name, "chunks of %d layers on %s do not divide the model's %d layers", per,
				unit.Plural(pp, "stage"), layers)
		}
		vpp, from = layers/pp/per, "chunk"
	}
	if vpp > 1 && pp > 1 {
		b.say("vpp", vpp, from, "")
		b.say("schedule", "interleaved", from, "")
	}
	if b.has("order") {
		b.say("order", "tp-cp-pp-dp", "order", "")
	}
	return nil
}

// batch sets the number and length of sequences per step.
func (b *builder) batch(dp, pp int64) error {
	micro, from := b.num("micro"), "micro"
	if micro == 0 && b.num("local") > 0 {
		micro, from = b.num("local"), "local"
		b.note(b.vals["local"].At, b.vals["local"].Name+" is read as the sequences of one GPU")
	}
	global, accumulation := b.num("global"), b.num("accumulation")
	switch {
	case micro == 0 && global > 0 && accumulation > 0 && global%(dp*accumulation) == 0:
		micro, from = global/dp/accumulation, "global"
	case micro == 0:
		micro, from = 1, ""
	}
	b.say("micro_batch", micro, from, "default: 1")
	if global > 0 && accumulation > 0 && micro*accumulation*dp != global {
		v := b.vals["global"]
		return v.At.Fail(v.Name, "is %d, and %d sequences x %d accumulated x %d replicas make %d",
			global, micro,
			accumulation, dp, micro*accumulation*dp)
	}
	switch {
	case global > 0:
		if v := b.vals["global"]; global%(micro*dp) != 0 {
			return v.At.Fail(v.Name, "%d sequences do not divide into %s of %d", global,
				unit.Plural(dp, "replica"), micro)
		}
		b.say("global_batch", global, "global", "")
	case accumulation > 0:
		b.say("global_batch", micro*accumulation*dp, "accumulation", "")
	case pp > 1:
		b.say("global_batch", micro*dp*pp, "", "default: as many microbatches as stages")
	default:
		b.say("global_batch", micro*dp, "", "default: one microbatch per replica")
	}
	if b.has("sequence") {
		b.say("sequence", b.num("sequence"), "sequence", "")
	} else if n := b.num("positions"); n > 0 {
		b.say("sequence", n, "positions", "")
	} else {
		n := int64(2048)
		if most := b.out.Shape.Parsed.Context; most > 0 {
			n = min(n, most)
		}
		b.say("sequence", n, "", "assumed")
	}
	return nil
}

// memory sets sharding and recomputation.
func (b *builder) memory(tp int64) {
	if b.has("sp") && tp > 1 {
		b.say("sequence_parallel", true, "sp", "")
	}
	zero, from := 0, ""
	fsdp := strings.ToLower(b.vals["fsdp"].Text)
	switch {
	case b.has("zero"):
		zero, from = int(min(3, b.num("zero"))), "zero"
	case b.has("distributed optimizer"):
		zero, from = 1, "distributed optimizer"
	case strings.Contains(b.vals["optimizer"].Text, "distributed"):
		zero, from = 1, "optimizer"
	case strings.Contains(fsdp, "shard_grad_op") || fsdp == "optim_grads" || fsdp == "2":
		zero, from = 2, "fsdp"
	case strings.Contains(fsdp, "optim") && fsdp != "optim_grads_params":
		zero, from = 1, "fsdp"
	case strings.Contains(fsdp, "no_shard") || fsdp == "3" || fsdp == "ddp" || off(fsdp):
	case fsdp != "":
		zero, from = 3, "fsdp"
		if strings.Contains(fsdp, "hybrid") || fsdp == "4" {
			b.note(b.vals["fsdp"].At, "hybrid sharding within servers is not supported: read as full")
		}
	case b.has("fsdp2"):
		zero, from = 3, "fsdp2"
	case b.has("shards") && b.vals["shards"].Text != "1":
		zero, from = 3, "shards" // torchtitan's; -1: all remaining ones
		if b.num("replicated") > 1 {
			b.note(b.vals["replicated"].At, "hybrid sharding within servers is not supported: read as full")
		}
	}
	if zero > 0 {
		b.say("zero", zero, from, "")
	}
	if zero > 0 && zero < 3 && b.has("gather ahead") {
		b.say("gather_ahead", true, "gather ahead", "")
	}
	how := strings.ToLower(b.vals["recompute"].Text)
	switch {
	case how == "full" || how == "selective":
		b.say("recompute", how, "recompute", "")
	case b.has("recompute selective"):
		b.say("recompute", "selective", "recompute selective", "")
	case b.has("recompute full"):
		b.say("recompute", "full", "recompute full", "")
	case b.has("recompute method"):
		b.say("recompute", "full", "recompute method", "")
	default:
		b.scores()
	}
}

// scores sets whether layers keep attention scores if no flag enables recomputation. Fused attention kernels keep
// none, as with selective recomputation. Megatron-LM's default is Transformer Engine, which picks a fused kernel.
func (b *builder) scores() {
	kernel, by := strings.ToLower(b.vals["attention"].Text), strings.ToLower(b.vals["layers by"].Text)
	switch {
	case kernel == "unfused" || kernel == "local" || kernel == "eager":
		b.say("recompute", "none", "attention", "")
	case kernel != "" && kernel != "auto":
		b.say("recompute", "selective", "attention", "")
	case b.has("flash"):
		b.say("recompute", "selective", "flash", "")
	case by == "local":
		b.say("recompute", "none", "layers by", "")
	case by != "":
		b.say("recompute", "selective", "layers by", "")
	case b.megatron() && !b.deepspeed():
		b.say("recompute", "selective", "", "Megatron-LM's default: fused attention")
	default:
		b.say("recompute", "none", "", "no flag")
	}
}

// gradients sets the reduction of gradients.
func (b *builder) gradients(dp int64) {
	bytes, from, why := int64(partition.GradBytes), "", "as weights"
	switch {
	case b.has("grads 32"):
		bytes, from = 4, "grads 32"
	case b.has("grads 16"):
		from = "grads 16"
	case b.megatron() && !b.deepspeed() && b.has("bf16"):
		if by, err := workload.FindSoftware("megatron-lm"); err == nil {
			bytes, why = by.GradBytes, "Megatron-LM's default with bf16"
		}
	}
	b.say("grad_bytes", bytes, from, why)
	if dp == 1 {
		return
	}
	switch {
	case b.has("overlap"):
		b.say("overlap", true, "overlap", "")
	case b.deepspeed() && b.num("zero") < 3:
		b.say("overlap", false, "", "DeepSpeed's default below stage 3 (overlap_comm)")
	case b.megatron() && !b.deepspeed():
		b.say("overlap", false, "", "Megatron-LM's default")
	}
	switch {
	case b.num("bucket") > 0:
		b.say("bucket", strconv.FormatInt(b.num("bucket")*bytes, 10)+"B", "bucket", "")
	case b.megatron() && !b.deepspeed() && b.has("overlap"):
		// distributed_data_parallel.py: max(40,000,000, 1,000,000 x replicas) elements
		b.say("bucket", strconv.FormatInt(max(40_000_000, 1_000_000*dp)*bytes, 10)+"B", "", "Megatron-LM's default")
	}
}

// deepspeed reports whether a DeepSpeed configuration takes part.
func (s *Said) deepspeed() bool {
	for _, key := range []string{"zero", "deepspeed", "bucket"} {
		if n := s.vals[key].Name; strings.Contains(n, "zero_optimization") || strings.Contains(n, "zero-stage") ||
			key == "deepspeed" && s.has(key) {
			return true
		}
	}
	return false
}

// YAML returns the block's lines, indented; the model is named model if it is not a shipped one.
func (t *Training) YAML(indent, model string) string {
	var b strings.Builder
	if t.Shape.Name != "" {
		model = t.Shape.Name
	}
	fmt.Fprintf(&b, "%smodel: %s\n", indent, model)
	for _, e := range t.Entries {
		fmt.Fprintf(&b, "%s%s: %s\n", indent, e.Key, e.Value)
	}
	return b.String()
}

// Find is the entry of a key.
func (t *Training) Find(key string) (Entry, bool) {
	for _, e := range t.Entries {
		if e.Key == key {
			return e, true
		}
	}
	return Entry{}, false
}
