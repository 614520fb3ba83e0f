package eos

// Commands without bearing on the data path (cli.Mode.Families), by the command reference of EOS 4.30.
var portFamilies = map[string]string{
	"switchport": "backup|backup-link|default|dot1q|mac|phone|port-security|private-vlan|pvlan|" +
		"source-interface|tap|tool|trunk|vlan",
	"switchport mode": "access|dot1q-tunnel|tap|tap-tool|tool|trunk",
	"ip": "access-group|arp|attached-host|attached-hosts|dhcp|directed-broadcast|helper-address|icmp|igmp|" +
		"local-proxy-arp|mfib|multicast|nat|ospf|pim|proxy-arp|rip|tunnel|verify|virtual-router",
	"ip address": "dhcp|unnumbered|virtual",
	"ipv6": "access-group|address|attached-host|dhcp|helper-address|mfib|multicast|nd|ospf|pim|router|" +
		"unnumbered|verify|virtual-router",
	"lacp":                "port-id|port-priority|rate|system-id|timer",
	"lldp":                "med|tlv",
	"flowcontrol":         "receive|send",
	"error-correction":    "encoding",
	"dcbx":                "application|ets|pfc",
	"port-channel":        "lacp|min-links|speed",
	"service-policy type": "pbr",
	"mlag":                "", "evpn": "", "vxlan": "", "load-interval": "", "logging": "",
	"spanning-tree": "", "bfd": "",
	"storm-control": "", "vrf": "", "mac": "", "snmp": "", "traffic-policy": "", "phy": "", "ptp": "",
	"sflow": "", "encapsulation": "", "link-debounce": "", "l2": "", "arp": "",
}

// neighborWords follow neighbor <who>: what EOS lets be said of one that neither makes nor finds it.
const neighborWords = "additional-paths|aigp-session|allowas-in|as-path|auto-local-addr|bfd|" +
	"default-originate|description|dont-capability-negotiate|ebgp-multihop|encapsulation|enforce-first-as|" +
	"export-localpref|fall-over|graceful-restart|graceful-restart-helper|idle-restart-timer|" +
	"import-localpref|l2-vpn|link-bandwidth|local-as|local-v4-addr|local-v6-addr|maximum-accepted-routes|" +
	"maximum-routes|metric-out|missing-policy|next-hop|next-hop-peer|next-hop-self|next-hop-unchanged|" +
	"next-hop-v6-addr|out-delay|passive|password|prefix-list|rcf|remove-private-as|rib-in|rib-out|" +
	"route-map|route-reflector-client|route-refresh|route-to-peer|send-community|session|shutdown|" +
	"soft-reconfiguration|timers|transport|ttl|ttl-security|unsuppress-map|update-source|weight"

// bgpFamilies stand below router bgp and its address families.
var bgpFamilies = map[string]string{
	"neighbor <who>": neighborWords,
	"bgp": "additional-paths|advertise-inactive|aigp|allowas-in|always-compare-med|" +
		"aspath-cmp-include-nexthop|asn|auto-local-addr|client-to-client|cluster-id|confederation|" +
		"control-plane-filter|convergence|counters|default|enforce-first-as|host-routes|" +
		"labeled-unicast|listen|log-neighbor-changes|missing-policy|monitoring|next-hop|" +
		"next-hop-unchanged|redistribute-internal|route|route-map|route-reflector|session|skip|trace|" +
		"transport",
	"bgp bestpath":         "d-path|ecmp-fast|med|origin-as|skip|tie-break",
	"bgp bestpath as-path": "ignore|length",
	"redistribute": "attached-host|bgp|dynamic|igmp|isis|learned|ospf|ospfv3|rip|router-mac|service|static|" +
		"user",
	"next-hop": "address-family|mpls|resolution|resolution-ribs",
	"timers":   "", "graceful-restart": "", "graceful-restart-helper": "", "update": "", "distance": "",
	"aggregate-address": "", "host-flap": "", "rd": "", "route-target": "", "dynamic": "",
}

// routeMapFamilies stand in a route-map.
var routeMapFamilies = map[string]string{
	"match": "aggregate-role|as|as-path|community|extcommunity|interface|invert-result|isis|" +
		"large-community|local-preference|metric|metric-type|origin-as|peer|route-type|router-id|" +
		"source-protocol|tag",
	"match ip":   "address|next-hop|resolved-next-hop|route-source",
	"match ipv6": "address|next-hop|resolved-next-hop|route-source",
	"set": "as-path|bgp|comm-list|community|community-list|distance|extcommunity|ip|ipv6|isis|" +
		"large-community|level|local-preference|metric|metric-type|nexthop|next-hop|origin|ospf|resolution|" +
		"segment-index|tag|weight",
	"description": "", "continue": "", "sub-route-map": "",
}
