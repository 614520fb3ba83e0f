package draw

import (
	"fmt"

	"railyard/internal/cause"
)

// carrier draws the transport, first: some fabrics suit only some of them.
func (d *drawing) carrier() {
	d.transport = "roce"
	switch {
	case d.is(cause.Credit):
		d.transport = d.of("eqds", "own-eqds", "own-eqds", "own-rccc", "own-rccc", "own-ndp", "own-uec")
	case d.is(cause.Trimmed):
		d.transport = d.of("trims", "trims", "trims", "trims", "trims", "trims", "mrc", "uec")
	case d.is(cause.Window):
		d.transport = d.of("roce", "roce", "roce", "own-srd", "own-falcon")
	case d.is(cause.Pause, cause.Reordering, cause.Collision, cause.SprayImbalance, cause.OnePort):
	case d.is(cause.Retransmission):
		d.transport = d.of("roce", "roce", "roce", "roce-selective", "mrc", "srd", "falcon", "uec")
	case d.is(cause.Recovering) && d.chance(0.75):
	case d.chance(0.4):
		d.transport = d.of("mrc", "mrc", "uec", "uec", "srd", "falcon", "eqds", "roce-selective")
	}
}

// carried reports whether connections are not RC's.
func (d *drawing) carried() bool {
	switch d.transport {
	case "mrc", "srd", "falcon", "own-srd", "own-falcon":
		return true
	}
	return false
}

// network draws fabric and servers.
func (d *drawing) network() {
	d.ports, d.gpus = 1, 1
	draws := []func(){d.rail, d.rail, d.rail, d.fatTree, d.pod, d.leafSpine}
	switch {
	case d.is(cause.OnePort):
		draws = []func(){d.pod, d.bonds}
	case d.is(cause.Collision, cause.Reordering, cause.SprayImbalance, cause.SlowLink, cause.FailedCapacity,
		cause.Oversubscription):
	case d.is(cause.Pause):
		draws = []func(){d.rail, d.rail, d.leafSpine}
	case d.is(cause.Window):
		draws = []func(){d.rail, d.leafSpine}
	case d.is(cause.Credit), d.is(cause.Trimmed) && d.chance(0.85):
		draws = []func(){d.rail, d.leafSpine, d.fatTree}
	default:
		draws = append(draws, d.railOnly, d.single, d.bonds)
	}
	if d.carried() {
		draws = append(draws, d.planes, d.planes)
	}
	if d.is(cause.FailedCapacity) && !d.carried() {
		draws = append(draws, d.bonds)
	}
	draws[d.Intn(len(draws))]()
}

// cable draws the length of a cable: long ones where latency or a window is meant.
func (d *drawing) cable(short ...string) string {
	switch {
	case d.is(cause.Window):
		return d.of("1km", "2km", "5km", "10km")
	case d.is(cause.Credit):
		return d.of("30m", "30m", "300m", "1km")
	case d.is(cause.Trimmed) && d.chance(0.85):
		return d.of("1km", "2km", "5km", "5km")
	case d.is(cause.Latency) && d.chance(0.5):
		return d.of("100m", "300m", "1km", "2km", "10km")
	}
	return d.of(short...)
}

// links draws the two classes of cables; share is the rate of links between switches, in hundredths of a NIC's.
func (d *drawing) links(share int) string {
	errors := [2]string{}
	if d.is(cause.Retransmission) && d.chance(0.65) || d.chance(0.04) {
		errors[d.Intn(2)] = d.errors()
	}
	s := fmt.Sprintf("host_link: {rate: %dGbps, cable: %s%s}, fabric_link: {rate: %vGbps, cable: %s%s}", d.rate,
		d.of("1m", "3m", "5m"), errors[0], float64(d.rate*share)/100, d.cable("10m", "30m", "50m"), errors[1])
	s += ", pipeline: " + d.of("0ns", "300ns", "500ns", "1us")
	if d.chance(0.15) {
		s += ", cut_through: true"
	}
	return s
}

// errors draws a bit error rate that loses a few of the packets that a NIC sends.
func (d *drawing) errors() string {
	return fmt.Sprintf(", bit_error_rate: %.2g", min(1e-6, (0.5+6*d.Float64())/(8*float64(d.size))))
}

// pcie adds the rate of PCIe to the server.
func (d *drawing) pcie() {
	if d.is(cause.PCIe) && d.chance(0.75) || d.chance(0.04) {
		d.server += fmt.Sprintf(", pcie: %.4gGbps", float64(d.rate*d.ports)*(0.3+0.65*d.Float64()))
	}
	if d.chance(0.1) {
		d.server += ", nic_latency: " + d.of("0ns", "1us", "2us")
	}
}

func (d *drawing) rail() {
	d.gpus = d.one(1, 1, 1, 2, 2, 4)
	segments, hosts := d.one(1, 2, 2, 2, 4), d.between(2, 8)
	if segments == 1 && d.gpus == 1 {
		segments = 2
	}
	d.spread = true
	share := d.one(100, 100, 100, 200)
	spines, uplinks := d.one(1, 2, 2, 4, 4), d.one(0, 0, 1, 1, 2)
	switch {
	case d.is(cause.Oversubscription):
		spines, uplinks, share = d.one(1, 2), 1, d.one(25, 50, 100, 100)
	case d.is(cause.Collision, cause.Reordering, cause.SprayImbalance, cause.Trimmed):
		d.gpus = d.one(1, 1, 2)
		spines, uplinks = d.one(2, 4, 4, 8), d.one(0, 1)
	case d.is(cause.FailedCapacity, cause.SlowLink):
		spines, uplinks = d.one(2, 2, 4), 0
	case d.is(cause.Pause): // uplinks have room, and everybody shares them
		d.gpus, spines, uplinks, share = 1, 1, 1, d.one(200, 400)
	}
	if d.crosses() && segments == 1 {
		segments = 2
		hosts = max(2, hosts/2)
	}
	d.hosts = segments * hosts
	d.fabric = fmt.Sprintf("{kind: rail, hosts: %d, segments: %d, spines: %d, uplinks: %d, %s}", hosts, segments, spines,
		uplinks, d.links(share))
	d.server = fmt.Sprintf("gpus: %d, nics: %d", d.gpus, d.gpus)
	d.pcie()
}

func (d *drawing) fatTree() {
	d.hosts, d.spread = 16, true
	more := ""
	if d.chance(0.4) {
		leaves := d.one(2, 4)
		d.hosts, more = 2*leaves, fmt.Sprintf(", tiers: 2, leaves: %d", leaves)
	}
	d.fabric = fmt.Sprintf("{kind: fat-tree, k: 4%s, %s}", more, d.links(d.share()))
	d.server = "gpus: 1"
	d.pcie()
}

// share draws the rate of links between switches, in hundredths of a NIC's.
func (d *drawing) share() int {
	if d.is(cause.Oversubscription) {
		return d.one(12, 25, 50)
	}
	return 100
}

func (d *drawing) pod() {
	d.gpus, d.ports, d.spread = d.one(1, 2, 4), 2, true
	hosts, segments := d.between(1, 4), d.one(2, 2, 3)
	d.hosts = hosts * segments
	spines, uplinks := d.one(2, 4), d.one(0, 1)
	if d.is(cause.Oversubscription) {
		spines, uplinks = 1, 1
	}
	d.fabric = fmt.Sprintf("{kind: pod, hosts: %d, segments: %d, spines: %d, uplinks: %d, %s}", hosts, segments, spines,
		uplinks, d.links(d.one(100, 200)))
	d.bundle()
}

// bonds are servers with two ports at a pair of switches.
func (d *drawing) bonds() {
	d.gpus, d.ports, d.isolated = d.one(1, 2, 4), 2, true
	d.hosts = d.between(2, 8)
	d.fabric = fmt.Sprintf("{kind: dual-rail, hosts: %d, %s}", d.hosts, d.links(100))
	d.bundle()
}

// bundle is a server whose NICs have two ports.
func (d *drawing) bundle() {
	d.server = fmt.Sprintf("gpus: %d, nics: %[1]d, nic_ports: 2", d.gpus)
	if !d.carried() {
		bond := d.of("affinity", "affinity", "hash", "spray")
		if d.is(cause.OnePort) {
			bond = d.of("affinity", "hash")
		}
		switch d.server += ", bond: " + bond; {
		case d.is(cause.OnePort):
			d.set("transport", "qps: 1")
		case bond != "spray":
			d.set("transport", "qps: %d", d.one(2, 2, 4))
		}
	}
	d.pcie()
}

func (d *drawing) railOnly() {
	d.gpus, d.hosts, d.isolated = d.one(1, 2, 4, 8), d.between(2, 8), true
	d.fabric = fmt.Sprintf("{kind: rail-only, hosts: %d, %s}", d.hosts, d.links(100))
	d.server = fmt.Sprintf("gpus: %d, nics: %[1]d", d.gpus)
	d.pcie()
}

func (d *drawing) single() {
	d.gpus, d.hosts = d.one(1, 1, 2), d.between(3, 16)
	d.isolated = d.gpus > 1
	d.fabric = fmt.Sprintf("{kind: single-rail, hosts: %d, %s}", d.hosts, d.links(100))
	d.server = fmt.Sprintf("gpus: %d, nics: %[1]d", d.gpus)
	d.pcie()
}

// leafSpine is described by nodes and cables.
func (d *drawing) leafSpine() {
	leaves, per, spines := d.one(2, 2, 4), d.between(2, 6), d.one(1, 2, 2, 4)
	up := d.rate * d.one(1, 1, 2)
	switch {
	case d.is(cause.Oversubscription):
		spines = d.one(1, 2)
		up = max(d.rate/2, d.rate*spines/4)
	case d.is(cause.Pause):
		spines, up = 1, d.rate*d.one(2, 4)
	case d.is(cause.Collision, cause.Reordering, cause.SprayImbalance, cause.FailedCapacity, cause.SlowLink,
		cause.Trimmed):
		spines = d.one(2, 4)
	}
	d.hosts, d.spread = leaves*per, spines > 1
	d.described(fmt.Sprintf("host: {gpus: 1, nics: 1, nic_rate: %dGbps}", d.rate),
		fmt.Sprintf("host: {type: host, count: %d}, leaf: {type: leaf, per: {rack: %d}}, spine: {type: spine, count: %d}",
			d.hosts, leaves, spines),
		fmt.Sprintf("match: {rack: n/%d}", per), "",
		up)
}

// planes are servers whose NICs have a port in each of several leaf-spine fabrics.
func (d *drawing) planes() {
	d.ports = d.one(2, 4)
	leaves, per, spines := 2, d.between(2, 8), d.one(1, 2, 4)
	if d.is(cause.Oversubscription) {
		spines = 1
	}
	d.hosts, d.spread = leaves*per, true
	d.described(fmt.Sprintf("host: {gpus: 1, nics: 1, nic_ports: %d, nic_rate: %dGbps}", d.ports, d.rate),
		fmt.Sprintf("host: {type: host, count: %d}, leaf: {type: leaf, per: {plane: %d, rack: %d}}, spine: {type: spine, per: {plane: %d}, count: %d}", d.hosts, d.ports, leaves, d.ports, spines),
		fmt.Sprintf("match: {plane: port, rack: n/%d}", per), ", same: plane",
		d.rate*d.one(1, 1, 2))
}

// described is hosts below leaves below spines; below and above are a link's two tiers, up is the rate of links between
// switches.
func (d *drawing) described(host, nodes, below, above string, up int) {
	ber := ""
	if d.is(cause.Retransmission) {
		ber = d.errors()
	}
	cables := fmt.Sprintf("{from: host, to: leaf, %s, length: %s}, {from: leaf, to: spine%s, length: %s, rate: %dGbps}",
		below, d.of("1m", "3m"), above, d.cable("10m", "30m"), up)
	d.fabric = fmt.Sprintf("{types: {%s, leaf: {ports: 64x%dGbps}, spine: {like: leaf, role: spine}}, nodes: {%s}, cables: [%s], host_link: {rate: %dGbps%s}, fabric_link: {rate: %dGbps%s}, pipeline: %s}", host,
		max(up, d.rate), nodes, cables, d.rate, ber, up, ber, d.of("0ns", "400ns", "1us"))
	d.server = "gpu: h100"
	d.pcie()
}

// crosses reports whether the intended cause occurs between racks.
func (d *drawing) crosses() bool {
	return d.is(cause.Collision, cause.Reordering, cause.SprayImbalance, cause.FailedCapacity, cause.SlowLink,
		cause.Oversubscription, cause.Pause, cause.Window, cause.Credit, cause.Trimmed)
}
