package site

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/panel"
	"railyard/internal/topo"
	"railyard/unit"
)

// server reports whether a type is of servers: it has cards, or a file with them, and no role.
func (t *Type) server() bool { return t.NICs > 0 || t.GPUs > 0 || t.Machine != nil }

// resolveTypes checks the types and applies inheritance.
func (b *builder) resolveTypes() error {
	for i := range b.site.Types {
		key := fmt.Sprintf("types[%d]", i)
		t := b.site.Types[i]
		if !groupName.MatchString(t.Name) {
			return field.New(key+".name", "%q is not a name: a letter, then up to 31 letters, digits, - and _", t.Name)
		}
		if b.types[t.Name] != nil {
			return field.New(key+".name", "%q is repeated", t.Name)
		}
		b.types[t.Name] = &t
		b.typeNames = append(b.typeNames, t.Name)
	}
	// Types inherit before the checks, because a check adds values of the model and the role, which are not inherited.
	for i, name := range b.typeNames {
		if err := b.inherit(fmt.Sprintf("types[%d]", i), b.types[name], nil); err != nil {
			return err
		}
	}
	for i, name := range b.typeNames {
		key, t := fmt.Sprintf("types[%d]", i), b.types[name]
		if err := t.equip(key); err != nil {
			return err
		}
		if err := t.check(key); err != nil {
			return err
		}
	}
	return nil
}

// noType reports an unknown type.
func (b *builder) noType(key, name string) error {
	if len(b.typeNames) == 0 {
		return field.New(key, "unknown type %q: types is missing", name)
	}
	return field.Choice(key, name, b.typeNames, "unknown type %s", field.Quote(name))
}

// inherit fills a type's empty values from the one it is like.
func (b *builder) inherit(key string, t *Type, chain []string) error {
	if t.Like == "" {
		return nil
	}
	for _, c := range chain {
		if c == t.Name {
			return field.New(key+".like", "is circular: %s, %s", strings.Join(chain, ", "), t.Name)
		}
	}
	from := b.types[t.Like]
	if from == nil {
		return b.noType(key+".like", t.Like)
	}
	if err := b.inherit(key, from, append(chain, t.Name)); err != nil {
		return err
	}
	t.Like = ""
	fill(&t.Model, from.Model)
	if !t.NoGPUs {
		fill(&t.GPUs, from.GPUs)
	}
	fill(&t.NICs, from.NICs)
	fill(&t.NICPorts, from.NICPorts)
	fill(&t.StorageNICs, from.StorageNICs)
	fill(&t.NICRate, from.NICRate)
	fill(&t.GPU, from.GPU)
	fill(&t.NVLink, from.NVLink)
	fill(&t.Pair, from.Pair)
	if t.Machine == nil && !t.NoGPUs {
		t.Topology, t.Machine = from.Topology, from.Machine
	}
	if t.Domain == nil {
		t.Domain = from.Domain
	}
	fill(&t.Role, from.Role)
	fill(&t.OS, from.OS)
	fill(&t.HwSKU, from.HwSKU)
	fill(&t.Tier, from.Tier)
	fill(&t.Ports, from.Ports)
	fill(&t.Split, from.Split)
	fill(&t.Lanes, from.Lanes)
	if t.RailMap == "" && t.RailPorts == nil {
		t.RailMap, t.RailPorts = from.RailMap, from.RailPorts
	}
	fill(&t.Buffer, from.Buffer)
	fill(&t.Pipeline, from.Pipeline)
	return nil
}

func fill[T comparable](v *T, from T) {
	var zero T
	if *v == zero {
		*v = from
	}
}

// Bounds of a server.
const (
	MaxGPUs     = 576
	MaxNICs     = 576
	MaxNICPorts = 8
)

func (t *Type) check(key string) error {
	if t.server() {
		if err := t.told(key); err != nil {
			return err
		}
		switch {
		case t.Role != "" || t.Tier != 0 || t.Ports != "" || t.Model != "" && FindServer(t.Model) == nil ||
			t.Buffer != 0 || t.Pipeline != 0 || t.OS != "" || t.HwSKU != "" || t.RailMap != "" ||
			t.RailPorts != nil || t.Lanes != 0:
			return field.New(key, "a server (it has gpus or nics) has no role, tier, ports, lanes, rail_map, rail_ports, buffer, pipeline or model of a switch, and no os or hwsku")
		case t.GPUs < 0 || t.GPUs > MaxGPUs:
			return field.New(key+".gpus", "a server has 0 to %d GPUs, found %d", MaxGPUs, t.GPUs)
		case t.NICs < 1 || t.NICs > MaxNICs:
			return field.New(key+".nics", "a server has 1 to %d NICs, found %d", MaxNICs, t.NICs)
		case t.StorageNICs < 0 || t.StorageNICs > 0 && t.StorageNICs >= t.NICs:
			return field.New(key+".storage_nics", "%d of %s are for storage: at least one has to be left for the GPUs", t.StorageNICs, unit.Plural(t.NICs, "NIC"))
		case t.StorageNICs > 0 && t.GPUs == 0:
			return field.New(key+".storage_nics", "are of servers with GPUs; %s has none, and all its NICs are for storage", t.Name)
		case t.NICPorts < 0 || t.NICPorts > MaxNICPorts:
			return field.New(key+".nic_ports", "a NIC has 1 to %d ports, found %d", MaxNICPorts, t.NICPorts)
		}
		for _, inner := range []struct {
			key  string
			said bool
		}{{"gpu", t.GPU != ""}, {"nvlink", t.NVLink != 0}, {"nvlink_pair", t.Pair != 0},
			{"domain", t.Domain != nil}} {
			if inner.said && t.GPUs == 0 {
				return field.New(key+"."+inner.key, "is of GPUs, of which %s has none", t.Name)
			}
		}
		t.NICPorts = max(t.NICPorts, 1)
		return nil
	}
	if t.StorageNICs != 0 || t.NICPorts != 0 || t.NICRate != 0 || t.GPU != "" || t.NVLink != 0 ||
		t.Pair != 0 || t.Domain != nil {
		return field.New(key, "a switch (it has neither gpus nor nics) has no nic_ports, nic_rate, storage_nics, gpu, nvlink, nvlink_pair and domain")
	}
	if t.Model != "" {
		m := modelOf(strings.ToLower(t.Model))
		if m == nil {
			return field.Choice(key+".model", t.Model, append(ModelNames(), ServerNames()...),
				"%s is not known", field.Quote(t.Model)).ListedBy("railyard models")
		}
		if err := t.within(key, m); err != nil {
			return err
		}
		fill(&t.Ports, m.Ports)
		fill(&t.Split, m.Split)
		fill(&t.Known, m.Buffer)
		fill(&t.Radix, m.Radix)
		fill(&t.OS, m.OS)
	}
	if t.OS != "" && !slices.Contains(panel.Systems(), t.OS) {
		return field.Choice(key+".os", t.OS, panel.Systems(), "%s is not a system whose ports are known",
			field.Quote(t.OS))
	}
	fill(&t.Role, "leaf")
	if r, err := topo.ParseRole(t.Role); err != nil || r == topo.Host {
		return field.Choice(key+".role", t.Role,
			[]string{"rail", "leaf", "aggregation", "spine", "super-spine", "core"},
			"%q is not a role of a switch", t.Role)
	}
	if t.Split < 0 || t.Split > 8 {
		return field.New(key+".split", "a port splits into 1 to 8, found %d", t.Split)
	}
	if t.Lanes < 0 || t.Lanes > 16 {
		return field.New(key+".lanes", "a port has 1 to 16 lanes, found %d", t.Lanes)
	}
	_, err := parsePorts(t.Ports)
	if err != nil {
		return field.New(key+".ports", "%s", err.Error())
	}
	return t.checkRails(key)
}

// within refuses a front panel that the model does not have.
func (t *Type) within(key string, m *Model) error {
	if t.Ports == "" && t.Split > m.Split {
		return field.New(key+".split", "a port of a %s splits into %d at most, found %d", m.Name, m.Split, t.Split)
	}
	return nil
}

// portKind is ports of one rate.
type portKind struct {
	count  int
	rate   unit.Rate
	before int // ports before these on the panel
}

// parsePorts reads 64x800Gbps and 48x100Gbps+8x400Gbps.
func parsePorts(text string) (kinds []portKind, err error) {
	if text == "" {
		return nil, nil
	}
	before := 0
	for _, part := range strings.Split(text, "+") {
		n, r, ok := strings.Cut(strings.TrimSpace(part), "x")
		count, err := strconv.Atoi(strings.TrimSpace(n))
		if !ok || err != nil || count < 1 || count > 4096 {
			return nil, fmt.Errorf("%q is not a number of ports; accepted: 64x800Gbps, 48x100Gbps+8x400Gbps", part)
		}
		rate, err := unit.ParseRate(strings.TrimSpace(r))
		if err != nil || rate <= 0 {
			return nil, fmt.Errorf("%q: %q is not a rate; accepted: 400Gbps", part, r)
		}
		kinds = append(kinds, portKind{count, rate, before})
		before += count
	}
	return kinds, nil
}

// told applies a file's description of a server, and refuses contradictions.
func (t *Type) told(key string) error {
	m := t.Machine
	if m == nil {
		return nil
	}
	fill(&t.GPUs, len(m.GPUs))
	fill(&t.NICs, len(m.NICs)+t.StorageNICs)
	rate := m.NICs[0].Rate
	for _, n := range m.NICs {
		if n.Rate != rate {
			rate = 0 // the rates differ: cables must set one
		}
	}
	fill(&t.NICRate, rate)
	switch {
	case t.GPUs != len(m.GPUs):
		return field.New(key+".gpus", "%d, and %s has %d", t.GPUs, t.Topology, len(m.GPUs))
	case t.NICs-t.StorageNICs != len(m.NICs):
		return field.New(key+".nics", "%d, and %s has %d that are the nearest of some GPU",
			t.NICs-t.StorageNICs, t.Topology, len(m.NICs))
	}
	return nil
}
