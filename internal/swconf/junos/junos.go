package junos

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/internal/swconf/platform"
	"railyard/internal/swconf/tree"
)

// known is the documented defaults of a switch (platform/junos.json).
var known = platform.Of("junos", "")

// Looks reports whether text looks like Junos. Names of ports alone are a list of cables, or of addresses.
func Looks(text swconf.Text) int {
	n := text.Score("set interfaces ", "set class-of-service ", "class-of-service {",
		"routing-options",
		"host-name ", "family inet", "protocols {", "system {", "interfaces {", "set protocols bgp group ",
		"congestion-notification-profile", "forwarding-classes", "set system host-name", "ether-options ")
	if n == 0 && text.Score(" {\n") == 0 {
		return 0
	}
	return n + text.Score("et-0/0/", "xe-0/0/")
}

// strange is a line that belongs neither to the hierarchy nor to the commands.
type strange struct {
	word tree.Word
	why  string
}

type parser struct {
	c       *swconf.Config
	t       tree.Tree
	off     [][]tree.Word // inactive paths
	odd     []strange
	groups  map[string][][]tree.Word
	applied []applied
	except  []applied
	steps   int
	ranges  map[string][]string
	units   map[string]bool // interfaces with logical units
	cos     cos
	filters filters
	bgp     routing
	multi   multihome
	mute    bool // LLDP is disabled, overriding its interfaces
}

// Parse reads a configuration in either form.
func Parse(file string, text []byte) (*swconf.Config, error) {
	if err := cli.Check(file, text); err != nil {
		return nil, err
	}
	p := &parser{c: &swconf.Config{OS: swconf.Junos, File: file}, groups: map[string][][]tree.Word{},
		ranges: map[string][]string{}, units: map[string]bool{}}
	p.cos.init()
	for _, kind := range []string{"classifier", "scheduler-map"} { // Junos has them
		p.c.Define(kind, "default", swconf.Place{File: file}, true)
	}
	p.bgp.init()
	p.multi.init()
	tokens, lines, err := scan(file, string(cli.LineEnds(text)))
	if err != nil {
		return nil, err
	}
	if len(tokens) == 0 {
		return nil, &cli.SyntaxError{File: file, Line: 1, Col: 1, Msg: "has comments only"}
	}
	if err := p.read(tokens); err != nil {
		return nil, err
	}
	p.interpret(lines)
	if p.steps > maxSteps {
		at := p.applied[0].name
		return nil, &cli.SyntaxError{File: file, Line: at.Line, Col: at.Col,
			Msg: "groups expand to too many statements"}
	}
	if err := p.c.Over(); err != nil {
		return nil, err
	}
	p.resolve()
	return p.c, nil
}

func place(file string, w tree.Word) swconf.Place {
	return swconf.Place{File: file, Line: w.Line, Col: w.Col}
}

// interpret finds each statement's row and executes it.
func (p *parser) interpret(lines int) {
	count := tree.NewCount(p.c, lines)
	for _, o := range p.odd {
		count.Unknown(o.word, o.word.Text, o.why)
	}
	for _, s := range p.idle() {
		count.Passed(s.Words)
	}
	g := p.grammar()
	own := p.sort(p.t.Statements())
	p.members(own)
	for _, w := range p.inherited(own) {
		p.do(g, count, w)
	}
	for _, s := range own {
		p.do(g, count, s.Words)
	}
	count.Close()
}

// idle removes inactive statements, and returns them.
func (p *parser) idle() (out []*tree.Statement) {
	if len(p.off) == 0 {
		return nil
	}
	all := p.t.Statements()
	for _, at := range p.off {
		p.t.Delete(at)
	}
	stay := map[*tree.Statement]bool{}
	for _, s := range p.t.Statements() {
		stay[s] = true
	}
	for _, s := range all {
		if !stay[s] {
			out = append(out, s)
		}
	}
	return out
}

// do executes a statement, for each member of a range of interfaces.
func (p *parser) do(g *tree.Grammar, count *tree.Count, w []tree.Word) {
	if len(w) > 3 && w[0].Text == "interfaces" && w[1].Text == "interface-range" {
		if strings.HasPrefix(w[3].Text, "member") {
			count.Read(w)
			return
		}
		names := p.ranges[w[2].Text]
		if !p.c.Room(place(p.c.File, w[2]), len(names)) {
			return
		}
		for _, name := range names {
			one := append([]tree.Word{w[0], {Text: name, Line: w[2].Line, Col: w[2].Col}}, w[3:]...)
			p.do(g, count, one)
		}
		return
	}
	m, miss := g.Find(w)
	if miss != nil {
		if parts := beside(g, w, miss.At); parts != nil {
			for _, one := range parts {
				p.do(g, count, one)
			}
			return
		}
		at := w[min(miss.At, len(w)-1)]
		count.Unknown(at, strings.Join(tree.Texts(w), " "), miss.Why(w), w[min(miss.At, len(w)):]...)
		return
	}
	if m.Row.Do == nil {
		count.Passed(w)
		return
	}
	m.File = p.c.File
	m.Row.Do(m)
	count.Read(w)
}

// beside splits a command that sets several values of one level, in their order: set interfaces et-0/0/0 mtu 9216
// speed 400g. It returns nil if a part matches no row.
func beside(g *tree.Grammar, w []tree.Word, cut int) [][]tree.Word {
	if cut < 3 || cut >= len(w) {
		return nil
	}
	if m, _ := g.Find(w[:cut]); m == nil {
		return nil
	}
	for j := cut - 1; j > 0; j-- {
		rest := append(w[:j:j], w[cut:]...)
		m, miss := g.Find(rest)
		switch {
		case m != nil && j >= 2:
			return [][]tree.Word{w[:cut], rest}
		case m == nil && miss.At >= j+2:
			if parts := beside(g, rest, miss.At); parts != nil {
				return append([][]tree.Word{w[:cut]}, parts...)
			}
		}
	}
	return nil
}

var rangeForm = regexp.MustCompile(`^(.*?)(\d+)(:\d+)?$`)

// members finds the interfaces of interface ranges.
func (p *parser) members(own []*tree.Statement) {
	for _, s := range own {
		w := s.Words
		if len(w) < 5 || w[0].Text != "interfaces" || w[1].Text != "interface-range" {
			continue
		}
		var names []string
		switch {
		case w[3].Text == "member":
			names = p.matching(w[4].Text, own)
		case w[3].Text == "member-range" && len(w) > 6 && w[5].Text == "to":
			a, b := rangeForm.FindStringSubmatch(w[4].Text), rangeForm.FindStringSubmatch(w[6].Text)
			if a == nil || b == nil || a[1] != b[1] {
				break
			}
			from, _ := strconv.Atoi(a[2])
			to, err := strconv.Atoi(b[2])
			if err != nil || to-from >= swconf.MaxPorts {
				p.c.Room(place(p.c.File, w[3]), swconf.MaxPorts+1) // Junos refuses such a configuration
				return
			}
			for n := from; n <= to; n++ {
				names = append(names, a[1]+strconv.Itoa(n)+a[3])
			}
		}
		if !p.c.Room(place(p.c.File, w[3]), len(names)) {
			return
		}
		p.ranges[w[2].Text] = append(p.ranges[w[2].Text], names...)
	}
}

// matching returns the interfaces of a member: a name, one with numbers in brackets, or a pattern of existing ones.
func (p *parser) matching(member string, own []*tree.Statement) (names []string) {
	if !strings.ContainsAny(member, "*?") {
		return bracket(member)
	}
	seen := map[string]bool{}
	if p.steps += len(own); p.steps > maxSteps {
		return nil
	}
	for _, s := range own {
		if w := s.Words; len(w) > 1 && w[0].Text == "interfaces" && !seen[w[1].Text] && glob(member, w[1].Text) {
			seen[w[1].Text] = true
			names = append(names, w[1].Text)
		}
	}
	return names
}

var bracketForm = regexp.MustCompile(`^([^\[]*)\[([0-9,-]+)\](.*)$`)

// bracket reads et-0/0/[0-3,8].
func bracket(s string) (names []string) {
	f := bracketForm.FindStringSubmatch(s)
	if f == nil {
		return []string{s}
	}
	for _, part := range strings.Split(f[2], ",") {
		a, b, two := strings.Cut(part, "-")
		from, err := strconv.Atoi(a)
		to := from
		if two {
			to, _ = strconv.Atoi(b)
		}
		for n := from; err == nil && n <= to && n-from < swconf.MaxPorts; n++ {
			for _, tail := range bracket(f[3]) {
				if names = append(names, f[1]+strconv.Itoa(n)+tail); len(names) > swconf.MaxPorts {
					return names
				}
			}
		}
	}
	return names
}

func (p *parser) bad(m *tree.Match, name, what string) {
	swconf.Report(p.c, m.At(name), swconf.Error, "bad-value", fmt.Sprintf("%q is not %s", m.Word(name), what),
		"Junos refuses the line", "write "+what)
}
