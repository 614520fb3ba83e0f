package dialect_test

import (
	"slices"
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

// built is two rails of n servers below a spine.
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
	if fitted, err := onDevice(g, os); err == nil {
		g = fitted
	}
	d, err := design.Make(design.Fabric{Name: "x", Graph: g, Spec: func(int) queue.Spec { return spec },
		OS: os, LB: lb, DLB: route.Lookup(lb).DLB, DataDSCP: 24, CNPDSCP: 48, Addressing: design.Numbered,
		Multihome: dialect.Multihome(os)})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// An impossible speed or number of lanes is rejected with the port.
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
		{swconf.SONiC, 4, 1600 * unit.Gbps, "the switch model is not set"}, // too fast for the port
		{swconf.FRR, 4, 600 * unit.Gbps, ""},
		{swconf.SONiC, 127, 100 * unit.Gbps, ""},
		{swconf.NXOS, 128, 100 * unit.Gbps, ""},
	} {
		_, err := dialect.Render(built(t, c.os, "ecmp", c.hosts, c.rate))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %d servers at %v: %v, want %q", c.os, c.hosts, c.rate, err, c.want)
		}
	}
}

// told are the policies beyond hashing, and the languages that have a line for them.
var told = map[string][]string{"flowlet": {"nxos", "eos", "junos"},
	"spray-least": {"nxos", "eos", "nvue", "junos"},
	"dlb":         {"nxos", "eos", "nvue", "junos"}, "spray": nil, "spray-random": nil, "ecmp-resilient": nil}

// Every policy in every language is in the text of every switch that has a choice of paths, or is rejected with
// what the language supports. Hashing, the default of switches, is accepted everywhere.
func TestNoPolicyIsDropped(t *testing.T) {
	for _, os := range dialect.Written() {
		for _, lb := range route.Names() {
			languages, more := told[lb]
			p := route.Lookup(lb)
			if more != (p.DLB != "") {
				t.Errorf("lb %s: told %q, and the table says %v", lb, p.DLB, more)
			}
			if route.Is[route.Riser](p) || route.Is[route.Informed](p) || route.Is[route.EVReader](p) {
				continue // rejected by config render itself, in all languages (TestRenderedBalancing)
			}
			d := built(t, swconf.OS(os), lb, 4, 400*unit.Gbps)
			files, err := dialect.Render(d)
			if more && !slices.Contains(languages, os) {
				if err == nil || !strings.Contains(err.Error(), "lb "+lb+": ") ||
					!strings.Contains(err.Error(), "accepted: ecmp") {
					t.Errorf("%s, lb %s: %v", os, lb, err)
				}
				for other, in := range told { // what is accepted is
					said := err != nil && strings.Contains(err.Error(), other)
					if other != lb && said != slices.Contains(in, os) && other != "spray" {
						t.Errorf("%s, lb %s: %v; %s", os, lb, err, other)
					}
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s, lb %s: %v", os, lb, err)
			}
			text := ""
			for _, f := range files {
				if strings.HasPrefix(f.Path, "rail-1/") {
					text += f.Text
				}
			}
			want := map[string]string{"nvue": "adaptive-routing", "junos": "ecmp-dlb " + p.DLB}[os]
			switch {
			case os == "junos" && !more:
				want = "ecmp-dlb"
			case want == "" && more:
				want = "mode " + p.DLB + "\n"
			case want == "":
				want = map[string]string{"nxos": "hardware profile dlb", "eos": "load-balance dynamic"}[os]
			}
			if said := want != "" && strings.Contains(text, want); said != more {
				t.Errorf("%s, lb %s: %q in the text: %v", os, lb, want, said)
			}
		}
	}
}

// Headroom that is set for a class with a dynamic pause threshold is in what is written, refused, or noted.
func TestHeadroomOfDynamicThresholds(t *testing.T) {
	for _, os := range []swconf.OS{swconf.NXOS, swconf.EOS, swconf.SONiC, swconf.NVUE, swconf.Junos} {
		written := func(headroom unit.Bytes) (text string, notes string) {
			base := queue.Default()
			base.Queues[3] = queue.Class{Lossless: true, Alpha: 0.125, Headroom: headroom}
			base.Watchdog.On = false
			d, err := plan(fabric(t, "rail"), base, os, design.Numbered, "", "")
			if err != nil {
				t.Fatal(err)
			}
			files, err := dialect.Render(d)
			if err != nil {
				return "", err.Error()
			}
			for _, f := range files {
				text += f.Text
			}
			return text, strings.Join(dialect.Unsaid(d), "\n")
		}
		without, none := written(0)
		with, notes := written(400_000)
		if says := strings.Contains(notes, "a headroom of 400KB"); with == without && !says {
			t.Errorf("%s: neither written nor noted: %q", os, notes)
		} else if with != without && with != "" && says {
			t.Errorf("%s: written, and noted as not written", os)
		}
		if strings.Contains(none, "a headroom of") {
			t.Errorf("%s: noted without headroom: %s", os, none)
		}
	}
}
