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
	all  unit.Bytes // of it:
	own  unit.Bytes // the message's own transfer, on its other queue pairs
	same unit.Bytes // other transfers of the same collective
	qps  int
}

// sent sums up what queue pairs sent in a message's window. Fair sharing gives none of
// them more than the message's own, but older messages of that one go first.
func (s *sharing) sent(qps []int32, w *window) (sum cargo) {
	mine := s.Hosts.Messages[w.message].Conn
	for _, c := range qps {
		one := s.sentBy(c, w)
		if one.all == 0 {
			continue
		}
		if one.all > w.wire && c != mine {
			share := float64(w.wire) / float64(one.all)
			one.own, one.same, one.all = unit.Bytes(float64(one.own)*share), unit.Bytes(float64(one.same)*share), w.wire
		}
		sum.all, sum.own, sum.same = sum.all+one.all, sum.own+one.own, sum.same+one.same
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
		over := min(to, w.to) - max(from, w.from)
		b := unit.Bytes(float64(s.wireBytes(s.Hosts.Messages[m].Bytes)) * float64(over) / float64(max(to-from, 1)))
		sum.all += b
		switch op := s.MessageOp[m]; {
		case op == w.op:
			sum.own += b
		case s.DAG.Ops[op].Coll == w.coll:
			sum.same += b
		}
	}
	return sum
}

// busiest is the longest of what links take for the message and what else crosses them
// in its window, a port there and how many flows that were.
func (s *sharing) busiest(links []int32, w *window) (longest unit.Time, port int32, flows int) {
	port = -1
	for _, l := range links {
		r := &s.links[l]
		others := s.sent(r.qps, w)
		if d := unit.Serialize(w.wire+others.all, r.rate); d > longest {
			longest, port, flows = d, r.port, others.qps+1
		}
	}
	return longest, port, flows
}
