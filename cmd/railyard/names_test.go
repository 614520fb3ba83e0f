package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"railyard/internal/render"
	"railyard/internal/swconf/design"
)

// graph is two servers on a switch of a given name.
func graph(sw, host string) string {
	return fmt.Sprintf(`name: graph
server: {gpus: 1, nics: 1}
fabric:
  kind: graph
  host_link: {rate: 100Gbps, cable: 3m}
  graph:
    hosts: [%[2]s, b]
    switches: [{name: %[1]s, role: leaf}]
    links: [{from: %[2]s, to: %[1]s}, {from: b, to: %[1]s}]
workload: {traffic: {permutation: {bytes: 1MB}}}
`, sw, host)
}

// Names of nodes become folders of config render, network namespaces and interfaces of a lab, and host names of
// switches. They must be host names (RFC 1123, section 2.1), and others are rejected at their position before
// anything is written.
func TestNodeNames(t *testing.T) {
	top := t.TempDir()
	t.Chdir(top)
	out := filepath.Join("a", "b", "out")
	long := strings.Repeat("x", 64)
	for _, name := range []string{`../../evil`, `/tmp/evil`, `..`, `.`, `.hidden`, `a/b`, `a\b`, `-rf`, `a b`,
		`"a\nhostname evil"`, `"a\u001b[31m"`, `"a\u0000"`, `é`, `$(id)`, `"a:Eth1"`, long} {
		if strings.IndexByte(name, '"') != 0 {
			name = "'" + name + "'"
		}
		for _, text := range []string{graph(name, "a"), graph("leaf", name)} {
			os.WriteFile("bad.yaml", []byte(text), 0o644)
			code, text, errs := call(t, "config", "render", "bad.yaml", "--os", "nxos", "--out", out)
			if code != 2 || text != "" || !strings.Contains(errs, "bad.yaml:7:") &&
				!strings.Contains(errs, "bad.yaml:8:") {
				t.Errorf("%s: exit %d: %s%s", name, code, text, errs)
			}
		}
	}
	entries, _ := os.ReadDir(top)
	if len(entries) != 1 {
		t.Errorf("written: %v", entries)
	}
	os.WriteFile("good.yaml", []byte(graph("Leaf-1.rack_2", "a")), 0o644)
	if code, _, errs := call(t, "config", "render", "good.yaml", "--os", "nxos", "--out", out); code != 0 {
		t.Error(errs)
	}
	if err := render.Write("a", []design.File{{Path: "../evil", Text: "x"}}, true); err == nil {
		t.Error("writeFiles leaves its folder")
	}
}

// A run's name becomes its directory's name, for any characters.
func TestRunNames(t *testing.T) {
	smallFile(t)
	for _, name := range []string{"..", "../../evil", "/etc", strings.Repeat("long", 100), `a\b`} {
		code, text, errs := call(t, "run", "small.yaml", "--set", "name="+name)
		if code != 0 || !strings.Contains(text, "Results: runs/") {
			t.Errorf("%s: exit %d: %s", name, code, errs)
		}
	}
	entries, _ := os.ReadDir(".")
	if len(entries) != 2 {
		t.Errorf("%v", entries)
	}
	os.WriteFile("esc.yaml", []byte(strings.Replace(small, "name: small", `name: "a\u001b[2Jb"`, 1)), 0o644)
	if code, _, errs := call(t, "run", "esc.yaml"); code != 2 || !strings.Contains(errs, "esc.yaml:1") {
		t.Errorf("a name that clears the screen: exit %d: %s", code, errs)
	}
}

// No option overwrites an existing file without --force.
func TestNothingOverwritten(t *testing.T) {
	smallFile(t)
	os.WriteFile("precious", []byte("mine"), 0o644)
	for _, args := range [][]string{
		{"run", "small.yaml", "--cpuprofile", "precious"},
		{"validate", "--markdown", "precious"},
	} {
		if code, text, errs := call(t, args...); code != 2 || text != "" ||
			!strings.Contains(errs, "precious exists; --force replaces it") {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
	}
	if b, _ := os.ReadFile("precious"); string(b) != "mine" {
		t.Errorf("%q", b)
	}
	// run replaces with --force only runs, and profiles of earlier ones.
	code, _, errs := call(t, "run", "small.yaml", "--cpuprofile", "precious", "--force")
	if b, _ := os.ReadFile("precious"); code != 2 || string(b) != "mine" ||
		!strings.Contains(errs, "is not a CPU profile") {
		t.Errorf("exit %d, %q: %s", code, b, errs)
	}
	for range 2 {
		if code, _, errs := call(t, "run", "small.yaml", "--cpuprofile", "cpu", "--force"); code != 0 {
			t.Error(errs)
		}
	}
	if err := syscall.Mkfifo("pipe", 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := call(t, "run", "small.yaml", "--cpuprofile", "pipe", "--force"); code != 2 ||
		!strings.Contains(errs, "is a pipe without a reader") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if code, _, errs := call(t, "run", "small.yaml", "--cpuprofile", "nowhere/x"); code != 2 {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// A switch may not have the name of a file that is written next to its folder.
func TestSwitchesAndFilesClash(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	for _, files := range [][]design.File{
		{{Path: "cabling.csv/nxos.cfg"}, {Path: "cabling.csv"}},
		{{Path: "cabling.csv"}, {Path: "cabling.csv/nxos.cfg"}},
		{{Path: "a/b/c"}, {Path: "a/b"}},
		{{Path: "a"}, {Path: "./a"}},
	} {
		if err := render.Write(dir, files, true); err == nil ||
			!strings.Contains(err.Error(), "nothing is written") {
			t.Errorf("%v: %v", files, err)
		}
	}
	if _, err := os.Lstat(dir); err == nil {
		t.Error("something is written")
	}
	if err := render.Write(dir, []design.File{{Path: "a/b"}, {Path: "a/c"}, {Path: "d"}}, false); err != nil {
		t.Error(err)
	}
}
