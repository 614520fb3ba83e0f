package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// segmentsYAML is MRC whose packets name their paths, over two planes and parallel cables.
const segmentsYAML = `name: ways
fabric: {kind: graph, host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 100Gbps, cable: 30m},
  graph: {hosts: [host-1, host-2, host-3, host-4],
    switches: [{name: leaf-1, role: leaf, tier: 1}, {name: leaf-2, role: leaf, tier: 1},
      {name: spine-1, role: spine, tier: 2}, {name: leaf-3, role: leaf, tier: 1},
      {name: leaf-4, role: leaf, tier: 1}, {name: spine-2, role: spine, tier: 2}],
    links: [{from: host-1, to: leaf-1}, {from: host-1, to: leaf-3}, {from: host-2, to: leaf-1},
      {from: host-2, to: leaf-3}, {from: host-3, to: leaf-2}, {from: host-3, to: leaf-4},
      {from: host-4, to: leaf-2}, {from: host-4, to: leaf-4},
      {from: leaf-1, to: spine-1, count: 2}, {from: leaf-2, to: spine-1, count: 2},
      {from: leaf-3, to: spine-2}, {from: leaf-4, to: spine-2}]}}
server: {gpus: 1, nics: 1, nic_ports: 2}
transport: {kind: mrc, forwarding: srv6, acks: cnp}
cc: {algorithm: nscc}
switch:
  pfc: false
  mark_core_only: true
  dscp: {24: 3, 48: 7, 49: 7}
  trim: {dscp: 48, last_hop_dscp: 49}
  queues: {3: {weight: 50, trim: true, limit: 60KB, wred_min: 10KB, wred_max: 40KB, probability: 100,
	ecn: true},
    7: {strict: true}}
workload: {traffic: {incast: {fan_in: 3, bytes: 2MB}}}
`

// Captures of a fabric with IPv6 are described by pcap and decoded by tshark: flow labels of 20 bits, and MRC's
// entropy values in them and in source ports.
func TestIPv6Captures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ipv6.yaml")
	text := "name: six\nfabric: {ip: 6, kind: rail, segments: 2, hosts: 2, spines: 2, uplinks: 1, " +
		"host_link: {rate: 100Gbps, cable: 3m}}\nserver: {gpus: 1, nics: 1}\n" +
		"workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-3/gpu-1, bytes: 1MB}]}}\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ transport, story string }{
		{"roce", "fd00::a00:1 > fd00::a00:3 QP"}, {"mrc", "packets by "},
	} {
		out := filepath.Join(t.TempDir(), c.transport)
		if code, _, errs := call(t, "run", file, "--set", "transport="+c.transport, "--out", out, "--capture",
			"seg-1-rail-1:Eth1", "--capture-window", "0us..30us"); code != 0 {
			t.Fatal(errs)
		}
		taken := filepath.Join(out, "capture.pcapng")
		code, said, errs := call(t, "pcap", taken)
		if code != 0 || !strings.Contains(said, c.story) || !strings.Contains(said, " 0 wrong") {
			t.Errorf("%s: exit %d: %s%s", c.transport, code, said, errs)
		}
		if _, err := exec.LookPath("tshark"); err != nil {
			continue
		}
		b, err := exec.Command("tshark", "-r", taken, "-T", "fields", "-e", "ipv6.flow", "-e",
			"_ws.malformed",
			"-Y", "ipv6 && udp.dstport == 4791").Output()
		labels := map[string]bool{}
		for line := range strings.Lines(string(b)) {
			labels[strings.TrimSpace(line)] = true
		}
		// one label for a queue pair, one per path for MRC
		n := len(labels)
		if err != nil || c.transport == "roce" && n != 1 || c.transport == "mrc" && n < 20 ||
			strings.Contains(string(b), "Malformed") {
			t.Errorf("%s: %v: %d labels\n%.300s", c.transport, err, n, b)
		}
	}
	for _, args := range [][]string{{"config", "render", file, "--os", "sonic", "--out", t.TempDir()},
		{"lab", "up", file, "--name", "six"}} {
		if code, _, errs := call(t, args...); code != 2 || !strings.Contains(errs, "fabric.ip") {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
	}
}

// withSegments writes the scenario and returns its path.
func withSegments(t *testing.T, more string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ways.yaml")
	if err := os.WriteFile(file, []byte(segmentsYAML+more), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// since85 are words of FRR's locators that Debian's 8.4 does not support; since103 are the lines of uSIDs.
var (
	since85  = regexp.MustCompile(`(?m) block-len \d+ node-len \d+|^ +behavior usid\n`)
	since103 = regexp.MustCompile(`(?ms)^  static-sids\n.*?^  exit\n`)
)

// FRR accepts the rendered configuration of segments, as far as the installed version supports them.
func TestVtyshSegments(t *testing.T) {
	if _, err := exec.LookPath("vtysh"); err != nil {
		t.Skip("vtysh is not installed")
	}
	dir := filepath.Join(t.TempDir(), "out")
	if code, _, errs := call(t, "config", "render", withSegments(t, ""), "--os", "frr", "--out",
		dir); code != 0 {
		t.Fatal(errs)
	}
	files, _ := filepath.Glob(dir + "/*/frr.conf")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		cut := since103.ReplaceAll(since85.ReplaceAll(b, nil), nil)
		for _, c := range []struct {
			text []byte
			ok   bool
		}{{cut, true}, {[]byte(strings.Replace(string(cut), "func-bits 16", "func-bits x", 1)), false},
			{[]byte(strings.Replace(string(cut), "ipv6 route fcbb", "ipv6 route fcxx", 1)), false}} {
			if err := os.WriteFile(f, c.text, 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("vtysh", "-C", "-f", f).CombinedOutput()
			said := ownSettings.ReplaceAllString(string(out), "")
			if ok := err == nil && said == ""; ok != c.ok {
				t.Errorf("%s: %v: %s", f, err, said)
			}
		}
	}
	if len(files) != 6 {
		t.Errorf("%d files", len(files))
	}
}

// Switches parsed from the rendered configuration run like the scenario's: trimming by hop, marks in the core, and
// planes with their own networks. Lint finds nothing, and show describes the segments.
func TestSegmentsThroughTexts(t *testing.T) {
	dir := t.TempDir()
	plain := withSegments(t, "")
	out := filepath.Join(dir, "texts")
	if code, _, errs := call(t, "config", "render", plain, "--os", "sonic", "--out", out,
		"--hwsku", "ACS-SN5600"); code != 0 {
		t.Fatal(errs)
	}
	if code, said, errs := call(t, "config", "lint", out, "--fabric", plain); code != 0 ||
		!strings.Contains(strings.Join(strings.Fields(said), " "), "0 errors, 0 warnings, 0 notes") {
		t.Error(said, errs)
	}
	code, said, errs := call(t, "config", "show", filepath.Join(out, "spine-1", "config_db.json"))
	if code != 0 || !strings.Contains(said, "SRv6: fcbb:bb00:5::/48 uN; fcbb:bb00:6::/48 uN; 4 static "+
		"routes") {
		t.Error(said, errs)
	}
	more := "switches:\n"
	for _, name := range []string{"leaf-1", "leaf-2", "leaf-3", "leaf-4", "spine-1", "spine-2"} {
		more += fmt.Sprintf("  %s: %s\n", name, filepath.Join(out, name, "config_db.json"))
	}
	figures := func(file string) (s map[string]any) {
		run := filepath.Join(dir, filepath.Base(filepath.Dir(file)))
		if code, _, errs := call(t, "run", file, "--out", run); code != 0 {
			t.Fatal(errs)
		}
		b, err := os.ReadFile(filepath.Join(run, "summary.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	with := withSegments(t, more)
	a, b := figures(plain), figures(with)
	if _, _, errs := call(t, "check", with); strings.Contains(errs, "srv6: ") {
		t.Error(errs)
	}
	leaf := filepath.Join(out, "leaf-1", "config_db.json")
	for old, want := range map[string]string{`"default|fcbb:bb00:5::`: "no route to a SID of it leaves there",
		`"SRV6_MY_SIDS"`: "the configuration of 1 switch has no segments"} {
		b, err := os.ReadFile(leaf)
		if err != nil || !strings.Contains(string(b), old) {
			t.Fatal(err, old)
		}
		less := strings.Replace(string(b), old, strings.Replace(old, `"`, `"X`, 1), 1)
		if err := os.WriteFile(leaf, []byte(less), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, said, errs := call(t, "check", with); !strings.Contains(strings.Join(strings.Fields(said+errs),
			" "),
			want) {
			t.Errorf("%s: %s%s", old, said, errs)
		}
		if err := os.WriteFile(leaf, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"step_time_ps", "ecn_marks", "trims", "drops", "retransmissions",
		"packet_hops"} {
		if x, ok := a[key]; !ok || fmt.Sprint(x) != fmt.Sprint(b[key]) {
			t.Errorf("%s: %v by the scenario, %v by texts", key, x, b[key])
		}
	}
	if marks, _ := a["ecn_marks"].(float64); marks == 0 {
		t.Error("nothing was marked: the comparison says nothing")
	}
}
