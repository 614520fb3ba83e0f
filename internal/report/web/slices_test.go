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
	got, err := r.sentSlices(0, 10_000, 0, 1, 10)
	want := [][3]int64{{0, 0, 3000}, {0, 3000, 5000}, {0, 7000, 9000}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, expected %v", got, err, want)
	}
}
