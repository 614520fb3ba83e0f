package scenario

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"railyard/internal/field"
	"railyard/internal/model"
	"railyard/internal/queue"
	"railyard/internal/route"
	"railyard/internal/swconf"
	"railyard/internal/topo"
	"railyard/internal/workload"
	"railyard/param"
	"railyard/rc"
	"railyard/unit"
)

// Plan is a resolved scenario: everything checked and built, nothing run.
type Plan struct {
	*Document
	Graph    *topo.Graph
	Spec     queue.Spec             // of the first leaf
	Base     queue.Spec             // the switch block: the platform below configuration texts
	specs    []*queue.Spec          // by node
	PFC      map[topo.LinkEnd]uint8 // PFC priorities of ports whose text gives them less than their switch
	Texts    map[string]string      // configuration texts, by file
	LB       *route.Policy
	LBValues param.Values // its parameters
	RC       rc.Config
	Services []Service // that connections use; one today
	GPU      model.GPU
	NVLink   unit.Rate
	Jobs     []workload.Job // at least one
	Events   []LinkEvent    // in the order of time
	Notes    []string       // what a careful reader should know
}

// Mix puts the jobs side by side on the fabric's GPUs.
func (p *Plan) Mix() (*workload.Mix, error) { return workload.NewMix(p.Graph.TotalGPUs(), p.Jobs...) }

// Ops is the number of operations of all jobs.
func (p *Plan) Ops() (n int) {
	for i := range p.Jobs {
		n += len(p.Jobs[i].DAG.Ops)
	}
	return n
}

// ReadFile fetches a file the scenario names, relative to the scenario.
type ReadFile func(path string) ([]byte, error)

// Resolve checks a document and builds what a run needs. Sizes are checked
// before anything is allocated for them.
func (d *Document) Resolve(read ReadFile) (*Plan, error) {
	p := &Plan{Document: d, Services: []Service{d.File.service()}}
	for _, step := range []func() error{p.inBounds, p.named, p.network, func() error { return p.switches(read) }, p.transport, p.congestion, p.failures,
		func() error { return p.work(read) }} {
		if err := step(); err != nil {
			return nil, d.placed(err)
		}
	}
	return p, nil
}

// named refuses a name that would do something to a terminal.
func (p *Plan) named() error {
	name := p.File.Name
	if i := strings.IndexFunc(name, unicode.IsControl); i >= 0 || !utf8.ValidString(name) {
		return field.New("name", "%q holds what cannot be printed", name)
	}
	return nil
}

func (l Link) cable() topo.Cable {
	return topo.Cable{Rate: l.Rate, LengthMM: int64(l.Cable), Delay: l.Delay, BER: l.BER}
}

func (p *Plan) network() error {
	f, s := &p.File.Fabric, &p.File.Server
	if f.Kind == "" {
		return field.New("fabric.kind", "is missing; accepted: %s", strings.Join(topo.Kinds(), ", "))
	}
	if s.RxXOn >= s.RxXOff {
		return field.New("server.rx_xon", "%v is not below rx_xoff %v", s.RxXOn, s.RxXOff)
	}
	if f.Kind == "fat-tree" || f.Kind == "dragonfly" {
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
	var err error
	if f.Kind == "graph" {
		p.Graph, err = p.explicit()
	} else {
		p.Graph, err = build(f.Kind, topo.Params{Server: topo.Server{GPUs: s.GPUs, NICs: s.NICs, Ports: s.NICPorts},
			Hosts: f.Hosts, Segments: f.Segments, Spines: f.Spines, Uplinks: f.Uplinks,
			Pods: f.Pods, Supers: f.Supers, SuperUp: f.SuperUp, Planes: f.Planes, HostCable: f.HostLink.cable(), Fabric: f.FabricLink.cable(),
			K: f.K, Tiers: f.Tiers, Leaves: f.Leaves, Groups: f.Groups, GroupSize: f.GroupSize, Local: f.Local, Global: f.Global})
	}
	if err != nil {
		return err
	}
	g := p.Graph
	if err := g.CheckConnected(g.Route(nil)); err != nil {
		return field.Under("fabric", err)
	}
	return nil
}

// build is topo's, with paths of errors as a scenario has them: those of servers are not
// below the fabric.
func build(kind string, p topo.Params) (*topo.Graph, error) {
	g, err := topo.Build(kind, p)
	if l := field.All(err); len(l) > 0 && strings.HasPrefix(l[0].Path, "server.") {
		return nil, err
	}
	return g, field.Under("fabric", err)
}

// explicit builds the graph a scenario spells out.
func (p *Plan) explicit() (*topo.Graph, error) {
	e := p.File.Fabric.Graph
	if e == nil {
		return nil, field.New("fabric.graph", "kind graph needs it: hosts, switches and links")
	}
	s := p.File.Server
	b := topo.NewExplicit(topo.Server{GPUs: s.GPUs, NICs: s.NICs, Ports: s.NICPorts})
	for i, h := range e.Hosts {
		if err := b.Host(h); err != nil {
			return nil, field.New(fmt.Sprintf("fabric.graph.hosts[%d]", i), "%v", err)
		}
	}
	for i, sw := range e.Switches {
		role, err := topo.ParseRole(sw.Role)
		if err == nil {
			err = b.Switch(sw.Name, role, sw.Tier)
		}
		if err != nil {
			return nil, field.New(fmt.Sprintf("fabric.graph.switches[%d]", i), "%v", err)
		}
	}
	f := p.File.Fabric
	for i, l := range e.Links {
		key := fmt.Sprintf("fabric.graph.links[%d]", i)
		for _, end := range []string{l.From, l.To} {
			if !b.Has(end) {
				return nil, field.New(key, "there is no host or switch %q", end)
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
			if err := b.Link(l.From, l.To, c.cable()); err != nil {
				return nil, field.New(key, "%v", err)
			}
		}
	}
	g, err := b.Finish()
	if err != nil {
		return nil, field.New("fabric.graph", "%v", err)
	}
	return g, nil
}

func (p *Plan) transport() error {
	t := &p.File.Transport
	p.RC = rc.Config{MTU: t.MTU, AlwaysReady: true, WriteOnly: t.Write == "only", AckEvery: t.AckEvery, Timeout: rc.LocalAckTimeout(t.Timeout),
		Retries: t.Retries, Window: t.Window, NakAfter: t.NakAfter}
	if t.Recovery == "selective" {
		p.RC.Recovery = rc.Selective
	}
	if err := p.RC.Validate(); err != nil {
		return field.Under("transport", err)
	}
	if unit.Bytes(t.MTU)+swconf.Headers > p.smallestMTU() {
		return field.New("transport.mtu", "%d bytes and up to %d of headers (WRITE Only with immediate) do not fit the switches' mtu of %v", t.MTU, swconf.Headers, p.smallestMTU())
	}
	p.balancing()
	if p.LB.Reorders(p.LBValues) && p.RC.Recovery == rc.GoBackN {
		p.Notes = append(p.Notes, "spraying reorders packets and go-back-N treats every gap as loss; transport.recovery selective with write only places packets in any order")
	}
	return nil
}
