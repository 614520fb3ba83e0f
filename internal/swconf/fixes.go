package swconf

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"railyard/unit"
)

// wording is a remedy in each language's form, and in words for a language without a line here.
type wording struct {
	words string
	by    map[OS]string
}

// in is the remedy for a configuration. The routing of SONiC is FRR's.
func (w wording) in(c *Config) string { return cmp.Or(w.by[c.OS], w.words) }

// routing is the remedy for a BGP line: SONiC's are in FRR's file.
func (w wording) routing(c *Config) string {
	if c.OS == SONiC {
		return cmp.Or(w.by[FRR], w.words)
	}
	return w.in(c)
}

// Remedies that languages write differently (the vendors' command references; SONiC's config_db schema).
var (
	fixECN = wording{"ECN with thresholds below xOFF on this queue", map[OS]string{
		NXOS:  "random-detect with thresholds below xOFF and ecn on this queue",
		EOS:   "random-detect ecn with thresholds below xOFF below the queue",
		SONiC: `wred_profile in the queue's row of QUEUE, with "ecn": "ecn_all" and thresholds below xOFF`,
		NVUE:  "qos congestion-control for the traffic class, with ecn and thresholds below xOFF",
		Dell:  "a wred-policy with ecn and thresholds below xOFF for this queue",
		Junos: "explicit-congestion-notification in the scheduler, with a drop profile below xOFF"}}
	fixDrops = wording{"mark instead of dropping", map[OS]string{
		NXOS: "add ecn to the line", EOS: "random-detect ecn in place of random-detect drop",
		SONiC: `"ecn": "ecn_all" in the row of WRED_PROFILE`, NVUE: "ecn enable in the profile",
		Dell: "add ecn to the wred-policy", Junos: "explicit-congestion-notification in the scheduler"}}
	fixStrict = wording{"give the queue strict priority", map[OS]string{
		NXOS: "give the queue strict priority (priority level 1)",
		EOS:  "give the queue strict priority (priority strict)",
		SONiC: `give the queue strict priority (a row of SCHEDULER with "type": "STRICT", named in the ` +
			`queue's row of QUEUE)`,
		NVUE:  "give the queue strict priority (mode strict in the egress-scheduler)",
		Dell:  "give the queue strict priority (type strict in the scheduler-policy)",
		Junos: "give the queue strict priority (priority strict-high in the scheduler)"}}
	fixShare = wording{"a share of the bandwidth, and strict priority for CNPs only", map[OS]string{
		NXOS:  "bandwidth remaining percent, and strict priority for CNPs only",
		EOS:   "no priority and bandwidth percent, and strict priority for CNPs only",
		SONiC: `"type": "DWRR" with a weight in SCHEDULER, and strict priority for CNPs only`,
		NVUE:  "mode dwrr with bw-percent, and strict priority for CNPs only",
		Dell:  "type dwrr with a weight, and strict priority for CNPs only",
		Junos: "transmit-rate percent, and strict-high for CNPs only"}}
	fixPaths = wording{"use several equal paths", map[OS]string{
		NXOS: "maximum-paths 64", EOS: "maximum-paths 64", FRR: "maximum-paths 64", Dell: "maximum-paths 64",
		NVUE: "multipaths ebgp 64 in the address family", Junos: "multipath in the group"}}
	fixRelax = wording{"count paths through different ASes as equal", map[OS]string{
		NXOS: "bestpath as-path multipath-relax", EOS: "bgp bestpath as-path multipath-relax",
		FRR: "bgp bestpath as-path multipath-relax", Dell: "bestpath as-path multipath-relax",
		NVUE: "path-selection multipath aspath-ignore on", Junos: "multipath multiple-as in the group"}}
	fixFamily = wording{"activate an address family for it", map[OS]string{
		NXOS:  "address-family ipv4 unicast below the neighbor",
		EOS:   "neighbor ... activate in address-family ipv4",
		FRR:   "neighbor ... activate in address-family ipv4 unicast",
		Dell:  "activate in address-family ipv4 unicast of the neighbor",
		NVUE:  "address-family ipv4-unicast enable on for it",
		Junos: "family inet unicast in the group"}}
	fixPolicy = wording{"route-maps in and out", map[OS]string{
		FRR: "no bgp ebgp-requires-policy", NXOS: "route-maps in and out", EOS: "route-maps in and out",
		NVUE: "ebgp-requires-policy off"}}
	fixUp = wording{"enable the port", map[OS]string{NXOS: "no shutdown", EOS: "no shutdown",
		FRR: "no shutdown", Dell: "no shutdown", SONiC: `"admin_status": "up" in the port's row of PORT`,
		NVUE: "link state up", Junos: "delete the statement disable of the interface"}}
	fixLLDP = wording{"turn LLDP on", map[OS]string{NXOS: "turn LLDP on (feature lldp)",
		EOS: "turn LLDP on (lldp run)", Dell: "turn LLDP on (lldp enable)",
		SONiC: `turn LLDP on ("state": "enabled" of lldp in FEATURE)`,
		Junos: "turn LLDP on (protocols lldp interface all)", NVUE: "turn LLDP on (service lldp)"}}
	fixLLDPPort = wording{"LLDP in both directions on the port", map[OS]string{
		NXOS: "lldp transmit and lldp receive on the port", EOS: "lldp transmit and lldp receive on the port",
		Dell: "lldp transmit and lldp receive on the port"}}
	fixWatchdog = wording{"turn the PFC watchdog on", map[OS]string{
		NXOS:  "turn the PFC watchdog on: priority-flow-control watch-dog-interval on, in global configuration and on the ports",
		EOS:   "turn the PFC watchdog on: priority-flow-control pause watchdog default timeout 0.2, in global configuration",
		SONiC: "turn the PFC watchdog on: rows of PFC_WD for the ports, or pfcwd start_default",
		NVUE:  "turn the PFC watchdog on: qos pfc-watchdog state enable on the ports",
		Dell:  "turn the PFC watchdog on: priority-flow-control watchdog on, on the ports",
		Junos: "turn the PFC watchdog on: pfc-watchdog in the congestion-notification-profile"}}
	fixWatchdogPort = wording{"turn the watchdog on for the port", map[OS]string{
		NXOS: "turn the watchdog on for the port: priority-flow-control watch-dog-interval on"}}
	fixWeight = wording{"average over no time", map[OS]string{NXOS: "weight 0", EOS: "weight 0"}}
)

// mtuFor returns the MTU with which a port accepts packets of a size, within the limit of its language.
func mtuFor(c *Config, packet unit.Bytes) int64 { return int64(min(packet+c.header(), mostMTU(c.OS))) }

// fixMTU returns the command by which a port takes packets of a size.
func fixMTU(c *Config, packet unit.Bytes) string {
	mtu := mtuFor(c, packet)
	switch c.OS {
	case SONiC:
		return fmt.Sprintf(`"mtu": "%d" in the port's row of PORT`, mtu)
	case NVUE:
		return fmt.Sprintf("link mtu %d", mtu)
	}
	return fmt.Sprintf("mtu %d", mtu)
}

// fixSpeed returns the command that sets a rate in a language.
func fixSpeed(c *Config, r unit.Rate) string {
	mbps, gbps := int64(r/unit.Mbps), int64(r/unit.Gbps)
	switch c.OS {
	case NXOS, Dell:
		return fmt.Sprintf("speed %d (Mbit/s)", mbps)
	case SONiC:
		return fmt.Sprintf(`"speed": "%d" in the port's row of PORT`, mbps)
	case EOS, Junos:
		return fmt.Sprintf("speed %dg", gbps)
	case NVUE:
		return fmt.Sprintf("link speed %dG", gbps)
	}
	return fmt.Sprintf("a speed of %v", r)
}

// fixPausing returns the remedy by which a port pauses priorities: the commands of pausing, or words.
func fixPausing(c *Config, p *Port, priorities uint8, mode PFCMode) string {
	lines, like := pausing(c, p, priorities, mode)
	switch {
	case c.OS == SONiC:
		paused := p.Paused() | priorities
		if like != nil {
			paused = like.Paused()
		}
		return fmt.Sprintf(`"pfc_enable": "%s" in the port's row of PORT_QOS_MAP`, Priorities(paused))
	case len(lines) > 0 && like != nil:
		return fmt.Sprintf("at the port, as %s has: %s", like.Name, strings.Join(lines, ", "))
	case len(lines) > 0:
		return "at the port: " + strings.Join(lines, ", ")
	}
	return fmt.Sprintf("PFC for priority %s on the port", Priorities(priorities))
}

// pausing returns the commands by which a port pauses priorities. They are the lines of like, another port of the
// switch that pauses them, if the port lacks these. Otherwise they are all lines that the port lacks, with the PFC
// mode of its neighbour.
func pausing(c *Config, p *Port, priorities uint8, mode PFCMode) (lines []string, like *Port) {
	for _, o := range c.Ports {
		if like == nil && o != p && !o.Down.V && o.Paused()&priorities == priorities {
			like = o
		}
	}
	lossless := p.QoS != nil && p.QoS.paused()&priorities == priorities
	each := func(format string) (out []string) {
		for i := range 8 {
			if priorities>>i&1 == 1 {
				out = append(out, fmt.Sprintf(format, i))
			}
		}
		return out
	}
	switch c.OS {
	case SONiC:
		return each("sudo config interface pfc priority " + p.Name + " %d on"), like
	case EOS:
		if like != nil {
			for _, x := range like.Policies {
				if !has(p.Policies, x.V) {
					return []string{x.V}, like
				}
			}
		}
		if p.PFC.V == PFCOff {
			lines = append(lines, "priority-flow-control on")
		}
		if !lossless {
			lines = append(lines, each("priority-flow-control priority %d no-drop")...)
		}
		return lines, nil
	case Dell:
		return []string{fmt.Sprintf("priority-flow-control priority %s", Priorities(priorities))}, nil
	case NXOS:
		if lossless && like != nil {
			mode = like.PFC.V
		}
		if lossless {
			return []string{fmt.Sprintf("priority-flow-control mode %v", mode)}, like
		}
	}
	return nil, nil
}

// fixStops returns the remedy by which a PFC priority pauses a queue.
func fixStops(c *Config, priority, queue int) string {
	switch c.OS {
	case SONiC:
		return fmt.Sprintf(`"%d": "%d" in MAP_PFC_PRIORITY_TO_QUEUE`, priority, queue)
	case Junos:
		return fmt.Sprintf("output ieee-802.1 code-point %03b flow-control-queue %d", priority, queue)
	}
	return fmt.Sprintf("let PFC priority %d pause the class of queue %d", priority, queue)
}

// fixRemote returns the statement of a neighbor's AS number in a language.
func fixRemote(c *Config, as uint32) string {
	if c.OS == Junos {
		return fmt.Sprintf("peer-as %d", as)
	}
	return fmt.Sprintf("remote-as %d", as)
}

// size formats bytes in the customary unit: in thousands if they are whole ones, such as a switch's 256 kbytes,
// otherwise in bytes.
type size unit.Bytes

func (s size) String() string {
	switch b := unit.Bytes(s); {
	case b <= 0 || b%unit.KB != 0:
		return b.String()
	case b >= unit.MB:
		return strconv.FormatFloat(float64(b)/float64(unit.MB), 'f', -1, 64) + "MB"
	default:
		return fmt.Sprintf("%dKB", b/unit.KB)
	}
}
