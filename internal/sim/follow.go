package sim

import (
	"fmt"
	"slices"

	"railyard/internal/engine"
	"railyard/internal/fabric"
	"railyard/internal/field"
	"railyard/internal/host"
	"railyard/internal/result"
	"railyard/internal/topo"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// Limits of traces: packets, and copies of each.
const (
	MaxFollowed = 64
	maxCopies   = 256
)

// Follower records the path of named packets and of their answers: at each switch the queue of the egress port, and
// the times of arrival and departure. It receives packets from the hooks of captures. It reads queues in events of
// the run, which precede all others of their time and change nothing.
type Follower struct {
	run    *Run
	traced map[int32][]*traced // by queue pair
	first  map[int32]*uint32   // by traced queue pair: the PSN of its first packet
	out    []result.Followed
	search map[int32][]*search // by queue pair
	about  []*traced           // scratch
	under  []*journey          // under way
	looks  []*journey          // by event: the journey that is about to reach a switch
	queues [][]int32           // by node: ports
}

// traced is a named packet.
type traced struct {
	name  Named
	to    *result.Followed
	of    *search // nil: the packet was named
	known bool    // its PSN is known
	sent  bool    // it has left its NIC; an earlier answer to its PSN refers to another packet
	acks  int     // ACKs of it that are recorded and not lost
}

// journey is one copy between two ports.
type journey struct {
	of    *traced
	frame frame
	copy  int // in Copies
	acks  bool
	out   int32 // the port by which it left last; -1: it is at a node
	node  int32
	came  unit.Time
	ready unit.Time
	found []state
}

// state is a port's state just before the arrival.
type state struct {
	queued int64
	paused uint8
}

// Follow starts to follow packets. Call it before Go, and after Capture.
func (r *Run) Follow(packets []Named) (*Follower, error) {
	if r.Setup.Scheduled != nil {
		return nil, field.New("", "inside a scheduled fabric there are cells and no packets to follow")
	}
	if r.Tunnel != nil {
		return nil, field.New("", "with transport.tunnel packets of the fabric are the tunnel's, and none of a connection's can be followed")
	}
	if len(packets) > MaxFollowed {
		return nil, field.New("", "%d packets are named; at most %d are followed", len(packets), MaxFollowed)
	}
	f := &Follower{run: r, traced: map[int32][]*traced{}, first: map[int32]*uint32{}, search: map[int32][]*search{},
		queues: make([][]int32, len(r.Graph.Nodes)), out: make([]result.Followed, len(packets))}
	pairs := r.queuePairs()
	for i, p := range packets {
		if slices.Contains(packets[:i], p) {
			return nil, field.New("", "%v is named twice", p)
		}
		if int(p.QP) >= pairs {
			return nil, field.New("", "%v: the run has no queue pair %d; accepted: %s", p, p.QP, indices(pairs))
		}
		f.first[p.QP] = nil
		f.out[i] = result.Followed{Asked: p.String(), QP: p.QP, PSN: p.PSN}
		if p.By != "" {
			f.out[i].PSN = 0
			f.search[p.QP] = append(f.search[p.QP], &search{name: p, to: &f.out[i], at: map[uint32]*traced{}})
			continue
		}
		f.traced[p.QP] = append(f.traced[p.QP], &traced{name: p, to: &f.out[i], known: !p.Behind})
	}
	for i := range r.Net.Ports {
		r.Net.TapPort(int32(i), true)
	}
	for l := range r.Graph.Links {
		for _, node := range []int{r.Graph.Links[l].A, r.Graph.Links[l].B} {
			f.queues[node] = append(f.queues[node], r.Port(l, node))
		}
	}
	tap, pfc, drop := r.Net.Tap, r.Net.TapPFC, r.Net.OnDrop
	r.Net.Tap = func(at unit.Time, port int32, out bool, p *fabric.Packet) {
		if tap != nil {
			tap(at, port, out, p)
		}
		f.tap(at, port, out, p)
	}
	if pfc == nil {
		r.Net.TapPFC = func(unit.Time, int32, bool, int, int) {}
	}
	r.Net.OnDrop = func(p *fabric.Packet, port int32) {
		if drop != nil {
			drop(p, port)
		}
		f.dropped(p, port)
	}
	r.follower = f
	return f, nil
}

// queuePairs returns the maximum number of queue pairs that a run's messages use. They are created on first use.
func (r *Run) queuePairs() (n int) {
	tags := map[connKey]int{}
	for i := range r.Exec.DAG.Ops {
		o := &r.Exec.DAG.Ops[i]
		from, to := int(o.Rank), int(o.Peer)
		if o.Compute() || r.Exec.Local(from, to) {
			continue
		}
		sources := []int{r.Exec.Relay(from, to)}
		if len(r.Plan.Events) > 0 { // after a failure another GPU may relay
			sources = append(sources, from, r.Exec.Machine.OnRail(from, to))
			slices.Sort(sources)
		}
		for _, from := range slices.Compact(sources) {
			pairs := r.Split(from, to, o.Bytes)
			k := connKey{service: int32(r.Exec.Work.Service(int32(i))), src: int32(from), dst: int32(to)}
			if r.Exec.Work.Jobs[r.Exec.Work.Of(int32(i))].Apart {
				pairs += tags[k]
			}
			tags[k] = max(tags[k], pairs)
		}
	}
	for _, pairs := range tags {
		n += pairs
	}
	return n
}

// indices describes the numbers of n elements from 0 on.
func indices(n int) string {
	switch n {
	case 0:
		return "none, no message crosses the network"
	case 1:
		return "0"
	}
	return fmt.Sprintf("0 to %d", n-1)
}

// Packets returns the paths of the followed packets; names are filled in at the end of a run.
func (f *Follower) Packets() []result.Followed {
	for i := range f.out {
		x := &f.out[i]
		if int(x.QP) < f.run.Hosts.Conns() {
			src, dst := f.run.Hosts.Peers(x.QP)
			x.From, x.To = f.run.Graph.NICName(int(src)), f.run.Graph.NICName(int(dst))
			x.RequesterQPN, x.ResponderQPN, x.RKey = requesterQPN(x.QP), responderQPN(x.QP), f.run.Hosts.RKey()
			x.FirstPSN = f.first[x.QP]
		}
	}
	return f.out
}

// of returns the traced packets of a packet's queue pair, with their PSNs from its first packet on, and what searches
// of it trace: such a trace starts where the packet leaves its NIC.
func (f *Follower) of(p *fabric.Packet, starts bool) []*traced {
	if p.Opcode == roce.CNP || p.Opcode == roce.CreditGrant || p.Opcode == roce.CreditRequest {
		return nil // these refer to no packet
	}
	all := f.traced[p.QP]
	searches := f.search[p.QP]
	if len(all)+len(searches) > 0 && f.first[p.QP] == nil && p.Payload > 0 {
		psn := p.PSN
		f.first[p.QP] = &psn
		for _, x := range all {
			if x.known = true; x.name.Behind {
				x.to.PSN = (psn + x.name.PSN) & roce.PSNMask
			}
		}
	}
	if len(searches) == 0 || p.Payload == 0 {
		return all
	}
	f.about = append(f.about[:0], all...)
	for _, s := range searches {
		if x := s.of(p, *f.first[p.QP], starts); x != nil {
			f.about = append(f.about, x)
		}
	}
	return f.about
}

// tap records a packet whose first bit leaves a port or whose last bit arrives at one.
func (f *Follower) tap(at unit.Time, port int32, out bool, p *fabric.Packet) {
	tx := &f.run.Net.Ports[port]
	all := f.of(p, out && f.run.Graph.Nodes[tx.Node].Role == topo.Host)
	if len(all) == 0 {
		return
	}
	id := f.frame(p)
	for _, x := range all {
		var j *journey
		switch {
		case !out:
			f.comes(at, port, x, id, p)
		case f.run.Graph.Nodes[tx.Node].Role == topo.Host:
			j = f.begin(x, id, p)
		default:
			j = f.find(x, id, func(j *journey) bool { return j.out < 0 && j.node == tx.Node })
		}
		if j != nil {
			f.leaves(at, port, j, p)
		}
	}
}

// leaves records that a copy leaves a port.
func (f *Follower) leaves(at unit.Time, port int32, j *journey, p *fabric.Packet) {
	j.out = port
	tx := &f.run.Net.Ports[port]
	hop := result.Hop{Port: port, Name: f.run.PortName(port), Came: int64(j.came), Ready: int64(j.ready),
		Left: int64(at), Behind: int64(tx.Queued), Marked: p.TOS&3 == fabric.CE,
		Trimmed: p.Flags&fabric.FlagTrimmed != 0, Rate: int64(tx.Rate)}
	for i, q := range f.queues[tx.Node] {
		if q == port && j.found != nil {
			hop.Found, hop.Paused = j.found[i].queued, j.found[i].paused>>p.Class&1 != 0
		}
	}
	c := f.copyOf(j)
	c.Hops = append(c.Hops, hop)
}

func (f *Follower) copyOf(j *journey) *result.Copy { return &j.of.to.Copies[j.copy] }

// begin starts a copy that leaves a NIC if it is a traced packet or the answer to show for one. That is an answer
// that names it, or the first that reports its arrival.
func (f *Follower) begin(t *traced, id frame, p *fabric.Packet) *journey {
	x := t.to
	if !t.known {
		return nil
	}
	how, data, kind := f.refers(p, x.PSN)
	acks := !data && (how == transport.Covers || kind == transport.Ack.String())
	if how == transport.None || !data && !t.sent || how == transport.Covers && t.acks > 0 {
		return nil
	}
	t.sent = true
	if len(x.Copies) == maxCopies {
		x.More++
		return nil
	}
	if acks {
		t.acks++
	}
	again := p.Flags&fabric.FlagAgain != 0
	if _, protocol := host.Ends(p.Opcode); protocol {
		again = f.run.Net.CarriedHeaders().Flags&transport.Again != 0
	}
	x.Copies = append(x.Copies, result.Copy{Kind: kind, Data: data, Again: again, Bytes: int(p.Size), End: "under way"})
	j := &journey{of: t, frame: id, acks: acks, copy: len(x.Copies) - 1}
	f.under = append(f.under, j)
	return j
}

// find returns the matching copy of a frame that has been in flight longest.
func (f *Follower) find(of *traced, id frame, fits func(*journey) bool) *journey {
	for _, j := range f.under {
		if j.of == of && j.frame == id && fits(j) {
			return j
		}
	}
	return nil
}

// comes is called with the time of a packet's arrival. It reads its switch's queues when the packet is assigned a
// port.
func (f *Follower) comes(at unit.Time, port int32, of *traced, id frame, p *fabric.Packet) {
	from := f.run.Net.Ports[port].Peer
	j := f.find(of, id, func(j *journey) bool { return j.out == from })
	if j == nil {
		return
	}
	node := f.run.Net.Ports[port].Node
	j.out, j.node, j.came, j.found = -1, node, at, nil
	if f.run.Graph.Nodes[node].Role == topo.Host {
		f.ends(j, "arrived", at, f.run.Graph.Nodes[node].Name)
		return
	}
	tx := &f.run.Net.Ports[from]
	j.ready = at + tx.Flight - (at - tx.BusyUntil)
	if read := f.run.Net.Header(); f.run.Setup.CutThrough && int(p.Size) > read {
		j.ready -= unit.Serialize(unit.Bytes(int(p.Size)-read), tx.Rate)
	}
	f.looks = append(f.looks, j)
	f.run.Net.Q.Push(engine.OfRun, j.ready, kindFollow, int32(len(f.looks)-1), 0)
}

// look records the queues of a switch's ports.
func (f *Follower) look(i int32) {
	j := f.looks[i]
	f.looks[i] = nil
	if j.out >= 0 || j.ready != f.run.Net.Q.Now() {
		return
	}
	for _, q := range f.queues[j.node] {
		tx := &f.run.Net.Ports[q]
		sending := unit.InTime(tx.Rate, max(0, tx.BusyUntil-j.ready)) // the time of a frame on the wire
		ahead := int64(tx.Queued) + int64(sending)
		j.found = append(j.found, state{ahead, tx.Paused})
	}
}

// dropped records a packet that is lost at a port.
func (f *Follower) dropped(p *fabric.Packet, port int32) {
	all := f.of(p, false)
	if len(all) == 0 {
		return
	}
	id, node := f.frame(p), f.run.Net.Ports[port].Node
	for _, x := range all {
		if j := f.find(x, id, func(j *journey) bool { return j.out == port || j.out < 0 && j.node == node }); j != nil {
			if f.ends(j, "dropped", f.run.Net.Q.Now(), f.run.PortName(port)); j.acks {
				x.acks--
			}
		}
	}
}

// ends removes a copy from the copies in flight.
func (f *Follower) ends(j *journey, how string, at unit.Time, where string) {
	c := f.copyOf(j)
	c.End, c.EndAt, c.EndedAt = how, int64(at), where
	if s := j.of.of; s != nil && how == "arrived" {
		s.take(j.of)
	}
	for i, x := range f.under {
		if x == j {
			f.under = append(f.under[:i], f.under[i+1:]...)
			return
		}
	}
}
