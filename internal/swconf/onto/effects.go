package onto

// Sources of the commands' interruptions. Entries without a source are unsourced.
const (
	ciscoQueuing = "Cisco Nexus 9000 NX-OS QoS guide 10.5(x), Configuring Queuing and Scheduling: \"changes are disruptive\" for all ports of the type"
	ciscoVRF     = "Ansible cisco.nxos.nxos_vrf_interface: a VRF taken off removes all L3 attributes, as the CLI does"
	cumulus5     = "Cumulus Linux 5.6 guide, Quality of Service: a reload of switchd may lose packets briefly where buffers, pause or PFC change, and not else"
)

const fromMemory = "unsourced"

// reclassed is the effect of another classification. The change itself loses no packet, but those of a DSCP that leaves
// its lossless class are best effort from then on.
const reclassed = "packets change class: those whose new class has no PFC are dropped under load"

// effect is the interruption by a command when it is typed, or removed. Words preceded by + match only the command
// itself, not its no form.
type effect struct {
	path, words, says string
	from              string // source; "": unsourced
	instead           bool   // whether only a replacement interrupts traffic, not the first setting
}

// NX-OS' guide states that PFC on a port causes no port flap (QoS guide 10.5(x), Configuring Priority Flow Control), so
// it has no entry.
var nxosEffects = []effect{
	{path: "system qos", words: "service-policy type network-qos", says: "all ports: buffers are divided anew, packets are lost"},
	{path: "system qos", words: "service-policy type queuing", says: "all ports lose packets briefly",
		from: ciscoQueuing},
	{path: "interface", words: "service-policy type queuing", says: "ports of its type lose packets briefly", from: ciscoQueuing},
	{path: "policy-map type queuing/class", says: "ports with the policy lose packets briefly",
		from: ciscoQueuing},
	{path: "policy-map type queuing", says: "ports with the policy lose packets briefly", from: ciscoQueuing},
	{path: "policy-map type network-qos/class", says: "all ports: buffers are divided anew, packets are lost"},
	{path: "interface", words: "service-policy type qos", says: reclassed},
	{path: "policy-map type qos/class", says: reclassed},
	{path: "class-map type qos", says: reclassed},
	{path: "interface", words: "mtu", says: "the port may go down briefly"},
	{path: "interface", words: "speed", says: "the port is reset"},
	{path: "interface", words: "switchport mode", says: "VLANs on the port change"},
	{path: "interface", words: "switchport access vlan", says: "VLANs on the port change"},
	{path: "interface", words: "switchport", says: "the port is reset; its traffic is interrupted"},
	{path: "interface", words: "ip address", says: "routes and sessions over the port", instead: true},
	{path: "interface", words: "ipv6 address", says: "routes and sessions over the port", instead: true},
	{path: "interface", words: "vrf member", says: "the port's addresses are removed", from: ciscoVRF},
	{path: "interface", words: "channel-group", says: "the port is removed from its channel or added to one"},
	{path: "interface", words: "+shutdown", says: "what the port carries"},
	{words: "ip load-sharing", says: "flows change their paths once"},
	{path: "vpc domain", words: "peer-keepalive", says: "the session of the pair, and its channels", instead: true},
	{words: "hardware profile dlb", says: "takes effect with the next reload"},
	{path: "router bgp", words: "router-id", says: "all BGP sessions"},
	{path: "router bgp/neighbor", words: "remote-as", says: "the session with this neighbour", instead: true},
	{path: "router bgp/address-family", words: "redistribute direct", says: "all neighbours learn other routes", instead: true},
	{path: "router bgp/address-family", words: "maximum-paths", says: "routes are chosen anew"},
	{path: "router bgp", words: "bestpath", says: "routes are chosen anew"},
}

var eosEffects = []effect{
	{path: "interface", words: "service-profile", says: "the port's queues are set up anew"},
	{path: "qos profile", says: "queues of all ports with the profile are set up anew"},
	{path: "qos profile/tx-queue", says: "queues of all ports with the profile are set up anew"},
	{path: "qos profile/uc-tx-queue", says: "queues of all ports with the profile are set up anew"},
	{path: "platform trident mmu queue profile", says: "buffers of all ports with the profile are divided anew, packets are lost"},
	{words: "platform trident mmu queue profile * apply", says: "buffers are divided anew, packets are lost"},
	{path: "interface", words: "platform trident mmu", says: "the port's buffers are divided anew, packets are lost"},
	{path: "interface", words: "priority-flow-control", says: "PFC of the port; it may go down briefly"},
	{path: "interface", words: "qos trust", says: reclassed},
	{words: "qos map", says: reclassed},
	{words: "service routing protocols model", says: "takes effect with the next reload"},
	{path: "interface", words: "speed", says: "the port is reset"},
	{path: "interface", words: "switchport mode", says: "VLANs on the port change"},
	{path: "interface", words: "switchport access vlan", says: "VLANs on the port change"},
	{path: "interface", words: "switchport", says: "what the port carried ends"},
	{path: "interface", words: "ip address", says: "routes and sessions over the port", instead: true},
	{path: "interface", words: "vrf", says: "the port's addresses are removed"},
	{path: "interface", words: "channel-group", says: "the port is removed from its channel or added to one"},
	{path: "interface", words: "+shutdown", says: "what the port carries"},
	{words: "ip load-sharing", says: "flows change their paths once"},
	{path: "mlag configuration", says: "the session of the pair, and its channels", instead: true},
	{path: "router bgp", words: "router-id", says: "all BGP sessions"},
	{path: "router bgp", words: "neighbor * remote-as", says: "the session with this neighbour", instead: true},
	{path: "router bgp", words: "redistribute connected", says: "all neighbours learn other routes",
		instead: true},
	{path: "router bgp", words: "maximum-paths", says: "routes are chosen anew"},
}

var frrEffects = []effect{
	{path: "interface", words: "ip address", says: "routes and sessions over the port", instead: true},
	{path: "interface", words: "+shutdown", says: "what the port carries"},
	{path: "router bgp", words: "bgp router-id", says: "all BGP sessions"},
	{path: "router bgp", words: "neighbor * remote-as", says: "the session with this neighbour", instead: true},
	{path: "router bgp", words: "neighbor * timers", says: "nothing until the session is reset", instead: true},
	{path: "router bgp", words: "bgp ebgp-requires-policy", says: "the device's own neighbors without policies receive and advertise routes, too"},
	{path: "router bgp/address-family", words: "redistribute connected", says: "all neighbours learn other routes", instead: true},
	{path: "router bgp/address-family", words: "maximum-paths", says: "routes are chosen anew"},
	{path: "router bgp", words: "bgp bestpath", says: "routes are chosen anew"},
}

var nvueEffects = []effect{
	{words: "nv set interface * link speed", says: "the port is reset"},
	{words: "nv set interface * link mtu", says: "the port may go down briefly"},
	{words: "nv set interface * link state down", says: "what the port carries"},
	{words: "nv * interface * ip address", says: "routes and sessions over the port", instead: true},
	{words: "nv * interface * ip vrf", says: "routes and sessions over the port"},
	{words: "nv * interface * bridge domain", says: "what the port carried ends"},
	{words: "nv * interface * qos pfc-watchdog"},
	{words: "nv * interface * qos", says: "the port's queues or pauses are set up anew, packets may be lost",
		from: cumulus5},
	{words: "nv * interface * bond", says: "the port is removed from its bond or added to one"},
	{words: "nv * qos traffic-pool", says: "buffers are divided anew, packets may be lost", from: cumulus5},
	{words: "nv * qos advance-buffer-config", says: "buffers are divided anew, packets may be lost", from: cumulus5},
	{words: "nv * qos pfc *", says: "buffers of all ports with the profile are divided anew, packets may be lost", from: cumulus5},
	{words: "nv * qos roce", says: "queues and buffers of all ports are set up anew, packets may be lost",
		from: cumulus5},
	{words: "nv * qos mapping", says: reclassed, from: cumulus5},
	{words: "nv * qos egress-scheduler", says: "queues are scheduled anew, none is lost", from: cumulus5},
	{words: "nv * system forwarding hash-seed", says: "flows change their paths once"},
	{words: "nv * router bgp router-id", says: "all BGP sessions", instead: true},
	{words: "nv * vrf * router bgp neighbor * remote-as", says: "the session with this neighbour", instead: true},
}
