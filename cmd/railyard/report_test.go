package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A stored run as text, page and plots; unreadable files are reported.
func TestReport(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "run")
	if code, _, errs := call(t, "run", "../../scenarios/three-flows.yaml", "--out", run); code != exitOK {
		t.Fatal(errs)
	}
	code, text, _ := call(t, "report", run)
	if _, fresh, _ := call(t, "report", run, "--json"); code != exitOK ||
		!strings.Contains(text, "Slowest") || !strings.Contains(fresh, `"step_time_ps"`) {
		t.Errorf("exit %d: %s", code, text)
	}
	page := filepath.Join(dir, "page.html")
	if code, _, errs := call(t, "report", run, "--html", page, "--png", filepath.Join(dir, "plots"), "--svg",
		filepath.Join(dir, "plots")); code != exitOK {
		t.Fatal(errs)
	}
	if b, err := os.ReadFile(page); err != nil || !bytes.Contains(b, []byte("railyard-run")) {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"utilisation", "queues", "collectives"} {
		png, err1 := os.ReadFile(filepath.Join(dir, "plots", name+".png"))
		svg, err2 := os.ReadFile(filepath.Join(dir, "plots", name+".svg"))
		if err1 != nil || err2 != nil || !bytes.HasPrefix(png, []byte("\x89PNG")) ||
			!bytes.Contains(svg, []byte("<svg")) {
			t.Errorf("%s: %v %v", name, err1, err2)
		}
	}
	if code, _, errs := call(t, "report", run, "--packet", "0/+1"); code != exitInput ||
		!strings.Contains(errs, "followed no packet: run its scenario again with --follow 0/+1") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if code, _, errs := call(t, "report", run, "--html", page); code != exitInput ||
		!strings.Contains(errs, "exists") {
		t.Errorf("exit %d: %s", code, errs)
	}
	os.Remove(filepath.Join(run, "topology.json"))
	for want, args := range map[string][]string{
		"no summary.json": {dir},
		"older Railyard":  {run, "--html", page + "2"},
	} {
		if code, _, errs := call(t, append([]string{"report"}, args...)...); code != exitInput ||
			!strings.Contains(errs, want) {
			t.Errorf("exit %d: %s, want %q", code, errs, want)
		}
	}
	for want, args := range map[string][]string{
		"expected a folder":             {page},
		"99999 is out of range 0–65535": {dir, "--port", "99999"},
		"is not an address":             {dir, "--listen", "nonsense"},
	} {
		if code, _, errs := call(t, append([]string{"serve"}, args...)...); code != exitInput ||
			!strings.Contains(errs, want) {
			t.Errorf("serve: exit %d: %s, want %q", code, errs, want)
		}
	}
}

// A traced packet is described hop by hop, by the name in its request and by its own.
func TestReportPacket(t *testing.T) {
	run := filepath.Join(t.TempDir(), "run")
	if code, out, errs := call(t, "run", "../../scenarios/three-flows.yaml", "--out", run, "--follow", "0/+3",
		"--follow", "2/+40"); code != exitOK || !strings.Contains(out, "--packet 2/+40") {
		t.Fatal(out, errs)
	}
	code, text, errs := call(t, "report", run, "--packet", "2/+40")
	for _, want := range []string{"Packet 2/+40: PSN ", "host-3/nic-1 → host-4/nic-2",
		"rail-1:Eth5 → spine-1", "arrived at host-4"} {
		if code != exitOK || !strings.Contains(text, want) {
			t.Fatalf("exit %d, no %q: %s%s", code, want, text, errs)
		}
	}
	psn, _, _ := strings.Cut(strings.TrimPrefix(text, "Packet 2/+40: PSN "), " ")
	if _, same, _ := call(t, "report", run, "--packet", "2/"+psn); same != text {
		t.Errorf("by its PSN: %s", same)
	}
	if code, _, errs := call(t, "report", run, "--packet", "1/7"); code != exitInput ||
		!strings.Contains(errs, "it followed 0/+3, 2/+40") {
		t.Errorf("exit %d: %s", code, errs)
	}
	_, hops, _ := call(t, "report", run, "--packet", "0/+3", "--json")
	if !strings.Contains(hops, `"left_ps"`) {
		t.Error(hops)
	}
}
