package planted

// Faults is the table. A cable has two ends; a NIC that breaks its cable's agreement may be
// told at its own end or at the switch's, where only one end shows.
var Faults = []Fault{
	{Name: "healthy-rail", Base: "rail"},
	{Name: "healthy-clos", Base: "clos"},
	{Name: "incast-rail", Base: "rail-busy", Sets: early, Cause: "incast",
		Culprits: []string{"seg-2-rail-1:Eth1",
			"seg-1-rail-1:Eth1", "seg-3-rail-1:Eth1"}},
	{Name: "incast-clos", Base: "clos-busy", Sets: early, Cause: "incast", Culprits: []string{"leaf-2-1:Eth2",
		"leaf-4-1:Eth1",
		"leaf-1-1:Eth1", "leaf-3-1:Eth1"}},

	{Name: "storm-rail-host-7", Base: "rail",
		Changes: "events: [{nic: host-7/nic-1, at: 50us, storm: true}]\n",
		Cause:   "storm", Culprits: []string{"host-7:nic1", "seg-2-rail-1:Eth3"}},
	{Name: "storm-rail-host-2", Base: "rail-busy",
		Changes: "events: [{nic: host-2/nic-1, at: 20us, storm: true}]\n",
		Cause:   "storm", Culprits: []string{"host-2:nic1", "seg-1-rail-1:Eth2"}},
	{Name: "storm-clos-host-13", Base: "clos",
		Changes: "events: [{nic: host-13/nic-1, at: 30us, storm: true}]\n",
		Cause:   "storm", Culprits: []string{"host-13:nic1", "leaf-4-1:Eth1"}},
	{Name: "storm-watchdog-clos-host-6", Base: "clos",
		Changes: "events: [{nic: host-6/nic-1, at: 30us, storm: true}]\n",
		Sets: []string{"switch.watchdog.on=true", "switch.watchdog.poll=20us", "switch.watchdog.detect=60us",
			"switch.watchdog.restore=60us"},
		Cause: "storm", Culprits: []string{"host-6:nic1", "leaf-2-1:Eth2"}},

	{Name: "slow-receiver-rail-host-9", Base: "rail", Changes: "deviations: [{node: host-9, pcie: 40Gbps}]\n",
		Cause: "slow-receiver", Culprits: []string{"host-9:nic1", "seg-3-rail-1:Eth1"}},
	{Name: "slow-receiver-clos-host-11", Base: "clos",
		Changes: "deviations: [{node: host-11, pcie: 25Gbps}]\n",
		Cause:   "slow-receiver", Culprits: []string{"host-11:nic1", "leaf-3-2:Eth1"}},
	{Name: "slow-receiver-rail-host-4", Base: "rail", Changes: "deviations: [{node: host-4, pcie: 30Gbps}]\n",
		Cause: "slow-receiver", Culprits: []string{"host-4:nic1", "seg-1-rail-1:Eth4"}},

	{Name: "wrong-class-rail-host-3", Base: "rail", Changes: "deviations: [{node: host-3, data_dscp: 0}]\n",
		Cause: "wrong-class", Culprits: []string{"host-3:nic1", "seg-1-rail-1:Eth3", "host-3"}},
	{Name: "wrong-class-clos-host-10", Base: "clos-busy",
		Changes: "deviations: [{node: host-10, data_dscp: 8}]\n",
		Cause:   "wrong-class", Culprits: []string{"host-10:nic1", "leaf-3-1:Eth2", "host-10"}},
	{Name: "wrong-map-rail-leaf-2", Base: "rail",
		Changes: "deviations: [{node: seg-2-rail-1, dscp: {24: 0}}]\n",
		Cause:   "wrong-class", Culprits: []string{"seg-2-rail-1"}},
	{Name: "wrong-map-clos-agg", Base: "clos", Changes: "deviations: [{node: agg-1-1, dscp: {24: 0}}]\n",
		Cause: "wrong-class", Culprits: []string{"agg-1-1"}},

	{Name: "pfc-off-rail-host-8", Base: "rail-busy", Changes: "deviations: [{node: host-8, pfc: false}]\n",
		Sets: early, Cause: "pfc-off", Culprits: []string{"host-8:nic1", "seg-2-rail-1:Eth4"}},
	{Name: "pfc-off-clos-host-9", Base: "clos-busy", Changes: "deviations: [{node: host-9, pfc: false}]\n",
		Sets: early, Cause: "pfc-off", Culprits: []string{"host-9:nic1", "leaf-3-1:Eth1"}},
	{Name: "pfc-off-rail-leaf-port", Base: "rail-busy",
		Changes: "deviations: [{port: \"seg-1-rail-1:Eth3\", pfc: false}]\n",
		Sets:    early, Cause: "pfc-off", Culprits: []string{"seg-1-rail-1:Eth3", "host-3:nic1"}},

	{Name: "ecn-off-rail-leaf-2", Base: "rail-busy",
		Changes: "deviations: [{node: seg-2-rail-1, ecn: false}]\n",
		Cause:   "ecn-off", Culprits: []string{"seg-2-rail-1"}},
	{Name: "ecn-off-clos-leaf-4", Base: "clos-busy", Changes: "deviations: [{node: leaf-4-1, ecn: false}]\n",
		Cause: "ecn-off", Culprits: []string{"leaf-4-1"}},

	{Name: "xoff-low-rail-leaf-3", Base: "rail-busy",
		Changes: "deviations: [{node: seg-3-rail-1, xoff: 20KB}]\n",
		Cause:   "xoff-low", Culprits: []string{"seg-3-rail-1"}},
	{Name: "xoff-low-clos-leaf-1", Base: "clos-busy", Changes: "deviations: [{node: leaf-1-1, xoff: 25KB}]\n",
		Cause: "xoff-low", Culprits: []string{"leaf-1-1"}},

	{Name: "headroom-rail-leaf-1", Base: "rail-busy",
		Changes: "deviations: [{node: seg-1-rail-1, headroom: 9KB}]\n",
		Sets:    early, Cause: "headroom-small", Culprits: []string{"seg-1-rail-1"}},
	{Name: "headroom-clos-leaf-2", Base: "clos-busy",
		Changes: "deviations: [{node: leaf-2-1, headroom: 9KB}]\n",
		Sets:    early, Cause: "headroom-small", Culprits: []string{"leaf-2-1"}},

	{Name: "flapping-rail-uplink", Base: "rail",
		Changes: "events: [{link: \"seg-1-rail-1:Eth5\", at: 40us, flap: {period: 60us, count: 4}, " +
			"detect: 0s, converge: 5us}]\n",
		Cause: "flapping", Culprits: []string{"seg-1-rail-1:Eth5", "spine-1:Eth1"}},
	{Name: "flapping-clos-host-cable", Base: "clos",
		Changes: "events: [{link: \"leaf-3-1:Eth1\", at: 20us, flap: {period: 50us, duty: 20, count: 3}}]\n",
		Cause:   "flapping", Culprits: []string{"leaf-3-1:Eth1", "host-9:nic1"}},

	{Name: "mtu-rail-spine", Base: "rail", Changes: "deviations: [{node: spine-2, mtu: 2KiB}]\n",
		Cause: "mtu", Culprits: []string{"spine-2"}},
	{Name: "mtu-clos-leaf", Base: "clos", Changes: "deviations: [{node: leaf-2-2, mtu: 1500B}]\n",
		Cause: "mtu", Culprits: []string{"leaf-2-2"}},

	{Name: "lossy-cable-rail-host-8", Base: "rail",
		Changes: "events: [{link: \"seg-2-rail-1:Eth4\", at: 0s, bit_error_rate: 0.0000002}]\n",
		Cause:   "lossy-cable", Culprits: []string{"seg-2-rail-1:Eth4", "host-8:nic1"}},
	{Name: "lossy-cable-clos-core", Base: "clos",
		Changes: "events: [{link: \"leaf-1-1:Eth3\", at: 0s, bit_error_rate: 0.0000005}]\n",
		Cause:   "lossy-cable", Culprits: []string{"leaf-1-1:Eth3", "agg-1-1:Eth3"}},

	{Name: "slow-link-rail-uplink", Base: "rail",
		Changes: "events: [{link: \"seg-3-rail-1:Eth5\", at: 0s, rate: 50Gbps}, " +
			"{link: \"seg-3-rail-1:Eth6\", at: 0s, rate: 400Gbps}]\n",
		Cause: "slow-link", Culprits: []string{"seg-3-rail-1:Eth5", "spine-1:Eth3"}},
	{Name: "slow-link-clos-host-12", Base: "clos",
		Changes: "events: [{link: \"leaf-3-2:Eth2\", at: 0s, rate: 25Gbps}]\n",
		Cause:   "slow-link", Culprits: []string{"leaf-3-2:Eth2", "host-12:nic1"}},

	{Name: "cnp-class-rail-host-5", Base: "rail-busy",
		Changes: "deviations: [{node: host-5, cnp_dscp: 24}]\n",
		Cause:   "cnp-class", Culprits: []string{"host-5:nic1", "host-5", "seg-2-rail-1:Eth1"}},
	{Name: "cnp-class-clos-host-13", Base: "clos-busy",
		Changes: "deviations: [{node: host-13, cnp_dscp: 0}]\n",
		Cause:   "cnp-class", Culprits: []string{"host-13:nic1", "host-13", "leaf-4-1:Eth1"}},

	{Name: "uplink-down-rail", Base: "rail",
		Changes: "events: [{link: \"seg-2-rail-1:Eth6\", at: 0s, up: false}]\n",
		Sets:    []string{"fabric.fabric_link.rate=200Gbps"},
		Cause:   "uplink-down", Culprits: []string{"seg-2-rail-1:Eth6", "spine-2:Eth2"}},
	{Name: "uplink-down-clos", Base: "clos",
		Changes: "events: [{link: \"leaf-4-2:Eth4\", at: 0s, up: false}]\n",
		Sets:    []string{"fabric.fabric_link.rate=100Gbps"},
		Cause:   "uplink-down", Culprits: []string{"leaf-4-2:Eth4", "agg-4-2:Eth4"}},

	{Name: "polarised-clos", Base: "clos-pod", Sets: append([]string{"switch.hash_seed=same"}, early...),
		Cause: "polarised", Culprits: []string{"agg-1-1", "agg-1-2"}},
}

// early has switches pause before senders slow down.
var early = []string{"switch.queues.3.xoff=100KB", "switch.queues.3.xon=60KB"}
