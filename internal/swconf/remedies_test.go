package swconf

import (
	"strings"
	"testing"
)

// balancing is a switch of a language that balances dynamically.
func balancing(os OS, name, mode, mac string) *Config {
	c := leaf()
	c.OS, c.File, c.Hostname.V = os, name+".cfg", name
	c.DLB = &DLB{At: Place{File: c.File, Line: 3}, Mode: Say(mode, Place{File: c.File, Line: 4})}
	if mac != "" {
		c.DLB.MAC = Say(mac, Place{File: c.File, Line: 5})
	}
	return c
}

// A neighbor's AS number is a separate statement in Junos.
func TestRemoteRemedy(t *testing.T) {
	for os, want := range map[OS]string{Junos: "peer-as 65001", NXOS: "remote-as 65001", SONiC: "remote-as 65001"} {
		if got := fixRemote(&Config{OS: os}, 65001); got != want {
			t.Errorf("%v: %s, want %s", os, got, want)
		}
	}
}

// The DLB MAC exists only in NX-OS, so a switch of another language needs none. A remedy is in the language of its
// switch.
func TestBalancersOfSeveralLanguages(t *testing.T) {
	const own = "00:00:00:00:00:01"
	list := linted(balancing(NXOS, "a", "per-packet", own), balancing(NXOS, "b", "per-packet", own),
		balancing(NVUE, "c", "per-packet", ""))
	for _, f := range list {
		if strings.HasPrefix(f.Rule, "dlb-") {
			t.Errorf("%s at %s: %s", f.Rule, f.File, f.Message)
		}
	}
	found := false
	for _, f := range linted(balancing(NXOS, "a", "flowlet", ""), balancing(NXOS, "b", "flowlet", ""),
		balancing(NVUE, "c", "per-packet", "")) {
		if f.Rule != "dlb-mode-differs" {
			continue
		}
		if found = true; f.File != "c.cfg" || strings.Contains(f.Fix, "mode flowlet") {
			t.Errorf("at %s: %s", f.File, f.Fix)
		}
	}
	if !found {
		t.Error("modes that differ are not found")
	}
}
