package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A baseline applies if lint runs in another directory, in JSON and in SARIF.
func TestBaselineRunElsewhere(t *testing.T) {
	text, err := os.ReadFile(seedConfig)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "site", "leaf.cfg")
	if err := os.Mkdir(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(text, "interface Ethernet1/8\n  service-policy type qos input "+
		"GONE\n"...),
		0o644); err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"--json", "--sarif"} {
		t.Chdir(dir)
		_, was, _ := call(t, "config", "lint", "site", form)
		if err := os.WriteFile(filepath.Join(dir, "known"), []byte(was), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Chdir(filepath.Join(dir, "site"))
		code, _, said := call(t, "config", "lint", "leaf.cfg", "--baseline", "../known")
		if code != exitOK || !strings.Contains(said, ", 0 gone") || !strings.Contains(said, "another "+
			"folder") {
			t.Errorf("%s: exit %d, %s", form, code, said)
		}
	}
}

// An unreadable configuration of a folder gives exit code 2, after the findings of all others.
func TestBrokenAmongOthers(t *testing.T) {
	text, err := os.ReadFile(seedConfig)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"a.cfg": "\x00\x01", "leaf.cfg": string(text) +
		"interface Ethernet1/8\n  service-policy type qos input GONE\n", "config_db.json": `{"PORT": {`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	code, out, said := call(t, "config", "lint", dir)
	if code != exitInput || !strings.Contains(out, "policy-undefined") || !strings.Contains(said,
		"2 of 3 configurations could not be read") || !strings.Contains(said, "a.cfg:1") ||
		!strings.Contains(said, "config_db.json:1") {
		t.Errorf("exit %d, %s, %s", code, out, said)
	}
	if code, out, _ := call(t, "config", "lint", filepath.Join(dir, "a.cfg"), filepath.Join(dir,
		"leaf.cfg")); code != exitInput || out != "" {
		t.Errorf("a file by its name: exit %d, %s", code, out)
	}
}
