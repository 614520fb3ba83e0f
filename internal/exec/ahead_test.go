package exec

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"railyard/internal/workload"
	"railyard/unit"
)

// TestAhead: operations that wait for no network are executed ahead, and the rest afterwards. They end as in one
// execution, for random jobs that share NVLink pipes and begin at different times.
func TestAhead(t *testing.T) {
	divided := 0
	rapid.Check(t, func(t *rapid.T) {
		const servers = 3
		m := machine(servers)
		m.NVLink.PXN = rapid.Bool().Draw(t, "pxn")
		duration := rapid.Int64Range(1, int64(50*us)) // random picoseconds, so that two rarely end at once
		var jobs []workload.Job
		for j, name := range []string{"a", "b"} {
			b := workload.NewBuilder(servers)
			n := rapid.IntRange(5, 40).Draw(t, "operations")
			var ids []int32
			for range n {
				var after []int32
				for range min(len(ids), rapid.IntRange(0, 2).Draw(t, "inputs")) {
					after = append(after, rapid.SampledFrom(ids).Draw(t, "input"))
				}
				from := rapid.IntRange(0, servers-1).Draw(t, "from")
				to, sends := rapid.IntRange(0, servers-1).Draw(t, "to"), rapid.IntRange(0, 4).Draw(t, "kind") == 0
				if sends && to != from {
					if rapid.Bool().Draw(t, "copied") {
						after = []int32{b.Copy(from, unit.Time(duration.Draw(t, "copying")), after...)}
					}
					ids = append(ids, b.Transfer(from, to, unit.Bytes(duration.Draw(t, "bytes"))/100+1, after...))
				} else {
					ids = append(ids, b.Compute(from, unit.Time(duration.Draw(t, "takes")), workload.Forward, after...))
				}
			}
			d, err := b.Seal()
			if err != nil {
				t.Fatal(err)
			}
			// The first two ranks of a job share a server: transfers between them cross NVLink.
			jobs = append(jobs, workload.Job{Name: name, DAG: d, Place: [][]int{{0, 1, 2}, {4, 5, 3}}[j],
				Start: unit.Time(j) * unit.Time(duration.Draw(t, "start"))})
		}
		mix, err := workload.NewMix(len(m.Server), jobs...)
		if err != nil {
			t.Fatal(err)
		}
		over := func(prepare func(Carrier) *Execution) *Execution {
			w := &wire{rate: rate, latency: lat, free: map[int]unit.Time{}, cut: map[[2]int]bool{}}
			w.x = prepare(w)
			w.run()
			return w.x
		}
		run := func(mix *workload.Mix) *Execution {
			return over(func(c Carrier) *Execution { return New(c, m, mix) })
		}
		whole, a := run(mix), NewAhead(m, mix)
		for range 2 { // one execution ahead serves many
			x := over(func(c Carrier) *Execution { return a.Execution(c, m) })
			if !slices.Equal(x.Start, whole.Start) || !slices.Equal(x.End, whole.End) ||
				!slices.Equal(x.Cause, whole.Cause) || x.Left != 0 || x.Computing != 0 || x.NVBytes != whole.NVBytes ||
				x.NetBytes != whole.NetBytes {
				t.Fatalf("after its beginning %+v\nin one %+v", x, whole)
			}
		}
		if a.Rest == mix {
			return
		}
		divided++
		rest := run(a.Rest)
		for i := range int32(len(mix.DAG.Ops)) {
			start, end, cause := a.Start[i], a.End[i], a.Cause[i]
			if k := a.In(i); k >= 0 {
				start, end, cause = rest.Start[k], rest.End[k], rest.Cause[k]
				if cause >= 0 {
					cause = a.Of(cause)
				}
			}
			if start != whole.Start[i] || end != whole.End[i] || cause != whole.Cause[i] {
				t.Fatalf("operation %d (%+v): %v to %v after %d, in one execution %v to %v after %d", i, mix.DAG.Ops[i],
					start, end, cause, whole.Start[i], whole.End[i], whole.Cause[i])
			}
		}
	})
	if divided == 0 {
		t.Error("nothing was executed ahead")
	}
}
