package junos

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/tree"
)

// applied is a group and the position of its application.
type applied struct {
	path []tree.Word
	name tree.Word
}

// sort separates groups, and their applications, from the other statements.
func (p *parser) sort(all []*tree.Statement) (own []*tree.Statement) {
	for _, s := range all {
		w := s.Words
		n := len(w)
		switch {
		case w[0].Text == "groups" && n > 2:
			p.groups[w[1].Text] = append(p.groups[w[1].Text], w[2:])
		case n > 1 && w[n-2].Text == "apply-groups":
			p.applied = append(p.applied, applied{w[:n-2], w[n-1]})
		case n > 1 && w[n-2].Text == "apply-groups-except":
			p.except = append(p.except, applied{w[:n-2], w[n-1]})
		case w[0].Text != "groups":
			own = append(own, s)
		}
	}
	return own
}

const (
	maxInherited = 200_000    // statements that groups add
	maxNested    = 16         // groups within groups
	maxSteps     = 50_000_000 // comparisons of their patterns with names
)

// inherited returns the statements of groups, followed by those of the configuration itself, which override them.
// Outer levels precede inner ones, and in a list of groups the last precedes the first, which wins.
func (p *parser) inherited(own []*tree.Statement) (out [][]tree.Word) {
	list := slices.Clone(p.applied)
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b applied) int { return len(a.path) - len(b.path) })
	for _, a := range list {
		if strings.Contains(a.name.Text, "${") || a.name.Text == "junos-defaults" {
			continue // a group of the node that it runs on
		}
		for _, w := range p.of(a.name, a.path, nil) {
			from := len(out)
			out = p.fill(out, w, own)
			out = append(out[:from], slices.DeleteFunc(out[from:], func(w []tree.Word) bool {
				return p.excepted(w, a.name.Text)
			})...)
			if len(out) > maxInherited {
				return out
			}
		}
	}
	return out
}

// excepted reports whether a statement is excepted from a group.
func (p *parser) excepted(w []tree.Word, group string) bool {
	return slices.ContainsFunc(p.except, func(a applied) bool {
		return a.name.Text == group && len(w) >= len(a.path) && join(w, a.path) != nil
	})
}

// of returns a group's statements for a path, statements of its own groups first.
func (p *parser) of(name tree.Word, at []tree.Word, within []string) (out [][]tree.Word) {
	list, ok := p.groups[name.Text]
	switch {
	case !ok:
		swconf.Report(p.c, place(p.c.File, name), swconf.Error, "policy-undefined",
			fmt.Sprintf("group %s is applied and not defined", name.Text), "Junos refuses the commit",
			"define the group, or take it out")
		return nil
	case len(within) > maxNested:
		p.once(place(p.c.File, name), swconf.Error, "bad-value",
			fmt.Sprintf("groups lie more than %d deep within one another", maxNested),
			"deeper ones are not read", "fewer levels")
		return nil
	case slices.Contains(within, name.Text):
		swconf.Report(p.c, place(p.c.File, name), swconf.Error, "bad-value",
			fmt.Sprintf("group %s applies itself", name.Text), "Junos refuses the commit",
			"groups that lie within one another, without a ring")
		return nil
	}
	within = append(within[:len(within):len(within)], name.Text)
	for _, w := range list {
		if n := len(w); n > 1 && w[n-2].Text == "apply-groups" {
			for _, s := range p.of(w[n-1], w[:n-2], within) {
				if s = join(s, at); s != nil && len(out) <= maxInherited {
					out = append(out, s)
				}
			}
		}
	}
	for _, w := range list {
		if n := len(w); n > 1 && w[n-2].Text == "apply-groups" {
			continue
		}
		if s := join(w, at); s != nil && len(out) <= maxInherited {
			out = append(out, s)
		}
	}
	return out
}

func wild(s string) bool { return len(s) > 1 && s[0] == '<' && s[len(s)-1] == '>' }

// join returns a group's statement relative to a path, or nil if it does not apply.
func join(w, at []tree.Word) []tree.Word {
	if len(w) < len(at) {
		return nil
	}
	one := append([]tree.Word(nil), w...)
	for i := range at {
		switch {
		case wild(at[i].Text) && (wild(w[i].Text) || fits(at[i].Text, w[i].Text)):
		case fits(w[i].Text, at[i].Text):
			one[i].Text = at[i].Text
		default:
			return nil
		}
	}
	return one
}

// below reports whether a group's statement applies to a path.
func below(w, at []tree.Word) bool {
	if len(w) < len(at) {
		return false
	}
	for i := range at {
		if !fits(w[i].Text, at[i].Text) {
			return false
		}
	}
	return true
}

// fits compares a word of a group, a pattern in angle brackets perhaps, with a name.
func fits(pattern, name string) bool {
	if !wild(pattern) {
		return pattern == name
	}
	return pattern == "<>" || glob(pattern[1:len(pattern)-1], name)
}

// glob compares a pattern with a name, slashes and all.
func glob(pattern, name string) bool {
	flat := func(s string) string { return strings.ReplaceAll(s, "/", "\x01") }
	ok, err := path.Match(flat(pattern), flat(name))
	return ok && err == nil
}

// fill replaces patterns by the existing names.
func (p *parser) fill(out [][]tree.Word, w []tree.Word, own []*tree.Statement) [][]tree.Word {
	k := slices.IndexFunc(w, func(x tree.Word) bool { return wild(x.Text) })
	if k < 0 {
		return append(out, w)
	}
	seen := map[string]bool{}
	if p.steps += len(own); p.steps > maxSteps {
		return out
	}
	for _, s := range own {
		if len(s.Words) <= k || seen[s.Words[k].Text] || !below(w[:k+1], s.Words[:k+1]) || len(out) > maxInherited {
			continue
		}
		seen[s.Words[k].Text] = true
		one := append([]tree.Word(nil), w...)
		one[k].Text = s.Words[k].Text
		out = p.fill(out, one, own)
	}
	return out
}
