package scenario

import (
	"reflect"
	"strconv"

	"railyard/internal/field"
	"railyard/internal/queue"
	"railyard/internal/topo"
	"railyard/unit"
)

// Deviation is a device or port that differs from the scenario's settings: by a configuration error, or a fault. Unset
// values do not change.
type Deviation struct {
	Node     string         `yaml:"node" doc:"a switch or a server"`
	Port     string         `yaml:"port" doc:"one port instead, as rail-1:Eth3 or host-1:nic-1"`
	PFC      *bool          `yaml:"pfc" doc:"false: the port, or all of the node's, neither pauses its neighbour nor obeys its pauses"`
	ECN      *bool          `yaml:"ecn" doc:"of a switch: false: it marks nothing"`
	MTU      *unit.Bytes    `yaml:"mtu" range:"256B,16KiB" doc:"of a switch: largest frame"`
	DSCP     map[string]int `yaml:"dscp" range:"0,7" doc:"of a switch: DSCP to queue, where it is another than that of all"`
	XOff     *unit.Bytes    `yaml:"xoff" range:"1KB,2000MB" doc:"of a switch: ingress bytes of its lossless queues that pause the sender; xon changes in proportion"`
	Headroom *unit.Bytes    `yaml:"headroom" range:"1B,2000MB" doc:"of a switch: per port and lossless queue"`
	Watchdog *bool          `yaml:"watchdog" doc:"of a switch: whether its PFC watchdog is on"`
	IFA      *bool          `yaml:"ifa" doc:"of a switch: false: it writes no metadata of the in-band flow analyzer"`
	DataDSCP *int           `yaml:"data_dscp" range:"0,63" doc:"of a server: DSCP of the data that it sends"`
	CNPDSCP  *int           `yaml:"cnp_dscp" range:"0,63" doc:"of a server: DSCP of its congestion notifications"`
	PCIe     *unit.Rate     `yaml:"pcie" range:"1Mbps,100Tbps" doc:"of a server: payload between each of its NICs and memory, each way: a receiver that is slow"`
}

// Marking is a NIC's marking of its packets, if it differs from its service's.
type Marking struct {
	Data, CNP *uint8 // DSCPs
}

// deviate applies the deviations of single devices.
func (p *resolver) deviate() error {
	for i := range p.File.Deviations {
		if err := p.deviation(&p.File.Deviations[i]); err != nil {
			return field.Under("deviations["+strconv.Itoa(i)+"]", err)
		}
	}
	return nil
}

func (p *resolver) deviation(d *Deviation) error {
	if (d.Node == "") == (d.Port == "") {
		return field.New("node", "set node, the device, or port, one of them")
	}
	if d.Port != "" {
		return p.portDeviation(d)
	}
	node := -1
	var names []string
	for i := range p.Graph.Nodes {
		if names = append(names, p.Graph.Nodes[i].Name); p.Graph.Nodes[i].Name == d.Node {
			node = i
		}
	}
	if node < 0 {
		return field.Choice("node", d.Node, names[:min(len(names), 20)], "unknown name %s",
			field.Quote(d.Node)).ListedBy("railyard topo SCENARIO --cables")
	}
	if d.PFC != nil {
		for l := range p.Graph.Links {
			if p.Graph.Links[l].A == node || p.Graph.Links[l].B == node {
				p.limitPFC(topo.LinkEnd{Link: l, Node: node}, *d.PFC)
			}
		}
	}
	if p.Graph.Nodes[node].Role == topo.Host {
		return p.serverDeviation(d, node)
	}
	return p.switchDeviation(d, node)
}

// portDeviation applies to one port, of which only PFC can differ.
func (p *resolver) portDeviation(d *Deviation) error {
	l, node, ok := p.Graph.FindPort(d.Port)
	if !ok {
		return field.New("port", "unknown port %s; names are like %s", field.Quote(d.Port),
			p.Graph.End(0, p.Graph.Links[0].A))
	}
	if key := d.other(&Deviation{Port: d.Port, PFC: d.PFC}); key != "" {
		return field.New(key, "is of a whole device; of a port, pfc can differ")
	}
	if d.PFC == nil {
		return field.New("port", "is empty; accepted: pfc")
	}
	p.limitPFC(topo.LinkEnd{Link: l, Node: node}, *d.PFC)
	return nil
}

// limitPFC switches PFC of a port on or off.
func (p *resolver) limitPFC(at topo.LinkEnd, on bool) {
	if p.PFC == nil {
		p.PFC = map[topo.LinkEnd]uint8{}
	}
	if p.PFC[at] = 0; on {
		delete(p.PFC, at)
	}
}

// serverDeviation is about a server's NICs.
func (p *resolver) serverDeviation(d *Deviation, node int) error {
	if key := d.other(&Deviation{Node: d.Node, PFC: d.PFC, DataDSCP: d.DataDSCP, CNPDSCP: d.CNPDSCP,
		PCIe: d.PCIe}); key != "" {
		return field.New(key, "is of switches, and %s is a server", d.Node)
	}
	for i := range p.Graph.NICs {
		if p.Graph.Hosts[p.Graph.NICs[i].Host] != node {
			continue
		}
		if d.PCIe != nil {
			p.Buses = append(p.Buses, Bus{Rate: *d.PCIe, NICs: []int32{int32(i)}})
		}
		if d.DataDSCP != nil || d.CNPDSCP != nil {
			if p.Markings == nil {
				p.Markings = map[int32]Marking{}
			}
			p.Markings[int32(i)] = Marking{dscpOf(d.DataDSCP), dscpOf(d.CNPDSCP)}
		}
	}
	return nil
}

func dscpOf(n *int) *uint8 {
	if n == nil {
		return nil
	}
	v := uint8(*n)
	return &v
}

// switchDeviation gives a switch its own Spec.
func (p *resolver) switchDeviation(d *Deviation, node int) error {
	if key := d.other(&Deviation{Node: d.Node, PFC: d.PFC, ECN: d.ECN, MTU: d.MTU, DSCP: d.DSCP, XOff: d.XOff,
		Headroom: d.Headroom, Watchdog: d.Watchdog, IFA: d.IFA}); key != "" {
		return field.New(key, "is of servers, and %s is a switch", d.Node)
	}
	own := *p.specs[node]
	for k, q := range d.DSCP {
		n, err := strconv.Atoi(k)
		if err != nil || n < 0 || n > 63 {
			return field.New("dscp."+k, "is not a DSCP; they are 0 to 63")
		}
		own.DSCP[n] = uint8(q)
	}
	if d.MTU != nil {
		if p.narrow == nil {
			p.narrow = map[int]bool{}
		}
		own.MTU, p.narrow[node] = *d.MTU, true
	}
	if d.Watchdog != nil {
		own.Watchdog.On = *d.Watchdog
	}
	if d.IFA != nil {
		own.NoIFA = !*d.IFA
	}
	for i := range own.Queues {
		d.queue(&own.Queues[i])
	}
	if err := own.Validate(); err != nil {
		return err
	}
	p.specs[node] = &own
	return nil
}

// queue changes a queue of the switch.
func (d *Deviation) queue(q *queue.Class) {
	if d.ECN != nil && !*d.ECN && q.WRED.ECN {
		q.WRED = queue.WRED{}
	}
	if !q.Lossless {
		return
	}
	if d.XOff != nil {
		if q.XOff > 0 {
			q.XOn = unit.Bytes(int64(q.XOn) * int64(*d.XOff) / int64(q.XOff))
		}
		q.XOff = *d.XOff
	}
	if d.Headroom != nil {
		q.Headroom = *d.Headroom
	}
}

// other returns a key that is set in addition to the keys of another deviation.
func (d *Deviation) other(known *Deviation) string {
	v, of := reflect.ValueOf(d).Elem(), reflect.ValueOf(known).Elem()
	for _, f := range keys(v.Type()) {
		if !at(v, f).IsZero() && at(of, f).IsZero() {
			return name(f)
		}
	}
	return ""
}
