package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// rendered writes a scenario's configuration and returns its directory.
func rendered(t *testing.T, scenario string, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	code, _, errs := call(t,
		append(append([]string{"config", "render", filepath.Join(scenarios(t), scenario), "--out", dir},
			args...),
			onDevice(args...)...)...)
	if code != 0 {
		t.Fatal(errs)
	}
	return dir
}

// onDevice adds the switch's device if the arguments name a language that needs it.
func onDevice(args ...string) []string {
	if slices.Contains(args, "sonic") {
		return []string{"--hwsku", "ACS-SN5600"}
	}
	return nil
}

// bundles is a fabric with pairs of switches, in a size that no shipped scenario has.
const bundles = `name: bundles
fabric: {kind: pod, hosts: 2, segments: 2, spines: 2, host_link: {rate: 400Gbps, cable: 3m},
  fabric_link: {rate: 400Gbps, cable: 30m}}
server: {gpus: 2, nics: 2, nic_ports: 2}
workload: {traffic: {permutation: {bytes: 1MB}}}
`

// ownSettings matches vtysh's remark about its own settings, printed to users without permission.
var ownSettings = regexp.MustCompile(`(?m)^% Can't open configuration file /etc/frr/vtysh.conf.*\n`)

// FRR accepts every file that is rendered for it, including SONiC's.
func TestVtyshConfigs(t *testing.T) {
	if _, err := exec.LookPath("vtysh"); err != nil {
		t.Skip("vtysh is not installed")
	}
	pod := filepath.Join(t.TempDir(), "pod.yaml")
	if err := os.WriteFile(pod, []byte(bundles), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][]string{
		{"lab-2x2.yaml", "frr"}, {"gpt13b-128.yaml", "frr"},
		{"fattree128-permutation.yaml", "sonic"}, {pod, "frr"}, {pod, "sonic"},
	} {
		for _, addressing := range []string{"unnumbered", "p2p"} {
			s := c[0]
			if filepath.IsAbs(s) {
				s, _ = filepath.Rel(scenarios(t), s)
			}
			files, _ := filepath.Glob(rendered(t, s, "--os", c[1], "--addressing", addressing) +
				"/*/frr.conf")
			if len(files) == 0 {
				t.Errorf("%v: no frr.conf", c)
			}
			for i, f := range files {
				if i >= 3 && i < len(files)-3 {
					continue // the switches of a tier differ in numbers only
				}
				out, err := exec.Command("vtysh", "-C", "-f", f).CombinedOutput()
				said := ownSettings.ReplaceAllString(string(out), "")
				if err != nil || said != "" {
					t.Errorf("%s: %v: %s", f, err, said)
				}
			}
		}
	}
}
