package sim

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"railyard/internal/engine"
	"railyard/internal/fabric"
	"railyard/internal/host"
	"railyard/internal/queue"
	"railyard/internal/rng"
	"railyard/internal/route"
	"railyard/internal/scenario"
	"railyard/internal/topo"
	"railyard/internal/workload"
	"railyard/param"
	"railyard/roce"
	"railyard/unit"
)

// Setup is everything a network is built from.
type Setup struct {
	Graph    *topo.Graph
	Spec     func(node int) *queue.Spec // of a switch
	PFC      map[topo.LinkEnd]uint8     // PFC priorities of ports that do less than their switch
	Headroom map[topo.LinkEnd]scenario.PortHeadroom
	LB       *route.Policy
	LBValues param.Values
	Rise     queue.Rising // classes of packets on detours, where LB sends them on any
	// scheduled fabric that the switches form together
	Scheduled *queue.Scheduled
	scenario.Switching
	Host  host.Config
	Buses []host.Bus // further PCIe buses that limit the rate
	QPs   int        // queue pairs per pair of GPUs
	Seed  uint64
	Bits  uint64 // seed of bit errors
	// Links that are not as the graph says from the start.
	Links  map[int]fabric.LinkState
	Routes *topo.Routes // over all links, if already computed
	Static bool         // no failure changes them
	Edge   *host.Config // edges of a tunnel between NICs; nil: no tunnel
}

// Network is a built network: the simulator's state and what its indices mean.
type Network struct {
	Setup  *Setup
	Graph  *topo.Graph
	Net    *fabric.Net
	Hosts  *host.Hosts
	Tunnel *Tunnel // nil: NICs are at the fabric
	Paths  *topo.Routes
	whole  *topo.Routes // routes without failures, for groups of buckets; nil: none

	portA, portB []int32        // by link: the port at its A and B end
	linkOf       []int32        // by port
	routed       map[int]bool   // broken links that the routes avoid; other broken links still lose packets
	noticed      map[int]bool   // failed links known only to their ends, which avoid them where possible
	tables       []*route.Table // by node
	conns        map[connKey]int32
	apart        map[connKey]int32 // by service and GPUs: queue pairs that carry one message each
}

type connKey struct{ service, src, dst, tag int32 }

// NewNetwork builds a network.
func NewNetwork(s *Setup) (*Network, error) {
	g := s.Graph
	n := &Network{Setup: s, Graph: s.Graph, conns: map[connKey]int32{}, apart: map[connKey]int32{},
		routed: map[int]bool{}, noticed: map[int]bool{}}
	for l, state := range s.Links {
		if !state.Up {
			n.routed[l] = true
		}
	}
	n.tables = make([]*route.Table, len(g.Nodes))
	b := fabric.Build(wheelShift(len(g.Links)))
	for i, node := range g.Nodes {
		if node.Role == topo.Host {
			b.AddHost()
		} else {
			b.AddSwitch(fabric.SwitchConfig{Name: node.Name, Spec: s.Spec(i), CutThrough: s.CutThrough,
				Pipeline: node.Through(s.Pipeline), Seed: s.Seed})
		}
	}
	n.portA, n.portB = make([]int32, len(g.Links)), make([]int32, len(g.Links))
	for i, l := range g.Links {
		resp := s.Response
		if resp == 0 {
			resp = queue.Response(l.Rate)
		}
		n.portA[i], n.portB[i] = b.Connect(int32(l.A), int32(l.B),
			fabric.Link{Rate: l.Rate, Prop: l.Propagation(), BER: l.BER, Response: resp,
				Seed: s.Bits, Name: g.End(i, l.A)})
		n.linkOf = append(n.linkOf, int32(i), int32(i))
	}
	inner := make([][][2]int32, len(g.NICs))
	for i, nic := range g.NICs {
		if s.Edge == nil {
			break
		}
		for _, l := range nic.Links {
			rate := g.Links[l].Rate
			inner[i] = append(inner[i], inside(b, g.Hosts[nic.Host], rate, queue.Response(rate)))
			n.linkOf = append(n.linkOf, int32(l), int32(l))
		}
	}
	for end, own := range s.Headroom {
		for class, h := range own {
			if h > 0 {
				b.Keep(n.Port(end.Link, end.Node), class, h)
			}
		}
	}
	if s.Scheduled != nil {
		b.Scheduled(*s.Scheduled)
	}
	var err error
	n.Net, err = b.Finish(func(node int32) string { return g.Nodes[node].Name })
	if err != nil {
		return nil, err
	}
	torus := g.Grid != nil
	if route.Is[route.Steerer](s.LB) {
		var regions []int32
		if !torus {
			regions = g.RegionOf()
		}
		n.Net.SetDetours(regions, &s.Rise)
	}
	if route.Is[route.Riser](s.LB) && torus {
		n.rings()
	}
	if s.Host.IPv6 {
		n.Net.OverIPv6()
	}
	n.Hosts = host.New(n.Net, &s.Host)
	n.firstRoutes()
	if err := n.addressable(); err != nil {
		return nil, err
	}
	wires := make([][]int32, len(g.NICs))
	for i, nic := range g.NICs {
		ports := make([]int32, len(nic.Links))
		for k, l := range nic.Links {
			ports[k] = n.Port(l, g.Hosts[nic.Host])
		}
		if wires[i] = slices.Clone(ports); s.Edge != nil {
			for k := range ports {
				ports[k] = inner[i][k][0]
			}
		}
		n.Hosts.AddNIC(ports, uint16(max(n.Paths.Locator[i], 0)))
	}
	if s.Edge != nil {
		n.tunnel(s.Edge, wires, inner)
	}
	for _, b := range s.Buses {
		n.Hosts.Share(b)
	}
	n.install()
	for end, priorities := range s.PFC {
		n.Net.LimitPFC(n.Port(end.Link, end.Node), priorities)
	}
	for l, state := range s.Links { // nodes are independent
		n.SetLink(l, state)
	}
	return n, nil
}

// more returns the additional bytes of frames compared with IPv4.
func (s *Setup) more() int {
	if s.Host.IPv6 {
		return roce.IPv6More
	}
	return 0
}

// wheelShift picks the event wheel's granularity: about a handful of events per
// bucket when every link is busy.
func wheelShift(links int) uint {
	s := 17 - bits.Len(uint(links))
	return uint(min(max(s, 4), 14))
}

// Port returns the port of a link at one of its nodes.
func (n *Network) Port(link, node int) int32 {
	if n.Graph.Links[link].A == node {
		return n.portA[link]
	}
	return n.portB[link]
}

// PortName names the transmit direction of a port: "rail-1:Eth3 → spine-2".
func (n *Network) PortName(port int32) string {
	return n.Graph.Direction(int(n.linkOf[port]), int(n.Net.Ports[port].Node))
}

// addressable refuses a fabric with more locators than packets, or the switches' tables, can distinguish.
func (n *Network) addressable() error {
	locators, switches := len(n.Paths.Sets), len(n.Graph.Nodes)-len(n.Graph.Hosts)
	if most := 1 << 16; locators > most {
		return fmt.Errorf("the NICs are attached to %d different switches or sets of them: packets can distinguish %d", locators, most)
	}
	if locators*switches > math.MaxInt32 {
		return fmt.Errorf("the tables of %d switches with paths to %d others have %d entries: %d are possible",
			switches, locators, locators*switches, math.MaxInt32)
	}
	return nil
}

// hanging is the hosts attached to one switch.
type hanging struct {
	locators []int32
	nics     []int32
	ports    []int32 // of these
}

// hanging lists by node what is attached to it.
func (n *Network) hanging() []hanging {
	g, off := n.Graph, make([]hanging, len(n.Graph.Nodes))
	for loc, set := range n.Paths.Sets {
		for _, sw := range set {
			off[sw].locators = append(off[sw].locators, int32(loc))
		}
	}
	for i, nic := range g.NICs {
		for _, l := range nic.Links {
			if sw := g.Links[l].A + g.Links[l].B - g.Hosts[nic.Host]; n.Paths.Up(l) {
				off[sw].nics = append(off[sw].nics, int32(i))
				off[sw].ports = append(off[sw].ports, n.Port(l, sw))
			}
		}
	}
	return off
}

// install writes the routes over the live links into the switches.
func (n *Network) install() {
	g, off, bundled := n.Graph, n.hanging(), n.bundled()
	if n.Setup.Scheduled != nil {
		n.Net.SetEdges(n.Paths.Sets, n.Paths.Edges)
	}
	of, regions := n.regions()
	row := make([]int32, len(n.Paths.Sets))
	var room []int16
	var even *balanced
	if n.Setup.Scheduled != nil {
		even = n.balanced()
	}
	var groups []int32 // by set of next links of the switch: its group, -1 until there is one
	for node := range g.Nodes {
		if g.Nodes[node].Role == topo.Host {
			continue
		}
		t := n.tables[node].Renew(len(n.Paths.Sets), room)
		n.tables[node] = t
		n.Paths.Row(node, row)
		groups = groups[:0]
		if even != nil {
			even.install(t, node)
		}
		for loc, set := range row {
			if set < 0 || even != nil {
				continue
			}
			for int(set) >= len(groups) {
				groups = append(groups, -1)
			}
			if n.whole != nil {
				t.Set(loc, t.Add(n.buckets(node, loc, n.Paths.Links(node, set))))
				continue
			}
			if groups[set] < 0 {
				groups[set] = t.Add(n.weighted(n.remaining(n.Paths.Links(node, set)), node))
			}
			t.Set(loc, groups[set])
		}
		for _, loc := range off[node].locators {
			t.SetAttached(int(loc))
		}
		for i, nic := range off[node].nics {
			t.Attach(nic, off[node].ports[i])
		}
		if t.Regions = regions; regions != nil {
			t.Home = int(of[node])
		}
		name := g.Nodes[node].Name
		if n.Net.Sw[node].Spec.SameSeed {
			name = "all"
		}
		chooser := n.Net.Sw[node].Chooser
		if chooser == nil {
			seed := rng.New(n.Setup.Seed, "ecmp/"+name)
			chooser = n.Setup.LB.Make(n.Setup.LBValues, route.Site{Seed: uint32(seed.Uint64()),
				Tier: g.Nodes[node].Tier, Torus: g.Grid != nil,
				Stream: rng.New(n.Setup.Seed, "spray/"+g.Nodes[node].Name)})
		}
		if bundled != nil {
			n.bundle(node, name, chooser, bundled[node])
		}
		if n.Net.SetRoutes(int32(node), t, chooser); regions == nil { // no chooser uses locators
			room = t.Forget()
		}
	}
	if route.Is[route.Escaper](n.Setup.LB) && g.Grid != nil {
		n.escapes()
	}
	for i := range g.NICs {
		n.Hosts.SetLocator(int32(i), uint16(max(n.Paths.Locator[i], 0)))
		if n.Tunnel != nil {
			n.Tunnel.Edge.SetLocator(int32(i), uint16(max(n.Paths.Locator[i], 0)))
		}
	}
}

// regions returns the region of each node, and the information of choosers about regions; nil without detours.
func (n *Network) regions() (of []int32, r *route.Regions) {
	if !route.Is[route.Steerer](n.Setup.LB) {
		return nil, nil
	}
	of = n.Graph.RegionOf()
	r = &route.Regions{Loc: n.Paths.Regions, Of: make([]int, len(n.Paths.Sets))}
	for loc, set := range n.Paths.Sets {
		r.Of[loc] = int(of[set[0]])
		for _, sw := range set {
			if of[sw] != of[set[0]] {
				r.Of[loc] = -1
			}
		}
	}
	if route.Is[route.Oracle](n.Setup.LB) {
		r.Gates = n.gates(of)
	}
	return of, r
}

// gates returns the ports of switches whose cables lead into other regions, as far as routes use them.
func (n *Network) gates(of []int32) map[route.Gate][]int32 {
	gates := map[route.Gate][]int32{}
	for l := range n.Graph.Links {
		a, b := n.Graph.Links[l].A, n.Graph.Links[l].B
		if of[a] < 0 || of[b] < 0 || of[a] == of[b] || !n.Paths.Up(l) {
			continue
		}
		for _, ends := range [][2]int{{a, b}, {b, a}} {
			g := route.Gate{Node: int32(ends[0]), Region: of[ends[1]]}
			gates[g] = append(gates[g], n.Port(l, ends[0]))
		}
	}
	return gates
}

// weighted lists the ports of equal-cost links, each repeated in proportion to its rate.
func (n *Network) weighted(links []int, node int) (ports []int32) {
	links = n.Graph.Whole(links)
	rates := make([]unit.Rate, len(links))
	for i, l := range links {
		rates[i] = n.Graph.Links[l].Rate
		if c := n.Graph.Links[l].Channel; c > 0 { // as built, because routing does not see failed members
			rates[i] *= unit.Rate(len(n.Graph.Channels[c-1].Links))
		}
	}
	for i, shares := range route.Shares(rates) {
		for range shares {
			ports = append(ports, n.Port(links[i], node))
		}
	}
	return ports
}

// SetLink sets the state of a link from now on; Converge, usually some time later, updates the routes. A NIC whose
// port has another rate sends at most at that rate.
func (n *Network) SetLink(link int, s fabric.LinkState) {
	was := n.Net.Link(n.portA[link])
	n.Net.SetLink(n.portA[link], s)
	if s.Rate != was.Rate {
		n.Hosts.Reline(n.portA[link])
		n.Hosts.Reline(n.portB[link])
	}
	if s.Up != was.Up {
		n.Hosts.PortIs(n.portA[link], s.Up)
		n.Hosts.PortIs(n.portB[link], s.Up)
	}
}

// Conn returns queue pair number tag of a service from one GPU's NIC to another's, created on first use.
func (n *Network) Conn(service, srcGPU, dstGPU, tag int) int32 {
	k := connKey{int32(service), int32(srcGPU), int32(dstGPU), int32(tag)}
	if c, ok := n.conns[k]; ok {
		return c
	}
	g := n.Graph
	flow := fmt.Sprintf("flow/%s/%s/%d", g.GPUName(srcGPU), g.GPUName(dstGPU), tag)
	if service > 0 {
		flow += "/" + n.Setup.Host.Services[service].Name
	}
	r := rng.New(n.Setup.Seed, flow)
	hash, psn := uint32(r.Uint64()), uint32(r.Uint64())&0xffffff
	from, to := g.Pair(srcGPU, dstGPU, tag)
	src, dst := int32(from), int32(to)
	c := n.Hosts.Connect(service, src, dst, n.behind(src, n.usable(src, dst)), int32(tag), hash, psn)
	n.conns[k] = c
	return c
}

// Tag returns the number of the first of n queue pairs for a message of a job. It is 0 or, if each message has its
// own, the first number that no message between the GPUs has used.
func (n *Network) Tag(job *workload.Job, service, srcGPU, dstGPU, pairs int) int {
	if !job.Apart {
		return 0
	}
	k := connKey{service: int32(service), src: int32(srcGPU), dst: int32(dstGPU)}
	n.apart[k] += int32(pairs)
	return int(n.apart[k]) - pairs
}

// pairs returns the number of queue pairs of a transfer: the configured number, and at least one for each NIC that
// one of the GPUs has for itself.
func (n *Network) pairs(src, dst int) int {
	return max(n.Setup.QPs, n.Graph.Ways(src), n.Graph.Ways(dst))
}

// Split returns the number of queue pairs of a transfer.
func (n *Network) Split(src, dst int, bytes unit.Bytes) int {
	return max(1, min(n.pairs(src, dst), int(bytes/unit.Bytes(n.Setup.Host.RC.MTU))))
}

// RunUntil runs events until *stop is set, limit events have fired in total, or none is left. user processes the
// events of the caller's own kinds. It returns false when events ran out.
func (n *Network) RunUntil(stop *bool, limit uint64, user func(engine.Event)) bool {
	q, far := n.Net.Q, n.Hosts.Far()
	for !*stop && q.Popped() < limit {
		e := q.Next()
		if e == nil {
			return false
		}
		if n.fire(e, far, user) {
			return false
		}
	}
	return true
}

// fire runs an event and reports whether only watchdogs are left. far sets whether hosts prefetch.
func (n *Network) fire(e *engine.Event, far bool, user func(engine.Event)) (idle bool) {
	q, net, hosts := n.Net.Q, n.Net, n.Hosts
	if far {
		hosts.Touch(q.Ahead())
	}
	switch {
	case e.Kind() == fabric.KindArrive: // more than half of all events
		if !far {
			net.Touch(q.Ahead())
		}
		net.Arrive(e.A, e.B)
	case e.Kind() < fabric.KindHost:
		poll := e.Kind() == fabric.KindPoll
		net.Handle(e)
		return poll && net.Idle()
	case e.Kind() == host.KindRx:
		if !far {
			hosts.TouchNear(q.Ahead())
		}
		hosts.Rx(e.A, e.B)
	case e.Kind() < host.KindUser:
		hosts.Handle(e)
	case n.Tunnel != nil && e.Kind() >= host.KindEdge:
		n.Tunnel.handle(e)
	default:
		user(*e)
	}
	return false
}
