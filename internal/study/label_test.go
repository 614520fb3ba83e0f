package study

import (
	"slices"
	"strings"
	"testing"

	"railyard/internal/scenario"
)

// TestLabels: the label of a variant has its values. Numbers and booleans have the last part of their key, or as
// many parts as distinguish lists.
func TestLabels(t *testing.T) {
	for lists, want := range map[string][]string{
		"lb=ecmp,spray": {"ecmp", "spray"},
		"workload.training.schedule=interleaved workload.training.vpp=2,4": {"vpp=2", "vpp=4"},
		"switch.pfc=true,false lb=ecmp,spray":                              {"pfc=true ecmp", "pfc=true spray", "pfc=false ecmp", "pfc=false spray"},
		"fabric.host_link.rate=100Gbps,200Gbps":                            {"rate=100Gbps", "rate=200Gbps"},
		"fabric.host_link.rate=1Gbps,2Gbps fabric.fabric_link.rate=3Gbps":  {"host_link.rate=1Gbps", "host_link.rate=2Gbps"},
	} {
		m := Matrix{Scenarios: []string{"x.yaml"}, Set: strings.Fields(lists)}
		all, err := m.Variants()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range all {
			got = append(got, v.Label)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", lists, got, want)
		}
	}
}

// TestOverfull: a training that fits the usable memory of a GPU, and one that exceeds it.
func TestOverfull(t *testing.T) {
	for sets, want := range map[string]string{
		"workload.training.zero=3": "",
		"workload.training.zero=0": "221 of 85.5 GB (90 % may be filled)",
	} {
		doc, err := scenario.Parse("x.yaml", []byte("fabric: {kind: rail, hosts: 2, spines: 1}\n"+
			"server: {gpu: h100, gpus: 8, nics: 8}\nworkload: {training: {model: gpt3-13b, dp: 16}}\n"), []string{sets})
		if err != nil {
			t.Fatal(err)
		}
		p, err := doc.Sums(nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := overfull(p); got != want {
			t.Errorf("%s: %q, want %q", sets, got, want)
		}
	}
}
