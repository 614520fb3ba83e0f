package flows

import (
	"cmp"
	"slices"

	"railyard/internal/exec"
	"railyard/internal/explain"
	"railyard/internal/fluid"
	"railyard/rc"
	"railyard/unit"
)

// conn is a connection, which carries messages one after another.
type conn struct {
	uses        []fluid.Use
	key         []int32   // ports of its paths, to detect their changes
	latency     unit.Time // time of a full packet beyond its time on the slowest link
	first, last int32     // messages that have not been sent, the oldest first; -1 for none
	flow        int32     // flow that carries the oldest message; -1: none
	left        float64   // bytes on the wire of the oldest, while no flow carries it
	tries       int32     // time-outs in a row
	retrying    bool      // a time-out is under way,
	silent      unit.Time // since then
	turn        int32     // bells of other time-outs are void
	vain        int32     // flow of the packets that it sends into a broken path, -1 while it sends none
	unsent      float64   // bytes on the wire that follow these
	rate        float64   // rate at which it was sending when its path broke, in bytes per picosecond; 0: idle
	probes      int32     // probes of a selective queue pair since its path broke
	lost        bool      // whether it gave up
	pace        pace
	paced       unit.Time // since when congestion control limits it, -1 while it does not
	held        unit.Time // time for which congestion control has limited the current message
	blocked     bool      // there is no path to its receiver
}

// Now, After, Send and Reaches make it an exec.Carrier.
func (r *Run) Now() unit.Time { return r.now }

// After rings the execution once a delay has passed.
func (r *Run) After(d unit.Time, b exec.Bell) { r.push(r.now+d, ringExec, b.Op, b.Stage) }

// Reaches reports whether the network connects the NICs of two GPUs at present.
func (r *Run) Reaches(from, to int) bool { return r.Network.Reaches(r.Paths, from, to) }

// Send splits a transfer over the queue pairs of its GPUs, as the packet carrier does.
func (r *Run) Send(op int32, from, to int, bytes unit.Bytes) {
	n := r.Split(from, to, bytes)
	r.parts[op] = uint8(n)
	service := r.Exec.Work.Service(op)
	first := r.Tag(&r.Exec.Work.Jobs[r.Exec.Work.Of(op)].Job, service, from, to, n)
	for q := range n {
		b := bytes*unit.Bytes(q+1)/unit.Bytes(n) - bytes*unit.Bytes(q)/unit.Bytes(n)
		r.post(r.Conn(service, from, to, first+q), op, b)
	}
}

// post appends a message to a connection.
func (r *Run) post(c, op int32, bytes unit.Bytes) {
	for int(c) >= len(r.conns) {
		r.conns = append(r.conns, conn{first: -1, last: -1, flow: -1, vain: -1, paced: -1})
		r.paced(int32(len(r.conns) - 1))
		r.way(int32(len(r.conns) - 1))
	}
	m := int32(len(r.messages))
	r.messages = append(r.messages, explain.Message{Op: op, Conn: c, Bytes: bytes, Posted: r.now})
	r.pacedFor = append(r.pacedFor, 0)
	r.next = append(r.next, -1)
	k := &r.conns[c]
	if k.last >= 0 {
		r.next[k.last] = m
	}
	k.last = m
	switch {
	case k.first < 0:
		k.first = m
		r.begin(c)
	case k.retrying && !r.broken(c):
		r.revive(c) // the message's packets arrive and show the gap
	case k.retrying:
		k.unsent += float64(r.rules.Wire(bytes))
		r.waste(c)
	}
}

// begin sends a connection's oldest message, unless the connection waits for a time-out or has given up.
func (r *Run) begin(c int32) {
	k := &r.conns[c]
	k.left = float64(r.rules.Wire(r.messages[k.first].Bytes))
	r.resume(c)
}

// resume continues with the rest of the oldest message.
func (r *Run) resume(c int32) {
	k := &r.conns[c]
	switch {
	case k.retrying || k.lost:
	case r.broken(c):
		r.silence(c)
	default:
		k.tries = 0
		k.flow = r.net.Start(r.now, c, k.left, 1, k.uses)
	}
}

// sent continues a connection whose oldest message has left.
func (r *Run) sent(c int32) {
	k := &r.conns[c]
	m := k.first
	k.flow = -1
	r.limited(c, false)
	r.pacedFor[m], k.held = k.held, 0
	r.leaves(c)
	if k.first = r.next[m]; k.first < 0 {
		k.last = -1
	} else {
		r.begin(c)
	}
	r.push(r.now+r.behind(c, r.messages[m].Bytes), ringArrived, m, 0)
}

// behind returns the time from a message's last bit on the slowest link to memory, plus that of both NICs.
func (r *Run) behind(c int32, bytes unit.Bytes) unit.Time {
	k := &r.conns[c]
	d := k.latency
	if bytes < r.rules.MTU {
		d = r.beyond(c, r.rules.Wire(bytes))
	}
	return d + 2*r.rules.NICLatency
}

// arrived ends a message, and its operation with the operation's last message.
func (r *Run) arrived(m int32) {
	msg := &r.messages[m]
	msg.Done = r.now
	r.delivered += msg.Bytes
	if r.parts[msg.Op]--; r.parts[msg.Op] == 0 {
		r.Exec.Delivered(msg.Op)
	}
}

// silence waits for the local ACK timeout of a connection whose packets are lost. It sends all that it has been
// posted meanwhile: no acknowledgement is due before.
func (r *Run) silence(c int32) {
	k := &r.conns[c]
	if r.carried() != nil || k.retrying || k.lost {
		return
	}
	k.retrying, k.silent = true, r.now
	k.turn++
	if timeout := r.Setup.Host.RC.Timeout; timeout > 0 {
		r.push(r.now+timeout, ringRetry, c, k.turn)
	}
	k.unsent = k.left
	for m := r.next[k.first]; m >= 0; m = r.next[m] {
		k.unsent += float64(r.rules.Wire(r.messages[m].Bytes))
	}
	if most, rtt := r.Hosts.Window(c); most > 0 { // of which a round trip is already in progress
		k.unsent = min(k.unsent, max(0, float64(most)*r.overhead()-k.rate*float64(rtt)))
	}
	k.probes = 0
	r.waste(c)
}

// waste sends a connection's data for a broken path, up to its NIC. They use part of the NIC's rate and never
// arrive.
func (r *Run) waste(c int32) {
	k := &r.conns[c]
	if k.vain >= 0 {
		return
	}
	if k.unsent <= 0 {
		r.probe(c)
		return
	}
	src, _ := r.Hosts.Peers(c)
	leaf := r.set(r.Hosts.Leaves(c))
	if r.net.Rate(leaf) == 0 { // a NIC also sends into its own broken cable
		leaf = r.links.void(r, c, src)
	}
	uses := []fluid.Use{{Link: leaf, Share: 1}}
	if k.pace.cap >= 0 {
		uses = append(uses, fluid.Use{Link: k.pace.cap, Share: 1})
	}
	for _, bus := range r.links.buses[src][0] {
		uses = append(uses, fluid.Use{Link: bus, Share: 1})
	}
	k.vain = r.net.Start(r.now, vainly(c), k.unsent, 1, uses)
	k.unsent = 0
}

// probe makes a selective queue pair that has sent everything request an answer after a time that doubles.
func (r *Run) probe(c int32) {
	k := &r.conns[c]
	if r.Setup.Host.RC.Recovery == rc.Selective {
		r.push(r.now+rc.ProbeAfter<<min(k.probes, 16), ringProbe, c, k.turn)
	}
}

// probed continues a queue pair whose probe is answered, because its path works again.
func (r *Run) probed(c, turn int32) {
	k := &r.conns[c]
	switch {
	case !k.retrying || turn != k.turn || k.vain >= 0:
	case r.broken(c):
		k.probes++
		r.probe(c)
	default:
		r.revive(c)
	}
}

// vainly is the tag of a connection's packets into a broken path; packets of its messages have the message's
// number.
func vainly(c int32) int32 { return ^c }

// wasted continues a connection whose packets into a broken path have left.
func (r *Run) wasted(c int32) {
	r.conns[c].vain = -1
	r.waste(c)
}

// revive ends a connection's wait for its time-out, and retransmits.
func (r *Run) revive(c int32) {
	r.unwaste(c)
	r.answered(c, 0)
	r.resume(c)
}

// answered ends a connection's wait after losses, by a number of timeouts.
func (r *Run) answered(c, timeouts int32) {
	k := &r.conns[c]
	k.retrying = false
	s := r.silences[k.first]
	s.Time, s.Timeouts = s.Time+r.now-k.silent, s.Timeouts+timeouts
	r.silences[k.first] = s
}

// unwaste ends the traffic of a connection into a broken path, and reports whether it had data left to send.
func (r *Run) unwaste(c int32) bool {
	k := &r.conns[c]
	left := k.unsent > 0 || k.vain >= 0
	if k.vain >= 0 {
		r.net.Stop(r.now, k.vain)
	}
	k.vain, k.unsent = -1, 0
	return left
}

// converged resumes a connection whose path broke and which has another path. Its remaining packets then show the
// receiver the gap, so it returns to the packet at which the path broke. A connection that had sent all waits for
// its timeout.
func (r *Run) converged(c int32) {
	if r.unwaste(c) {
		r.revive(c)
	}
}

// retry retransmits a connection's packets once its time-out is over, or gives up.
func (r *Run) retry(c, turn int32) {
	k := &r.conns[c]
	if !k.retrying || turn != k.turn {
		return
	}
	r.unwaste(c)
	r.answered(c, 1)
	if k.tries++; r.broken(c) && int(k.tries) > r.Setup.Host.RC.Retries {
		k.lost = true
		r.lost = append(r.lost, explain.Lost{Conn: c, At: r.now, Why: retriesExceeded})
		return
	}
	r.resume(c)
}

// strand records as lost the connections that wait for a path without ever giving up.
func (r *Run) strand() {
	for c := range r.conns {
		if k := &r.conns[c]; k.first >= 0 && !k.lost && r.broken(int32(c)) {
			k.lost = true
			r.lost = append(r.lost, explain.Lost{Conn: int32(c), At: max(r.since(), r.messages[k.first].Posted),
				Why: "no path is left, and its transport waits until one returns"})
		}
	}
	slices.SortStableFunc(r.lost, func(a, b explain.Lost) int { return cmp.Compare(a.At, b.At) })
}
