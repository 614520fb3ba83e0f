package fabric

import (
	"bytes"
	"fmt"
	"math"

	"railyard/internal/engine"
	"railyard/internal/queue"
	"railyard/internal/rng"
	"railyard/internal/route"
	"railyard/unit"
)

// Link is one cable and the ports at its ends.
type Link struct {
	Rate     unit.Rate
	Prop     unit.Time // propagation delay
	BER      float64   // bit error rate
	Response unit.Time // peer's delay until a pause takes effect
	Seed     uint64    // seed of the random bit errors
	Name     string    // name of the cable, for its random stream
}

// SwitchConfig is the argument of AddSwitch.
type SwitchConfig struct {
	Name       string
	Spec       *queue.Spec
	CutThrough bool
	Pipeline   unit.Time
	Seed       uint64
}

type nodeInfo struct {
	pipeline  unit.Time
	host, cut bool
	seed      uint64 // seed of a switch, derived with its name
	name      string
}

// Builder assembles a Net; Finish checks and returns it.
type Builder struct {
	net   *Net
	nodes []nodeInfo
	kept  map[int32]unit.Bytes // headroom by slot, for ports with their own value

	scheduled *queue.Scheduled // nil: the switches are no scheduled fabric
}

// Build starts a network with the given wheel granularity.
func Build(shift uint) *Builder { return &Builder{net: New(shift), kept: map[int32]unit.Bytes{}} }

// AddHost adds a node whose ports package host drives.
func (b *Builder) AddHost() int32 {
	b.nodes = append(b.nodes, nodeInfo{host: true})
	b.net.Sw = append(b.net.Sw, Switch{})
	return int32(len(b.nodes) - 1)
}

// AddSwitch adds a switch.
func (b *Builder) AddSwitch(c SwitchConfig) int32 {
	b.nodes = append(b.nodes, nodeInfo{pipeline: c.Pipeline, cut: c.CutThrough, seed: c.Seed, name: c.Name})
	b.net.switches++
	b.net.Sw = append(b.net.Sw, Switch{Spec: c.Spec, lossless: c.Spec.LosslessMask(), wred: c.Spec.WREDMask(),
		trims: c.Spec.TrimMask(), stream: rng.New(c.Seed, "wred/"+c.Name)})
	return int32(len(b.nodes) - 1)
}

// Connect runs a cable between two nodes and returns the port at each end.
func (b *Builder) Connect(x, y int32, l Link) (px, py int32) {
	px, py = int32(len(b.net.Ports)), int32(len(b.net.Ports)+1)
	b.net.errors = append(b.net.errors, errorSource{l.Seed, l.Name})
	b.addPort(x, y, py, l)
	b.addPort(y, x, px, l)
	return px, py
}

func (b *Builder) addPort(node, peerNode, peer int32, l Link) {
	n := b.net
	at, place := int32(len(n.Ports)), int16(0)
	p := route.Port{Flight: l.Prop + b.nodes[peerNode].pipeline, Peer: peer, Node: node,
		Arrive: uint8(KindArrive), Service: uint8(KindService)}
	setRate(&p, l.Rate)
	if b.nodes[peerNode].host {
		p.Arrive = uint8(KindHost)
	}
	if b.nodes[node].host {
		p.Service = uint8(KindHost) + 1
		p.Strict = 0xff // a NIC's control packets leave before its data
	} else {
		for c, q := range n.Sw[node].Spec.Queues {
			if q.Strict {
				p.Strict |= 1 << c
			}
		}
		place = int16(len(n.Sw[node].ports))
		n.Sw[node].ports = append(n.Sw[node].ports, at)
	}
	c := portCfg{rate: l.Rate, prop: l.Prop, response: l.Response, place: place}
	if b.nodes[peerNode].cut {
		p.Flags |= flagCut
	}
	n.Ports = append(n.Ports, p)
	n.Stats = append(n.Stats, PortStats{})
	n.cfg = append(n.cfg, c)
	n.setErrors(at, l.BER)
}

// Keep sets a port's own headroom for a lossless class, instead of the Spec's.
func (b *Builder) Keep(port int32, class int, headroom unit.Bytes) {
	b.kept[b.net.slot(port, class)] = headroom
}

// Finish reserves headroom, sizes the shared pools and returns the network.
func (b *Builder) Finish(name func(node int32) string) (*Net, error) {
	n := b.net
	if most := engine.MaxElements - 1; len(b.nodes) > most { // the run itself is one element
		return nil, fmt.Errorf("%d hosts and switches: one run can keep %d in order", len(b.nodes), most)
	}
	slots := len(n.Ports) * queue.Classes
	n.classes = make([]classQ, slots)
	n.ing = make([]ingress, slots)
	n.causes = make([]int32, slots)
	for i := range n.causes {
		n.causes[i] = -1
	}
	n.hrLimit = make([]int32, slots)
	// Room for a bandwidth-delay product on every link; both grow when needed.
	n.Packets = make([]Packet, 0, 48*len(n.Ports)+1024)
	n.Q.Reserve(4*len(n.Ports) + 1024)
	n.refresh.Grow(slots)
	n.expire.Grow(slots)
	n.node = make([]int32, len(n.Ports))
	for i := range n.Ports {
		n.node[i] = n.Ports[i].Node
	}
	n.forward = make([]forward, len(n.Sw))
	if b.scheduled != nil {
		b.schedule()
	}
	for node := range n.Sw {
		sw := &n.Sw[node]
		if sw.Spec == nil {
			continue
		}
		n.forward[node] = forward{mtu: int32(sw.Spec.MTU), dscp: n.classification(&sw.Spec.DSCP)}
		if b.nodes[node].cut {
			n.forward[node].slow |= slowCut
		}
		for _, q := range sw.Spec.Queues {
			if q.WRED.Max > 0 && q.WRED.Weight > 0 {
				n.forward[node].slow |= slowAverage
				if n.averages == nil {
					n.averages = make([]average, slots)
				}
			}
		}
		if len(sw.ports) > maxPorts {
			return nil, fmt.Errorf("switch %s: it has %s, a switch may have %d", name(int32(node)),
				unit.Plural(len(sw.ports), "port"), maxPorts)
		}
		reserved := int64(0)
		for _, port := range sw.ports {
			for c := range sw.Spec.Queues {
				h := b.headroom(port, c, b.nodes[node].pipeline)
				n.hrLimit[n.slot(port, c)] = int32(min(h, math.MaxInt32))
				reserved += h
			}
		}
		if b.scheduled != nil {
			reserved += b.reserved(int32(node))
		}
		sw.limit = int64(sw.Spec.Buffer) - reserved
		if sw.limit <= 0 {
			return nil, fmt.Errorf("switch %s: buffer: the headroom of %d ports takes %v of %v and leaves nothing to share",
				name(int32(node)), len(sw.ports), unit.Bytes(reserved), sw.Spec.Buffer)
		}
		if sw.Spec.Watchdog.On {
			if n.storms == nil {
				n.storms = make([]stormState, slots)
			}
			n.pollers++
			n.Q.Push(engine.Node(int32(node)), sw.Spec.Watchdog.Poll, KindPoll, int32(node), 0)
		}
	}
	return n, nil
}

// classification returns the position of a DSCP map in the tables; a new map is added.
func (n *Net) classification(m *[64]uint8) int32 {
	for at := 0; at < len(n.tables.dscp); at += len(m) {
		if bytes.Equal(n.tables.dscp[at:at+len(m)], m[:]) {
			return int32(at)
		}
	}
	n.tables.dscp = append(n.tables.dscp, m[:]...)
	return int32(len(n.tables.dscp) - len(m))
}

func (b *Builder) headroom(port int32, class int, pipeline unit.Time) int64 {
	n := b.net
	if b.scheduled != nil && engine.Kind(n.Ports[port].Arrive) == KindCells {
		return 0 // there is no PFC inside a scheduled fabric
	}
	l, spec := &n.cfg[port], n.Sw[n.Ports[port].Node].Spec
	if own, ok := b.kept[n.slot(port, class)]; ok && spec.Queues[class].Lossless {
		return int64(own)
	}
	return int64(spec.Reserve(class, l.rate, l.prop, l.response, pipeline))
}

// SetRoutes gives a switch its forwarding table and path choice, laid out flat. Earlier tables remain allocated:
// rerouting is rare.
func (n *Net) SetRoutes(node int32, t *route.Table, c route.Chooser) {
	sw, f, all := &n.Sw[node], &n.forward[node], &n.tables
	sw.Chooser = c
	c.Renew(t)
	if s, ok := c.(route.Steerer); ok {
		sw.steerer, sw.regions = s, t.Regions
		f.slow |= slowSteer
	}
	if h, ok := c.(route.Hasher); ok {
		f.hashed, f.seed = true, h.HashSeed()
	}
	near, base := t.Near()
	f.near, f.nearBase, f.nearLen = int32(len(all.near)), base, int32(len(near))
	all.near = append(all.near, near...)
	f.groups, f.groupsOf = int32(len(all.groups)), int32(t.Groups())
	for g := range t.Groups() {
		ports := t.Ports(int32(g))
		all.groups = append(all.groups, group{int32(len(all.members)), int32(len(ports))})
		all.members = append(all.members, ports...)
	}
	f.fwd = int32(len(all.fwd))
	if all.fwd == nil {
		all.fwd = make([]int16, 0, n.switches*t.Locators())
	}
	all.fwd = append(all.fwd, t.Codes()...)
	if i, ok := c.(route.Informed); ok {
		n.inform(node, i)
	}
	if i, ok := c.(route.Crediting); ok && i.Credits() {
		n.credit(i)
	}
	if n.sched != nil {
		n.sched.routed(n, node)
	}
}

// Rate returns the rate of a port's cable, which Link's is below after some events.
func (n *Net) Rate(port int32) unit.Rate { return n.cfg[port].rate }

// HeadroomLimit returns the headroom reserved for a (port, priority).
func (n *Net) HeadroomLimit(port int32, prio int) unit.Bytes {
	return unit.Bytes(n.hrLimit[n.slot(port, prio)])
}

// Audit checks invariants. No queue or counter is negative, the shared pool equals the sum over queues and
// ingresses, and no link carries more than its rate. It is for tests and returns the first violation.
func (n *Net) Audit() error {
	for i := range n.Ports {
		p := &n.Ports[i]
		sum := int32(0)
		for c := range queue.Classes {
			s := n.slot(int32(i), c)
			q := n.classes[s]
			if q.bytes < 0 {
				return fmt.Errorf("port %d class %d holds %d bytes", i, c, q.bytes)
			}
			sum += q.bytes
			g := n.ing[s]
			if g.shared < 0 || g.headroom < 0 || g.headroom > n.hrLimit[s] {
				return fmt.Errorf("ingress %d priority %d: shared %d, headroom %d of %d", i, c, g.shared,
					g.headroom, n.hrLimit[s])
			}
		}
		if sum != p.Queued {
			return fmt.Errorf("port %d: classes hold %d bytes, the port has %d", i, sum, p.Queued)
		}
		if n.overfull(int32(i)) {
			return fmt.Errorf("port %d sent %d bytes in %v, above its rate", i, p.TxBytes, p.BusyUntil)
		}
	}
	return n.auditPools()
}

func (n *Net) auditPools() error {
	for node := range n.Sw {
		sw := &n.Sw[node]
		if sw.Spec == nil {
			continue
		}
		held, lossy := int64(0), int64(0)
		for _, port := range sw.ports {
			for c := range queue.Classes {
				slot := n.slot(port, c)
				held += int64(n.ing[slot].shared)
				if sw.lossless&(1<<c) == 0 {
					lossy += int64(n.classes[slot].bytes)
				}
			}
		}
		if n.sched != nil {
			var err error
			if lossy, err = n.auditInterface(int32(node)); err != nil {
				return err
			}
		}
		if err := n.auditHolding(sw); err != nil {
			return err
		}
		if held+lossy != sw.shared || sw.shared > sw.limit {
			return fmt.Errorf("switch %d: shared pool holds %d, ingresses %d, lossy queues %d, limit %d",
				node, sw.shared, held, lossy, sw.limit)
		}
	}
	return nil
}

// QueuePeak returns the maximum bytes that a class of a port held.
func (n *Net) QueuePeak(port int32, c int) unit.Bytes {
	peak := n.classes[n.slot(port, c)].peak
	if n.peaks[c] != nil {
		peak = max(peak, n.peaks[c][port])
	}
	return unit.Bytes(peak)
}

// TakePeak returns the maximum bytes of any class of a port since the last call for the port.
func (n *Net) TakePeak(port int32) (most unit.Bytes) {
	for c := range queue.Classes {
		q := &n.classes[n.slot(port, c)]
		if q.peak == 0 {
			continue
		}
		if n.peaks[c] == nil {
			n.peaks[c] = make([]int32, len(n.Ports))
		}
		most = max(most, unit.Bytes(q.peak))
		n.peaks[c][port] = max(n.peaks[c][port], q.peak)
		q.peak = q.bytes
	}
	return most
}

// QueueBytes returns the bytes that a class of a port holds now.
func (n *Net) QueueBytes(port int32, c int) unit.Bytes {
	return unit.Bytes(n.classes[n.slot(port, c)].bytes)
}

// IngressPeak returns the maximum bytes that a priority of an ingress port held, and the part in headroom.
func (n *Net) IngressPeak(port int32, prio int) (total, headroom unit.Bytes) {
	g := &n.ing[n.slot(port, prio)]
	return unit.Bytes(g.peak), unit.Bytes(g.peakHead)
}
