package onto

import (
	"slices"
	"strings"

	"railyard/internal/swconf"
)

// grammar is the properties of a language that a merge needs. Commands are given by their first words; * is any
// word, or the end of the command. Paths are the beginnings of sections' headings from the outermost, with /
// between; "" is the top.
type grammar struct {
	indent string
	// single are commands that occur once per section; a new one replaces the old one.
	single []command
	// owned are sections named by the fabric. If it has such a section, all lines of the section belong to it.
	owned []string
	// named are headings with more than a name: the same name with other words denotes the same object.
	named []string
	// management are sections and lines that are never changed.
	management []string
	// outOfBand finds the management interface by its heading; it has an address.
	outOfBand string
	// bears are lines of a port or a session that stay and may block packets or routes of the fabric.
	bears []command
	// risky are commands that can disconnect management over the device's own ports.
	risky []string
	// takes are commands that remove others.
	takes []taking
	// numbers are commands that are never replaced: all lines below them would be lost.
	numbers []string
	// effects are the commands' interruptions, by path and command; the first match applies.
	effects        []effect
	every, printed string // beginning of all lines, and its printed form; "": sections
	// leaf finds the value of a line, in languages in which each line contains its whole path.
	leaf   func(line string) *command
	adapt  func(run, want []*node)     // converts the fabric's configuration to the device's form
	undo   func(line string) string    // removes a line; nil: a no before it
	remark string                      // beginning of a remark; "": !
	exit   func(section string) string // command that leaves a section, if one is needed
	enter  []string                    // first typed commands
	leave  []string                    // and last
}

// command is one that occurs once per section.
type command struct {
	path, words string
	// the old one is removed before the new one is typed, because the switch accepts no second one
	first bool
	of    string // interface whose port the command concerns
	leaf  bool   // whether it is the whole line except the value
	exact bool   // whether no word may follow
	alone bool   // whether it is removed if the fabric has none, because the fabric decides its subject
	off   bool   // whether its "no" is removed too
}

// at returns commands at a path, separated by semicolons. Words in parentheses after a command (first exact alone
// off) set its fields.
func at(path, list string) (all []command) {
	for _, c := range strings.Split(list, ";") {
		words, flags, _ := strings.Cut(strings.Join(strings.Fields(c), " "), " (")
		is := func(flag string) bool { return slices.Contains(strings.Fields(strings.TrimSuffix(flags, ")")), flag) }
		all = append(all, command{path: path, words: words, first: is("first"), exact: is("exact"), alone: is("alone"),
			off: is("off")})
	}
	return all
}

// taking is an interface command that removes others, when it is typed or removed.
type taking struct {
	words string
	gone  []string // beginning of the lines that those remove
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

// singular finds the once-per-section command of a line.
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

// interrupts returns the effect of a line on traffic, or nil.
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

// short are commands whose no form is typed without arguments, which each switch accepts.
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
