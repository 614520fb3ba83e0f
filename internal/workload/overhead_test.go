package workload

import (
	"testing"

	"railyard/internal/coll"
	"railyard/unit"

	"pgregory.net/rapid"
)

// finishes returns when each operation ends if transfers take a nanosecond per byte and only follow their
// dependencies.
func finishes(t interface{ Fatal(...any) }, d *DAG) []unit.Time {
	deps, begin, end := make([]int32, len(d.Ops)), make([]unit.Time, len(d.Ops)), make([]unit.Time,
		len(d.Ops))
	var ready []int32
	for i := range d.Ops {
		if deps[i] = d.Ops[i].Deps; deps[i] == 0 {
			ready = append(ready, int32(i))
		}
	}
	done := 0
	for ; len(ready) > 0; done++ {
		i := ready[0]
		ready = ready[1:]
		end[i] = begin[i] + d.Ops[i].Dur + unit.Time(d.Ops[i].Bytes)*unit.Nanosecond
		for _, s := range d.Succ[d.First[i]:d.First[i+1]] {
			begin[s] = max(begin[s], end[i])
			if deps[s]--; deps[s] == 0 {
				ready = append(ready, s)
			}
		}
	}
	if done != len(d.Ops) {
		t.Fatal("operations that never run: ", len(d.Ops)-done)
	}
	return end
}

func latest(all []unit.Time) (t unit.Time) {
	for _, x := range all {
		t = max(t, x)
	}
	return t
}

// A ring of n ranks in servers of p waits once for its launch, and at each of its 2(n-1) steps. The longest chain
// has a step to another server whenever it leaves one.
func TestRingWaitsAtEveryStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		per, servers := rapid.IntRange(1, 4).Draw(t, "per"), rapid.IntRange(1, 4).Draw(t, "servers")
		n := per * servers
		if n < 2 {
			t.Skip("one rank is not a ring")
		}
		us := rapid.Int64Range(0, 50)
		o := Overhead{unit.Time(us.Draw(t, "launch")) * unit.Microsecond,
			unit.Time(us.Draw(t, "local")) * unit.Microsecond, unit.Time(us.Draw(t,
				"remote")) * unit.Microsecond}
		if o.Remote < o.Local {
			o.Remote = o.Local
		}
		protocol := rapid.SampledFrom(append([]string{""}, coll.Protocols...)).Draw(t, "protocol")
		d, err := RunCollective(n, CollectiveRun{Kind: coll.AllReduce, Bytes: unit.Bytes(n) * 1000, Protocol: protocol,
			PerServer: per},
			All(n))
		if err != nil {
			t.Fatal(err)
		}
		local := func(a, b int) bool { return a/per == b/per }
		late, err := d.Delayed(o, local)
		if err != nil {
			t.Fatal(err)
		}
		plain, total := latest(finishes(t, d)), latest(finishes(t, late))
		// Some chain begins where it crosses servers most often: one in per of 2(n-1) consecutive steps of the ring
		// does.
		steps := 2 * (n - 1)
		remote := (steps + per - 1) / per
		if servers == 1 {
			remote = 0
		}
		want := plain + o.Launch + unit.Time(remote)*o.Remote + unit.Time(steps-remote)*o.Local
		if total != want {
			t.Fatalf("%d x %d, %+v: %v, expected %v", servers, per, o, total, want)
		}
		if len(late.Ops) > 2*len(d.Ops) {
			t.Fatalf("%d operations of %d", len(late.Ops), len(d.Ops))
		}
	})
}

// Names stay with their operations; flows and computations are not delayed.
func TestNothingElseWaits(t *testing.T) {
	b := NewBuilder(3)
	var first, second, flow int32
	b.Collective(Collective{Name: "flows", Kind: coll.SendRecv, Ranks: []int{0, 1, 2}}, func() {
		flow = b.Transfer(0, 1, 10)
	})
	c := b.Compute(1, unit.Microsecond, Forward, flow)
	b.Collective(Collective{Name: "sum", Kind: coll.AllReduce, Ranks: []int{0, 1, 2}}, func() {
		first = b.Transfer(1, 2, 10, c)
		second = b.Transfer(2, 0, 10, first)
	})
	b.names = map[int32]string{flow: "flow", c: "c", first: "first", second: "second"}
	d, err := b.Seal()
	if err != nil {
		t.Fatal(err)
	}
	all := func(int, int) bool { return false }
	late, err := d.Delayed(Overhead{Launch: 5 * unit.Microsecond, Remote: unit.Microsecond}, all)
	if err != nil {
		t.Fatal(err)
	}
	end := finishes(t, late)
	got := map[string]unit.Time{}
	for i, name := range late.Names {
		got[name] = end[i]
	}
	ns := func(n int64) unit.Time { return unit.Time(n) * unit.Nanosecond }
	for name, want := range map[string]unit.Time{"flow": ns(10), "c": ns(1010), "first": ns(7020),
		"second": ns(8030)} {
		if got[name] != want {
			t.Errorf("%s ends at %v, expected %v", name, got[name], want)
		}
	}
	if same, err := d.Delayed(Overhead{}, all); err != nil || same != d {
		t.Error("without overhead the graph is another")
	}
}
