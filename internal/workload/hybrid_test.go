package workload

import (
	"math"
	"testing"
)

// A hybrid's layer has one part, so each layer gathers and scatters its tokens once: the bytes of half as many
// layers with both parts.
func TestHybridVolume(t *testing.T) {
	hybrid := training(t, "nemotron-3-nano", 2, 1, 1)
	b, err := hybrid.Build()
	if err != nil {
		t.Fatal(err)
	}
	// forward and backward all-reduces of two ranks, which send as many bytes as they reduce
	once := float64(hybrid.Model.Layers) * 4 * float64(hybrid.activations()) * float64(hybrid.Microbatches)
	if got := volume(b, TensorParallel); math.Abs(got/once-1) > 0.05 {
		t.Errorf("%.3g bytes, want %.3g", got, once)
	}
	if got := hybrid.TensorBytes(); math.Abs(got/(4*float64(hybrid.activations())/2)-1) > 1e-6 {
		t.Errorf("a rank sends %.4g bytes for a layer", got)
	}
}
