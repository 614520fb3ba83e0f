package load

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"railyard/internal/study"
)

const switched = `
name: switched
fabric: {kind: rail-only, hosts: 4, host_link: {rate: 100Gbps}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
workload: {traffic: {background: {load: 10, sizes: 64KB, to: all, for: 2ms}}}
`

// Below saturation a network delivers the offered load, latency grows with load, and no rate exceeds a NIC's. The
// number of workers changes nothing.
func TestCurves(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(path, []byte(switched), 0o600); err != nil {
		t.Fatal(err)
	}
	var before []Curve
	for _, workers := range []int{1, 3} {
		curves, err := Curves(context.Background(), &study.Pool{Workers: workers}, path, nil, []string{"ecmp"},
			[]float64{10, 40, 70})
		if err != nil || len(curves) != 1 || len(curves[0].Points) != 3 {
			t.Fatalf("%+v, %v", curves, err)
		}
		c := curves[0]
		for i, p := range c.Points {
			if p.Delivered > 1 || p.Delivered < 0.8*p.Offered || p.Saturated || i > 0 && p.Mean <= c.Points[i-1].Mean {
				t.Errorf("%+v", p)
			}
			if before != nil && p != before[0].Points[i] {
				t.Errorf("%d workers: %+v, one: %+v", workers, p, before[0].Points[i])
			}
		}
		before = curves
	}
}
