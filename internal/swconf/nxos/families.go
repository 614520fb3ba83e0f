package nxos

// features can be turned on; only LLDP's matters here.
const features = "analytics|bash-shell|bfd|bgp|cable-management|catena|container-tracker|cts|dhcp|dot1x|eigrp|evmed|evpn|fabric|fcoe|fcoe-npv|fex|grpc|guestshell|hardware-telemetry|hsrp|http-server|icam|imp|interface-vlan|isis|itd|lacp|ldap|lldp|macsec|mpls|msdp|mvpn|mvrp|nat|nbm|netconf|netflow|ngmvpn|ngoam|npiv|npv|ntp|nv|nxapi|nxsdk|openconfig|openflow|ospf|ospfv3|password|pbr|pim|pim6|plb|poe|port-security|private-vlan|privilege|ptp|radius|restconf|rip|scheduler|scp-server|segment-routing|sftp-server|signature-verification|sla|smart-channel|srv6|ssh|sflow|tacacs+|telemetry|telnet|tunnel|tunnel-encryption|udld|vdp|vmtracker|vn-segment-vlan-based|vpc|vrrp|vrrpv3|vtp|wccp"

// Commands without bearing on the data path (cli.Mode.Families), by the command references of NX-OS 10.
var portFamilies = map[string]string{
	"switchport":      "autostate|block|dot1q|host|isolated|monitor|port-security|priority|private-vlan|trunk|vlan|voice",
	"switchport mode": "access|dot1q-tunnel|fex-fabric|monitor|private-vlan|trunk",
	"ip":              "arp|authentication|bandwidth|delay|dhcp|directed-broadcast|distribute-list|drop-glean|eigrp|flow|forward|offset-list|passive-interface|summary-address|split-horizon|hello-interval|hold-time|igmp|local-proxy-arp|mtu|multicast|nat|ospf|pim|policy|port|port-unreachable|proxy-arp|redirects|rip|route|router|sticky-arp|tcp|ttl|udp|unnumbered|unreachables|verify",
	"ip address":      "dhcp|anycast",
	"ipv6":            "address|authentication|dhcp|eigrp|flow|forward|icmp|link-local|mld|nd|neighbor|ospfv3|pim|policy|port|redirects|rip|route|router|traffic-filter|unnumbered|unreachables|verify",
	"lldp":            "management|med|tlv-set",
	"lldp dcbx":       "receive|send|transmit",
	"vpc":             "orphan-port|peer-link",
	"flowcontrol":     "receive|send",
	"lacp":            "fast-select-hot-standby|graceful-convergence|max-bundle|min-links|mode|port-priority|rate|suspend-individual|vpc-convergence",
	"vrf":             "", "no-shutdown": "", "load-interval": "", "logging": "", "cdp": "",
	"medium": "", "beacon": "", "spanning-tree": "", "storm-control": "", "mac-address": "",
	"udld": "", "hsrp": "", "bfd": "", "link": "", "duplex": "", "delay": "", "bandwidth": "", "fabric": "",
	"source-interface": "", "member": "", "carrier-delay": "", "snmp": "",
	"hardware": "", "qos": "", "sflow": "", "dampening": "", "management": "", "mac": "", "macsec": "",
	"port-channel": "", "suppress-arp": "", "ingress-replication": "", "mcast-group": "", "global": "",
	"isis": "", "ospfv3": "", "autostate": "", "mdix": "", "packet": "", "vtp": "", "private-vlan": "",
	"fex": "", "mpls": "", "ptp": "", "cts": "", "dot1x": "", "ip6": "", "power": "", "poe": "",
	"multisite": "", "advertise": "", "tunnel": "", "keepalive": "", "vmtracker": "", "l2protocol": "",
	"nat":     "",
	"no-drop": "", "ttag": "", "ttag-strip": "", "telemetry": "", "rate-mode": "", "service": "",
	"port-type": "", "track": "", "debounce": "", "default": "", "overlay-encapsulation": "", "vrrp": "",
	"vrrpv3": "", "monitor": "", "phy": "", "errdisable": "", "flow": "", "transceiver": "", "ospf": "",
	"urpf": "", "untagged": "", "linkdebounce": "", "bind": "", "fcoe": "",
	"esi": "", "system-mac": "", "plane": "", "itu": "", "media-type": "", "autonomous": "",
}

// bgpFamilies are below router bgp.
var bgpFamilies = map[string]string{
	"bestpath":             "always-compare-med|compare-neighborid|compare-routerid|cost-community|igp-metric|med|origin-as",
	"bestpath as-path":     "ignore",
	"log-neighbor-changes": "", "graceful-restart": "", "graceful-restart-helper": "", "timers": "",
	"reconnect-interval": "", "cluster-id": "", "confederation": "", "fast-external-fallover": "",
	"maxas-limit": "", "enhanced-error": "", "event-history": "", "shutdown": "", "enforce-first-as": "",
	"flush-routes": "", "isolate": "", "suppress-fib-pending": "", "neighbor-down": "", "nsr": "",
	"dynamic-med-interval": "",
	"prefix-peer-timeout":  "", "disable-policy-batching": "", "advertise-map": "", "affinity-group": "",
}

// familyFamilies are in its address families.
var familyFamilies = map[string]string{
	"redistribute": "maximum-prefix",
	"advertise":    "", "dampen-igp-metric": "", "nexthop": "", "retain": "", "client-to-client": "",
	"default-metric": "", "default-information": "", "advertise-pip": "", "additional-paths": "",
	"table-map": "", "export-gateway-ip": "", "wait-igp-convergence": "", "suppress-inactive": "",
	"distance": "", "inject-map": "", "dampening": "", "maximum-prefix": "", "vni": "", "import": "",
	"advertise-system-mac": "", "dscp": "", "label-allocation-mode": "", "nexthop-load-balance": "",
}

// peerFamilies are in a peer-policy.
var peerFamilies = map[string]string{"send-community": "", "maximum-prefix": "", "next-hop-self": "",
	"soft-reconfiguration": "", "route-map": "", "prefix-list": "", "allowas-in": "", "weight": "",
	"default-originate": "", "filter-list": "", "route-reflector-client": "", "as-override": "",
	"advertisement-interval": "", "disable-peer-as-check": "", "unsuppress-map": "", "soo": "",
	"suppress-inactive": "", "rewrite-evpn-rt-asn": "", "next-hop-third-party": "", "default": ""}

// routeMapFamilies are in a route-map.
var routeMapFamilies = map[string]string{
	"match":      "as-number|as-path|community|evpn|extcommunity|interface|large-community|length|mac-list|metric|ospf-area|route-type|source-protocol|tag|vlan|vni",
	"match ip":   "address|multicast|next-hop|route-source",
	"match ipv6": "address|multicast|next-hop|route-source",
	"set":        "", "description": "", "continue": "",
}
