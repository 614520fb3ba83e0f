package devices

import (
	"strings"
	"testing"

	"railyard/internal/input"
	"railyard/internal/scenario"
	"railyard/internal/topo"
)

func graph(t *testing.T) *topo.Graph {
	t.Helper()
	d, err := scenario.Parse("test", []byte("name: a\nfabric: {kind: rail, segments: 2, hosts: 2, spines: 2, uplinks: 1}\n"+
		"server: {gpus: 2, nics: 2}\nworkload: {traffic: {permutation: {bytes: 1MB}}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return p.Graph
}

// What names a switch more closely goes before what names it less: a name, a pattern, a role, all.
func TestFit(t *testing.T) {
	g := graph(t)
	c := Choice{HwSKU: []string{"ACS-SN5600", "spine=ACS-SN5400", "spine-2=ACS-SN5600", "*-rail-1=ACS-SN5400"}}
	if !c.Wanted(g) || (&Choice{}).Wanted(g) {
		t.Error("a choice is wanted where one was made")
	}
	if err := c.Fit(g); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"spine-1": "ACS-SN5400", "spine-2": "ACS-SN5600"}
	for _, n := range g.Nodes {
		if n.Role == topo.Host {
			continue
		}
		sku := want[n.Name]
		if sku == "" {
			if sku = "ACS-SN5600"; strings.HasSuffix(n.Name, "-rail-1") {
				sku = "ACS-SN5400"
			}
		}
		if n.Panel == nil || n.Panel.Device == nil || n.Panel.Device.HwSKU != sku {
			t.Errorf("%s is %+v, want %s", n.Name, n.Panel, sku)
		}
	}
}

// Devices that nobody knows, switches that are not there and folders without a device's files are refused.
func TestFitRefuses(t *testing.T) {
	for want, c := range map[string]Choice{
		"ACS-SN9999":                {HwSKU: []string{"ACS-SN9999"}},
		"no switch is called so":    {HwSKU: []string{"leaf-77=ACS-SN5600"}},
		"no such file or directory": {Profile: []string{"/nowhere/at/all"}},
	} {
		if err := c.Fit(graph(t)); !input.IsFault(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
