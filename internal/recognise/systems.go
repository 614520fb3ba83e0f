package recognise

import (
	"regexp"
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

// system tells by the names of a group's ports which system its switches run, "" where they do not say:
// NX-OS has all ports in module 1, EOS a lane behind the slash and no port 0, SONiC's numbers go by lanes: of
// those that go by fours nobody could write which model it is.
func (f *finder) system(g *group) string {
	seen, module, eights, zero, most := "", true, true, false, 0
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
				form, eights, zero, most = "count", eights && p%8 == 0, zero || p == 0, max(most, p)
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
	case seen == "count" && eights && most > 0:
		return panel.SONiC
	case seen == "count" && !eights && !zero:
		return panel.EOS
	case seen == panel.FRR || seen == panel.Junos:
		return seen
	}
	return ""
}

// keptIn counts the switches' ports that the source names, and those of them that are called the same in what
// was found.
func (f *finder) keptIn(here *cabling.Cabling) (named, same int) {
	type end struct{ node, port string }
	far := map[end]string{}
	for _, x := range here.Cables {
		a, b := end{here.Nodes[x.A.Node].Name, cabling.PortKey(x.A.Port)}, end{here.Nodes[x.B.Node].Name,
			cabling.PortKey(x.B.Port)}
		far[a], far[b] = b.node, a.node
	}
	for _, w := range f.cables {
		for _, e := range []struct {
			node, far int
			port      string
		}{{w.a, w.b, w.pa}, {w.b, w.a, w.pb}} {
			if e.port == "" || f.kind[e.node] == cabling.Server {
				continue
			}
			named++
			if far[end{f.c.Nodes[e.node].Name, cabling.PortKey(e.port)}] == f.c.Nodes[e.far].Name {
				same++
			}
		}
	}
	return named, same
}
