package recognise

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/cabling"
	"railyard/internal/panel"
)

var (
	slashed = regexp.MustCompile(`^(?:ethernet|eth|et)(\d+)/(\d+)(?:/\d+)?$`)
	counted = regexp.MustCompile(`^ethernet(\d+)$`)
	linux   = regexp.MustCompile(`^swp\d+(?:s\d+)?$`)
	junos   = regexp.MustCompile(`^et-0/0/\d+(?::\d+)?$`)
)

// system detects the system of a group's switches from port names, "" if unknown: NX-OS has all ports in module 1, EOS
// a lane after the slash and no port 0, SONiC numbers by lanes, eights, or fours from 0 on.
func (f *finder) system(g *group) string {
	seen, module, eights, fours, zero, most := "", true, true, true, false, 0
	for _, n := range g.nodes {
		for _, k := range f.at[n] {
			name := strings.ToLower(strings.ReplaceAll(f.end(k, n).Port, " ", ""))
			form := ""
			switch {
			case slashed.MatchString(name):
				m := slashed.FindStringSubmatch(name)
				form, module = "slash", module && m[1] == "1"
				p, _ := strconv.Atoi(m[2])
				most = max(most, p)
			case counted.MatchString(name):
				p, _ := strconv.Atoi(counted.FindStringSubmatch(name)[1])
				form, zero, most = "count", zero || p == 0, max(most, p)
				eights, fours = eights && p%8 == 0, fours && p%4 == 0
			case linux.MatchString(name):
				form = panel.FRR
			case junos.MatchString(name):
				form = panel.Junos
			}
			if form == "" || seen != "" && seen != form {
				return ""
			}
			seen = form
		}
	}
	switch {
	case seen == "slash" && module && most > 1:
		return panel.NXOS
	case seen == "slash" && !module && most <= 8:
		return panel.EOS
	case seen == "count" && (eights || fours && (zero || f.zero())) && most > 0:
		return panel.SONiC
	case seen == "count" && !eights && !zero:
		return panel.EOS
	case seen == panel.FRR || seen == panel.Junos:
		return seen
	}
	return ""
}

// zero reports whether a switch has a port Ethernet0, as only SONiC's do.
func (f *finder) zero() bool {
	return slices.ContainsFunc(f.c.Cables, func(x cabling.Cable) bool {
		return cabling.PortKey(x.A.Port) == "eth0" || cabling.PortKey(x.B.Port) == "eth0"
	})
}

// keptIn counts the switches' ports that the source names. Of these it counts the findings' ports with equal names
// whose far end is the same node and, for a switch, the same port.
func (f *finder) keptIn(here *cabling.Cabling) (named, same int) {
	type end struct{ node, port string }
	far := map[end]end{}
	for _, x := range here.Cables {
		a := end{here.Nodes[x.A.Node].Name, cabling.PortKey(x.A.Port)}
		b := end{here.Nodes[x.B.Node].Name, cabling.PortKey(x.B.Port)}
		far[a], far[b] = b, a
	}
	for _, w := range f.cables {
		for _, e := range []struct {
			node, far   int
			port, there string
		}{{w.a, w.b, w.pa, w.pb}, {w.b, w.a, w.pb, w.pa}} {
			if e.port == "" || f.kind[e.node] == cabling.Server {
				continue
			}
			named++
			to := far[end{f.c.Nodes[e.node].Name, cabling.PortKey(e.port)}]
			if to.node == f.c.Nodes[e.far].Name &&
				(e.there == "" || f.kind[e.far] == cabling.Server || to.port == cabling.PortKey(e.there)) {
				same++
			}
		}
	}
	return named, same
}
