package dialect

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/sonic"
	"railyard/internal/topo"
	"railyard/unit"
)

// segmentsOf is the size of BenchmarkLint's fabric: 13 give 62,976 ports of 520 switches.
var segmentsOf = flag.Int("segments", 1, "segments per pod of BenchmarkLint's fabric, 13 for 62,976 ports")

// The cost of checking a fabric's configurations by part: parsing, the rules with cables, the rules on the texts
// alone.
func BenchmarkLint(b *testing.B) {
	cable := topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 3000}
	g, err := topo.Build("rail", topo.Params{Server: topo.Server{GPUs: 8, NICs: 8, Ports: 1}, Hosts: 64,
		Segments: *segmentsOf, Pods: 3, Supers: 16, SuperUp: 1, Planes: 2, Spines: 64, Uplinks: 1,
		HostCable: cable, Fabric: cable})
	if err != nil {
		b.Fatal(err)
	}
	spec := queue.Default()
	spec.Buffer = 256 * unit.MB
	for _, os := range []swconf.OS{swconf.SONiC, swconf.NXOS, swconf.EOS} {
		of := *g
		of.Nodes = slices.Clone(g.Nodes)
		if p := sonic.Known("Mellanox-SN5600-V256"); os == swconf.SONiC {
			if err := sonic.Fit(&of, func(int) *sonic.Profile { return p }); err != nil {
				b.Fatal(err)
			}
		}
		d, err := design.Make(design.Fabric{Name: "speed", Graph: &of,
			Spec:     func(int) queue.Spec { return spec },
			DataDSCP: 24, CNPDSCP: 48, OS: os, Addressing: design.Numbered, Multihome: design.MLAG})
		if err != nil {
			b.Fatal(err)
		}
		files, err := Render(d)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(string(os), func(b *testing.B) { lintFiles(b, &of, files) })
	}
}

func lintFiles(b *testing.B, g *topo.Graph, files []design.File) {
	var configs []*swconf.Config
	var size int64
	read := func() {
		configs, size = configs[:0], 0
		for _, f := range files {
			if !strings.HasSuffix(f.Path, ".json") && !strings.HasSuffix(f.Path, ".cfg") &&
				!strings.HasSuffix(f.Path, "frr.conf") {
				continue // plans of the whole fabric
			}
			c, err := Parse(f.Path, []byte(f.Text), "")
			if err != nil {
				b.Fatal(err)
			}
			size += int64(len(f.Text))
			configs = append(configs, c)
		}
	}
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			read()
		}
		b.SetBytes(size)
	})
	read()
	for _, where := range []struct {
		name  string
		graph *topo.Graph
	}{{"rules-with-cables", g}, {"rules", nil}} {
		b.Run(where.name, func(b *testing.B) {
			for b.Loop() {
				in := swconf.Input{Configs: configs, Graph: where.graph, DataDSCP: 24, CNPDSCP: 48,
					PathMTU: 4096, Base: queue.Default()}
				if found := swconf.Lint(in); swconf.Count(found, swconf.Error) > 0 {
					b.Fatalf("%d findings, such as %+v", len(found), found[0])
				}
			}
			ports := 0
			for _, c := range configs {
				ports += len(c.Ports)
			}
			b.ReportMetric(float64(ports), "ports")
		})
	}
}
