package workload

import (
	"railyard/internal/field"
	"railyard/internal/partition"
	"railyard/unit"
)

// Data describes the loading of batches by the ranks that use them first: those of the first pipeline stage. The
// first rank of each tensor parallel group loads for the group.
type Data struct {
	Sample   unit.Bytes `yaml:"sample" range:"0|1B,10GB" doc:"bytes of a sequence when loaded; 0B: 4 for each token"`
	Prefetch int        `yaml:"prefetch" range:"0,1000" doc:"batches that are loaded before they are used; 0: each when its step begins. The first is there when the run begins, unless this is 0"`
}

// Silent sets the defaults.
func (d *Data) Silent() { d.Prefetch = 1 }

// Checkpoint describes the checkpoints of a training.
type Checkpoint struct {
	Every int       `yaml:"every" range:"1,1000" doc:"steps from one to the next"`
	Mode  string    `yaml:"mode" enum:"blocking,async" doc:"blocking: a rank goes on when its share is written; async: when it is copied to the server's memory, at server.pcie, and the next checkpoint starts after the writing"`
	By    string    `yaml:"by" enum:"all,replica" doc:"who writes. all: the ranks that share parameters write a share of them each; replica: one of them writes all"`
	Bytes int       `yaml:"bytes" range:"1,64" doc:"per parameter: 14 are weights in 16 bit, and Adam's master copy, momentum and variance in 32"`
	Copy  unit.Rate `yaml:"-"` // rate of copies from a GPU to its server's memory; 0: instant
}

// Methods of saving, and the ranks that save.
const (
	Blocking    = "blocking"
	Async       = "async"
	ByAll       = "all"
	ByOneOfThem = "replica"
)

// Silent sets the defaults.
func (c *Checkpoint) Silent() {
	*c = Checkpoint{Every: 1, Mode: Blocking, By: ByAll, Bytes: partition.SavedBytes}
}

// checkStored rejects contradictions between storage and a step.
func (t *Training) checkStored() error {
	for _, x := range []struct {
		key string
		is  bool
	}{{"data", t.Data != nil}, {"checkpoint", t.Checkpoint != nil}} {
		switch {
		case !x.is:
		case t.Storage == nil:
			return field.New(x.key, "the scenario has no storage: name the servers in the block storage")
		case t.Fold:
			return field.New("fold", "builds one GPU of a server, and storage is shared by all: leave out one")
		case t.Schedule == partition.TwoVersions:
			return field.New(x.key, "needs an end of each step, which the schedule %s does not have",
				partition.TwoVersions)
		}
	}
	if c := t.Checkpoint; c != nil && c.Every > t.StepsInRow() {
		return field.New("checkpoint.every", "%d steps, and the training has %d: none would be written",
			c.Every, t.StepsInRow())
	}
	return nil
}

// BatchBytes returns the bytes that one rank loads for a step: its replica's samples, or its part of each if
// several ranks share a sequence.
func (t *Training) BatchBytes() unit.Bytes {
	if t.Data == nil {
		return 0
	}
	sample := t.Data.Sample
	if sample == 0 {
		sample = unit.Bytes(4 * t.Seq)
	}
	samples := unit.Bytes(t.Micro) * unit.Bytes(t.Microbatches)
	return (sample*samples + unit.Bytes(t.CP) - 1) / unit.Bytes(t.CP)
}

// SavedBytes returns the bytes that a rank of a stage writes of its parameters' states, shared by a number of equal
// ranks. first marks the first of these.
func (t *Training) SavedBytes(params float64, sharing int, first bool) unit.Bytes {
	whole := unit.Bytes(params) * unit.Bytes(t.Checkpoint.Bytes)
	switch {
	case t.Checkpoint.By == ByAll:
		return (whole + unit.Bytes(sharing) - 1) / unit.Bytes(sharing)
	case first:
		return whole
	}
	return 0
}

// storedOps estimates the operations of a step that load and save.
func (t *Training) storedOps() (ops float64) {
	if t.Storage == nil {
		return 0
	}
	if t.Data != nil {
		ops += float64(t.DP*t.CP) * t.Storage.Ops(t.BatchBytes())
	}
	if t.Checkpoint != nil {
		all := float64(t.Model.Params()) * float64(t.Checkpoint.Bytes)
		ops += 3*all/float64(t.Storage.Request) + 3*float64(t.Ranks())
	}
	return ops
}

// saved is the state of batches and checkpoints while steps are built.
type saved struct {
	loads  map[int][][]int32 // by loading rank and batch: its arrival
	begins map[int][]int32   // by loading rank and step: dependencies of the step's start
	writes [][]int32         // by rank: the end of its last asynchronous checkpoint
}

// load makes the ranks of the first stage wait for a step's batch, and starts the loading of later batches. Each
// load follows the previous one, and the start of the step that precedes it by the number of prefetched batches.
func (s *step) load(i int) {
	if s.Data == nil {
		return
	}
	if s.saved.loads == nil {
		s.saved.loads, s.saved.begins = map[int][][]int32{}, map[int][]int32{}
	}
	bytes, ahead := s.BatchBytes(), s.Data.Prefetch
	for _, ranks := range s.seats[0] {
		r := ranks[0]
		s.saved.begins[r] = append(s.saved.begins[r], s.last[r])
		for k := len(s.saved.loads[r]); k <= min(i+ahead, s.StepsInRow()-1); k++ {
			s.saved.loads[r] = append(s.saved.loads[r], s.batch(r, k, i, bytes))
		}
		for _, peer := range ranks {
			s.hold(peer, s.saved.loads[r][i]...)
		}
	}
}

// batch loads the k-th batch, which step i is the first to have room for.
func (s *step) batch(r, k, i int, bytes unit.Bytes) []int32 {
	if k == 0 && s.Data.Prefetch > 0 {
		return nil // available from the start
	}
	var after []int32
	if began := s.saved.begins[r][i]; began >= 0 {
		after = append(after, began)
	}
	if k > 0 {
		after = append(after, s.saved.loads[r][k-1]...)
	}
	return s.Storage.read(s.b, "data loading", r, bytes, after...)
}

// loads returns the number of batches that a rank loads in all steps.
func (t *Training) loads() int {
	if t.Data != nil && t.Data.Prefetch > 0 {
		return t.StepsInRow() - 1 // the first is there from the start
	}
	return t.StepsInRow()
}

// loadOnce loads one batch.
func (s *step) loadOnce() {
	for _, ranks := range s.seats[0] {
		s.Storage.read(s.b, "data loading", ranks[0], s.BatchBytes())
	}
}

// saves returns the number of checkpoints in all steps.
func (t *Training) saves() int {
	if t.Checkpoint == nil {
		return 0
	}
	return t.StepsInRow() / t.Checkpoint.Every
}

// save writes a checkpoint after a step's optimizer, if one is due.
func (s *step) save(i int) {
	if c := s.Checkpoint; c != nil && (i+1)%c.Every == 0 {
		s.saveAll()
	}
}

// saveAll writes a checkpoint.
func (s *step) saveAll() {
	if s.saved.writes == nil {
		s.saved.writes = make([][]int32, len(s.last))
	}
	for p := range s.PP {
		dense, sparse := s.StageParams(p)
		for e, ranks := range s.seats[p] {
			for _, r := range ranks {
				n := s.DP * s.CP
				bytes := s.SavedBytes(dense, n, e == 0) + s.SavedBytes(sparse, n/s.EP, e < s.EP)
				if bytes > 0 {
					s.write(r, bytes)
				}
			}
		}
	}
}

// write saves a rank's share.
func (s *step) write(r int, bytes unit.Bytes) {
	c := s.Checkpoint
	if c.Mode == Async {
		s.wait[r] = append(s.wait[r], s.saved.writes[r]...) // room for one copy
		s.op(r, copying(bytes, c.Copy), Saving)
		s.saved.writes[r] = s.Storage.write(s.b, "checkpoint", r, bytes, s.last[r])
		return
	}
	after := s.pending(r)
	s.wait[r] = append([]int32(nil), s.Storage.write(s.b, "checkpoint", r, bytes, after...)...)
}

// CopyTime returns the longest time for which a rank copies its share of an asynchronous checkpoint.
func (t *Training) CopyTime() (longest unit.Time) {
	for p := range t.PP {
		dense, sparse := t.StageParams(p)
		n := t.DP * t.CP
		bytes := t.SavedBytes(dense, n, true) + t.SavedBytes(sparse, n/t.EP, true)
		longest = max(longest, copying(bytes, t.Checkpoint.Copy))
	}
	return longest
}

// copying returns the time to copy a GPU's share to its server's memory.
func copying(bytes unit.Bytes, rate unit.Rate) unit.Time {
	if rate == 0 {
		return 0
	}
	return unit.Serialize(bytes, rate)
}
