package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// A capture of MRC shows its paths. Wireshark's plugin for MRC is printed without reading a file.
func TestPcapMRC(t *testing.T) {
	sample := filepath.Join("..", "..", "internal", "capture", "testdata", "mrc.pcapng")
	code, out, errs := call(t, "pcap", sample)
	if code != 0 {
		t.Fatalf("exit %d, %s", code, errs)
	}
	for _, want := range []string{"NACK TRIMMED: PSN 0, EV 0xa0c02", "33 good, 0 wrong",
		"8 paths (entropy values) of 1 to 3 packets each, 7 by plane0, 8 by plane1",
		"EV 0xa0c02 by plane0: 1 packet, 1 trimmed, SKIP", "7 SACKs up to PSN 6, widest gap 4",
		"NACKs: 1 TRIMMED", "2 probes, 1 answered", "Port Status Update without plane 1"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for l := range strings.Lines(out) {
		if utf8.RuneCountInString(strings.TrimRight(l, "\n")) > 80 {
			t.Errorf("a line of %d columns: %s", len(l), l)
		}
	}
	if code, out, _ := call(t, "pcap", sample, "--json"); code != 0 ||
		!strings.Contains(out, `"ev": "0xa0c02"`) {
		t.Errorf("exit %d, %s", code, out)
	}
	if code, out, errs := call(t, "pcap", "--wireshark-plugin"); code != 0 ||
		!strings.Contains(out, `Proto("mrc"`) {
		t.Errorf("exit %d, %s", code, errs)
	}
	if code, _, errs := call(t, "pcap", sample, "--wireshark-plugin"); code != 2 ||
		!strings.Contains(errs, "reads no FILE") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// A capture is described; another file is rejected in one line.
func TestPcapCommand(t *testing.T) {
	lo := filepath.Join("..", "..", "internal", "capture", "testdata", "lo.pcap")
	code, out, errs := call(t, "pcap", lo)
	if code != 0 || !strings.Contains(out, "WRITE va") || !strings.Contains(out, "0 wrong") {
		t.Errorf("exit %d %s %s", code, out, errs)
	}
	for _, l := range strings.Split(out, "\n") {
		if utf8.RuneCountInString(strings.TrimRight(l, "\n")) > 80 {
			t.Errorf("a line of %d columns: %s", len(l), l)
		}
	}
	b, err := os.ReadFile(lo)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.pcap")
	if err := os.WriteFile(cut, b[:20000], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"", "--json"} { // what was read is reported, and that it is incomplete
		code, out, errs := call(t, append([]string{"pcap", cut}, strings.Fields(format)...)...)
		if code != exitInput || !strings.Contains(out, "WRITE va") || !strings.Contains(out, "ends within packet 8") ||
			!strings.Contains(errs, "cut.pcap: ends within packet 8, at byte 20,000: truncated") {
			t.Errorf("a cut capture %s: exit %d, %s %s", format, code, out, errs)
		}
	}
	for arg, want := range map[string]string{
		"pcap_test.go":     "not a pcap or pcapng file",
		t.TempDir():        "not a regular file but a directory",
		"nowhere.pcap":     "no such file",
		lo + " --limit=-1": "--limit: -1 is out of range 0–10000000",
	} {
		if code, _, errs := call(t, append([]string{"pcap"}, strings.Fields(arg)...)...); code != 2 ||
			!strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s", arg, code, errs)
		}
	}
}

// The simulator writes captures that tshark reads, the same twice.
func TestRunCapture(t *testing.T) {
	s := filepath.Join(scenarios(t), "three-flows.yaml")
	t.Chdir(t.TempDir())
	var files [2][]byte
	for i, out := range []string{"a", "b"} {
		if code, out, errs := call(t, "run", s, "--out", out, "--capture", "rail-1:Eth3", "--capture",
			"rail-1:Eth5", "--capture-window", "0us..100us"); code != 0 ||
			!strings.Contains(strings.Join(strings.Fields(out), " "), "those of 0us..100us; the run took 1.51 ms: --capture-window") {
			t.Fatal(out, errs)
		}
		files[i], _ = os.ReadFile(filepath.Join(out, "capture.pcapng"))
	}
	if len(files[0]) < 1000 || string(files[0]) != string(files[1]) {
		t.Errorf("captures of %d and %d bytes differ", len(files[0]), len(files[1]))
	}
	for args, want := range map[string]string{"--capture rail-1:Eth99": "rail-1 has rail-1:Eth1",
		"--capture rail-1:Eth3 --capture-window 5us..1us": "--capture-window",
		"--capture rail-1:Eth3 --capture-window 0..1":     "--capture-window",
		"--capture rail-1:Eth3 --capture rail-1:Eth3":     "named twice"} {
		if code, _, errs := call(t, append([]string{"run", s, "--out", "c"},
			strings.Fields(args)...)...); code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s", args, code, errs)
		}
	}
	if _, err := os.Stat("c"); err == nil {
		t.Error("a refused run left a directory")
	}
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed")
	}
	b, err := exec.Command("tshark", "-r", "a/capture.pcapng", "-T", "fields", "-e", "_ws.malformed", "-e",
		"infiniband.bth.opcode", "-e", "frame.interface_name").Output()
	if err != nil || strings.Contains(string(b), "Malformed") ||
		!strings.Contains(string(b), "\t6\trail-1:Eth3") {
		t.Errorf("tshark: %v\n%.300s", err, b)
	}
}
