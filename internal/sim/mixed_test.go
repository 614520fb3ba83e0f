package sim

import (
	"strings"
	"testing"

	"railyard/cc"
	"railyard/unit"
)

// mixed is a switch with servers of three kinds: one NIC per GPU, one NIC for both, and four NICs for one GPU.
const mixed = `
fabric:
  types:
    own: {gpus: 2, nics: 2, nic_rate: 400Gbps}
    shared: {gpus: 2, nics: 1, nic_rate: 100Gbps}
    four: {gpus: 1, nics: 4, nic_rate: 100Gbps}
    store: {nics: 1, nic_rate: 200Gbps}
    leaf: {ports: 32x400Gbps, split: 4}
  nodes:
    own: {type: own, count: 2}
    shared: {type: shared, count: 2}
    four: {type: four, count: 2}
    store: {type: store}
    leaf: {type: leaf}
  cables:
    - {from: own, to: leaf}
    - {from: shared, to: leaf}
    - {from: four, to: leaf}
    - {from: store, to: leaf}
`

// A GPU sends at the rate of its NICs: of one, of a share of one, or of several.
func TestServersThatDiffer(t *testing.T) {
	const bytes = 10_000_000
	for _, c := range []struct {
		from, to string
		rate     unit.Rate
	}{
		{"own-1/gpu-2", "own-2/gpu-1", 400 * unit.Gbps},
		{"shared-1/gpu-2", "shared-2/gpu-1", 100 * unit.Gbps},
		{"four-1/gpu-1", "four-2/gpu-1", 400 * unit.Gbps},
		{"four-1/gpu-1", "own-2/gpu-1", 400 * unit.Gbps},
		{"shared-1/gpu-1", "own-1/gpu-1", 100 * unit.Gbps},
	} {
		_, s, tables := runAll(t, mixed+
			"workload: {traffic: {flows: [{from: "+c.from+", to: "+c.to+", bytes: 10MB}]}}\n")
		goodput := float64(bytes) * 8 / unit.Time(s.StepTime).Seconds() / float64(c.rate)
		if goodput > 1 || goodput < 0.93 {
			t.Errorf("%s to %s: %.3f of %v", c.from, c.to, goodput, c.rate)
		}
		for _, coll := range s.Collectives {
			if coll.BusBW > coll.Bound || coll.Bound > 0 && coll.BusBW < 0.9*coll.Bound {
				t.Errorf("%s to %s: %g of a bound of %g", c.from, c.to, coll.BusBW, coll.Bound)
			}
		}
		for _, f := range tables.Flows {
			if f.Done-f.Posted < f.Ideal {
				t.Errorf("%s to %s: %d below its ideal of %d", c.from, c.to, f.Done-f.Posted, f.Ideal)
			}
		}
	}
}

// Congestion control scales its steps to the rate of its own NIC.
func TestStepsOfEveryNIC(t *testing.T) {
	r := load(t, mixed+"workload: {traffic: {permutation: {bytes: 1MB}}}\n")
	p := r.Plan
	slow, fast := p.Default().At(100*unit.Gbps), p.Default().At(400*unit.Gbps)
	if slow["ai"] == fast["ai"] {
		t.Fatal("the profile does not scale")
	}
	g := p.Graph
	for _, pair := range [][2]string{{"own-1/gpu-1", "own-2/gpu-1"}, {"shared-1/gpu-1", "own-2/gpu-1"}} {
		src, _ := g.FindGPU(pair[0])
		dst, _ := g.FindGPU(pair[1])
		line := p.Line(g.NICOf[src])
		ctl := r.Hosts.Controller(r.Conn(0, src, dst, 0))
		ctl.OnCNP(0)
		alone := p.Default().CC.New(p.Default().At(line))(cc.Path{Line: line, MTU: 4096})
		alone.OnCNP(0)
		for at := ctl.Decision().TimerAt; at < unit.Millisecond; at = ctl.Decision().TimerAt {
			ctl.OnTimer(at)
			alone.OnTimer(at)
			if ctl.Decision() != alone.Decision() {
				t.Fatalf("%s at %v: %+v, alone %+v", pair[0], at, ctl.Decision(), alone.Decision())
			}
		}
	}
	if got, want := p.Default().Words, "each NIC's rate, 100Gbps to 400Gbps"; !strings.Contains(got, want) {
		t.Errorf("%q does not say %q", got, want)
	}
}
