package main

import (
	"encoding/json"
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

// ncclTests is nccl-tests' output of all-reduces on one server.
const ncclTests = `# Collective test starting: all_reduce_perf
#  Rank  0 Group  0 Pid 100 on n0 device 0 [0x00] NVIDIA A100
#  Rank  1 Group  0 Pid 101 on n0 device 1 [0x00] NVIDIA A100
#  Rank  2 Group  0 Pid 102 on n0 device 2 [0x00] NVIDIA A100
#  Rank  3 Group  0 Pid 103 on n0 device 3 [0x00] NVIDIA A100
16384 4096 float sum -1 31.00 0.528 0.793 0 31.00 0.528 0.793 0
1048576 262144 float sum -1 50.00 20.972 31.457 0 50.00 20.972 31.457 0
4194304 1048576 float sum -1 90.00 46.603 69.905 0 90.00 46.603 69.905 0
16777216 4194304 float sum -1 230.00 72.944 109.417 0 230.00 72.944 109.417 0
`

// calibrate prints the fit of package fitting, as JSON and as text that fits the screen.
func TestCalibrate(t *testing.T) {
	dir := t.TempDir()
	plain, measured := filepath.Join(dir, "plain.yaml"), filepath.Join(dir, "out.txt")
	for path, s := range map[string]string{plain: measuredCluster, measured: ncclTests} {
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"calibrate", "--fabric", plain, "--nccl-tests", measured, "--out", filepath.Join(dir, "fit.yaml"),
		"--plot", filepath.Join(dir, "fit.svg")}
	code, stdout, errs := call(t, append(args, "--json")...)
	var r fitting.Report
	if code != 0 || json.Unmarshal([]byte(stdout), &r) != nil || len(r.Points) != 4 || len(r.Values) == 0 {
		t.Fatalf("exit %d: %s%s", code, errs, stdout)
	}
	if svg, err := os.ReadFile(filepath.Join(dir, "fit.svg")); err != nil || !strings.Contains(string(svg), "<svg") {
		t.Error(err)
	}
	if code, _, errs = call(t, args...); code != exitInput || !strings.Contains(errs, "fit.yaml exists") {
		t.Errorf("again: exit %d: %s", code, errs)
	}
	code, stdout, errs = call(t, append(args, "--force")...)
	if code != 0 || !strings.Contains(stdout, r.Values[0].Name) {
		t.Errorf("exit %d: %s%s", code, errs, stdout)
	}
	for line := range strings.Lines(stdout) {
		if len([]rune(line)) > 101 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

// TestCalibrateAgain: the error that calibrate prints is that of a simulation with its output, for each kind of
// input.
func TestCalibrateAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	for path, s := range map[string]string{"plain.yaml": measuredCluster, "nccl.txt": ncclTests,
		"perf.txt": " RDMA_Write BW Test\n" +
			" #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n" +
			" 1048576    1000             23400.00            23300.00              0.023300\n" +
			" 8388608    1000             23500.00            23400.00              0.002925\n"} {
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, input := range [][]string{{"--nccl-tests", "nccl.txt"}, {"--perftest", "perf.txt"},
		{"--nccl-tests", "nccl.txt", "--perftest", "perf.txt"}} {
		fit := func(scenario string, more ...string) (r fitting.Report) {
			args := append(append([]string{"calibrate", "--fabric", scenario, "--json"}, input...), more...)
			code, stdout, errs := call(t, args...)
			if err := json.Unmarshal([]byte(stdout), &r); code != 0 || err != nil {
				t.Fatalf("%v: exit %d: %s", args, code, errs)
			}
			return r
		}
		wrote, again := fit("plain.yaml", "--out", "fit.yaml", "--force"), fit("fit.yaml")
		if len(wrote.Points) == 0 || len(wrote.Points) != len(again.Points) {
			t.Errorf("%v: %d points, then %d", input, len(wrote.Points), len(again.Points))
			continue
		}
		for i, p := range wrote.Points {
			if p.After != again.Points[i].Before {
				t.Errorf("%v: %s is %v us calibrated, and %v us with what was written", input, p.Name, p.After,
					again.Points[i].Before)
			}
		}
	}
}

// calibrate reads a capture written by run.
func TestCalibrateCapture(t *testing.T) {
	dir := t.TempDir()
	plain, run := filepath.Join(dir, "plain.yaml"), filepath.Join(dir, "run")
	text := "name: inc\nfabric: {kind: rail, hosts: 5, spines: 1, host_link: {rate: 200Gbps}}\n" +
		"server: {gpu: a100, gpus: 1, nics: 1}\nworkload: {traffic: {incast: {fan_in: 4, bytes: 20MB}}}\n"
	if err := os.WriteFile(plain, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := call(t, "run", plain, "--capture", "host-1:nic1", "--capture-window", "0us..3ms", "--out",
		run); code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	code, out, errs := call(t, "calibrate", "--fabric", plain, "--capture", filepath.Join(run, "capture.pcapng"))
	if code != 0 || !strings.Contains(out, "median error of delays 0 us before, 0 us after") {
		t.Errorf("exit %d: %s%s", code, errs, out)
	}
	for line := range strings.Lines(out) {
		if len([]rune(line)) > 101 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

func TestCalibrateBadInput(t *testing.T) {
	dir := t.TempDir()
	plain, out := filepath.Join(dir, "plain.yaml"), filepath.Join(dir, "out.txt")
	for path, s := range map[string]string{plain: measuredCluster, out: ncclTests} {
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
		{"--nccl-tests " + out + " --aside 1", "--aside: must be 0 or at least 2, found 1"},
		{"--nccl-tests " + out + " --plot fit.gif", "--plot: writes .png or .svg"},
		{"--nccl-tests " + out + " --largest 1B", "is out of range 1KiB–1GiB"},
		{"--step=-1s", "is out of range"},
		{"--capture " + out + " --plot x.png", "--fit and --plot are about times"},
		{"--capture " + out + " --fit cnp_delay", "--fit and --plot are about times"},
		{"--force --nccl-tests " + out, "--force: has no effect"},
	} {
		code, _, errs := call(t, append([]string{"calibrate", "--fabric", plain},
			strings.Fields(c.args)...)...)
		if code != 2 || !strings.Contains(errs, c.want) || strings.Count(strings.TrimSpace(errs), "\n") > 1 {
			t.Errorf("%s: exit %d: %s", c.args, code, errs)
		}
	}
}
