package sonic

import (
	"net/netip"
	"strings"

	"railyard/internal/swconf"
)

// SONiC has BGP in two forms: bgpcfgd's templates use bgp_asn and BGP_NEIGHBOR by address. With
// frr_mgmt_framework_config true (docker_routing_config_mode unified) frrcfgd uses BGP_GLOBALS and neighbours by
// VRF, with address families and peer groups in separate tables (sonic-bgp-global.yang).
const (
	globalsTable  = "BGP_GLOBALS"
	familyTable   = "BGP_GLOBALS_AF"
	groupTable    = "BGP_PEER_GROUP"
	neighborTable = "BGP_NEIGHBOR"
)

func (p *parser) bgp(host *node) {
	own, b := host.get("bgp_asn"), &swconf.BGP{MaxPaths: swconf.Said[int]{V: 64}}
	globals := p.table(globalsTable).get(defaultVRF)
	if as := globals.get("local_asn"); as != nil {
		own = as
	} else { // the value in the templates of bgpcfgd
		b.Connected.V, b.Relax.V = true, true
	}
	if own == nil || own.text == "None" {
		return
	}
	asn, ok := swconf.ASN(own.text)
	if p.table(neighborTable) == nil && globals == nil {
		if ok {
			p.c.ASN = swconf.Say(asn, own.at)
		}
		return
	}
	if !ok {
		p.bad(own, "%s %q is not an AS number from 1 to 4294967295", map[bool]string{true: "local_asn",
			false: "bgp_asn"}[globals.get("local_asn") != nil], own.text)
		return
	}
	b.ASN = swconf.Say(asn, own.at)
	p.global(b, globals)
	p.c.BGP = b
	for i, row := range values(p.table(neighborTable)) {
		b.Neighbors = append(b.Neighbors, p.neighbor(p.table(neighborTable).keys[i], row))
	}
}

// global parses frrcfgd's settings of the default VRF.
func (p *parser) global(b *swconf.BGP, row *node) {
	if id := row.get("router_id"); id != nil {
		a, err := netip.ParseAddr(strings.TrimSpace(id.text))
		if b.RouterID = swconf.Say(a, id.at); err != nil {
			p.bad(id, "router_id %q is not an address", id.text)
			b.RouterID = swconf.Said[netip.Addr]{}
		}
	}
	if r := row.get("load_balance_mp_relax"); r != nil {
		b.Relax = swconf.Say(p.either(r, "load_balance_mp_relax", "true", "false"), r.at)
	}
	for _, family := range []string{"ipv4_unicast", "ipv6_unicast"} {
		af := p.table(familyTable).get(defaultVRF + "|" + family)
		if v, ok := p.number(af, "max_ebgp_paths", 256); ok && !b.MaxPaths.Is() {
			b.MaxPaths = swconf.Say(int(v), af.get("max_ebgp_paths").at)
		}
		if c := af.get("redistribute_connected"); c != nil && c.text == "true" {
			b.Connected = swconf.Say(true, c.at)
		}
		key := defaultVRF + "|connected|bgp|" + strings.TrimSuffix(family, "_unicast")
		if r := p.table("ROUTE_REDISTRIBUTE").get(key); r != nil {
			b.Connected = swconf.Say(true, r.at)
		}
	}
	for i, n := range values(p.table("BGP_GLOBALS_AF_NETWORK")) {
		part := strings.Split(p.table("BGP_GLOBALS_AF_NETWORK").keys[i], "|")
		if pre, err := netip.ParsePrefix(part[len(part)-1]); err != nil {
			p.bad(n, "%q is not a prefix that BGP announces", part[len(part)-1])
		} else if part[0] == defaultVRF {
			b.Networks = append(b.Networks, swconf.Say(pre, n.at))
		}
	}
}

func (p *parser) neighbor(key string, row *node) *swconf.Neighbor {
	vrf, name, ok := strings.Cut(key, "|")
	if !ok {
		vrf, name = defaultVRF, key
	}
	n := &swconf.Neighbor{At: row.at, Active: true}
	if vrf != defaultVRF {
		n.VRF = vrf
	}
	if a := row.get("admin_status"); a != nil && (a.text == "true" || a.text == "false") {
		n.Down = swconf.Say(a.text == "false", a.at) // frrcfgd's word
	} else if a != nil {
		n.Down = swconf.Say(p.either(a, "admin_status", "down", "up"), a.at)
	}
	if a, err := netip.ParseAddr(name); err == nil {
		n.Addr = a
	} else {
		n.Port = name
	}
	if g := row.get("peer_group_name"); g != nil {
		n.Group = swconf.Say(g.text, g.at)
		p.remote(n, p.table(groupTable).get(vrf+"|"+g.text))
		p.c.Use(groupTable, vrf+"|"+g.text, g.at)
	}
	p.remote(n, row)
	return n
}

// remote reads the AS of a neighbour or of its group.
func (p *parser) remote(n *swconf.Neighbor, row *node) {
	if kind := row.get("peer_type"); kind != nil {
		n.Remote = swconf.Say(kind.text, kind.at)
	}
	as := row.get("asn")
	if as == nil {
		return
	}
	if _, ok := swconf.ASN(as.text); !ok {
		p.bad(as, "asn %q is not an AS number from 1 to 4294967295", as.text)
	}
	n.Remote = swconf.Say(as.text, as.at)
}
