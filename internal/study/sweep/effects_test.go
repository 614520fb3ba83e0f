package sweep

import (
	"math"
	"testing"
)

// TestMainEffects checks the shares of crossed settings: a small main effect beside a large one keeps its share, which
// epsilon squared loses, and noise of the seeds explains nothing.
func TestMainEffects(t *testing.T) {
	lb := []string{"ecmp", "ecmp", "ecmp", "spray", "spray", "spray"}
	cc := []string{"dcqcn", "swift", "none", "dcqcn", "swift", "none"}
	y := [][]float64{{100}, {115}, {94}, {40}, {41}, {39}}
	shares, together, ok := MainEffects([][]string{lb, cc}, y)
	if !ok || shares[0] < 0.9 || shares[1] < 0.02 || together <= 0 {
		t.Errorf("shares %.3f, together %.3f, %v", shares, together, ok)
	}
	if sum := shares[0] + shares[1] + together; math.Abs(sum-1) > 1e-9 {
		t.Errorf("without noise shares sum to %f", sum)
	}
	if Share(cc, []float64{100, 115, 94, 40, 41, 39}) != 0 {
		t.Error("epsilon squared finds it too: MainEffects is not needed")
	}
	for i := range y { // the same for all points, by seed
		y[i] = []float64{y[i][0], y[i][0] + 30, y[i][0] - 30}
	}
	if again, _, _ := MainEffects([][]string{lb, cc}, y); math.Abs(again[1]-shares[1]) > 1e-9 {
		t.Errorf("what seeds have in common changes shares from %.3f to %.3f", shares, again)
	}
	if _, _, ok := MainEffects([][]string{lb[:5], cc[:5]}, y[:5]); ok {
		t.Error("a combination is missing")
	}
}
