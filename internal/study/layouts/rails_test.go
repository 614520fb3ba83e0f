package layouts

import (
	"math"
	"strings"
	"testing"

	"railyard/internal/planner"
	"railyard/internal/scenario"
	"railyard/internal/workload"
	"railyard/unit"
)

const eight = "server: {gpus: 8, nics: 8}\n"

func parsed(t *testing.T, fabric, server string) (*scenario.Document, *scenario.Plan) {
	t.Helper()
	d, err := scenario.Parse("test", []byte("name: a\nfabric: "+fabric+
		"\n"+server+"workload: {traffic: {permutation: {bytes: 1MB}}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return d, p
}

// A fabric of rails can be sliced: a slice with fewer servers and uplinks is a fabric of the same kind, without the
// whole's failures. A fabric whose rails are connected reports why it cannot be sliced.
func TestRails(t *testing.T) {
	d, p := parsed(t, "{kind: rail, segments: 4, hosts: 16, spines: 4, uplinks: 2}", eight)
	r := RailsOf(p)
	if r.Hosts != 16 || r.Segments != 4 || r.Uplinks != 8 || !r.Separate || r.Whole != "" {
		t.Fatalf("%+v", r)
	}
	if err := cutFabric(&d.File, p, planner.Slice{Hosts: 2, Segments: 2, Uplinks: 4}); err != nil {
		t.Fatal(err)
	}
	cut, err := d.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := RailsOf(cut); got.Hosts != 2 || got.Segments != 2 || got.Uplinks != 4 || cut.Graph.TotalGPUs() != 32 {
		t.Errorf("%+v, %d GPUs", got, cut.Graph.TotalGPUs())
	}
	if _, p := parsed(t, "{kind: torus, k: 4, allow_deadlock: true}", ""); RailsOf(p).Whole == "" {
		t.Errorf("%+v", RailsOf(p))
	}
}

// The cost model's fabric has the scenario's rates: those of the slowest server.
func TestSiteOf(t *testing.T) {
	_, p := parsed(t, "{kind: rail, segments: 4, hosts: 16, spines: 4, uplinks: 2, host_link: {rate: 200Gbps}}", eight)
	s := SiteOf(p, 512, &workload.Training{})
	if s.PerServer != 8 || s.Latency != 2*p.NICs.Latency+2e6 || s.NVLatency != p.NVLatency {
		t.Errorf("%+v", s)
	}
}

// A folded scenario is one rail of the cluster: its servers have one GPU of each group, and no NVLink.
func TestFoldedFabric(t *testing.T) {
	const text = "fabric: {kind: rail, hosts: 4, spines: 2}\nserver: {gpus: 1, nics: 1}\n" +
		"workload: {training: {model: llama-2-7b, tp: 8, dp: 4, fold: FOLD}}\n"
	of := func(fold string, sets ...string) error {
		d, err := scenario.Parse("folded.yaml", []byte(strings.Replace(text, "FOLD", fold, 1)), sets)
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Fabric(nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Asked(workload.NewTraining(), p, "folded.yaml", 0)
		return err
	}
	const whole = "--set server.gpus=8 --set server.nics=8 --set workload.training.fold=false"
	err := of("true")
	if err == nil || !strings.Contains(err.Error(), "one of 8 rails") || !strings.HasSuffix(err.Error(), whole) {
		t.Error(err)
	}
	if err := of("true", "server.gpus=8", "server.nics=8", "workload.training.fold=false"); err != nil {
		t.Error(err)
	}
}

// Servers that differ are estimated as the one with the least NIC rate per GPU, and MFU is of the peak of all.
func TestMixedServers(t *testing.T) {
	const fabric = `
  types:
    old: {gpus: 4, nics: 2, nic_rate: 200Gbps, gpu: a100}
    new: {gpus: 8, nics: 4, nic_rate: 400Gbps, gpu: h100}
    leaf: {ports: 64x400Gbps}
  nodes: {old: {type: old, count: 3}, new: {type: new, count: 3}, leaf: {type: leaf, count: 1}}
  cables: [{from: old, to: leaf}, {from: new, to: leaf}]`
	_, p := parsed(t, fabric, "")
	s := SiteOf(p, 36, &workload.Training{})
	mean := (12*312 + 24*989.) / 36 / 312 // peaks in TFLOP/s
	if s.GPU.Name != "a100" || s.PerServer != 4 || s.NIC != 100*unit.Gbps || !s.Mixed || math.Abs(s.Others/mean-1) > 0.001 {
		t.Errorf("%+v, the mean of peaks is %.3f of the least", s, mean)
	}
	_, p = parsed(t, "{kind: rail, hosts: 4, spines: 2}", eight)
	if s := SiteOf(p, 32, &workload.Training{}); s.Mixed || s.Others != 0 {
		t.Errorf("%+v", s)
	}
}
