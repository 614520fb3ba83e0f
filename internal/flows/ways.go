package flows

import (
	"slices"

	"railyard/internal/fluid"
	"railyard/internal/scenario"
	"railyard/internal/topo"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// links are the links of the fluid model. First are the ports, by number, then PCIe. Sets of ports over which
// packets are sprayed, and connections' own limits, follow in order of creation.
type links struct {
	buses [][2][]int32 // by NIC: out of memory, into memory
	sets  fluid.Sets
	ports map[int32][]int32 // by set: its ports
	in    map[int32][]int32 // by port: the sets that contain it
	even  bool              // packets take the ports of a set in turn, independent of their load
	none  int32             // carries nothing
	voids map[int32]int32   // by NIC: traffic into its broken links
}

// bytesPer is a rate in bytes per picosecond.
func bytesPer(rate unit.Rate) float64 { return float64(rate) / 8e12 }

func (l *links) init(r *Run) {
	l.sets, l.ports, l.in = map[string]int32{}, map[int32][]int32{}, map[int32][]int32{}
	l.even = r.carried() == nil && r.Setup.Scheduled == nil && !r.Setup.LB.Fixed() && r.Setup.LB.NIC == nil &&
		(r.Plan.LB.Name == "spray" || r.Plan.LB.Name == "spray-random")
	rates := make([]float64, len(r.Net.Ports))
	for p := range rates {
		rates[p] = r.portRate(int32(p))
	}
	r.net = fluid.New(rates)
	r.net.Booked, r.net.Own = r.booked, 2
	r.net.Yield, r.net.Rated = r.yield, r.rate
	l.none = r.net.Add(0)
	l.buses = make([][2][]int32, len(r.Graph.NICs))
	bus := func(rate unit.Rate, nics []int32) {
		rate = unit.Rate(float64(rate) * r.overhead()) // a buffer that carries payload alone
		for way := range 2 {
			at := r.net.Add(bytesPer(rate))
			for _, nic := range nics {
				l.buses[nic][way] = append(l.buses[nic][way], at)
			}
		}
	}
	if rate := r.rules.PCIe; rate > 0 {
		for nic := range r.Graph.NICs {
			bus(rate, []int32{int32(nic)})
		}
	}
	for _, b := range r.Setup.Buses {
		bus(b.Rate, b.NICs)
	}
}

// void returns the link for the traffic of a connection's NIC into its own broken links.
func (l *links) void(r *Run, c, nic int32) int32 {
	at, ok := l.voids[nic]
	if !ok {
		at = r.net.Add(bytesPer(r.Hosts.Line(c)))
		if l.voids == nil {
			l.voids = map[int32]int32{}
		}
		l.voids[nic] = at
	}
	return at
}

// overhead returns how many bytes a long message has on the wire for each of its payload.
func (r *Run) overhead() float64 {
	long := 1024 * r.rules.MTU
	return float64(r.rules.Wire(long)) / float64(long)
}

// carried returns the protocol of the default service, nil for RC.
func (r *Run) carried() transport.Maker {
	return r.Setup.Host.Service(scenario.DefaultService).Protocol
}

// portRate returns the current rate of a port.
func (r *Run) portRate(port int32) float64 {
	l := r.Net.Link(port)
	if !l.Up {
		return 0
	}
	return bytesPer(l.Rate)
}

// setRate returns the current total rate of ports.
func (r *Run) setRate(ports []int32) (sum float64) {
	least, live := 0.0, 0
	for _, p := range ports {
		rate := r.portRate(p)
		if sum += rate; rate > 0 && (live == 0 || rate < least) {
			least = rate
		}
		if rate > 0 {
			live++
		}
	}
	if r.links.even {
		return least * float64(live)
	}
	return sum
}

// set returns the link of ports over which packets are spread; for one port, the port itself.
func (r *Run) set(ports []int32) int32 {
	return r.links.sets.Of(ports, func(sorted []int32) int32 {
		at := r.net.Add(r.setRate(sorted))
		r.links.ports[at] = sorted
		for _, p := range sorted {
			r.links.in[p] = append(r.links.in[p], at)
		}
		return at
	})
}

// way computes the links on the path of a connection's messages, and reports whether they have changed.
func (r *Run) way(c int32) (moved bool) {
	k := &r.conns[c]
	src, dst := r.Hosts.Peers(c)
	leaves := r.Hosts.Leaves(c)
	var uses []fluid.Use
	var key []int32
	own := func() { // the first two are the sender's own: see fluid.Net.Own
		if k.pace.cap >= 0 {
			uses = slices.Insert(uses, 1, fluid.Use{Link: k.pace.cap, Share: 1})
		}
	}
	path := []int32{leaves[0]} // one path, to compute the latency
	blocked := false
	if r.rules.Hashed {
		uses = append(uses, fluid.Use{Link: r.set(leaves), Share: 1})
		for i, leaf := range leaves {
			ports := r.Hosts.PathFrom(c, leaf)
			if i == 0 {
				path = append(path, ports...)
			}
			blocked = blocked || !r.ends(leaf, ports, dst)
			for _, p := range ports {
				uses = add(uses, fluid.Use{Link: p, Share: 1 / float64(len(leaves))})
			}
			key = append(append(key, leaf), ports...)
		}
	} else {
		leaves, path, uses, blocked = r.spread(c, leaves, dst)
		for _, u := range uses {
			key = append(key, u.Link)
		}
		key = append(key, leaves...)
	}
	if moved = !slices.Equal(key, k.key); !moved {
		return false
	}
	own()
	for way, nic := range [2]int32{src, dst} {
		for _, bus := range r.links.buses[nic][way] {
			uses = append(uses, fluid.Use{Link: bus, Share: 1})
		}
	}
	if most, _, rtt := r.Hosts.Bound(c); most > 0 && rtt > 0 {
		rate := float64(most) / float64(rtt) * r.overhead()
		if rate < 0.98*bytesPer(r.Hosts.Line(c)) {
			uses = append(uses, fluid.Use{Link: r.net.Add(rate), Share: 1})
		}
	}
	k.uses, k.key, k.blocked = uses, key, blocked
	k.latency = r.over(path, r.rules.Wire(r.rules.MTU)) + r.written(dst, path)
	return true
}

// add appends a use, or adds its share to an existing use of the same link.
func add(uses []fluid.Use, u fluid.Use) []fluid.Use {
	for i := range uses {
		if uses[i].Link == u.Link {
			uses[i].Share += u.Share
			return uses
		}
	}
	return append(uses, u)
}

// ends reports whether a path leads to a NIC.
func (r *Run) ends(leaf int32, ports []int32, dst int32) bool {
	last := leaf
	if len(ports) > 0 {
		last = ports[len(ports)-1]
	}
	return slices.Contains(r.Hosts.Ports(dst), r.Net.Ports[last].Peer)
}

// spread finds the sets of ports over which a connection's packets are spread, hop by hop, by all ports of its NIC
// that lead to the receiver.
func (r *Run) spread(c int32, leaves []int32, dst int32) (used, path []int32, uses []fluid.Use, blocked bool) {
	var hops [][]int32
	for _, leaf := range leaves {
		if !r.Net.Link(leaf).Up && len(leaves) > 1 {
			continue
		}
		choices := r.Hosts.ChoicesFrom(c, leaf)
		one := make([]int32, len(choices))
		for i, ports := range choices {
			one[i] = ports[0]
		}
		if !r.ends(leaf, one, dst) {
			continue
		}
		if used = append(used, leaf); path == nil {
			path = append([]int32{leaf}, one...)
		}
		for i, ports := range choices {
			if i == len(hops) {
				hops = append(hops, nil)
			}
			hops[i] = append(hops[i], ports...)
		}
	}
	if len(used) == 0 {
		return leaves, leaves[:1], []fluid.Use{{Link: r.links.none, Share: 1}}, true
	}
	uses = append(uses, fluid.Use{Link: r.set(used), Share: 1})
	for _, ports := range hops {
		uses = append(uses, fluid.Use{Link: r.set(ports), Share: 1})
	}
	return used, path, uses, false
}

// over returns how long bytes of one frame on the wire take over ports, beyond their time on the slowest.
func (r *Run) over(path []int32, wire unit.Bytes) unit.Time {
	slowest := r.Net.Rate(path[0])
	for _, p := range path {
		slowest = min(slowest, r.Net.Rate(p))
	}
	return r.Net.Alone(path, int(wire)-roce.PreambleIFG) - unit.Serialize(wire, slowest)
}

// written returns how much later a full packet is in memory if PCIe is slower than the slowest port. The last
// packet of a message is then not queued at that port but written at PCIe's rate.
func (r *Run) written(dst int32, path []int32) (more unit.Time) {
	full := bytesPer(r.Net.Rate(path[0]))
	for _, p := range path {
		full = min(full, bytesPer(r.Net.Rate(p)))
	}
	for _, bus := range r.links.buses[dst][1] {
		if rate := r.net.Rate(bus); rate < full {
			more = max(more, unit.Time(float64(r.rules.Wire(r.rules.MTU))/full))
		}
	}
	return more
}

// beyond is over for a connection's frame of the given size.
func (r *Run) beyond(c int32, wire unit.Bytes) unit.Time {
	path := r.Hosts.Leaves(c)[:1:1]
	if r.rules.Hashed {
		path = append(path, r.Hosts.PathFrom(c, path[0])...)
	} else {
		for _, ports := range r.Hosts.ChoicesFrom(c, path[0]) {
			path = append(path, ports[0])
		}
	}
	return r.over(path, wire)
}

// broken reports whether none of a connection's packets arrive at present, because there is no path to the receiver
// or it is broken.
func (r *Run) broken(c int32) bool {
	k := &r.conns[c]
	if k.blocked {
		return true
	}
	for _, u := range k.uses {
		if r.net.Rate(u.Link) == 0 {
			return true
		}
	}
	return false
}

// ofSwitch reports whether a link is a switch's port, or several.
func (r *Run) ofSwitch(link int32) bool {
	if int(link) >= len(r.Net.Ports) {
		ports := r.links.ports[link]
		return ports != nil && r.ofSwitch(ports[0])
	}
	return r.Graph.Nodes[r.Net.Ports[link].Node].Role != topo.Host
}
