package scenario_test

import (
	"strings"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/scenario"
)

// trims makes queue 3 of the defaults lossy and enables trimming.
var trims = []string{"switch.queues.3.lossless=false", "switch.queues.3.trim=true",
	"switch.queues.3.limit=40KB"}

// Open values of trimming are set if a queue trims, and otherwise not.
func TestTrimmingIsResolved(t *testing.T) {
	resolve := func(sets ...string) *scenario.Plan {
		d, err := scenario.Parse("x.yaml", []byte(good), sets)
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := resolve(); p.Spec.Trim != (queue.Trim{}) || p.Spec.TrimMask() != 0 {
		t.Errorf("without a queue that trims: %+v", p.Spec.Trim)
	}
	p := resolve(trims...)
	if want := (queue.Trim{Size: 128, DSCP: 48, LastHop: 48}); p.Spec.Trim != want || p.Spec.TrimMask() != 8 {
		t.Errorf("%+v, want %+v", p.Spec.Trim, want)
	}
	p = resolve(append(trims, "switch.trim.size=64B", "switch.trim.last_hop_dscp=49",
		"switch.trim.either=true", "switch.dscp.49=7")...)
	if want := (queue.Trim{Size: 64, DSCP: 48, LastHop: 49, Either: true}); p.Spec.Trim != want {
		t.Errorf("%+v, want %+v", p.Spec.Trim, want)
	}
	_, v := p.Resolved()
	for key, want := range map[string]string{"switch.trim.size": "64B", "switch.trim.dscp": "48",
		"switch.trim.last_hop_dscp": "49", "switch.trim.either": "true", "switch.queues.3.trim": "true"} {
		if v[key] != want {
			t.Errorf("%s is kept as %q, want %q", key, v[key], want)
		}
	}
}

// Impossible settings are rejected at their key.
func TestBadTrimming(t *testing.T) {
	for name, c := range map[string]struct {
		sets []string
		want string
	}{
		"lossless": {[]string{"switch.queues.3.trim=true"},
			"--set switch.queues.3.trim=true: a lossless queue drops nothing that could be trimmed"},
		"less than two packets": {append(trims, "switch.queues.3.limit=8KB"),
			"--set switch.queues.3.limit=8KB: 8KB is less than two packets of 4.178KB"},
		"below the headers": {append(trims, "switch.trim.size=63B"),
			"--set switch.trim.size=63B: 63B is out of range 64B–16KiB"},
		"nothing is cut": {append(trims, "switch.trim.size=9216B"),
			"--set switch.trim.size=9216B: 9KiB cuts nothing off frames of at most 9KiB"},
		"behind data": {append(trims, "switch.trim.dscp=46"),
			"--set switch.trim.dscp=46: DSCP 46 goes to queue 0, which has no strict priority"},
		"last hop behind data": {append(trims, "switch.trim.last_hop_dscp=24"),
			"--set switch.trim.last_hop_dscp=24: DSCP 24 goes to queue 3, which has no strict priority"},
		"lossless headers": {append(trims, "switch.queues.7.lossless=true", "switch.queues.7.xoff=1MB"),
			"switch.trim.dscp: DSCP 48 goes to queue 7, which is lossless"},
		"headers that trim": {append(trims, "switch.queues.7.trim=true"),
			"switch.trim.dscp: DSCP 48 goes to queue 7, which trims itself"},
		"nobody trims": {[]string{"switch.trim.size=64B"},
			"switch.trim: no queue trims; switch.queues.N.trim makes one"},
	} {
		d, err := scenario.Parse("x.yaml", []byte(good), c.sets)
		if err == nil {
			_, err = d.Resolve(nil)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
}

// The default profile is the one for the switches' behaviour: without trimming, no sender sends unsolicited data.
// The selected profile is stored with the run.
func TestProfileFitsTheSwitches(t *testing.T) {
	for _, c := range []struct {
		algorithm string
		sets      []string
		want      string
	}{
		{"eqds", nil, "request"},
		{"eqds", trims, "trimming"},
		{"eqds", []string{"cc.eqds.profile=trimming"}, "trimming"},
		{"rccc", nil, "request"},
		{"rccc", trims, "htsim"},
		{"uec", nil, "request"},
		{"uec", append(trims, "cc.uec.profile=request"), "request"},
		{"dcqcn", nil, "nic"},
	} {
		d, err := scenario.Parse("x.yaml", []byte(good), append(c.sets, "cc.algorithm="+c.algorithm))
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		_, v := p.Resolved()
		if got := v["cc."+c.algorithm+".profile"]; got != c.want {
			t.Errorf("%s with %v: profile %s, want %s", c.algorithm, c.sets, got, c.want)
		}
		unasked, credit := p.Default().Values["unasked"].(float64)
		if credit && (unasked > 0) != (c.want != "request") {
			t.Errorf("%s with %v: %v goes unasked", c.algorithm, c.sets, unasked)
		}
	}
}
