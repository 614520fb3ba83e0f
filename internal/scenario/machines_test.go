package scenario

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"railyard/unit"
)

// told is servers described by files, at one switch for each NIC.
const told = `
fabric:
  types:
    host: {gpu: %s, topology: %s, nic_rate: 200Gbps}
    sw: {}
  nodes: {host: {type: host, count: 2}, sw: {type: sw, per: {rail: %d}}}
  cables: [{from: host, to: sw, match: {rail: nic}}]
workload: {traffic: {permutation: {bytes: 1MiB}}}
`

// fromMachine resolves a scenario that names a text of internal/machine's tests.
func fromMachine(text string, sets ...string) (*Plan, error) {
	d, err := Parse("x.yaml", []byte(text), sets)
	if err != nil {
		return nil, err
	}
	return d.Resolve(func(name string) ([]byte, error) { return os.ReadFile("../machine/testdata/" + name) })
}

// GPUs send by their nearest NICs, share the shared links of the file, and have the file's connections. A NIC that
// is near none is omitted and reported.
func TestServersFromFiles(t *testing.T) {
	p, err := fromMachine(fmt.Sprintf(told, "a100", "dgx-a100.txt", 8))
	if err != nil {
		t.Fatal(err)
	}
	g := p.Graph
	for gpu := range g.TotalGPUs() {
		nic := g.NICs[g.NICOf[gpu]]
		if g.Ways(gpu) != 1 || nic.Index != g.LocalOf(gpu) || nic.Rail != nic.Index {
			t.Errorf("%s sends by %s", g.GPUName(gpu), g.NICName(g.NICOf[gpu]))
		}
	}
	if notes := strings.Join(p.Notes, "\n"); !strings.Contains(notes,
		"dgx-a100.txt: 4 NICs nearest to no GPU and left out: mlx5_4, mlx5_5, mlx5_10, mlx5_11") {
		t.Error(notes)
	}
	if f := p.Inside[0]; f.Paired() || f.Slowest() != 1920*unit.Gbps || p.Kinds[0].Reach() != 1920*unit.Gbps {
		t.Errorf("%v inside", f.Slowest())
	}

	v100 := fmt.Sprintf(told, "v100", "dgx-1.txt", 4) +
		"gpus: {v100: {bf16_tflops: 125, memory: 32GB, hbm: 900GB/s, nvlink: 150GB/s}}\n"
	if _, err := fromMachine(v100); err == nil || !strings.Contains(err.Error(), "server.pcie: GPU0 and GPU5 are connected by PCIe alone, whose rate the source does not contain: set server.pcie") {
		t.Error(err)
	}
	if p, err = fromMachine(v100, "server.pcie=12GB/s"); err != nil {
		t.Fatal(err)
	}
	if f := p.Inside[1]; f.Rate(0, 3) != 400*unit.Gbps || f.Rate(0, 1) != 200*unit.Gbps ||
		f.Rate(0, 5) != 96*unit.Gbps {
		t.Errorf("%v, %v and %v inside", f.Rate(0, 3), f.Rate(0, 1), f.Rate(0, 5))
	}
	if g := p.Graph; g.NICOf[3] != 1 || g.NICOf[8+7] != 4+3 {
		t.Errorf("GPUs send by %v", g.NICOf)
	}
}

// PCIe is a limit only where it is slower than the NICs connected to it.
func TestBusesThatLimit(t *testing.T) {
	text := fmt.Sprintf(told, "a100", "nd-a100-v4.xml", 8)
	for rate, want := range map[string]int{"200Gbps": 0, "400Gbps": 32} {
		p, err := fromMachine(text, "fabric.types.host.nic_rate="+rate)
		if err != nil || len(p.Buses) != want {
			t.Errorf("%s: %d links of PCIe limit, want %d, %v", rate, len(p.Buses), want, err)
		}
	}
	p, err := fromMachine(strings.Replace(fmt.Sprintf(told, "h100", "hgx-h100-dump.xml", 8),
		", nic_rate: 200Gbps", "", 1))
	if err != nil || p.NICs.Rate != 400*unit.Gbps || len(p.Buses) != 0 {
		t.Errorf("%v", err)
	}
}

// A missing file, or one that contradicts the type, is rejected.
func TestBadMachines(t *testing.T) {
	good := fmt.Sprintf(told, "h100", "hgx-h100-dump.xml", 8)
	for _, c := range []struct{ from, to, want string }{
		{"hgx-h100-dump.xml", "none.xml", "fabric.types.host.topology: open"},
		{"hgx-h100-dump.xml", "README.md", "README.md: has no line that begins with GPU0"},
		{"gpu: h100", "gpu: h100, gpus: 4", "fabric.types.host.gpus: 4, and hgx-h100-dump.xml has 8"},
		{"gpu: h100", "gpu: h100, nics: 4", "fabric.types.host.nics: 4, and hgx-h100-dump.xml has 8"},
		{"gpu: h100", "gpu: a100", "fabric.types.host.gpu: hgx-h100-dump.xml has GPUs of compute capability 90, and a100 has 80; accepted: h100, h20, h200, h800"},
		{"sw: {}", "sw: {like: host, role: leaf}", "fabric.types.sw: a server"},
	} {
		_, err := fromMachine(strings.Replace(good, c.from, c.to, 1))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", c.to, err, c.want)
		}
	}
}
