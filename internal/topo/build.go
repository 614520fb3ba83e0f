package topo

import (
	"fmt"

	"railyard/internal/field"
	"railyard/unit"
)

// Server is the shape of every GPU server of a fabric.
type Server struct {
	GPUs  int
	NICs  int // number of NICs: one per GPU, fewer shared ones, or several for each
	Ports int // per NIC: 1, or 2 for a link bundle to a switch pair
}

// Params drives the builders; which fields count depends on the kind.
type Params struct {
	Server    Server
	Hosts     int // per segment
	Segments  int
	Spines    int
	Uplinks   int // cables from a leaf to each spine
	Pods      int // rail and pod: number of pods, connected by super-spines; 0 counts as 1
	Supers    int // super-spines
	SuperUp   int // cables from a spine to each super-spine of its plane
	Planes    int // groups of super-spines; spine i of a pod is cabled to plane i mod Planes
	HostCable Cable
	Fabric    Cable
	Far       Cable  // between groups of a dragonfly, from spines to super-spines; without a rate: as Fabric
	K         int    // fat tree arity, side of a torus, NICs per switch of a dragonfly
	Tiers     int    // fat tree: 2 or 3
	Leaves    int    // fat tree: leaves per pod or, with two tiers, in total; 0: the maximum for K
	Groups    int    // dragonfly: number of groups; 0: GroupSize*Global+1, with one cable between any two
	GroupSize int    // dragonfly: switches of a group; 0: 2K
	Local     int    // dragonfly: cables between two switches of a group; 0: one
	Global    int    // dragonfly: cables of a switch to other groups; 0: K
	Cubes     [3]int // torus of cubes: number along each dimension
	Spares    int    // and number of spares
}

// far is the cables between groups and pods.
func (p *Params) far() Cable {
	if p.Far.Rate == 0 {
		return p.Fabric
	}
	return p.Far
}

// Kinds lists the fabrics of Build.
func Kinds() []string {
	return []string{"single-rail", "dual-rail", "rail-only", "rail", "pod", "fat-tree", "torus",
		"cubes", "dragonfly", "graph"}
}

// Build constructs a fabric of a kind:
//
//	single-rail  one switch, rails as VLANs            source figure 13-4
//	dual-rail    a switch pair, dual-port NICs         source figure 13-5
//	rail-only    a switch per rail, no spine           source figures 8 and 13-6
//	rail         a switch per rail and segment, spines source figures 12-4 and 9
//	pod          segments of a switch pair, spines     source figures 13-7 and 13-8
//	             rail and pod: several of it, super-spines; source figures 11, 13-9
//	fat-tree     k-ary, two or three tiers, whole or some pods of it, one GPU per host
//	torus        a cube of k^3 switches with a server each, or several
//	cubes        a torus of such cubes, whose faces end at optical circuit switches
//	dragonfly    k NICs per switch, balanced unless told otherwise, one GPU per host unless servers are given
func Build(kind string, p Params) (_ *Graph, err error) {
	defer bounded(&err)
	switch kind {
	case "fat-tree":
		return fatTree(p)
	case "torus":
		return torus(p)
	case "cubes":
		return cubes(p)
	case "dragonfly":
		return dragonfly(p)
	}
	if err := p.check(kind); err != nil {
		return nil, err
	}
	g := newGraph(kind)
	if p.Pods > 1 {
		g.pods(kind, p)
		return g, nil
	}
	switch kind {
	case "single-rail":
		g.Isolated = true
		one := g.AddNode("rail-1", Rail, 1)
		g.addHosts(p, func(int, int) []int { return []int{one} })
	case "dual-rail":
		g.Isolated = true
		pair := []int{g.AddNode("rail-1", Rail, 1), g.AddNode("rail-2", Rail, 1)}
		g.addHosts(p, func(int, int) []int { return pair })
	case "rail-only":
		g.railLeaves(p, "")
	case "rail":
		g.addSpines(p, "", g.railLeaves(p, ""))
	case "pod":
		g.addSpines(p, "", g.pairLeaves(p, ""))
	default:
		return nil, field.Choice("kind", kind, Kinds(), "%q is not a fabric", kind)
	}
	return g, nil
}

// Check refuses servers whose NICs do not serve their GPUs equally.
func (s Server) Check() error {
	switch {
	case s.GPUs < 1 || s.GPUs > MaxPerServer:
		return field.New("server.gpus", "a server has 1 to %d GPUs, found %d", MaxPerServer, s.GPUs)
	case s.NICs < 1 || s.NICs > MostNICs*s.GPUs || s.GPUs%s.NICs != 0 && s.NICs%s.GPUs != 0:
		return field.New("server.nics", "%s cannot serve %s evenly: one for as many GPUs each, or as many for each GPU, at most %d", unit.Plural(s.NICs, "NIC"), unit.Plural(s.GPUs, "GPU"), MostNICs)
	}
	return nil
}

func (p Params) check(kind string) error {
	s := p.Server
	if err := s.Check(); err != nil {
		return err
	}
	switch {
	case p.Hosts < 1 || p.Hosts > MaxGPUs:
		return field.New("hosts", "%[2]d is out of range 1–%[1]d", MaxGPUs, p.Hosts)
	case p.Segments < 1 || p.Segments > 10_000:
		return field.New("segments", "%d is out of range 1–10000", p.Segments)
	case p.Pods < 0 || p.Pods > 1024:
		return field.New("pods", "%d is out of range 1–1024", p.Pods)
	case p.Pods > 1 && kind != "rail" && kind != "pod":
		return field.New("pods", "a %s fabric has no pods", kind)
	case p.Hosts*p.Segments*max(p.Pods, 1) > MaxGPUs/s.GPUs:
		return field.New("hosts", "%d GPUs are more than the %d that packet fidelity takes",
			p.Hosts*p.Segments*max(p.Pods, 1)*s.GPUs, MaxGPUs)
	case p.HostCable.Rate <= 0:
		return field.New("host_link.rate", "must be positive")
	}
	if kind == "dual-rail" || kind == "pod" {
		if s.Ports != 2 {
			return field.New("server.nic_ports", "a %s fabric bundles two ports per NIC, found %d", kind,
				s.Ports)
		}
	} else if s.Ports != 1 {
		return field.New("server.nic_ports", "a %s fabric uses one port per NIC, found %d", kind, s.Ports)
	}
	if kind == "rail" || kind == "pod" {
		switch {
		case p.Spines == 0:
			return field.New("spines", "missing: set the number of spine switches, 1–1024 (spines: 4); leaves get the uplinks for 1:1, kind rail-only has no spines")
		case p.Spines < 1 || p.Spines > 1024:
			return field.New("spines", "%d is out of range 1–1024", p.Spines)
		case p.Fabric.Rate <= 0:
			return field.New("fabric_link.rate", "must be positive")
		case p.Uplinks < 1 || p.Uplinks > 256:
			return field.New("uplinks", "%d is out of range 1–256 per spine", p.Uplinks)
		}
	}
	if p.Pods > 1 {
		switch {
		case p.Supers < 1 || p.Supers > 4096:
			return field.New("super_spines", "%d is out of range 1–4096 for several pods",
				p.Supers)
		case p.SuperUp < 1 || p.SuperUp > 256:
			return field.New("super_uplinks", "%d is out of range 1–256 per super-spine",
				p.SuperUp)
		case p.Planes < 1 || p.Supers%p.Planes != 0 || p.Planes > p.Spines:
			return field.New("planes",
				"%d planes do not divide %d super-spines, or are more than the %d spines of a pod", p.Planes,
				p.Supers, p.Spines)
		}
	}
	return nil
}

// pods builds several fabrics of a kind and connects their spines by super-spines (source figures 11 and 13-9).
func (g *Graph) pods(kind string, p Params) {
	supers := make([]int, p.Supers)
	var spines [][]int
	for pod := range p.Pods {
		prefix := fmt.Sprintf("pod-%d-", pod+1)
		var leaves []int
		if kind == "rail" {
			leaves = g.railLeaves(p, prefix)
		} else {
			leaves = g.pairLeaves(p, prefix)
		}
		spines = append(spines, g.addSpines(p, prefix, leaves))
	}
	for i := range supers {
		supers[i] = g.AddNode(fmt.Sprintf("super-spine-%d", i+1), SuperSpine, 3)
	}
	per := p.Supers / p.Planes
	for _, pod := range spines {
		for i, spine := range pod {
			plane := i % p.Planes
			for _, super := range supers[plane*per : (plane+1)*per] {
				for range p.SuperUp {
					g.Connect(spine, super, p.far())
				}
			}
		}
	}
}

// pairLeaves adds a switch pair per segment and its servers.
func (g *Graph) pairLeaves(p Params, prefix string) []int {
	leaves := make([]int, 2*p.Segments)
	for i := range leaves {
		leaves[i] = g.AddNode(fmt.Sprintf("%srail-%d", prefix, i+1), Rail, 1)
	}
	g.addHosts(p, func(seg, _ int) []int { return leaves[2*seg : 2*seg+2] })
	return leaves
}

// addHosts adds the servers and cables each NIC to the switches attach names.
func (g *Graph) addHosts(p Params, attach func(seg, nic int) []int) {
	for seg := range p.Segments {
		for range p.Hosts {
			h := g.AddNode(fmt.Sprintf("host-%d", len(g.Hosts)+1), Host, 0)
			for i := range p.Server.NICs {
				nic := NIC{Host: len(g.Hosts) - 1, Index: i, Rail: i}
				for _, sw := range attach(seg, i) {
					nic.Links = append(nic.Links, g.Connect(h, sw, p.HostCable))
				}
				g.NICs = append(g.NICs, nic)
			}
			g.deal(p.Server.GPUs, p.Server.NICs)
		}
	}
}

// railLeaves adds one leaf per rail and segment, and the servers.
func (g *Graph) railLeaves(p Params, prefix string) []int {
	leaves := make([]int, 0, p.Segments*p.Server.NICs)
	for seg := range p.Segments {
		for r := range p.Server.NICs {
			name := fmt.Sprintf("%srail-%d", prefix, r+1)
			if p.Segments > 1 {
				name = fmt.Sprintf("%sseg-%d-rail-%d", prefix, seg+1, r+1)
			}
			leaves = append(leaves, g.AddNode(name, Rail, 1))
		}
	}
	g.addHosts(p, func(seg, nic int) []int {
		i := seg*p.Server.NICs + nic
		return leaves[i : i+1]
	})
	return leaves
}

// NonBlockingUplinks returns the number of links from a leaf to each of the spines that carry the traffic of its down
// ports.
func NonBlockingUplinks(down int, downRate unit.Rate, spines int, upRate unit.Rate) int {
	each := int64(spines) * int64(upRate)
	if each <= 0 {
		return 0
	}
	return int((int64(down)*int64(downRate) + each - 1) / each)
}

// addSpines meshes leaves and spines.
func (g *Graph) addSpines(p Params, prefix string, leaves []int) []int {
	spines := make([]int, p.Spines)
	for i := range spines {
		spines[i] = g.AddNode(fmt.Sprintf("%sspine-%d", prefix, i+1), Spine, 2)
	}
	for _, l := range leaves {
		for _, s := range spines {
			for range p.Uplinks {
				g.Connect(l, s, p.Fabric)
			}
		}
	}
	return spines
}
