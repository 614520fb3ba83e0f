package counters

import (
	"regexp"
)

// NX-OS, as Nexus 9000 switches print it; older forms are also read.
var nxosFormats = []Format{
	{Name: "nxos-interface", System: "nxos", About: "show interface: state, MTU, speed, errors, resets",
		Command: "show interface",
		command: regexp.MustCompile(`^sh\w* int(?:e|er|erface)?(?: [eE]\S*\s*[\d/]*)?(?:\s*\|.*)?$`),
		head: regexp.MustCompile(`^(?:Ethernet|mgmt|port-channel|[Vv]lan|nve|fc|loopback|` +
			`Tunnel)\S* is (?:up|down)(?:$|\s)`),
		read: readInterfaces, write: writeNXOSInterface},
	{Name: "nxos-queuing", System: "nxos", About: "show queuing interface: packets, drops, pauses by class",
		Command: "show queuing interface",
		command: regexp.MustCompile(`^sh\w* queu\w* (?:int\w*|stat\w*)\b`),
		head:    regexp.MustCompile(`^(?:slot\s+\d+\s*$|(?:Egress|Ingress) Queuing for \S+)`),
		read:    readQueuing, write: writeQueuing},
	{Name: "nxos-pfc-detail", System: "nxos",
		About:   "show interface priority-flow-control detail: pause frames by priority",
		Command: "show interface priority-flow-control detail",
		command: regexp.MustCompile(`^sh\w* int\w*(?: \S+)* prio\S* det\w*`),
		read:    readPFCDetail, write: writePFCDetail},
	{Name: "nxos-pfc", System: "nxos", About: "show interface priority-flow-control: mode, pause frames in total",
		Command: "show interface priority-flow-control",
		command: regexp.MustCompile(`^sh\w* int\w*(?: \S+)* prio\S*`),
		head:    regexp.MustCompile(`^\s*Port\s+Mode\s+Oper\s*\(.*\)\s+RxPPP\s+TxPPP`),
		read:    readPFC, write: writePFC},
	{Name: "nxos-watchdog", System: "nxos", About: "show queuing pfc-queue interface: storms by class",
		Command: "show queuing pfc-queue interface",
		command: regexp.MustCompile(`^sh\w* queu\w* pfc-queue\b`),
		head:    regexp.MustCompile(`^Ethernet\S+ Interface PFC watchdog:`),
		read:    readPFCQueue, write: writePFCQueue},
	{Name: "nxos-policy-map", System: "nxos", About: "show policy-map interface: packets and drops by class",
		Command: "show policy-map interface",
		command: regexp.MustCompile(`^sh\w* policy-map int\w*`),
		head:    regexp.MustCompile(`^\s*Global statistics status\s*:`),
		read:    readPolicyMap, write: writePolicyMap},
	{Name: "nxos-errors", System: "nxos", About: "show interface counters errors",
		Command: "show interface counters errors",
		command: regexp.MustCompile(`^sh\w* int\w*(?: \S+)* counters err\w*`),
		head:    regexp.MustCompile(`^\s*Port\s+Align-Err\s+FCS-Err\s+Xmit-Err\s+Rcv-Err`),
		read:    readWide, write: writeNXOSErrors},
	{Name: "nxos-counters", System: "nxos", About: "show interface counters: bytes and packets",
		Command: "show interface counters",
		command: regexp.MustCompile(`^sh\w* int\w*(?: \S+)* counters(?:\s*\|.*)?$`),
		head:    regexp.MustCompile(`^\s*Port\s+InOctets\s+InUcastPkts\s*$`),
		read:    readWide, write: writeOctets},
	{Name: "nxos-lldp-detail", System: "nxos", About: "show lldp neighbors detail",
		Command: "",
		command: regexp.MustCompile(`^sh\w* lldp nei\w* (?:int\w* \S+ )?det\w*`),
		head:    regexp.MustCompile(`^Chassis id: `),
		read:    readNXOSLLDPDetail, write: writeNXOSLLDPDetail},
	{Name: "nxos-lldp", System: "nxos", About: "show lldp neighbors",
		Command: "show lldp neighbors",
		command: regexp.MustCompile(`^sh\w* lldp nei\w*`),
		head:    regexp.MustCompile(`^(?:Capability codes:\s*$|Device ID\s+Local Intf\s+Hold-time)`),
		read:    readNXOSLLDP, write: writeNXOSLLDP},
}

// full names of interfaces that both NX-OS and EOS shorten.
var shortName = regexp.MustCompile(`^(Eth|Et|E|Ethernet)(\d[\d/.]*)$`)

// longName is an interface's full name.
func longName(s string) string {
	if m := shortName.FindStringSubmatch(s); m != nil {
		return "Ethernet" + m[2]
	}
	return s
}

// short is a name as narrow tables have it.
func short(name, by string) string {
	if m := shortName.FindStringSubmatch(name); m != nil {
		return by + m[2]
	}
	return name
}
