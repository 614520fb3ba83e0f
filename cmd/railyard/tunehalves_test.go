package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/study/tuning"
)

// Both halves of the best are written. A run with only the servers' configuration equals the simulation of the host
// side, to the picosecond. A run with both configurations equals that of both as written, and lint has no finding.
func TestTuneHalves(t *testing.T) {
	s := filepath.Join(scenarios(t), "three-flows.yaml")
	t.Chdir(t.TempDir())
	code, out, errs := call(t, "config", "tune", s, "--trials", "8", "--out", "tune", "--json")
	if code != 0 {
		t.Fatal(errs)
	}
	var said struct {
		Halves tuning.Halves
		Best   struct{ Trial int }
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil {
		t.Fatal(err)
	}
	h := said.Halves
	if h.Both == nil || h.Share == nil || h.NIC != "mlx5" || h.Share.Hosts < 50 {
		t.Fatalf("%+v", h)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	time := func(name string, args ...string) (v struct {
		Time  int64 `json:"step_time_ps"`
		Pause int64 `json:"pfc_pause_ps"`
		Queue int64 `json:"queue_peak_bytes"`
	}) {
		if code, _, errs := call(t, append([]string{"run", s, "--out", name}, args...)...); code != 0 {
			t.Fatal(errs)
		}
		b, err := os.ReadFile(filepath.Join(name, "summary.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	hosts := "hosts.config=" + filepath.Join(here, "tune/best/hosts/host-1.sh")
	switches := "switches.config=" + filepath.Join(here, "tune/best/spine-1/nxos.cfg")
	if v := time("servers", "--set", hosts); v.Time != h.Hosts.Time || v.Queue != h.Hosts.Queue {
		t.Errorf("the servers' text: %+v, the half %+v", v, h.Hosts)
	}
	if v := time("both", "--set", hosts, "--set", switches); v.Time != h.Both.Time ||
		v.Queue != h.Both.Queue {
		t.Errorf("both texts: %+v, both halves %+v", v, *h.Both)
	}
	code, out, errs = call(t, "config", "lint", "tune/best", "--fabric", s, "--set", switches)
	if code != 0 || !strings.Contains(out, "0 errors, 0 warnings") {
		t.Errorf("%s%s", out, errs)
	}
	code, out, _ = call(t, "config", "tune", s, "--trials", "8", "--out", "tune", "--nic", "ionic")
	if code != 0 || !strings.Contains(out, "host side alone") || !strings.Contains(out,
		"are not public") || !strings.Contains(out, "The written configuration has the effect of the switch side") {
		t.Errorf("%d %s", code, out)
	}
}

// The host side is written even if the switches' language has no ports of the fabric's rate, and it parses to the
// simulated values.
func TestTuneHostsAlone(t *testing.T) {
	s := filepath.Join(scenarios(t), "incast-seed.yaml")
	t.Chdir(t.TempDir())
	code, out, errs := call(t, "config", "tune", s, "--trials", "6", "--out", "tune", "--json")
	if code == 0 || !strings.Contains(errs, "1.6Tbps") {
		t.Fatalf("%d %s", code, errs)
	}
	var said struct{ Halves tuning.Halves }
	if err := json.Unmarshal([]byte(out), &said); err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob("tune/best/hosts/*.sh")
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	here, err := filepath.Abs(all[0])
	if err != nil {
		t.Fatal(err)
	}
	if code, _, errs := call(t, "run", s, "--out", "run", "--set", "hosts.config="+here); code != 0 {
		t.Fatal(errs)
	}
	b, err := os.ReadFile("run/summary.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Time int64 `json:"step_time_ps"`
	}
	if err := json.Unmarshal(b, &v); err != nil || v.Time != said.Halves.Hosts.Time {
		t.Errorf("%d ps, the half %d (%v)", v.Time, said.Halves.Hosts.Time, err)
	}
}

// A search whose best result could not be written is rejected beforehand, not after all its simulations.
func TestTuneForSONiCNeedsItsSwitches(t *testing.T) {
	dir := t.TempDir()
	for _, x := range []struct {
		args []string
		says string
	}{
		{[]string{"--os", "sonic"}, "the switch model is not set"},
		{[]string{"--os", "nxos", "--hwsku", "ACS-SN5600"}, "only SONiC configures lanes"},
		{[]string{"--os", "sonic", "--hwsku", "nosuch=ACS-SN5600"}, "no switch is called so"},
	} {
		to := filepath.Join(dir, "tune")
		code, _, errs := call(t, append([]string{"config", "tune", flowScenario, "--trials", "2",
			"--out", to}, x.args...)...)
		if code != 2 || !strings.Contains(errs, x.says) {
			t.Errorf("%v: code %d, %s", x.args, code, errs)
		}
		if _, err := os.Stat(to); err == nil {
			t.Errorf("%v: it began to search", x.args)
		}
	}
	to := filepath.Join(dir, "best")
	code, _, errs := call(t, "config", "tune", flowScenario, "--trials", "2", "--out", to, "--os", "sonic",
		"--hwsku", "ACS-SN5600")
	if _, err := os.Stat(filepath.Join(to, "best", "rail-1", "config_db.json")); code != 0 || err != nil {
		t.Errorf("with an hwsku: code %d, %v, %s", code, err, errs)
	}
}
