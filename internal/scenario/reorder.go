package scenario

import (
	"railyard/internal/field"
	"railyard/rc"
	"railyard/unit"
)

// Reorder is the memory of a NIC for packets that overtook others and cannot be placed yet. No vendor publishes
// these figures of its NICs (docs/references.md, reorder-memory). Sizes and rates are the user's assumptions, and
// nothing is limited by default.
type Reorder struct {
	Memory    unit.Bytes `yaml:"memory" range:"0|256B,2000MB" doc:"payload that a NIC keeps, of all its queue pairs; 0B: no limit. Packets that find no room are dropped"`
	Entries   int        `yaml:"entries" range:"0|1,1000000000" doc:"packets that a NIC keeps, of all its queue pairs; 0: no limit"`
	Placement string     `yaml:"placement" enum:"address,order,local" doc:"packets after a gap that a NIC keeps. address: Middle and Last packets whose First has not come; order: all parts of First/Middle/Last messages, until the gap is closed; local: every packet, in the NIC's own memory before it goes to the GPU, whatever its headers"`
	Rate      unit.Rate  `yaml:"rate" range:"0|1Mbps,100Tbps" doc:"placement local: bandwidth of the NIC's own memory, writing and reading together"`
}

// Silent sets the default values of a block that is present.
func (r *Reorder) Silent() { *r = Reorder{Placement: "address"} }

// limits lists the keys that limit the memory.
func (r *Reorder) limits() (keys []string) {
	if r.Memory > 0 {
		keys = append(keys, "server.reorder.memory")
	}
	if r.Entries > 0 {
		keys = append(keys, "server.reorder.entries")
	}
	return keys
}

// placements of a NIC by their names in scenarios.
var nicPlacements = map[string]rc.Placement{"address": rc.ByAddress, "order": rc.InOrder, "local": rc.ThroughNIC}

// reorder resolves server.reorder, once the transport is known.
func (p *resolver) reorder() error {
	o := p.File.Server.Reorder
	if o == nil {
		return nil
	}
	c := p.Default().Carried
	local := o.Placement == "local"
	switch {
	case o.Memory > 0 && o.Memory < unit.Bytes(p.RC.MTU):
		return field.New("server.reorder.memory", "%v holds no packet of %d bytes (transport.mtu); accepted: 0B for no limit, or %d B to 2000MB", o.Memory, p.RC.MTU, p.RC.MTU)
	case local && o.Rate == 0:
		return field.New("server.reorder.placement", "local needs the bandwidth of the NIC's memory: server.reorder.rate, as 640Gbps")
	case local && c != nil:
		return field.New("server.reorder.placement", "local is simulated for RC's queue pairs, and transport is %s, whose receivers place every packet by its address; accepted: address, order", c.Name)
	}
	def := Default()
	if !local && o.Rate > 0 {
		p.noteIdle(&def, "server.reorder.placement",
			"server.reorder.placement is "+o.Placement+", not local", "server.reorder.rate")
	}
	if limits := o.limits(); len(limits) > 0 {
		switch {
		case c != nil:
			p.noteIdle(&def, "transport.kind", "every packet of "+c.Title+" has its address", limits...)
		case p.RC.Recovery == rc.GoBackN:
			p.noteIdle(&def, "transport.recovery",
				"go-back-N keeps no packet after a gap (transport.recovery)", limits...)
		case p.RC.WriteOnly && !local:
			p.noteIdle(&def, "transport.write", "every packet has its address (transport.write only)", limits...)
		}
	}
	p.NICs.Reorder = NICMemory{Bytes: o.Memory, Entries: o.Entries, Placement: nicPlacements[o.Placement], Rate: o.Rate}
	return nil
}
