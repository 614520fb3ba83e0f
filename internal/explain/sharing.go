package explain

import (
	"slices"
	"sort"

	"railyard/internal/cause"
	"railyard/unit"
)

// sharing computes the capacity that a message had to share: the other senders on its NIC, into its receiver, and on
// the links of its path while it was in flight. That is the minimum cost under max-min fair sharing of the same load,
// under any pacing.
type sharing struct {
	r     *reading
	began []unit.Time // by message: when its queue pair had nothing older to send
	prev  []int32     // by message: the one before it on its queue pair, -1 for none
	byQP  [][]int32   // messages in order

	bySender, byReceiver [][]int32  // queue pairs, by NIC
	path                 []pathOfQP // by queue pair
	single               []bool     // by link: a NIC's only one
	carried              []users    // by port between switches, or of a NIC with several
	paths                map[[2]int32]*pathCost
}

// users are the queue pairs that a port carries.
type users struct {
	qps    []int32
	shares []float64 // share of each one's bytes; nil: all
}

// pathOfQP is the path of a queue pair's packets.
type pathOfQP struct {
	ports  []int32 // ports chosen by hashing, or where its packets were queued
	shares []float64
}

// pathCost is a path's links, with those inside a scheduled fabric separate, and by payload a packet's time over them.
type pathCost struct {
	links, inside []stage
	packets       []packetCost
}

// packetCost is the latency of a packet, what of it is left without delays, what more it is because switches receive
// the whole packet first, and what it is where links between switches are as fast as in a run without
// oversubscription.
type packetCost struct {
	payload                   unit.Bytes
	whole, kept, stored, fast unit.Time
}

func (r *reading) newSharing() *sharing {
	n, qps := len(r.seen.Messages), len(r.seen.Conns)
	nics := len(r.graph.NICs)
	s := &sharing{r: r, began: make([]unit.Time, n), prev: make([]int32, n), byQP: make([][]int32, qps),
		bySender: make([][]int32, nics), byReceiver: make([][]int32, nics), path: make([]pathOfQP, qps),
		carried: make([]users, len(r.seen.Ports)), single: make([]bool, len(r.graph.Links)),
		paths: map[[2]int32]*pathCost{}}
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

// hashed enters a queue pair at the ports on which hashing puts it. Where its NIC spreads packets over several ports,
// each port's path has its share of them.
func (s *sharing) hashed(c int32) {
	if !s.r.seen.Rules.SpreadsNIC {
		for _, port := range s.r.seen.Ways.Path(c) {
			if !s.only(port) {
				s.path[c].ports = append(s.path[c].ports, port)
				s.carried[port].qps = append(s.carried[port].qps, c)
			}
		}
		return
	}
	leaves := s.r.seen.Ways.Leaves(c)
	for _, leaf := range leaves {
		if len(leaves) == 1 {
			s.enter(c, leaf, 1)
		}
		for _, port := range s.r.seen.Ways.PathFrom(c, leaf) {
			s.enter(c, port, 1/float64(len(leaves)))
		}
	}
}

// enter adds a share of a queue pair's packets to a port.
func (s *sharing) enter(c, port int32, share float64) {
	p, u := &s.path[c], &s.carried[port]
	switch at := slices.Index(p.ports, port); {
	case s.only(port):
	case at >= 0:
		p.shares[at] += share
		u.shares[len(u.shares)-1] += share
	default:
		p.ports, p.shares = append(p.ports, port), append(p.shares, share)
		u.qps, u.shares = append(u.qps, c), append(u.shares, share)
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
		s.enter(w.Conn, w.Port, min(1, float64(queued)/float64(bytes)))
	})
}

// done returns when a message had arrived, or now.
func (s *sharing) done(m int32) unit.Time {
	if d := s.r.seen.Messages[m].Done; d > 0 {
		return d
	}
	return s.r.seen.At
}

// cost returns the time over a connection's path of packets with a payload, or of full ones if that is more.
func (s *sharing) cost(conn int32, payload unit.Bytes) packetCost {
	src, dst := s.r.seen.peers(conn)
	path := s.paths[[2]int32{src, dst}]
	if path == nil {
		path = s.r.pathOf(int(src), int(dst))
		s.paths[[2]int32{src, dst}] = path
	}
	payload = min(payload, s.r.seen.Rules.MTU)
	for _, c := range path.packets {
		if c.payload == payload {
			return c
		}
	}
	cut := s.r.seen.Rules.CutThrough
	c := packetCost{payload: payload, whole: s.r.latency(path, payload, true, cut),
		kept: s.r.latency(path, payload, false, true)}
	c.fast = s.r.latency(path.fast(), payload, true, cut)
	c.stored = c.whole - s.r.latency(path, payload, true, true)
	path.packets = append(path.packets, c)
	return c
}

// fast is a path whose links between switches are as fast as cause.FastFabric makes them.
func (p *pathCost) fast() *pathCost {
	links := slices.Clone(p.links)
	for i := 1; i < len(links)-1; i++ {
		links[i].rate *= cause.FabricTimes
	}
	return &pathCost{links: links, inside: p.inside}
}

// latency returns the time of a message's first packet beyond its time on the slowest link.
func (s *sharing) latency(x int32) unit.Time {
	msg := &s.r.seen.Messages[x]
	return s.cost(msg.Conn, msg.Bytes).whole
}

// apart returns by how much the latencies of messages to each NIC differ.
func (s *sharing) apart() []unit.Time {
	type span struct{ least, most unit.Time }
	spans, apart := map[int32]span{}, make([]unit.Time, len(s.r.graph.NICs))
	for x := range s.r.seen.Messages {
		to, latency := s.r.seen.Conns[s.r.seen.Messages[x].Conn].To, s.latency(int32(x))
		of, known := spans[to]
		if !known {
			of.least = latency
		}
		of = span{min(of.least, latency), max(of.most, latency)}
		spans[to], apart[to] = of, of.most-of.least
	}
	return apart
}

// turn returns when a message's queue pair has sent the last byte of older messages, or the message is posted.
func (s *sharing) turn(m int32) unit.Time {
	at := s.r.seen.Messages[m].Posted
	if p := s.prev[m]; p >= 0 {
		at = max(at, s.done(p)-s.latency(p))
	}
	return at
}

// older returns the message of the same queue pair that a message waited for, -1 if it could be sent immediately.
func (s *sharing) older(m int32) int32 {
	p := s.prev[m]
	if p >= 0 && s.done(p)-s.latency(p) > s.r.seen.Messages[m].Posted {
		return p
	}
	return -1
}

// window is the period in which a message is in flight.
type window struct {
	from, to unit.Time
}

// sent reports whether a queue pair sent in a window; of the message's own, what came before it.
func (s *sharing) sent(c int32, w *window) bool {
	list := s.byQP[c]
	first := sort.Search(len(list), func(i int) bool { return s.done(list[i]) > w.from })
	return first < len(list) && s.began[list[first]] < w.to
}

// resent returns what of a message's packets crossed the wire once more.
func (s *sharing) resent(m int32) unit.Bytes {
	return unit.Bytes(s.r.trouble(m).Again) * s.r.wireBytes(s.r.seen.Rules.MTU)
}

// pcieOf returns the rate of the PCIe link of a NIC, 0 if it does not limit.
func (r *reading) pcieOf(nic int32) unit.Rate {
	rate := r.seen.Rules.PCIe
	if all := r.seen.Rules.Buses; all != nil && all[nic] > 0 && (rate == 0 || all[nic] < rate) {
		rate = all[nic]
	}
	return rate
}
