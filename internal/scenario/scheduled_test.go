package scenario_test

import (
	"strings"
	"testing"

	"railyard/internal/scenario"
)

// chassis is a scenario with a scheduled fabric.
const chassis = `name: chassis
fabric:
  kind: rail
  hosts: 2
  segments: 2
  spines: 2
  uplinks: 2
  scheduled: {cell: 512B}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
workload: {traffic: {permutation: {bytes: 1MB}}}
`

func resolved(t *testing.T, text string, sets ...string) (*scenario.Plan, error) {
	t.Helper()
	d, err := scenario.Parse("x.yaml", []byte(text), sets)
	if err != nil {
		return nil, err
	}
	return d.Resolve(nil)
}

// Open values of a scheduled fabric are set if there is one, and otherwise not.
func TestScheduledIsResolved(t *testing.T) {
	p, err := resolved(t, chassis)
	if err != nil {
		t.Fatal(err)
	}
	s := p.Scheduled
	if s == nil || s.Cell != 512 || s.Header != 16 || s.Credit != 4096 || s.Egress <= s.Credit {
		t.Errorf("%+v", s)
	}
	_, v := p.Resolved()
	for key, want := range map[string]string{"fabric.scheduled.on": "true", "fabric.scheduled.cell": "512B",
		"fabric.scheduled.speedup": "1.02", "lb": "cells"} {
		if v[key] != want {
			t.Errorf("%s is kept as %q, want %q", key, v[key], want)
		}
	}
	off := strings.Replace(chassis, "  scheduled: {cell: 512B}\n", "", 1)
	for _, of := range []struct {
		text string
		sets []string
		on   bool
	}{{off, nil, false}, {off, []string{"fabric.scheduled.on=true"}, true},
		{chassis, []string{"fabric.scheduled.on=false"}, false},
		{off, []string{"fabric.scheduled.credit=8KiB"}, true},
		{strings.Replace(chassis, "{cell: 512B}", "{}", 1), nil, true}} {
		if p, err := resolved(t, of.text, of.sets...); err != nil || (p.Scheduled != nil) != of.on {
			t.Errorf("%v: %v, want scheduled %v", of.sets, err, of.on)
		}
	}
}

// The required egress buffer grows with the cables' length; a smaller one is noted.
func TestScheduledEgressFollowsTheLoop(t *testing.T) {
	near, err := resolved(t, chassis)
	if err != nil {
		t.Fatal(err)
	}
	far, err := resolved(t, chassis, "fabric.fabric_link.cable=1030m") // 1 km more: 5.05 us, four times
	if err != nil {
		t.Fatal(err)
	}
	const more = 1.02 * 4 * 5.0505e-6 * 50e9
	got := float64(far.Scheduled.Egress - near.Scheduled.Egress)
	if got < 0.99*more || got > 1.01*more {
		t.Errorf("1 km takes %.0f bytes more, want %.0f", got, more)
	}
	said, err := resolved(t, chassis, "fabric.scheduled.egress=0B")
	if err != nil || said.Scheduled.Egress != near.Scheduled.Egress {
		t.Errorf("0B: %v, %v, want %v, which is computed", said, err, near.Scheduled.Egress)
	}
	small, err := resolved(t, chassis, "fabric.scheduled.egress=8KiB")
	if err != nil || !strings.Contains(strings.Join(small.Notes, "\n"), "is less than the") {
		t.Errorf("%v, notes %v", err, small.Notes)
	}
}

// Settings that are impossible or useless for a scheduled fabric are rejected at their key.
func TestBadScheduled(t *testing.T) {
	for _, c := range []struct {
		name, text string
		sets       []string
		want       string
	}{
		{"cell above the packets", chassis, []string{"fabric.scheduled.cell=5KB"},
			"--set fabric.scheduled.cell=5KB: 5KB is larger than the largest packet, 4.178KB"},
		{"cell in the file", strings.Replace(chassis, "512B", "5KB", 1), nil,
			"x.yaml:8:15: fabric.scheduled.cell"},
		{"header fills the cell", chassis, []string{"fabric.scheduled.header=500B"},
			"512B leaves less than 16B next to the header of 500B"},
		{"no credit", chassis, []string{"fabric.scheduled.credit=0B"},
			"--set fabric.scheduled.credit=0B: 0B is out of range 64B–16MiB"},
		{"slower than the port", chassis, []string{"fabric.scheduled.speedup=0.9"},
			"is out of range 1–4"},
		{"egress below a credit", chassis, []string{"fabric.scheduled.egress=1KiB"},
			"has no room for a credit of"},
		{"egress above the memory", chassis, []string{"fabric.scheduled.egress=20MB"},
			"--set fabric.scheduled.egress=20MB: 20MB for each class of 2 egress ports"},
		{"message above a cell", chassis, []string{"fabric.scheduled.message=1KiB"},
			"at most the cell of 512B"},
		{"unknown key", strings.Replace(chassis, "cell:", "cel:", 1), nil, "cel"},
		{"path choice", chassis, []string{"lb=ecmp"}, "--set lb=ecmp: ecmp selects paths"},
		{"cut-through", chassis, []string{"fabric.cut_through=true"}, "cut_through"},
		{"trimming", chassis, trims, "packets wait at the ingress for credit"},
		{"telemetry", chassis, []string{"cc.algorithm=hpcc"}, "hpcc needs telemetry of every switch"},
		{"torus", `name: t
fabric: {kind: torus, k: 2, scheduled: {}}
server: {gpus: 1, nics: 1}
workload: {traffic: {permutation: {bytes: 1MB}}}
`, nil, "both have servers and a cable between them in a torus"},
		{"dragonfly", `name: t
fabric: {kind: dragonfly, k: 1, scheduled: {}}
workload: {traffic: {permutation: {bytes: 1MB}}}
`, nil, "both have servers and a cable between them in a dragonfly"},
	} {
		if _, err := resolved(t, c.text, c.sets...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
