package onto

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// lines merges configurations of commands.
func (m *Merge) lines(file string, running []byte, rendered string, g *grammar, opt Options) error {
	run, err := tree(file, running)
	if err != nil {
		return err
	}
	if odd := slices.IndexFunc(run, func(n *node) bool { return g.every != "" && !begins(n.text, g.every) }); odd >= 0 {
		return &Refused{file, run[odd].line, fmt.Sprintf("does not begin with %s: --onto takes what the device prints as commands (%s)", g.every, g.printed)}
	}
	want, err := tree("rendered", []byte(rendered))
	if err != nil {
		return err
	}
	if g.leaf != nil {
		run, want = single(run), single(want)
	}
	x := &merger{Merge: m, g: g, file: file, all: run, wants: want, ours: map[string]bool{}}
	for _, w := range want {
		x.ours[w.text] = true
	}
	run = g.settled(nil, run)
	if g.adapt != nil {
		g.adapt(run, want)
	}
	root := &node{kids: run}
	before, reached := count(run), x.reached(run)
	if err := x.section(nil, root, want); err != nil {
		return err
	}
	x.orphans()
	if !opt.InBand {
		if err := x.sources(); err != nil {
			return err
		}
		if err := x.reachable(reached); err != nil {
			return err
		}
	}
	m.Kept = before - m.Same - x.gone
	m.Text, m.origin = write(root.kids, g.indent)
	if g.leaf != nil {
		m.Steps = joined(m.Steps)
	}
	m.Script = script(m.Steps, g)
	return nil
}

// settled normalizes a typed configuration: a section opened twice becomes one, and of once-per-section commands the
// last remains.
func (g *grammar) settled(path []string, nodes []*node) (out []*node) {
	for _, n := range nodes {
		if r := find(out, n.text); r != nil {
			r.kids, r.body = append(r.kids, n.kids...), n.body
			continue
		}
		if c := g.singular(path, n.text); c != nil {
			out = slices.DeleteFunc(out, func(r *node) bool { return c.same(r.text, n.text) })
		}
		out = append(out, n)
	}
	for _, n := range out {
		n.kids = g.settled(append(slices.Clone(path), n.text), n.kids)
	}
	return out
}

// merger is the state of a merge of lines.
type merger struct {
	*Merge
	g     *grammar
	file  string
	all   []*node         // the device's original configuration
	wants []*node         // the fabric's
	ours  map[string]bool // headings that the fabric has
	gone  int             // removed lines of the device
}

// step records a step with its interruption.
func (x *merger) step(path []string, s Step) {
	if s.Path = slices.Clone(path); s.Path == nil {
		s.Path = []string{}
	}
	if e := x.g.interrupts(path, s.Text); s.Effect == "" && e != nil && e.says != "" &&
		(!e.instead || s.Was != "") && !x.fresh(path) {
		if s.Effect, s.Source = e.says, e.from; e.from == "" {
			s.Source = fromMemory
		}
	}
	x.Steps = append(x.Steps, s)
}

// fresh reports whether a section is new to the device, and not a port, so its definitions are not used yet.
func (x *merger) fresh(path []string) bool {
	return len(path) > 0 && !begins(path[0], "interface Ethernet*") && !begins(path[0], "interface swp*") &&
		!begins(path[0], "system qos") && find(x.all, path[0]) == nil
}

// untouched reports whether a line belongs to the management, or is the device's name.
func (x *merger) untouched(path []string, line string) bool {
	return len(path) == 0 && (begins(line, "hostname") ||
		slices.ContainsFunc(x.g.management, func(p string) bool { return begins(line, p) }))
}

// section merges one section of the fabric into the device's, with its lines.
func (x *merger) section(path []string, run *node, want []*node) error {
	taken := x.taken(path, run, want)
	x.stays(path, run, want)
	x.surplus(path, run, want)
	x.take(path, run, want, taken)
	want = lowered(path, run, want)
	before := following(run, want)
	for i, w := range want {
		if x.untouched(path, w.text) {
			continue
		}
		r := find(run.kids, w.text)
		if r == nil {
			if err := x.broken(path, run, w); err != nil {
				return err
			}
			var err error
			if r, err = x.put(path, run, w, before[i]); err != nil {
				return err
			}
		} else {
			if x.Same++; len(path) == 0 {
				if err := x.alike(run, r, w); err != nil {
					return err
				}
			}
		}
		if len(w.kids) > 0 {
			if err := x.section(append(slices.Clone(path), w.text), r, w.kids); err != nil {
				return err
			}
		}
	}
	return nil
}

// following is, for each line of the fabric, the next one that the device also has.
func following(run *node, want []*node) []string {
	has := map[string]bool{}
	for _, r := range run.kids {
		has[r.text] = true
	}
	out := make([]string, len(want))
	for i := len(want) - 2; i >= 0; i-- {
		if out[i] = out[i+1]; has[want[i+1].text] {
			out[i] = want[i+1].text
		}
	}
	return out
}

// put adds a line that the device lacks: in place of the old one if it occurs once per section, else before the
// lines that follow it in the fabric's configuration. Definitions thus precede references.
func (x *merger) put(path []string, run, w *node, before string) (*node, error) {
	if err := x.clash(path, run, w); err != nil {
		return nil, err
	}
	s := Step{Text: w.text, Opens: len(w.kids) > 0}
	added := &node{text: w.text}
	if c := x.g.singular(path, w.text); c != nil {
		if i := slices.IndexFunc(run.kids, func(r *node) bool { return c.same(r.text, w.text) }); i >= 0 {
			old := run.kids[i]
			s.Was, s.Line = old.text, old.line
			if x.gone++; c.first && !strings.HasPrefix(old.text, "no ") {
				x.step(path, Step{Text: x.g.negated(old.text), Was: old.text, Line: old.line, Remove: true})
				s.Was, s.Line = "", 0
			}
			run.kids[i] = added
			x.step(path, s)
			return added, nil
		}
	}
	at := slices.IndexFunc(run.kids, func(r *node) bool { return before != "" && r.text == before })
	if at < 0 {
		at = len(run.kids)
	}
	run.kids = slices.Insert(run.kids, at, added)
	x.step(path, s)
	return added, nil
}

// alike rejects a route-map with the fabric's name and further filters, and notes a VLAN that other ports are in.
func (x *merger) alike(run, r, w *node) error {
	if begins(w.text, "route-map") && len(w.kids) == 0 && len(r.kids) > 0 {
		return &Refused{x.file, r.kids[0].line, fmt.Sprintf("%q filters in %s, and the fabric's of that name does not: rename yours", r.kids[0].text, r.text)}
	}
	id, ok := strings.CutPrefix(w.text, "vlan ")
	if !ok {
		return nil
	}
	for _, port := range run.kids {
		if begins(port.text, "interface") && !x.ours[port.text] {
			if in := find(port.kids, "switchport access vlan "+id); in != nil {
				x.remark(in.line, "%s is in VLAN %s, which the fabric's ports are put in, too", port.text[10:], id)
			}
		}
	}
	return nil
}

// clash refuses lines that conflict with the device's.
func (x *merger) clash(path []string, run, w *node) error {
	for _, r := range run.kids {
		switch {
		case len(path) == 0 && slices.ContainsFunc(x.g.numbers, func(p string) bool {
			return begins(w.text, p) && begins(r.text, p) && w.text != r.text &&
				len(strings.Fields(w.text)) == len(strings.Fields(r.text))
		}):
			what := "another AS number resets all sessions, and removes the rest of the block"
			if begins(r.text, "vpc domain") {
				what = "a switch is in one, and another takes all of its pairs' channels down"
			}
			return &Refused{x.file, r.line, fmt.Sprintf("is %q, and the fabric's is %q: %s; remove it and render again", r.text, w.text, what)}
		case len(path) == 0 && begins(w.text, "route-map") && begins(r.text, "route-map") &&
			strings.Fields(r.text)[1] == strings.Fields(w.text)[1] && find(x.wants, r.text) == nil:
			return &Refused{x.file, r.line, fmt.Sprintf("has %s, and the fabric has one of that name: rename yours", r.text)}
		case len(path) == 0 && slices.ContainsFunc(x.g.named, func(p string) bool {
			return begins(w.text, p) && begins(r.text, p)
		}) && last(r.text) == last(w.text):
			return &Refused{x.file, r.line, fmt.Sprintf("has %s, and the fabric needs %s: rename yours",
				r.text, w.text)}
		}
	}
	return nil
}

// broken refuses a port that the device has in another form: whole, or split.
func (x *merger) broken(path []string, run, w *node) error {
	name, ok := strings.CutPrefix(w.text, "interface ")
	if x.g.leaf != nil {
		if f := strings.Fields(w.text); f[2] == "interface" && len(f) > 3 {
			name, ok = f[3], true
		}
	}
	if !ok || len(path) > 0 {
		return nil
	}
	for _, r := range run.kids {
		has := strings.TrimPrefix(r.text, "interface ")
		if x.g.leaf != nil {
			if f := strings.Fields(r.text); len(f) > 3 && f[2] == "interface" {
				has = f[3]
			}
		}
		if parts(has, name) || parts(name, has) {
			return &Refused{x.file, r.line, fmt.Sprintf("has %s, and the fabric cables %s: a port is whole or broken out, not both; break it out as the fabric has it, or give the switch's type in the scenario, and render again", has, name)}
		}
	}
	return nil
}

// lane matches the suffix of a port's part: Ethernet1/3/1, Ethernet3/1, swp3s0.
var lane = regexp.MustCompile(`^(/|s)\d+$`)

func parts(part, whole string) bool {
	rest, ok := strings.CutPrefix(part, whole)
	return ok && lane.MatchString(rest) && strings.ContainsAny(whole, "0123456789")
}

// stays reports lines of the fabric's ports that the fabric does not have and that may block its packets.
func (x *merger) stays(path []string, run *node, want []*node) {
	for _, r := range run.kids {
		if x.g.leaf != nil && !slices.ContainsFunc(want, func(w *node) bool {
			return begins(w.text, strings.Join(strings.Fields(r.text)[:min(4, len(strings.Fields(r.text)))], " "))
		}) {
			continue // a port that the fabric does not have
		}
		if r.line > 0 && find(want, r.text) == nil && slices.ContainsFunc(x.g.bears, func(c command) bool {
			return below(path, c.path) && begins(r.text, c.words) && !strings.HasPrefix(r.text, "no ")
		}) {
			x.remark(r.line, "%q stays at %s and may hold up the fabric's packets", r.text,
				strings.TrimPrefix(strings.Join(path, ", "), "interface "))
		}
	}
}

// surplus removes lines that contradict the fabric: all others in its own sections, and commands about its subjects
// without a line in it.
func (x *merger) surplus(path []string, run *node, want []*node) {
	owned := slices.ContainsFunc(x.g.owned, func(p string) bool { return below(path, p) })
	shared := ""
	run.kids = slices.DeleteFunc(slices.Clone(run.kids), func(r *node) bool {
		if find(want, r.text) != nil || r.line == 0 || !owned && last(r.text) == "secondary" {
			return false
		}
		c := x.g.singular(path, r.text)
		if c != nil && c.of != "" && !slices.ContainsFunc(want,
			func(w *node) bool { return slices.Contains(strings.Fields(w.text), c.of) }) {
			return false // a port that the fabric does not have
		}
		has := c != nil && slices.ContainsFunc(want, func(w *node) bool { return c.same(w.text, r.text) })
		if has || !owned && !c.goes(r.text) {
			return false // the line is replaced, or does not belong to the fabric
		}
		x.gone += 1 + count(r.kids)
		s := Step{Text: x.g.negated(r.text), Was: r.text, Line: r.line, Remove: true}
		if x.g.leaf != nil && slices.ContainsFunc(x.Steps, func(o Step) bool {
			return o.Remove && (o.Text == s.Text || strings.HasPrefix(s.Text, o.Text+" "))
		}) {
			return true // the line was removed with another one
		}
		if owned && shared == "" {
			if shared = x.elsewhere(path); shared != "" {
				s.Effect = "also changes " + shared + ", which the fabric does not have"
			}
		}
		x.step(path, s)
		return true
	})
}

// taken returns the takings of a section that will occur: by a typed, or a removed command.
func (x *merger) taken(path []string, run *node, want []*node) (out []taking) {
	if len(path) != 1 || !begins(path[0], "interface") {
		return nil
	}
	for _, t := range x.g.takes {
		of := func(n *node) bool {
			return begins(n.text, t.words) && (n.text == t.words || !strings.HasPrefix(t.words, "no ") &&
				t.words != "switchport")
		}
		typed := slices.ContainsFunc(want, func(w *node) bool { return of(w) && find(run.kids, w.text) == nil })
		gone := slices.ContainsFunc(run.kids, func(r *node) bool {
			c := x.g.singular(path, r.text)
			return of(r) && find(want, r.text) == nil && c != nil && c.alone
		})
		if typed || gone {
			out = append(out, t)
		}
	}
	return out
}

// take drops lines that are removed with others, and reports those without a line in the fabric.
func (x *merger) take(path []string, run *node, want []*node, taken []taking) {
	for _, t := range taken {
		run.kids = slices.DeleteFunc(run.kids, func(r *node) bool {
			if !slices.ContainsFunc(t.gone, func(p string) bool { return begins(r.text, p) }) ||
				strings.HasPrefix(r.text, "no ") {
				return false
			}
			x.gone += 1 + count(r.kids)
			if find(want, r.text) == nil {
				x.remark(r.line, "%s of %s goes with %q", r.text, last(path[0]), t.words)
			}
			return true
		})
	}
}

// remark adds a note for the operator about a line of the device.
func (x *merger) remark(line int, format string, args ...any) {
	x.Remarks = append(x.Remarks, fmt.Sprintf("%s:%d: ", x.file, line)+fmt.Sprintf(format, args...))
}

// elsewhere returns a section of the device, outside the fabric, that uses a section's definition directly or
// indirectly.
func (x *merger) elsewhere(path []string) string {
	if len(path) == 0 {
		return ""
	}
	names := map[string]bool{last(path[0]): true}
	for range 3 { // a class, its policy, and a policy that contains that one
		for _, r := range x.all {
			if !begins(r.text, "interface") && !x.ours[r.text] && uses(r.kids, names) {
				names[last(r.text)] = true
			}
		}
	}
	for _, r := range x.all {
		if begins(r.text, "interface") && !x.ours[r.text] && uses(r.kids, names) {
			return strings.TrimPrefix(r.text, "interface ")
		}
	}
	return ""
}

// uses reports whether some line has one of some names.
func uses(nodes []*node, names map[string]bool) bool {
	return slices.ContainsFunc(nodes, func(n *node) bool {
		return uses(n.kids, names) ||
			slices.ContainsFunc(strings.Fields(n.text), func(w string) bool { return names[w] })
	})
}

// same reports whether two lines are the same command about the same object.
func (c *command) same(a, b string) bool {
	if c.leaf {
		x, y := nvueLeaf(a), nvueLeaf(b)
		return x != nil && y != nil && x.words == y.words
	}
	if !c.fits(a) || !c.fits(b) || last(a) == "secondary" || last(b) == "secondary" {
		return false
	}
	n := len(strings.Fields(c.words))
	return slices.Equal(strings.Fields(bare(a))[:n], strings.Fields(bare(b))[:n])
}

// goes reports whether a line is removed if the fabric has none: the command, or its no form.
func (c *command) goes(line string) bool {
	if strings.HasPrefix(line, "no ") {
		return c != nil && c.off
	}
	return c != nil && c.alone
}

func last(line string) string { return line[strings.LastIndexByte(line, ' ')+1:] }
