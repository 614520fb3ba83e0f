package nxos

import (
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
)

// vlanSet are VLANs by their numbers.
type vlanSet [4096 / 64]uint64

// vlanPolicy is the policy for packets of VLANs, on any ingress port.
type vlanPolicy struct {
	of vlanSet
	applied
}

// vlans parses 10,20-29; invalid VLANs are omitted.
func vlans(list string) (s vlanSet) {
	for _, part := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		from, to, ranged := strings.Cut(part, "-")
		if !ranged {
			to = from
		}
		lo, err1 := strconv.Atoi(from)
		hi, err2 := strconv.Atoi(to)
		for v := max(lo, 1); err1 == nil && err2 == nil && v <= min(hi, 4095); v++ {
			s[v/64] |= 1 << (v % 64)
		}
	}
	return s
}

func (s *vlanSet) has(v int) bool { return v > 0 && v < 4096 && s[v/64]>>(v%64)&1 == 1 }

// meets reports whether some VLAN is in both sets.
func (s *vlanSet) meets(o *vlanSet) bool {
	for i := range s {
		if s[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

// openVLAN opens VLANs; of the lines below them only classification is relevant here.
func (p *parser) openVLAN(m *cli.Match) *cli.Mode {
	v := &vlanPolicy{of: vlans(m.Word("ids"))}
	if !m.No {
		p.vlans = append(p.vlans, v)
	}
	return p.modes.vlan.Of(v)
}

// vlanRules is the table of lines below VLANs.
func (p *parser) vlanRules() *cli.Mode {
	r := cli.NewMode("vlan")
	p.servicePolicy(r, func(m *cli.Match) *applied { return &m.Of.(*vlanPolicy).applied })
	return r.Skip(p.pass, "name", "vn-segment", "state", "shutdown", "ip", "ipv6", "mode", "fcoe",
		"remote-span", "private-vlan", "media", "xconnect", "device-tracking", "layer-2")
}

// trunk notes which VLANs a port carries.
func (p *parser) trunk(q *swconf.Port, m *cli.Match) {
	list := m.Word("list")
	more, add := strings.CutPrefix(list, "add ")
	set := vlans(more)
	if old := p.trunks[q]; old != nil && add && !m.No {
		for i := range set {
			set[i] |= old[i]
		}
	}
	if delete(p.trunks, q); !m.No {
		p.trunks[q] = &set
	}
}

// byVLAN is the policy of a VLAN that a port carries. A port's own policy takes precedence (Cisco, Nexus 9000 QoS
// guide, "Configuring Classification": the device acts on the port policy and ignores the VLAN's).
func (p *parser) byVLAN(q *swconf.Port) (policy swconf.Said[string]) {
	for _, v := range p.vlans {
		trunk := p.trunks[q]
		if v.of.has(q.VLAN.V) && q.VLAN.Is() || trunk != nil && trunk.meets(&v.of) {
			policy = later(v.qosIn, policy)
		}
	}
	return policy
}
