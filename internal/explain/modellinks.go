package explain

import (
	"slices"

	"railyard/internal/cause"
	"railyard/internal/fluid"
	"railyard/internal/topo"
	"railyard/unit"
)

// capped limits the rate of a connection by its NIC and by its largest window per round trip. A connection that
// hashing binds to one port of its NIC has one port's rate at the other end as well.
func (m *model) capped(c int32, w *wayOf) {
	r := m.b.r
	k, mtu := &r.seen.Conns[c], r.seen.Rules.MTU
	line := r.nicRate(k.From)
	add := func(rate float64) int32 {
		m.caps = append(m.caps, rate)
		return int32(len(r.seen.Ports) + len(m.sets) + len(m.buses) + len(m.caps) - 1)
	}
	w.one, w.window, w.owned, w.grant, w.cores = -1, -1, -1, -1, -1
	if of := r.plan.Services[k.Service].Carried; of != nil && of.Hosts != nil {
		cores, each := of.Hosts(of.Values, of.Common)
		if w.hosts = each; cores < line {
			w.cores = add(bytesPer(m.onWire(cores)))
		}
	}
	if k.Granted > 0 {
		if m.grants[k.To] < 0 {
			m.grants[k.To] = add(k.Granted)
			for _, p := range m.b.share.nicPorts(k.To, false) {
				m.in[p] = append(m.in[p], m.grants[k.To])
			}
			m.grantors[m.grants[k.To]] = grantor{k.To, w.ingressAll}
		}
		w.grant = m.grants[k.To]
	}
	if w.egress != w.egressAll {
		w.one = add(bytesPer(r.rate(w.egress)))
	}
	windowed := func(most unit.Bytes) int32 {
		rate := float64(most) / float64(max(k.RTT, 1)) * float64(r.wireBytes(mtu)) / float64(mtu)
		if most > 0 && k.RTT > 0 && rate < 0.98*bytesPer(line) {
			return add(rate)
		}
		return -1
	}
	if w.window = windowed(k.Most); k.Own > 0 {
		w.owned = w.window
		if k.Own != k.Most {
			w.owned = windowed(k.Own)
		}
	}
	m.owned = m.owned || w.owned >= 0
}

// pcie makes the links of PCIe, those of each NIC by direction: out of memory, into memory. They are numbered from 0.
func (m *model) pcie() [][2][]int32 {
	r := m.b.r
	of := make([][2][]int32, len(r.graph.NICs))
	m.memory, m.nicAt = make([]unit.Rate, len(r.graph.NICs)), map[int32]int32{}
	for nic := range m.memory {
		m.memory[nic] = r.nicRate(int32(nic))
	}
	add := func(rate unit.Rate, nics []int32) {
		rate = m.onWire(rate)
		for _, nic := range nics {
			m.memory[nic] = min(m.memory[nic], rate)
			for _, p := range m.b.share.nicPorts(nic, false) {
				m.nicAt[p] = nic
			}
		}
		for way := range 2 {
			for _, nic := range nics {
				of[nic][way] = append(of[nic][way], int32(len(m.buses)))
			}
			m.buses = append(m.buses, rate)
		}
	}
	if rate := r.seen.Rules.PCIe; rate > 0 {
		for nic := range r.graph.NICs {
			add(rate, []int32{int32(nic)})
		}
	}
	for _, b := range r.plan.Buses {
		add(b.Rate, b.NICs)
	}
	return of
}

// onWire is the rate on the wire at which PCIe, which carries payload alone, is full.
func (m *model) onWire(rate unit.Rate) unit.Rate {
	mtu := m.b.r.seen.Rules.MTU
	return unit.Rate(float64(rate) * float64(m.b.r.wireBytes(mtu)) / float64(mtu))
}

// grantor is a NIC that grants credit, and the link of its ports.
type grantor struct{ nic, ingress int32 }

// granted returns what a NIC grants in a replay: a share of what its ports take or, where that is less, PCIe.
func (m *model) granted(g grantor, share float64, at unit.Time, v without) float64 {
	line := m.rate(g.ingress, at, v)
	if bus := m.b.r.pcieOf(g.nic); bus > 0 && !v.has(cause.PCIe) {
		line = min(line, bytesPer(m.onWire(bus)))
	}
	return share * line
}

// links returns how many there are.
func (m *model) links() int { return len(m.b.r.seen.Ports) + len(m.sets) + len(m.buses) + len(m.caps) }

// set returns the link of a set of ports: of one port, the port itself.
func (m *model) set(ports []int32) int32 {
	return m.setOf.Of(ports, func(sorted []int32) int32 {
		at := int32(len(m.b.r.seen.Ports) + len(m.sets))
		m.sets = append(m.sets, sorted)
		for _, p := range sorted {
			m.in[p] = append(m.in[p], at)
		}
		return at
	})
}

// answering finds what of its rate each port from and to a NIC has for data, beside the acknowledgements of transports
// that send many: RC's are few, and what else RC's packets carry goes with its congestion control.
func (m *model) answering() {
	r := m.b.r
	if r.seen.Packets == nil || r.plan.Default().Carried == nil {
		return
	}
	m.data = slices.Repeat([]float64{1}, len(r.seen.Ports))
	sent, got := make([]unit.Bytes, len(r.graph.NICs)), make([]unit.Bytes, len(r.graph.NICs))
	for x := range r.seen.Messages {
		msg := &r.seen.Messages[x]
		bytes := r.wireBytes(msg.Bytes) + m.b.share.resent(int32(x))
		from, to := r.seen.peers(msg.Conn)
		sent[from], got[to] = sent[from]+bytes, got[to]+bytes
	}
	share := func(ports []int32, data unit.Bytes) {
		all, room := unit.Bytes(0), 0.0
		for _, p := range ports {
			all += r.seen.Ports[p].Bytes
			room += float64(bytesPer(r.rate(p)) * float64(r.seen.At))
		}
		for _, p := range ports {
			m.data[p] = 1 - float64(max(0, all-data))/max(1, room)
		}
	}
	for nic := range sent {
		share(m.b.share.nicPorts(int32(nic), true), sent[nic])
		share(m.b.share.nicPorts(int32(nic), false), got[nic])
	}
}

// hashing finds how unevenly switches that hash put the packets of transports that spread them: a set carries no more
// than fills its fullest port. Sets of which fewer than two ports were sound throughout, or that carried nothing, are
// as uneven as the others. A failure elsewhere leaves some ports of a set less: were nothing broken, it is as uneven
// as hashing alone makes it.
func (m *model) hashing() {
	r := m.b.r
	if !r.seen.Rules.Entropy || r.seen.Packets == nil {
		return
	}
	var expected []float64
	if m.whole != nil {
		expected = m.expected()
	}
	for k := range m.uneven {
		m.uneven[k] = slices.Repeat([]float64{1}, len(m.sets))
	}
	var failed []int
	var sum [2]float64
	sound := 0.0
	done := make([]bool, len(m.sets))
	for c := range m.ways {
		for _, s := range slices.Concat(m.ways[c].sets, m.ways[c].full) {
			i := int(s) - len(r.seen.Ports)
			if i < 0 || done[i] {
				continue
			}
			done[i] = true
			even, ports := m.evenness(m.sets[i], func(p int32) float64 { return float64(r.seen.Ports[p].Bytes) })
			if ports < 2 {
				failed = append(failed, i)
				continue
			}
			alone := even
			if m.whole != nil {
				least, _ := m.evenness(m.sets[i], func(p int32) float64 { return expected[p] })
				alone = min(1, even/least)
			}
			m.uneven[0][i], m.uneven[1][i] = even, alone
			sum[0], sum[1], sound = sum[0]+even, sum[1]+alone, sound+1
		}
	}
	if sound == 0 {
		return
	}
	for _, i := range failed {
		m.uneven[0][i], m.uneven[1][i] = sum[0]/sound, sum[1]/sound
	}
}

// expected returns by port the bytes of the run if switches divided them among their ports evenly.
func (m *model) expected() []float64 {
	r := m.b.r
	bytes, before := make([]float64, len(r.seen.Ports)), float64(m.broken)/float64(max(1, r.seen.At))
	share := [2]float64{1 - min(1, before), min(1, before)}
	for x := range r.seen.Messages {
		msg := &r.seen.Messages[x]
		for k, routes := range m.ways[msg.Conn].even {
			for _, hop := range routes {
				for _, u := range hop {
					bytes[u.Link] += share[k] * float64(u.Share) * float64(msg.Bytes)
				}
			}
		}
	}
	return bytes
}

// evenness returns what ports carry of their rates when the fullest is full and bytes divide among them as given,
// and how many these are: those that neither failed nor changed their rate, which says nothing of hashing.
func (m *model) evenness(ports []int32, of func(port int32) float64) (even float64, sound int) {
	sum, rates, longest := 0.0, 0.0, 0.0
	for _, p := range ports {
		if len(m.b.r.lives[int(p/2)]) > 0 {
			continue
		}
		sound++
		bytes, rate := of(p), float64(m.b.r.rate(p))
		sum, rates, longest = sum+bytes, rates+rate, max(longest, bytes/rate)
	}
	if longest == 0 {
		return 1, 0
	}
	return sum / (longest * rates), sound
}

// unevenIn returns what sets carry of their ports' rates in a replay; nil: all.
func (m *model) unevenIn(v without) []float64 {
	if v.has(cause.FailedCapacity) {
		return m.uneven[1]
	}
	return m.uneven[0]
}

// ports reports whether packets reach receivers by one of several ports of a NIC.
func (m *model) ports() bool {
	return slices.ContainsFunc(m.ways, func(w wayOf) bool { return w.ingress != w.ingressAll })
}

// kinds finds the nominal rate of each port: that of most links that join nodes of the same two groups.
func (m *model) kinds() {
	rates := m.b.r.graph.KindRates()
	m.kind = make([]unit.Rate, 0, 2*len(rates))
	for _, rate := range rates {
		m.kind = append(m.kind, rate, rate)
	}
}

// bytesPer is a rate in bytes per picosecond.
func bytesPer(rate unit.Rate) float64 { return float64(rate) / 8e12 }

// boundless makes links between switches so fast that none is full.
const boundless = 1 << 10

// portRate returns what a port carries at a time in a replay. A port whose link routes avoid carries nothing of a
// set; who uses no other is taken for elsewhere.
func (m *model) portRate(port int32, at unit.Time, v without, ofSet bool) unit.Rate {
	r := m.b.r
	rate, up, avoided := r.graph.Links[port/2].Rate, true, false
	for i := range r.lives[int(port/2)] {
		e := &r.lives[int(port/2)][i]
		if e.At <= at {
			rate, up = sends(port, e), e.Up
		}
		if e.Heard && e.At+e.Converge <= at {
			avoided = !e.Up
		}
	}
	fabric := r.peer(port).Role != topo.Host && r.graph.Nodes[r.seen.Ports[port].Node].Role != topo.Host
	switch {
	case fabric && v.has(cause.Oversubscription) && !v.stays:
		return boundless * r.carries(m.kind[port]) // whatever fails or slows down
	case v.has(cause.FailedCapacity):
	case !up && (ofSet || !avoided):
		return 0
	case avoided && ofSet:
		return 0
	}
	if v.has(cause.SlowLink) || rate == 0 {
		rate = m.kind[port]
	}
	if fabric {
		rate = r.carries(rate)
		if v.has(cause.Oversubscription) {
			rate *= cause.FabricTimes
		}
	}
	if m.data != nil {
		rate = unit.Rate(float64(rate) * m.data[port])
	}
	return rate
}

// rate returns what a link carries at a time in a replay, bytes per picosecond.
func (m *model) rate(link int32, now unit.Time, v without) float64 {
	n := int32(len(m.b.r.seen.Ports))
	switch {
	case link < n:
		return bytesPer(m.portRate(link, now, v, false))
	case link < n+int32(len(m.sets)):
		sum := unit.Rate(0)
		for _, p := range m.sets[link-n] {
			sum += m.portRate(p, now, v, true)
		}
		if even := m.unevenIn(v); even != nil && !v.has(cause.Collision) {
			return bytesPer(sum) * even[link-n]
		}
		return bytesPer(sum)
	}
	if at := link - n - int32(len(m.sets)+len(m.buses)); at >= 0 {
		if g, ok := m.grantors[link]; ok {
			return m.granted(g, m.caps[at], now, v)
		}
		return m.caps[at]
	}
	return bytesPer(m.buses[link-n-int32(len(m.sets))])
}

// spreads reports whether a connection's packets take several ports of a switch at once.
func (m *model) spreads(c int32) bool {
	return m.b.r.seen.Rules.Spreads || m.b.r.seen.Rules.SpreadsNIC || m.b.share.path[c].shares != nil
}

// newNet makes the links of a replay.
func (m *model) newNet(v without) *fluid.Net {
	n := fluid.New(m.rates(v))
	n.Grain, n.Pauses = m.grain, m.pauses && !v.has(cause.Pause)
	return n
}

// rates are those of all links at the beginning.
func (m *model) rates(v without) []float64 {
	all := make([]float64, m.links())
	for l := range all {
		all[l] = m.rate(int32(l), 0, v)
	}
	return all
}

// changed sets the rates of links that an event has changed at a time.
func (m *model) changed(n *fluid.Net, at unit.Time, v without) {
	for _, link := range m.at[at] {
		for _, p := range []int32{2 * link, 2*link + 1} {
			n.SetRate(at, p, m.rate(p, at, v))
			for _, s := range m.in[p] {
				n.SetRate(at, s, m.rate(s, at, v))
			}
		}
	}
}

// portsOf are those of a link: none of PCIe.
func (m *model) portsOf(link int32) []int32 {
	n := int32(len(m.b.r.seen.Ports))
	switch {
	case link < n:
		return []int32{link}
	case link < n+int32(len(m.sets)):
		return m.sets[link-n]
	}
	return nil
}

// uncut reports whether DCQCN reduced no rate while ports were paused: its marks begin above the pauses' threshold.
func (r *reading) uncut() bool {
	return r.plan.Default().CC.Name == "dcqcn" && r.seen.Counted.PFCPauses > 0 &&
		!slices.ContainsFunc(r.seen.Conns, func(k Conn) bool { return k.Cuts > 0 })
}
