package exec

import (
	"fmt"
	"slices"
	"testing"

	"railyard/internal/story"
	"railyard/internal/workload"
	"railyard/unit"
)

// told is a carrier that records its transfers.
type told struct {
	wire
	sends []line
}

type line struct {
	at   unit.Time
	text string
}

func (w *told) Send(op int32, from, to int, b unit.Bytes) {
	w.sends = append(w.sends, line{w.now, fmt.Sprintf("the NIC of GPU %d takes %v for GPU %d", from, b, to)})
	w.wire.Send(op, from, to, b)
}

// lines returns the transfers sent, and each operation's start and end with its cause.
func (w *told) lines(names []string) []line {
	x := w.x
	all := w.sends
	for i := range x.DAG.Ops {
		why := ""
		if c := x.Cause[i]; c >= 0 {
			why = ", set free by " + names[c]
		}
		all = append(all, line{x.Start[i], names[i] + " starts" + why}, line{x.End[i], names[i] + " ends"})
	}
	slices.SortStableFunc(all, func(a, b line) int { return int(a.at - b.at) })
	return all
}

// TestStoryOfTwoJobs writes testdata/two-jobs.txt.
func TestStoryOfTwoJobs(t *testing.T) {
	p := story.Open(`Two jobs side by side: an operation starts when the last one that it waits for has ended.
		Three servers have two GPUs each. Job train computes on GPU 0, sends 5 MB to GPU 3, on another rail,
		and computes there; with PXN (NCCL 2.12) the bytes change rails over NVLink, 450 GB/s, and leave by
		the NIC of GPU 1. Job side starts at 20 us on GPUs 4 and 5 of one server. The carrier is a rate,
		400 Gbps, and a latency, 5 us.`)
	b := workload.NewBuilder(2)
	forward := b.Compute(0, 10*us, workload.Forward)
	moved := b.Transfer(0, 1, 5*unit.MB, forward)
	weights := b.Compute(1, 60*us, workload.Forward)
	b.Compute(1, 30*us, workload.Backward, moved, weights)
	train := workload.Job{Name: "train", DAG: seal(t, b), Place: []int{0, 3}}
	b = workload.NewBuilder(2)
	b.Compute(1, 2*us, workload.Other, b.Transfer(0, 1, 5*unit.MB))
	side := workload.Job{Name: "side", DAG: seal(t, b), Place: []int{4, 5}, Start: 20 * us}

	m := machine(3)
	m.NVLink.PXN = true
	mix, err := workload.NewMix(len(m.Server), train, side)
	if err != nil {
		t.Fatal(err)
	}
	w := &told{wire: wire{rate: rate, latency: lat, free: map[int]unit.Time{}}}
	w.x = New(w, m, mix)
	w.run()
	for _, l := range w.lines([]string{"train: forward on GPU 0", "train: transfer from GPU 0 to GPU 3",
		"train: forward on GPU 3", "train: backward on GPU 3", "side: transfer from GPU 4 to GPU 5",
		"side: computing on GPU 5"}) {
		p.Tell(l.at, "%s", l.text)
	}
	p.Check(t, "two-jobs")
}
