package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"railyard/internal/calibrate/fitting"
)

// The times that calibrate prints as calibrated are those that a run of the scenario it has written takes, of
// sizes too that are larger than the fit simulates.
func TestCalibrateSimulatesWhatItWrites(t *testing.T) {
	dir := t.TempDir()
	plain, out := filepath.Join(dir, "plain.yaml"), filepath.Join(dir, "calibrated.yaml")
	text := filepath.Join(dir, "out.txt")
	sizes := []int{1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 23}
	rows := ncclTests(t, measuredCluster+"calibration: {nic_share: 60, launch: 30us}\n", sizes, 2)
	for path, s := range map[string]string{plain: measuredCluster, text: rows} {
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, stdout, errs := call(t, "calibrate", "--fabric", plain, "--nccl-tests", text, "--largest", "64KiB", "--json",
		"--out", out)
	var r fitting.Report
	if code != 0 || json.Unmarshal([]byte(stdout), &r) != nil || len(r.Points) != len(sizes) {
		t.Fatalf("exit %d: %s%s", code, errs, stdout)
	}
	for file, time := range map[string]func(fitting.Point) float64{
		plain: func(p fitting.Point) float64 { return p.Before },
		out:   func(p fitting.Point) float64 { return p.After }} {
		written, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Points {
			again := filepath.Join(t.TempDir(), "again.yaml")
			if err := os.WriteFile(again, []byte(string(written)+fmt.Sprintf("jobs:\n  - {on: [host-1, host-2], "+
				"traffic: {collective: {bytes: %dB, algorithm: auto, protocol: auto}}}\n", p.Bytes)), 0o600); err != nil {
				t.Fatal(err)
			}
			code, stdout, errs := call(t, "run", again, "--out", filepath.Join(t.TempDir(), "run"), "--json")
			var s struct {
				StepTime int64 `json:"step_time_ps"`
			}
			if code != 0 || json.Unmarshal([]byte(stdout), &s) != nil {
				t.Fatalf("exit %d: %s", code, errs)
			}
			if us := float64(s.StepTime) / 1e6; math.Abs(us-time(p)) > 1e-6*us {
				t.Errorf("%s, %d bytes: calibrate says %v us, a run takes %v", filepath.Base(file), p.Bytes, time(p), us)
			}
		}
	}
	if e := r.Errors["fitted"]; e[1] > e[0]/2 {
		t.Error(r.Errors)
	}
}
