package scenario

import (
	"runtime"
	"testing"

	"railyard/internal/long"
)

// Fabrics of 131,072 GPUs: by a builder, by types, nodes and cables, and with a GPU per server.
var largest = map[string]string{
	"rail": `
fabric: {kind: rail, hosts: 128, segments: 8, pods: 16, spines: 64, uplinks: 2,
  super_spines: 1024, planes: 16, host_link: {rate: 400Gbps, cable: 3m},
  fabric_link: {rate: 400Gbps, cable: 50m}}
server: {gpus: 8, nics: 8}
`,
	"types": `
fabric:
  types:
    host: {gpus: 8, nics: 8, nic_rate: 400Gbps}
    leaf: {ports: 256x400Gbps, role: leaf}
    spine: {ports: 256x400Gbps, role: spine}
    core: {ports: 128x400Gbps, role: core}
  nodes:
    host: {type: host, per: {pod: 16, segment: 8}, count: 128}
    leaf: {type: leaf, per: {pod: 16, segment: 8, rail: 8}}
    spine: {type: spine, per: {pod: 16, plane: 64}}
    core: {type: core, per: {plane: 64}, count: 16}
  cables:
    - {from: host, to: leaf, same: [pod, segment], match: {rail: nic}, length: 3m}
    - {from: leaf, to: spine, same: pod, count: 2, length: 50m}
    - {from: spine, to: core, same: plane, count: 8, length: 200m}
  fabric_link: {rate: 400Gbps}
`,
	"fat tree": `
fabric: {kind: fat-tree, k: 80, host_link: {rate: 400Gbps, delay: 1us}}
`,
}

const itsWork = `
switch: {buffer: 512MiB}
workload: {traffic: {permutation: {bytes: 256KiB}}}
`

// The largest fabrics are loaded; a fat tree of k = 80 has 128,000 GPUs. The fabric of rails is always loaded, the
// others only in long tests.
func TestLargestFabrics(t *testing.T) {
	for name, gpus := range map[string]int{"rail": 131_072, "types": 131_072, "fat tree": 128_000} {
		if name != "rail" && !long.On() {
			continue
		}
		p, err := resolved(t, "name: large\n"+largest[name]+itsWork)
		if err != nil {
			t.Fatal(name, err)
		}
		if n := p.Graph.TotalGPUs(); n != gpus {
			t.Errorf("%s: %d GPUs", name, n)
		}
	}
}

// BenchmarkLoad reads, resolves and routes the largest fabrics, and reports their memory:
//
//	go test -bench Load ./internal/scenario
func BenchmarkLoad(b *testing.B) {
	for _, name := range []string{"rail", "types", "fat tree"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p, err := resolved(b, "name: large\n"+largest[name]+itsWork)
				if err != nil {
					b.Fatal(err)
				}
				r := p.Graph.Route(nil)
				b.StopTimer()
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				b.ReportMetric(float64(m.HeapAlloc)/1e6, "MB-held")
				runtime.KeepAlive(p)
				runtime.KeepAlive(r)
				b.StartTimer()
			}
		})
	}
}
