package explain

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"railyard/internal/exec"
	"railyard/internal/result"
	"railyard/internal/topo"
	"railyard/internal/workload"
	"railyard/unit"
)

// classes are those of operations, computations first.
var classes = []workload.Class{workload.Forward, workload.Backward, workload.Optimizer,
	workload.TensorParallel, workload.PipelineParallel, workload.DataParallel, workload.ContextParallel,
	workload.ExpertParallel, workload.Other}

// observed is an execution of operations of a few ranks. Each operation follows an earlier one or none, and some
// may not have ended.
func observed(t *rapid.T, unfinished bool) *reading {
	d := &workload.DAG{}
	x := &exec.Execution{DAG: d}
	end := map[int32]unit.Time{} // of each rank's last computation
	for i := range int32(rapid.IntRange(1, 25).Draw(t, "operations")) {
		rank := rapid.Int32Range(0, 2).Draw(t, "rank")
		peer := rapid.Int32Range(-1, 2).Draw(t, "peer")
		o := workload.Op{Rank: rank, Peer: peer, Coll: -1}
		if o.Compute() {
			o.Class = rapid.SampledFrom(classes[:3]).Draw(t, "computation")
		} else {
			o.Class = rapid.SampledFrom(classes[3:]).Draw(t, "transfer")
		}
		after, from := int32(-1), end[rank]
		if i > 0 && rapid.IntRange(0, 3).Draw(t, "waits") > 0 {
			after = rapid.Int32Range(0, i-1).Draw(t, "for")
			if e := x.End[after]; e == unit.Never {
				after = -1
			} else {
				from = max(from, e)
			}
		}
		to := from + unit.Time(rapid.Int64Range(0, 1000).Draw(t, "takes"))
		if unfinished && rapid.IntRange(0, 9).Draw(t, "under way") == 0 {
			to = unit.Never
		} else if o.Compute() {
			end[rank] = to
		}
		d.Ops = append(d.Ops, o)
		x.Start, x.End, x.Cause = append(x.Start, from), append(x.End, to), append(x.Cause, after)
	}
	cable := topo.Cable{Rate: unit.Gbps, LengthMM: 1000}
	g, err := topo.Build("rail", topo.Params{Server: topo.Server{GPUs: 3, NICs: 3, Ports: 1}, Hosts: 1, Segments: 1,
		Spines: 1, Uplinks: 1, HostCable: cable, Fabric: cable})
	if err != nil {
		t.Fatal(err)
	}
	staged := workload.NewTraining()
	staged.PP = rapid.IntRange(1, 2).Draw(t, "stages")
	x.Work = &workload.Mix{DAG: d, Jobs: []workload.Part{{Job: workload.Job{Training: &staged}}}}
	return &reading{dag: d, exec: x, graph: g, seen: &Observation{At: 30_000}}
}

// For any execution, the parts of a step add up to its time, no part is negative, and the exposed time is the sum
// of its classes. The step of an unfinished execution lasts until now.
func TestStepAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := observed(t, rapid.Bool().Draw(t, "goes on"))
		last, done := r.lastOf(r.all())
		s := r.timeline(r.all(), 0)
		if last < 0 {
			if !reflect.DeepEqual(s, result.Step{StepTime: int64(r.seen.At)}) {
				t.Fatalf("nothing ended: %+v", s)
			}
			return
		}
		want := int64(r.seen.At)
		if done {
			want = int64(r.exec.End[last])
		}
		comm := s.ExposedTP + s.ExposedPP + s.ExposedDP + s.ExposedCP + s.ExposedEP + s.ExposedOther
		if s.StepTime != want || s.ExposedComm != comm || s.Compute+s.Bubble+s.Waiting+comm != want {
			t.Fatalf("%+v: parts %d of %d", s, s.Compute+s.Bubble+s.Waiting+comm, want)
		}
		if min(s.Compute, s.Bubble, s.ExposedTP, s.ExposedPP, s.ExposedDP, s.ExposedCP, s.ExposedEP,
			s.ExposedOther, s.Waiting) < 0 {
			t.Fatalf("a part below nothing: %+v", s)
		}
		named := int64(0)
		for _, w := range s.WaitedFor {
			named += w.Time
		}
		if named > s.Waiting || r.staged(last) != (s.Waiting == 0) && s.Bubble+s.Waiting > 0 {
			t.Fatalf("a wait of %d for ranks, of %+v", named, s)
		}
	})
}
