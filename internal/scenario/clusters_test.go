package scenario

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"railyard/internal/topo"
	"railyard/scenarios"
	"railyard/unit"
)

// clusters are the expected counts of the published clusters, with their sources. If a source has only some of the
// counts, the others follow from 1:1 or are assumptions, as noted in the files' comments.
var clusters = []struct {
	file            string
	servers, gpus   int
	switches, wires string
	small           int // GPUs with the --set of about; 0: it runs unchanged
	source          string
}{
	{"superpod", 128, 1024, "leaf 32, spine 16", "host-leaf 1024x400Gbps, leaf-spine 1024x400Gbps", 256,
		"DGX SuperPOD B200 reference architecture, larger component counts, 4 SU"},
	{"superpod-127", 127, 1016, "leaf 32, spine 16", "host-leaf 1016x400Gbps, leaf-spine 1024x400Gbps", 0,
		"RA-11333-001 V11, tables 3 and 7: 127 nodes"},
	{"superpod-2048", 2048, 16384, "core 256, leaf 512, spine 512",
		"host-leaf 16384x400Gbps, leaf-spine 16384x400Gbps, spine-core 16384x400Gbps", 128,
		"DGX SuperPOD B200 reference architecture, larger component counts, 64 SU"},
	{"superpod-b300", 576, 4608, "leaf 64, spine 36", "host-leaf 4608x800Gbps, leaf-spine 4608x800Gbps", 128,
		"DGX SuperPOD B300 XDR reference architecture, table 3, 8 SU"},
	{"meta-24k", 3072, 24576, "leaf 1536, spine 144, super-spine 18",
		"host-leaf 24576x400Gbps, leaf-spine 27648x400Gbps, spine-super-spine 3456x400Gbps", 128,
		"arXiv 2407.21783 section 3.3.1: 8 pods of 192 racks of 16 GPUs, 1:7; SIGCOMM 2024: 18 cables up"},
	{"hpn", 1920, 15360, "aggregation 120, leaf 240",
		"host-leaf 30720x200Gbps, leaf-aggregation 14400x400Gbps", 64,
		"Qian et al., SIGCOMM 2024; docs/references.md, topologies: 240 leaves, 120 spines, 128 NICs a leaf"},
	{"megascale", 1536, 12288, "aggregation 192, core 128, leaf 192",
		"aggregation-core 6144x400Gbps, host-leaf 12288x200Gbps, leaf-aggregation 6144x400Gbps", 128,
		"Jiang et al., NSDI 2024, section 3.6: 64x400G, 32 down, split in two, 64 servers, 12,288 GPUs"},
	{"p5", 16, 128, "leaf 4, spine 8", "host-leaf 512x100Gbps, leaf-spine 128x400Gbps", 0,
		"EC2 user guide, EFA: 32 cards, 3,200 Gbit/s"},
	{"a3-mega", 32, 256, "leaf 8, spine 4", "host-leaf 256x200Gbps, leaf-spine 128x400Gbps", 0,
		"Compute Engine, GPU machine types: 8 GPU NICs of 200G"},
	{"nd-h100-v5", 1800, 14400, "core 256, leaf 480, spine 480",
		"host-leaf 14400x400Gbps, leaf-spine 15360x400Gbps, spine-core 15360x400Gbps", 128,
		"Azure, NDH100v5: 8x400G; Eagle in the Top500 of November 2023: 14,400 GPUs"},
	{"deepseek-mpft", 2048, 16384, "leaf 512, spine 256",
		"host-leaf 16384x400Gbps, leaf-spine 16384x400Gbps", 512,
		"arXiv 2505.09343, table 3, MPFT: 16,384 endpoints, 768 switches, 16,384 links"},
	{"colossus", 4096, 32768, "core 256, leaf 512, spine 512",
		"host-leaf 32768x400Gbps, leaf-spine 16384x800Gbps, spine-core 16384x800Gbps", 128,
		"NVIDIA, 28 October 2024: SN5600, three tiers, 400G a GPU, arrays of 512"},
	{"nvl72", 144, 576, "leaf 12, spine 6", "host-leaf 576x400Gbps, leaf-spine 288x800Gbps", 144,
		"DGX SuperPOD GB200 reference architecture: 8 racks, 18 trays of 4 GPUs and 4 NICs"},
	{"pollara", 8, 64, "leaf 8, spine 8", "host-leaf 256x100Gbps, leaf-spine 256x100Gbps", 0,
		"docs/references.md, mrc: 64 NICs of 400G in four planes"},
	{"mi300x", 128, 1024, "leaf 32, spine 16", "host-leaf 1024x400Gbps, leaf-spine 1024x400Gbps", 128,
		"AMD 63916, figure 5.3: 128 nodes, 64-port switches"},
	{"chassis-1152", 144, 1152, "leaf 16, spine 6", "host-leaf 1152x400Gbps, leaf-spine 384x1.4Tbps", 72,
		"source document on large clusters, figure 13: 1,152 GPUs on a modular system; its cards are assumed"},
	{"gaudi3", 512, 4096, "leaf 96, spine 48", "host-leaf 12288x200Gbps, leaf-spine 3072x800Gbps", 64,
		"Next Platform, 9 April 2024: 32 x 16 servers, 3 leaves of 64x800G each; Habana: 3 ports out"},
	{"crossed-h100", 16, 128, "leaf 8, spine 2", "host-leaf 128x400Gbps, leaf-spine 128x400Gbps", 0,
		"NVIDIA/nccl issue 1453: 8 H100, the 8 of 9 NICs that are nearest to one"},
	{"campus", 12, 48, "leaf 1", "host-leaf 4x100Gbps, host-leaf 10x200Gbps, host-leaf 12x400Gbps", 0,
		"invented"},
	{"converged", 24, 128, "leaf 4, spine 4",
		"host-leaf 16x200Gbps, host-leaf 128x400Gbps, leaf-spine 64x800Gbps", 0, "invented"},
	{"two-halls", 16, 128, "leaf 4, spine 4, super-spine 4",
		"host-leaf 128x400Gbps, leaf-spine 128x400Gbps, spine-super-spine 16x400Gbps, " +
			"super-spine-super-spine 4x400Gbps", 0, "invented"},
	{"multi-pod", 16, 128, "rail 8, spine 8, super-spine 4",
		"host-rail 256x100Gbps, rail-spine 64x400Gbps, spine-super-spine 64x400Gbps", 0,
		"seed on back-end topologies, figures 13-6 to 13-9"},
	{"clos-1600g", 64, 512, "leaf 16, spine 8", "host-leaf 512x1.6Tbps, leaf-spine 512x1.6Tbps", 128,
		"BCM78910 product brief: 64x1.6T"},
}

var setInAbout = regexp.MustCompile(`--set\s+(\S+=\S+)`)

// Every shipped cluster has the counts of its source, is short, and can be made small.
func TestClusters(t *testing.T) {
	texts := scenarios.Clusters()
	doc, err := os.ReadFile("../../docs/clusters.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range clusters {
		text, ok := texts["clusters/"+c.file+".yaml"]
		delete(texts, "clusters/"+c.file+".yaml")
		t.Run(c.file, func(t *testing.T) {
			if n := strings.Count(text, "\n"); !ok || n >= 40 {
				t.Fatalf("%d lines", n)
			}
			p, err := resolved(t, text)
			if err != nil {
				t.Fatal(err)
			}
			g, about := p.Graph, aboutOf(t, text)
			if p.Name != c.file || about == "" {
				t.Errorf("its name is %q, about %q", p.Name, about)
			}
			if len(g.Hosts) != c.servers || g.TotalGPUs() != c.gpus || g.TotalGPUs() > topo.MaxGPUs {
				t.Errorf("%d servers, %d GPUs; %s", len(g.Hosts), g.TotalGPUs(), c.source)
			}
			row := fmt.Sprintf("| `%s.yaml` | %s | %s |", c.file, thousands(g.TotalGPUs()),
				thousands(len(g.Nodes)-len(g.Hosts)))
			if !strings.Contains(string(doc), row) {
				t.Errorf("docs/clusters.md lacks %s", row)
			}
			if got := switchesOf(g); got != c.switches {
				t.Errorf("%s; %s: %s", got, c.source, c.switches)
			}
			if got := wiresOf(g); got != c.wires {
				t.Errorf("%s; %s: %s", got, c.source, c.wires)
			}
			if c.small == 0 {
				return
			}
			var sets []string
			for _, m := range setInAbout.FindAllStringSubmatch(about, -1) {
				sets = append(sets, m[1])
			}
			if p, err = resolved(t, text, sets...); err != nil || p.Graph.TotalGPUs() != c.small {
				t.Fatalf("%v: %d GPUs, %v", sets, p.Graph.TotalGPUs(), err)
			}
		})
	}
	for name := range texts {
		t.Errorf("%s has no row here", name)
	}
}

func aboutOf(t *testing.T, text string) string {
	t.Helper()
	d, err := Parse("x.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return d.File.About
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

func switchesOf(g *topo.Graph) string {
	by := map[string]int{}
	for _, n := range g.Nodes {
		if n.Role != topo.Host {
			by[n.Role.String()]++
		}
	}
	var out []string
	for _, r := range slices.Sorted(maps.Keys(by)) {
		out = append(out, fmt.Sprintf("%s %d", r, by[r]))
	}
	return strings.Join(out, ", ")
}

func wiresOf(g *topo.Graph) string {
	type kind struct {
		ends string
		rate unit.Rate
	}
	by := map[kind]int{}
	for _, l := range g.Links {
		by[kind{g.Nodes[l.A].Role.String() + "-" + g.Nodes[l.B].Role.String(), l.Rate}]++
	}
	kinds := slices.SortedFunc(maps.Keys(by), func(a, b kind) int {
		if a.ends != b.ends {
			return strings.Compare(a.ends, b.ends)
		}
		return int(a.rate - b.rate)
	})
	var out []string
	for _, k := range kinds {
		out = append(out, fmt.Sprintf("%s %dx%v", k.ends, by[k], k.rate))
	}
	return strings.Join(out, ", ")
}

// The largest shipped clusters take a few MB, because a plan is its graph and a workload: a dozen MB for 32,768
// GPUs and 65,536 cables when this was written.
func TestMemoryOfLargeClusters(t *testing.T) {
	live := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for _, name := range []string{"colossus", "meta-24k"} {
		before := live()
		p, err := resolved(t, scenarios.Clusters()["clusters/"+name+".yaml"])
		if err != nil {
			t.Fatal(err)
		}
		held := live() - before
		t.Logf("%s: %d bytes", name, held)
		if held > 32<<20 {
			t.Errorf("%s: %d bytes are held", name, held)
		}
		runtime.KeepAlive(p)
	}
}

// NCCL's model uses the servers with GPUs, and the slowest server's NICs. A collective by rails is rejected if
// servers have no rails in common.
func TestCollectivesOverMixedServers(t *testing.T) {
	texts := scenarios.Clusters()
	for name, want := range map[string]string{
		"converged": "16 servers of 8 at 400.0 GB/s, 16 channels", // 8 NICs of 400G, and no storage
		"p5":        "16 servers of 8 at 400.0 GB/s, 64 channels",
		"hpn":       "1920 servers of 8 at 400.0 GB/s, 16 channels", // two ports of 200G
	} {
		p, err := resolved(t, texts["clusters/"+name+".yaml"])
		if err != nil {
			t.Fatal(err)
		}
		m, err := p.Machine(false)
		got := fmt.Sprintf("%d servers of %d at %.1f GB/s, %d channels", m.Nodes, m.PerNode, m.NIC,
			m.Channels)
		if err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, want)
		}
	}
	campus := strings.Replace(texts["clusters/campus.yaml"], "gpu: workstation, ", "", 1)
	p, err := resolved(t, campus, "server.gpu=a100")
	if err != nil {
		t.Fatal(err)
	}
	// A desk's one NIC of 100G, and NVLink of an A100, of which NCCL reaches 20 of 25 GB/s.
	m, err := p.Machine(false)
	if err != nil || m.Nodes != 11 || m.NIC != 12.5 || m.NVLink != 240 || m.Hopper {
		t.Errorf("campus: %+v, %v", m, err)
	}
	if p, err = resolved(t, texts["clusters/campus.yaml"]); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Machine(false); err == nil || !strings.Contains(err.Error(), "not workstation") {
		t.Errorf("campus: %v", err)
	}
	text := strings.Replace(texts["clusters/campus.yaml"], "permutation: {bytes: 1MiB}",
		"collective: {kind: all-reduce, bytes: 1MiB, algorithm: hierarchical}", 1)
	_, err = resolved(t, text)
	if err == nil || !strings.Contains(err.Error(), "hierarchical needs servers with as many GPUs each: "+
		"new-1 has 8, older-1 has 4") {
		t.Error(err)
	}
}

// A GPU sends by its nearest NIC according to nvidia-smi: GPU 1 is on rail 8 and GPU 8 on rail 1. A NIC that is
// near none is omitted and reported.
func TestCrossedServers(t *testing.T) {
	p, err := resolved(t, scenarios.Clusters()["clusters/crossed-h100.yaml"])
	if err != nil {
		t.Fatal(err)
	}
	g := p.Graph
	for gpu := range g.TotalGPUs() {
		if rail := g.NICs[g.NICOf[gpu]].Rail; rail != 7-g.LocalOf(gpu) || g.Ways(gpu) != 1 {
			t.Fatalf("%s is on rail %d by %d NICs", g.GPUName(gpu), rail+1, g.Ways(gpu))
		}
	}
	if notes := strings.Join(p.Notes, "\n"); !strings.Contains(notes, "left out: NIC0") {
		t.Error(notes)
	}
}

// TestRingsOfARack checks that a collective by ring of two NVLink domains of 72 GPUs has the 64 channels that NCCL
// has at most, as the key channels.
func TestRingsOfARack(t *testing.T) {
	const text = `
name: racks
fabric: {kind: rail, hosts: 36, spines: 2, host_link: {rate: 400Gbps}}
server: {gpu: gb200, gpus: 4, nics: 4, nvlink_domain: 72}
workload: {traffic: {collective: {kind: all-reduce, bytes: 1MiB, algorithm: ring}}}
`
	d, err := Parse("x.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Servers(nil)
	if err != nil {
		t.Fatal(err)
	}
	if p.Rings() != 64 {
		t.Errorf("%d rings", p.Rings())
	}
	channels := fmt.Sprintf("workload.traffic.collective.channels=%d", p.Rings())
	if d, err = Parse("x.yaml", []byte(text), []string{channels}); err == nil {
		_, err = d.Checked(nil)
	}
	if err != nil {
		t.Error(err)
	}
}

// A collective by ring runs as many rings as use all NICs, and all links of pairwise connected GPUs, unless
// channels sets another number. The textbook pattern is one ring, except for pairwise connected GPUs.
func TestRingsOfAMesh(t *testing.T) {
	const text = `
name: mesh
fabric: {kind: rail-only, hosts: 2, host_link: {rate: 400Gbps}}
server: {gpus: 8, nics: 8, gpu: mi300x}
workload: {traffic: {collective: {kind: all-reduce, bytes: 1MiB, algorithm: ring}}}
`
	plain := strings.Replace(text, "collective: {kind: all-reduce, bytes: 1MiB, algorithm: ring}",
		"ring-allreduce: {bytes: 1MiB}", 1)
	ring := 2 * 15 * 16 // operations
	for _, c := range []struct {
		text  string
		sets  string
		rings int
	}{{text, "fabric.hosts=2", 8}, {plain, "fabric.hosts=2", 8}, {text, "server.gpu=h100", 8},
		{plain, "server.gpu=h100", 1}, {text, "workload.traffic.collective.channels=1", 1},
		{text, "workload.traffic.collective.channels=3", 3},
		{text, "workload.traffic.collective.groups=rail", 0}} { // eight rings of two ranks: 32 operations

		p, err := resolved(t, c.text, c.sets)
		if err != nil {
			t.Fatal(err)
		}
		if p.Ops() < c.rings*ring || p.Ops() >= (c.rings+1)*ring {
			t.Errorf("%s: %d operations, a ring has %d", c.sets, p.Ops(), ring)
		}
	}
}
