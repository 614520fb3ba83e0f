package scenario

import (
	"slices"

	"railyard/internal/field"
)

// crew are the GPUs of a job, by rank; nil is all GPUs of the fabric in their order.
type crew []int

// gpu returns the GPU of a rank.
func (c crew) gpu(rank int) int {
	if c == nil {
		return rank
	}
	return c[rank]
}

// ranks returns how many GPUs a job has.
func (p *Plan) ranks(c crew) int {
	if c == nil {
		return p.Graph.TotalGPUs()
	}
	return len(c)
}

// domains lists the servers of a job in their order, where trays that share NVLink count as one.
func (p *Plan) domains(c crew) (all []int) {
	g := p.Graph
	there := make([]bool, g.Domains())
	for rank := range p.ranks(c) {
		there[g.DomainOf(g.HostOf(c.gpu(rank)))] = true
	}
	for d, is := range there {
		if is {
			all = append(all, d)
		}
	}
	return all
}

// perServer returns the number of a job's GPUs that share NVLink, the maximum if servers differ.
func (p *Plan) perServer(c crew) (most int) {
	if c == nil {
		return p.Graph.PerDomain()
	}
	count := make([]int, p.Graph.Domains())
	for _, gpu := range c {
		d := p.Graph.DomainOf(p.Graph.HostOf(gpu))
		count[d]++
		most = max(most, count[d])
	}
	return most
}

// runs returns a job's GPUs by server: consecutive ranks on one server are together.
func (p *Plan) runs(c crew) (all []crew) {
	g, last := p.Graph, -1
	for rank := range p.ranks(c) {
		gpu := c.gpu(rank)
		if d := g.DomainOf(g.HostOf(gpu)); d != last {
			all, last = append(all, nil), d
		}
		all[len(all)-1] = append(all[len(all)-1], gpu)
	}
	return all
}

// rankOf returns the rank of a job on a GPU, by the GPU's name.
func (p *resolver) rankOf(at task, name string) (int, error) {
	gpu, err := p.Graph.FindGPU(name)
	if err != nil || at.crew == nil {
		return gpu, err
	}
	rank := slices.Index(at.crew, gpu)
	if rank < 0 {
		return 0, field.New("", "%s is not one of the job's GPUs", name)
	}
	return rank, nil
}
