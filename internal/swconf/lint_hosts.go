package swconf

import (
	"fmt"
	"strings"
)

// side is a switch's port, or a group of equal ones, that a host's NICs are compared with.
type side struct {
	variant
}

// name returns the switch, and the port if a link determines it.
func (s side) name(cabled bool) string {
	if cabled && s.port != nil {
		return s.c.Name() + " " + s.port.Name
	}
	return s.c.Name()
}

// hosted is a host with the ports that its NICs may be cabled to.
type hosted struct {
	l      *linter
	h      *Host
	sides  []side
	cabled bool // whether a fabric describes the cables; otherwise all given switches are compared
	partly bool // the last check failed at some of the possible switches
	faults []hostFault
}

// hostFault is a finding of one or more NICs.
type hostFault struct {
	at       Place
	fix, msg string
	nics     []string
	partly   bool
}

// hosts visits every host with its switches, and reports the findings, merging NICs with the same fault on the same
// line.
func (l *linter) hosts(visit func(*hosted, *HostNIC)) {
	for i := range l.sided() {
		x := &l.hostSides[i]
		x.l, x.faults = l, x.faults[:0]
		for _, n := range x.h.NICs {
			x.partly = false
			visit(x, n)
		}
		for _, f := range x.faults {
			say := l.say
			if f.partly { // the host may be connected to other switches
				say = l.advise
			}
			say(f.at, f.fix, "%s: %s", strings.Join(f.nics, ", "), f.msg)
		}
	}
}

// fault records a finding of a NIC; without a position it is at the host's beginning.
func (x *hosted) fault(n *HostNIC, at Place, fix, format string, args ...any) {
	if at.Line == 0 {
		at = Place{File: first(n.At, Place{File: x.h.File}).File, Line: max(1, n.At.Line), Col: 1}
	}
	msg := fmt.Sprintf(format, args...)
	for i := range x.faults {
		if f := &x.faults[i]; f.at == at && f.msg == msg {
			f.nics = append(f.nics, n.Title())
			return
		}
	}
	x.faults = append(x.faults, hostFault{at, fix, msg, []string{n.Title()}, x.partly})
}

// sided finds the switches of every host, once: the connected ones in the fabric, or all.
func (l *linter) sided() []hosted {
	if l.hostSides != nil {
		return l.hostSides
	}
	var all []side // for each switch: the settings of most of its ports
	for _, c := range l.Configs {
		if q, p := c.Typical(); c.HasQoS() && q != nil && (variant{c, q, p}).roce() {
			all = append(all, side{variant{c, q, p}})
		}
	}
	l.hostSides = []hosted{}
	var cabled map[int][]side
	if l.Graph != nil && len(l.Hosts) > 0 {
		cabled = l.cabledSides()
	}
	for _, h := range sharing(l.Hosts) {
		x := hosted{h: h, sides: all}
		if l.Graph != nil {
			if node := l.Graph.Node(h.Name()); node >= 0 {
				x.cabled, x.sides = true, cabled[node]
			}
		}
		l.hostSides = append(l.hostSides, x)
	}
	return l.hostSides
}

// sharing gives hosts without their own variables those of files with nothing else, such as one nccl.conf for all.
// Such files alone are compared with the switches as any NIC is.
func sharing(all []*Host) (out []*Host) {
	var common *Host
	for _, h := range all {
		if len(h.NICs) == 0 && len(h.Env) > 0 {
			common = h
		} else {
			out = append(out, h)
		}
	}
	switch {
	case common == nil:
		return all
	case len(out) == 0:
		alone := *common
		alone.NICs = []*HostNIC{{Dev: Every, At: common.Env[0].At}}
		return []*Host{&alone}
	}
	for i, h := range out {
		if len(h.Env) == 0 {
			both := *h
			both.Env = common.Env
			out[i] = &both
		}
	}
	return out
}

// cabledSides are the ports at the ends of cables, by the node at the other end.
func (l *linter) cabledSides() map[int][]side {
	out := map[int][]side{}
	l.numbered(func(i int, a, b *end) {
		k := l.Graph.Links[i]
		for _, e := range []struct {
			*end
			far int
		}{{a, k.B}, {b, k.A}} {
			if e.c != nil && e.port != nil && e.port.QoS != nil {
				out[e.far] = append(out[e.far], side{variant{e.c, e.port.QoS, e.port}})
			}
		}
	})
	return out
}

// wrong describes the sides for which a condition holds: the first by name with the number of others, "" for none.
func (x *hosted) wrong(is func(side) bool) (s side, where string) {
	n := 0
	names := map[string]bool{}
	x.partly = false
	for _, o := range x.sides {
		name := o.name(x.cabled)
		if !is(o) || names[name] {
			x.partly = x.partly || !names[name] && !x.cabled
			continue
		}
		if names[name] = true; n == 0 {
			s, where = o, name
		}
		n++
	}
	switch {
	case n == 2:
		where += " and one more"
	case n > 2:
		where += fmt.Sprintf(" and %d more", n-1)
	}
	return s, where
}

// paused are the priorities that the switch's side pauses.
func (s side) paused() uint8 {
	if s.port != nil {
		return s.port.Paused()
	}
	return s.q.paused()
}

// queue returns the queue of a DSCP at the switch.
func (s side) queue(dscp uint8) (int, *Queue) {
	i := int(s.q.DSCP[dscp&63].V & 7)
	return i, &s.q.Queues[i]
}

// classifies reports whether the switch looks at DSCPs.
func (s side) classifies() bool {
	for d := range s.q.DSCP {
		if s.q.DSCP[d].Is() {
			return true
		}
	}
	return false
}

// hostTrust finds NICs that use VLAN tags while switches use DSCPs.
func (l *linter) hostTrust() {
	l.hosts(func(x *hosted, n *HostNIC) {
		if n.Trust.V != "pcp" {
			return
		}
		if _, where := x.wrong(side.classifies); where != "" {
			x.fault(n, n.Trust.At, "trust DSCPs (mlnx_qos --trust dscp)",
				"takes priorities from VLAN tags, and %s from DSCPs", where)
		}
	})
}

// hostDataClass finds data that leave the NIC with a DSCP that switches do not protect.
func (l *linter) hostDataClass() {
	if l.Lossy {
		return
	}
	l.hosts(func(x *hosted, n *HostNIC) {
		m, ok := x.h.DataDSCP(n)
		if !ok {
			return
		}
		s, where := x.wrong(unprotected(m.DSCP))
		if where == "" {
			return
		}
		i, _ := s.queue(m.DSCP)
		fix := "mark data with a DSCP of a lossless queue: " + lossless(s.q)
		if _, q := s.queue(uint8(m.TC & 63)); m.TC != 0 && m.TC < 64 && q.Pause.Is() {
			fix = fmt.Sprintf("%s is four times the DSCP: %d for DSCP %d", m.By, 4*m.TC, m.TC)
		}
		x.fault(n, m.At, fix,
			"data have DSCP %d (%s), which %s puts into queue %d, and no PFC protects that", m.DSCP,
			m.By, where, i)
	})
}

// unprotected reports whether a switch has lossless queues, and puts a DSCP into another.
func unprotected(dscp uint8) func(side) bool {
	return func(s side) bool {
		_, q := s.queue(dscp)
		return s.paused() != 0 && !q.Pause.Is() && !q.Trim.V
	}
}

// lossless are the DSCPs whose queues are paused.
func lossless(q *QoS) string {
	var d []int
	for i := range q.DSCP {
		if q.DSCP[i].Is() && q.Queues[q.DSCP[i].V&7].Pause.Is() {
			d = append(d, i)
		}
	}
	if len(d) == 0 {
		return "none is mapped to one"
	}
	return ranges(d)
}

// hostPFC finds NICs that do not pause the priority of their data. Where the switches do not pause it either,
// hostDataClass names the DSCP.
func (l *linter) hostPFC() {
	if l.Lossy {
		return
	}
	l.hosts(func(x *hosted, n *HostNIC) {
		m, ok := x.h.DataDSCP(n)
		mask, at, said := n.Paused()
		if !ok || !said {
			return
		}
		if _, where := x.wrong(unprotected(m.DSCP)); where != "" {
			return
		}
		if p, by := n.Priority(m.DSCP); by.Line > 0 && mask>>p&1 == 0 {
			x.fault(n, first(n.PFC[p].At, at), fmt.Sprintf("turn PFC on for priority %d", p),
				"data (DSCP %d) have priority %d, and PFC is on for %s", m.DSCP, p, Priorities(mask))
		}
	})
}

// hostPFCDiffers finds NICs and switches that pause different priorities.
func (l *linter) hostPFCDiffers() {
	l.hosts(func(x *hosted, n *HostNIC) {
		mask, at, said := n.Paused()
		if !said {
			return
		}
		if s, where := x.wrong(func(s side) bool { return s.paused() != mask }); where != "" {
			x.fault(n, at, "pause the same priorities at both ends",
				"pauses priority %s, and %s %s", Priorities(mask), where, Priorities(s.paused()))
		}
	})
}

// hostPriority finds data whose priority in the NIC differs from that at the switch.
func (l *linter) hostPriority() {
	l.hosts(func(x *hosted, n *HostNIC) {
		m, ok := x.h.DataDSCP(n)
		p, by := n.Priority(m.DSCP)
		mask, _, said := n.Paused()
		if !ok || by.Line == 0 || !said || mask>>p&1 == 0 {
			return
		}
		s, where := x.wrong(func(s side) bool {
			_, q := s.queue(m.DSCP)
			return s.paused() == mask && q.Pause.Is() && q.Pause.V != int(p)
		})
		if where != "" {
			_, q := s.queue(m.DSCP)
			x.fault(n, by, fmt.Sprintf("map DSCP %d to priority %d", m.DSCP, q.Pause.V),
				"data (DSCP %d) have priority %d here, and %s pauses them by priority %d", m.DSCP, p,
				where, q.Pause.V)
		}
	})
}

// hostCNPClass finds CNPs that wait at the switch.
func (l *linter) hostCNPClass() {
	l.hosts(func(x *hosted, n *HostNIC) {
		if !n.CNPDSCP.Is() {
			return
		}
		c := n.CNPDSCP.V
		m, ok := x.h.DataDSCP(n)
		s, where := x.wrong(func(s side) bool {
			i, q := s.queue(c)
			j, _ := s.queue(m.DSCP)
			open := s.c.OS == EOS && !q.Strict.Is() && !q.Share.Is() // strict there by default
			return s.classifies() && (ok && i == j && m.DSCP != c || s.q.Output.Is() && !q.Strict.V && !open)
		})
		if where == "" {
			return
		}
		i, _ := s.queue(c)
		x.fault(n, n.CNPDSCP.At, "send CNPs with a DSCP of a strict queue: "+strictly(s.q),
			"CNPs have DSCP %d, which %s puts into queue %d, where they wait after other packets", c,
			where, i)
	})
}

// strictly are the DSCPs whose queues have strict priority.
func strictly(q *QoS) string {
	var d []int
	for i := range q.DSCP {
		if q.DSCP[i].Is() && q.Queues[q.DSCP[i].V&7].Strict.V {
			d = append(d, i)
		}
	}
	if len(d) == 0 {
		return "none is mapped to one"
	}
	return ranges(d)
}

// hostECN finds disabled parts of congestion control for the data's priority.
func (l *linter) hostECN() {
	l.hosts(func(x *hosted, n *HostNIC) {
		for _, whole := range []struct {
			s    Said[bool]
			what string
		}{{n.CC, "congestion control is off"}, {n.Marking, "packets are not ECN-capable"}} {
			if whole.s.Is() && !whole.s.V {
				x.fault(n, whole.s.At, "turn ECN on", "%s", whole.what)
			}
		}
		m, ok := x.h.DataDSCP(n)
		p, by := n.Priority(m.DSCP)
		if !ok || by.Line == 0 {
			return
		}
		for _, half := range []struct {
			s    Said[bool]
			what string
		}{{n.NP[p], "no CNPs are sent for marked packets (roce_np)"},
			{n.RP[p], "CNPs slow nothing down (roce_rp)"}} {
			if half.s.Is() && !half.s.V {
				x.fault(n, half.s.At, fmt.Sprintf("enable it for priority %d on host side and switch side", p),
					"data have priority %d, for which %s", p, half.what)
			}
		}
	})
}

// hostMTU finds NICs whose packets are too long for the switch.
func (l *linter) hostMTU() {
	l.hosts(func(x *hosted, n *HostNIC) {
		if !n.MTU.Is() {
			return
		}
		s, where := x.wrong(func(s side) bool {
			mtu, ok := s.q.mtu(s.port)
			return ok && n.MTU.V > mtu-s.c.header()
		})
		if where != "" {
			mtu, _ := s.q.mtu(s.port)
			mtu -= s.c.header()
			x.fault(n, n.MTU.At, fmt.Sprintf("an MTU of at most %d", int64(mtu)), "MTU %d, and %s takes %d",
				int64(n.MTU.V), where, int64(mtu))
		}
	})
}

// hostPathMTU finds NICs whose MTU makes RoCE's packets small: Linux reserves more than the packets need.
func (l *linter) hostPathMTU() {
	l.hosts(func(x *hosted, n *HostNIC) {
		switch {
		case n.PathMTU.Is() && n.PathMTU.V < l.PathMTU:
			x.fault(n, n.PathMTU.At, "raise the MTU of the network device",
				"RoCE packets carry %d bytes, not %d", n.PathMTU.V, l.PathMTU)
		case n.MTU.Is() && int(n.MTU.V) < l.PathMTU+HostHeaders:
			x.fault(n, n.MTU.At, fmt.Sprintf("an MTU of %d or more, of which Linux reserves %d bytes for headers",
				l.PathMTU+HostHeaders, HostHeaders),
				"MTU %d holds no RoCE packets of %d bytes: the path MTU falls to the next power of two below",
				int64(n.MTU.V), l.PathMTU)
		}
	})
}
