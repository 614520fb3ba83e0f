package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// topic is the subject of the next command.
type topic uint8

const (
	askPFC   topic = iota
	askState       // state of PFC; askPFC if one output shows both
	askQueues
	askLink
	askConfig
	askNIC
	askClass
	askMarks
	askNeighbours
	askSenders  // which ports receive
	askHeadroom // askQueues if one output shows both
	askErrors   // errors of the link, FEC, optical power
	askDepth    // length of queues; askMarks if the system does not print it
	askReload   // reason of the last restart
)

// commands by the system whose outputs were read, with %s for the port.
var commands = map[string]map[topic]string{
	"nxos": {askPFC: "show interface %s priority-flow-control detail", askQueues: "show queuing interface %s",
		askLink: "show interface %s", askConfig: "show policy-map interface %s type queuing",
		askClass: "show policy-map interface %s input type qos", askMarks: "show queuing interface %s",
		askNeighbours: "show lldp neighbors interface %s detail", askSenders: "show interface counters brief",
		askErrors: "show interface %[1]s; show interface %[1]s transceiver details",
		askReload: "show system reset-reason"},
	"eos": {askPFC: "show interfaces %s priority-flow-control counters detail",
		askQueues: "show interfaces %s counters queue detail",
		askLink:   "show interfaces %s", askConfig: "show qos interfaces %s",
		askClass: "show qos interfaces %s trust", askMarks: "show qos interfaces %s ecn counters queue",
		askNeighbours: "show lldp neighbors %s detail", askSenders: "show interfaces counters rates",
		askErrors: "show interfaces %[1]s; show interfaces %[1]s transceiver",
		askReload: "show reload cause"},
	"sonic": {askPFC: "show pfc counters", askState: "show pfc priority", askQueues: "show queue counters %s",
		askDepth: "show queue watermark unicast",
		askLink:  "show interfaces status %s", askConfig: "sonic-db-cli CONFIG_DB hgetall 'PORT_QOS_MAP|%s'",
		askClass: "show priority-group watermark shared", askMarks: "show queue wredcounters %s",
		askNeighbours: "show lldp neighbors %s", askSenders: "show interfaces counters rates",
		askHeadroom: "show priority-group drop counters; show priority-group watermark headroom",
		askErrors:   "show interfaces counters fec-stats; show interfaces transceiver eeprom --dom %s",
		askReload:   "show reboot-cause"},
	"host": {askPFC: "mlnx_qos -i %s", askQueues: "ethtool -S %s | grep prio", askLink: "ethtool %s",
		askConfig: "cma_roce_tos -d mlx5_0; mlnx_qos -i %s", askNIC: "ethtool -S %s | grep -e discard -e pause -e pci",
		askClass: "mlnx_qos -i %s", askMarks: "cat /sys/class/net/%s/ecn/roce_np/cnp_802p_prio",
		askNeighbours: "lldpctl %s", askErrors: "ethtool -S %[1]s | grep -e err -e fec; ethtool -m %[1]s",
		askReload: "last -x reboot shutdown"},
}

// command returns the command of a system about a topic, "" if it has none.
func command(system string, t topic) string {
	like := map[topic]topic{askState: askPFC, askHeadroom: askQueues, askDepth: askMarks}
	if to, is := like[t]; is && commands[system][t] == "" {
		t = to
	}
	return commands[system][t]
}

// missing asks for an output of all ports of a device, by its command if the system is known.
func (d *Device) missing(t topic) string {
	c := strings.ReplaceAll(command(d.System, t), " %s", "")
	if c == "" {
		return sprintf("add the counters of all ports of %s", d.Name)
	}
	return sprintf("add `%s` of all ports of %s", c, d.Name)
}

// next adds a command to type at a port. For devices of an unknown system, the command is a host's, or none.
func (x *Finding) next(p *Port, t topic, why string) {
	system := p.On.System
	if system == "" && p.On.Kind == Host {
		system = "host"
	}
	c := command(system, t)
	if c == "" {
		return
	}
	name := p.Name
	if name == "" || mac.MatchString(name) {
		if system != "host" {
			return
		}
		name = "ETH"
	}
	if strings.Contains(c, "%") {
		c = fmt.Sprintf(c, strings.ToLower(name[:1])+name[1:])
		if system == "sonic" {
			c = fmt.Sprintf(command(system, t), name)
		}
	}
	all := []string{c}
	if system != "host" { // EOS has no line of two commands
		all = strings.Split(c, "; ")
	}
	for _, c := range all {
		x.Next = append(x.Next, Step{Device: p.On.Name, Command: c, Why: why})
	}
}

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// most sorts readings by how much they grew, most first.
func most(rs []Reading) []Reading {
	slices.SortStableFunc(rs, func(a, b Reading) int { return cmp.Compare(b.Grew, a.Grew) })
	return rs
}

// most1 keeps the finding that explains most of several of one kind.
func most1(all []Finding) []Finding {
	best := -1
	for i := range all {
		if best < 0 || all[i].harm > all[best].harm {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return all[best : best+1]
}
