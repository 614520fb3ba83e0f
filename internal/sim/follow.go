package sim

import (
	"fmt"
	"strconv"
	"strings"

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
	maxCopies   = 32
)

// Named identifies a packet: its queue pair, as numbered in qps.parquet and on the page, and its PSN. If the PSN is
// not known beforehand, the number of earlier packets of the queue pair replaces it.
type Named struct {
	QP     int32
	PSN    uint32
	Behind bool // PSN counts from the queue pair's first packet on
}

// String returns the form that ParseNamed reads.
func (n Named) String() string {
	if n.Behind {
		return fmt.Sprintf("%d/+%d", n.QP, n.PSN)
	}
	return fmt.Sprintf("%d/%d", n.QP, n.PSN)
}

// Follower records the path of named packets: at each switch the queue of their egress port, and their times of arrival
// and departure. It receives packets from the hooks of captures and reads queues in events of the run's own, which
// precede all others of their time and change nothing.
type Follower struct {
	run    *Run
	at     map[Named]int     // in out
	behind map[int32][]Named // by queue pair that has sent nothing yet: packets named relative to its start
	first  map[int32]*uint32 // by traced queue pair: the PSN of its first packet
	out    []result.Followed
	under  []*journey // under way
	looks  []*journey // by event: the journey that is about to reach a switch
	queues [][]int32  // by node: ports
}

// journey is one copy between two ports.
type journey struct {
	of    Named
	copy  *result.Copy
	kind  roce.Opcode
	out   int32 // the port that it left by last; -1: it is at a node
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
	f := &Follower{run: r, at: map[Named]int{}, behind: map[int32][]Named{}, first: map[int32]*uint32{},
		queues: make([][]int32, len(r.Graph.Nodes))}
	for _, p := range packets {
		if _, twice := f.at[p]; twice {
			return nil, field.New("", "%v is named twice", p)
		}
		f.first[p.QP] = nil
		if f.at[p] = len(f.out); p.Behind {
			f.behind[p.QP] = append(f.behind[p.QP], p)
		}
		f.out = append(f.out, result.Followed{Asked: p.String(), QP: p.QP, PSN: p.PSN})
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

// named returns the name of a packet; false if it is not traced.
func (f *Follower) named(p *fabric.Packet) (n Named, ok bool) {
	if p.Opcode == roce.CNP || p.Opcode == roce.CreditGrant || p.Opcode == roce.CreditRequest {
		return n, false // these have no number of their own
	}
	if first, of := f.first[p.QP]; of && first == nil && p.Payload > 0 {
		psn := p.PSN
		f.first[p.QP] = &psn
		f.count(p)
	}
	n = Named{QP: p.QP, PSN: p.PSN}
	_, ok = f.at[n]
	return n, ok
}

// count gives those their PSN that count from a queue pair's first packet, which this one is.
func (f *Follower) count(first *fabric.Packet) {
	for _, n := range f.behind[first.QP] {
		x := f.at[n]
		f.out[x].PSN = (first.PSN + n.PSN) & roce.PSNMask
		if n = (Named{QP: n.QP, PSN: f.out[x].PSN}); !f.has(n) {
			f.at[n] = x
		}
	}
	delete(f.behind, first.QP)
}

func (f *Follower) has(n Named) bool { _, ok := f.at[n]; return ok }

// tap records a packet whose first bit leaves a port, or whose last bit arrives at one.
func (f *Follower) tap(at unit.Time, port int32, out bool, p *fabric.Packet) {
	n, ok := f.named(p)
	if !ok {
		return
	}
	if !out {
		f.comes(at, port, n, p)
		return
	}
	tx := &f.run.Net.Ports[port]
	var j *journey
	if f.run.Graph.Nodes[tx.Node].Role == topo.Host {
		j = f.begin(n, p)
	} else {
		j = f.find(n, p, func(j *journey) bool { return j.out < 0 && j.node == tx.Node })
	}
	if j == nil {
		return
	}
	j.out = port
	hop := result.Hop{Port: port, Name: f.run.PortName(port), Came: int64(j.came), Ready: int64(j.ready),
		Left: int64(at), Behind: int64(tx.Queued), Marked: p.TOS&3 == fabric.CE,
		Trimmed: p.Flags&fabric.FlagTrimmed != 0, Rate: int64(tx.Rate)}
	for i, q := range f.queues[tx.Node] {
		if q == port && j.found != nil {
			hop.Found, hop.Paused = j.found[i].queued, j.found[i].paused>>p.Class&1 != 0
		}
	}
	j.copy.Hops = append(j.copy.Hops, hop)
}

// begin starts a copy that leaves a NIC.
func (f *Follower) begin(n Named, p *fabric.Packet) *journey {
	x := &f.out[f.at[n]]
	if len(x.Copies) == maxCopies {
		x.More++
		return nil
	}
	if x.Copies == nil {
		x.Copies = make([]result.Copy, 0, maxCopies) // pointers into it stay
	}
	kind, again := p.Opcode.String(), p.Flags&fabric.FlagAgain != 0
	if p.Opcode == roce.Acknowledge && !p.Synd.IsGood() {
		kind = "NAK"
	}
	if _, protocol := host.Ends(p.Opcode); protocol {
		h := f.run.Net.CarriedHeaders()
		kind, again = h.Kind.String(), h.Flags&transport.Again != 0
	}
	x.Copies = append(x.Copies, result.Copy{Kind: kind, Data: p.Payload > 0, Again: again, Bytes: int(p.Size),
		End: "under way"})
	j := &journey{of: n, kind: p.Opcode, copy: &x.Copies[len(x.Copies)-1]}
	f.under = append(f.under, j)
	return j
}

// find returns the matching copy of a packet that has been in flight longest.
func (f *Follower) find(n Named, p *fabric.Packet, fits func(*journey) bool) *journey {
	for _, j := range f.under {
		if j.of == n && j.kind == p.Opcode && fits(j) {
			return j
		}
	}
	return nil
}

// comes is called with the time of a packet's arrival, and reads its switch's queues at the time when it is
// assigned a port.
func (f *Follower) comes(at unit.Time, port int32, n Named, p *fabric.Packet) {
	from := f.run.Net.Ports[port].Peer
	j := f.find(n, p, func(j *journey) bool { return j.out == from })
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

// look writes down what waits at a switch's ports.
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
	n, ok := f.named(p)
	if !ok {
		return
	}
	node := f.run.Net.Ports[port].Node
	j := f.find(n, p, func(j *journey) bool { return j.out == port || j.out < 0 && j.node == node })
	if j != nil {
		f.ends(j, "dropped", f.run.Net.Q.Now(), f.run.PortName(port))
	}
}

// ends removes a copy from the copies in flight.
func (f *Follower) ends(j *journey, how string, at unit.Time, where string) {
	j.copy.End, j.copy.EndAt, j.copy.EndedAt = how, int64(at), where
	for i, x := range f.under {
		if x == j {
			f.under = append(f.under[:i], f.under[i+1:]...)
			return
		}
	}
}

// ParseNamed reads QP/PSN, or QP/+N for the packet after N others of the queue pair.
func ParseNamed(s string) (n Named, err error) {
	qp, psn, ok := strings.Cut(s, "/")
	psn, n.Behind = strings.CutPrefix(psn, "+")
	q, err1 := strconv.ParseUint(qp, 10, 31)
	p, err2 := strconv.ParseUint(psn, 10, 24)
	if !ok || err1 != nil || err2 != nil {
		return n, field.New("", "found %s, expected a queue pair and a PSN such as 0/1614795, or 0/+17 for the packet after the first 17", field.Quote(s))
	}
	n.QP, n.PSN = int32(q), uint32(p)
	return n, nil
}
