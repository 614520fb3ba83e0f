package cc_test

import (
	"strings"
	"testing"

	"railyard/cc"
	"railyard/unit"
)

// A choice sets the values that it names and takes the others from the profile.
func TestChoice(t *testing.T) {
	for text, rate := range map[string]unit.Rate{
		"none": line, "dcqcn": line / 2, "dcqcn:paper": line / 2, "dcqcn:paper,max_cut=0.25": line * 3 / 4,
		"dcqcn:paper,max_cut=0.25,min_rate=36Gbps": 36 * unit.Gbps,
	} {
		c, err := cc.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		build, err := c.Make(line)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		ctl := build(cc.Path{Line: line, MTU: 4096})
		ctl.OnCNP(0)
		runTimers(ctl, 5*unit.Microsecond)
		if got := ctl.Decision().Rate; got < rate-rate/40 || got > rate+rate/40 {
			t.Errorf("%s: %v after a CNP, want %v", text, got, rate)
		}
	}
}

// The error of a bad choice names the wrong part and the reason.
func TestWrongChoices(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "unknown congestion control \"\"; accepted: dcqcn, ",
		"swift,csig=4":              "swift,csig=4 needs switches that write into packets",
		"swift,csig=3":              "csig of swift",
		"hpcc":                      "hpcc needs switches that write into packets: only simulated ones do",
		"ndp":                       "ndp needs receivers that pull, and only simulated ones do",
		"cubic":                     "unknown congestion control \"cubic\"; accepted: dcqcn, ",
		"dcqcn:":                    "dcqcn has no profile \"\"; it has nic, paper",
		"dcqcn:bbr":                 "dcqcn has no profile \"bbr\"; it has nic, paper",
		"none:nic":                  "none has no profile \"nic\"; it has none",
		"none,g=1":                  "none has no parameter \"g\": that is one of dcqcn; it has none",
		"dcqcn,gains=1":             "dcqcn has no parameter \"gains\"; it has g, alpha_init, ",
		"swift,rate_timer=1us":      "swift has no parameter \"rate_timer\": that is one of dcqcn; ",
		"dcqcn,g":                   "g of dcqcn: ",
		"dcqcn,g=x":                 "g of dcqcn: \"x\" is not a number",
		"swift,reset_after=1.5":     "reset_after of swift: \"1.5\" is not a whole number",
		"dcqcn,cnp_delay=1us":       "cnp_delay of dcqcn is the receiver's, and only simulated ones read it",
		"dcqcn,cnp_interval=1us":    "cnp_interval of dcqcn is the receiver's, ",
		"dcqcn,g=0.1,g=0.2":         "g of dcqcn is repeated",
		"dcqcn,g=NaN":               "g of dcqcn: NaN is out of range 0.000001–0.999999",
		"dcqcn,rate_timer=2s":       "rate_timer of dcqcn: 2s is out of range 100ns–1s",
		"dcqcn,cut_interval=-1ns":   "cut_interval of dcqcn: ",
		"dcqcn,clamp_target=rarely": "clamp_target of dcqcn: \"rarely\" is neither true nor false",
	} {
		if _, err := cc.Parse(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	turned, err := cc.Parse("swift,fs_min=50,fs_max=1")
	if err == nil {
		_, err = turned.Make(100 * unit.Gbps)
	}
	if err == nil || err.Error() != "fs_max of swift: 1 packets are not above fs_min, 50" {
		t.Errorf("windows of flow scaling the wrong way round: %v", err)
	}
	c, err := cc.Parse("dcqcn,min_rate=200Gbps")
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Make(100 * unit.Gbps)
	if err == nil || !strings.Contains(err.Error(), "above the line rate") {
		t.Errorf("a floor above the line rate: %v", err)
	}
}
