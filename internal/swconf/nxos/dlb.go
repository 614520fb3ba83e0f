package nxos

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/swconf"
)

// Where DLB is: "Cisco Nexus 9000 Series Cloud Scale switches (9300-FX3, GX, GX2, and HX-TOR), starting from NX-OS
// Release 10.5(1)F [...] on Layer 3 physical interfaces" (seed, chapter 12). HX is in the names H1 and H2R. "The
// policy-driven Dynamic Load Balancing (DLB) feature is introduced on the N9364E-SG2 Silicon One switches in Cisco
// NX-OS Release 10.5(3)F" (Cisco Nexus 9000 Series NX-OS Quality of Service Configuration Guide, Release 10.6(x)). The
// cards of a modular switch, such as the 9408 with those of GX2, are not in its name.
var (
	dlbRelease  = [3]int{10, 5, 1}
	dlbSwitches = regexp.MustCompile(`-(FX3|GX|GX2|HX|H1|H2R|SG2)[A-Z]*\d*(-[A-Z]+)?$|^N9K-C9408$|^N9K-C95`)
	silicon     = regexp.MustCompile(`-SG2`)
	onSilicon   = [3]int{10, 5, 3}
)

var (
	releaseWord = regexp.MustCompile(`^(\d{1,3})\.(\d{1,3})\((\d{1,3})`)
	// a switch is named by comments, show version and show inventory, not by what neighbours are called
	chassisLine = regexp.MustCompile(`(?i)^(?:!.*?\b(N9K-C[\w-]+)|\s*cisco Nexus9000 (C[\w-]+) .*chassis|.*\bPID: *(N9K-C[\w-]+))`)
)

// chassisOf finds the switch model of a configuration; empty: unknown.
func chassisOf(file string, text []byte) swconf.Said[string] {
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if len(line) > 512 {
			continue
		}
		m := chassisLine.FindSubmatch(line)
		if m == nil {
			continue
		}
		for _, name := range m[1:] {
			if len(name) > 0 {
				at := swconf.Place{File: file, Line: n, Col: 1 + bytes.Index(line, name)}
				return swconf.Say(strings.ToUpper("N9K-"+strings.TrimPrefix(string(name), "N9K-")), at)
			}
		}
	}
	return swconf.Said[string]{}
}

// hasDLB reports the setting that excludes DLB: the release, the switch, ports of layer 2.
func (p *parser) hasDLB() {
	const source = "DLB is on Nexus 9300-FX3, GX, GX2 and HX-TOR from NX-OS 10.5(1)F on, on N9364E-SG2 from 10.5(3)F on, on physical interfaces of layer 3"
	d := p.c.DLB
	if m := releaseWord.FindStringSubmatch(p.release.V); m != nil {
		var have [3]int
		for i := range have {
			have[i], _ = strconv.Atoi(m[i+1])
		}
		first := dlbRelease
		if silicon.MatchString(p.chassis.V) {
			first = onSilicon
		}
		if before(have, first) {
			swconf.Report(p.c, p.release.At, swconf.Error, "dlb-release",
				fmt.Sprintf("the configuration is of NX-OS %s and has DLB", p.release.V), source,
				fmt.Sprintf("upgrade to NX-OS %d.%d(%d)F or later, or leave hardware profile dlb out", first[0],
					first[1], first[2]))
		}
	}
	if p.chassis.Is() && !dlbSwitches.MatchString(p.chassis.V) {
		swconf.Report(p.c, p.chassis.At, swconf.Error, "dlb-platform",
			fmt.Sprintf("the switch is a %s and has DLB", p.chassis.V), source,
			"leave hardware profile dlb out on this switch")
	}
	for _, n := range d.Ports {
		if !strings.HasPrefix(n.V, "Ethernet") && !strings.HasPrefix(n.V, "Eth") {
			swconf.Report(p.c, n.At, swconf.Error, "dlb-layer2", fmt.Sprintf("DLB names %s, which is not a physical port", n.V),
				source, "name the physical ports towards the equal-cost paths")
		}
	}
	switched := 0
	for _, q := range p.c.Ports {
		said := p.layer2[q]
		if !said.V {
			continue
		}
		switched++
		if slices.ContainsFunc(d.Ports, func(n swconf.Said[string]) bool { return n.V == q.Name }) {
			swconf.Report(p.c, said.At, swconf.Error, "dlb-layer2",
				fmt.Sprintf("%s is a switchport, and DLB names it", q.Name), source,
				"no switchport on the port, or take it out of DLB")
		}
	}
	if n := len(p.c.Ports); d.All && n > 0 && switched == n {
		swconf.Report(p.c, d.At, swconf.Error, "dlb-layer2",
			fmt.Sprintf("DLB is on all ports of layer 3, and each of the %d ports is a switchport", n), source,
			"no switchport on the ports towards the equal-cost paths")
	}
}

// before reports whether a release is older than another.
func before(a, b [3]int) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}
