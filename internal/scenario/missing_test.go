package scenario

import (
	"strings"
	"testing"
)

// TestMissingNumber: a number that nobody set is missing and not 0, with its range; one that is set is out of it.
func TestMissingNumber(t *testing.T) {
	const site = "fabric: {kind: rail, hosts: 2, spines: 2}\n"
	for traffic, want := range map[string]string{
		"incast: {bytes: 1MB}":                            "incast.fan_in: is missing; accepted: between 1 and 32767",
		"incast: {bytes: 1MB, fan_in: 0}":                 "incast.fan_in: 0 is out of range 1–32767",
		"incast: {fan_in: 2}":                             "incast.bytes: is missing; accepted: between 1B and 100000GB",
		"permutation: {}":                                 "permutation.bytes: is missing",
		"flows: [{from: host-1/gpu-1, to: host-2/gpu-1}]": "flows[0].bytes: is missing",
		"flows: [{from: host-1/gpu-1, to: h, bytes: 0B}]": "flows[0].bytes: 0B is out of range",
		"collective: {kind: all-gather}":                  "collective.bytes: is missing",
		"collective: {kind: all-gather, bytes: 0B}":       "collective.bytes: 0B is out of range",
		"background: {bytes: 1MB}":                        "background.",
	} {
		_, err := resolved(t, site+"workload: {traffic: {"+traffic+"}}\n")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", traffic, err, want)
		}
	}
}

// TestRangeOfCount: the range of a count has 0 only in kinds of fabrics that take it.
func TestRangeOfCount(t *testing.T) {
	const work = "workload: {traffic: {permutation: {bytes: 1MB}}}\n"
	for _, c := range []struct{ fabric, set, want string }{
		{"kind: rail, hosts: 2, spines: 2", "fabric.hosts=1000000000", "is out of range 1–131072"},
		{"kind: rail, hosts: 2, spines: 2", "fabric.hosts=0", "0 is out of range 1–131072"},
		{"kind: rail-only, hosts: 2", "fabric.hosts=1000000000", "is out of range 1–131072"},
		{"kind: torus, k: 2", "fabric.hosts=1000000000", "is out of range 1–131072, or 0"},
		{"kind: fat-tree, k: 4", "fabric.k=4000", "is out of range 1–2048"},
	} {
		_, err := resolved(t, "fabric: {"+c.fabric+"}\n"+work, c.set)
		if err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s --set %s: %v, want %q", c.fabric, c.set, err, c.want)
		}
	}
}

// TestEmptyList: --set key=[] empties a list; a list that a scenario needs is then missing.
func TestEmptyList(t *testing.T) {
	const text = "fabric: {kind: rail, hosts: 2, spines: 2}\nserver: {gpus: 2, nics: 2, nics_used: [nic-1]}\n" +
		"jobs: {a: {on: [host-1, host-2], traffic: {permutation: {bytes: 1MB}}}}\n" +
		"events: [{link: 'rail-1:Eth3', at: 50us, up: false}]\n"
	for set, want := range map[string]string{
		"events=[]":                "",
		"server.nics_used=[]":      "",
		"jobs.a.on=[]":             "jobs.a.gpus: is missing",
		"jobs=[]":                  "--set jobs=[]: is empty; give each a name and a workload",
		"calibration.cpu=[]":       "unknown key",
		"fabric.host_link.rate=[]": "is not a rate",
		"events=[{}]":              "the key is a list of 1 entry; name a value in it, as events[0].KEY=VALUE, empty it with []",
		"events=":                  "the key is a list of 1 entry",
	} {
		p, err := resolved(t, text, set)
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("--set %s: %v, want %q", set, err, want)
		case set == "events=[]" && len(p.Events) > 0:
			t.Errorf("--set %s: %v", set, p.Events)
		}
	}
	const phased = "fabric: {kind: rail, hosts: 2, spines: 2}\nworkload: {traffic: {permutation: {bytes: 1MB}}}\n"
	if _, err := resolved(t, phased, "events=[]"); err != nil {
		t.Errorf("an empty list: %v", err)
	}
}

// TestIncastBesideNetwork: a note says how many senders of an incast share NVLink with its receiver.
func TestIncastBesideNetwork(t *testing.T) {
	const site = "fabric: {kind: rail, hosts: 6, spines: 2}\nserver: {gpus: 4, nics: 4}\n"
	for _, c := range []struct{ work, set, want string }{
		{"workload: {traffic: {incast: {bytes: 1MB, fan_in: 10}}}", "seed=1", "workload.traffic.incast: 3 of 10 senders share NVLink"},
		{"workload: {traffic: {incast: {bytes: 1MB, fan_in: 10}}}", "server.nvlink_domain=24", "10 of 10 senders share NVLink"},
		{"workload: {traffic: {incast: {bytes: 1MB, fan_in: 10, target: host-1/gpu-4}}}", "seed=1", ""},
		{"workload: {traffic: {incast: {bytes: 1MB, fan_in: 1}}}", "seed=1", "1 of 1 sender share"},
		{"jobs: {a: {on: [host-2, host-1], traffic: {incast: {bytes: 1MB, fan_in: 5, target: host-1/gpu-1}}}}", "seed=1",
			"3 of 5 senders share NVLink"},
		{"workload: {traffic: {incast: {bytes: 1MB, fan_in: 10, target: host-1/gpu-4}}}", "server={}", "several values"},
	} {
		p, err := resolved(t, site+c.work+"\n", c.set)
		if err != nil {
			if !strings.Contains(err.Error(), c.want) || c.want == "" {
				t.Errorf("%s --set %s: %v", c.work, c.set, err)
			}
			continue
		}
		notes := strings.Join(p.Notes, "\n")
		if strings.Count(notes, "share NVLink") != min(1, len(c.want)) || !strings.Contains(notes, c.want) {
			t.Errorf("%s --set %s: notes %q, want %q", c.work, c.set, p.Notes, c.want)
		}
	}
}
