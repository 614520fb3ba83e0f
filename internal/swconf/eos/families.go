package eos

// Commands without bearing on the data path (cli.Mode.Families), by the command reference of EOS 4.30.
var rootFamilies = map[string]string{
	"ip":               "address|as-path|bgp|community-list|dhcp|decap-group|domain|domain-list|domain-lookup|domain-name|extcommunity-list|ftp|hardware|host|http|icmp|igmp|large-community-list|local|mfib|multicast|name-server|nat|pim|radius|rip|route|routing|security|ssh|tacacs|telnet|tftp|ttl-exceeded|virtual-router",
	"ip address":       "virtual",
	"ipv6":             "address|dhcp|hardware|icmp|mfib|mld|multicast|nd|neighbor|prefix-list|redirects|route|route-map|router|unicast-routing|virtual-router",
	"router":           "adaptive-virtual-topology|bfd|igmp|internet-exit|isis|kernel|l2-vpn|msdp|multicast|ospf|ospf3|path-selection|pim|rip|segment-security|service-insertion|traffic-engineering",
	"mac":              "address-table|pbr|security|timer",
	"platform":         "arad|barefoot|fap|fm6000|petraA|sand|sfe|software-forwarding|tfa",
	"platform trident": "fabric|forwarding-table|l2|l3|routing-table|tcam",
	"hardware":         "access-list|bfd|capacity|counter|fec|forwarding|fpga|ip|lag|phy|port-group|speed-group|tcam",
	"mpls":             "", "bfd": "", "dhcp": "", "dot1x": "", "ptp": "", "sync-e": "", "poe": "",
}

var portFamilies = map[string]string{
	"switchport":          "backup|backup-link|default|dot1q|mac|phone|port-security|private-vlan|pvlan|recirculation|source-interface|tap|tool|trunk|vlan",
	"switchport mode":     "access|dot1q-tunnel|tap|tap-tool|tool|trunk",
	"ip":                  "access-group|arp|attached-host|attached-hosts|attached-routes|dhcp|directed-broadcast|helper-address|icmp|igmp|local-proxy-arp|mfib|multicast|nat|ospf|pim|proxy-arp|rip|tunnel|verify|virtual-router",
	"ip address":          "dhcp|unnumbered|virtual",
	"ipv6":                "access-group|attached-host|attached-routes|dhcp|helper-address|mfib|multicast|nd|ospf|pim|router|unnumbered|verify|virtual-router",
	"lacp":                "port-id|port-priority|rate|rate-limit|timer",
	"lldp":                "med|tlv",
	"flowcontrol":         "receive|send",
	"error-correction":    "reed-solomon",
	"dcbx":                "application|ets|pfc",
	"port-channel":        "lacp|min-links|speed",
	"service-policy type": "pbr|pdp",
	"evpn":                "", "vxlan": "", "load-interval": "", "logging": "",
	"spanning-tree": "", "bfd": "",
	"storm-control": "", "mac": "", "snmp": "", "traffic-policy": "output", "phy": "", "ptp": "",
	"traffic-engineering": "",
	"sflow":               "", "link-debounce": "", "l2": "", "arp": "", "autostate": "",
	"encapsulation vlan": "", "vlan id": "",
	"pim":  "",
	"flow": "", "mpls": "", "isis": "", "dhcp": "", "dot1x": "", "tcp": "", "multicast": "", "vrrp": "",
	"poe":         "",
	"transceiver": "", "tunnel": "", "path-selection": "", "l2-protocol": "", "bgp": "", "vmtracer": "",
	"node-segment": "", "comment": "", "lacp fallback": "", "ospf": "", "ospfv3": "", "igmp": "", "mld": "",
	"unidirectional": "", "monitor": "", "pvlan": "", "igmp-snooping": "", "profile": "", "tap": "",
	"macsec":   "",
	"hardware": "", "queue-monitor": "", "ntp": "", "sync-e": "", "link state": "", "traffic-loopback": "",
	"address": "locking", "mac-address": "", "mfib": "", "mvrp": "", "msrp": "", "flow-spec": "", "rip": "",
	"channel-group": "recirculation",
}

// neighborWords follow neighbor <who>: EOS's settings of a neighbour that neither create nor identify it.
const neighborWords = "additional-paths|aigp-session|as-path|auto-local-addr|bfd|default-originate|default-route-target|description|domain|dont-capability-negotiate|ebgp-multihop|encapsulation|enforce-first-as|export-localpref|fall-over|graceful-restart|graceful-restart-helper|idle-restart-timer|import-localpref|l2-vpn|link-bandwidth|local-v4-addr|local-v6-addr|maximum-accepted-routes|maximum-routes|maximum-advertised-routes|metric-out|missing-policy|monitoring|multi-path|next-hop|next-hop-peer|next-hop-self|next-hop-v6-addr|out-delay|passive|password|rcf|remove-private-as|rib-in|rib-out|route-reflector-client|route-refresh|route-to-peer|send-community|session|soft-reconfiguration|timers|transport|ttl|ttl-security|unsuppress-map|update-source|weight"

// bgpFamilies are below router bgp and its address families.
var bgpFamilies = map[string]string{
	"neighbor <who>":       neighborWords,
	"bgp":                  "additional-paths|advertise-inactive|aigp|allowas-in|always-compare-med|aggregate-route|aspath-cmp-include-nexthop|asn|auto-local-addr|client-to-client|cluster-id|confederation|fec|peer-mac-resolution-timeout|control-plane-filter|convergence|counters|default|enforce-first-as|host-routes|labeled-unicast|listen|log-neighbor-changes|missing-policy|monitoring|next-hop|next-hop-unchanged|redistribute-internal|route|route-map|route-reflector|session|skip|trace|transport",
	"bgp bestpath":         "d-path|ecmp-fast|med|origin-as|skip|tie-break",
	"bgp bestpath as-path": "ignore|length",
	"redistribute":         "learned|router-mac|service|host-route|link-local",
	"next-hop":             "6pe|address-family|mpls|resolution|resolution-ribs",
	"ip":                   "access-group", "ipv6": "access-group", "ucmp": "", "monitoring": "",
	"default-metric": "", "flow-spec": "",
	"timers": "", "graceful-restart": "", "graceful-restart-helper": "", "update": "",
	"distance":  "",
	"host-flap": "", "rd": "", "route-target": "", "dynamic": "",
}

// routeMapFamilies are in a route-map.
var routeMapFamilies = map[string]string{
	"match":       "aggregate-role|as|as-path|community|extcommunity|interface|invert-result|isis|large-community|local-preference|metric|metric-type|origin-as|peer|route-type|router-id|source-protocol|tag",
	"match ip":    "address|next-hop|resolved-next-hop|route-source",
	"match ipv6":  "address|next-hop|resolved-next-hop|route-source",
	"set":         "as-path|bgp|comm-list|community|community-list|distance|extcommunity|ip|ipv6|isis|large-community|level|local-preference|metric|metric-type|nexthop|next-hop|origin|ospf|resolution|segment-index|tag|weight",
	"description": "", "continue": "", "sub-route-map": "",
}
