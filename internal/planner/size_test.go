package planner

import (
	"math"
	"testing"

	"railyard/internal/model"
)

// Precisions of plan score are sized by the peak of their arithmetic.
func TestMixOfRecipes(t *testing.T) {
	gpu, err := model.FindGPU("b200")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"bf16": gpu.BF16, "mxfp8": gpu.FP8, "fp8-block": gpu.FP8, "nvfp4": gpu.FP4} {
		mix, err := ParseMix(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := MixPeak(gpu, mix); err != nil || math.Abs(got/want-1) > 1e-12 {
			t.Errorf("%s: %g, %v; expected %g", name, got, err, want)
		}
	}
}
