package frr

// Commands without bearing on the data path (cli.Mode.Families), by the documentation of FRR 10.
var portFamilies = map[string]string{
	"ip":          "access-group|eigrp|forwarding|igmp|mroute|msdp|multicast|nhrp|ospf|pim|policy|rip|summary-address",
	"ip router":   "eigrp|isis|openfabric|ospf", // not ip route, which ends the interface mode
	"ipv6 router": "isis|openfabric|ospf6",
	"ipv6":        "access-group|eigrp|forwarding|mld|mroute|multicast|nd|nhrp|ospf6|pim|policy|rip|ripng",
	"evpn":        "mh",
	"isis":        "", "openfabric": "", "bandwidth": "", "link-detect": "",
	"multicast": "", "vrf": "", "mpls": "", "vrrp": "", "tunnel": "", "nhrp": "", "babel": "",
	"pbr-policy": "",
}

// bgpFamilies are below router bgp.
var bgpFamilies = map[string]string{
	"bgp":                          "allow-martian-nexthop|always-compare-med|client-to-client|cluster-id|coalesce-time|conditional-advertisement|confederation|config-timer|dampening|default|default-originate|deterministic-med|disable-ebgp-connected-route-check|enforce-first-as|fast-convergence|fast-external-failover|graceful-restart|graceful-restart-disable|graceful-shutdown|hard-administrative-reset|input-queue-limit|ipv6-auto-ra|labeled-unicast|listen|log-neighbor-changes|long-lived-graceful-restart|max-med|minimum-holdtime|network|nexthop|nht|output-queue-limit|pbr|reject-as-sets|retain|route-map|route-reflector|router-info|session-dscp|shutdown|snmp|suppress-duplicates|suppress-fib-pending|tcp-keepalive|update-delay|update-group|use-underlays-nexthop-weight|wait-for-install",
	"bmp":                          "mirror|startup-delay",
	"bgp bestpath":                 "aigp|bandwidth|compare-routerid|med|peer-type",
	"bgp bestpath as-path":         "confed|ignore",
	"timers":                       "bgp",
	"use-underlays-nexthop-weight": "",
	"coalesce-time":                "", "read-quanta": "", "write-quanta": "", "sid": "", "srv6-only": "",
	"maximum-paths": "ibgp", "vnc": "", "rfp": "",
}

// neighborWords follow neighbor <peer>: settings of a neighbour that neither create nor identify it.
const neighborWords = "addpath-rx-paths-limit|addpath-tx-all-paths|addpath-tx-best-selected|addpath-tx-bestpath-per-AS|advertisement-interval|aigp|as-override|attribute-unchanged|bfd|capability|default-originate|description|disable-addpath-rx|disable-connected-check|disable-link-bw-encoding-ieee|dont-capability-negotiate|ebgp-multihop|encapsulation|encapsulation-srv6|encapsulation-srv6-relax|enforce-first-as|enforce-multihop|extended-link-bandwidth|extended-optional-parameters|graceful-restart|graceful-restart-disable|graceful-restart-helper|graceful-shutdown|ip-transparent|local-role|maximum-prefix|maximum-prefix-out|next-hop-self|nexthop-local|oad|optional-parameters|override-capability|passive|password|path-attribute|port|rpki|remove-private-AS|route-reflector-client|route-server-client|sender-as-path-loop-detection|send-community|send-nexthop-characteristic|solo|soft-reconfiguration|soo|strict-capability-match|tcp-mss|timers|ttl-security|update-source|weight|x-permit|upa|local-link-id|remote-link-id|send-nexthop-characteristics"

// familyFamilies are in address families.
var familyFamilies = map[string]string{
	"redistribute":  "bgp",
	"maximum-paths": "ibgp",
	"bgp":           "dampening|nexthop",
	"advertise":     "ipv4|ipv6", "advertise-all-vni": "", "advertise-default-gw": "",
	"advertise-svi-ip": "",
	"autort":           "", "default-originate": "", "import": "", "export": "", "rd": "",
	"sid": "", "nexthop": "",
	"distribute": "", "enable-resolve-overlay-index": "", "local-install": "", "ead-es-frag": "",
	"ead-es-route-target": "", "mup": "", "encapsulation-srv6": "", "advertise-unreachability": "",
	"rt":           "",
	"route-target": "", "vni": "", "distance": "", "use-es-l3nhg": "",
	"disable-ead-evi-rx": "", "disable-ead-evi-tx": "", "dup-addr-detection": "", "label": "",
	"flooding": "",
}

// routeMapFamilies are in a route-map.
var routeMapFamilies = map[string]string{
	"match":      "alias|as-path|community|evpn|extcommunity|interface|large-community|local-preference|mac|metric|origin|peer|probability|rpki|rpki-extcommunity|script|source-instance|source-protocol|source-vrf|tag|multicast-interface|multicast-iif|src-peer|dst-peer|vpn",
	"match ip":   "address|next-hop|route-source|multicast-group|multicast-source",
	"match ipv6": "address|next-hop|route-source|multicast-group|multicast-source",
	"set":        "", "on-match": "", "call": "", "description": "", "continue": "",
}
