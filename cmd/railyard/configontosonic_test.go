package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// SONiC's BGP is in another file, which is not merged; a note says so.
func TestOntoSaysThatBGPIsLeftOut(t *testing.T) {
	running := filepath.Join(rendered(t, "lab-2x2.yaml", "--os", "sonic"), "spine-1", "config_db.json")
	lab := filepath.Join(scenarios(t), "lab-2x2.yaml")
	code, _, errs := call(t, "config", "render", lab, "--onto", running,
		"--switch", "spine-1")
	if code != 0 || !strings.Contains(errs, "left out: frr.conf, which has BGP") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// Only configurations are merged.
func TestOntoWhatIsNone(t *testing.T) {
	prose := filepath.Join(t.TempDir(), "spine-1.txt")
	letter := "hostname spine-1\nfeature bgp\ninterface Ethernet1/1\n  mtu 9216\n" +
		"Dear all\nthe switch\nwas replaced\nby another\nyesterday\nYours\n"
	if err := os.WriteFile(prose, []byte(letter), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ path, says string }{
		{"../../README.md", "looks like a document in Markdown"},
		{prose, "is not a running configuration"},
	} {
		code, out, said := call(t, "config", "render", labScenario, "--onto", x.path, "--switch", "spine-1")
		if code != exitInput || out != "" || !strings.Contains(said, x.says) {
			t.Errorf("%s: exit %d, %.80s, %s", x.path, code, out, said)
		}
	}
}
