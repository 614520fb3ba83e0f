package sim

import (
	"railyard/internal/fabric"
	"railyard/internal/queue"
	"railyard/internal/topo"
	"railyard/roce"
	"railyard/unit"
)

// Census counts at every port what switches and NICs count. It uses the hooks of captures, so runs without it have
// no cost.
type Census struct {
	run   *Run
	ports []portCensus
	seen  struct{ corrupt, down, storm, wred, noRoute int64 } // drops, at the last one
}

// tally is frames and their bytes.
type tally struct{ packets, bytes uint64 }

// paused is the time for which a state has lasted.
type paused struct {
	since, total unit.Time
	on           bool
}

// portCensus is the counters of one port; arrays are by priority.
type portCensus struct {
	out, in           [queue.Classes]tally
	egress, ingress   [queue.Classes]tally // dropped
	marks             [queue.Classes]uint64
	gotPFC, sentPFC   [queue.Classes]uint64
	paused            [queue.Classes]paused
	storms, restored  [queue.Classes]uint64
	flushed           [queue.Classes]uint64
	crc, giants, lost uint64
	noRoute           uint64

	cnpOut, cnpIn, ceIn, nakOut, nakIn uint64
}

// Census begins to count. Call it before Go.
func (r *Run) Census() *Census {
	c := &Census{run: r, ports: make([]portCensus, len(r.Net.Ports))}
	for i := range r.Net.Ports {
		r.Net.TapPort(int32(i), true)
	}
	tap, pfc, drop, trace := r.Net.Tap, r.Net.TapPFC, r.Net.OnDrop, r.Net.Trace
	r.Net.Tap = func(at unit.Time, port int32, out bool, p *fabric.Packet) {
		if tap != nil {
			tap(at, port, out, p)
		}
		c.tap(port, out, p)
	}
	r.Net.TapPFC = func(at unit.Time, port int32, out bool, prio, quanta int) {
		if pfc != nil {
			pfc(at, port, out, prio, quanta)
		}
		if out {
			c.ports[port].sentPFC[prio]++
		} else {
			c.ports[port].gotPFC[prio]++
		}
	}
	r.Net.OnDrop = func(p *fabric.Packet, port int32) {
		if drop != nil {
			drop(p, port)
		}
		c.drop(p, port)
	}
	r.Net.Trace = func(at unit.Time, what string, port int32, prio int) {
		if trace != nil {
			trace(at, what, port, prio)
		}
		c.trace(at, what, port, prio)
	}
	return c
}

// spec returns the Spec of a port's node; for a host, of its NICs.
func (c *Census) spec(port int32) *queue.Spec {
	node := int(c.run.Net.Ports[port].Node)
	if c.run.Graph.Nodes[node].Role == topo.Host {
		return &c.run.Plan.Spec
	}
	return c.run.Setup.Spec(node)
}

func (c *Census) host(port int32) bool {
	return c.run.Graph.Nodes[c.run.Net.Ports[port].Node].Role == topo.Host
}

// tap counts a packet that leaves or enters a port.
func (c *Census) tap(port int32, out bool, p *fabric.Packet) {
	x, host := &c.ports[port], c.host(port)
	switch class := c.spec(port).DSCP[p.TOS>>2]; {
	case !out:
		x.in[class].add(p)
	case host: // packets of hosts are in no class before the first switch
		x.out[class].add(p)
	default:
		x.out[p.Class].add(p)
	}
	if !host {
		return
	}
	switch nak := p.Synd.IsNak() && !p.Synd.IsGood(); {
	case p.Opcode == roce.CNP && out:
		x.cnpOut++
	case p.Opcode == roce.CNP:
		x.cnpIn++
	case p.Opcode == roce.Acknowledge && nak && out:
		x.nakOut++
	case p.Opcode == roce.Acknowledge && nak:
		x.nakIn++
	case !out && p.TOS&3 == fabric.CE:
		x.ceIn++
	}
}

func (t *tally) add(p *fabric.Packet) {
	t.packets++
	t.bytes += uint64(p.Size)
}

// drop determines the counter of a lost packet: the network's total that has just grown.
func (c *Census) drop(p *fabric.Packet, port int32) {
	n, x, s := c.run.Net, &c.ports[port], &c.seen
	switch {
	case n.CorruptDrops != s.corrupt: // the far end detects the wrong checksum
		s.corrupt = n.CorruptDrops
		c.ports[n.Ports[port].Peer].crc++
	case n.DownDrops != s.down:
		s.down = n.DownDrops
		x.lost++
	case n.NoRoute != s.noRoute:
		s.noRoute = n.NoRoute
		x.noRoute++
	case n.StormDrops != s.storm:
		s.storm = n.StormDrops
		x.flushed[p.Class]++
	case n.WREDDrops != s.wred:
		s.wred = n.WREDDrops
		x.egress[p.Class].add(p)
	case c.host(port) || int(p.Size) > int(c.spec(port).MTU):
		x.giants++
	case c.spec(port).Queues[p.Class].Lossless: // the headroom was full
		c.ports[p.In].ingress[p.Came].add(p)
	default:
		x.egress[p.Class].add(p)
	}
}

func (c *Census) trace(at unit.Time, what string, port int32, prio int) {
	x := &c.ports[port]
	switch what {
	case "mark":
		x.marks[prio]++
	case "pause":
		x.paused[prio].set(at, true)
	case "resume":
		x.paused[prio].set(at, false)
	case "storm":
		x.storms[prio]++
	case "restore":
		x.restored[prio]++
	}
}

func (p *paused) set(at unit.Time, on bool) {
	if p.on {
		p.total += at - p.since
	}
	p.since, p.on = at, on
}

// until returns the time in microseconds for which the state has lasted up to now.
func (p paused) until(now unit.Time) uint64 {
	p.set(now, false)
	return uint64(p.total / unit.Microsecond)
}
