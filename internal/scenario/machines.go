package scenario

import (
	"fmt"
	"strings"

	"railyard/internal/field"
	"railyard/internal/machine"
	"railyard/internal/model"
	"railyard/internal/site"
	"railyard/unit"
)

// Bus is a link of PCIe with less bandwidth than its NICs.
type Bus struct {
	Rate unit.Rate // payload rate, each direction
	NICs []int32
}

// machines reads the files that describe the inside of servers.
func (p *resolver) machines(types []site.Type) error {
	for i := range types {
		t := &types[i]
		if t.Topology == "" {
			continue
		}
		key := p.byName(field.At("fabric.types", i)) + ".topology"
		if p.read == nil {
			return field.New(key, "files are not read here")
		}
		text, err := p.read(t.Topology)
		if err != nil {
			return field.New(key, "%v", err)
		}
		m, err := machine.Read(t.Topology, text)
		if err != nil {
			return err
		}
		t.Machine = m
		if p.Machines == nil {
			p.Machines = map[string]string{}
		}
		p.Machines[t.Topology] = string(text)
		for _, note := range m.Notes[:min(len(m.Notes), 4)] {
			p.note("%s: %s", t.Topology, note)
		}
		if len(m.Apart) > 0 {
			p.note("%s: %s nearest to no GPU and left out: %s", t.Topology, unit.Plural(len(m.Apart), "NIC"),
				strings.Join(m.Apart, ", "))
		}
	}
	return nil
}

// fits rejects a GPU that differs from the one in a file.
func fits(key string, t *site.Type, gpu model.GPU) error {
	if t.Machine == nil || t.Machine.SM == 0 || gpu.SM == 0 || t.Machine.SM == gpu.SM {
		return nil
	}
	var are []string
	for _, name := range model.GPUNames() {
		if model.GPUs[name].SM == t.Machine.SM {
			are = append(are, name)
		}
	}
	e := field.New(key, "%s has GPUs of compute capability %d, and %s has %d", t.Topology,
		t.Machine.SM, gpu.Name, gpu.SM)
	if e.Accepted = are; len(are) == 0 {
		e.Msg += "; describe it in gpus"
	}
	return e
}

// buses are the links of PCIe that limit their NICs.
func (p *resolver) buses() {
	g := p.Graph
	type card struct{ host, index int }
	of := map[card][]int{}
	for i, n := range g.NICs {
		of[card{n.Host, n.Index}] = append(of[card{n.Host, n.Index}], i)
	}
	p.sharedPorts()
	for host, t := range p.types {
		if t.Machine == nil {
			continue
		}
		for _, b := range t.Machine.Buses {
			out, lines := Bus{Rate: b.Rate}, unit.Rate(0)
			for _, n := range b.NICs {
				for _, nic := range of[card{host, n}] {
					out.NICs = append(out.NICs, int32(nic))
					for _, l := range g.NICs[nic].Links {
						lines += g.Links[l].Rate
					}
				}
			}
			if b.Rate < lines {
				p.Buses = append(p.Buses, out)
			}
		}
	}
}

// link returns the rate of one NVLink of a server described by a file.
func (k *Kind) link() unit.Rate {
	links := k.GPU.Links
	if links == 0 {
		links = max(1, k.Machine.Links())
	}
	return k.NVLink / unit.Rate(links)
}

// joined builds the pipes that a file describes; nil if it describes none.
func (p *resolver) joined(k *Kind) (err error) {
	if k.Machine == nil {
		return nil
	}
	if k.told, err = k.Machine.Join(k.link(), p.File.Server.PCIe); err != nil {
		return field.New("server.pcie", "%v", err)
	}
	if k.told == nil {
		return nil
	}
	if err := k.told.Check(); err != nil {
		return fmt.Errorf("%s: %w", k.Machine.Format, err)
	}
	return nil
}
