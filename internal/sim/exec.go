package sim

import (
	"railyard/internal/engine"
	"railyard/internal/host"
	"railyard/internal/workload"
	"railyard/rc"
	"railyard/unit"
)

// Event kinds of the executor.
const (
	kindComputed engine.Kind = host.KindUser + iota // A op
	kindNVLinked                                    // A op, B 1 when it is the first half of a PXN transfer
	kindSample
	kindBreak   // A link
	kindReroute // A link: routes avoid it from now on
	kindMend    // A link
	kindRestore // A link: routes use it again
)

// NVLink is the fabric inside a server: every GPU has one pipe in and one out.
type NVLink struct {
	Rate    unit.Rate
	Latency unit.Time
	PXN     bool // transfers change rails here, not in the network
}

// Exec runs a DAG on a network.
type Exec struct {
	*Network
	DAG    *workload.DAG
	NVLink NVLink

	deps      []int32
	parts     []uint8 // queue pairs that still carry a transfer
	cause     []int32 // op whose end set this one free, -1 for none
	start     []unit.Time
	end       []unit.Time // unit.Never while not done
	egress    []unit.Time // by GPU: NVLink pipe free
	ingress   []unit.Time
	left      int
	computing int // operations that run without the network
	flying    int // messages that are not delivered yet
	onSend    func()
	stop      bool
	failure   *FailedQP

	NetBytes, NVBytes unit.Bytes // delivered so far
	TotalNet          unit.Bytes // to be delivered by the network
	interrupted       bool
	MessageOp         []int32 // by message
	troubles          *troubles
}

// FailedQP reports a queue pair that gave up.
type FailedQP struct {
	Conn   int32
	Status rc.Status
}

// NewExec prepares a DAG for execution; ranks are GPUs in order.
func NewExec(n *Network, d *workload.DAG, nv NVLink) *Exec {
	x := &Exec{Network: n, DAG: d, NVLink: nv, left: len(d.Ops)}
	x.deps = make([]int32, len(d.Ops))
	x.parts = make([]uint8, len(d.Ops))
	x.cause = make([]int32, len(d.Ops))
	x.start = make([]unit.Time, len(d.Ops))
	x.end = make([]unit.Time, len(d.Ops))
	x.egress = make([]unit.Time, n.Graph.TotalGPUs())
	x.ingress = make([]unit.Time, n.Graph.TotalGPUs())
	for i := range d.Ops {
		o := &d.Ops[i]
		x.deps[i], x.cause[i], x.end[i] = o.Deps, -1, unit.Never
		if !o.Compute() && !x.local(int(o.Rank), int(o.Peer)) {
			x.TotalNet += o.Bytes
		}
	}
	x.troubles = newTroubles(n)
	n.Hosts.OnDeliver = x.delivered
	n.Hosts.OnFail = func(c int32, s rc.Status) {
		if x.failure == nil {
			x.failure = &FailedQP{c, s}
		}
	}
	return x
}

// local reports whether two GPUs share a server.
func (x *Exec) local(a, b int) bool { return x.Graph.HostOf(a) == x.Graph.HostOf(b) }

// Begin releases the operations that wait for nothing.
func (x *Exec) Begin() {
	for i := range x.deps {
		if x.deps[i] == 0 {
			x.launch(int32(i))
		}
	}
}

// Done reports whether every operation has ended.
func (x *Exec) Done() bool { return x.left == 0 }

// launch starts an operation whose inputs are there.
func (x *Exec) launch(i int32) {
	o := &x.DAG.Ops[i]
	now := x.Net.Q.Now()
	x.start[i] = now
	if o.Compute() {
		x.computing++
		x.Net.Q.Push(now+o.Dur, kindComputed, i, 0)
		return
	}
	src, dst := int(o.Rank), int(o.Peer)
	if x.local(src, dst) {
		x.nvlink(i, src, dst, 0)
		return
	}
	if relay := x.relay(src, dst); relay != src {
		x.nvlink(i, src, relay, 1)
		return
	}
	x.network(i, src, dst)
}

// relay returns the GPU through which src reaches dst: itself when the network
// connects their NICs, unless PXN is on, else the one in src's server on dst's rail (PXN, seed
// figure 8 and the cross-rail steps of figure 13-6).
func (x *Exec) relay(src, dst int) int {
	g := x.Graph
	if g.NICs[g.NICOf[src]].Rail == g.NICs[g.NICOf[dst]].Rail || !x.NVLink.PXN && x.Reaches(g.NICOf[src], g.NICOf[dst]) {
		return src
	}
	return g.HostOf(src)*g.GPUs + g.LocalOf(dst)
}

// nvlink moves a transfer through the sender's and the receiver's pipe, each
// first come, first served, cutting through when both are free.
func (x *Exec) nvlink(i int32, src, dst int, relayed int32) {
	o := &x.DAG.Ops[i]
	ser := unit.Serialize(o.Bytes, x.NVLink.Rate)
	out := max(x.Net.Q.Now(), x.egress[src])
	x.egress[src] = out + ser
	in := max(out+x.NVLink.Latency, x.ingress[dst])
	x.computing++
	x.ingress[dst] = in + ser
	x.Net.Q.Push(in+ser, kindNVLinked, i, relayed)
}

// network sends a transfer over the queue pairs of its GPUs.
func (x *Exec) network(i int32, src, dst int) {
	o := &x.DAG.Ops[i]
	n := max(1, min(x.QPs, int(o.Bytes/unit.Bytes(x.Host.RC.MTU))))
	x.parts[i] = uint8(n)
	x.flying += n
	if x.onSend != nil {
		x.onSend()
	}
	for q := range n {
		x.troubles.posted()
		b := o.Bytes*unit.Bytes(q+1)/unit.Bytes(n) - o.Bytes*unit.Bytes(q)/unit.Bytes(n)
		x.MessageOp = append(x.MessageOp, i)
		x.Hosts.Send(x.Conn(src, dst, q), b, int64(i))
	}
}

// delivered is called by the hosts when a message is in GPU memory.
func (x *Exec) delivered(m int32) {
	msg := &x.Hosts.Messages[m]
	i := int32(msg.Tag)
	x.NetBytes += msg.Bytes
	x.flying--
	x.troubles.delivered(m)
	if x.parts[i]--; x.parts[i] == 0 {
		x.finish(i)
	}
}

// Event runs one of the executor's own events.
func (x *Exec) Event(e engine.Event) {
	switch e.Kind() {
	case kindComputed:
		x.computing--
		x.finish(e.A)
	case kindNVLinked:
		x.computing--
		o := &x.DAG.Ops[e.A]
		x.NVBytes += o.Bytes
		if e.B == 1 {
			src, dst := int(o.Rank), int(o.Peer)
			x.network(e.A, x.relay(src, dst), dst)
			return
		}
		x.finish(e.A)
	}
}

// finish ends an operation and launches what waited for it alone.
func (x *Exec) finish(i int32) {
	x.end[i] = x.Net.Q.Now()
	if x.left--; x.left == 0 {
		x.stop = true
	}
	d := x.DAG
	for _, s := range d.Succ[d.First[i]:d.First[i+1]] {
		if x.deps[s]--; x.deps[s] == 0 {
			x.cause[s] = i
			x.launch(s)
		}
	}
}
