package allreduce

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// someRing draws a ring's parameters of its buffer.
func someRing(t *rapid.T) []*ring {
	world := rapid.IntRange(2, 9).Draw(t, "world")
	bytes := 4 * rapid.IntRange(1, 2000).Draw(t, "elements")
	var all []*ring
	chunk := (bytes + world - 1) / world
	chunk += (4 - chunk%4) % 4
	slice := 4 * rapid.IntRange(1, 300).Draw(t, "slice")
	for rank := range world {
		all = append(all, &ring{rank: rank, world: world, bytes: bytes, chunk: chunk,
			slice: min(slice, chunk)})
	}
	return all
}

// Slices of chunks cover the buffer, each byte once, in whole elements, however short the last ones are.
func TestSpansAreTheBuffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := someRing(t)[0]
		next := 0
		for c := range r.world {
			for s := range r.slices() {
				from, to := r.span(c, s)
				if from > to || to-from > r.slice || (to-from)%4 != 0 {
					t.Fatalf("slice %d of chunk %d is %d to %d", s, c, from, to)
				}
				if from == to {
					continue // after the end of the buffer
				}
				if from != next {
					t.Fatalf("slice %d of chunk %d begins at %d, the one before ended at %d", s,
						c, from, next)
				}
				next = to
			}
		}
		if next != r.bytes {
			t.Fatalf("the last slice ends at %d of %d", next, r.bytes)
		}
	})
}

// The schedule runs with real elements: a rank forwards what it has just received. When all steps are done every
// rank has the reduction, for every type and operation, bit for bit as check computes it.
func TestScheduleReduces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(Types()).Draw(t, "type")
		op := rapid.SampledFrom([]Op{Sum, Prod, Max, Min}).Draw(t, "operation")
		k := kinds[name]
		world := rapid.IntRange(2, 9).Draw(t, "world")
		per := k.size() * rapid.IntRange(1, 40).Draw(t, "elements of a chunk")
		first := rapid.Int64Range(0, 1<<40).Draw(t, "first element")
		rings, data := make([]*ring, world), make([][]byte, world)
		for i := range rings {
			rings[i] = &ring{rank: i, world: world, bytes: per * world, chunk: per, slice: per}
			data[i] = make([]byte, per*world+8)[: per*world : per*world]
			k.fill(data[i], i, first, op)
		}
		for step := range rings[0].steps() {
			sent := make([][]byte, world)
			for i, r := range rings {
				if step > 0 && r.chunkSent(step) != r.chunkReceived(step-1) {
					t.Fatalf("rank %d sends chunk %d, it has just got %d", i, r.chunkSent(step),
						r.chunkReceived(step-1))
				}
				from, to := r.span(r.chunkSent(step), 0)
				sent[i] = slices.Clone(data[i][from:to])
			}
			for i, r := range rings {
				from, to := r.span(r.chunkReceived(step), 0)
				got := sent[r.mod(i-1)]
				if step < world-1 {
					k.reduce(data[i][from:to], got, slices.Clone(data[i][from:to]), op)
				} else {
					copy(data[i][from:to], got)
				}
			}
		}
		for i := range data {
			if n := k.wrong(data[i], world, first, op); n != 0 {
				t.Fatalf("%s %s of %d: rank %d has %d wrong elements", op, name, world, i, n)
			}
		}
		// One wrong element counts as one.
		at := rapid.IntRange(0, per*world/k.size()-1).Draw(t, "off")
		data[0][at*k.size()+k.size()-1] ^= 0x01
		if n := k.wrong(data[0], world, first, op); n != 1 {
			t.Fatalf("%s %s: one element is off and %d are counted", op, name, n)
		}
	})
}

// Sums and products are exact in every type for any order of ranks: float32 represents integers up to 2^24, and no
// element of a thousand ranks is near that.
func TestContributionsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.Int64Range(0, 1<<50).Draw(t, "element")
		sum, prod := int64(0), int64(1)
		for r := range MaxRanks {
			v := value(r, i, Sum)
			if v < 0 || v > 10 {
				t.Fatalf("rank %d adds %d", r, v)
			}
			sum += v
			prod *= value(r, i, Prod)
		}
		if sum > 1<<24 || prod < 1 || prod > 16 {
			t.Fatalf("element %d: sum %d, product %d", i, sum, prod)
		}
	})
}

// The check finds a wrong element.
func TestCheckFindsErrors(t *testing.T) {
	k := kinds["float32"]
	got := make([]byte, 400)
	for r := range 3 {
		own := make([]byte, 400)
		k.fill(own, r, 0, Sum)
		k.reduce(got, got, own, Sum)
	}
	if n := k.wrong(got, 3, 0, Sum); n != 0 {
		t.Errorf("%d wrong in a right result", n)
	}
	got[7] ^= 1
	got[400-1] ^= 64
	if n := k.wrong(got, 3, 0, Sum); n != 2 {
		t.Errorf("%d wrong of 2", n)
	}
}

// Max and min with a NaN are NaN, as in IEEE 754-2019 and Go: one rank's NaN reaches the result.
func TestNaNGoesThrough(t *testing.T) {
	k := kinds["float64"]
	a, b, out := make([]byte, 16), make([]byte, 16), make([]byte, 16)
	cast[float64](a)[0], cast[float64](b)[1] = math.NaN(), math.NaN()
	for _, op := range []Op{Sum, Prod, Max, Min} {
		k.reduce(out, a, b, op)
		if v := cast[float64](out); !math.IsNaN(v[0]) || !math.IsNaN(v[1]) {
			t.Errorf("%s of NaN: %v", op, v)
		}
	}
}

// A specification that cannot run is refused by the name of what is wrong.
func TestSpecsThatCannotRun(t *testing.T) {
	good := func() *Spec {
		return &Spec{World: 4, Rank: 1, Type: "float32", Op: Sum, Iters: 1, QPs: 1,
			Sizes: []int64{4, 1 << 20}}
	}
	if err := good().Validate(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(s *Spec){
		"is out of range 1–1024":                     func(s *Spec) { s.World = 1025 },
		"is out of range 0–3":                        func(s *Spec) { s.Rank = 4 },
		`dtype: "float16" is not a type of elements`: func(s *Spec) { s.Type = "float16" },
		"iters: 0 is out of range 1–1000000":         func(s *Spec) { s.Iters = 0 },
		"warmup: -1 is out of range 0–1000000":       func(s *Spec) { s.Warmup = -1 },
		"qps: 65 is out of range 1–64":               func(s *Spec) { s.QPs = 65 },
		"is out of range 100ms–1h":                   func(s *Spec) { s.Patience = time.Millisecond },
		"1 to 100 sizes, found 0":                    func(s *Spec) { s.Sizes = nil },
		"whole elements of 4 bytes":                  func(s *Spec) { s.Sizes = []int64{6} },
		"3 is out of range":                          func(s *Spec) { s.Sizes = []int64{4, 3} },
		"is out of range 4–4294967296":               func(s *Spec) { s.Sizes = []int64{1 << 33} },
	} {
		s := good()
		change(s)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, op := range []string{"sum", "prod", "max", "min"} {
		if got, err := ParseOp(op); err != nil || string(got) != op {
			t.Errorf("%s: %v, %v", op, got, err)
		}
	}
	if _, err := ParseOp("avg"); err == nil ||
		!strings.Contains(err.Error(), "accepted: sum, prod, max, min") {
		t.Error(err)
	}
}

// A rank that does not belong to a job is told why.
func TestWhoMayJoin(t *testing.T) {
	own := &hello{Speak: 1, World: 3, Job: "all-reduce of 4 bytes"}
	have := make([]*hello, 3)
	have[0], have[2] = own, &hello{Rank: 2}
	for want, change := range map[string]func(h *hello){
		"":                                       func(*hello) {},
		"speaks version 2":                       func(h *hello) { h.Speak = 2 },
		"the world has 3 ranks, rank 1 thinks 4": func(h *hello) { h.World = 4 },
		"rank 3 is out of range 0–2":             func(h *hello) { h.Rank = 3 },
		"rank 0 is out of range":                 func(h *hello) { h.Rank = 0 },
		"rank 2 is there already":                func(h *hello) { h.Rank = 2 },
		"rank 0 runs all-reduce of 4 bytes, rank 1 runs x": func(h *hello) { h.Job = "x" },
	} {
		h := *own
		h.Rank = 1
		change(&h)
		if got := own.mismatch(&h, have); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
