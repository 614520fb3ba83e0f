package onto

import (
	"cmp"
	"slices"
	"strings"
)

// script returns the commands to type: steps below the headings of their sections, in the device's printed form, with a
// remark on each interruption, once for consecutive equal ones.
func script(steps []Step, g *grammar) string {
	if len(steps) == 0 {
		return ""
	}
	w := &typist{g: g}
	for _, l := range g.enter {
		w.b.WriteString(l + "\n")
	}
	for _, s := range steps {
		w.section(s.Path)
		indent := strings.Repeat(g.indent, len(s.Path))
		if s.Effect != "" && s.Effect != w.said {
			w.b.WriteString(indent + cmp.Or(g.remark, "!") + " interrupts: " + s.Effect + "\n")
		}
		w.said = s.Effect
		w.b.WriteString(indent + s.Text + "\n")
		if s.Opens {
			w.at = append(slices.Clone(s.Path), s.Text)
		}
	}
	w.section(nil)
	for _, l := range g.leave {
		w.b.WriteString(l + "\n")
	}
	return w.b.String()
}

// typist is the mode that the session is in.
type typist struct {
	g    *grammar
	b    strings.Builder
	at   []string
	said string
}

// section changes the section. It leaves the sections that do not contain the target, with the exit command if the
// language prints one, and enters the target's.
func (w *typist) section(path []string) {
	common := 0
	for common < min(len(w.at), len(path)) && w.at[common] == path[common] {
		common++
	}
	for i := len(w.at); i > common && w.g.exit != nil; i-- {
		w.b.WriteString(strings.Repeat(w.g.indent, i-1) + w.g.exit(w.at[i-1]) + "\n")
	}
	for i := common; i < len(path); i++ {
		w.b.WriteString(strings.Repeat(w.g.indent, i) + path[i] + "\n")
	}
	if len(w.at) != len(path) || common != len(path) {
		w.said = ""
	}
	w.at = slices.Clone(path)
}
