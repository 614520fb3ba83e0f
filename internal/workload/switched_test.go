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

// NVSwitch adds up where it can and is asked to, or where NCCL's model picks it: large all-reduces of eight
// GPUs, not those of two, not small ones, and not where no switch adds up.
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

// What the cost model and folded groups take is what NVSwitch moves: 9/8 of the bytes at 0.85 of NVLink.
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
