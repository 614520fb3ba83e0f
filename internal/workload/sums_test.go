package workload

import (
	"errors"
	"maps"
	"testing"

	"railyard/internal/field"
	"railyard/internal/partition"
	"railyard/unit"

	"pgregory.net/rapid"
)

// bytesOf sums a graph's transfers.
func bytesOf(ops []Op) map[pair]unit.Bytes {
	all := map[pair]unit.Bytes{}
	for i := range ops {
		if o := &ops[i]; !o.Compute() && o.Bytes > 0 {
			all[pair{o.Rank, o.Peer, o.Class}] += o.Bytes
		}
	}
	return all
}

// TestSums draws layouts, schedules, steps, batches and checkpoints. The sums from few microbatches of one step
// equal the sum of all operations.
func TestSums(t *testing.T) {
	base := pipeline(t, partition.OneFOneB, 4, 8, 1)
	rapid.Check(t, func(rt *rapid.T) {
		tr := *base
		tr.PP = rapid.SampledFrom([]int{1, 2, 4}).Draw(rt, "pp")
		tr.TP = rapid.SampledFrom([]int{1, 2}).Draw(rt, "tp")
		tr.DP = rapid.SampledFrom([]int{1, 2, 3}).Draw(rt, "dp")
		tr.CP = rapid.SampledFrom([]int{1, 2}).Draw(rt, "cp")
		tr.Microbatches = rapid.IntRange(tr.PP, 12).Draw(rt, "m")
		tr.Steps = rapid.IntRange(1, 4).Draw(rt, "steps")
		tr.PerServer = 2
		tr.Schedule = rapid.SampledFrom([]string{partition.GPipe, partition.OneFOneB, partition.Interleaved,
			partition.ZeroBubble, partition.TwoVersions}).Draw(rt, "schedule")
		tr.ZeRO = rapid.SampledFrom([]int{0, 1, 2, 3}).Draw(rt, "zero")
		tr.Overlap = rapid.Bool().Draw(rt, "overlap")
		tr.GatherAhead = rapid.Bool().Draw(rt, "gather ahead") && (tr.ZeRO == 1 || tr.ZeRO == 2)
		tr.ScatterGather = rapid.Bool().Draw(rt, "scatter and gather")
		tr.Sequence = rapid.Bool().Draw(rt, "sequence") && tr.TP > 1
		tr.Bucket = rapid.SampledFrom([]unit.Bytes{unit.GB, 37 * unit.MB}).Draw(rt, "bucket")
		tr.Channels = rapid.SampledFrom([]int{1, 3}).Draw(rt, "channels")
		tr.Prefetch = rapid.IntRange(0, 2).Draw(rt, "prefetch")
		if tr.Schedule == partition.Interleaved {
			tr.VPP = rapid.IntRange(1, 3).Draw(rt, "vpp")
			tr.Microbatches *= tr.PP
		}
		if rapid.Bool().Draw(rt, "storage") && tr.Schedule != partition.TwoVersions {
			tr.Storage = &Storage{First: tr.Ranks(), Servers: 3, Request: rapid.SampledFrom([]unit.Bytes{unit.GB,
				256 * unit.MB}).Draw(rt, "request"), Command: 64, Depth: 2, Media: true}
			if rapid.Bool().Draw(rt, "data") {
				tr.Data = &Data{Sample: 100 * unit.MB, Prefetch: rapid.IntRange(0, 2).Draw(rt, "ahead")}
			}
			if rapid.Bool().Draw(rt, "checkpoint") {
				tr.Checkpoint = &Checkpoint{Every: rapid.IntRange(1, tr.Steps).Draw(rt, "every"), Mode: Blocking,
					By: rapid.SampledFrom([]string{ByAll, ByOneOfThem}).Draw(rt, "by"), Bytes: 14}
			}
		}
		if tr.Validate() != nil {
			rt.Skip()
		}
		d, err := tr.Sums()
		if err != nil {
			rt.Fatal(err)
		}
		all, err := tr.added()
		if err != nil {
			rt.Fatal(err)
		}
		if got, want := bytesOf(d.Ops), bytesOf(all.ops); !maps.Equal(got, want) {
			rt.Fatalf("sums %v, all operations %v", got, want)
		}
	})
}

// TestSumsOfManyMicrobatches sums a step that would take hours microbatch by microbatch.
func TestSumsOfManyMicrobatches(t *testing.T) {
	tr := pipeline(t, partition.OneFOneB, 4, 1<<20, 1)
	tr.DP, tr.PerServer = 2, 1
	tr.Storage = &Storage{First: 8, Servers: 3, Request: unit.MB, Command: 64, Depth: 1}
	tr.Data = &Data{Sample: unit.MB}
	few := *tr
	few.Microbatches = 1 << 10
	sum := func(tr *Training) map[pair]unit.Bytes {
		d, err := tr.Sums()
		if err != nil {
			t.Fatal(err)
		}
		return bytesOf(d.Ops)
	}
	some, many := sum(&few), sum(tr)
	for key, b := range some {
		got, want := float64(many[key]), float64(b)*(1<<10)
		if key.class == PipelineParallel && got != want || key.class == DataParallel && many[key] != b ||
			key.class == DataLoading && (got < 0.99*want || got > 1.01*want) {
			t.Errorf("%v: %v of 2^10 microbatches, %v of 2^20", key, b, many[key])
		}
	}
	tr.Micro, tr.Steps = 1<<20, 1000
	var fault *field.Error
	if _, err := tr.Sums(); !errors.As(err, &fault) || fault.Path != "global_batch" {
		t.Errorf("more bytes than 64 bits count: %v", err)
	}
}

// TestShareOfRequests compares the shares of servers with individual requests: equal numbers of commands, and all
// bytes.
func TestShareOfRequests(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := Storage{First: 1, Servers: rapid.IntRange(1, 7).Draw(rt, "servers"), Stripe: rapid.IntRange(0, 8).Draw(rt, "stripe"),
			Request: 1000, Command: 64, Depth: 4, Media: true}
		bytes := unit.Bytes(rapid.IntRange(1, 100_000).Draw(rt, "bytes"))
		var shared, each unit.Bytes
		served, asked := map[int]int{}, map[int]int{}
		s.share(0, s.requests(bytes), bytes, func(end, times int, size unit.Bytes, _ []int32) int32 {
			served[end] += times
			shared += size
			return 0
		})
		s.access(NewBuilder(1), 0, bytes, nil, func(end, times int, size unit.Bytes, _ []int32) int32 {
			asked[end] += times
			each += size
			return 0
		})
		maps.DeleteFunc(served, func(_, n int) bool { return n == 0 })
		if !maps.Equal(served, asked) || shared != bytes || each != bytes {
			rt.Fatalf("%v of %v: %v and %v of %v", served, asked, shared, each, bytes)
		}
	})
}
