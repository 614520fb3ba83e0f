package nvue

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/internal/swconf/tree"
	"railyard/unit"
)

// Looks reports whether text looks like NVUE.
func Looks(text swconf.Text) int {
	return text.Score("nv set ", "nv unset ", "nv config apply", "nvue-api-version", "- set:\n",
		"nv set interface swp", "nv set qos ", "nv set vrf default router bgp", "br_default",
		"\n      swp1:\n",
		"\n      type: swp\n", "remote-as: external", "nv set router bgp ")
}

type parser struct {
	c     *swconf.Config
	t     tree.Tree
	count *tree.Count
	odd   []odd
	known [][]tree.Word // lines without effect here
	done  [][]tree.Word // unset paths
	last  int           // line of the last command, 0 of YAML
	qos   qos
	uses  map[*swconf.Port]*uses
	bonds map[string]*swconf.Port
	bgp   routing
}

// grammar is the table of supported paths. Its rows act on the parser of the match, so it is created once for all
// parsers.
func (p *parser) grammar() *tree.Grammar {
	g := &tree.Grammar{Short: p.last > 0}
	p.systemRows(g)
	p.portRows(g)
	p.qosRows(g)
	p.trimRows(g)
	p.routingRows(g)
	return g
}

func newParser(file string) *parser {
	p := &parser{c: &swconf.Config{OS: swconf.NVUE, File: file}, uses: map[*swconf.Port]*uses{},
		bonds: map[string]*swconf.Port{}}
	p.c.LLDP.V = true // lldpd runs
	p.qos.init()
	p.bgp.init()
	return p
}

// Parse reads a configuration in any of its forms: commands, YAML, JSON.
func Parse(file string, text []byte) (*swconf.Config, error) {
	if err := cli.Check(file, text); err != nil {
		return nil, err
	}
	p := newParser(file)
	lines := strings.Split(string(cli.LineEnds(text)), "\n")
	read := p.commands
	if isYAML(lines) {
		read = p.yaml
	}
	var err error
	if b := strings.TrimSpace(string(text[:min(len(text), 64)])); b != "" && (b[0] == '{' || b[0] == '[') {
		err = p.json(text)
	} else {
		err = read(lines)
	}
	if err != nil {
		return nil, err
	}
	if err := p.interpret(); err != nil {
		return nil, err
	}
	p.resolve()
	return p.c, nil
}

var yamlTop = regexp.MustCompile(`^(- )?[\w-]+:(\s|$)`)

// isYAML looks at the first line with content.
func isYAML(lines []string) bool {
	for _, l := range lines {
		if s := strings.TrimSpace(l); s == "---" || yamlTop.MatchString(s) {
			return true
		} else if s != "" && s[0] != '#' && s[0] != '!' {
			return false
		}
	}
	return false
}

// set files a path, for each of the interfaces that it names.
func (p *parser) set(path []tree.Word) error {
	return p.each(path, func(one []tree.Word) { p.t.Set(one) })
}

// unset removes paths, with all paths below them.
func (p *parser) unset(path []tree.Word) error {
	if len(path) > 0 {
		p.done = append(p.done, path)
	}
	return p.each(path, func(one []tree.Word) { p.t.Delete(one) })
}

func (p *parser) each(path []tree.Word, do func([]tree.Word)) error {
	if len(path) < 2 || path[0].Text != "interface" {
		do(path)
		return nil
	}
	w := path[1]
	names, ok := expand(w.Text)
	if !ok {
		names = []string{w.Text}
	}
	if !p.c.Room(swconf.Place{File: p.c.File, Line: w.Line, Col: w.Col}, len(names)) {
		return p.c.Over()
	}
	for _, n := range names {
		one := append([]tree.Word(nil), path...)
		one[1].Text = n
		do(one)
	}
	return nil
}

// maxRange bounds a range of names.
const maxRange = 4096

var rangeForm = regexp.MustCompile(`^(.*?)(\d+)-(?:([a-zA-Z_].*?)?)(\d+)$`)

// expand reads swp1-4,swp6, swp1-swp4, swp1s0-3 and bond1-2 into single names.
func expand(s string) (names []string, ok bool) {
	head := ""
	for _, part := range strings.Split(s, ",") {
		if part == "" {
			return nil, false
		}
		if part[0] >= '0' && part[0] <= '9' && head != "" {
			part = head + part // vlan10,20
		}
		f := rangeForm.FindStringSubmatch(part)
		if f == nil {
			names = append(names, part)
			head = strings.TrimRight(part, "0123456789")
			continue
		}
		a, err1 := strconv.Atoi(f[2])
		b, err2 := strconv.Atoi(f[4])
		if err1 != nil || err2 != nil || b < a || b-a >= maxRange || f[3] != "" && f[3] != f[1] || f[1] == "" {
			return nil, false
		}
		for head = f[1]; a <= b; a++ {
			names = append(names, head+strconv.Itoa(a))
		}
	}
	return names, len(names) <= maxRange
}

// tell starts the count of lines with the lines already recognized.
func (p *parser) tell(lines int) {
	p.count = tree.NewCount(p.c, lines)
	for _, u := range p.odd {
		p.count.Unknown(u.at, u.text, u.why)
	}
	for _, w := range p.known {
		p.count.Passed(w)
	}
	for _, w := range p.done {
		p.count.Read(w)
	}
}

// interpret finds each statement's row and executes it.
func (p *parser) interpret() error {
	g := p.grammar()
	list := p.t.Statements()
	p.findBonds(list)
	for _, s := range list {
		m, miss := g.Find(s.Words)
		if miss != nil {
			at := s.Words[min(miss.At, len(s.Words)-1)]
			if miss.At == len(s.Words) && p.last > 0 && at.Line == p.last {
				return p.cut(s.Words)
			}
			p.count.Unknown(at, strings.Join(tree.Texts(s.Words), " "), miss.Why(s.Words),
				s.Words[min(miss.At, len(s.Words)):]...)
			continue
		}
		if m.Row.Do == nil {
			p.count.Passed(s.Words)
			continue
		}
		m.File = p.c.File
		m.Row.Do(m)
		p.count.Read(s.Words)
	}
	p.count.Close()
	return p.c.Over()
}

func (p *parser) bad(m *tree.Match, name, what string) {
	swconf.Report(p.c, m.At(name), swconf.Error, "bad-value", fmt.Sprintf("%q is not %s", m.Word(name), what),
		"NVUE refuses the line", "write "+what)
}

// onOff are the words that switch a feature: on and off until 5.13 for most, enabled and disabled since.
const onOff = "<v:on|off|enable|disable|enabled|disabled|yes|no|true|false>"

func isOn(m *tree.Match) bool {
	switch m.Word("v") {
	case "off", "disable", "disabled", "no", "false":
		return false
	}
	return true
}

// toggle adds the three ways to enable a feature: by naming it, by enable on, by state enabled.
func toggle(g *tree.Grammar, path string, do func(*tree.Match)) {
	g.Add(path, do)
	g.Add(path+" enable "+onOff, do)
	g.Add(path+" state "+onOff, do)
}

func (p *parser) systemRows(g *tree.Grammar) {
	c := p.c
	g.Add("system hostname <name>", func(m *tree.Match) { c.Hostname = tree.Say(m, "name", m.Word("name")) })
	g.Add("platform hostname value <name>", func(m *tree.Match) { c.Hostname = tree.Say(m, "name", m.Word("name")) })
	g.Add("system forwarding hash-seed <n>", func(m *tree.Match) { c.HashSeed = tree.Say(m, "n", m.Word("n")) })
	lldp := func(m *tree.Match) { c.LLDP = tree.Say(m, "v", isOn(m)) }
	toggle(g, "system lldp", lldp)
	g.Add("service lldp", nil)
	toggle(g, "router adaptive-routing", func(m *tree.Match) { p.qos.adaptive = tree.Say(m, "v", isOn(m)) })
	g.Pass("router adaptive-routing profile", "router adaptive-routing link-utilization-threshold",
		"router adaptive-routing ecmp-size", "system lldp dot1-tlv", "system lldp tx-interval",
		"system lldp tx-hold-multiplier", "system lldp lldp-med-inventory-tlv", "system lldp mode",
		"system lldp application-tlv", "service lldp dot1-tlv", "service lldp tx-interval",
		"service lldp tx-hold-multiplier", "service lldp lldp-med-inventory-tlv", "service lldp mode",
		"service lldp application-tlv")
	g.Pass("system forwarding ecmp-hash", "system forwarding lag-hash",
		"system forwarding ecmp-weight-normalisation",
		"system forwarding programming", "system forwarding profile-option", "system forwarding dos-limit",
		"system forwarding host-route-preference", "system forwarding ecmp-weight-normalization")
	for _, s := range systemPassed {
		g.Pass("system " + s)
	}
	g.Pass("service", "acl", "platform", "nve", "mlag", "maintenance", "sdwan", "header", "evpn", "bridge",
		"rev-id",
		"cluster", "telemetry", "job-id", "version", "model")
}

// systemPassed are below system and do not affect the data path.
var systemPassed = []string{"aaa", "acl", "aggregate-vni", "api", "banner", "cli", "config",
	"control-plane", "counter",
	"cpu-shaper", "date-time", "disk", "dns", "docker", "documentation", "domain", "dot1x", "eee", "event",
	"external-api", "factory-default", "feature", "global", "gnmi-server", "grpc-tunnel", "health",
	"image", "lacp",
	"linecard", "location", "log", "maintenance", "management", "message", "motd", "nat", "ntp", "ntpd",
	"packages",
	"pluggable", "port-mirror", "port-security", "power", "profile", "ptm", "ptp", "radius", "reboot",
	"reflexive-acl", "security", "sflow", "snmp", "snmp-server", "ssh-server", "stp", "syncE", "synce",
	"sysctl",
	"syslog", "tacacs", "tech-support", "telemetry", "time", "timezone", "tls", "trap", "user", "version",
	"watchdog",
	"wjh", "ztp", "contact", "do-spx", "link-tracking", "lldp tlv", "lldp unreachable-prefix"}

// numbers reads 0-3,5 and 2,6 as a set below a bound.
func numbers(s string, bound int) (set []int, ok bool) {
	seen := make([]bool, bound)
	for _, part := range strings.Split(s, ",") {
		lo, hi, ranged := strings.Cut(part, "-")
		if !ranged {
			hi = lo
		}
		a, err1 := strconv.Atoi(lo)
		b, err2 := strconv.Atoi(hi)
		if err1 != nil || err2 != nil || a < 0 || b < a || b >= bound {
			return nil, false
		}
		for ; a <= b; a++ {
			if !seen[a] {
				seen[a] = true
				set = append(set, a)
			}
		}
	}
	return set, true
}

// bytes parses a size that a line gives as an integer.
func bytes(m *tree.Match, name string) unit.Bytes { return unit.Bytes(min(m.Int(name), 1<<40)) }
