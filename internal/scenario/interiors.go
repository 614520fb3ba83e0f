package scenario

import (
	"fmt"

	"railyard/unit"
)

// Interior is the inside of equal servers, or of servers that share NVLink.
type Interior struct {
	Names      []string `json:"servers"` // NVLink domains
	GPU        string   `json:"gpu"`
	GPUs       []GPUIn  `json:"gpus"`
	NVLink     int64    `json:"nvlink_bits_per_second"` // NVLink rate of a GPU, per direction
	Joined     string   `json:"connected_by"`           // NVSwitch, pairs
	Board      string   `json:"baseboard,omitempty"`
	Baseboards int      `json:"baseboards,omitempty"`
	PerGPU     int      `json:"nvlinks_per_gpu,omitempty"`
	Across     int64    `json:"between_baseboards_bits_per_second,omitempty"` // each direction, if it limits
	Chips      []ChipIn `json:"nvswitches,omitempty"`
	PCIe       []string `json:"pcie_switches,omitempty"`
	// payload between a GPU or NIC and its switch; 0: no limit
	PCIeRate unit.Rate `json:"pcie_bits_per_second,omitempty"`
}

// ChipIn is one NVSwitch.
type ChipIn struct {
	Name    string  `json:"name"`
	Board   int     `json:"baseboard"`
	Links   int     `json:"nvlinks_per_gpu"`
	Share   float64 `json:"share"`                          // share of the traffic of a GPU
	Without int64   `json:"nvlink_without_bits_per_second"` // a GPU's remaining rate when the chip fails
}

// GPUIn is one GPU of a server.
type GPUIn struct {
	Name  string   `json:"name"`
	Board int      `json:"baseboard,omitempty"`
	PCIe  string   `json:"pcie_switch,omitempty"`
	NICs  []string `json:"nics"`
}

// Interiors describes the inside of servers and NVLink domains, "" for all of them; equal ones are one entry. The plan
// has what servers have inside (Document.Servers).
func (p *Plan) Interiors(name string) (all []*Interior) {
	at := map[string]*Interior{}
	for d := range p.Graph.Domains() {
		first, last := p.Graph.GPUsIn(d)
		if first == last || name != "" && !p.named(d, name) {
			continue
		}
		in := p.interior(d)
		if same := at[in.shape()]; same != nil {
			same.Names = append(same.Names, in.Names...)
			continue
		}
		at[in.shape()] = in
		all = append(all, in)
	}
	return all
}

// named reports whether a domain, or one of its servers, has a name.
func (p *Plan) named(domain int, name string) bool {
	first, last := p.Graph.ServersIn(domain)
	for _, node := range p.Graph.Hosts[first:last] {
		if p.Graph.Nodes[node].Name == name {
			return true
		}
	}
	return p.Graph.DomainName(domain) == name
}

// shape returns what equal interiors have in common: all but names of servers.
func (in *Interior) shape() string {
	s := fmt.Sprint(in.GPU, len(in.GPUs), in.NVLink, in.Joined, in.Board, in.Baseboards, in.Across, len(in.PCIe))
	for _, c := range in.Chips {
		s += fmt.Sprint(" ", c.Links)
	}
	for _, g := range in.GPUs {
		s += fmt.Sprint(" ", len(g.NICs))
	}
	return s
}

func (p *Plan) interior(d int) *Interior {
	g, b := p.Graph, p.Boards[d]
	first, last := g.GPUsIn(d)
	k := p.Kinds[g.ServerIn(d)]
	in := &Interior{Names: []string{g.DomainName(d)}, GPU: k.GPU.Name, NVLink: int64(k.NVLink), Joined: "NVSwitch",
		PCIeRate: p.NICs.PCIe}
	switch {
	case k.Mesh():
		in.Joined, in.NVLink = "pairs", int64(k.Reach())
	case k.told.Paired():
		in.Joined, in.NVLink = "pairs", int64(k.told.Slowest())
	}
	if b != nil {
		in.Board, in.Baseboards, in.PerGPU = b.Name, b.Boards, b.PerGPU()
		if b.Narrow() {
			in.Across = int64(b.Across(k.NVLink))
		}
	}
	for chip := 0; b != nil && chip < b.Chips(); chip++ {
		plane, board := b.Plane(chip)
		left := b.Left(map[int]bool{chip: true})
		in.Chips = append(in.Chips, ChipIn{Name: p.ChipName(d, chip), Board: board + 1, Links: b.Links[plane],
			Share:   float64(b.Links[plane]) / float64(in.PerGPU),
			Without: int64(k.NVLink) * int64(left) / int64(in.PerGPU)})
	}
	for gpu := first; gpu < last; gpu++ {
		x := GPUIn{Name: g.GPUName(gpu)}
		if b != nil {
			x.Board = 1 + (gpu-first)/(b.GPUs/b.Boards)
		}
		for way := range g.Ways(gpu) {
			x.NICs = append(x.NICs, g.NICName(g.WayOf(gpu, way)))
		}
		in.GPUs = append(in.GPUs, x)
	}
	from, to := g.ServersIn(d)
	for host := from; host < to; host++ {
		for n := range p.PCIe() {
			name := p.PCIeName(host, n)
			a, z, _ := p.BehindPCIe(host, n)
			for gpu := a; gpu < z; gpu++ {
				in.GPUs[gpu-first].PCIe = name
			}
			in.PCIe = append(in.PCIe, name)
		}
	}
	return in
}
