package extendtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/query"
	"railyard/internal/whatif"
	"railyard/simulate"
	"railyard/unit"
)

// add registers a cause of this test alone.
func add(key, from string, claim func(m *cause.Message) unit.Time) *cause.Cause {
	of, _ := cause.Find(from)
	c := &cause.Cause{Key: key, Name: strings.ReplaceAll(key, "_", " "), About: key, Color: "#010203", From: of.ID,
		Claim:    func(_ *cause.Facts, m *cause.Message) (unit.Time, int) { return claim(m), 0 },
		Without:  func(*cause.Facts) cause.Change { return cause.Change{Impossible: "for tests"} },
		Remedies: func(*cause.Facts) []cause.Change { return nil }}
	cause.Add(c)
	return c
}

// Causes that claim a tenth of each message, all of it, more than that, and less than nothing.
var (
	tenth  = add("tenth", "line_rate", func(m *cause.Message) unit.Time { return (m.Done - m.Posted) / 10 })
	greedy = add("greedy", "latency", func(m *cause.Message) unit.Time { return m.Done - m.Posted })
	beyond = add("beyond", "incast", func(m *cause.Message) unit.Time { return 2*(m.Done-m.Posted) + 1 })
	none   = add("none", "line_rate", func(m *cause.Message) unit.Time { return -1 })
)

// TestClaims checks that claims are cut to what is there and that is noted, that the shares add up to the step in
// summary.json and causes.parquet, and that all forms of a fabric's paths are described.
func TestClaims(t *testing.T) {
	const head = "name: claims\nfabric: {kind: rail, segments: 2, hosts: 2, spines: 2, uplinks: 1}\n" +
		"server: {gpus: 2, nics: 2}\nworkload: {traffic: {ring-allreduce: {bytes: 4MB}}}\n"
	for _, set := range [][]string{nil, {"lb=spray", "transport=mrc"}, {"fidelity=flow"}, {"fidelity=reuse"}} {
		dir := t.TempDir() + "/run"
		s, err := simulate.Run(context.Background(), "claims", []byte(head), simulate.Options{Set: set, Dir: dir})
		if err != nil {
			t.Fatal(set, err)
		}
		a := s.Chain
		if a.Total() != s.StepTime || slices.Min(a.Own[:]) < 0 {
			t.Errorf("%v: shares %v add up to %d of %d", set, a.Own, a.Total(), s.StepTime)
		}
		if a.Own[tenth.ID] <= 0 || a.Own[greedy.ID] <= 0 || a.Own[cause.Latency] != 0 || a.Own[none.ID] != 0 {
			t.Errorf("%v: %v", set, a.Own)
		}
		notes := strings.Join(s.Cut, "\n")
		for _, want := range []string{"greedy: ", "claimed out of latency on the critical path, which has ",
			"beyond: ", "none: -1 ps claimed of a message from host-"} {
			if !strings.Contains(strings.ReplaceAll(notes, "−", "-"), want) {
				t.Errorf("%v: no %q in\n%s", set, want, notes)
			}
		}
		tables, err := query.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		r, err := tables.Select(context.Background(),
			"select sum(time_ps+reaction_ps), sum(case when cause='tenth' then time_ps end) from causes where scope='critical_path'")
		if err != nil || fmt.Sprint(r.Rows) != fmt.Sprintf("[[%d %d]]", s.StepTime, a.Own[tenth.ID]) {
			t.Errorf("%v: causes.parquet has %v: %v", set, r, err)
		}
		text, err := json.Marshal(a)
		var back cause.Account
		if err != nil || json.Unmarshal(text, &back) != nil || back != *a {
			t.Errorf("%v: %s reads back as %+v: %v", set, text, back, err)
		}
	}
}

// halls is a ring over two halls 10 km apart.
const halls = `
name: halls
fabric:
  types:
    host: {gpus: 1, nics: 1, nic_rate: 400Gbps}
    leaf: {model: tomahawk4}
    router: {like: leaf, role: spine}
  nodes:
    host: {type: host, per: {hall: 2}, count: 2}
    leaf: {type: leaf, per: {hall: 2}}
    router: {type: router, per: {hall: 2}}
  cables:
    - {from: host, to: leaf, same: hall, length: 10m}
    - {from: leaf, to: router, same: hall, count: 2, length: 100m}
    - {from: router-1, to: router-2, count: 2, length: 10km}
workload: {traffic: {ring-allreduce: {bytes: 4MB}}}
`

// TestCables checks that a message sees the lengths of its path, and that a change of cables is simulated: what a cause
// claims for long ones is what the run without these is shorter, within a hundredth.
func TestCables(t *testing.T) {
	greedy.Claim, beyond.Claim, none.Claim = idle, idle, idle
	const most = 300_000
	tenth.From = cause.Latency
	tenth.Claim = func(_ *cause.Facts, m *cause.Message) (lost unit.Time, hop int) {
		for _, h := range m.Hops {
			lost += h.Delay - min(h.Delay, unit.Time(float64(h.Delay)*most/float64(h.LengthMM)))
		}
		return lost, len(m.Hops) / 2
	}
	change := cause.Change{Cables: func(c *cause.Cable) {
		if c.LengthMM > most {
			c.Delay, c.LengthMM = c.Delay*most/unit.Time(c.LengthMM), most
		}
	}}
	s := whatif.Scenario{Name: "halls", Text: []byte(halls)}
	far, err := s.Run(&cause.Change{}, whatif.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	near, err := s.Run(&change, whatif.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	saved, claimed := far.Summary.StepTime-near.Summary.StepTime, far.Summary.Chain.Own[tenth.ID]
	if 100*claimed < 99*saved || 99*claimed > 100*saved || len(far.Summary.Cut) > 0 {
		t.Errorf("%d ps claimed, a run without saves %d: %v", claimed, saved, far.Summary.Cut)
	}
}

// idle claims nothing.
func idle(*cause.Facts, *cause.Message) (unit.Time, int) { return 0, -1 }
