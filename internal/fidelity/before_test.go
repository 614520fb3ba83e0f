package fidelity

import (
	"errors"
	"strings"
	"testing"

	"railyard/internal/scenario"
	"railyard/unit"
)

// tangle is a ring of leaves with chords, in which all leaves have different neighbours.
const tangle = `
name: tangle
fabric:
  types:
    host: {gpus: 1, nics: 1, nic_rate: 100Gbps}
    leaf: {ports: 16x100Gbps, role: leaf}
  nodes:
    host: {type: host, per: {x: 4000}}
    leaf: {type: leaf, per: {x: 4000}}
  cables:
    - {from: host, to: leaf, same: x}
    - {from: leaf, to: leaf, match: {x: x+1}, wrap: true}
    - {from: leaf, to: leaf, match: {x: x+37}, wrap: true}
    - {from: leaf, to: leaf, match: {x: x+411}, wrap: true}
    - {from: leaf, to: leaf, match: {x: x+1023}, wrap: true}
  fabric_link: {rate: 100Gbps}
workload: {ops: [{id: a, gpu: host-1/gpu-1, send: 1MB, to: host-2/gpu-1}]}
`

// For a fabric without a pattern the effort of routes is reported, or rejected, beforehand. For one with a pattern
// it is not mentioned.
func TestForetold(t *testing.T) {
	plan := func(text string) *scenario.Plan {
		d, err := scenario.Parse("x.yaml", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := plan(tangle)
	c, err := Before(Default, p)
	if err != nil || c.Seconds < 2 || c.Seconds > 60 || c.Memory < unit.GB/2 ||
		!strings.Contains(c.Words, "4000 switches, 16 million entries in their tables") {
		t.Errorf("%+v, %v", c, err)
	}
	var refused *ErrMemory
	if _, err := New(Default, p, 400*unit.MB); !errors.As(err, &refused) || refused.Need != c.Memory {
		t.Errorf("within 400 MB: %v", err)
	}
	if c, err := Before(Default, plan(huge)); err != nil || c.Seconds != 0 {
		t.Errorf("a fat tree: %+v, %v", c, err)
	}
	if _, err := Before("photon", p); err == nil {
		t.Error("photon is a fidelity")
	}
}
