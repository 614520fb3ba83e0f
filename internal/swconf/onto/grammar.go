package onto

import (
	"slices"
	"strings"

	"railyard/internal/swconf"
)

// grammar is what a merge has to know of a language. Commands are given by the words they begin with: * is
// any word, or its end. Paths are the beginnings of sections' headings from the outermost, with / between;
// "" is the top.
type grammar struct {
	indent string
	// single are commands of which a section has one: another one takes its place.
	single []command
	// owned are sections whose every line is the fabric's, if it has them: they are named by it.
	owned []string
	// named are headings that say more than a name: the same name with other words is another thing.
	named []string
	// management are sections and lines that are never touched.
	management []string
	// outOfBand finds the interface over which the device is managed, by its heading; it has an address.
	outOfBand string
	// bears are lines of a port or a session that stay and may hold up packets or routes of the fabric.
	bears []command
	// risky are commands that can cut off who reaches the device over its own ports.
	risky []string
	// takes are commands that take others out with them.
	takes []taking
	// numbers are commands that are never replaced: all that stands below them would go.
	numbers []string
	// effects are what commands interrupt, by path and command; the first that fits.
	effects        []effect
	every, printed string // how all lines begin, and by what the device prints them so; "": sections
	// leaf finds what a line sets, in languages in which each line says all of its path.
	leaf   func(line string) *command
	adapt  func(run, want []*node)     // makes of the fabric's text what the device's needs
	undo   func(line string) string    // takes a line out; nil: a no before it
	remark string                      // what begins a remark; "": !
	exit   func(section string) string // the word that leaves a section, where it has to be typed
	enter  []string                    // what is typed first
	leave  []string                    // and last
}

// command is one of which a section has one.
type command struct {
	path, words string
	first       bool   // the old one is taken out before the new one is typed: the switch takes no second
	of          string // it is about a port
	leaf        bool   // it is all of a line but the value
	exact       bool   // nothing follows the words
	alone       bool   // it is taken out where the fabric has none: it is about what the fabric decides
	off         bool   // and so is its no
}

// at returns commands at a path, separated by semicolons; (first exact alone off) behind the words set their fields.
func at(path, list string) (all []command) {
	for _, c := range strings.Split(list, ";") {
		words, flags, _ := strings.Cut(strings.Join(strings.Fields(c), " "), " (")
		is := func(flag string) bool { return slices.Contains(strings.Fields(strings.TrimSuffix(flags, ")")), flag) }
		all = append(all, command{path: path, words: words, first: is("first"), exact: is("exact"), alone: is("alone"),
			off: is("off")})
	}
	return all
}

// taking is a command at an interface that takes others out with it, when it is typed or taken out.
type taking struct {
	words string
	gone  []string // what those begin with
}

var grammars = map[swconf.OS]*grammar{swconf.NXOS: &nxos, swconf.EOS: &eos, swconf.FRR: &frr, swconf.NVUE: &nvue}

// begins reports whether a line begins with words, no matter whether it is negated.
func begins(line, words string) bool {
	have, want := strings.Fields(bare(line)), strings.Fields(words)
	if len(have) < len(want) {
		return false
	}
	for i, w := range want {
		if head, any := strings.CutSuffix(w, "*"); w != have[i] && !(any && strings.HasPrefix(have[i], head)) {
			return false
		}
	}
	return true
}

// bare is a line without a leading no.
func bare(line string) string { return strings.TrimPrefix(line, "no ") }

// below reports whether a path of headings is one of a grammar.
func below(path []string, pattern string) bool {
	if pattern == "" {
		return len(path) == 0
	}
	want := strings.Split(pattern, "/")
	if len(path) != len(want) {
		return false
	}
	for i, w := range want {
		if !begins(path[i], w) {
			return false
		}
	}
	return true
}

// singular finds the command of which a section has one.
func (g *grammar) singular(path []string, line string) *command {
	if g.leaf != nil {
		return g.leaf(line)
	}
	for i := range g.single {
		if c := &g.single[i]; below(path, c.path) && c.fits(line) {
			return c
		}
	}
	return nil
}

// fits reports whether a line is the command, or its no.
func (c *command) fits(line string) bool {
	return begins(line, c.words) && (!c.exact || len(strings.Fields(bare(line))) == len(strings.Fields(c.words)))
}

// interrupts returns what a line does to traffic while it is taken, or nil.
func (g *grammar) interrupts(path []string, line string) *effect {
	for i := range g.effects {
		e := &g.effects[i]
		words, only := strings.CutPrefix(e.words, "+")
		if below(path, e.path) && begins(line, words) && (!only || bare(line) == line) {
			return e
		}
	}
	return nil
}

// short are commands whose no is typed without what they say: each switch takes that.
var short = []string{"channel-group", "switchport mode", "switchport access vlan", "mlag", "vpc"}

// negated takes a line out.
func (g *grammar) negated(line string) string {
	for _, words := range short {
		if begins(line, words) && bare(line) == line {
			return "no " + words
		}
	}
	if g.undo != nil {
		return g.undo(line)
	}
	if rest, ok := strings.CutPrefix(line, "no "); ok {
		return rest
	}
	return "no " + line
}
