package fidelity

import (
	"strings"
	"testing"

	"railyard/internal/field"
	"railyard/internal/flows"
	"railyard/internal/scenario"
)

// planned resolves a scenario text.
func planned(t *testing.T, text string, sets ...string) *scenario.Plan {
	t.Helper()
	d, err := scenario.Parse("x.yaml", []byte(text), sets)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Resolve(Read)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const four = `
name: four
fabric: {kind: rail, segments: 2, hosts: 2, spines: 2, uplinks: 1, host_link: {rate: 400Gbps}}
server: {gpus: 1, nics: 1}
fidelity: auto
workload: {traffic: {ring-allreduce: {bytes: 64MB}}}
`

// auto simulates packets if they are affordable, and otherwise flows. The summary then has the expected error of
// flows.
func TestAuto(t *testing.T) {
	for _, c := range []struct{ bytes, want string }{{"1MB", Default}, {"2TB", flows.Name}} {
		p := planned(t, four, "workload.traffic.ring-allreduce.bytes="+c.bytes)
		r, err := New(p.Fidelity, p, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Go(nil); err != nil {
			t.Fatal(err)
		}
		s, _, _ := r.Outcome("test")
		if s.Fidelity != c.want || (s.Expected != nil) != (c.want == flows.Name) {
			t.Errorf("%s: %s, expected error %v", c.bytes, s.Fidelity, s.Expected)
		}
		if e := s.Expected; e != nil && (e.PacketHops <= mostHops || e.Cases == 0 || e.Worst < e.Mean) {
			t.Errorf("%s: expected error %+v", c.bytes, e)
		}
	}
}

// A feature that flows do not support is one error with its place, and auto reports why packets are no alternative.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		sets []string
		want string
	}{
		{[]string{"lb=spray"}, "does not simulate go-back-N"},
		{[]string{"fabric.host_link.bit_error_rate=1e-12"}, "does not simulate bit errors"},
		{[]string{"lb=spray", "transport.recovery=selective", "transport.write=first-middle-last",
			"server.reorder.memory=64KiB"}, "does not simulate server.reorder"},
		{[]string{"lb=spray", "transport.recovery=selective", "transport.write=first-middle-last",
			"server.reorder.placement=order"}, "does not simulate server.reorder"},
		{[]string{"output.steps=10"}, "does not simulate output.steps"},
		{[]string{"transport.tunnel=eqds"}, "does not simulate transport.tunnel"},
	} {
		p := planned(t, four, append(c.sets, "fidelity=flow")...)
		_, err := New(p.Fidelity, p, 0)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "accepted: packet") {
			t.Errorf("%v: %v", c.sets, err)
		}
		if all := field.All(err); len(all) != 1 || all[0].Path != "fidelity" {
			t.Errorf("%v: %+v", c.sets, all)
		}
		p = planned(t, four, append(c.sets, "workload.traffic.ring-allreduce.bytes=2TB")...)
		if _, err := New(p.Fidelity, p, 0); err == nil || !strings.Contains(err.Error(), "packet-hops are more than") {
			t.Errorf("auto, %v: %v", c.sets, err)
		}
		p = planned(t, four, append(c.sets, "workload.traffic.ring-allreduce.bytes=1MB")...)
		if _, err := New(p.Fidelity, p, 0); err != nil {
			t.Errorf("auto, by packets, %v: %v", c.sets, err)
		}
	}
}
