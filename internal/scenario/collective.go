package scenario

import (
	"slices"

	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/internal/workload"
	"railyard/unit"
)

// groups are the ranks that are among themselves: all, or those at one place in their servers.
func (p *resolver) groups(by string) [][]int {
	g := p.Graph
	if by != "rail" {
		return workload.All(g.TotalGPUs())
	}
	out := make([][]int, g.PerDomain())
	for gpu := range g.TotalGPUs() {
		out[g.PlaceOf(gpu)] = append(out[g.PlaceOf(gpu)], gpu)
	}
	return out
}

// collective builds a collective over all ranks or over the rails.
func (p *resolver) collective(groups string, run workload.CollectiveRun) (*workload.DAG, error) {
	ranks := p.Graph.TotalGPUs()
	run.PerServer, run.Servers = p.Graph.PerDomain(), p.servers(nil)
	who := p.groups(groups)
	if run.Algorithm == coll.ByRails {
		if err := p.alike(); err != nil {
			return nil, err
		}
	}
	if run.Kind == coll.ToAll && len(who[0]) > 4096 {
		return nil, field.New("", "an all-to-all of %d ranks is more than the 4096 that are taken",
			len(who[0]))
	}
	return workload.RunCollective(ranks, run, who)
}

// ParseKind reads a collective's name.
func ParseKind(s string) (coll.Kind, error) {
	var names []string
	for _, k := range []coll.Kind{coll.AllReduce, coll.AllGather, coll.ReduceScatter, coll.ToAll,
		coll.Bcast} {
		names = append(names, k.String())
		if k.String() == s {
			return k, nil
		}
	}
	return 0, field.Choice("", s, names, "%q is not a collective", s)
}

// choose fills in what a collective leaves to NCCL's tuning model.
func (p *resolver) choose(s *CollSpec) (run workload.CollectiveRun, err error) {
	key := "workload.traffic.collective"
	if s.Kind == "" {
		s.Kind = coll.AllReduce.String()
	}
	if run.Kind, err = ParseKind(s.Kind); err != nil {
		return run, field.Under(key+".kind", err)
	}
	run.Bytes, run.Algorithm, run.Protocol, run.Channels, run.Chunk = s.Bytes, s.Algorithm, s.Protocol,
		s.Channels, s.Chunk
	if run.Protocol == "none" {
		run.Protocol = ""
	}
	if s.Algorithm != "auto" && s.Algorithm != "" && s.Protocol != "auto" {
		p.meshed(s.Groups, &run)
		return run, nil
	}
	return run, p.tuned(s, &run)
}

// meshed gives a ring in servers whose GPUs are joined in pairs as many channels as it takes to use all their
// cables, as RCCL does (AMD, Understanding RCCL bandwidth and xGMI performance, 2 March 2025: all seven
// links of a MI300X): one less than there are GPUs inside a server, one for each NIC beyond.
func (p *resolver) meshed(groups string, run *workload.CollectiveRun) {
	n := p.Graph.PerDomain()
	if run.Channels > 0 || run.Algorithm != coll.ByRing && run.Algorithm != "" || groups == "rail" || n < 3 ||
		run.Kind == coll.ToAll || run.Kind == coll.Bcast || run.Chunk > 0 {
		return
	}
	for host, k := range p.Kinds {
		if first, last := p.Graph.GPUsOf(host); last > first && !k.Mesh() {
			return
		}
	}
	if run.Channels = n; p.Graph.Domains() == 1 {
		run.Channels = n - 1
	}
	p.note("GPUs are joined in pairs: the %v runs as %d rings on cables of their own (RCCL's way; "+
		"channels: 1 "+
		"is one ring)", run.Kind, run.Channels)
}

// tuned asks the tuning model, which knows some collectives; others run the usual way.
func (p *resolver) tuned(s *CollSpec, run *workload.CollectiveRun) error {
	key := "workload.traffic.collective"
	if s.Algorithm == "" || s.Algorithm == "auto" {
		run.Algorithm = ""
	}
	if run.Kind == coll.ToAll || run.Kind == coll.Bcast {
		if s.Protocol == "auto" {
			run.Protocol = coll.Simple
		}
		return nil
	}
	m, err := p.Machine(s.Groups == "rail")
	if err != nil {
		return field.Under(key+".algorithm", err)
	}
	all, err := m.Tune(run.Kind, float64(s.Bytes))
	if err != nil {
		return field.Under(key, err)
	}
	for _, c := range all {
		if c.Algorithm == coll.ByNVLS || run.Algorithm != "" && c.Algorithm != run.Algorithm ||
			s.Protocol != "auto" && run.Protocol != "" && c.Protocol != run.Protocol {
			continue
		}
		run.Algorithm = c.Algorithm
		if s.Protocol == "auto" {
			run.Protocol = c.Protocol
		}
		break
	}
	if run.Channels == 0 && run.Algorithm == coll.ByRing && s.Groups != "rail" {
		run.Channels = p.Graph.PerDomain()
	}
	with := ""
	if run.Protocol != "" {
		with = " with protocol " + run.Protocol
	}
	p.note("NCCL's tuning model runs an %v of %v here as %s%s", run.Kind, s.Bytes, run.Algorithm, with)
	return nil
}

// nvidia are the GPUs that NCCL's tuning model has constants for.
var nvidia = []string{"a100", "b200", "gb200", "gb300", "h100", "h200"}

// Machine is the fabric as NCCL's tuning model sees it: two channels per NIC, and of
// NVLink what its kernels reach, 20.6 of 25 GB/s per link (A100 20; HANDBOOK.md 9.3).
func (p *Plan) Machine(rail bool) (coll.Machine, error) {
	g := p.Graph
	hopper, nvlink := true, unit.Rate(0)
	for host, k := range p.Kinds {
		if first, last := g.GPUsOf(host); first == last {
			continue
		}
		if !slices.Contains(nvidia, k.GPU.Name) {
			return coll.Machine{}, field.New("",
				"NCCL's tuning model knows NVIDIA's GPUs, not %s; name an algorithm", k.GPU.Name)
		}
		hopper = hopper && k.GPU.Name != "a100"
		if reach := k.Reach(); nvlink == 0 || reach < nvlink {
			nvlink = reach
		}
	}
	servers, nics, rate := p.slowest()
	m := coll.Machine{Nodes: servers, PerNode: g.PerDomain(), Channels: min(64, 2*nics),
		Hopper: hopper, NVLS: hopper}
	share := 20.6 / 25
	if !m.Hopper {
		share = 20.0 / 25
	}
	m.NVLink, m.NIC = share*float64(nvlink)/8e9, float64(rate)/8e9
	if rail {
		m.NIC /= float64(g.PerDomain())
		m.PerNode, m.Channels = 1, 2
	}
	return m, m.Check()
}

// slowest counts the servers that have GPUs, trays that share NVLink as one, and says how many NICs the
// slowest of them has and what they reach together: a ring is as fast as the slowest server on it.
func (p *Plan) slowest() (servers, nics int, rate unit.Rate) {
	g := p.Graph
	cards, rates := make([]int, g.Domains()), make([]unit.Rate, g.Domains())
	for _, n := range g.NICs {
		d := g.DomainOf(n.Host)
		cards[d]++
		for _, l := range n.Links {
			rates[d] += g.Links[l].Rate
		}
	}
	for h := range cards {
		if first, last := g.GPUsIn(h); first == last {
			continue
		}
		if servers++; servers == 1 || rates[h] < rate {
			nics, rate = cards[h], rates[h]
		}
	}
	return servers, nics, rate
}

// alike says which two servers have different numbers of GPUs, if any have.
func (p *resolver) alike() error {
	g := p.Graph
	one := -1
	name := func(domain int) string { return g.Nodes[g.Hosts[g.ServerIn(domain)]].Name }
	for d := range g.Domains() {
		first, last := g.GPUsIn(d)
		if first == last {
			continue
		}
		if one < 0 {
			one = d
		}
		if a, b := g.GPUsIn(one); b-a != last-first {
			return field.New("algorithm", "%s needs servers with as many GPUs each: %s has %d, %s has %d",
				coll.ByRails, name(one), b-a, name(d), last-first)
		}
	}
	return nil
}
