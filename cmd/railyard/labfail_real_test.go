package main

import (
	"strings"
	"testing"
)

// A switch of a real lab goes down with all of its cables and recovers, except for a cable that has failed itself.
// A NIC that flaps is reachable afterwards, and impossible failures are rejected.
func TestRealLabFail(t *testing.T) {
	needsLab(t)
	t.Parallel()
	name := ownName("fail")
	raise(t, name, "--rate", "200Mbps", "--routing", "static")
	do := func(want int, args ...string) string {
		t.Helper()
		code, out, errs := call(t, append(append([]string{"lab", "fail"}, args...), "--name", name)...)
		if code != want {
			t.Fatalf("%v: exit %d, %s%s", args, code, out, errs)
		}
		return out + errs
	}
	down := func() (ports string) {
		for _, p := range []string{"spine-1:Eth1", "spine-1:Eth2", "spine-2:Eth1"} {
			if !portsOf(t, name)[p].Up {
				ports += p + " "
			}
		}
		return strings.TrimSpace(ports)
	}
	do(0, "link", "spine-1:Eth1")
	said := do(0, "switch", "spine-1")
	if said != "switch spine-1 is down\n" || down() != "spine-1:Eth1 spine-1:Eth2" {
		t.Errorf("%s, down: %s", said, down())
	}
	if r := reduce(t, name, "--bytes", "64KiB", "--iters", "1"); r[0].Wrong != 0 {
		t.Errorf("around the spine: %+v", r)
	}
	if do(0, "switch", "spine-1", "--up"); down() != "spine-1:Eth1" {
		t.Errorf("back, but for a cable: down: %s", down())
	}
	do(0, "link", "spine-1:Eth1", "--up")
	do(0, "nic", "host-2/nic-1", "--flap", "200ms", "--count", "2")
	if said := do(0, "nic", "host-2/nic-1", "--storm"); said != "nic host-2/nic-1 pauses continuously\n" {
		t.Error(said)
	}
	if said := do(0, "nic", "host-2/nic-1", "--storm", "--up"); said != "nic host-2/nic-1 pauses no more\n" {
		t.Error(said)
	}
	do(0, "link", "spine-1:Eth1", "--rate-share", "0.5", "--direction", "in")
	if r := reduce(t, name, "--bytes", "64KiB", "--iters", "1"); r[0].Wrong != 0 || down() != "" {
		t.Errorf("behind a flap: %+v, down: %s", r, down())
	}
	for want, args := range map[string][]string{
		`no switch "spine-9" in this lab; accepted: seg-1-rail-1`: {"switch", "spine-9"},
		"a server's processes end with it":                        {"server", "host-1", "--flap", "1s"},
		"a NIC pauses continuously, found a switch":               {"switch", "spine-1", "--storm"},
		"unknown value": {"fan", "x"},
		"--rate-share":  {"link", "x", "--rate-share", "2"},
	} {
		if said := do(exitInput, args...); !strings.Contains(said, want) {
			t.Errorf("%v: %s", args, said)
		}
	}
}
