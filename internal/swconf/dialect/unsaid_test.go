package dialect_test

import (
	"strings"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/route"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
	"railyard/internal/topo"
	"railyard/unit"
)

// built is two rails of so many servers below a spine.
func built(t *testing.T, os swconf.OS, lb string, hosts int, rate unit.Rate) *design.Design {
	t.Helper()
	g, err := topo.Build("rail", topo.Params{Server: topo.Server{GPUs: 2, NICs: 2, Ports: 1},
		Hosts: hosts, Segments: 1,
		Spines: 1, Uplinks: 1, Pods: 1, HostCable: topo.Cable{Rate: rate, LengthMM: 3000},
		Fabric: topo.Cable{Rate: rate, LengthMM: 30_000}})
	if err != nil {
		t.Fatal(err)
	}
	spec := queue.Default()
	spec.Buffer = unit.GiB
	d, err := design.Make(design.Fabric{Name: "x", Graph: g, Spec: func(int) queue.Spec { return spec },
		OS: os, LB: lb, DLB: route.Lookup(lb).DLB, DataDSCP: 24, CNPDSCP: 48, Addressing: design.Numbered,
		Multihome: dialect.Multihome(os)})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A speed that no port has, and lanes that no chip has, are refused with the port.
func TestPortsThatNoSwitchHas(t *testing.T) {
	for _, c := range []struct {
		os    swconf.OS
		hosts int
		rate  unit.Rate
		want  string
	}{
		{swconf.NXOS, 4, 600 * unit.Gbps,
			"port 1, to host-1, runs at 600Gbps, which no port can be set to; accepted: 1Gbps"},
		{swconf.EOS, 4, 1500 * unit.Mbps, "runs at 1.5Gbps"},
		{swconf.SONiC, 4, 300 * unit.Gbps, "runs at 300Gbps"},
		{swconf.NXOS, 4, 1600 * unit.Gbps, "runs at 1.6Tbps"},
		{swconf.SONiC, 4, 1600 * unit.Gbps, ""},
		{swconf.FRR, 4, 600 * unit.Gbps, ""},
		{swconf.SONiC, 127, 100 * unit.Gbps, ""},
		{swconf.SONiC, 128, 100 * unit.Gbps, "port 129, to spine-1, would have lanes 1025 to 1032"},
		{swconf.NXOS, 128, 100 * unit.Gbps, ""},
	} {
		_, err := dialect.Render(built(t, c.os, "ecmp", c.hosts, c.rate))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %d servers at %v: %v, want %q", c.os, c.hosts, c.rate, err, c.want)
		}
	}
}

// A policy is in the text of every switch that has paths to choose from, or somebody is told.
func TestNoPolicyIsDropped(t *testing.T) {
	for _, os := range []swconf.OS{swconf.NXOS, swconf.EOS, swconf.SONiC, swconf.FRR} {
		for _, lb := range route.Names() {
			if route.Lookup(lb).Detours {
				continue // refused before
			}
			d := built(t, os, lb, 4, 400*unit.Gbps)
			files, err := dialect.Render(d)
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			for _, f := range files {
				if strings.HasPrefix(f.Path, "rail-1/") {
					text += f.Text
				}
			}
			mode := route.Lookup(lb).DLB
			said := mode == "" || strings.Contains(text, "mode "+mode)
			exact := said && (mode != "per-packet" || lb == "spray-least")
			notes := strings.Join(dialect.Unsaid(d), "\n")
			if (notes == "") != exact || notes != "" && !strings.Contains(notes, "lb "+lb) {
				t.Errorf("%s, lb %s: in the text %v, notes %q", os, lb, said, notes)
			}
		}
	}
}
