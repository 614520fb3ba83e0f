package onto

import "strings"

// eos is Arista EOS (chapters on QoS, interfaces and BGP of the EOS manual).
var eos = grammar{
	indent: "   ",
	single: []command{
		{path: "", words: "hostname"},
		{path: "", words: "service routing protocols model"},
		{path: "", words: "priority-flow-control pause watchdog default timeout"},
		{path: "", words: "priority-flow-control pause watchdog default recovery-time"},
		{path: "", words: "priority-flow-control pause watchdog default polling-interval"},
		{path: "", words: "priority-flow-control pause watchdog action"},
		{path: "", words: "ip load-sharing * seed"},
		{path: "interface", words: "description"}, {path: "interface", words: "mtu"},
		{path: "interface", words: "speed"}, {path: "interface", words: "switchport access vlan"},
		{path: "interface", words: "switchport", exact: true, off: true, alone: true},
		{path: "interface", words: "switchport mode", alone: true},
		{path: "interface", words: "shutdown"}, {path: "interface", words: "mlag", alone: true},
		{path: "interface", words: "evpn ethernet-segment", alone: true},
		{path: "interface", words: "ip address", alone: true},
		{path: "interface", words: "vrf", alone: true},
		{path: "interface", words: "channel-group", alone: true},
		{path: "interface", words: "service-profile", alone: true},
		{path: "interface", words: "priority-flow-control on", alone: true},
		{path: "interface", words: "priority-flow-control priority *", alone: true},
		{path: "interface", words: "qos trust", alone: true, off: true},
		{path: "interface", words: "qos dscp", alone: true},
		{path: "interface", words: "qos cos", alone: true},
		{path: "interface", words: "tx-queue *", alone: true},
		{path: "interface", words: "uc-tx-queue *", alone: true},
		{path: "interface", words: "service-policy type qos input", alone: true},
		{path: "interface", words: "platform trident mmu queue interface-profile", alone: true},
		{path: "interface", words: "dcbx mode"},
		{path: "interface", words: "lldp transmit", off: true},
		{path: "interface", words: "lldp receive", off: true},
		{path: "qos profile/tx-queue", words: "bandwidth percent"},
		{path: "qos profile/tx-queue", words: "priority"},
		{path: "qos profile/tx-queue", words: "random-detect ecn"},
		{path: "qos profile/uc-tx-queue", words: "bandwidth percent"},
		{path: "qos profile/uc-tx-queue", words: "priority"},
		{path: "qos profile/uc-tx-queue", words: "random-detect ecn"},
		{path: "qos profile", words: "qos trust"},
		{path: "mlag configuration", words: "domain-id"},
		{path: "mlag configuration", words: "local-interface"},
		{path: "mlag configuration", words: "peer-address"},
		{path: "mlag configuration", words: "peer-link"},
		{path: "vlan", words: "name"}, {path: "router bgp", words: "router-id"},
		{path: "router bgp", words: "maximum-paths"},
		{path: "router bgp", words: "redistribute connected"},
		{path: "router bgp", words: "neighbor * remote-as"},
	},
	owned: []string{"qos profile", "qos profile/tx-queue", "qos profile/uc-tx-queue",
		"platform trident mmu queue profile"},
	takes:   []taking{{"vrf", []string{"ip address", "ipv6 address"}}},
	numbers: []string{"router bgp"},
	management: []string{"interface Management*", "management", "username", "aaa", "vrf instance MGMT",
		"snmp-server"},
	outOfBand: "interface Management*",
	risky: []string{"switchport", "ip address", "vrf", "shutdown", "channel-group", "switchport access",
		"switchport mode", "speed", "ip routing"},
	bears: []command{{path: "interface", words: "ip access-group"},
		{path: "interface", words: "ipv6 access-group"},
		{path: "interface", words: "mac access-group"}, {path: "interface", words: "storm-control"},
		{path: "interface", words: "traffic-policy"}, {path: "interface", words: "shape rate"},
		{path: "interface", words: "service-policy type pbr"}},
	effects: eosEffects,
	undo: func(line string) string {
		switch {
		case begins(line, "qos trust"): // its no is a trust of its own: none
			return "default qos trust"
		case strings.HasPrefix(line, "no "):
			return bare(line)
		}
		return "no " + line
	},
	enter: []string{"configure"},
	leave: []string{"end"},
}
