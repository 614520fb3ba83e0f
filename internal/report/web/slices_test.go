package web

import (
	"slices"
	"testing"

	"railyard/internal/result"
)

// TestSentSlices checks that tracks show when messages are under way: one that was posted early begins when its queue
// pair's previous one ends, and nothing lies in between.
func TestSentSlices(t *testing.T) {
	r := made(10_000, map[string]any{"flows": []result.FlowRow{
		{Message: 0, QP: 4, From: "host-1/gpu-1", Posted: 0, Done: 3000},
		{Message: 1, QP: 4, From: "host-1/gpu-1", Posted: 1000, Done: 5000},
		{Message: 2, QP: 4, From: "host-1/gpu-1", Posted: 7000, Done: 9000},
		{Message: 3, QP: 5, From: "host-2/gpu-1", Posted: 0, Done: 9000}}})
	r.Topology = result.Topology{GPUs: 1, Nodes: []result.TopologyNode{{Name: "host-1", Role: "host"},
		{Name: "host-2", Role: "host"}}}
	got, err := r.sentSlices(0, 10_000, 10, []int32{0})
	want := [][3]int64{{0, 0, 3000}, {0, 3000, 5000}, {0, 7000, 9000}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, expected %v", got, err, want)
	}
}

// TestPageOf checks that tracks are listed by number, or the ranks that end last first, in pages.
func TestPageOf(t *testing.T) {
	rows := []result.RankRow{{Rank: 0, End: 5}, {Rank: 1, End: 9}, {Rank: 2, End: 7}, {Rank: 2, End: 9},
		{Rank: 0, End: 3}}
	for _, c := range []struct {
		first, n int32
		byEnd    bool
		want     []int32
	}{{0, 2, false, []int32{0, 1}}, {0, 2, true, []int32{1, 2}}, {2, 2, true, []int32{0}}, {9, 2, true, nil}} {
		if got := pageOf(rows, 3, c.first, c.n, c.byEnd); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if got := pageOf(nil, 0, 0, 64, true); len(got) != 0 {
		t.Errorf("without ranks: %v", got)
	}
}
