package workload

import (
	"fmt"
	"math"
	"slices"

	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/internal/model"
	"railyard/internal/partition"
	"railyard/unit"
)

// Ranks returns how many ranks the step has.
func (t *Training) Ranks() int {
	if t.Fold {
		return t.GPUs() / t.TP
	}
	return t.GPUs()
}

// tensorRanks returns the number of built ranks of a tensor parallel group.
func (t *Training) tensorRanks() int {
	if t.Fold {
		return 1
	}
	return t.TP
}

// rank numbers a rank of the built step.
func (t *Training) rank(tp, cp, dp, pp int) int {
	l := t.Layout
	if t.Fold {
		l.TP = 1
	}
	return l.Rank(tp, cp, dp, pp)
}

// Validate refuses partitions that do not divide the model or the batch.
func (t *Training) Validate() error {
	if err := t.Check(t.Model); err != nil {
		return err
	}
	switch {
	case !(t.Efficiency > 0 && t.Efficiency <= 100):
		return field.New("efficiency", "%v percent is out of range: above 0, at most 100", t.Efficiency)
	case t.OverTP:
		return field.New("ep", "%d ranks out of tp x cp x dp cannot be simulated, only estimated", t.EP)
	case t.Bucket < 1*unit.KB:
		return field.New("bucket", "must be at least 1KB, found %v", t.Bucket)
	case t.Gradient() != 2 && t.Gradient() != 4:
		return field.New("grad_bytes", "gradients have 2 or 4 bytes, found %d", t.GradBytes)
	case t.Channels < 0 || t.Channels > 64:
		return field.New("channels", "%d is out of range 0–64", t.Channels)
	case t.Prefetch < 0 || t.Prefetch > 1000:
		return field.New("prefetch", "%d is out of range 0–1000 layers", t.Prefetch)
	case t.Gathers < 0 || t.Gathers > 64:
		return field.New("gathers", "%d is out of range 1–64 collectives per layer", t.Gathers)
	case t.Regather && (t.ZeRO != 3 || t.Recompute != partition.RecomputeFull):
		return field.New("regather", "is for zero 3 with recompute: full, found zero %d with recompute: %s",
			t.ZeRO, t.Recompute)
	case t.GatherAhead && t.ZeRO != 1 && t.ZeRO != 2:
		return field.New("gather_ahead", "is for zero 1 and 2, found zero %d", t.ZeRO)
	case t.Kernels != "" && !slices.Contains([]string{Flat, Fused, Unfused}, t.Kernels):
		return field.Choice("kernels", t.Kernels, []string{Flat, Fused, Unfused}, "%q is not known",
			t.Kernels)
	}
	if t.Schedule == partition.TwoVersions && t.Steps < 2 {
		return field.New("schedule", "%s continues where another step would flush, and steps is %d; accepted: 2 and more", partition.TwoVersions, t.StepsInRow())
	}
	if err := t.CheckPrecision(t.gpuKinds()...); err != nil {
		return err
	}
	if err := t.checkSoftware(); err != nil {
		return err
	}
	if err := t.checkTimes(); err != nil {
		return err
	}
	if err := t.checkStored(); err != nil {
		return err
	}
	if t.Algorithm != coll.ByNVLSTree {
		if _, err := coll.AllReduceBy(t.Algorithm, t.DP*t.CP, t.on()); err != nil {
			return field.Under("dp_algorithm", err)
		}
	}
	if _, err := coll.AllToAllBy(t.Experts, t.on()); err != nil {
		return field.Under("ep_algorithm", err)
	}
	return nil
}

// port is the position where a microbatch enters a part of the model.
type port struct{ part, micro int }

// step holds the state of building one training step.
type step struct {
	*Training
	b     *Builder
	kinds []kernels // by kind of GPU
	kind  []int     // by rank
	// by stage, by replica (context fastest): the ranks of a tensor parallel group
	seats  [][][]int
	dense  [][][]int            // by stage: groups that share the dense parameters
	sparse [][][]int            // by stage: groups that share experts
	last   []int32              // by rank: its latest compute operation
	wait   [][]int32            // by rank: deliveries that the next compute operation depends on
	chain  [][]int32            // by rank: its latest gradient reduction; reductions run in order
	gather [][]int32            // by rank: its latest parameter gathering; gatherings run in order
	ahead  []*fetched           // by stage
	early  map[[2]int][]arrival // by part and layer: parameters gathered at the beginning
	pool   []pool               // by stage: gradients not yet reduced
	aside  [][]arrival          // by stage: tensor parallel transfers in parallel with the computing block
	late   [][]arrival          // by stage: tokens that arrive while the ranks compute
	kept   [][][][]int32        // by stage and step: chain at the time of the step's last gradients
	fwdIn  map[port][]arrival
	bwdIn  map[port][]arrival
	saved  saved
}

// arrival is a delivery at a rank.
type arrival struct {
	rank int
	id   int32
}

// Build lowers the step to a DAG. It has the pipeline's schedule over the layers' blocks, with their tensor,
// context and expert parallel collectives. Gradients are reduced and parameters gathered as the ZeRO stage
// requires, and the optimizer follows.
func (t *Training) Build() (*DAG, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	if err := t.TooBig(); err != nil {
		return nil, err
	}
	b := NewBuilder(t.Ranks() + t.Storage.Ends())
	if err := t.build(b); err != nil {
		return nil, err
	}
	return b.Seal()
}

// build adds the steps to a graph.
func (t *Training) build(b *Builder) error {
	s := t.newStep(b)
	s.kinds, s.kind = t.allKernels()
	s.group()
	if err := s.checkSwitched(); err != nil {
		return err
	}
	return s.steps()
}

// newStep returns the state before operations are built.
func (t *Training) newStep(b *Builder) *step {
	n := t.Ranks()
	s := &step{Training: t, b: b,
		last: make([]int32, n), wait: make([][]int32, n), chain: make([][]int32, n),
		gather: make([][]int32, n),
		ahead:  make([]*fetched, t.PP), early: map[[2]int][]arrival{}, pool: make([]pool, t.PP),
		kept: make([][][][]int32, t.PP), aside: make([][]arrival, t.PP), late: make([][]arrival, t.PP),
		fwdIn: map[port][]arrival{}, bwdIn: map[port][]arrival{}}
	for i := range s.last {
		s.last[i] = -1
	}
	return s
}

// steps builds the steps one after another. A rank begins the next step when its optimizer is done. A schedule
// without a flush has them in one.
func (s *step) steps() error {
	if s.Schedule == partition.TwoVersions {
		return s.schedule()
	}
	for i := range s.StepsInRow() {
		s.load(i)
		s.begin()
		if err := s.schedule(); err != nil {
			return err
		}
		s.optimizer()
		s.save(i)
	}
	return nil
}

// Fits reports whether the model and the framework support the layout, and whether the GPUs' memory with its
// reserve holds it.
func (t *Training) Fits() bool {
	if t.Validate() != nil || t.Software != nil && t.Software.Permits(t.Layout) != nil {
		return false
	}
	need, have := t.Fullest()
	return need <= partition.Fillable(have)
}

// Worst returns the memory of the fullest rank, with the kernels of this training.
func (t *Training) Worst(m *model.Config) (partition.RankMemory, error) {
	l := t.Layout
	l.Unfused = t.Kernels == Unfused
	return l.Worst(m)
}

// Fullest returns the memory use of the fullest GPU, and the memory of the smallest one, of which partition.MostMemory
// percent may be used.
func (t *Training) Fullest() (need, have unit.Bytes) {
	worst, err := t.Worst(t.Model)
	if err != nil {
		return math.MaxInt64, t.Smallest().Usable
	}
	return worst.Total(), t.Smallest().Usable
}

// TooBig reports whether the step has more operations than a DAG supports.
func (t *Training) TooBig() error {
	if ops := t.size(); ops > MaxOps {
		return field.New("",
			"the step would have about %.3g operations, at most %d are taken; plan search simulates a slice of the step", ops, MaxOps)
	}
	return nil
}

// Smaller returns changes, keys with their values, each of which gives a supported step: fewer microbatches, larger
// ones that fit the GPUs' memory, one channel, or else fewer replicas. It returns none if no change does.
func (t *Training) Smaller() (changes [][]string) {
	add := func(keys ...string) { changes = append(changes, keys) }
	if n := t.FewerMicrobatches(); n > 0 {
		add(fmt.Sprintf("global_batch=%d", int64(n*t.DP)*t.Micro))
	}
	for few, n := *t, 2; t.Microbatches%n == 0; n *= 2 {
		if few.Micro, few.Microbatches = t.Micro*int64(n), t.Microbatches/n; few.TooBig() != nil {
			continue
		}
		if need, err := few.Worst(t.Model); err == nil && need.Total() <= partition.Fillable(few.Smallest().Usable) {
			add(fmt.Sprintf("micro_batch=%d", few.Micro))
		}
		break
	}
	if one := *t; t.Channels == 0 {
		if one.Channels = 1; one.TooBig() == nil { // through one NIC of a server
			add("channels=1")
		}
	}
	if few := *t; len(changes) == 0 {
		for few.DP /= 2; few.DP > 1; few.DP /= 2 {
			if few.GlobalBatch = few.Global(); few.Validate() == nil && few.TooBig() == nil {
				add(fmt.Sprintf("dp=%d", few.DP), fmt.Sprintf("global_batch=%d", few.GlobalBatch))
				break
			}
		}
	}
	return changes
}

// FewerMicrobatches returns the largest half, quarter and so on of the step's microbatches whose operations a DAG
// supports; 0: not even one.
func (t *Training) FewerMicrobatches() int {
	few := *t
	for few.Microbatches /= 2; few.Microbatches > 0; few.Microbatches /= 2 {
		if few.TooBig() == nil {
			return few.Microbatches
		}
	}
	return 0
}

// size estimates the operations of a step, from above.
func (t *Training) size() float64 {
	tp, d, rings := float64(t.tensorRanks()), float64(t.DP*t.CP), float64(t.Rings())
	perLayer := 4 + 10*tp + 4*float64(t.CP) + 4*float64(t.EP)
	if t.Software != nil {
		perLayer += 2 + 10*tp + 4*float64(t.EP)
	}
	if t.Recompute == partition.RecomputeFull {
		perLayer *= 1.5
	}
	if t.ZeRO == 3 {
		perLayer += 4 * d * rings * float64(max(1, t.Gathers))
	}
	ranks := float64(t.Ranks())
	ops := ranks * (float64(t.Model.Layers)/float64(t.PP) + 1) * float64(t.Microbatches) * perLayer
	buckets := float64(t.Model.Params()*t.Gradient())/float64(t.PP*t.TP)/float64(t.Bucket) + float64(t.VPP)
	if t.ZeRO == 2 {
		buckets *= float64(t.Microbatches)
	}
	if d > 1 {
		ops += ranks * buckets * 2 * d * rings
	}
	return (ops + t.storedOps()) * float64(t.StepsInRow())
}

// group lists the groups of ranks.
func (s *step) group() {
	n := s.DP * s.CP
	for p := range s.PP {
		var seats [][]int
		for e := range n {
			ranks := make([]int, s.tensorRanks())
			for i := range ranks {
				ranks[i] = s.rank(i, e%s.CP, e/s.CP, p)
			}
			seats = append(seats, ranks)
		}
		var dense, sparse [][]int
		for i := range s.tensorRanks() {
			for x := range s.EP {
				var g []int
				for e := x; e < n; e += s.EP {
					g = append(g, seats[e][i])
				}
				sparse = append(sparse, g)
			}
			g := make([]int, n)
			for e := range g {
				g[e] = seats[e][i]
			}
			dense = append(dense, g)
		}
		s.seats, s.dense, s.sparse = append(s.seats, seats), append(s.dense, dense), append(s.sparse, sparse)
	}
}

// op adds a compute op to a rank, after the rank's previous one and its pending deliveries.
func (s *step) op(rank int, d unit.Time, c Class) {
	if s.b.Summing() {
		return
	}
	s.last[rank] = s.b.Compute(rank, d, c, s.pending(rank)...)
	s.wait[rank] = nil
}

// work returns the time of a piece of work on a kind of GPU.
type work func(k *kernels) unit.Time

// each adds a compute op to every rank of a stage.
func (s *step) each(p int, w work, c Class) {
	if s.b.Summing() {
		return
	}
	for _, ranks := range s.seats[p] {
		for _, r := range ranks {
			s.op(r, w(&s.kinds[s.kind[r]]), c)
		}
	}
}

// pending lists the dependencies of a rank's next op.
func (s *step) pending(rank int) []int32 {
	if s.b.Summing() {
		return nil
	}
	after := append([]int32(nil), s.wait[rank]...)
	if s.last[rank] >= 0 {
		after = append(after, s.last[rank])
	}
	return after
}

// hold makes a rank's next op wait for others.
func (s *step) hold(rank int, ids ...int32) {
	if !s.b.Summing() {
		s.wait[rank] = append(s.wait[rank], ids...)
	}
}

// await makes ranks wait for deliveries before their next computation.
func (s *step) await(in []arrival) {
	for _, a := range in {
		s.hold(a.rank, a.id)
	}
}

// forward takes a microbatch through a part of the model on stage p.
func (s *step) forward(p, part, k int) {
	s.receive(p, s.fwdIn, part, k)
	layers := int(s.Layers(s.Model, part))
	s.fetch(p, part, false)
	for l := range layers {
		s.use(p)
		s.first(part, l)
		launched := s.launch(p, Forward)
		s.layer(p, Forward)
		s.await(launched)
	}
	if part == s.Chunks()-1 {
		s.use(p)
		s.first(part, layers)
		s.each(p, func(k *kernels) unit.Time { return k.head.forward }, Forward)
		return
	}
	s.pass(s.fwdIn, p, (p+1)%s.PP, port{part + 1, k})
}

// backward takes the gradients of a microbatch's activations back.
func (s *step) backward(p, part, k int) {
	s.receive(p, s.bwdIn, part, k)
	s.fetch(p, part, true)
	layers := int(s.Layers(s.Model, part))
	postponed := s.Schedule == partition.ZeroBubble
	if part == s.Chunks()-1 {
		s.use(p)
		s.each(p, func(k *kernels) unit.Time {
			if postponed {
				return k.head.inputs
			}
			return k.head.backward()
		}, Backward)
		s.written(p, part, layers, k, postponed)
	}
	for l := layers - 1; l >= 0; l-- {
		s.use(p)
		launched := s.launch(p, Backward)
		if s.Recompute == partition.RecomputeFull {
			s.layer(p, Backward)
		}
		if s.Regather {
			s.use(p)
		}
		s.layerBack(p, postponed)
		s.await(launched)
		s.written(p, part, l, k, postponed)
	}
	if layers == 0 && part == 0 { // the embedding has the part to itself
		s.written(p, part, 0, k, postponed)
	}
	if part > 0 {
		s.pass(s.bwdIn, p, (p+s.PP-1)%s.PP, port{part - 1, k})
	}
}

// weights works out the weight gradients that a zero-bubble schedule postponed.
func (s *step) weights(p, part, k int) {
	layers := int(s.Layers(s.Model, part))
	if part == s.Chunks()-1 {
		s.each(p, func(k *kernels) unit.Time { return k.head.weights }, Backward)
		s.written(p, part, layers, k, false)
	}
	for l := layers - 1; l >= 0; l-- {
		s.each(p, func(k *kernels) unit.Time { return k.proj.weights + k.mlp.weights }, Backward)
		s.written(p, part, l, k, false)
	}
	if layers == 0 && part == 0 {
		s.written(p, part, 0, k, false)
	}
}

// pass sends a microbatch's activations (or their gradients) to the neighbouring stage. With tensor parallelism
// each rank sends its share along its rail, which is Megatron's scatter-gather optimisation.
func (s *step) pass(in map[port][]arrival, from, to int, at port) {
	b := s.activations()
	if s.ScatterGather || s.Sequence {
		b = (b + unit.Bytes(s.TP) - 1) / unit.Bytes(s.TP)
	}
	for e, ranks := range s.seats[from] {
		for i, r := range ranks {
			dst := s.seats[to][e][i]
			s.b.Collective(Collective{"pp send", coll.SendRecv, PipelineParallel, b, []int{r, dst}, "", 0},
				func() {
					in[at] = append(in[at], arrival{dst, s.b.Transfer(r, dst, b, s.pending(r)...)})
				})
		}
	}
}

// receive makes a stage wait for a microbatch. Shares of it are gathered over NVLink unless the ranks work on
// shares of the sequence anyway.
func (s *step) receive(p int, in map[port][]arrival, part, k int) {
	at := port{part, k}
	if in[at] == nil {
		return
	}
	s.await(in[at])
	delete(in, at)
	if s.ScatterGather && !s.Sequence {
		s.await(s.tensor(p, coll.AllGather, s.activations()))
	}
}
