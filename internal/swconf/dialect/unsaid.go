package dialect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/unit"
)

// speeds are the port rates of a language's switches, in Gbit/s: those of IEEE 802.3 for which such switches exist.
// FRR sets none, so that it is left out.
var speeds = map[swconf.OS][]unit.Rate{
	swconf.NXOS:  {1, 10, 25, 40, 50, 100, 200, 400, 800},
	swconf.EOS:   {1, 10, 25, 40, 50, 100, 200, 400, 800},
	swconf.SONiC: {1, 10, 25, 40, 50, 100, 200, 400, 800, 1600},
	swconf.NVUE:  {1, 10, 25, 40, 50, 100, 200, 400, 800},
	swconf.Junos: {1, 10, 25, 40, 50, 100, 200, 400, 800},
}

// maps are the breakouts of NX-OS (interface breakout module; batfish's grammar has these).
var maps = []string{"10g-4x", "25g-4x", "50g-2x", "50g-4x", "100g-2x", "100g-4x", "200g-2x", "200g-4x", "400g-2x"}

// brokenOut rejects impossible parts of a port: switches split lanes in halves, and SONiC's as their device
// defines.
func brokenOut(d *design.Design, s *design.Switch, p *design.Port) error {
	n := p.Jack.Parts
	as := fmt.Sprintf("%dg-%dx", p.Rate/unit.Gbps, n)
	switch {
	case n < 2 || d.OS == swconf.SONiC || d.OS == swconf.FRR:
		return nil
	case n != 2 && n != 4 && n != 8:
		return design.Refuse(d.OS, s, "port %d, to %s, is one of %d that a port is broken out into (split); accepted: 2, 4, 8", p.Jack.Port, p.FarName, n)
	case d.OS == swconf.NXOS && !slices.Contains(maps, as):
		return design.Refuse(d.OS, s, "port %d, to %s, would be broken out by map %s; accepted: %s",
			p.Jack.Port, p.FarName, as, strings.Join(maps, ", "))
	}
	return nil
}

// ports rejects rates and parts that no port has, and limits that no configuration has.
func ports(d *design.Design, s *design.Switch) error {
	if s.Spec.Timed {
		return design.Refuse(d.OS, s, "limits that shorten with a port's rate (switch.limits_in_time): its limits are bytes; --set switch.limits_in_time=false keeps them")
	}
	accepted := speeds[d.OS]
	for _, p := range s.Ports {
		if len(accepted) > 0 && (p.Rate%unit.Gbps != 0 || !slices.Contains(accepted, p.Rate/unit.Gbps)) {
			var words []string
			for _, g := range accepted {
				words = append(words, (g * unit.Gbps).String())
			}
			return design.Refuse(d.OS, s, "port %d, to %s, runs at %v, which no port can be set to; accepted: %s", p.Number, p.FarName, p.Rate, strings.Join(words, ", "))
		}
		if err := brokenOut(d, s, p); err != nil {
			return err
		}
	}
	return nil
}

// balancing is the load balancing of a language's switches: modes, and the policies (lb) that they implement. Per
// packet, NX-OS and EOS send to the best port by their dynamic rate estimate, or by load and queue (Nexus 9000
// Unicast Routing Configuration Guide, Dynamic Load Balancing: "the path with least link utilization"; Arista's DLB
// on ECMP groups: "measuring the amount of data transmitted from a given port and packets enqueued"). Cumulus'
// adaptive routing sends to the port of the best grade. None sends packets in turn or at random, and no
// rendered configuration has tables of buckets that keep flows (resilient hashing).
var balancing = map[swconf.OS]struct{ modes, policies []string }{
	swconf.NXOS:  {[]string{"flowlet", "per-packet"}, []string{"ecmp", "flowlet", "spray-least", "dlb"}},
	swconf.EOS:   {[]string{"flowlet", "per-packet"}, []string{"ecmp", "flowlet", "spray-least", "dlb"}},
	swconf.NVUE:  {[]string{"per-packet"}, []string{"ecmp", "spray-least", "dlb"}},
	swconf.Junos: {[]string{"flowlet", "per-packet"}, []string{"ecmp", "flowlet", "spray-least", "dlb"}},
	swconf.SONiC: {nil, []string{"ecmp"}},
	swconf.FRR:   {nil, []string{"ecmp"}},
}

// balances rejects dynamic load balancing, if a design has any, for which the language has no command.
func balances(d *design.Design) error {
	mode, balanced := d.Balanced()
	if !balanced || !slices.ContainsFunc(d.Switches, (*design.Switch).Routed) {
		return nil
	}
	if can := balancing[d.OS]; !slices.Contains(can.modes, mode) {
		return fmt.Errorf("lb %s: %s has no rendered command for it, and its switches would behave differently; accepted: %s (--set lb=ecmp renders switches that hash)", cmp.Or(d.LB, mode),
			Title(d.OS), strings.Join(can.policies, ", "))
	}
	return nil
}

// virtual reports whether a switch is SONiC's virtual one.
func virtual(s *design.Switch) bool {
	return s.Panel != nil && s.Panel.Device != nil && strings.Contains(s.Panel.Device.Platform, "kvm")
}

// pfcModes returns notes on ports whose PFC is on in the rendered configuration, and negotiated or off in the
// switch's own configuration. NX-OS has all three modes, EOS and SONiC ports without PFC. FRR configures no queues.
func pfcModes(d *design.Design) (notes []string) {
	var negotiate, off []string
	for _, s := range d.Switches {
		for _, p := range s.Ports {
			switch {
			case !p.Own || d.OS == swconf.FRR || d.OS == swconf.NXOS:
			case p.PFC == swconf.PFCAuto && !slices.Contains(negotiate, s.Name):
				negotiate = append(negotiate, s.Name)
			case p.PFC == swconf.PFCOff && d.OS != swconf.EOS && d.OS != swconf.SONiC:
				off = append(off, s.Name+" "+p.Name)
			}
		}
	}
	if negotiate != nil {
		notes = append(notes, fmt.Sprintf("the configuration of %s negotiates PFC (DCBX over LLDP); in what is written PFC is on, even without an LLDP neighbor: run railyard config dcbx on the old configuration and turn PFC off where it is off there", swconf.Switches(negotiate)))
	}
	if off != nil {
		notes = append(notes, fmt.Sprintf("PFC is off in the configuration and on in what is written, whose ports share a PFC profile: %s", swconf.Compress(off)))
	}
	return notes
}

// headrooms returns notes on headroom of classes with a dynamic pause threshold, which NX-OS computes: its pause
// buffer-size accepts one only with a fixed threshold.
func headrooms(d *design.Design) (notes []string) {
	var on [queue.Classes][]string
	var most [queue.Classes]unit.Bytes
	for _, s := range d.Switches {
		spec := d.Spec(s.Node)
		for i := range spec.Queues {
			if k := &spec.Queues[i]; d.OS == swconf.NXOS && k.Lossless && k.XOff == 0 && k.Headroom > 0 {
				on[i], most[i] = append(on[i], s.Name), max(most[i], k.Headroom)
			}
		}
	}
	for i, names := range on {
		if names != nil {
			notes = append(notes, fmt.Sprintf("queue %d of %s: a headroom of %v is not written: with a dynamic pause threshold NX-OS computes headroom (a fixed one, switch.queues.%d.xoff, writes it as pause buffer-size)", i, swconf.Switches(names), most[i], i))
		}
	}
	return notes
}

// inCells returns notes on the greatest headroom that is SONiC's own calculation.
func inCells(d *design.Design) (notes []string) {
	var most *design.InCells
	for _, s := range d.Switches {
		if x := s.InCells; x != nil && (most == nil || x.XOff > most.XOff) {
			most = x
		}
	}
	if most == nil {
		return nil
	}
	if most.Assumed != "" {
		notes = append(notes, fmt.Sprintf("SONiC computes headroom for NVIDIA's chips only, and %s has another: the delays are those of %s, the oldest with such ports, cells have %d bytes; the device's pg_profile_lookup.ini has its own", most.Assumed, most.ASIC.Name, most.ASIC.Cell))
	}
	return append(notes, fmt.Sprintf("xoff is SONiC's own calculation for %s, up to %d bytes at %v over %.3g m: packets of 64 bytes fill a buffer cell of %d each; whole frames need %d bytes",
		most.ASIC.Name, most.XOff, most.Rate, float64(most.MM)/1000, most.ASIC.Cell, most.Whole))
}

// Unsaid lists features of a fabric that its configurations do not contain.
func Unsaid(d *design.Design) (notes []string) {
	if d.OS == swconf.FRR && slices.ContainsFunc(d.Switches, func(s *design.Switch) bool {
		return len(s.Trunks) > 0
	}) {
		notes = append(notes, "bonds themselves, their members and how many must work are the system's (/etc/network/interfaces); FRR's text routes over them")
	}
	for _, s := range d.Switches {
		split := slices.ContainsFunc(s.Ports, func(p *design.Port) bool { return p.Jack.Parts > 1 })
		if d.OS == swconf.EOS && split && !s.Panel.Told() {
			notes = append(notes, s.Name+" and others: parts of a port are called by their first lane, and eight lanes a port are assumed; set a model or lanes (fabric.types)")
			break
		}
	}
	if i := slices.IndexFunc(d.Switches, virtual); d.OS == swconf.SONiC && i < 0 && len(d.Switches) > 0 {
		notes = append(notes, "fabric.clab.yml starts virtual switches (docker-sonic-vs), which have the lanes of their image's hwsku and not of "+d.Switches[0].Panel.Device.From+": for them render with --profile and that hwsku's port_config.ini")
	}
	told := map[string]bool{}
	for _, s := range d.Switches {
		for _, n := range s.Notes {
			if !told[n] {
				notes = append(notes, s.Name+" and others like it: "+n)
			}
			told[n] = true
		}
	}
	notes = slices.Concat(notes, pfcModes(d), headrooms(d), inCells(d))
	if d.Segments && d.OS == swconf.FRR {
		notes = append(notes, "uSIDs take FRR 10.3 (static-sids; locators of 32 + 16 bits 8.5): older ones refuse these lines")
	}
	return notes
}
