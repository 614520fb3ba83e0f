package scenario

import (
	"strings"
	"testing"

	"railyard/internal/topo"
)

const railPair = `fabric:
  kind: rail
  segments: 2
  hosts: 2
  spines: 2
  hwsku: {%}
server: {gpus: 1, nics: 1}
workload:
  traffic: {permutation: {bytes: 1MB}}
`

// A switch has the device that the scenario sets: by its own name first, then by a list of names, by role, and for
// all switches. Without any, it has its type's.
func TestDevicesOfSwitches(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{strings.Replace(railPair, "%", `"*": ACS-SN5600`, 1), "ACS-SN5600 ACS-SN5600 ACS-SN5600 ACS-SN5600"},
		{strings.Replace(railPair, "%", `spine: ACS-SN5600`, 1), "- - ACS-SN5600 ACS-SN5600"},
		{strings.Replace(railPair, "%", `"*": ACS-SN5600, spine: ACS-MSN4700, "spine-?": ACS-SN5400, `+
			`spine-2: ACS-MSN3700`, 1), "ACS-SN5600 ACS-SN5600 ACS-SN5400 ACS-MSN3700"},
		{strings.Replace(rails, "split: 2}", "split: 2, hwsku: acs-sn5600}", 1),
			strings.Repeat("acs-sn5600 ", 9) +
				"acs-sn5600"}, // spine is like leaf
		{strings.Replace(strings.Replace(rails, "split: 2}", "split: 2, hwsku: ACS-SN5600}", 1), "  types:",
			"  hwsku: {spine: ACS-SN5400}\n  types:", 1), strings.Repeat("ACS-SN5600 ", 8) +
			"ACS-SN5400 ACS-SN5400"},
	} {
		p, err := resolved(t, c.text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range p.Graph.Nodes {
			if n.Role != topo.Host && n.HwSKU == "" {
				got = append(got, "-")
			} else if n.Role != topo.Host {
				got = append(got, n.HwSKU)
			} else if n.HwSKU != "" {
				t.Errorf("the server %s is a %s", n.Name, n.HwSKU)
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s\nwant %s", s, c.want)
		}
	}
	for text, want := range map[string]string{
		strings.Replace(railPair, "%", "spine: ACS-SN560",
			1): `x.yaml:6:11: fabric.hwsku.spine: "ACS-SN560" is an unknown device`,
		strings.Replace(railPair, "%", "leafs: ACS-SN5600",
			1): `fabric.hwsku.leafs: no switch is called so, nor is ` +
			`of that role`,
		strings.Replace(railPair, "%", "seg-1-host-1: ACS-SN5600", 1): `no switch is called so`,
		strings.Replace(railPair, "%", `"[": ACS-SN5600`, 1):          `no switch is called so`,
		strings.Replace(railPair, "{%}", "7", 1):                      `fabric.hwsku`,
		strings.Replace(rails, "split: 2}", "split: 2, hwsku: X}",
			1): `fabric.types.leaf.hwsku: "X" is an unknown device`,
		strings.Replace(rails, "gpus: 4, nics", "hwsku: ACS-SN5600, gpus: 4, nics",
			1): `a server (it has gpus ` +
			`or nics) has no`,
	} {
		if _, err := resolved(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}
