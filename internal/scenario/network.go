package scenario

import (
	"strings"

	"railyard/internal/field"
	"railyard/internal/queue"
	"railyard/internal/topo"
)

func (l Link) cable() topo.Cable {
	return topo.Cable{Rate: l.Rate, LengthMM: int64(l.Cable), Delay: l.Delay, BER: l.BER}
}

// network resolves the fabric and server blocks.
func (p *resolver) network() error {
	f, s := &p.File.Fabric, &p.File.Server
	described := len(f.Types)+len(f.Nodes)+len(f.Cables) > 0
	if described && f.Kind != "" {
		return field.New("fabric.kind",
			"%s is a pattern of its own: a fabric has a kind, or types, nodes and cables", f.Kind)
	}
	if f.Kind == "" && !described {
		return field.New("fabric.kind", "is missing; accepted: %s", strings.Join(topo.Kinds(), ", "))
	}
	if s.RxXOn >= s.RxXOff {
		return field.New("server.rx_xon", "%v is not below rx_xoff %v", s.RxXOn, s.RxXOff)
	}
	if err := p.effective(); err != nil {
		return err
	}
	p.decide(f, s)
	p.IPv6 = f.IP != nil && *f.IP == 6
	p.Shape = f.shape(s)
	p.Switching = Switching{CutThrough: f.CutThrough, Pipeline: f.Pipeline, Response: f.PauseDelay}
	p.NICs = NICs{Rate: f.HostLink.Rate, Bond: s.Bond, Latency: s.NICLatency, PCIe: s.PCIe,
		RxXOff: s.RxXOff, RxXOn: s.RxXOn}
	err := p.deviceTypes()
	switch {
	case err != nil:
	case described:
		p.Graph, err = p.described()
	case f.Kind == "graph":
		p.Graph, err = p.explicit()
	default:
		p.Graph, err = p.kind()
	}
	if err == nil {
		err = p.devices()
	}
	if err == nil {
		err = p.channels(f, described)
	}
	if err == nil {
		err = p.separate(s)
	}
	if err == nil {
		err = p.shareNVLink(s)
	}
	if err == nil {
		err = p.chooseNICs(s)
	}
	if err != nil {
		return err
	}
	if err := p.storage(); err != nil {
		return err
	}
	p.NICs.Rate = p.Graph.Links[p.Graph.NICs[0].Links[0]].Rate
	if p.File.Fabric.Scheduled.On {
		p.Scheduled = new(queue.Scheduled) // see scheduled
	}
	if p.hasSpares() { // spare cubes: they need no connection
		return nil
	}
	return field.Under("fabric", p.Graph.CheckConnected(nil))
}

// Rules that select the NIC of a GPU.
const (
	OwnNIC   = "own"
	AnyNIC   = "any"
	RailNICs = "same-rail-first"
)

// chooseNICs applies server.nics_used and server.nic_choice.
func (p *resolver) chooseNICs(s *Server) error {
	const key = "server.nic_choice"
	if len(s.Used) > 0 {
		if err := p.Graph.UseNICs(s.Used); err != nil {
			return field.Under("server.nics_used", err)
		}
	}
	if s.Choice != AnyNIC {
		return nil
	}
	most := 0
	for _, n := range p.Graph.NICs {
		most = max(most, n.Index+1)
	}
	switch {
	case s.PXN:
		return field.New(key,
			"any sends by all NICs, and server.pxn by the one on the receiver's rail: one of the two")
	case most > topo.MostNICs:
		return field.New(key, "any takes at most %d NICs of a server in turn, these have %d", topo.MostNICs,
			most)
	}
	p.Graph.AnyNIC()
	return nil
}

// shareNVLink connects consecutive servers to NVLink domains of as many GPUs each.
func (p *resolver) shareNVLink(s *Server) error {
	const key = "server.nvlink_domain"
	all := p.Graph.TotalGPUs()
	switch {
	case s.Domain == 0:
		return nil
	case p.types != nil:
		return field.New(key,
			"has no effect on a fabric of types, nodes and cables: the domain of a type sets which servers share NVLink")
	case s.Domain%s.GPUs != 0:
		return field.New(key, "%d GPUs are not a whole number of servers, which have %d each", s.Domain, s.GPUs)
	case all%s.Domain != 0:
		return field.New(key, "%d GPUs do not divide the %d of the fabric: its last domain would have %d",
			s.Domain, all, all%s.Domain)
	}
	return p.Graph.ShareNVLink(s.Domain / s.GPUs)
}

// decide sets the values of a fabric that follow from others.
func (p *resolver) decide(f *Fabric, s *Server) {
	if f.Kind == "fat-tree" || f.Kind == "dragonfly" && !p.says("server.gpus") && !p.says("server.nics") {
		s.GPUs, s.NICs, s.NICPorts = 1, 1, 1
	}
	if f.FabricLink.Rate == 0 {
		f.FabricLink.Rate = f.HostLink.Rate
		if f.Kind == "fat-tree" && f.HostLink.Delay > 0 && f.FabricLink.Delay == 0 {
			f.FabricLink.Delay = f.HostLink.Delay
		}
	}
	if f.Uplinks == 0 && f.Spines > 0 && (f.Kind == "rail" || f.Kind == "pod") {
		down := f.Hosts
		if f.Kind == "pod" {
			down *= s.NICs
		}
		f.Uplinks = topo.NonBlockingUplinks(down, f.HostLink.Rate, f.Spines, f.FabricLink.Rate)
	}
	if f.Kind == "torus" && f.Uplinks == 0 {
		f.Uplinks = 1
	}
}

// shape is the fabric as topo builds it.
func (f *Fabric) shape(s *Server) Shape {
	return Shape{f.Kind, topo.Params{Server: s.of(), HostCable: f.HostLink.cable(),
		Fabric: f.FabricLink.cable(), Far: f.far(), Hosts: f.Hosts, Segments: f.Segments, Spines: f.Spines,
		Uplinks: f.Uplinks, Pods: f.Pods, Supers: f.Supers, SuperUp: f.SuperUp, Planes: f.Planes,
		K: f.K, Tiers: f.Tiers, Leaves: f.Leaves, Groups: f.Groups, GroupSize: f.GroupSize,
		Local: f.Local, Global: f.Global, Cubes: f.along(), Spares: f.spares()}}
}

// far returns the cables between groups of a dragonfly and to super-spines. Values that far_link does not set are
// those of fabric_link.
func (f *Fabric) far() topo.Cable {
	c := f.FarLink
	if c.Rate == 0 {
		c.Rate = f.FabricLink.Rate
	}
	if c.Cable == 0 && c.Delay == 0 {
		c.Cable, c.Delay = f.FabricLink.Cable, f.FabricLink.Delay
	}
	if c.BER == 0 {
		c.BER = f.FabricLink.BER
	}
	return c.cable()
}

// along returns how many cubes lie in each dimension.
func (f *Fabric) along() (n [3]int) {
	copy(n[:], f.Cubes)
	return n
}

// spares returns the number of spare cubes.
func (f *Fabric) spares() int {
	if f.Optics == nil {
		return 0
	}
	return f.Optics.Spares
}

// of returns one server as topo builds it.
func (s *Server) of() topo.Server { return topo.Server{GPUs: s.GPUs, NICs: s.NICs, Ports: s.NICPorts} }

// kind builds one of topo's fabrics, and connects its open ports to circuits.
func (p *resolver) kind() (*topo.Graph, error) {
	f := &p.File.Fabric
	if f.Kind == "cubes" && len(f.Cubes) != 3 {
		return nil, field.New("fabric.cubes", "takes how many lie along x, y and z: [2, 1, 1], found %d numbers", len(f.Cubes))
	}
	g, err := build(p.Shape)
	if err != nil {
		return nil, err
	}
	return g, p.optical(g)
}

// build calls topo's function, and converts the paths of errors to a scenario's. Paths of servers are not below the
// fabric.
func build(s Shape) (*topo.Graph, error) {
	g, err := topo.Build(s.Kind, s.Params)
	if l := field.All(err); len(l) > 0 && strings.HasPrefix(l[0].Path, "server.") {
		return nil, err
	}
	return g, field.Under("fabric", err)
}

// explicit builds the graph a scenario spells out.
func (p *resolver) explicit() (*topo.Graph, error) {
	e := p.File.Fabric.Graph
	if e == nil {
		return nil, field.New("fabric.graph", "kind graph needs it: hosts, switches and links")
	}
	server := p.File.Server.of()
	if err := server.Check(); err != nil {
		return nil, err
	}
	b := topo.NewExplicit(server)
	for i, h := range e.Hosts {
		if err := b.Host(h); err != nil {
			return nil, field.Under(field.At("fabric.graph.hosts", i), err)
		}
	}
	for i, sw := range e.Switches {
		role, err := topo.ParseRole(sw.Role)
		if err == nil {
			err = b.Switch(sw.Name, role, sw.Tier)
		}
		if err != nil {
			return nil, field.Under(field.At("fabric.graph.switches", i), err)
		}
	}
	ocs, err := p.opticals(e, b.Has)
	if err != nil {
		return nil, err
	}
	f := p.File.Fabric
	for i, l := range e.Links {
		key := field.At("fabric.graph.links", i)
		for _, end := range []string{l.From, l.To} {
			if !b.Has(end) && ocs[end] == nil {
				return nil, field.New(key, "unknown host or switch %q", end)
			}
		}
		c := f.FabricLink
		if b.IsHost(l.From) || b.IsHost(l.To) {
			c = f.HostLink
		}
		if l.Rate != 0 {
			c.Rate = l.Rate
		}
		if l.Cable != 0 {
			c.Cable, c.Delay = l.Cable, 0
		}
		for range max(l.Count, 1) {
			var err error
			switch from, to := ocs[l.From], ocs[l.To]; {
			case from != nil && to != nil:
				err = field.New("", "connects two OCSes; a link of an OCS leads to a switch")
			case to != nil:
				err = to.plug("", l.From, b.IsHost(l.From), c.cable())
			case from != nil:
				err = from.plug("", l.To, b.IsHost(l.To), c.cable())
			default:
				err = b.Link(l.From, l.To, c.cable())
			}
			if err != nil {
				return nil, field.Under(key, err)
			}
		}
	}
	for _, o := range p.ocs {
		if err := o.join(b.Joined); err != nil {
			return nil, err
		}
	}
	g, err := b.Finish()
	if err != nil {
		return nil, field.Under("fabric.graph", err)
	}
	return g, nil
}
