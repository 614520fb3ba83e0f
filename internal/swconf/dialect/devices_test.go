package dialect_test

import (
	"slices"

	"railyard/internal/swconf"
	"railyard/internal/swconf/sonic"
	"railyard/internal/topo"
)

// onDevice is a fabric whose SONiC switches are SN5600, because only SONiC needs the device.
func onDevice(g *topo.Graph, os swconf.OS) (*topo.Graph, error) {
	if os != swconf.SONiC {
		return g, nil
	}
	own := *g
	own.Nodes, own.Links = slices.Clone(g.Nodes), slices.Clone(g.Links)
	p := sonic.Known("ACS-SN5600")
	return &own, sonic.Fit(&own, func(int) *sonic.Profile { return p })
}
