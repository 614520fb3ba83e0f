package design

import (
	"fmt"
	"net/netip"

	"railyard/internal/swconf"
	"railyard/unit"
)

// Trunk is a layer 3 port channel to another switch. It has its own addresses and sessions, and its ports' cables
// only carry it.
type Trunk struct {
	ID      int // port channel's number; the other end may have another
	Ports   []*Port
	Far     *Switch
	FarEnd  *Trunk
	Rate    unit.Rate // of all members
	Least   int       // members below which it is down
	Addr    netip.Prefix
	FarAddr netip.Addr
}

// firstTrunk is the number of a switch's first channel to a switch; channels of bundles of servers are below.
const firstTrunk = 1001

// trunks makes the channels of the graph.
func (d *Design) trunks() error {
	ends := map[int]*[2]*Trunk{}
	for i, l := range d.Graph.Links {
		if l.Channel == 0 || len(d.Graph.Channels[l.Channel-1].Links) < 2 {
			continue
		}
		if d.Segments {
			return refuse("paths that name each cable (SRv6) and channels (lag), which hide theirs, exclude each other")
		}
		c, e := &d.Graph.Channels[l.Channel-1], ends[l.Channel]
		a, b := d.byNode[l.A], d.byNode[l.B]
		if e == nil {
			e = &[2]*Trunk{{Far: b, Least: c.Min}, {Far: a, Least: c.Min}}
			e[0].FarEnd, e[1].FarEnd = e[1], e[0]
			for k, s := range []*Switch{a, b} {
				e[k].ID = firstTrunk + len(s.Trunks)
				s.Trunks = append(s.Trunks, e[k])
			}
			ends[l.Channel] = e
			if d.Addressing == Numbered {
				other := add(d.nextLink, 1)
				e[0].Addr, e[0].FarAddr = netip.PrefixFrom(d.nextLink, 31), other
				e[1].Addr, e[1].FarAddr = netip.PrefixFrom(other, 31), d.nextLink
				d.nextLink = add(d.nextLink, 2)
			}
		}
		for k, s := range []*Switch{a, b} {
			t := e[0]
			if t.Far == s {
				t = e[1]
			}
			p := s.portOf(d.numbers[i][k])
			p.Trunk, p.Channel = t, t.ID
			t.Ports, t.Rate = append(t.Ports, p), t.Rate+p.Rate
		}
	}
	for _, s := range d.Switches {
		if len(s.Trunks) > PeerChannel-firstTrunk {
			return refuse("%s has %d channels to switches, and numbers for %d", s.Name, len(s.Trunks),
				PeerChannel-firstTrunk)
		}
	}
	return nil
}

// portOf is the port of a cable's number.
func (s *Switch) portOf(number int) *Port {
	for _, p := range s.Ports {
		if p.Number == number {
			return p
		}
	}
	return nil
}

// ChannelName returns a language's name of a port channel.
func ChannelName(os swconf.OS, id int) string {
	if os == swconf.Junos {
		return fmt.Sprintf("ae%d", Aggregated(id))
	}
	return fmt.Sprintf(map[swconf.OS]string{swconf.NXOS: "port-channel%d", swconf.EOS: "Port-Channel%d",
		swconf.SONiC: "PortChannel%d", swconf.FRR: "bond%d", swconf.NVUE: "bond%d"}[os], id)
}

// Aggregated returns the number of a port channel in Junos, whose switches support few: 0 for the peer link,
// unchanged for servers, from 101 for switches.
func Aggregated(id int) int {
	switch {
	case id == PeerChannel:
		return 0
	case id >= firstTrunk:
		return id - firstTrunk + 101
	}
	return id
}

// Name returns its name in a language.
func (t *Trunk) Name(os swconf.OS) string { return ChannelName(os, t.ID) }

// Description returns its interface's description.
func (t *Trunk) Description(os swconf.OS) string {
	return "to " + t.Far.Name + " " + t.FarEnd.Name(t.FarEnd.Far.language(t.Far, os))
}

// Session is a routed link to another switch: a cable, or a channel.
type Session struct {
	Port    string // interface
	Far     *Switch
	Addr    netip.Prefix // invalid: unnumbered
	FarAddr netip.Addr
}

// Sessions are the routed links to other switches, one for each next hop.
func (s *Switch) Sessions(os swconf.OS) (out []Session) {
	seen := map[*Trunk]bool{}
	for _, p := range s.Neighbors() {
		switch t := p.Trunk; {
		case t == nil:
			out = append(out, Session{p.Name, p.Far, p.Addr, p.FarAddr})
		case !seen[t]:
			seen[t] = true
			out = append(out, Session{t.Name(os), t.Far, t.Addr, t.FarAddr})
		}
	}
	return out
}

// language returns the language of another switch, for a switch whose configuration is in its own, because the
// fabric has several. Otherwise all switches are written in one.
func (s *Switch) language(far *Switch, os swconf.OS) swconf.OS {
	if s.Panel == nil || s.Panel.System != string(os) || far == nil || far.Panel == nil || far.Panel.System == "" {
		return os
	}
	return swconf.OS(far.Panel.System)
}
