package explain

import (
	"slices"
	"sort"

	"railyard/internal/topo"
	"railyard/unit"
)

// sharing answers what a message had to share: who else sent over its NIC, into its
// receiver, and over the links of its path while it was under way. That is what max-min
// fair sharing of the same load costs at best, whatever paces the senders.
type sharing struct {
	r     *reading
	began []unit.Time // by message: when its queue pair had nothing older to send
	prev  []int32     // by message: the one before it on its queue pair, -1 for none
	byQP  [][]int32   // messages in order

	bySender, byReceiver [][]int32    // queue pairs, by NIC
	path                 []pathOfQP   // by queue pair
	single               []bool       // by link: a NIC's only one
	carried              []users      // by port between switches, or of a NIC with several
	routes               []routeUsers // pairs of switches
	routeOf              map[[2]int32]int32
	sets                 []portSet
	setOf                map[string]int32
	latency              map[[2]int32]pathCost
}

// users are the queue pairs that a port carries.
type users struct {
	qps    []int32
	shares []float64 // how much of each one's bytes; nil: all
}

// pathOfQP is what a queue pair's packets cross.
type pathOfQP struct {
	ports  []int32 // that hashing, or what it waited at, put it on
	shares []float64
	route  int32
}

// routeUsers are the queue pairs between two switches, and the sets of ports that are
// equally near, hop by hop.
type routeUsers struct {
	qps  []int32
	sets []int32
}

// portSet is ports that load balancing may choose among.
type portSet struct {
	rate   unit.Rate
	ports  []int32
	port   int32   // one of them
	routes []int32 // that use it
}

type pathCost struct {
	rate    unit.Rate
	latency unit.Time
}

func (r *reading) newSharing() *sharing {
	n, qps := len(r.seen.Messages), len(r.seen.Conns)
	nics := len(r.graph.NICs)
	s := &sharing{r: r, began: make([]unit.Time, n), prev: make([]int32, n), byQP: make([][]int32, qps),
		bySender: make([][]int32, nics), byReceiver: make([][]int32, nics), path: make([]pathOfQP, qps),
		carried: make([]users, len(r.seen.Ports)), single: make([]bool, len(r.graph.Links)),
		routeOf: map[[2]int32]int32{}, setOf: map[string]int32{}, latency: map[[2]int32]pathCost{}}
	for m := range r.seen.Messages {
		msg := &r.seen.Messages[m]
		s.began[m], s.prev[m] = msg.Posted, -1
		if l := s.byQP[msg.Conn]; len(l) > 0 {
			s.prev[m] = l[len(l)-1]
			s.began[m] = max(msg.Posted, s.done(s.prev[m]))
		}
		s.byQP[msg.Conn] = append(s.byQP[msg.Conn], int32(m))
	}
	for _, nic := range r.graph.NICs {
		if len(nic.Links) == 1 {
			s.single[nic.Links[0]] = true
		}
	}
	for c := range int32(qps) {
		src, dst := r.seen.peers(c)
		s.bySender[src], s.byReceiver[dst] = append(s.bySender[src], c), append(s.byReceiver[dst], c)
		s.path[c].route = s.enroute(c, dst)
		if s.r.seen.Rules.Hashed {
			s.hashed(c)
		}
	}
	if !s.r.seen.Rules.Hashed {
		s.waited()
	}
	return s
}

// only reports that a port is at either end of a NIC's only cable, which counts with the
// NIC.
func (s *sharing) only(port int32) bool { return s.single[s.r.seen.Ports[port].Link] }

// hashed enters a queue pair at the ports on which hashing puts it.
func (s *sharing) hashed(c int32) {
	p := &s.path[c]
	for _, port := range s.r.seen.Ways.Path(c) {
		if !s.only(port) {
			p.ports = append(p.ports, port)
			s.carried[port].qps = append(s.carried[port].qps, c)
		}
	}
}

// waited enters queue pairs that choose their paths anew at the ports where their packets
// queued, with the share of their bytes that did.
func (s *sharing) waited() {
	s.r.eachWait(func(w Wait) {
		if s.only(w.Port) {
			return
		}
		bytes := unit.Bytes(0)
		for _, m := range s.byQP[w.Conn] {
			bytes += s.r.wireBytes(s.r.seen.Messages[m].Bytes)
		}
		queued := 16 * unit.Bytes(w.Samples) * s.r.wireBytes(s.r.seen.Rules.MTU)
		share := min(1, float64(queued)/float64(bytes))
		p, u := &s.path[w.Conn], &s.carried[w.Port]
		p.ports, p.shares = append(p.ports, w.Port), append(p.shares, share)
		u.qps, u.shares = append(u.qps, w.Conn), append(u.shares, share)
	})
}

// enroute enters a queue pair at the way between its first and its last switch.
func (s *sharing) enroute(c, dst int32) int32 {
	key := [2]int32{s.r.seen.Ports[s.r.seen.Ports[s.r.seen.Conns[c].Port].Peer].Node,
		int32(s.r.seen.Routes.Locator[dst])}
	at, ok := s.routeOf[key]
	if !ok {
		at = int32(len(s.routes))
		s.routeOf[key] = at
		var sets []int32
		for _, ports := range s.r.seen.Ways.Choices(c) {
			if s.r.peer(ports[0]).Role != topo.Host {
				sets = append(sets, s.set(ports, at))
			}
		}
		s.routes = append(s.routes, routeUsers{sets: sets})
	}
	s.routes[at].qps = append(s.routes[at].qps, c)
	return at
}

// set numbers a set of ports that a route uses.
func (s *sharing) set(ports []int32, user int32) int32 {
	key := make([]byte, 0, 4*len(ports))
	rate := unit.Rate(0)
	for _, p := range ports {
		key = append(key, byte(p), byte(p>>8), byte(p>>16), byte(p>>24))
		rate += s.r.carries(s.r.rate(p))
	}
	at, ok := s.setOf[string(key)]
	if !ok {
		at = int32(len(s.sets))
		s.setOf[string(key)] = at
		s.sets = append(s.sets, portSet{rate: rate, ports: slices.Clone(ports), port: ports[0]})
	}
	s.sets[at].routes = append(s.sets[at].routes, user)
	return at
}

// done is when a message had arrived, or now.
func (s *sharing) done(m int32) unit.Time {
	if d := s.r.seen.Messages[m].Done; d > 0 {
		return d
	}
	return s.r.seen.At
}

// cost is a path's slowest rate and the latency beyond it.
func (s *sharing) cost(conn int32) pathCost {
	src, dst := s.r.seen.peers(conn)
	key := [2]int32{src, dst}
	c, ok := s.latency[key]
	if !ok {
		c.rate, c.latency = s.r.pathOf(int(src), int(dst))
		c.latency += 2 * s.r.seen.Rules.NICLatency
		s.latency[key] = c
	}
	return c
}

// older returns the message of the same queue pair that a message waited for, -1 when
// it could be sent at once.
func (s *sharing) older(m int32) int32 {
	p := s.prev[m]
	if p >= 0 && s.done(p)-s.cost(s.r.seen.Messages[m].Conn).latency > s.r.seen.Messages[m].Posted {
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

// add counts what a queue pair sent in a message's window, with the share of it that
// counts. Fair sharing gives none more than the message's own, but older messages of that
// one go first.
func (x *cargo) add(one cargo, share float64, w *window, mine bool) {
	if one.real == 0 {
		return
	}
	part := func(b unit.Bytes, of float64) unit.Bytes { return unit.Bytes(float64(b) * of) }
	x.real, x.again = x.real+part(one.real, share), x.again+part(one.again, share)
	if one.real > w.wire && !mine {
		share *= float64(w.wire) / float64(one.real)
	}
	x.all, x.same = x.all+part(one.real, share), x.same+part(one.same, share)
	x.qps++
}

// sent sums up what queue pairs sent in a message's window.
func (s *sharing) sent(sum *cargo, qps []int32, shares []float64, w *window) {
	for i, c := range qps {
		share := 1.0
		if shares != nil {
			share = shares[i]
		}
		sum.add(s.sentBy(c, w), share, w, c == s.r.seen.Messages[w.message].Conn)
	}
}

// sentBy is what one queue pair sent in a window, each message at a steady pace.
func (s *sharing) sentBy(c int32, w *window) (sum cargo) {
	list := s.byQP[c]
	first := sort.Search(len(list), func(i int) bool { return s.done(list[i]) > w.from })
	for _, m := range list[first:] {
		if s.began[m] >= w.to || m >= w.message && c == s.r.seen.Messages[w.message].Conn {
			break
		}
		from, to := s.began[m], s.done(m)
		share := float64(min(to, w.to)-max(from, w.from)) / float64(max(to-from, 1))
		b := unit.Bytes(float64(s.r.wireBytes(s.r.seen.Messages[m].Bytes)) * share)
		sum.real += b
		sum.again += unit.Bytes(float64(s.resent(m)) * share)
		if op := s.r.seen.Messages[m].Op; op != w.op && s.r.dag.Ops[op].Coll == w.coll {
			sum.same += b
		}
	}
	return sum
}

// resent is what of a message's packets crossed the wire once more.
func (s *sharing) resent(m int32) unit.Bytes {
	return unit.Bytes(s.r.trouble(m).Again) * s.r.wireBytes(s.r.seen.Rules.MTU)
}

// demand is what a link took for a message and what else crossed it in its window.
type demand struct {
	fair  unit.Time // as much as fair sharing allows
	real  unit.Time // all of it
	again unit.Time // sent once more, beside that
	port  int32
	flows int

	slow    unit.Time // beyond fair: links had less than their best rate
	slowest int32     // of these links
}

// demand sums up what a link took in a message's window, with so much of its own.
func (s *sharing) demand(others *cargo, share float64, rate unit.Rate, port int32, w *window) demand {
	own, again := unit.Bytes(float64(w.wire)*share), unit.Bytes(float64(s.resent(w.message))*share)
	return demand{fair: unit.Serialize(own+others.all, rate), real: unit.Serialize(own+others.real, rate),
		again: unit.Serialize(again+others.again, rate), port: port, flows: others.qps + 1}
}

// atNIC is the demand at a NIC, for what it sends or receives.
func (s *sharing) atNIC(qps []int32, rate unit.Rate, port int32, w *window) (demand, cargo) {
	var others cargo
	s.sent(&others, qps, nil, w)
	return s.demand(&others, 1, rate, port, w), others
}

// pcie is the demand at the PCIe of sender and receiver, where that is slower than the
// wire; it carries payload alone.
func (s *sharing) pcie(out, in *cargo, w *window) demand {
	src, dst := s.r.seen.peers(s.r.seen.Messages[w.message].Conn)
	busier, nic := out, src
	if in.real > out.real && s.r.pcieOf(dst) > 0 || s.r.pcieOf(src) == 0 {
		busier, nic = in, dst
	}
	if s.r.pcieOf(nic) == 0 {
		return demand{port: -1}
	}
	return s.demand(busier, 1, s.pcieRate(nic), s.r.nicPort(s.r.seen.Messages[w.message].Conn), w)
}

// pcieOf is the rate of the PCIe behind a NIC, 0 where it does not count.
func (r *reading) pcieOf(nic int32) unit.Rate {
	rate := r.seen.Rules.PCIe
	if all := r.seen.Rules.Buses; all != nil && all[nic] > 0 && (rate == 0 || all[nic] < rate) {
		rate = all[nic]
	}
	return rate
}

// pcieRate is the wire's rate at which the payload of a NIC's PCIe goes.
func (s *sharing) pcieRate(nic int32) unit.Rate {
	mtu := s.r.seen.Rules.MTU
	return unit.Rate(float64(s.r.pcieOf(nic)) * float64(s.r.wireBytes(mtu)) / float64(mtu))
}

// between is the demand between switches: of the sets of ports that load balancing may
// choose among, and of the ports that it chose, each the longest.
func (s *sharing) between(conn int32, w *window) (balanced, chosen demand) {
	balanced.port, chosen.port = -1, -1
	path := &s.path[conn]
	for _, at := range s.routes[path.route].sets {
		var others cargo
		set := &s.sets[at]
		for _, r := range set.routes {
			s.sent(&others, s.routes[r].qps, nil, w)
		}
		d := s.slowed(s.demand(&others, 1, set.rate, set.port, w), set.ports, true, w)
		if d.real+d.slow > balanced.real+balanced.slow {
			balanced = d
		}
	}
	for i, port := range path.ports {
		var others cargo
		u, share := &s.carried[port], 1.0
		if u.shares != nil {
			share = path.shares[i]
		}
		s.sent(&others, u.qps, u.shares, w)
		d := s.slowed(s.demand(&others, share, s.r.rate(port), port, w), []int32{port}, false, w)
		if d.real+d.slow > chosen.real+chosen.slow {
			chosen = d
		}
	}
	return balanced, chosen
}
