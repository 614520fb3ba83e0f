package planner

import (
	"bytes"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"railyard/internal/field"
	"railyard/internal/model"
	"railyard/internal/partition"
	"railyard/internal/topo"
	"railyard/unit"

	"pgregory.net/rapid"
)

// near fails unless two figures agree to a billionth.
func near(t interface {
	Helper()
	Errorf(string, ...any)
}, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*max(1e-9, math.Abs(want)) {
		t.Errorf("%s: %.12g, want %.12g", what, got, want)
	}
}

// A ring of n sends (n-1)/n of its bytes a round: over NVLink alone in a server, otherwise over as many NICs as it
// has rings, never faster than NVLink. Each piece waits for every hop once.
func TestRing(t *testing.T) {
	s := site(t, 64)
	s.Uplinks = 0 // all servers are attached to one set of leaves
	rapid.Check(t, func(t *rapid.T) {
		n := 1 << rapid.IntRange(1, 6).Draw(t, "ranks")
		rings := rapid.IntRange(1, 8).Draw(t, "rings")
		bytes := float64(rapid.Int64Range(1, 1<<40).Draw(t, "bytes"))
		pieces := float64(rapid.IntRange(0, 9).Draw(t, "pieces"))
		share := float64(n-1) / float64(n)
		rate, latency := float64(s.NVLink), float64(n)*s.NVLatency.Seconds()
		if n > 8 {
			rate = min(rate, float64(s.NIC)*float64(rings))
			out := float64(n) / 8
			latency = out*s.Latency.Seconds() + (float64(n)-out)*s.NVLatency.Seconds()
		}
		near(t, "a round", s.ring(group{n, 1}, rings, bytes, pieces), share*(bytes*8/rate+pieces*latency))
	})
	if got := s.ring(group{1, 1}, 1, 1e9, 1) + s.ring(group{8, 1}, 1, 0, 1); got != 0 {
		t.Errorf("a ring of one, and one without bytes, take %g s", got)
	}
}

// TestRingOfMesh drives rings over GPUs connected in pairs. Each ring has its own links: in a server of eight there are
// seven rings, of four three on two orders, and in several servers one per NIC. A ring that has one GPU in each server
// uses no pair link.
func TestRingOfMesh(t *testing.T) {
	s := site(t, 64)
	s.Uplinks, s.Mesh, s.NVLink, s.NIC = 0, true, 300*unit.Gbps, 400*unit.Gbps
	s.Latency, s.NVLatency = 0, 0
	for _, c := range []struct {
		g     group
		rings int
		want  float64 // Gbit/s
	}{{group{8, 1}, 7, 2100}, {group{8, 1}, 1, 300}, {group{4, 2}, 3, 450}, {group{2, 4}, 1, 300},
		{group{16, 1}, 8, 2400}, {group{16, 2}, 4, 1200}, {group{16, 1}, 1, 300}, {group{16, 2}, 8, 1200},
		{group{8, 8}, 1, 400}, {group{8, 8}, 8, 400}} {
		near(t, "a round", s.ring(c.g, c.rings, 1e9, 1), float64(c.g.n-1)/float64(c.g.n)*8/c.want)
	}
	s.NVLink = 500 * unit.Gbps // NICs limit
	near(t, "a round", s.ring(group{16, 1}, 8, 1e9, 1), 15.0/16*8/3200)
}

// TestMeshedStep counts the rings of a step's gradients, and sends tokens to experts over all links of a GPU at once.
func TestMeshedStep(t *testing.T) {
	in := searching(builtin(t, "mixtral-8x7b"), site(t, 8), 8, 4096, 50)
	in.Site.NVLatency = 0
	l := partition.Layout{TP: 1, PP: 1, DP: 8, CP: 1, EP: 8, VPP: 1, Schedule: partition.OneFOneB,
		Recompute: partition.RecomputeSelective, Micro: 1, Microbatches: 1, Seq: 4096}
	switched := in.experts(in.Step(l), 1)
	in.Site.Mesh = true
	if got := in.Step(l).Channels; got != 7 {
		t.Errorf("%d rings, want 7", got)
	}
	near(t, "all-to-all", in.experts(in.Step(l), 1), switched/7)
	in.Training.Experts = "pairwise" // one link at a time
	near(t, "pairwise all-to-all", in.experts(in.Step(l), 1), switched)
}

// Sprayed packets have the NIC's rate as long as uplinks carry the crossing traffic, and otherwise their share of
// the uplinks. The crossing share grows with the distance until all traffic leaves the leaf.
func TestRateOfUplinks(t *testing.T) {
	s := site(t, 4096)
	s.Spread, s.Segment, s.Down, s.Uplink = true, 64, 64, s.NIC
	for _, c := range []struct {
		uplinks, servers int
		want             float64 // share of the NIC's rate
	}{{64, 1, 1}, {64, 64, 1}, {64, 512, 1}, {32, 64, 0.5}, {32, 32, 1}, {32, 33, 32.0 / 33}, {16, 64, 0.25},
		{16, 16, 1}, {16, 8, 1}} {
		s.Uplinks = c.uplinks
		got := float64(s.rate(8*c.servers, 1)) / float64(s.NIC)
		if math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%d uplinks, %d servers on: %.6f of the NIC, want %.6f", c.uplinks, c.servers, got,
				c.want)
		}
	}
	s.Uplinks, s.Pod, s.Upper = 64, 128, 4 // pods are four times short
	for servers, want := range map[int]float64{64: 0.5, 32: 1, 128: 0.25, 512: 0.25} {
		if got := float64(s.rate(8*servers, 1)) / float64(s.NIC); math.Abs(got-want) > 1e-9 {
			t.Errorf("pods, %d servers on: %.6f of the NIC, want %.6f", servers, got, want)
		}
	}
	for ranks, want := range map[int]float64{7: 0, 8: 1.0 / 64, 256: 0.5, 512: 1, 4000: 1} {
		if local, crossing := s.reach(ranks); local != (ranks < 8) || math.Abs(crossing-want) > 1e-12 {
			t.Errorf("%d ranks on: in the server %v, %g leaves the leaf, want %g", ranks, local, crossing,
				want)
		}
	}
}

// A replica's gradients: each of n ranks sends 2(n-1)/n of two bytes a parameter. The share over the network is one
// over the number of ranks in a server. ZeRO 1 sends equal bytes; ZeRO 2 gathers after each microbatch.
func TestBytesOfGradients(t *testing.T) {
	in := searching(builtin(t, "llama-3.1-8b"), site(t, 64), 0, 4096, 50)
	in.Site.Uplinks = 0
	for _, c := range []struct{ dp, mb, zero int }{{2, 1, 0}, {8, 3, 0}, {16, 2, 0}, {64, 1, 0}, {16, 4, 1},
		{16, 1, 2}, {16, 4, 2}} {
		l := partition.Layout{TP: 1, PP: 1, DP: c.dp, CP: 1, EP: 1, VPP: 1, Schedule: partition.OneFOneB,
			Recompute: partition.RecomputeSelective, Micro: 1, Microbatches: c.mb, Seq: 4096, ZeRO: c.zero}
		dense, sparse := in.Step(l).StageParams(0)
		if sparse != 0 {
			t.Fatalf("a dense model has %g parameters of experts", sparse)
		}
		rounds := 2.0
		if c.zero == 2 {
			rounds = float64(c.mb + 1)
		}
		sent := rounds * 2 * dense * float64(c.dp-1) / float64(c.dp)
		out := 0.0
		if c.dp > 8 {
			out = sent / 8
		}
		e := in.Estimate(l)
		near(t, l.String()+" in the server", e.Tiers[0], sent-out+e.of(in))
		near(t, l.String()+" through a leaf", e.Tiers[1], out)
		near(t, l.String()+" over spines", e.Tiers[2], 0)
	}
}

// of returns the bytes that a candidate's tensor parallel transfers send in the server.
func (c *Candidate) of(in SearchInput) float64 {
	l := c.Layout
	return float64(l.Microbatches) * float64(in.Training.Model.Layers) / float64(l.PP) *
		in.Step(l).TensorBytes()
}

// Of the bytes that leave a server, the share that leaves the leaf is the distance over the segment.
func TestTiersOfPipeline(t *testing.T) {
	in := searching(builtin(t, "llama-3.1-8b"), site(t, 64), 0, 4096, 50)
	in.Site.Segment = 4
	for _, c := range []struct {
		tp, dp   int
		crossing float64
	}{{8, 1, 0.25}, {8, 2, 0.5}, {8, 4, 1}, {4, 2, 0.25}} {
		l := partition.Layout{TP: c.tp, PP: 2, DP: c.dp, CP: 1, EP: 1, VPP: 1, Schedule: partition.OneFOneB,
			Recompute: partition.RecomputeSelective, Micro: 1, Microbatches: 4, Seq: 4096}
		alone := in.Estimate(l)
		data := Candidate{Layout: l}
		in.data(&data, in.Step(l), group{c.dp, c.tp}, 0, 0)
		act := float64(4096*in.Training.Model.Hidden) * 2 / float64(c.tp)
		want := 2 * 4 * act / 2 // forward and backward, of each microbatch, from one stage of two
		near(t, l.String()+" sent", alone.Tiers[1]+alone.Tiers[2]-data.Tiers[1]-data.Tiers[2], want)
		near(t, l.String()+" over spines", alone.Tiers[2]-data.Tiers[2], want*c.crossing)
	}
}

// A layout that fills 90 % of the memory is accepted, one with one percent more is not. The reported memory is that
// of the fullest rank.
func TestMemoryEdge(t *testing.T) {
	in := searching(builtin(t, "llama-3.1-8b"), site(t, 8), 8, 4096, 50)
	l := partition.Layout{TP: 8, PP: 1, DP: 1, CP: 1, EP: 1, VPP: 1, Schedule: partition.OneFOneB,
		Recompute: partition.RecomputeSelective, Micro: 1, Microbatches: 8, Seq: 4096}
	worst, err := l.Worst(in.Training.Model)
	if err != nil {
		t.Fatal(err)
	}
	least := (worst.Total() + 89) / 90 * 100
	in.Site.GPU.Usable = least
	if got, reason := in.fits(l); reason != "" || got != worst.Total() {
		t.Errorf("%v in %v: %q, told %v", worst.Total(), least, reason, got)
	}
	in.Site.GPU.Usable = least - 100
	if _, reason := in.fits(l); !strings.Contains(reason, "over 90 % of GPU memory") {
		t.Errorf("%v in %v: %q", worst.Total(), in.Site.GPU.Usable, reason)
	}
}

// Why a layout is rejected, one reason a row, without its numbers.
func TestReasons(t *testing.T) {
	moe := *builtin(t, "llama-3.1-8b")
	for want, spoil := range map[string]func(*SearchInput, *partition.Layout){
		"batch not divisible":   func(in *SearchInput, _ *partition.Layout) { in.Training.GlobalBatch++ },
		"no microbatch":         func(_ *SearchInput, l *partition.Layout) { l.Microbatches = 0 },
		"NVLink domain":         func(in *SearchInput, _ *partition.Layout) { in.Site.PerServer = 4 },
		"ZeRO without replicas": func(_ *SearchInput, l *partition.Layout) { l.ZeRO = 1 },
		"recomputation none": func(_ *SearchInput, l *partition.Layout) {
			l.Recompute = partition.RecomputeNone
		},
		"attention heads":            func(_ *SearchInput, l *partition.Layout) { l.TP = 5 },
		"above the number of layers": func(_ *SearchInput, l *partition.Layout) { l.PP = 33 },
		"multiple of PP": func(_ *SearchInput, l *partition.Layout) {
			l.PP, l.VPP, l.Schedule = 16, 2, partition.Interleaved
		},
	} {
		in := searching(&moe, site(t, 8), 8, 4096, 50)
		l := partition.Layout{TP: 8, PP: 1, DP: 1, CP: 1, EP: 1, VPP: 1, Schedule: partition.OneFOneB,
			Recompute: partition.RecomputeSelective, Micro: 1, Microbatches: 8, Seq: 4096}
		if _, reason := in.fits(l); reason != "" {
			t.Fatalf("the good layout: %s", reason)
		}
		spoil(&in, &l)
		if want == "no microbatch" {
			want = "batch not divisible"
		}
		if _, reason := in.fits(l); !strings.Contains(reason, want) {
			t.Errorf("%q, want %q", reason, want)
		}
	}
}

// An invalid input is rejected with its key and the accepted values.
func TestSearchRefuses(t *testing.T) {
	for _, c := range []struct {
		path, want string
		spoil      func(*SearchInput)
	}{
		{"global_batch", "0 is out of range", func(in *SearchInput) { in.Training.GlobalBatch = 0 }},
		{"global_batch", "16777216", func(in *SearchInput) { in.Training.GlobalBatch = 1<<24 + 1 }},
		{"sequence", "-1 is out of range", func(in *SearchInput) { in.Training.Seq = -1 }},
		{"sequence", "16777216", func(in *SearchInput) { in.Training.Seq = 1<<24 + 1 }},
		{"efficiency", "at most 100 %", func(in *SearchInput) { in.Training.Efficiency = 100.1 }},
		{"efficiency", "NaN", func(in *SearchInput) { in.Training.Efficiency = math.NaN() }},
		{"gpus", "131072", func(in *SearchInput) { in.Site.GPUs = 1<<17 + 1 }},
		{"gpus", "0 is out of range", func(in *SearchInput) { in.Site.GPUs = 0 }},
		{"", "rates must be positive", func(in *SearchInput) { in.Site.NIC = 0 }},
		{"", "rates must be positive", func(in *SearchInput) { in.Site.PerServer = 0 }},
		{"", "oversubscription starts at 1", func(in *SearchInput) { in.Site.Ratio = 0.5 }},
		{"", "oversubscription starts at 1", func(in *SearchInput) { in.Site.Upper = math.NaN() }},
		{"", "queue pairs at 1", func(in *SearchInput) { in.Site.QPs = 0 }},
	} {
		in := searching(builtin(t, "llama-3.1-8b"), site(t, 8), 8, 4096, 50)
		c.spoil(&in)
		_, err := Search(in)
		var e *field.Error
		if !errors.As(err, &e) || e.Path != c.path || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q of %q", err, c.want, c.path)
		}
	}
}

// A site derived from a fabric has its rates, its segment, and its oversubscription. A leaf's oversubscription is
// its downlinks over its uplinks, 1 without an upper tier.
func TestSiteOf(t *testing.T) {
	g100, g400 := topo.Cable{Rate: 100 * unit.Gbps}, topo.Cable{Rate: 400 * unit.Gbps}
	for _, c := range []struct {
		hosts, segments, spines, uplinks int
		fabric                           topo.Cable
		ratio                            float64
		up                               int
	}{{8, 2, 4, 1, g400, 2, 4}, {8, 2, 4, 2, g400, 1, 8}, {8, 2, 4, 2, g100, 4, 8}, {2, 2, 4, 1, g400, 1, 4},
		{8, 1, 2, 1, g400, 1, 0}} {
		g, err := topo.Build("rail", topo.Params{Server: topo.Server{GPUs: 4, NICs: 4, Ports: 1},
			Hosts:    c.hosts,
			Segments: c.segments, Spines: c.spines, Uplinks: c.uplinks, HostCable: g400, Fabric: c.fabric})
		if err != nil {
			t.Fatal(err)
		}
		s := SiteOf(g, gpu(t, "h100"), 16, 3600*unit.Gbps)
		if s.NIC != 400*unit.Gbps || s.Segment != c.hosts || s.Down != c.hosts || s.Uplinks != c.up ||
			s.PerServer != 4 || s.Ports != 1 || s.check() != nil {
			t.Errorf("%+v: %+v", c, s)
		}
		near(t, "oversubscription", s.Ratio, c.ratio)
	}
}

// A model of twice the depth computes twice as long, and so does a step of twice the batch, because computation is
// linear in both.
func TestComputeIsLinear(t *testing.T) {
	small := *builtin(t, "llama-3.1-8b")
	text, err := os.ReadFile("../model/data/llama-3.1-8b.json")
	if err != nil {
		t.Fatal(err)
	}
	twice, err := model.Parse("deep", bytes.Replace(text, []byte(`"num_hidden_layers":32`), []byte(`"num_hidden_layers":64`), 1))
	if err != nil || twice.Layers != 2*small.Layers {
		t.Fatalf("%v: %s", err, text)
	}
	deep := *twice
	rapid.Check(t, func(rt *rapid.T) {
		mb := rapid.IntRange(1, 64).Draw(rt, "microbatches")
		tp := 1 << rapid.IntRange(0, 3).Draw(rt, "tp")
		l := partition.Layout{TP: tp, PP: 1, DP: 1, CP: 1, EP: 1, VPP: 1, Schedule: partition.OneFOneB,
			Recompute: partition.RecomputeSelective, Micro: 1, Microbatches: mb, Seq: 2048}
		step := func(m model.Config, mb int) Candidate {
			l.Microbatches = mb
			m.Vocab = 1 // the head is no layer
			return searching(&m, site(t, 8), 0, 2048, 50).Estimate(l)
		}
		one, twice, more := step(small, mb), step(deep, mb), step(small, 2*mb)
		if r := twice.Compute / one.Compute; math.Abs(r-2) > 1e-3 {
			rt.Errorf("twice as deep computes %.6f times as long", r)
		}
		near(rt, "twice the batch", more.Compute, 2*one.Compute)
		near(rt, "twice the batch's transfers", more.Tensor, 2*one.Tensor)
		near(rt, "no pipeline, no bubble", one.Bubble, 0)
	})
}
