package swconf

// rules is every rule, in the order in which a reader would check by hand. Rules
// without a check are reported by the dialects while they read.
var rules = []Rule{
	{"threshold-order", Error, "xON < WRED minimum < WRED maximum < xOFF",
		"ECN must slow the senders before PFC stops them: with PFC first, pauses spread upstream and " +
			"block " +
			"other flows behind them", (*linter).thresholdOrder},
	{"threshold-buffer", Error, "thresholds lie within the packet buffer",
		"a threshold the buffer cannot reach never acts: packets are dropped first",
		(*linter).thresholdBuffer},
	{"headroom", Error, "headroom covers rate, cable and MTU",
		"what is still on its way when the pause takes effect finds no room and is lost; one lost packet " +
			"stalls a collective", (*linter).headroom},
	{"ecn-missing", Error, "every queue under PFC marks ECN",
		"without marks nothing slows the senders but PFC: pauses become the only congestion control and " +
			"spread through the fabric", (*linter).ecnMissing},
	{"ecn-never", Warning, "ECN has a probability to mark with",
		"with probability 0 nothing is marked until the maximum threshold, and everything above it",
		(*linter).ecnNever},
	{"wred-average", Info, "WRED acts on the instantaneous queue",
		"an average follows the queue late: marks come after the burst, and last beyond it",
		(*linter).wredAverage},
	{"pfc-class", Error, "PFC and the lossless classes name the same priorities",
		"packets of the class are dropped under congestion although the configuration looks lossless, or " +
			"the wrong class is paused", (*linter).pfcClass},
	{"pfc-interface", Error, "ports pause the classes that are lossless",
		"the port neither sends nor obeys pauses: packets from or to its neighbour are lost when a queue " +
			"fills", (*linter).pfcInterface},
	{"pfc-one-end", Error, "both ends of a cable pause the same priorities",
		"one end keeps sending while the other believes it has stopped it: packets are lost on this cable " +
			"only, which is hard to find", (*linter).pfcOneEnd},
	{"pfc-mode-differs", Warning, "both ends of a cable negotiate PFC, or neither",
		"an end in mode auto waits for DCBX from a neighbour that forces PFC on: what it does then " +
			"depends " +
			"on the release", (*linter).pfcModeDiffers},
	{"pfc-deadlock", Error, "pauses cannot wait for one another in a ring",
		"when each switch of a ring waits until the next one has room, none of them sends again: all " +
			"traffic of the class stands still until a watchdog drops it", (*linter).pfcDeadlock},
	{"pfc-all-classes", Warning, "PFC protects few classes",
		"every lossless class needs headroom on every port, and a storm in one of them pauses everything: " +
			"keep PFC to the RDMA class", (*linter).pfcAllClasses},
	{"pfc-priority-shared", Error, "no two classes share a PFC priority",
		"a pause for one class stops the other one too", (*linter).pfcShared},
	{"cnp-not-strict", Error, "CNPs leave with strict priority",
		"congestion notifications wait in the congestion they report: senders slow down too late",
		(*linter).cnpStrict},
	{"cnp-in-roce-queue", Error, "CNPs have a queue of their own",
		"a CNP behind a full RoCE queue, or stopped by PFC with it, arrives when it is too late; and " +
			"where " +
			"WRED marks data it drops CNPs, which are not ECN-capable", (*linter).cnpQueue},
	{"cnp-lossless", Warning, "the queue of CNPs is not paused",
		"a pause stops the notifications that would end the congestion", (*linter).cnpLossless},
	{"data-strict", Warning, "RoCE data shares bandwidth instead of having strict priority",
		"bulk data with strict priority starves everything below it, routing protocols included",
		(*linter).dataStrict},
	{"dscp-unmapped", Error, "the DSCPs of RoCE data and CNPs are classified",
		"the packets go to the default class: no PFC, no ECN, drops under load", (*linter).dscpUnmapped},
	{"dscp-differs", Error, "all switches map a DSCP to the same queue",
		"a flow is lossless at one hop and lossy at the next, and a pause for one priority stops another " +
			"class at the neighbour", (*linter).dscpDiffers},
	{"no-classification", Error, "every cabled port classifies what it receives",
		"what comes in on this port lands in the default class, whatever its DSCP",
		(*linter).noClassification},
	{"member-idle", Warning, "what port channels' members say counts",
		"the line looks like configuration and changes nothing: the channel's policies and MTU hold, or " +
			"none",
		(*linter).memberIdle},
	{"mtu-small", Error, "the MTU holds the RoCE path MTU and its headers",
		"full-size RoCE packets are dropped: small messages work, large ones hang", (*linter).mtuSmall},
	{"mtu-differs", Error, "both ends of a cable have one MTU",
		"frames that one end sends are too long for the other and are dropped there", (*linter).mtuDiffers},
	{"bandwidth-sum", Error, "bandwidth shares add up to at most 100 %",
		"the switch refuses the policy, or scales the shares in its own way", (*linter).bandwidthSum},
	{"bandwidth-left", Warning, "bandwidth shares add up to 100 %",
		"the rest belongs to nobody by the text; what the switch does with it depends on the chip",
		(*linter).bandwidthLeft},
	{"data-starved", Error, "the RoCE queue has a share of the bandwidth",
		"a queue with 0 % sends only when nothing else does: training waits for everything else",
		(*linter).dataStarved},
	{"trimming", Error, "trimmed packets are told of, and go before data",
		"headers that nobody classifies, or that wait behind data, tell of a loss later than the loss " +
			"itself would", (*linter).trimming},
	{"watchdog-missing", Warning, "the PFC watchdog runs",
		"a port that is paused for good, by a faulty NIC for example, blocks its class through the whole " +
			"fabric until somebody finds it", (*linter).watchdogMissing},
	{"watchdog-floor", Warning, "queues under EOS's watchdog have guaranteed bandwidth",
		"by Arista's guide the watchdog looks at no other queue: one that strict queues starve would look " +
			"stuck", (*linter).watchdogFloor},
	{"policy-unused", Warning, "what is defined is applied",
		"the text looks configured and does nothing", (*linter).unused},
	{"policy-undefined", Error, "what is applied is defined",
		"the switch refuses the line or applies nothing: the port runs with defaults", (*linter).undefined},
	{"dlb-mac-differs", Error, "all switches have one DLB MAC address",
		"a switch drops what a neighbour sends to a next hop MAC that it does not own", (*linter).dlbMAC},
	{"dlb-mode-differs", Warning, "all switches balance in one mode",
		"packets that one tier keeps in order are reordered by the other", (*linter).dlbMode},
	{"dlb-ports", Error, "DLB covers ports that exist", "the port balances by static hash as if DLB were " +
		"off",
		(*linter).dlbPorts},
	{"lldp-off", Error, "LLDP runs where PFC is negotiated",
		"mode auto waits for DCBX, which travels in LLDP: without it PFC never comes up", (*linter).lldpOff},
	{"ecmp-polarisation", Warning, "tiers hash with different seeds",
		"the second tier makes the same choice as the first: part of its links stays empty and the rest " +
			"is " +
			"overloaded", (*linter).polarisation},
	{"bgp-no-multipath", Error, "BGP uses equal-cost paths",
		"all traffic to a prefix takes one spine, the others idle", (*linter).bgpMultipath},
	{"bgp-relax", Warning, "equal-cost paths over different neighbour ASes are used",
		"paths of equal length through different AS numbers do not count as equal without multipath-relax",
		(*linter).bgpRelax},
	{"bgp-inactive", Error, "every neighbour is active in an address family",
		"the session comes up and carries no routes", (*linter).bgpInactive},
	{"bgp-as-mismatch", Error, "remote-as is the neighbour's AS number",
		"the session never comes up: the links to this neighbour carry nothing", (*linter).bgpAS},
	{"bgp-neighbor-missing", Error, "every cable between switches has a BGP session",
		"the cable carries no traffic: less bandwidth, and one failure nearer to none",
		(*linter).bgpMissing},
	{"bgp-silent", Error, "BGP announces the networks of its servers",
		"no other switch learns where the servers are: traffic between switches has no route",
		(*linter).bgpSilent},
	{"bgp-unnumbered", Error, "a port with an unnumbered neighbour has a link-local address",
		"the session has no address to run on and never comes up", (*linter).bgpUnnumbered},
	{"bgp-duplicate", Error, "router IDs are unique, and AS numbers of leaves",
		"BGP refuses the session, or drops the other's routes as a loop", (*linter).bgpDuplicate},
	{"bgp-policy", Error, "FRR's eBGP is allowed without policies",
		"since RFC 8212 FRR neither announces nor accepts eBGP routes without a policy",
		(*linter).bgpPolicy},
	{"evpn-next-hop", Error, "who passes EVPN routes on over eBGP leaves their next hop",
		"routes of other leaves lead to the switch in between, which ends no tunnel: VXLAN traffic is lost " +
			"there",
		(*linter).evpnNextHop},
	{"evpn-segment", Error, "Ethernet segments have multihoming on, and uplinks that are watched",
		"without multihoming both switches flood to the server; a switch whose uplinks are all down keeps " +
			"its segment up and draws the server's traffic into a hole", (*linter).evpnSegment},
	{"srv6-sid", Error, "SRv6 SIDs are in their locator and block, and unique",
		"a list of segments names another switch, or none: its packets are lost", (*linter).srv6},
	{"srv6-way", Error, "static routes lead to the SIDs of each neighbour by its cable",
		"ways over the cable cannot be said, or end elsewhere: nothing converges where ways stand in " +
			"packets",
		(*linter).srv6Ways},
	{"address-duplicate", Error, "no address stands twice",
		"two interfaces answer for one address: traffic goes to either", (*linter).addressDuplicate},
	{"link-subnet", Error, "both ends of a cable are in one subnet",
		"the ends cannot reach each other, the BGP session stays down", (*linter).linkSubnet},
	{"speed-differs", Error, "a port has its cable's speed",
		"the link stays down, or runs at a rate the plan does not have", (*linter).speed},
	{"channel-ends", Error, "a layer 3 port channel has the same cables at both ends",
		"LACP takes the odd cable out, or brings nothing up: less bandwidth than planned, or a hole",
		(*linter).channels},
	{"mlag", Error, "an MLAG has all that it needs, and its peer link members",
		"the pair never forms: each switch answers LACP with its own identity, and servers take down the " +
			"cables to one of the two", (*linter).mlag},
	{"nic-vlans", Error, "ports of a NIC without a bundle are in VLANs of their own",
		"two switches that share nothing answer for one subnet, or LACP waits for a partner that is none: " +
			"half of the NIC's addresses are not reached", (*linter).portsApart},
	{"rail-port", Error, "NICs are in the ports of their rails",
		"what the GPU sends to its rail takes another way, or none where rails are apart: collectives " +
			"wait " +
			"for the slowest", (*linter).railPort},
	{"port-down", Error, "cabled ports are not shut down", "the cable is there and carries nothing",
		(*linter).portDown},
	{"port-missing", Error, "every cabled port is configured",
		"the port runs with defaults: no PFC, no classification, no routing", (*linter).portMissing},
	{"switch-missing", Warning, "every configuration belongs to a switch of the fabric",
		"rules about cables and neighbours cannot be checked", (*linter).switchMissing},
	{"host-trust", Error, "NICs take priorities from DSCPs as switches do",
		"the NIC puts RoCE into the default class and obeys no pause for it, whatever the packets' DSCP",
		(*linter).hostTrust},
	{"host-data-class", Error, "the DSCP of a host's data goes to a lossless queue",
		"the switch treats the data as any other: no PFC, drops under load, and go-back-N sends whole " +
			"windows " +
			"again", (*linter).hostDataClass},
	{"host-pfc", Error, "NICs pause the priority that their data have",
		"the NIC goes on sending while the switch asks it to stop, and loses what it cannot take itself",
		(*linter).hostPFC},
	{"host-pfc-differs", Error, "NIC and switch pause the same priorities",
		"one end pauses a class that the other does not know as lossless: packets are lost on this cable " +
			"only",
		(*linter).hostPFCDiffers},
	{"host-priority", Error, "NIC and switch give data the same priority",
		"a pause for data stops another class, and the data go on", (*linter).hostPriority},
	{"host-cnp-class", Error, "CNPs leave a host for a strict queue",
		"congestion notifications wait in the congestion they report: senders slow down too late",
		(*linter).hostCNPClass},
	{"host-ecn", Error, "ECN is on for data at both halves of the NIC",
		"marks are not answered, or answers slow nothing down: pauses become the only congestion control",
		(*linter).hostECN},
	{"host-mtu", Error, "the NIC's MTU fits the switch's",
		"the switch drops the NIC's largest frames: small messages work, large ones hang",
		(*linter).hostMTU},
	{"host-path-mtu", Warning, "the NIC's MTU holds full RoCE packets",
		"packets are smaller than planned: more headers, and more packets per second than the NIC may do",
		(*linter).hostPathMTU},
	{"host-class-differs", Warning, "what sets the DSCP of RoCE agrees",
		"tests by rdma_cm measure another class than NCCL uses", (*linter).hostClassDiffers},
	{"host-class-unset", Warning, "NCCL's packets are given a DSCP",
		"PFC and ECN are set up for a class that nothing uses", (*linter).hostClassUnset},
	{"host-differs", Error, "all hosts mark data and CNPs alike",
		"what one host sends is lossless and what another answers is not", (*linter).hostDiffers},
	{"host-gid", Error, "NCCL's address is one of RoCE v2",
		"packets without an IP header have no DSCP and are not routed; link-local ones stay in their subnet",
		(*linter).hostGID},
	{"host-gid-even", Warning, "NCCL's address is probably one of RoCE v2",
		"packets without an IP header have no DSCP and are not routed", (*linter).hostGIDEven},
	{"host-qps", Info, "flows are enough for switches that hash them",
		"flows of a hash collide: some links are full while others idle", (*linter).hostQPs},
	{"host-pause", Warning, "pauses are PFC's alone",
		"link-level pause stops every class, CNPs among them, and NICs that do both refuse one",
		(*linter).hostPause},
	{"unknown-line", Info, "every line is understood", "what the line does is not considered here",
		(*linter).unknownLines},
	{"duplicate-definition", Error, "nothing is defined twice", "", nil},
	{"bad-value", Error, "values are of the kind that the command takes", "", nil},
	{"watchdog-range", Error, "watchdog times are in the range the system takes", "", nil},
	{"ecmp-fields", Warning, "ECMP hashes the UDP source port", "", nil},
	{"queue-default", Warning, "traffic classes are given queues", "", nil},
	{"dlb-egress-policy", Warning, "no egress policy on ports with DLB", "", nil},
	{"dlb-span", Warning, "no transmit SPAN on ports with DLB", "", nil},
}

// RuleByID returns a rule.
func RuleByID(id string) *Rule {
	for i := range rules {
		if rules[i].ID == id {
			return &rules[i]
		}
	}
	return nil
}
