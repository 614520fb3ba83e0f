package sim

import (
	"railyard/internal/engine"
	"railyard/internal/exec"
	"railyard/internal/explain"
	"railyard/internal/host"
	"railyard/internal/topo"
	"railyard/rc"
	"railyard/unit"
)

// Event kinds of a run.
const (
	kindRing engine.Kind = host.KindUser + iota // A operation, B stage: see exec.Bell
	kindSample
	kindLink     // A event of the plan: a cable changes
	kindNotice   // event of the plan: the ends of a cable detect its failure
	kindConverge // A event of the plan: routes follow it, and all others of that moment
	kindIncident // A incident of the plan
	kindMirrors  // A 1: mirrors have moved, 0: whether they can is looked at again
	kindFollow   // A look of the follower: a packet is about to be at a switch
	// KindNothing is an event that brings the clock to a time.
	KindNothing
)

// carrier carries an execution's transfers as packets: each is split into messages on the
// queue pairs of its GPUs.
type carrier struct {
	net       *Network
	exec      *exec.Execution
	parts     []uint8        // by operation: number of queue pairs that still carry a part of it
	flying    int            // messages that are not delivered yet
	delivered unit.Bytes     // so far
	onSend    func()         // data are about to be sent
	stop      bool           // whether all is done, or no progress is possible
	lost      []explain.Lost // queue pairs that gave up, in the order of time
	gone      map[int32]bool // the same
	troubles  *troubles
	mirrors   *mirrors // nil: circuits do not move by phases
}

func newCarrier(n *Network, ops int) *carrier {
	c := &carrier{net: n, parts: make([]uint8, ops), troubles: newTroubles(n), gone: map[int32]bool{}}
	n.Hosts.OnDeliver = c.arrived
	n.Hosts.OnFail = func(conn int32, s rc.Status) {
		c.gaveUp(explain.Lost{Conn: conn, At: c.Now(), Why: s.String()})
	}
	return c
}

// Now, After, Send and Reaches make it an exec.Carrier.
func (c *carrier) Now() unit.Time { return c.net.Net.Q.Now() }

func (c *carrier) After(d unit.Time, b exec.Bell) {
	c.net.Net.Q.Push(engine.OfRun, c.Now()+d, kindRing, b.Op, b.Stage)
}

func (c *carrier) Reaches(from, to int) bool {
	if c.mirrors != nil { // mirrors move before the transfer is sent
		return c.net.Reaches(c.mirrors.whole, from, to)
	}
	return c.net.Reaches(c.net.Paths, from, to)
}

// Reaches reports whether routes connect the NICs of two GPUs.
func (n *Network) Reaches(paths *topo.Routes, from, to int) bool {
	return reaches(n.Graph, paths, from, to)
}

func reaches(g *topo.Graph, paths *topo.Routes, from, to int) bool {
	for pair := range max(g.Ways(from), g.Ways(to)) { // each NIC that one of the GPUs has for itself
		if g.Stored(from, to) {
			if a, b := g.Pair(from, to, pair); !g.Reachable(paths, a, b) {
				return false
			}
			continue
		}
		if !g.Reachable(paths, g.WayOf(from, pair), g.WayOf(to, pair)) {
			return false
		}
	}
	return true
}

func (c *carrier) Send(op int32, from, to int, bytes unit.Bytes) {
	if c.mirrors == nil || !c.mirrors.holds(op, from, to, bytes) {
		c.send(op, from, to, bytes)
	}
}

// send transfers bytes from one GPU to another.
func (c *carrier) send(op int32, from, to int, bytes unit.Bytes) {
	n := c.net.Split(from, to, bytes)
	c.parts[op] = uint8(n)
	c.flying += n
	if c.onSend != nil {
		c.onSend()
	}
	job := &c.exec.Work.Jobs[c.exec.Work.Of(op)]
	service := c.exec.Work.Service(op)
	first := c.net.Tag(&job.Job, service, from, to, n)
	for q := range n {
		c.troubles.posted()
		b := bytes*unit.Bytes(q+1)/unit.Bytes(n) - bytes*unit.Bytes(q)/unit.Bytes(n)
		conn := c.net.Conn(service, from, to, first+q)
		if c.net.Hosts.Send(conn, b, int64(op)); job.Apart {
			c.net.Hosts.Close(conn)
		}
	}
}

// arrived is called by the hosts when a message is in GPU memory.
func (c *carrier) arrived(m int32) {
	msg := &c.net.Hosts.Messages[m]
	op := int32(msg.Tag)
	c.delivered += msg.Bytes
	c.flying--
	c.troubles.delivered(m)
	if c.parts[op]--; c.parts[op] == 0 {
		c.exec.Delivered(op)
		c.stop = c.stop || c.exec.Done()
	}
	if c.flying == 0 && c.mirrors != nil {
		c.mirrors.look()
	}
}

// ring delivers an operation's timer event to the execution.
func (c *carrier) ring(e engine.Event) {
	c.exec.Ring(exec.Bell{Op: e.A, Stage: e.B})
	c.stop = c.stop || c.exec.Done()
}
