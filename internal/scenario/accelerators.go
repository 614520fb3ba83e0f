package scenario

import (
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/inside"
	"railyard/internal/machine"
	"railyard/internal/model"
	"railyard/internal/site"
	"railyard/unit"
)

// Kind is the interior of servers of a type.
type Kind struct {
	GPU    model.GPU
	Named  bool      // the scenario names the GPU, which is no default
	NVLink unit.Rate // NVLink rate of a GPU to all others, per direction, as kernels reach it
	Pair   unit.Rate // rate between any two GPUs, if connected directly; 0: by a switch

	Machine *machine.Server // its description from a file; nil: none
	told    *inside.Fabric  // the GPU fabric in that file; nil: none
	share   float64         // share of NVLink's rate from a calibration; 0: not calibrated
}

// Mesh reports whether GPUs are connected in pairs, all at one rate.
func (k *Kind) Mesh() bool { return k.told == nil && k.Pair > 0 || k.told.Even() }

// Reach returns the rate from one GPU to another of its server.
func (k *Kind) Reach() unit.Rate {
	switch {
	case k.told != nil:
		return k.told.Slowest()
	case k.Pair > 0:
		return k.Pair
	}
	return k.NVLink
}

// nominal is Reach before any calibration, for NCCL's tuning model, which does not use calibrations.
func (k *Kind) nominal() unit.Rate {
	if k.share == 0 {
		return k.Reach()
	}
	return unit.Rate(float64(k.Reach())/k.share + 0.5)
}

// KindOf returns the interior of a GPU's server.
func (p *Plan) KindOf(gpu int) *Kind { return p.Kinds[p.Graph.HostOf(gpu)] }

// accelerators determines the interior of each server.
func (p *resolver) accelerators() error {
	if p.Kinds != nil {
		return nil // requested by events
	}
	known, err := p.known()
	if err != nil {
		return err
	}
	s := &p.File.Server
	find := func(key, name string) (model.GPU, error) {
		if g, ok := known[strings.ToLower(name)]; ok {
			return g, nil
		}
		names := model.GPUNames()
		for i := range p.File.GPUs {
			names = append(names, p.File.GPUs[i].Name)
		}
		return model.GPU{}, field.Choice(key, name, names, "unknown GPU %s", field.Quote(name)).ListedBy("railyard models")
	}
	if p.GPU, err = find("server.gpu", s.GPU); err != nil {
		return err
	}
	usual := kindOf(p.GPU, s.NVLink, 0)
	usual.Named = p.says("server.gpu")
	s.NVLink = usual.NVLink
	p.File.Calibration.kernels(usual)
	p.NVLink, p.NVLatency, p.PXN = usual.NVLink, s.NVLatency, s.PXN || s.Choice == RailNICs
	p.Kinds = slices.Repeat([]*Kind{usual}, len(p.Graph.Hosts))
	kinds := map[*site.Type]*Kind{}
	for host, t := range p.types {
		if kinds[t] == nil {
			gpu, nvlink, where := p.GPU, t.NVLink, "server.gpu"
			if t.GPU != "" {
				same := func(x site.Type) bool { return x.Name == t.Name }
				key := p.byName(field.At("fabric.types", slices.IndexFunc(p.File.Fabric.Types, same)))
				where = key + ".gpu"
				if gpu, err = find(where, t.GPU); err != nil {
					return err
				}
			} else if nvlink == 0 {
				nvlink = s.NVLink
			}
			if err := fits(where, t, gpu); err != nil {
				return err
			}
			kinds[t] = kindOf(gpu, nvlink, t.Pair)
			kinds[t].Named = t.GPU != "" || usual.Named
			p.File.Calibration.kernels(kinds[t])
			kinds[t].Machine = t.Machine
			if err := p.joined(kinds[t]); err != nil {
				return err
			}
		}
		p.Kinds[host] = kinds[t]
	}
	p.settle()
	p.buses()
	if err := p.boards(); err != nil {
		return err
	}
	if err := p.insides(); err != nil {
		return err
	}
	p.kept()
	return nil
}

// settle makes the GPU of all GPU servers the plan's, if they are of one kind.
func (p *resolver) settle() {
	var one *Kind
	for host, k := range p.Kinds {
		if first, last := p.Graph.GPUsOf(host); first == last {
			continue
		}
		if one == nil {
			one = k
		}
		if one.GPU != k.GPU || one.NVLink != k.NVLink {
			return
		}
	}
	p.GPU, p.NVLink = one.GPU, one.NVLink
}

// Slowest returns what servers have inside whose GPUs do least.
func (p *Plan) Slowest() (least *Kind) {
	for host, k := range p.Kinds {
		first, last := p.Graph.GPUsOf(host)
		if last > first && (least == nil || k.GPU.BF16 < least.GPU.BF16) {
			least = k
		}
	}
	return least
}

// kindOf returns the kind of a GPU server whose NVLink may have a non-default rate: the total, or between two GPUs.
func kindOf(gpu model.GPU, nvlink, pair unit.Rate) *Kind {
	k := &Kind{GPU: gpu, NVLink: gpu.Reached()}
	if nvlink > 0 {
		k.NVLink = nvlink
	}
	if gpu.Pair > 0 { // one pipe per link, each with the share of the rate
		k.Pair = unit.Rate(float64(gpu.Pair) * float64(k.NVLink) / float64(gpu.NVLink))
	}
	if pair > 0 {
		k.Pair = pair
	}
	return k
}

// insides builds the pipes of servers whose GPUs are not connected by a switch of NVLink's default rate.
func (p *resolver) insides() error {
	type shape struct {
		kind *Kind
		gpus int
	}
	made := map[shape]*inside.Fabric{}
	for d := range p.Graph.Domains() {
		first, last := p.Graph.GPUsIn(d)
		s := shape{p.Kinds[p.Graph.ServerIn(d)], last - first}
		told := s.kind.told != nil && s.kind.told.GPUs == s.gpus
		b := p.Boards[d]
		narrow := b != nil && b.Narrow()
		if s.gpus < 2 || !told && s.kind.Pair == 0 && s.kind.NVLink == p.NVLink && !narrow {
			continue
		}
		if !told && s.kind.Pair > 0 && s.gpus > maxMesh {
			return field.New("server.gpu", "%d GPUs cannot all be connected in pairs, as in a %s; at most %d", s.gpus, s.kind.GPU.Name, maxMesh)
		}
		if made[s] == nil {
			if made[s] = s.kind.join(s.gpus); narrow {
				made[s] = b.Fabric(s.kind.NVLink)
			}
		}
		if p.Inside == nil {
			p.Inside = make([]*inside.Fabric, p.Graph.Domains())
		}
		p.Inside[d] = made[s]
	}
	return nil
}

// maxMesh is the maximum number of GPUs connected in pairs; products have up to eight.
const maxMesh = 64

// join builds the pipes between n GPUs.
func (k *Kind) join(gpus int) *inside.Fabric {
	switch {
	case k.told != nil && k.told.GPUs == gpus:
		return k.told
	case k.Pair > 0:
		return inside.Mesh(gpus, k.Pair)
	}
	return inside.Switched(gpus, k.NVLink)
}

// known returns all defined GPUs: the shipped ones and the scenario's own.
func (p *resolver) known() (map[string]model.GPU, error) {
	all := map[string]model.GPU{}
	for name, g := range model.GPUs {
		all[name] = g
	}
	for i, a := range p.File.GPUs {
		key := p.byName(field.At("gpus", i))
		name := strings.ToLower(a.Name)
		switch _, twice := all[name]; {
		case name == "":
			return nil, field.New(key+".name", "is missing")
		case model.GPUs[name].Name != "":
			return nil, field.New(key, "%s is a GPU of Railyard's catalog: give yours another name", a.Name)
		case twice:
			return nil, field.New(key, "%s is repeated", a.Name)
		case a.BF16 <= 0 || a.Memory <= 0 || a.HBM <= 0 || a.NVLink <= 0:
			return nil, field.New(key, "a GPU needs bf16_tflops, memory, hbm and nvlink")
		case a.Pair > a.NVLink:
			return nil, field.New(key+".nvlink_pair", "%v between two GPUs is more than the %v that one has to all others", a.Pair, a.NVLink)
		}
		all[name] = model.GPU{Name: a.Name, TF32: a.BF16 / 2 * 1e12, BF16: a.BF16 * 1e12, FP8: a.FP8 * 1e12,
			FP4: a.FP4 * 1e12, Memory: a.Memory, HBM: a.HBM, NVLink: a.NVLink, Pair: a.Pair, Source: "the scenario"}
	}
	return all, nil
}
