package sim

import (
	"os"
	"testing"

	"railyard/internal/scenario"
	"railyard/unit"
)

// described runs a scenario whose servers are described by a file of internal/machine's tests.
func described(t *testing.T, text string) *Run {
	t.Helper()
	d, err := scenario.Parse("x.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) ([]byte, error) { return os.ReadFile("../machine/testdata/" + name) }
	p, err := d.Resolve(read)
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Go(nil); err != nil {
		t.Fatal(err)
	}
	return r
}

// GPUs send by the near NICs of a file, and PCIe links with less bandwidth limit them: 16 lanes of 16 GT/s carry
// 230 of 400 Gbps of payload. The report blames it.
func TestDescribedServers(t *testing.T) {
	r := described(t, `
fabric:
  types: {host: {gpu: a100, topology: nd-a100-v4.xml, nic_rate: 400Gbps}, sw: {}}
  nodes: {host: {type: host, count: 2}, sw: {type: sw, per: {rail: 8}}}
  cables: [{from: host, to: sw, match: {rail: nic}}]
workload: {traffic: {flows: [{from: host-1/gpu-3, to: host-2/gpu-3, bytes: 64MiB}]}}
`)
	s, tab, _ := r.Outcome("test")
	took := unit.Time(s.StepTime)
	if got := float64(64*unit.MiB) * 8 / took.Seconds() / 1e9; got < 228 || got > 230.5 {
		t.Errorf("%.1f Gbps", got)
	}
	conn := r.Observe().Conns[0]
	if from := r.Graph.NICs[conn.From]; from.Index != 2 {
		t.Errorf("the flow leaves by NIC %d", from.Index+1)
	}
	if s.PFCPauses != 0 || s.Drops != 0 {
		t.Errorf("%d pauses, %d drops", s.PFCPauses, s.Drops)
	}
	if f := tab.Flows[0]; float64(f.Done-f.Posted) > 1.01*float64(f.Ideal) {
		t.Errorf("it took %v, its ideal is %v", unit.Time(f.Done-f.Posted), unit.Time(f.Ideal))
	}
}

// In a cube of NVLinks two GPUs have the bandwidth of their edge, and PCIe's if there is no edge between them.
func TestCubeOfNVLinks(t *testing.T) {
	r := described(t, `
fabric:
  types: {host: {gpu: v100, topology: dgx-1.txt, nic_rate: 100Gbps}, sw: {}}
  nodes: {host: {type: host, count: 2}, sw: {type: sw}}
  cables: [{from: host, to: sw}]
gpus: {v100: {bf16_tflops: 125, memory: 32GB, hbm: 900GB/s, nvlink: 150GB/s}}
server: {pcie: 12GB/s}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-1/gpu-4, bytes: 50MB},
  {from: host-1/gpu-1, to: host-1/gpu-2, bytes: 50MB}, {from: host-1/gpu-1, to: host-1/gpu-6, bytes: 50MB}]}}
`)
	for i, gbps := range []unit.Rate{400, 200, 96} {
		want := unit.Serialize(50*unit.MB, gbps*unit.Gbps) + r.Plan.NVLatency
		if r.Exec.End[i] != want {
			t.Errorf("flow %d takes %v, want %v", i, r.Exec.End[i], want)
		}
	}
}
