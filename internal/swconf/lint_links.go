package swconf

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// ends visits both directions of every cable between two configured ports.
func (l *linter) ends(visit func(e, far *end)) {
	l.cables(func(a, b *end) {
		if a.port != nil && b.port != nil {
			visit(a, b)
			visit(b, a)
		}
	})
}

func (e *end) far() string { return e.peer.c.Name() + " " + e.peer.port.Name }

func (l *linter) pfcOneEnd() {
	l.ends(func(e, far *end) {
		if !e.c.HasQoS() || !far.c.HasQoS() {
			return
		}
		mine, theirs := e.port.Paused(), far.port.Paused()
		if mine == theirs || mine&^theirs != 0 { // reported at the end that lacks priorities
			return
		}
		l.say(e.port.unpaused(theirs&^mine), fixPausing(e.c, e.port, theirs&^mine, far.port.PFC.V),
			"%s pauses priorities %s, its neighbour %s pauses %s",
			e.port.Name, Priorities(mine), e.far(), Priorities(theirs))
		l.pastePausing(e.c, e.port, theirs&^mine, far.port.PFC.V)
	})
}

// pfcOn is the command of NX-OS, the only language that negotiates PFC, by which a port does not negotiate.
const pfcOn = "priority-flow-control mode on"

func (l *linter) pfcModeDiffers() {
	l.ends(func(e, far *end) {
		at := first(e.port.PFC.At, e.port.At)
		switch {
		case e.answers(far) || far.answers(e):
		case e.port.PFC.V == PFCAuto && far.port.PFC.V == PFCOn:
			l.say(at, "the same mode on both ends: "+pfcOn, "%s negotiates PFC, its neighbour %s forces it on",
				e.port.Name, e.far())
			l.pastePort(e.c, e.port, setPFC, pfcOn)
		case e.port.PFC.V == PFCOn && far.port.PFC.V == PFCAuto:
			l.say(at, fmt.Sprintf("the same mode on both ends: %s at %s", pfcOn, e.far()),
				"%s forces PFC on, its neighbour %s negotiates it", e.port.Name, e.far())
		}
	})
}

// answers reports whether a port that forces PFC on announces it by DCBX to one that negotiates. EOS has no mode
// that negotiates: a port sends its parameters in the form of dcbx mode, with PFC on (Arista EOS user manual,
// DCBX).
func (e *end) answers(far *end) bool {
	form, heard := e.port.DCBX.V, far.port.DCBX.V
	return e.c.OS == EOS && e.port.PFC.V == PFCOn && (form == "ieee" || form == "cee") && e.c.LLDP.V &&
		!e.port.LLDPOff.V && far.port.PFC.V == PFCAuto && far.c.LLDP.V && !far.port.LLDPOff.V &&
		(heard == form || heard == "" || heard == "auto")
}

func (l *linter) speed() {
	l.cables(func(a, b *end) {
		for _, e := range []*end{a, b} {
			if e.port != nil && e.port.Speed.Is() && e.port.Speed.V != e.link.Rate {
				l.say(e.port.Speed.At, fixSpeed(e.c, e.link.Rate),
					"%s runs at %v, its cable at %v", e.port.Name, e.port.Speed.V, e.link.Rate)
				l.pastePort(e.c, e.port, setSpeed, speedValue(e.c.OS, e.link.Rate))
			}
		}
	})
}

func (l *linter) portDown() {
	l.cables(func(a, b *end) {
		for _, e := range []*end{a, b} {
			if e.port != nil && e.port.Down.V {
				l.say(first(e.port.Down.At, e.port.At), fixUp.in(e.c), "%s is cabled and shut down", e.port.Name)
				l.pastePort(e.c, e.port, setUp, "")
			}
		}
	})
}

func (l *linter) portMissing() {
	missing, named := map[*Config][]int{}, map[*Config][]string{}
	l.cables(func(a, b *end) {
		for _, e := range []*end{a, b} {
			switch {
			case e.c == nil || e.port != nil:
			case e.name != "":
				named[e.c] = append(named[e.c], e.name)
			case e.panel != nil:
				named[e.c] = append(named[e.c], e.panel.Name(string(e.c.OS), e.jack))
			default:
				missing[e.c] = append(missing[e.c], int(e.jack.Port))
			}
		}
	})
	for _, c := range l.Configs {
		what := ranges(missing[c])
		if len(named[c]) > 0 {
			what = Compress(named[c])
		}
		if what != "" {
			l.say(c.top(), "configure the ports, or check the names",
				"%s has cables on ports %s, which the configuration does not contain", c.Name(), what)
		}
	}
}

func (l *linter) switchMissing() {
	for _, c := range l.Configs {
		if l.Graph != nil && l.nodes[c] < 0 && !l.companion[c] {
			l.say(c.top(), "set the hostname to the switch's name in the scenario",
				"the fabric has no switch %q", c.Name())
		}
	}
}

// lldpOff requires LLDP at ports that negotiate PFC.
func (l *linter) lldpOff() {
	for _, c := range l.Configs {
		reported := false
		for _, p := range c.Ports {
			if p.PFC.V != PFCAuto || p.Paused() == 0 || p.Down.V {
				continue
			}
			switch {
			case p.LLDPOff.V:
				l.say(first(p.LLDPOff.At, p.PFC.At, p.At), fixLLDPPort.in(c),
					"%s negotiates PFC with LLDP turned off", p.Name)
				l.pastePort(c, p, setLLDPPort, "")
			case !c.LLDP.V && !reported && c.Part && !c.LLDP.Is() && !p.PFC.Is():
				reported = true
				l.say(p.At, pfcOn+" at the port, or feature lldp if the neighbor announces its PFC by DCBX",
					"%s negotiates PFC by default, and this part of a configuration has no LLDP", p.Name)
				l.findings[len(l.findings)-1].Severity = Info
				l.paste(c.unasked())
			case !c.LLDP.V && !reported:
				reported = true
				l.say(first(c.LLDP.At, p.PFC.At, p.At), fixLLDP.in(c),
					"%s negotiates PFC and LLDP does not run on the switch", p.Name)
				l.paste(setLLDP.in(c.OS))
			}
		}
	}
}

// unasked returns the commands that set PFC on at all ports that negotiate it by default, because LLDP only helps
// if the neighbor announces PFC.
func (c *Config) unasked() (lines []string) {
	for _, p := range c.Ports {
		if p.PFC.V == PFCAuto && !p.PFC.Is() && p.Paused() != 0 && !p.Down.V {
			lines = append(lines, setPFC.in(c.OS, "port", p.Name, "value", pfcOn)...)
		}
	}
	return lines
}

// polarisation compares the explicit hash seeds of switches on different tiers.
func (l *linter) polarisation() {
	type use struct {
		c    *Config
		tier int
	}
	by := map[string]use{}
	for _, c := range l.Configs {
		if !c.HashSeed.Is() {
			continue
		}
		tier := l.tier(c)
		if tier == 0 {
			continue
		}
		if u, ok := by[c.HashSeed.V]; ok && u.tier != tier {
			l.say(c.HashSeed.At, "another seed per tier, or per switch",
				"%s (tier %d) hashes with the seed %s of %s (tier %d)", c.Name(), tier, c.HashSeed.V,
				u.c.Name(), u.tier)
			continue
		}
		by[c.HashSeed.V] = use{c, tier}
	}
}

// tier is a switch's tier by the fabric, or by its name.
func (l *linter) tier(c *Config) int {
	if n := l.nodes[c]; n >= 0 {
		return l.Graph.Nodes[n].Tier
	}
	return namedTier(c.Name())
}

// roleWords are names of switches by tier.
var roleWords = []struct {
	word string
	tier int
}{{"leaf", 1}, {"rail", 1}, {"tor", 1}, {"spine", 2}, {"agg", 2}, {"core", 3}, {"superspine", 3},
	{"super-spine", 3}, {"super", 3}}

// namedTier returns the tier in a name, 0 for none. Names usually go from large to small parts, so the last word
// counts: storage-spine-1, which contains tor, is a spine. Of words that end at one position the longest counts.
func namedTier(name string) (tier int) {
	name = strings.ToLower(name)
	last, length := 0, 0
	for _, w := range roleWords {
		if at := strings.LastIndex(name, w.word); at >= 0 {
			if end := at + len(w.word); end > last || end == last && len(w.word) > length {
				last, length, tier = end, len(w.word), w.tier
			}
		}
	}
	return tier
}

// balancers visits the configurations with DLB.
func (l *linter) balancers() (with []*Config) {
	for _, c := range l.Configs {
		if c.DLB != nil {
			with = append(with, c)
		}
	}
	return with
}

// dlbMAC compares the MAC addresses that NX-OS sends balanced packets to. Switches of other languages have none.
func (l *linter) dlbMAC() {
	var macs []string
	with := slices.DeleteFunc(l.balancers(), func(c *Config) bool { return c.OS != NXOS })
	for _, c := range with {
		macs = append(macs, c.DLB.mac())
	}
	most := majority(macs)
	for i, c := range with {
		if macs[i] != most {
			l.say(first(c.DLB.MAC.At, c.DLB.At), "mac-address "+most, "%s uses the DLB MAC %s, the others %s",
				c.Name(), macs[i], most)
			l.paste([]string{"hardware profile dlb", "  mac-address " + most})
		}
	}
}

func (d *DLB) mac() string {
	if d.MAC.Is() {
		return d.MAC.V
	}
	return DefaultDLBMAC
}

func (l *linter) dlbMode() {
	var modes []string
	for _, c := range l.balancers() {
		modes = append(modes, c.DLB.Mode.V)
	}
	most := majority(modes)
	for i, c := range l.balancers() {
		if modes[i] != most {
			fix := "mode " + most
			if c.OS == NVUE { // NVUE balances packets or not at all
				fix = fmt.Sprintf("mode %s on the others, or no adaptive routing here", c.DLB.Mode.V)
			}
			l.say(first(c.DLB.Mode.At, c.DLB.At), fix, "%s balances by %q, the others by %q",
				c.Name(), modes[i], most)
		}
	}
}

func (l *linter) dlbPorts() {
	for _, c := range l.balancers() {
		for _, p := range c.DLB.Ports {
			if c.Port(p.V) == nil && len(c.Ports) > 0 {
				l.sayOf(c)(p.At, "name the ports towards the equal-cost paths",
					"DLB names %s, which the configuration does not contain", p.V)
			}
		}
	}
}

// pfcLine matches lines about PFC in all languages.
var pfcLine = regexp.MustCompile(`(?i)priority-flow-control|\bpfc`)

func (l *linter) unknownLines() {
	for _, c := range l.Configs {
		for _, u := range c.Unknown {
			fix := "correct the line, or report it if it is correct"
			if len(u.Near) > 0 {
				fix = "write " + strings.Join(u.Near, ", or ") + "; report the line if it is correct"
			}
			l.say(u.At, fix, "%q: %s", u.Text, u.Why)
			if pfcLine.MatchString(u.Text) {
				l.findings[len(l.findings)-1].Severity = Warning // PFC does not run as the line sets it
			}
		}
	}
	for _, h := range l.Hosts {
		for _, u := range h.Unknown {
			l.say(u.At, "correct the line, or report it if it is correct", "%q: %s", u.Text, u.Why)
		}
	}
}

// unused reports definitions that nothing refers to.
func (l *linter) unused() {
	for _, c := range l.Configs {
		used := map[[2]string]bool{}
		for _, r := range c.Refs {
			used[[2]string{r.Kind, r.Name}] = true
		}
		for _, o := range c.Objects {
			if !o.Quiet && !used[[2]string{o.Kind, o.Name}] {
				l.say(o.At, "apply it, or remove it", "%s %s is defined and never applied", o.Kind, o.Name)
			}
		}
	}
}

func (l *linter) undefined() {
	for _, c := range l.Configs {
		have, kinds := map[[2]string]bool{}, map[string]bool{}
		for _, o := range c.Objects {
			have[[2]string{o.Kind, o.Name}] = true
			kinds[o.Kind] = kinds[o.Kind] || !o.Quiet
		}
		for _, r := range c.Refs {
			if !have[[2]string{r.Kind, r.Name}] {
				say := l.say
				// in a partial configuration without a definition of the kind, the definitions may be elsewhere
				if !kinds[r.Kind] {
					say = l.sayOf(c)
				}
				say(r.At, "define it, or correct the name", "%s %s is applied and not defined", r.Kind, r.Name)
			}
		}
	}
}
