package scenario_test

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/scenario"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
	"railyard/internal/swconf/sonic"
	"railyard/internal/topo"
	"railyard/unit"
)

// Rails with servers at 3 m and spines at 2 km are rendered and parsed again. Every port keeps the headroom for its
// own cable, not for the longest one, and a run uses that.
func TestHeadroomOfTextsIsEachPortsOwn(t *testing.T) {
	far := strings.Replace(good, "hosts: 2\n", "hosts: 4\n  fabric_link: {rate: 400Gbps, cable: 2km}\n", 1)
	plain := resolve(t, far, nil)
	for _, os := range []swconf.OS{swconf.NXOS, swconf.SONiC} {
		if p := sonic.Known("ACS-SN5600"); os == swconf.SONiC {
			if err := sonic.Fit(plain.Graph, func(int) *sonic.Profile { return p }); err != nil {
				t.Fatal(err)
			}
		}
		d, err := design.Make(design.Fabric{Name: "x", Graph: plain.Graph,
			Spec: func(n int) queue.Spec { return *plain.SpecOf(n) }, OS: os, DataDSCP: 24, CNPDSCP: 48,
			Response: plain.Switching.Response, Pipeline: plain.Switching.Pipeline,
			Addressing: design.Numbered})
		if err != nil {
			t.Fatal(err)
		}
		rendered, err := dialect.Render(d)
		if err != nil {
			t.Fatal(err)
		}
		files, keys := map[string]string{}, []string{}
		for _, f := range rendered {
			if name, _, ok := strings.Cut(f.Path, "/"); ok && plain.Graph.Node(name) >= 0 {
				files[f.Path] = f.Text
				if !strings.Contains(f.Path, "frr") {
					keys = append(keys, name+": "+f.Path)
				}
			}
		}
		p := resolve(t, far+"switches: {"+strings.Join(keys, ", ")+"}\n", files)
		short, long := 0, 0
		for _, s := range d.Switches {
			for _, port := range s.Ports {
				name := fmt.Sprintf("%s:Eth%d", s.Name, port.Number)
				link, node, ok := p.Graph.FindPort(name)
				if !ok {
					t.Fatalf("no %s", name)
				}
				want := port.Headroom[3]
				got := p.Headroom[topo.LinkEnd{Link: link, Node: node}][3]
				if got == 0 {
					got = p.SpecOf(node).Queues[3].Headroom
				}
				if got != want {
					t.Errorf("%s: %s keeps %v, its text says %v", os, name, got, want)
				}
				if got < unit.MB {
					short++
				} else {
					long++
				}
			}
		}
		if short == 0 || long == 0 {
			t.Errorf("%s: %d short cables, %d long ones", os, short, long)
		}
		if notes := strings.Join(p.Notes, "\n"); !strings.Contains(notes, "of headroom, each as its own") {
			t.Errorf("%s: notes %q", os, notes)
		}
	}
}

func resolve(t *testing.T, text string, files map[string]string) *scenario.Plan {
	t.Helper()
	d, err := scenario.Parse("x.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Resolve(texts(files))
	if err != nil {
		t.Fatal(err)
	}
	return p
}
