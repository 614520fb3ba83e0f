package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/calibrate/fitting"
)

const incastCluster = `name: inc
fabric: {kind: rail, hosts: 5, spines: 1, host_link: {rate: 200Gbps}}
server: {gpu: a100, gpus: 1, nics: 1}
workload: {traffic: {incast: {fan_in: 4, bytes: 20MB}}}
`

// captured runs the scenario with other values and captures at the receiver.
func captured(t *testing.T, file string, set ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	args := []string{"run", file, "--capture", "host-1:nic1", "--capture-window", "0us..3ms", "--out", dir}
	for _, s := range set {
		args = append(args, "--set", s)
	}
	if code, _, errs := call(t, args...); code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	return filepath.Join(dir, "capture.pcapng")
}

// NICs of a known delay and interval, captured at the receiver, give both back, and the scenario that is
// written has them: calibrated again with what it sends, nothing is off any more.
func TestCalibrateCapture(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain.yaml")
	if err := os.WriteFile(plain, []byte(incastCluster), 0o600); err != nil {
		t.Fatal(err)
	}
	bare := filepath.Join(t.TempDir(), "bare.yaml") // a cluster alone
	text, _, _ := strings.Cut(incastCluster, "workload:")
	if err := os.WriteFile(bare, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	pcap := captured(t, plain, "cc.dcqcn.cnp_delay=1300ns", "cc.dcqcn.cnp_interval=7us")
	out := filepath.Join(t.TempDir(), "calibrated.yaml")
	code, stdout, errs := call(t, "calibrate", "--fabric", plain, "--capture", pcap, "--json", "--out", out)
	var r fitting.Report
	if code != 0 || json.Unmarshal([]byte(stdout), &r) != nil || r.Capture == nil {
		t.Fatalf("exit %d: %s%s", code, errs, stdout)
	}
	c := r.Capture
	if d := c.Delay.Median; d < 1.3 || d > 1.301 || c.Delay.Pairs != 4 || c.Unanswered > 0 {
		t.Errorf("delay %+v", c)
	}
	if c.Interval == nil || c.Interval.Median < 7 || c.Interval.Median > 7.2 || c.Interval.Was != 4 {
		t.Errorf("interval %+v", c.Interval)
	}
	if x := c.Errors.Aside; x == nil || x[0] < 1.29 || x[1] > 0.001 {
		t.Errorf("residuals %+v", c.Errors)
	}
	if code, _, errs := call(t, "calibrate", "--fabric", bare, "--capture", pcap); code != 0 {
		t.Errorf("of a cluster alone: exit %d: %s", code, errs)
	}
	written, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(written), "\n  cnp_delay: 1.3us\n  cnp_interval: 7.") {
		t.Errorf("%v: %s", err, written)
	}
	again := captured(t, out)
	code, stdout, errs = call(t, "calibrate", "--fabric", out, "--capture", again)
	if code != 0 || !strings.Contains(stdout, "delays off by 0 us before, 0 us after") {
		t.Errorf("exit %d: %s%s", code, errs, stdout)
	}
	for line := range strings.Lines(stdout) {
		if len([]rune(line)) > 101 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

func TestCalibrateCaptureBadInput(t *testing.T) {
	dir := t.TempDir()
	plain, empty := filepath.Join(dir, "plain.yaml"), filepath.Join(dir, "empty.pcap")
	for path, s := range map[string]string{plain: incastCluster, empty: ""} {
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	calm := captured(t, plain, "workload.traffic.incast.fan_in=1")
	slow := captured(t, plain, "cc.dcqcn.cnp_delay=900us")
	for _, c := range []struct{ args, want string }{
		{"--capture " + calm, "--capture: no packet is marked congestion experienced"},
		{"--capture " + slow, "--capture: "},
		{"--capture " + empty, "shorter than a file header"},
		{"--capture " + plain, "no pcap or pcapng"},
		{"--capture " + dir, "directory"},
		{"--capture " + dir + "/none.pcap", "no such file"},
		{"--capture /dev/zero", "no regular file"},
		{"--capture " + calm + " --set cc.algorithm=swift", "receivers send none: cc.algorithm is swift"},
		{"--capture " + calm + " --plot x.png", "--fit and --plot are about times"},
		{"--capture " + calm + " --fit cnp_delay", "--fit and --plot are about times"},
		{"--capture " + captured(t, plain) + " --set cc.dcqcn.cnp_delay=1us",
			"cc.dcqcn.cnp_delay: is 1us, and 0ps is measured: leave it out"},
	} {
		args := append([]string{"calibrate", "--fabric", plain}, strings.Fields(c.args)...)
		code, _, errs := call(t, args...)
		if code != 2 || !strings.Contains(errs, c.want) || strings.Count(strings.TrimSpace(errs), "\n") > 1 {
			t.Errorf("%s: exit %d: %s", c.args, code, errs)
		}
	}
}
