package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/calibrate/fitting"

	"golang.org/x/sys/unix"
)

const measuredCluster = `name: cluster
fabric: {kind: rail, hosts: 2, spines: 1, host_link: {rate: 200Gbps}}
server: {gpu: a100, gpus: 4, nics: 4}
`

// ncclTests prints what a cluster measures as nccl-tests would: all-reduces of the sizes, on the servers.
func ncclTests(t *testing.T, scenario string, sizes []int, servers int) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintln(&b, "# Collective test starting: all_reduce_perf")
	ranks := 4 * servers
	for r := range ranks {
		fmt.Fprintf(&b, "#  Rank %2d Group  0 Pid %d on n%d device %d [0x00] NVIDIA A100\n", r, 100+r,
			r/4, r%4)
	}
	for _, n := range sizes {
		text := scenario + fmt.Sprintf("jobs:\n  - {on: [%s], traffic: {collective: {kind: all-reduce, "+
			"bytes: %dB, "+
			"algorithm: auto, protocol: auto}}}\n", strings.Join([]string{"host-1",
			"host-2"}[:servers], ", "), n)
		file := filepath.Join(t.TempDir(), "s.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, errs := call(t, "run", file, "--out", filepath.Join(t.TempDir(), "run"), "--json")
		var s struct {
			StepTime int64 `json:"step_time_ps"`
		}
		if code != 0 || json.Unmarshal([]byte(out), &s) != nil || s.StepTime == 0 {
			t.Fatalf("exit %d: %s%.300s", code, errs, out)
		}
		us := float64(s.StepTime) / 1e6
		alg := float64(n) / us / 1e3
		bus := alg * 2 * float64(ranks-1) / float64(ranks)
		fmt.Fprintf(&b, "%d %d float sum -1 %.2f %.3f %.3f 0 %.2f %.3f %.3f 0\n", n, n/4, us, alg, bus,
			us, alg, bus)
	}
	return b.String()
}

// What a cluster of known calibration measures gives the calibration back, and the scenario that is written
// with it says so.
func TestCalibrateFindsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	at := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	truth := measuredCluster + "calibration: {nvlink_share: 70, nic_share: 85, launch: 25us, " +
		"network_step: 4us}\n"
	var small []int
	for n := 1 << 13; n <= 1<<25; n <<= 2 {
		small = append(small, n)
	}
	plain := at("plain.yaml", measuredCluster)
	one, two := at("one.txt", ncclTests(t, truth, small, 1)), at("two.txt", ncclTests(t, truth, small, 2))
	out := filepath.Join(dir, "calibrated.yaml")
	code, stdout, errs := call(t, "calibrate", "--fabric", plain, "--nccl-tests", one+","+two,
		"--json", "--out", out,
		"--plot", filepath.Join(dir, "fit.svg"))
	var r fitting.Report
	if code != 0 || json.Unmarshal([]byte(stdout), &r) != nil {
		t.Fatalf("exit %d: %s%s", code, errs, stdout)
	}
	if e := r.Errors["aside"]; e[0] < 0.2 || e[1] > 0.02 {
		t.Errorf("errors %v, values %+v", r.Errors, r.Values)
	}
	want := map[string]float64{"nvlink_share": 70, "nic_share": 85, "launch": 25, "network_step": 4}
	for _, v := range r.Values {
		if w := want[v.Name]; w > 0 && (v.Is < 0.9*w || v.Is > 1.1*w) {
			t.Errorf("%s is %v, was measured with %v", v.Name, v.Is, w)
		}
		delete(want, v.Name)
	}
	if len(want) > 0 {
		t.Errorf("not fitted: %v (%+v)", want, r.Refused)
	}
	if svg, err := os.ReadFile(filepath.Join(dir,
		"fit.svg")); err != nil || !strings.Contains(string(svg), "<svg") {
		t.Error(err)
	}
	// Calibrated again, nothing changes any more, and the block is replaced.
	again := filepath.Join(dir, "again.yaml")
	code, stdout, errs = call(t, "calibrate", "--fabric", out, "--nccl-tests", one+","+two, "--out", again)
	if code != 0 {
		t.Fatalf("exit %d: %s%s", code, errs, stdout)
	}
	text, err := os.ReadFile(again)
	if err != nil || strings.Count(string(text), "\ncalibration:") != 1 {
		t.Errorf("%v: %s", err, text)
	}
	for line := range strings.Lines(stdout) {
		if len([]rune(line)) > 101 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

func TestCalibrateBadInput(t *testing.T) {
	dir := t.TempDir()
	plain, out := filepath.Join(dir, "plain.yaml"), filepath.Join(dir, "out.txt")
	text := ncclTests(t, measuredCluster, []int{1 << 20, 4 << 20}, 1)
	for path, s := range map[string]string{plain: measuredCluster, out: text} {
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pipe := filepath.Join(dir, "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"--nccl-tests " + pipe, "is a pipe without a writer"},
		{"--nccl-tests " + out + " --out " + dir + "/none/x.yaml", "none does not exist"},
		{"", "nothing is measured"},
		{"--nccl-tests /dev/null", "no regular file"},
		{"--nccl-tests " + plain, "has no row of a measurement"},
		{"--nccl-tests " + out + " --fit nic_share", "say too little of nic_share"},
		{"--nccl-tests " + out + " --fit nic", "unknown parameter \"nic\"; accepted: nvlink_share"},
		{"--nccl-tests " + out + " --aside 1", "--aside: must be 0 or at least 2, found 1"},
		{"--nccl-tests " + out + " --set fabric.hosts=0", "fabric.hosts"},
		{"--nccl-tests " + out + " --plot fit.gif", "--plot: writes .png or .svg"},
		{"--nccl-tests " + out + " --largest 1B", "is out of range 1KiB–1GiB"},
		{"--nccl-tests " + out + " --set server.gpus=2 --set server.nics=2", "points of 4 ranks on 1 server"},
		{"--step 1s", "--step: is how long a training step took, and the scenario has none"},
		{"--step=-1s", "is out of range"},
		{"--force --nccl-tests " + out, "--force: means nothing"},
	} {
		code, _, errs := call(t, append([]string{"calibrate", "--fabric", plain},
			strings.Fields(c.args)...)...)
		if code != 2 || !strings.Contains(errs, c.want) || strings.Count(strings.TrimSpace(errs), "\n") > 1 {
			t.Errorf("%s: exit %d: %s", c.args, code, errs)
		}
	}
}
