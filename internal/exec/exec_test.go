package exec

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"railyard/internal/coll"
	"railyard/internal/workload"
	"railyard/unit"
)

const (
	us   = unit.Microsecond
	rate = 400 * unit.Gbps
	lat  = 5 * us
)

// machine is servers of two GPUs on two rails.
func machine(servers int) Machine {
	m := Machine{NVLink: NVLink{Rate: 3600 * unit.Gbps, Latency: us}}
	for i := range 2 * servers {
		m.Server, m.Rail = append(m.Server, i/2), append(m.Rail, i%2)
	}
	return m
}

// over executes a graph over a wire.
func over(m Machine, d *workload.DAG) (*Execution, *wire) {
	w := &wire{rate: rate, latency: lat, free: map[int]unit.Time{}, cut: map[[2]int]bool{}}
	mix, err := workload.NewMix(len(m.Server), workload.Job{DAG: d})
	if err != nil {
		panic(err)
	}
	w.x = New(w, m, mix)
	return w.x, w
}

func seal(t testing.TB, b *workload.Builder) *workload.DAG {
	d, err := b.Seal()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestRingOverAWire: a ring all-reduce among n GPUs in n servers takes 2(n-1) steps of bytes/n each, with any
// carrier.
func TestRingOverAWire(t *testing.T) {
	for _, n := range []int{2, 4, 8} {
		const bytes = 64 * unit.MB
		var ranks []int
		for i := range n {
			ranks = append(ranks, 2*i)
		}
		ring := workload.CollectiveRun{Kind: coll.AllReduce, Bytes: bytes}
		d, err := workload.RunCollective(2*n, ring, [][]int{ranks})
		if err != nil {
			t.Fatal(err)
		}
		x, w := over(machine(n), d)
		want := unit.Time(2*(n-1)) * (unit.Serialize(bytes/unit.Bytes(n), rate) + lat)
		if end := w.run(); end != want || !x.Done() || x.Left != 0 || x.Computing != 0 || x.Waiting() >= 0 {
			t.Errorf("%d GPUs: ended at %v, not %v; %d left", n, end, want, x.Left)
		}
	}
}

// TestChain: a computation, a transfer inside the server and one between servers follow each other, and the causes
// agree.
func TestChain(t *testing.T) {
	b := workload.NewBuilder(4)
	a := b.Compute(0, 10*us, workload.Forward)
	in := b.Transfer(0, 1, unit.MB, a)
	out := b.Transfer(1, 3, unit.MB, in)
	side := b.Compute(2, 3*us, workload.Forward)
	last := b.Compute(3, us, workload.Forward, out, side)
	m := machine(2)
	x, w := over(m, seal(t, b))
	end := w.run()
	inside := us + unit.Serialize(unit.MB, m.NVLink.Rate)
	across := lat + unit.Serialize(unit.MB, rate)
	if want := 10*us + inside + across + us; end != want {
		t.Errorf("ended at %v, not %v", end, want)
	}
	for op, cause := range map[int32]int32{a: -1, in: a, out: in, side: -1, last: out} {
		if x.Cause[op] != cause {
			t.Errorf("operation %d was set free by %d, not %d", op, x.Cause[op], cause)
		}
		if cause >= 0 && x.Start[op] != x.End[cause] {
			t.Errorf("operation %d started at %v, its cause ended at %v", op, x.Start[op], x.End[cause])
		}
	}
	if x.NetBytes != unit.MB || x.NVBytes != unit.MB {
		t.Errorf("%v over the network, %v over NVLink", x.NetBytes, x.NVBytes)
	}
}

// TestCopies: a rank copies the bytes of one transfer after another, whenever they are ready. The last bytes are
// sent at once, over NVLink, the network and a relay. A path slower than copying starts with the copy.
func TestCopies(t *testing.T) {
	m := machine(2)
	m.NVLink.PXN, m.NICs = true, []unit.Rate{rate, rate, rate, rate}
	nvlink, network := unit.Serialize(unit.MB, m.NVLink.Rate), unit.Serialize(unit.MB, rate)
	for _, c := range []struct {
		to            int
		takes, behind unit.Time // a copy, and delivery after its end
	}{
		{1, 50 * us, us}, {2, 50 * us, lat}, {3, 50 * us, us + network + lat},
		{1, us, us + nvlink - us}, {2, us, lat + network - us},
	} {
		b := workload.NewBuilder(4)
		first := b.Transfer(0, c.to, unit.MB, b.Copy(0, c.takes))
		second := b.Transfer(0, c.to, unit.MB, b.Copy(0, c.takes))
		other := b.Transfer(1, 0, unit.MB, b.Copy(1, c.takes))
		x, w := over(m, seal(t, b))
		w.run()
		if got, want := x.End[first], c.takes+c.behind; got != want {
			t.Errorf("%+v: %v, want %v", c, got, want)
		}
		if got, want := x.End[second], max(2*c.takes+c.behind, x.End[first]+min(nvlink, network)); got < want {
			t.Errorf("%+v: the second %v, at least %v", c, got, want)
		}
		if got, want := x.End[other], us+max(c.takes, nvlink); got != want {
			t.Errorf("%+v: of another rank %v, want %v", c, got, want)
		}
	}
}

// TestRelays: a transfer to another rail goes over NVLink to the NIC of that rail if PXN is on, or if the network
// does not connect the rails.
func TestRelays(t *testing.T) {
	for _, c := range []struct {
		name     string
		pxn, cut bool
		sent     [2]int
	}{
		{"over the network", false, false, [2]int{0, 3}},
		{"PXN", true, false, [2]int{1, 3}},
		{"no path", false, true, [2]int{1, 3}},
	} {
		b := workload.NewBuilder(4)
		b.Transfer(0, 3, unit.MB)
		m := machine(2)
		m.NVLink.PXN = c.pxn
		x, w := over(m, seal(t, b))
		w.cut[[2]int{0, 3}] = c.cut
		want := lat + unit.Serialize(unit.MB, rate)
		if c.sent[0] == 1 {
			want += us + unit.Serialize(unit.MB, m.NVLink.Rate)
		}
		if end := w.run(); end != want || len(w.sent) != 1 || w.sent[0] != c.sent || !x.Done() {
			t.Errorf("%s: sent %v until %v, not %v until %v", c.name, w.sent, end, c.sent, want)
		}
	}
}

// TestUnreachable: a GPU is found before the start if the network connects it neither with another GPU nor with
// that GPU's rail through its own server.
func TestUnreachable(t *testing.T) {
	b := workload.NewBuilder(6)
	b.Transfer(0, 1, unit.MB)
	b.Transfer(0, 3, unit.MB)
	b.Transfer(2, 5, unit.MB)
	x, w := over(machine(3), seal(t, b))
	w.cut[[2]int{0, 3}] = true // GPU 1 is on its rail
	if from, to, cut := x.Unreachable(); cut {
		t.Errorf("%d cannot reach %d", from, to)
	}
	w.cut[[2]int{2, 5}], w.cut[[2]int{3, 5}] = true, true
	if from, to, cut := x.Unreachable(); !cut || from != 2 || to != 5 {
		t.Errorf("%d and %d are cut off: %v", from, to, cut)
	}
}

// TestPipes: a GPU's NVLink pipe serves one transfer after another, in and out.
func TestPipes(t *testing.T) {
	b := workload.NewBuilder(2)
	for range 3 {
		b.Transfer(0, 1, unit.MB)
	}
	b.Transfer(1, 0, unit.MB)
	m := machine(1)
	x, w := over(m, seal(t, b))
	ser := unit.Serialize(unit.MB, m.NVLink.Rate)
	if end := w.run(); end != us+3*ser {
		t.Errorf("three one way took %v, not %v", end, us+3*ser)
	}
	if x.End[3] != us+ser {
		t.Errorf("one the other way took %v, not %v", x.End[3], us+ser)
	}
}

// TestStuck: a network that loses a transfer leaves it and all its dependents waiting.
func TestStuck(t *testing.T) {
	b := workload.NewBuilder(4)
	first := b.Compute(0, us, workload.Forward)
	lost := b.Transfer(0, 2, unit.MB, first)
	b.Compute(2, us, workload.Forward, lost)
	x, _ := over(machine(2), seal(t, b))
	c := &deaf{wire{x: x, free: map[int]unit.Time{}}}
	x.carrier = c
	c.run()
	if x.Waiting() != lost || x.Left != 2 || x.Done() {
		t.Errorf("waits for %d, %d left", x.Waiting(), x.Left)
	}
}

// deaf accepts bytes and delivers none.
type deaf struct{ wire }

func (d *deaf) Send(int32, int, int, unit.Bytes) {}

// TestOrderOfExecution: for any graph, each operation starts when its last dependency has ended, and its cause is
// one that ended then.
func TestOrderOfExecution(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := machine(rapid.IntRange(1, 3).Draw(rt, "servers"))
		b := workload.NewBuilder(len(m.Server))
		var after [][]int32
		for i := range rapid.IntRange(1, 40).Draw(rt, "operations") {
			var deps []int32
			for d := range i {
				if rapid.IntRange(0, 9).Draw(rt, fmt.Sprint("dep", d)) == 0 {
					deps = append(deps, int32(d))
				}
			}
			from := rapid.IntRange(0, len(m.Server)-1).Draw(rt, "from")
			to := rapid.IntRange(0, len(m.Server)-1).Draw(rt, "to")
			if from == to {
				b.Compute(from, unit.Time(rapid.IntRange(0, 20).Draw(rt, "us"))*us, workload.Forward, deps...)
			} else {
				b.Transfer(from, to, unit.Bytes(rapid.IntRange(1, 1<<20).Draw(rt, "bytes")), deps...)
			}
			after = append(after, deps)
		}
		d, err := b.Seal()
		if err != nil {
			rt.Fatal(err)
		}
		x, w := over(m, d)
		end := w.run()
		last := unit.Time(0)
		for i, deps := range after {
			free := unit.Time(0)
			for _, p := range deps {
				free = max(free, x.End[p])
			}
			if last = max(last, x.End[i]); x.Start[i] != free || x.End[i] < x.Start[i] {
				rt.Fatalf("operation %d ran from %v to %v, free at %v", i, x.Start[i], x.End[i], free)
			}
			if c := x.Cause[i]; (c >= 0) != (len(deps) > 0) || c >= 0 && x.End[c] != free {
				rt.Fatalf("operation %d: set free by %d", i, c)
			}
		}
		if !x.Done() || last != end {
			rt.Fatalf("%d left, ended at %v and %v", x.Left, last, end)
		}
	})
}
