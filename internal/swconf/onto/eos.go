package onto

import (
	"slices"
	"strings"
)

// eos is Arista EOS (chapters on QoS, interfaces and BGP of the EOS manual).
var eos = grammar{
	indent: "   ",
	single: slices.Concat(
		at("", `hostname; service routing protocols model; priority-flow-control pause watchdog default timeout;
			priority-flow-control pause watchdog default recovery-time;
			priority-flow-control pause watchdog default polling-interval;
			priority-flow-control pause watchdog action; ip load-sharing * seed`),
		at("interface", `description; mtu; speed; switchport access vlan; switchport (exact off alone);
			switchport mode (alone); shutdown; mlag (alone); evpn ethernet-segment (alone); ip address (alone);
			vrf (alone); channel-group (alone); service-profile (alone); priority-flow-control on (alone);
			priority-flow-control priority * (alone); qos trust (alone off); qos dscp (alone); qos cos (alone);
			tx-queue * (alone); uc-tx-queue * (alone); service-policy type qos input (alone);
			platform trident mmu queue interface-profile (alone); dcbx mode; lldp transmit (off); lldp receive (off)`),
		at("qos profile/tx-queue", "bandwidth percent; priority; random-detect ecn"),
		at("qos profile/uc-tx-queue", "bandwidth percent; priority; random-detect ecn"),
		at("qos profile", "qos trust"),
		at("mlag configuration", "domain-id; local-interface; peer-address; peer-link"),
		at("vlan", "name"),
		at("router bgp", "router-id; maximum-paths; redistribute connected; neighbor * remote-as"),
	),
	owned: []string{"qos profile", "qos profile/tx-queue", "qos profile/uc-tx-queue",
		"platform trident mmu queue profile"},
	takes:   []taking{{"vrf", []string{"ip address", "ipv6 address"}}},
	numbers: []string{"router bgp"},
	management: []string{"interface Management*", "management", "username", "aaa", "vrf instance MGMT",
		"snmp-server"},
	outOfBand: "interface Management*",
	risky: []string{"switchport", "ip address", "vrf", "shutdown", "channel-group", "switchport access",
		"switchport mode", "speed", "ip routing"},
	bears: at("interface", `ip access-group; ipv6 access-group; mac access-group; storm-control; traffic-policy; shape rate;
		service-policy type pbr`),
	effects: eosEffects,
	undo: func(line string) string {
		switch {
		case begins(line, "qos trust"): // "no qos trust" is a setting too: no trust
			return "default qos trust"
		case strings.HasPrefix(line, "no "):
			return bare(line)
		}
		return "no " + line
	},
	enter: []string{"configure"},
	leave: []string{"end"},
}
