package dialect

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/unit"
)

// speeds is what ports of a language's switches can be set to, in Gbit/s: IEEE 802.3's, as far as there are
// such switches. FRR sets none, so that it is left out.
var speeds = map[swconf.OS][]unit.Rate{
	swconf.NXOS:  {1, 10, 25, 40, 50, 100, 200, 400, 800},
	swconf.EOS:   {1, 10, 25, 40, 50, 100, 200, 400, 800},
	swconf.SONiC: {1, 10, 25, 40, 50, 100, 200, 400, 800, 1600},
}

// SONiC's ports are written with eight lanes each, where no model says how many they have. 1,024 of
// 100 Gbit/s is what the largest chip has that is sold (102.4 Tbit/s, 128 ports); the Spectrum chips that
// --asic names have 512 at most.
const (
	mostLanes       = 1024
	lanesOfSpectrum = 512
)

// ports refuses rates and numbers that no port has.
func ports(d *design.Design, s *design.Switch) error {
	accepted := speeds[d.OS]
	lanes := mostLanes
	if d.ASIC != "" {
		lanes = lanesOfSpectrum
	}
	for _, p := range s.Ports {
		if len(accepted) > 0 && (p.Rate%unit.Gbps != 0 || !slices.Contains(accepted, p.Rate/unit.Gbps)) {
			var words []string
			for _, g := range accepted {
				words = append(words, (g * unit.Gbps).String())
			}
			return design.Refuse(d.OS, s, "port %d, to %s, runs at %v, which no port can be set to; "+
				"accepted: %s", p.Number, p.FarName, p.Rate, strings.Join(words, ", "))
		}
		if first, own := s.Panel.Lanes(p.Jack); d.OS == swconf.SONiC && first+own > lanes {
			return design.Refuse(d.OS, s, "port %d, to %s, would have lanes %d to %d; no chip has more "+
				"than %d, so a switch has %s of %d lanes at most", p.Jack.Port, p.FarName,
				first+1, first+own, lanes, unit.Plural(lanes/own, "port"), own)
		}
	}
	return nil
}

// Unsaid tells what a fabric does and its configurations do not say.
func Unsaid(d *design.Design) (notes []string) {
	routed := slices.ContainsFunc(d.Switches, (*design.Switch).Routed)
	mode, balanced := d.Balanced()
	switch {
	case !balanced || !routed:
	case d.OS == swconf.SONiC || d.OS == swconf.FRR:
		notes = append(notes, fmt.Sprintf("lb %s: what is written for %s has no line for it; these switches "+
			"hash, as lb ecmp does", d.LB, Title(d.OS)))
	case mode == "per-packet" && d.LB != leastLoaded:
		notes = append(notes, fmt.Sprintf("lb %s: %s says no more than %s; switches pick the least loaded "+
			"port, as lb %s does", d.LB, Title(d.OS), mode, leastLoaded))
	}
	if d.OS == swconf.FRR && slices.ContainsFunc(d.Switches, func(s *design.Switch) bool {
		return len(s.Trunks) > 0
	}) {
		notes = append(notes, "bonds themselves, their members and how many must work are the system's "+
			"(/etc/network/interfaces); FRR's text routes over them")
	}
	if d.Segments && d.OS == swconf.FRR {
		notes = append(notes, "uSIDs take FRR 10.3 (static-sids; locators of 32 + 16 bits 8.5): older "+
			"ones refuse "+
			"these lines")
	}
	return notes
}

// leastLoaded is the policy that dynamic load balancing per packet is.
const leastLoaded = "spray-least"
