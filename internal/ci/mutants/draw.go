package main

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// mutant is one drawn mutation.
type mutant struct {
	number int // number of the switch's value, from 1
	group  *group
	site   site
	variant
}

// place is the mutant's file and line.
func (m *mutant) place() string { return fmt.Sprintf("%s:%d", m.site.file.name, m.line()) }

// line returns the number of the line on which the mutated text begins.
func (m *mutant) line() int { return 1 + bytes.Count(m.site.file.text[:m.site.start], []byte("\n")) }

// source returns the line of code on which the mutated text begins, without surrounding space.
func (m *mutant) source() string {
	text := m.site.file.text
	from := bytes.LastIndexByte(text[:m.site.start], '\n') + 1
	to := len(text)
	if n := bytes.IndexByte(text[m.site.start:], '\n'); n >= 0 {
		to = m.site.start + n
	}
	return strings.TrimSpace(string(text[from:to]))
}

// apply returns the file with the mutated text replaced.
func (m *mutant) apply(text string) []byte {
	t := m.site.file.text
	return bytes.Join([][]byte{t[:m.site.start], []byte(text), t[m.site.end:]}, nil)
}

// diff is the mutation as the lines before and after it.
func (m *mutant) diff() string {
	t := m.site.file.text
	from := bytes.LastIndexByte(t[:m.site.start], '\n') + 1
	to := len(t)
	if n := bytes.IndexByte(t[m.site.end:], '\n'); n >= 0 {
		to = m.site.end + n
	}
	after := string(t[from:m.site.start]) + m.plain + string(t[m.site.end:to])
	sign := func(sign, text string) string { return sign + strings.ReplaceAll(text, "\n", "\n"+sign) }
	return sign("-", string(t[from:to])) + "\n" + sign("+", after)
}

// left counts the drawn mutations that were not used, by reason.
type left struct {
	Uncompilable int `json:"uncompilable"` // the compiler refuses the mutated code
	Equivalent   int `json:"equivalent"`   // reviewed: equivalent to the original (equivalents.go)
	Unswitchable int `json:"unswitchable"` // compiles, but not with the switch in it
}

// draw draws mutants evenly over groups. The same seed draws the same from the same code.
func draw(groups []group, packages map[string]*code, seed uint64, count int) (out []*mutant, why left) {
	for i := range groups {
		g := &groups[(i+int(seed%uint64(len(groups))))%len(groups)] // the seed selects the groups that get one more
		share := count / len(groups)
		if i < count%len(groups) {
			share++
		}
		var all []site
		for _, p := range g.packages {
			all = append(all, packages[p.path].sites()...)
		}
		h := fnv.New64a()
		h.Write([]byte(g.name))
		rng := rand.New(rand.NewPCG(seed, h.Sum64()))
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, s := range all {
			if share == 0 {
				break
			}
			m := &mutant{number: len(out) + 1, group: g, site: s}
			m.variant = s.variants[rng.IntN(len(s.variants))]
			if m.usable(out, &why) {
				out = append(out, m)
				share--
			}
		}
	}
	return out, why
}

// usable reports whether a mutant compiles, is not known to be equivalent and shares no text with those before it.
func (m *mutant) usable(before []*mutant, why *left) bool {
	for _, o := range before {
		if o.site.file == m.site.file && o.site.start < m.site.end && m.site.start < o.site.end {
			return false
		}
	}
	if m.equivalent() != nil {
		why.Equivalent++
		return false
	}
	if _, err := m.site.in.check(m.site.file, m.apply(m.plain), nil); err != nil {
		why.Uncompilable++
		return false
	}
	if _, err := m.site.in.check(m.site.file, switched(m.site.file, []*mutant{m}), nil); err != nil {
		why.Unswitchable++
		return false
	}
	return true
}
