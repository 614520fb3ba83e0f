package workload

import (
	"strings"
	"testing"

	"railyard/internal/coll"
	"railyard/internal/model"
	"railyard/unit"
)

// eight is a step of tensor parallel groups in servers of eight GPUs.
func eight(t *testing.T, gpu string, share float64) *Training {
	t.Helper()
	s := NewTraining()
	var err error
	if s.Model, err = model.Builtin("llama-2-7b"); err != nil {
		t.Fatal(err)
	}
	if s.GPU, err = model.FindGPU(gpu); err != nil {
		t.Fatal(err)
	}
	s.TP, s.DP, s.PerServer, s.NVLink, s.Switch = 8, 2, 8, s.GPU.NVLink, share
	if err := s.Divide(); err != nil {
		t.Fatal(err)
	}
	return &s
}

// ways counts the all-reduces of tensor parallel groups by algorithm.
func ways(t *testing.T, s *Training) map[string]int {
	t.Helper()
	d, err := s.Build()
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]int{}
	for _, c := range d.Colls {
		if c.Kind == coll.AllReduce && c.Class == TensorParallel {
			by[c.By]++
		}
	}
	return by
}

// NVSwitch reduces where it can and is requested to, or where NCCL's model selects it: large all-reduces of eight
// GPUs. It does not for two GPUs, for small all-reduces, or without the feature.
func TestTensorGroupsBySwitch(t *testing.T) {
	const h100 = 0.85
	for _, c := range []struct {
		name, by string
		share    float64
		change   func(*Training)
		want     string
	}{
		{"rings unless said", coll.ByRing, h100, nil, coll.ByRing},
		{"asked for", coll.ByNVLS, h100, nil, coll.ByNVLS},
		{"32 MiB", coll.Auto, h100, nil, coll.ByNVLS},
		{"no switch that adds up", coll.Auto, 0, nil, coll.ByRing},
		{"two GPUs", coll.Auto, h100, func(s *Training) { s.TP, s.PerServer = 2, 2 }, coll.ByRing},
		{"64 KiB", coll.Auto, h100, func(s *Training) { s.Seq = 8 }, coll.ByRing},
	} {
		s := eight(t, "h100", c.share)
		if s.TensorBy = c.by; c.change != nil {
			c.change(s)
		}
		if by := ways(t, s); by[c.want] == 0 || len(by) != 1 {
			t.Errorf("%s: %v, want %s", c.name, by, c.want)
		}
	}
	for want, change := range map[string]func(*Training){
		"tp_algorithm: nvls takes an NVSwitch": func(s *Training) { s.TensorBy, s.Switch = coll.ByNVLS, 0 },
		"tp_algorithm: nvls takes groups": func(s *Training) {
			s.TensorBy, s.PerServer = coll.ByNVLS, 4
		},
		"dp_algorithm: nvls-tree takes an NVSwitch": func(s *Training) {
			s.Algorithm, s.Switch = coll.ByNVLSTree, 0
		},
	} {
		s := eight(t, "h100", h100)
		change(s)
		if _, err := s.Build(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	s := eight(t, "h100", h100)
	s.Algorithm, s.TP, s.DP, s.GlobalBatch = coll.ByNVLSTree, 1, 16, 0
	if err := s.Divide(); err != nil {
		t.Fatal(err)
	}
	if d, err := s.Build(); err != nil || d.Colls[len(d.Colls)-1].By != coll.ByNVLSTree {
		t.Error(err)
	}
}

// The cost model and folded groups take NVSwitch's time: 9/8 of the bytes at 0.85 of NVLink.
func TestTimeBySwitch(t *testing.T) {
	s := eight(t, "h100", 0.85)
	s.TensorBy = coll.ByNVLS
	b := 64 * unit.MiB
	got := s.ringTime(coll.AllReduce, b)
	want := unit.Serialize(unit.Bytes(float64(b)*9/8/0.85+0.5), s.NVLink)
	if got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestUpdateAfterReduction checks that the optimizer of a rank waits for the last transfer of gradients from each
// sender, for any algorithm. Transfers of one sender arrive in order.
func TestUpdateAfterReduction(t *testing.T) {
	for _, algorithm := range []string{coll.ByRing, coll.ByTree, coll.ByHalving, coll.ByRails, coll.ByNVLSTree} {
		tr := training(t, "llama-3.1-8b", 1, 1, 16)
		tr.Algorithm, tr.PerServer, tr.Channels, tr.Overlap = algorithm, 8, 1, false
		tr.Switch, tr.NVLink, tr.Bucket = coll.NVLSShare(false), 3600*unit.Gbps, 4*unit.GB
		d, err := tr.Build()
		if err != nil {
			t.Fatal(algorithm, err)
		}
		update := make([]int32, d.Ranks)
		for i := range d.Ops {
			if d.Ops[i].Class == Optimizer {
				update[d.Ops[i].Rank] = int32(i)
			}
		}
		before := make([][]int32, len(d.Ops))
		for i := range d.Ops {
			for _, next := range d.After(int32(i)) {
				before[next] = append(before[next], int32(i))
			}
		}
		seen := make([]int32, len(d.Ops)) // the rank whose walk visited it
		for rank, from := range update {
			todo := []int32{from}
			for len(todo) > 0 {
				i := todo[len(todo)-1]
				todo = todo[:len(todo)-1]
				for _, b := range before[i] {
					if seen[b] != int32(rank+1) {
						seen[b] = int32(rank + 1)
						todo = append(todo, b)
					}
				}
			}
			last := map[int32]int{}
			for i := range d.Ops {
				if o := &d.Ops[i]; o.Class == DataParallel && !o.Compute() && int(o.Peer) == rank {
					last[o.Rank] = i
				}
			}
			for _, i := range last {
				if o := &d.Ops[i]; seen[i] != int32(rank+1) {
					t.Fatalf("%s: the optimizer of rank %d does not wait for a transfer from rank %d", algorithm, rank, o.Rank)
				}
			}
		}
	}
}
