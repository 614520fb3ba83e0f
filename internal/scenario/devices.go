package scenario

import (
	"errors"
	"maps"
	"path"
	"slices"

	"railyard/internal/field"
	"railyard/internal/swconf/dialect"
	"railyard/internal/topo"
)

// maxDevices bounds the entries of fabric.hwsku.
const maxDevices = 4096

// deviceTypes checks the devices that types of switches name.
func (p *resolver) deviceTypes() error {
	for i, t := range p.File.Fabric.Types {
		if t.HwSKU == "" {
			continue
		}
		if err := dialect.Device(p.byName(field.At("fabric.types", i)+".hwsku"), t.HwSKU); err != nil {
			return err
		}
	}
	return nil
}

// devices sets the devices of switches from fabric.hwsku: a name precedes a pattern, a pattern a role, a role the
// default.
func (p *resolver) devices() error {
	all := p.File.Fabric.HwSKU
	if len(all) > maxDevices {
		return field.New("fabric.hwsku", "has %d entries, more than %d", len(all), maxDevices)
	}
	var faults field.List
	rank := make([]int, len(p.Graph.Nodes))
	for _, key := range slices.Sorted(maps.Keys(all)) {
		at := "fabric.hwsku." + key
		if err := dialect.Device(at, all[key]); err != nil {
			if fault := (*field.Error)(nil); errors.As(err, &fault) {
				faults = append(faults, fault)
				continue
			}
			return err
		}
		means := 0
		for i := range p.Graph.Nodes {
			n := &p.Graph.Nodes[i]
			if n.Role == topo.Host {
				continue
			}
			if r := meant(key, n); r > 0 {
				if means++; r >= rank[i] {
					rank[i], n.HwSKU = r, all[key]
				}
			}
		}
		if means == 0 {
			faults = append(faults, field.Choice(at, key, p.switchesAndRoles(),
				"no switch is called so, nor is of that role").ListedBy("railyard topo SCENARIO --cables"))
		}
	}
	return faults.Err()
}

// meant returns how specifically a key matches a switch, 0 for no match.
func meant(key string, n *topo.Node) int {
	role, bad := topo.ParseRole(key)
	glob, _ := path.Match(key, n.Name)
	switch {
	case key == n.Name:
		return 4
	case key == "*":
		return 1
	case glob:
		return 3
	case bad == nil && role == n.Role:
		return 2
	}
	return 0
}

// switchesAndRoles returns the possible matches of a key.
func (p *resolver) switchesAndRoles() []string {
	var out []string
	for i := range p.Graph.Nodes {
		if n := &p.Graph.Nodes[i]; n.Role != topo.Host {
			out = append(out, n.Name)
			if r := n.Role.String(); !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
	}
	return append(out, "*")
}
