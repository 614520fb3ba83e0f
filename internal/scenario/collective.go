package scenario

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/internal/workload"
	"railyard/unit"
)

// groups are the communicating ranks: all, or those at one position in their servers.
func (p *resolver) groups(c crew, by string) [][]int {
	g := p.Graph
	if by != "rail" {
		return workload.All(p.ranks(c))
	}
	out := make([][]int, g.PerDomain())
	for rank := range p.ranks(c) {
		place := g.PlaceOf(c.gpu(rank))
		out[place] = append(out[place], rank)
	}
	if c != nil { // the job need not be at every place
		out = slices.DeleteFunc(out, func(group []int) bool { return len(group) == 0 })
	}
	return out
}

// collective builds a collective over all ranks or over the rails.
func (p *resolver) collective(c crew, groups string, run workload.CollectiveRun) (*workload.DAG, error) {
	ranks := p.ranks(c)
	run.PerServer, run.Servers, run.Switch = p.perServer(c), p.servers(c), p.adding(c)
	who := p.groups(c, groups)
	if run.Algorithm == coll.ByRails {
		if err := p.alike(c); err != nil {
			return nil, err
		}
	}
	if run.Kind == coll.ToAll && len(who[0]) > 4096 {
		return nil, field.New("", "an all-to-all of %d ranks is more than the 4096 that are taken", len(who[0]))
	}
	if p.amount == asSums {
		return workload.SumCollective(ranks, run, who)
	}
	return workload.RunCollective(ranks, run, who)
}

// ParseKind reads a collective's name.
func ParseKind(s string) (coll.Kind, error) {
	var names []string
	for _, k := range []coll.Kind{coll.AllReduce, coll.AllGather, coll.ReduceScatter, coll.ToAll, coll.Bcast} {
		names = append(names, k.String())
		if k.String() == s {
			return k, nil
		}
	}
	return 0, field.Choice("", s, names, "%q is not a collective", s)
}

// choose sets the values of a collective that NCCL's tuning model decides.
func (p *resolver) choose(at task, s *CollSpec) (run workload.CollectiveRun, err error) {
	key := at.key + ".traffic.collective"
	if s.Kind == "" {
		s.Kind = coll.AllReduce.String()
	}
	if run.Kind, err = ParseKind(s.Kind); err != nil {
		return run, field.Under(key+".kind", err)
	}
	run.Bytes, run.Algorithm, run.Protocol, run.Channels, run.Chunk = s.Bytes, s.Algorithm, s.Protocol,
		s.Channels, s.Chunk
	run.CrossNIC, run.Repeat = s.CrossNIC, s.Repeat
	if run.Protocol == "none" {
		run.Protocol = ""
	}
	for i, x := range s.Without {
		if !slices.Contains(tunable, x) {
			return run, field.Choice(fmt.Sprintf("%s.without[%d]", key, i), x, tunable,
				"%q is nothing that the tuning model picks", x)
		}
	}
	if s.Algorithm == "auto" || s.Algorithm == "" || s.Protocol == "auto" {
		if err := p.tuned(at, s, &run); err != nil {
			return run, err
		}
	}
	if m, err := p.machine(at.crew, s.Groups == "rail"); err == nil { // otherwise no constants of these GPUs
		run.CopyRate = m.CopyRate(run.Algorithm, run.Protocol)
		p.Modelled = modelled(m, run, float64(cmp.Or(p.TunedFor, s.Bytes)))
	}
	ring := run.Algorithm == coll.ByRing && run.Kind != coll.ToAll
	if run.Kind == coll.Bcast {
		ring = run.Algorithm != coll.ByTree
	}
	if ring && run.Channels == 0 && s.Groups != "rail" {
		run.Channels = p.rings(at.crew)
	}
	return run, nil
}

// modelled returns the time that NCCL's tuning model has for a collective; nil: none.
func modelled(m coll.Machine, run workload.CollectiveRun, bytes float64) *coll.Choice {
	all, err := m.Tune(run.Kind, bytes)
	if err != nil {
		return nil
	}
	for i, c := range all {
		if c.Algorithm == run.Algorithm && (run.Protocol == "" || c.Protocol == run.Protocol) {
			return &all[i]
		}
	}
	return nil
}

// mesh reports whether GPUs of all servers are connected in pairs.
func (p *Plan) mesh(c crew) bool {
	for rank := range p.ranks(c) {
		if !p.KindOf(c.gpu(rank)).Mesh() {
			return false
		}
	}
	return true
}

// tunable lists the choices that a tuning model can exclude.
var tunable = []string{coll.ByRing, coll.ByTree, coll.ByNVLS, coll.ByNVLSTree, coll.LL, coll.LL128, coll.Simple}

// tuned applies the tuning model, which supports some collectives; others use the default.
func (p *resolver) tuned(at task, s *CollSpec, run *workload.CollectiveRun) error {
	key := at.key + ".traffic.collective"
	if s.Algorithm == "" || s.Algorithm == "auto" {
		run.Algorithm = ""
	}
	if run.Kind == coll.ToAll || run.Kind == coll.Bcast {
		if s.Protocol == "auto" {
			run.Protocol = coll.Simple
		}
		return nil
	}
	m, err := p.machine(at.crew, s.Groups == "rail")
	if err != nil {
		return field.Under(key+".algorithm", err)
	}
	all, err := m.Tune(run.Kind, float64(cmp.Or(p.TunedFor, s.Bytes)))
	if err != nil {
		return field.Under(key, err)
	}
	all = slices.DeleteFunc(all, func(c coll.Choice) bool {
		return slices.Contains(s.Without, c.Algorithm) || slices.Contains(s.Without, c.Protocol)
	})
	if len(all) == 0 {
		return field.New(key+".without", "leaves the tuning model nothing to run an %v by", run.Kind)
	}
	uneven, rings := p.alike(at.crew) != nil, run.Channels > 0 || run.Chunk > 0
	for _, c := range all {
		if uneven && c.Algorithm == coll.ByNVLSTree || rings && c.Algorithm != coll.ByRing ||
			run.Algorithm != "" && c.Algorithm != run.Algorithm ||
			s.Protocol != "auto" && run.Protocol != "" && c.Protocol != run.Protocol {
			continue
		}
		run.Algorithm = c.Algorithm
		if s.Protocol == "auto" {
			run.Protocol = c.Protocol
		}
		break
	}
	with := " without its protocol (protocol: auto simulates that too)"
	if run.Protocol != "" {
		with = " with protocol " + run.Protocol
	}
	p.note("NCCL's tuning model runs an %v of %v here as %s%s", run.Kind, cmp.Or(p.TunedFor, s.Bytes), run.Algorithm, with)
	return nil
}

// adding returns the share of NVLink's rate at which the switches of a job's GPUs reduce (NVLS). Those of Hopper
// and Blackwell do; other manufacturers' and pairs do not.
func (p *Plan) adding(c crew) (share float64) {
	for rank := range p.ranks(c) {
		k := p.KindOf(c.gpu(rank))
		of := 0.0
		switch {
		case k.Pair > 0 || k.told.Paired():
		case slices.Contains([]string{"h100", "h200"}, k.GPU.Name):
			of = coll.NVLSShare(false)
		case slices.Contains(blackwells, k.GPU.Name):
			of = coll.NVLSShare(true)
		}
		if rank == 0 || of < share {
			share = of
		}
	}
	return share
}

// Adding is adding for all GPUs of the fabric.
func (p *Plan) Adding() float64 { return p.adding(nil) }

// blackwells are the GPUs of that generation.
var blackwells = []string{"b200", "b300", "gb200", "gb300"}

// nvidia are the GPUs that NCCL's tuning model has constants for.
var nvidia = []string{"a100", "b200", "b300", "gb200", "gb300", "h100", "h20", "h200", "h800"}

// HostLimited names the transport if hosts limit it rather than links, as for kernel TCP; "" otherwise.
func (p *Plan) HostLimited() string {
	if c := p.Default().Carried; c != nil && c.Hosts != nil {
		return c.Name
	}
	return ""
}

// Machine returns the fabric as input of NCCL's tuning model: two channels per NIC, and NVLink at the simulator's rate,
// which kernels reach.
func (p *Plan) Machine(rail bool) (coll.Machine, error) { return p.machine(nil, rail) }

// machine returns the hardware of a job's collectives.
func (p *Plan) machine(c crew, rail bool) (coll.Machine, error) {
	hopper, blackwell, nvlink := true, true, unit.Rate(0)
	for rank := range p.ranks(c) {
		k := p.KindOf(c.gpu(rank))
		if !slices.Contains(nvidia, k.GPU.Name) {
			return coll.Machine{}, field.New("",
				"NCCL's tuning model has NVIDIA's GPUs, not %s; accepted: ring, and for all-reduces tree, halving-doubling and hierarchical",
				k.GPU.Name)
		}
		hopper = hopper && k.GPU.Name != "a100"
		blackwell = blackwell && slices.Contains(blackwells, k.GPU.Name)
		if reach := k.nominal(); nvlink == 0 || reach < nvlink {
			nvlink = reach
		}
	}
	servers, nics, rate := p.slowest(c)
	m := coll.Machine{Nodes: servers, PerNode: p.perServer(c), Channels: min(coll.MostChannels, 2*nics),
		Hopper: hopper, Blackwell: blackwell, NVLS: p.adding(c) > 0}
	m.NVLink, m.NIC = float64(nvlink)/8e9, float64(rate)/8e9
	if rail {
		m.NIC /= float64(m.PerNode)
		m.PerNode, m.Channels, m.NVLS = 1, 2, false
	}
	return m, m.Check()
}

// slowest counts the servers of a job, where trays that share NVLink count as one. It returns the number and total
// rate of the NICs of the slowest server, which limits a ring.
func (p *Plan) slowest(c crew) (servers, nics int, rate unit.Rate) {
	g := p.Graph
	cards, rates := make([]int, g.Domains()), make([]unit.Rate, g.Domains())
	var mine []bool // by NIC, for a job that may not use a whole server
	if c != nil {
		mine = make([]bool, len(g.NICs))
		for _, gpu := range c {
			for way := range g.Ways(gpu) {
				mine[g.WayOf(gpu, way)] = true
			}
		}
	}
	for i, n := range g.NICs {
		if mine != nil && !mine[i] {
			continue
		}
		d := g.DomainOf(n.Host)
		cards[d]++
		for _, l := range n.Links {
			rates[d] += g.Links[l].Rate
		}
	}
	for _, d := range p.domains(c) {
		if servers++; servers == 1 || rates[d] < rate {
			nics, rate = cards[d], rates[d]
		}
	}
	return servers, nics, rate
}

// alike returns two servers with different numbers of a job's GPUs, if any.
func (p *resolver) alike(c crew) error {
	g := p.Graph
	count := make([]int, g.Domains())
	for rank := range p.ranks(c) {
		count[g.DomainOf(g.HostOf(c.gpu(rank)))]++
	}
	name := func(domain int) string { return g.Nodes[g.Hosts[g.ServerIn(domain)]].Name }
	all := p.domains(c)
	for _, d := range all {
		if one := all[0]; count[d] != count[one] {
			return field.New("algorithm", "%s needs servers with as many GPUs each: %s has %d, %s has %d",
				coll.ByRails, name(one), count[one], name(d), count[d])
		}
	}
	return nil
}
