package onto

import "slices"

// nxos is Cisco NX-OS (QoS and Interfaces configuration guides of the Nexus 9000).
var nxos = grammar{
	indent: "  ",
	single: slices.Concat(
		at("", `hostname; priority-flow-control watch-dog-interval; priority-flow-control watch-dog interval;
			priority-flow-control watch-dog shutdown-multiplier; priority-flow-control auto-restore multiplier;
			ip load-sharing address`),
		at("interface", `description; mtu; speed; switchport access vlan; switchport (exact off alone);
			switchport mode (alone); shutdown; vpc (alone); ethernet-segment (alone); ip address (first alone);
			vrf member (first alone); channel-group (first alone); lldp transmit (off); lldp receive (off);
			priority-flow-control mode (alone); priority-flow-control watch-dog (alone);
			service-policy type qos input (first alone); service-policy type queuing input (first alone);
			service-policy type queuing output (first alone)`),
		at("system qos", `service-policy type network-qos (first); service-policy type queuing output (first);
			service-policy type queuing input (first)`),
		at("policy-map type qos/class", "set qos-group"),
		at("policy-map type queuing/class", "bandwidth remaining percent; bandwidth percent; priority level; random-detect; pause buffer-size"),
		at("policy-map type network-qos/class", "mtu; pause pfc-cos"),
		at("vpc domain", "peer-keepalive; role priority"),
		at("vlan", "name"),
		at("router bgp", "router-id"),
		at("router bgp/address-family", "maximum-paths; redistribute direct (first)"),
		at("router bgp/neighbor", "remote-as; description"),
		at("hardware profile dlb", "mode; mac-address; flowlet-aging"),
	),
	owned: []string{"class-map type qos", "policy-map type qos", "policy-map type queuing",
		"policy-map type network-qos", "policy-map type qos/class", "policy-map type queuing/class",
		"policy-map type network-qos/class"},
	takes: []taking{{"vrf member", []string{"ip", "ipv6"}}, {"no switchport", []string{"switchport"}},
		{"switchport", []string{"ip", "ipv6", "vrf member"}}},
	numbers: []string{"router bgp", "vpc domain"},
	named:   []string{"class-map type qos *"},
	management: []string{"interface mgmt0", "vrf context management", "line", "username", "aaa", "ssh",
		"snmp-server"},
	outOfBand: "interface mgmt0",
	risky: []string{"switchport", "ip address", "vrf member", "shutdown", "channel-group", "switchport access",
		"switchport mode", "speed"},
	bears: at("interface", `ip access-group; ip port access-group; mac port access-group; ipv6 traffic-filter; storm-control;
		ip policy route-map; service-policy type qos output`),
	effects: nxosEffects,
	enter:   []string{"configure terminal"},
	leave:   []string{"end"},
}
