package sim

import (
	"sort"

	"railyard/unit"
)

// sharing answers what a message had to share: who else sent over its NIC, into its
// receiver, and over the links of its path while it was under way. That is what max-min
// fair sharing of the same load costs at best, whatever paces the senders.
type sharing struct {
	*Run
	began []unit.Time // by message: when its queue pair had nothing older to send
	prev  []int32     // by message: the one before it on its queue pair, -1 for none
	byQP  [][]int32   // messages in order

	bySender, byReceiver [][]int32 // queue pairs, by NIC
	links                []resource
	linkOf               map[string]int32 // by ports
	balanced             map[[2]int32][]int32
	path                 []pathOfQP // by queue pair, once asked for
	latency              map[[2]int32]pathCost
}

// resource is a link, or several that load balancing may choose among.
type resource struct {
	rate unit.Rate
	port int32 // one of them
	qps  []int32
}

// pathOfQP is what a queue pair's packets cross.
type pathOfQP struct {
	hashed   []int32 // links by number, one port each
	balanced []int32 // all that are equally near
}

type pathCost struct {
	rate    unit.Rate
	latency unit.Time
}

func (r *Run) newSharing() *sharing {
	n := len(r.Hosts.Messages)
	s := &sharing{Run: r, began: make([]unit.Time, n), prev: make([]int32, n), byQP: make([][]int32, r.Hosts.Conns()),
		bySender: make([][]int32, len(r.Graph.NICs)), byReceiver: make([][]int32, len(r.Graph.NICs)),
		linkOf: map[string]int32{}, balanced: map[[2]int32][]int32{}, path: make([]pathOfQP, r.Hosts.Conns()), latency: map[[2]int32]pathCost{}}
	for m := range r.Hosts.Messages {
		msg := &r.Hosts.Messages[m]
		s.began[m], s.prev[m] = msg.Posted, -1
		if l := s.byQP[msg.Conn]; len(l) > 0 {
			s.prev[m] = l[len(l)-1]
			s.began[m] = max(msg.Posted, s.done(s.prev[m]))
		}
		s.byQP[msg.Conn] = append(s.byQP[msg.Conn], int32(m))
	}
	for c := range s.byQP {
		src, dst := r.Hosts.Peers(int32(c))
		s.bySender[src], s.byReceiver[dst] = append(s.bySender[src], int32(c)), append(s.byReceiver[dst], int32(c))
		s.path[c] = s.follow(int32(c), dst)
	}
	return s
}

// done is when a message had arrived, or now.
func (s *sharing) done(m int32) unit.Time {
	if d := s.Hosts.Messages[m].Done; d > 0 {
		return d
	}
	return s.Net.Q.Now()
}

// follow finds the links that a queue pair uses beside its NICs, and enters it there.
func (s *sharing) follow(c, dst int32) (p pathOfQP) {
	src, _ := s.Hosts.Peers(c)
	from, to := s.Graph.NICs[src], s.Graph.NICs[dst]
	sender, host := int32(s.Graph.Hosts[from.Host]), int32(s.Graph.Hosts[to.Host])
	for _, ports := range s.Hosts.Path(c, false) {
		// A NIC's only cable counts with the NIC.
		here, there := s.Net.Ports[ports[0]].Node, s.Net.Ports[s.Net.Ports[ports[0]].Peer].Node
		if len(ports) == 1 && (here != sender || len(from.Links) > 1) && (there != host || len(to.Links) > 1) {
			p.hashed = append(p.hashed, s.link(ports))
		}
	}
	key := [2]int32{s.Net.Ports[s.Net.Ports[s.Hosts.Port(c)].Peer].Node, int32(s.Paths.Locator[dst])}
	sets, ok := s.balanced[key]
	if !ok {
		for _, ports := range s.Hosts.Path(c, true) {
			if s.Net.Ports[s.Net.Ports[ports[0]].Peer].Node != host {
				sets = append(sets, s.link(ports))
			}
		}
		s.balanced[key] = sets
	}
	p.balanced = sets
	for _, list := range [][]int32{p.hashed, p.balanced} {
		for _, l := range list {
			if q := s.links[l].qps; len(q) == 0 || q[len(q)-1] != c {
				s.links[l].qps = append(q, c)
			}
		}
	}
	return p
}

// link numbers a set of ports.
func (s *sharing) link(ports []int32) int32 {
	key := make([]byte, 0, 4*len(ports))
	rate := unit.Rate(0)
	for _, p := range ports {
		key = append(key, byte(p), byte(p>>8), byte(p>>16), byte(p>>24))
		rate += s.Net.Rate(p)
	}
	l, ok := s.linkOf[string(key)]
	if !ok {
		l = int32(len(s.links))
		s.linkOf[string(key)] = l
		s.links = append(s.links, resource{rate: rate, port: ports[0]})
	}
	return l
}

// cost is a path's slowest rate and the latency beyond it.
func (s *sharing) cost(conn int32) pathCost {
	src, dst := s.Hosts.Peers(conn)
	key := [2]int32{src, dst}
	c, ok := s.latency[key]
	if !ok {
		c.rate, c.latency = s.pathOf(int(src), int(dst))
		c.latency += 2 * s.Host.Latency
		s.latency[key] = c
	}
	return c
}

// older returns the message of the same queue pair that a message waited for, -1 when
// it could be sent at once.
func (s *sharing) older(m int32) int32 {
	p := s.prev[m]
	if p >= 0 && s.done(p)-s.cost(s.Hosts.Messages[m].Conn).latency > s.Hosts.Messages[m].Posted {
		return p
	}
	return -1
}

// window is a message under way: when, whose it is, and how many bytes.
type window struct {
	from, to unit.Time
	message  int32
	op, coll int32
	wire     unit.Bytes
}

// cargo is what queue pairs sent in a window beside a message.
type cargo struct {
	all   unit.Bytes // as much as fair sharing allows; of it:
	same  unit.Bytes // other transfers of the same collective
	real  unit.Bytes // all of it
	again unit.Bytes // sent once more, beside that
	qps   int
}

// sent sums up what queue pairs sent in a message's window. Fair sharing gives none of
// them more than the message's own, but older messages of that one go first.
func (s *sharing) sent(qps []int32, w *window) (sum cargo) {
	mine := s.Hosts.Messages[w.message].Conn
	for _, c := range qps {
		one := s.sentBy(c, w)
		if one.real == 0 {
			continue
		}
		if one.all = one.real; one.all > w.wire && c != mine {
			one.same, one.all = unit.Bytes(float64(one.same)*float64(w.wire)/float64(one.all)), w.wire
		}
		sum.all, sum.same, sum.real, sum.again = sum.all+one.all, sum.same+one.same, sum.real+one.real, sum.again+one.again
		sum.qps++
	}
	return sum
}

// sentBy is what one queue pair sent in a window, each message at a steady pace.
func (s *sharing) sentBy(c int32, w *window) (sum cargo) {
	list := s.byQP[c]
	for i := sort.Search(len(list), func(i int) bool { return s.done(list[i]) > w.from }); i < len(list); i++ {
		m := list[i]
		if s.began[m] >= w.to || m >= w.message && c == s.Hosts.Messages[w.message].Conn {
			break
		}
		from, to := s.began[m], s.done(m)
		share := float64(min(to, w.to)-max(from, w.from)) / float64(max(to-from, 1))
		b := unit.Bytes(float64(s.wireBytes(s.Hosts.Messages[m].Bytes)) * share)
		sum.real += b
		sum.again += unit.Bytes(float64(s.resent(m)) * share)
		if op := s.MessageOp[m]; op != w.op && s.DAG.Ops[op].Coll == w.coll {
			sum.same += b
		}
	}
	return sum
}

// resent is what of a message's packets crossed the wire once more.
func (s *sharing) resent(m int32) unit.Bytes {
	return unit.Bytes(s.troubles.all[m].again) * s.wireBytes(unit.Bytes(s.Host.RC.MTU))
}

// demand is what a link took for a message and what else crossed it in its window.
type demand struct {
	fair  unit.Time // as much as fair sharing allows
	real  unit.Time // all of it
	again unit.Time // sent once more, beside that
	port  int32
	flows int
}

// demandOf sums up a link's.
func (s *sharing) demandOf(qps []int32, rate unit.Rate, port int32, w *window) (d demand, others cargo) {
	others = s.sent(qps, w)
	d = demand{fair: unit.Serialize(w.wire+others.all, rate), real: unit.Serialize(w.wire+others.real, rate),
		again: unit.Serialize(s.resent(w.message)+others.again, rate), port: port, flows: others.qps + 1}
	return d, others
}

// busiest is the demand of the links that took longest.
func (s *sharing) busiest(links []int32, w *window) (top demand) {
	top.port = -1
	for _, l := range links {
		r := &s.links[l]
		if d, _ := s.demandOf(r.qps, r.rate, r.port, w); top.port < 0 || d.real > top.real {
			top = d
		}
	}
	return top
}
