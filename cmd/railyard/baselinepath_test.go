package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"railyard/internal/swconf"
)

// A baseline that was written on Windows holds on Linux, and the other way round.
func TestBaselinePathsOfAllSystems(t *testing.T) {
	print := func(file string) string {
		return fingerprint(&swconf.Finding{Rule: "mtu-small", File: file, Message: "m"})
	}
	if print(`configs\spine-1\nxos.cfg`) != print("./configs/spine-1/nxos.cfg") {
		t.Error("the separator changes the print")
	}
	if print("configs/spine-1/nxos.cfg") == print("configs/spine-2/nxos.cfg") {
		t.Error("the file does not")
	}
}

// One path may be the end of the other, names whole; two files of the same name in two folders are two.
func TestBaselineOfAnotherFolder(t *testing.T) {
	f := func(file, message string) swconf.Finding {
		return swconf.Finding{Rule: "mtu-small", File: file, Message: message}
	}
	b := &baseline{}
	for _, w := range []swconf.Finding{f("configs/leaf-1/nxos.cfg", "m"), f("configs/leaf-2/nxos.cfg", "m"),
		f("configs/leaf-1/nxos.cfg", "gone")} {
		b.were = append(b.were, w)
		b.is, b.words = append(b.is, fingerprint(&w)), append(b.words, wordprint(&w))
	}
	c := b.split([]swconf.Finding{f("../site/configs/leaf-2/nxos.cfg", "m"), f("leaf-1/nxos.cfg", "m"),
		f("leaf-3/nxos.cfg", "m"), f("f-1/nxos.cfg", "m"), f("leaf-1/nxos.cfg", "m")})
	if len(c.known) != 2 || c.byEnd != 2 || len(c.fresh) != 3 || !slices.Equal(c.gone, []int{2}) {
		t.Errorf("%+v", c)
	}
	exact := b.split([]swconf.Finding{f("leaf-1/nxos.cfg", "m"), f("configs/leaf-1/nxos.cfg", "m")})
	if len(exact.known) != 1 || exact.known[0].File != "configs/leaf-1/nxos.cfg" || exact.byEnd != 0 {
		t.Errorf("the whole path comes first: %+v", exact)
	}
}

// A baseline holds through the command when lint runs elsewhere, in JSON and in SARIF.
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

// A configuration of a folder that cannot be read ends with code 2, behind what is found in all the others.
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
