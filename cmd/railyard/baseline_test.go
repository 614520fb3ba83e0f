package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/findings"
)

// TestBaseline: findings of the baseline do not count, even on other lines. New ones do, even if they read like an
// earlier one. Findings that are gone are counted. JSON and SARIF do alike.
func TestBaseline(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile(seedConfig)
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, "interface Ethernet1/8\n  service-policy type qos input GONE\n"...)
	leaf := filepath.Join(dir, "leaf.cfg")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(leaf, string(text))
	code, was, _ := call(t, "config", "lint", leaf, "--json")
	var list []swconf.Finding
	if err := json.Unmarshal([]byte(was), &list); err != nil || code != exitFailed || len(list) < 2 {
		t.Fatalf("exit %d, %v, %d findings", code, err, len(list))
	}
	_, sarif, _ := call(t, "config", "lint", leaf, "--sarif")
	for name, base := range map[string]string{"known.json": was, "known.sarif": sarif} {
		known := filepath.Join(dir, name)
		write(known, base)
		lint := func(text string) (code int, fresh []swconf.Finding, said string) {
			write(leaf, text)
			code, out, said := call(t, "config", "lint", leaf, "--json", "--baseline", known)
			if err := json.Unmarshal([]byte(out), &fresh); err != nil {
				t.Fatal(err, said)
			}
			return code, fresh, said
		}
		moved := "! one more line\n! and another\n" + string(text)
		if code, fresh, said := lint(moved); code != exitOK || len(fresh) > 0 ||
			!strings.Contains(said, "still there and not counted, 0 gone") {
			t.Errorf("%s, moved: exit %d, %+v, %s", name, code, fresh, said)
		}
		more := moved + "interface Ethernet1/9\n  service-policy type qos input NOBODY\n"
		code, fresh, _ := lint(more)
		if code != exitFailed || !slices.ContainsFunc(fresh, func(f swconf.Finding) bool {
			return f.Rule == "policy-undefined" && strings.Contains(f.Message, "NOBODY")
		}) {
			t.Errorf("%s, one more: exit %d, %+v", name, code, fresh)
		}
		mended := strings.ReplaceAll(string(text), "qos input GONE", "qos input ROCE")
		if _, _, said := lint(mended); strings.Contains(said, " 0 gone") {
			t.Errorf("%s, mended: %s", name, said)
		}
		states := map[string]int{}
		for _, r := range results(t, leaf, known) {
			states[r.BaselineState]++
			if r.PartialFingerprints[findings.Print] == "" {
				t.Errorf("%s: a result of %s has no print", name, r.RuleID)
			}
		}
		if states["unchanged"] == 0 || states["absent"] == 0 || states[""] > 0 {
			t.Errorf("%s: states %v", name, states)
		}
	}
}

type sarifResult struct {
	RuleID, BaselineState string
	PartialFingerprints   map[string]string
}

// results are those of SARIF with a baseline.
func results(t *testing.T, leaf, known string) []sarifResult {
	_, out, _ := call(t, "config", "lint", leaf, "--sarif", "--baseline", known)
	var log struct {
		Runs []struct {
			Results []sarifResult
			Tool    struct {
				Driver struct {
					Rules []struct{ Help struct{ Markdown string } }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &log); err != nil {
		t.Fatal(err)
	}
	for _, r := range log.Runs[0].Tool.Driver.Rules {
		if !strings.Contains(r.Help.Markdown, "## Bad") || !strings.Contains(r.Help.Markdown, "## Good") {
			t.Errorf("a rule without its page: %.80q", r.Help.Markdown)
		}
	}
	return log.Runs[0].Results
}

// TestBaselineRefused: files that are no baseline are named, with what would be.
func TestBaselineRefused(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "cut": `[{"rule": "mtu-small"`,
		"other":   `{"a": 1}`,
		"unnamed": `[{"file": "x"}]`, "prints": `{"runs": [{"results": [{"ruleId": "x"}]}]}`, "number": "7"} {
		path := filepath.Join(t.TempDir(), "known.json")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		code, out, said := call(t, "config", "lint", seedConfig, "--baseline", path)
		if code != exitInput || out != "" || !strings.Contains(said, "known.json") ||
			name != "empty" && !strings.Contains(said, "accepted: what config lint --json or --sarif "+
				"writes") {
			t.Errorf("%s: exit %d, %q, %s", name, code, out, said)
		}
	}
}

// TestDirectoriesAreReadWhole: every configuration in a folder is read, whatever its name. Other files are reported
// with the reason.
func TestDirectoriesAreReadWhole(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile(seedConfig)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"leaf-running": string(text), "deep/spine.txt": string(text),
		"README.md": "# Switches\n\nOur texts.\n", "picture.png": "\x89PNG\x00\x00",
		".git/leaf.cfg": string(text),
		"cables.csv":    "from,port,to,port\nleaf,Ethernet1/1,spine,Ethernet1/1\n", "empty": ""} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, out, said := call(t, "config", "lint", dir)
	for _, name := range []string{"leaf-running", "spine.txt"} {
		if !strings.Contains(out, name) {
			t.Errorf("%s is not read: %s", name, said)
		}
	}
	if strings.Contains(out+said, ".git") {
		t.Errorf("hidden folders are read: %s", said)
	}
	for _, name := range []string{"README.md", "picture.png", "cables.csv", "empty"} {
		if strings.Contains(out, name) || !strings.Contains(said, name) {
			t.Errorf("%s is read, or is empty: %s", name, said)
		}
	}
	sole := filepath.Join(dir, "picture.png")
	if code, _, said := call(t, "config", "lint", sole); code != exitInput || !strings.Contains(said,
		"binary") {
		t.Errorf("a file by name: exit %d, %s", code, said)
	}
	if code, _, said := call(t, "config", "lint", filepath.Join(dir, "nowhere")); code != exitInput {
		t.Errorf("exit %d, %s", code, said)
	}
	none := t.TempDir()
	if code, _, said := call(t, "config", "lint", none); code != exitInput || !strings.Contains(said,
		"no file in it") {
		t.Errorf("an empty folder: exit %d, %s", code, said)
	}
	if err := os.WriteFile(filepath.Join(none, "notes"), []byte("hello\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, said := call(t, "config", "lint", none); code != exitInput ||
		!strings.Contains(said, "no configuration among 1 files") {
		t.Errorf("a folder of notes: exit %d, %s", code, said)
	}
}

// TestRulesCommand prints the list and each page.
func TestRulesCommand(t *testing.T) {
	_, list, _ := call(t, "config", "rules")
	for _, r := range swconf.Rules() {
		code, page, _ := call(t, "config", "rules", r.ID)
		if code != exitOK || !strings.HasPrefix(page, "# "+r.ID+"\n") || !strings.Contains(list, r.ID+" ") {
			t.Errorf("%s: exit %d, %.80q", r.ID, code, page)
		}
	}
	if code, _, said := call(t, "config", "rules", "mtu-smal"); code != exitInput ||
		!strings.Contains(said, `did you mean "mtu-small"?`) {
		t.Errorf("exit %d, %s", code, said)
	}
	code, out, _ := call(t, "config", "rules", "mtu-small", "--json")
	var one ruleEntry
	err := json.Unmarshal([]byte(out), &one)
	if err != nil || code != exitOK || one.Severity != swconf.Error ||
		!strings.Contains(one.Page, "## Bad") {
		t.Errorf("exit %d, %v, %+v", code, err, one)
	}
}
