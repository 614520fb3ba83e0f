package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/workload"
)

// searched is a scenario of 32 servers whose training has an efficiency.
const searched = `name: searched
fabric: {kind: rail, hosts: 32, spines: 4}
server: {gpu: h100, gpus: 8, nics: 8}
workload: {training: {model: llama-3.1-70b, tp: 8, pp: 8, dp: 4, global_batch: 64, efficiency: 45}}
`

// TestSearchWrites: a scenario written by plan search has the settings of its flags, and check accepts it.
func TestSearchWrites(t *testing.T) {
	t.Chdir(t.TempDir())
	software, err := json.Marshal(workload.Softwares[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("sub", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"net.yaml": searched, "own.json": string(software)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		out, says string
		more      []string
	}{
		{"a.yaml", "software: nemo\n", []string{"--software", "nemo"}},
		{"b.yaml", "software: own.json\n", []string{"--software", "own.json"}},
		{"sub/b.yaml", "software: ../own.json\n", []string{"--software", "./own.json"}},
		{filepath.Join(t.TempDir(), "b.yaml"), "own.json\n", []string{"--software", "own.json"}},
		{"c.yaml", "efficiency: 45\n", nil},
		{"d.yaml", "kernels: fused\n", []string{"--kernels", "fused"}},
	} {
		args := []string{"plan", "search", "llama-3.1-8b", "--fabric", "net.yaml", "--global-batch", "64", "--sequence",
			"8192", "--tp", "8", "--pp", "2", "--simulate", "0", "--out", x.out}
		code, out, errs := call(t, append(args, x.more...)...)
		text, err := os.ReadFile(x.out)
		if code != exitOK || err != nil || !strings.Contains(string(text), x.says) {
			t.Errorf("%v: exit %d, %v %s\n%s", x.more, code, err, errs, text)
			continue
		}
		if x.more == nil && !strings.Contains(out, "45 % of the GPU's peak (of net.yaml; --efficiency changes it)") {
			t.Errorf("no origin of the efficiency in\n%s", out)
		}
		if code, _, errs = call(t, "check", x.out); code != exitOK || !strings.Contains(out, "Next: railyard run "+x.out+"\n") {
			t.Errorf("%v: check: exit %d, %s\n%s", x.more, code, errs, out)
		}
	}
}

// TestSearchWritesPart: for a step that is too large for run, the file and the output have the command for a part.
func TestSearchWritesPart(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("net.yaml", []byte(searched), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := call(t, "plan", "search", "llama-3.1-70b", "--fabric", "net.yaml", "--global-batch", "1024", "--sequence",
		"8192", "--tp", "1", "--pp", "1", "--cp", "4", "--zero", "3", "--simulate", "0", "--out", "big.yaml")
	_, command, found := strings.Cut(out, "Next: railyard run ")
	command = strings.TrimSpace(command)
	text, err := os.ReadFile("big.yaml")
	if code != exitOK || err != nil || !found || !strings.Contains(string(text), "# railyard run "+command+"\n") {
		t.Fatalf("exit %d, %v %s%s\n%s", code, err, errs, out, text)
	}
	sets := strings.TrimPrefix(command, "big.yaml ")
	if code, _, errs = call(t, "run", "big.yaml"); code != exitInput || !strings.HasSuffix(errs, "; accepted: "+sets+"\n") {
		t.Errorf("run of the whole: exit %d, %s, want %s", code, errs, sets)
	}
	if code, _, errs = call(t, append([]string{"check", "big.yaml"}, strings.Fields(sets)...)...); code != exitOK ||
		!strings.HasPrefix(sets, "--set workload.training.dp=") {
		t.Errorf("check of the part: exit %d, %s", code, errs)
	}
}

// TestSearchRefusedFirst: what cannot be written is refused before simulations.
func TestSearchRefusedFirst(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("net.yaml", []byte(searched), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := call(t, "plan", "search", "llama-3.1-70b", "--fabric", "net.yaml", "--global-batch", "64", "--software",
		"nemo", "--set", "workload.training.efficiency=40", "--out", "a.yaml", "--study", "began")
	_, err := os.Stat("began")
	if code != exitInput || out != "" || !strings.Contains(errs, "contradicts software: nemo") || err == nil {
		t.Errorf("exit %d, study: %v, %s%s", code, err, errs, out)
	}
}
