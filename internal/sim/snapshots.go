package sim

import (
	"fmt"
	"strings"

	"railyard/internal/counters"
	"railyard/internal/panel"
	"railyard/internal/queue"
	"railyard/internal/rng"
	"railyard/internal/topo"
	"railyard/unit"
)

// epoch is the date of simulated time 0, for devices that have a clock.
const epoch = 1_700_000_000

// Snapshots returns the counters of every device before the run and now, with the port names of a system (nxos, eos,
// sonic). Counters did not start at 0: their initial values are random. Hosts are Linux.
func (c *Census) Snapshots(system string) (before, after []counters.Snapshot) {
	g, now := c.run.Graph, c.run.Net.Q.Now()
	names := newDeviceNames(g, system)
	byNode := make([][]int, len(g.Nodes)) // links
	for l := range g.Links {
		byNode[g.Links[l].A] = append(byNode[g.Links[l].A], l)
		byNode[g.Links[l].B] = append(byNode[g.Links[l].B], l)
	}
	flaps := c.flaps(now)
	for node := range g.Nodes {
		if len(byNode[node]) == 0 {
			continue
		}
		s := counters.Snapshot{Device: g.Nodes[node].Name, Kind: counters.Switch,
			At: counters.Moment{Seconds: epoch, Is: true}}
		if g.Nodes[node].Role == topo.Host {
			s.Kind = counters.Host
		}
		first := s
		s.At = s.At.Add(now)
		for _, l := range byNode[node] {
			p := c.port(l, node, now)
			p.Flaps = counters.Of(flaps[l])
			p.Name = names.port(l, node)
			far := g.Links[l].A + g.Links[l].B - node
			p.Peer = counters.Peer{Device: g.Nodes[far].Name, Port: names.port(l, far)}
			if system == panel.SONiC {
				jackOf(&p, g.Nodes[node].Panel, g.Jack(l, node))
				if k, ok := g.Nodes[far].Panel.Socket(g.Jack(l, far)); ok && k.Alias != p.Peer.Port {
					p.Peer.ID = k.Alias // lldpmgrd announces it
				}
			}
			was, is := c.warm(s.Device, p)
			first.Ports, s.Ports = append(first.Ports, was), append(s.Ports, is)
		}
		if s.Kind == counters.Switch && system == panel.SONiC {
			free := idle(g, node, byNode[node])
			first.Ports, s.Ports = append(first.Ports, free...), append(s.Ports, free...)
			inOrder(first.Ports)
			inOrder(s.Ports)
		}
		if s.Kind == counters.Host {
			first.Ports, s.Ports = withRDMA(first.Ports), withRDMA(s.Ports)
		}
		before, after = append(before, first), append(after, s)
	}
	return before, after
}

// port returns the counters of one port, from 0.
func (c *Census) port(link, node int, now unit.Time) counters.Port {
	at := c.run.Port(link, node)
	x, net, peer := &c.ports[at], c.run.Net, &c.ports[c.run.Net.Ports[at].Peer]
	state, spec := net.Link(at), c.spec(at)
	var p counters.Port
	p.Up, p.Speed, p.MTU = counters.Say(state.Up), counters.Say(state.Rate), counters.Say(spec.MTU)
	mask := spec.LosslessMask()
	if only, ok := c.run.Setup.PFC[topo.LinkEnd{Link: link, Node: node}]; ok {
		mask &= only
	}
	p.PFC, p.Lossless = counters.Say(mask != 0), counters.Say(mask)
	var in, out, inDrops, outDrops tally
	for k := range queue.Classes {
		p.RxPFC[k], p.TxPFC[k] = counters.Of(x.gotPFC[k]), counters.Of(x.sentPFC[k])
		p.RxDur[k] = counters.Of(x.paused[k].until(now))
		p.TxDur[k] = counters.Of(peer.paused[k].until(now))
		q, g := &p.Queues[k], &p.Groups[k]
		q.TxPackets, q.TxBytes = counters.Of(x.out[k].packets), counters.Of(x.out[k].bytes)
		q.DropPackets, q.DropBytes = counters.Of(x.egress[k].packets), counters.Of(x.egress[k].bytes)
		g.RxPackets, g.RxBytes = counters.Of(x.in[k].packets), counters.Of(x.in[k].bytes)
		g.DropPackets = counters.Of(x.ingress[k].packets)
		in.sum(x.in[k])
		out.sum(x.out[k])
		inDrops.sum(x.ingress[k])
		outDrops.sum(x.egress[k])
		outDrops.packets += x.flushed[k]
	}
	p.RxPackets, p.RxBytes = counters.Of(in.packets), counters.Of(in.bytes)
	p.TxPackets, p.TxBytes = counters.Of(out.packets), counters.Of(out.bytes)
	p.CRC, p.Giants = counters.Of(x.crc), counters.Of(x.giants)
	p.InErrors, p.OutErrors = counters.Of(x.crc+x.giants), counters.Of(0)
	p.InDiscards, p.OutDiscards = counters.Of(inDrops.packets+x.noRoute), counters.Of(outDrops.packets+x.lost)
	if c.host(at) {
		c.roce(&p, at, node)
		return p
	}
	for k := range queue.Classes {
		q, g := &p.Queues[k], &p.Groups[k]
		q.Marked = counters.Of(x.marks[k])
		q.Depth, q.Peak = counters.Of(uint64(net.QueueBytes(at, k))), counters.Of(uint64(net.QueuePeak(at, k)))
		shared, headroom := net.IngressPeak(at, k)
		g.SharedPeak, g.HeadroomPeak = counters.Of(uint64(shared)), counters.Of(uint64(headroom))
		if spec.Watchdog.On && mask&(1<<k) != 0 {
			q.Detected, q.Restored = counters.Of(x.storms[k]), counters.Of(x.restored[k])
			q.Flushed = counters.Of(x.flushed[k])
		}
	}
	return p
}

func (t *tally) sum(o tally) {
	t.packets += o.packets
	t.bytes += o.bytes
}

// roce returns a NIC's counters of its queue pairs: notifications and NAKs at the port, and timeouts and
// retransmissions of the queue pairs that send from it.
func (c *Census) roce(p *counters.Port, at int32, node int) {
	x, hosts := &c.ports[at], c.run.Hosts
	r := &p.RoCE
	r.CNPSent, r.CNPHandled, r.MarkedGot = counters.Of(x.cnpOut), counters.Of(x.cnpIn), counters.Of(x.ceIn)
	r.OutOfSequence, r.SeqErr = counters.Of(x.nakOut), counters.Of(x.nakIn)
	var late, again uint64
	for i := range hosts.Conns() {
		if hosts.Port(int32(i)) == at {
			late += uint64(hosts.Timeouts(int32(i)))
			again += uint64(hosts.Retransmitted(int32(i)))
		}
	}
	r.Timeouts, r.Retransmitted = counters.Of(late), counters.Of(again)
	for _, n := range []*counters.Count{&r.CNPIgnored, &r.RNR, &r.Duplicates, &r.ImpliedNAK, &r.OutOfBuffer} {
		*n = counters.Of(0)
	}
}

// flaps is by link the number of its failures.
func (c *Census) flaps(now unit.Time) []uint64 {
	count, down := make([]uint64, len(c.run.Graph.Links)), map[int]bool{}
	for i := range c.run.Plan.Events {
		e := &c.run.Plan.Events[i]
		if e.At > now {
			break
		}
		if !e.Up && !down[e.Link] && !e.FromStart() {
			count[e.Link]++
		}
		down[e.Link] = !e.Up
	}
	return count
}

// warm returns a port before and after the run, with nonzero initial counters.
func (c *Census) warm(device string, p counters.Port) (before, after counters.Port) {
	before, after = p, p
	var was []*counters.Count
	before.Each(func(_ string, n *counters.Count, _ bool) { was = append(was, n) })
	k := 0
	stream := rng.New(c.run.Plan.Seed, "counters/"+device+"/"+p.Name)
	last := uint64(0)
	after.Each(func(name string, n *counters.Count, gauge bool) {
		from := was[k]
		k++
		start := stream.Uint64()
		switch {
		case !n.Is:
			return
		case gauge:
			from.V = 0
			return
		case strings.HasSuffix(name, "x bytes"):
			start %= 1 << 42
		case strings.HasSuffix(name, "x packets") || counters.Wraps(name):
			start %= 1 << 32
		case strings.HasSuffix(name, "storms restored"):
			start = last // no storm of the earlier snapshot has ended
		default:
			start %= 1000
		}
		last = start
		from.V, n.V = start, start+n.V
	})
	return before, after
}

// withRDMA adds to a host's interfaces their RDMA devices, which count the queue pairs.
func withRDMA(ports []counters.Port) []counters.Port {
	for i := range ports {
		p := &ports[i]
		ports = append(ports, counters.Port{Name: fmt.Sprintf("mlx5_%d/1", i), NetDev: p.Name, Up: p.Up,
			RoCE: p.RoCE})
		ports[i].RoCE = counters.RoCE{}
	}
	return ports
}

// deviceNames are the devices' names of ports.
type deviceNames struct {
	g      *topo.Graph
	system string
	nic    map[[2]int]int // NIC number of a link at its host
}

func newDeviceNames(g *topo.Graph, system string) *deviceNames {
	d := &deviceNames{g: g, system: system, nic: map[[2]int]int{}}
	count := map[int]int{}
	for i := range g.NICs {
		host := g.Hosts[g.NICs[i].Host]
		for _, l := range g.NICs[i].Links {
			d.nic[[2]int{l, host}] = count[host]
			count[host]++
		}
	}
	return d
}

func (d *deviceNames) port(link, node int) string {
	n := &d.g.Nodes[node]
	if n.Role == topo.Host {
		return fmt.Sprintf("eth%d", d.nic[[2]int{link, node}])
	}
	return n.Panel.Name(d.system, d.g.Jack(link, node))
}

// PortName returns a device's name of a port, as Snapshots name it.
func PortName(g *topo.Graph, system string, link, node int) string {
	return newDeviceNames(g, system).port(link, node)
}
