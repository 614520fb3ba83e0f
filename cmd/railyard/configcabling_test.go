package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/swconf"
)

// With a cabling, lint finds the circular pause dependency of four switches, as it does with the scenario. If one
// port of the cycle has no PFC or is shut down, there is none; a Clos has none.
func TestLintFindsRingsOfPauses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ring := write("ring.yaml", `name: ring
fabric:
  kind: graph
  allow_deadlock: true
  host_link: {rate: 100Gbps, cable: 3m}
  fabric_link: {rate: 100Gbps, cable: 10m}
  graph:
    hosts: [h1, h2, h3, h4]
    switches: [{name: s1, role: leaf}, {name: s2, role: leaf}, {name: s3, role: leaf}, {name: s4, role: leaf}]
    links: [{from: h1, to: s1}, {from: h2, to: s2}, {from: h3, to: s3}, {from: h4, to: s4},
      {from: s1, to: s2}, {from: s2, to: s3}, {from: s3, to: s4}, {from: s4, to: s1}]
server: {gpus: 1, nics: 1}
`)
	rail := write("rail.yaml", "name: rail\nfabric: {kind: rail, hosts: 2, segments: 2, spines: 2}\n"+
		"server: {gpus: 2, nics: 2}\n")
	const off = "interface Ethernet1/2\n  priority-flow-control mode off\n"
	for _, c := range []struct {
		scenario, change string // added to the configuration of s1
		rings            int
	}{{ring, "", 1}, {ring, off, 0}, {ring, "interface Ethernet1/2\n  shutdown\n", 0}, {rail, "", 0}} {
		out := filepath.Join(dir, "configs")
		os.RemoveAll(out)
		if code, _, err := call(t, "config", "render", c.scenario, "--os", "nxos", "--out", out); code != 0 {
			t.Fatal(err)
		}
		if c.change != "" {
			path := filepath.Join(out, "s1", "nxos.cfg")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, append(text, c.change...), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		code, cables, err := call(t, "topo", c.scenario, "--cables")
		if code != 0 {
			t.Fatal(err)
		}
		cabled := write("cables.csv", cables)
		for _, fabric := range [][]string{{"--cabling", cabled}, {"--fabric", c.scenario}} {
			_, said, stderr := call(t, append([]string{"config", "lint", out, "--json"}, fabric...)...)
			var list []swconf.Finding
			if err := json.Unmarshal([]byte(said), &list); err != nil {
				t.Fatalf("%v: %s", err, stderr)
			}
			rings := 0
			for _, f := range list {
				if f.Rule != "pfc-deadlock" {
					continue
				}
				if rings++; !strings.Contains(f.Message, "a ring of 4 ports") ||
					!strings.Contains(f.Message, "s1 Ethernet1/2, s2 Ethernet1/3, s3 Ethernet1/3") {
					t.Errorf("%s", f.Message)
				}
			}
			if rings != c.rings {
				t.Errorf("%s with %q, %s: %d rings, want %d: %+v", filepath.Base(c.scenario), c.change,
					fabric[0], rings, c.rings, list)
			}
		}
	}
}
