package recognise

import (
	"regexp"
	"slices"
	"strings"

	"railyard/internal/cabling"
)

// seat is a place of a group.
type seat struct {
	g *group
	p int
}

// words gives every place a word: places that rules hold equal share one.
func (f *finder) words() {
	root := map[seat]seat{}
	var find func(s seat) seat
	find = func(s seat) seat {
		r, ok := root[s]
		if !ok || r == s {
			return s
		}
		return find(r)
	}
	in := map[seat][]seat{} // by root: equal ones; the two positions of a group are distinct
	join := func(a, b seat) {
		as, bs := append([]seat{a}, in[a]...), append([]seat{b}, in[b]...)
		for _, x := range as {
			for _, y := range bs {
				if x.g == y.g {
					return
				}
			}
		}
		root[a] = b
		in[b] = append(in[b], as...)
	}
	hint := map[seat]string{}
	for _, r := range f.rules {
		if r.between > 0 {
			hint[seat{r.to, r.between - 1}] = "group"
		}
		for p, b := range r.binds {
			here := seat{r.to, p}
			switch {
			case b.same() && r.from != r.to:
				join(find(here), find(seat{r.from, b.src}))
			case b.src == theNIC && (len(b.steps) == 0 || b.steps[0].op == '/'):
				hint[here] = "rail"
			case b.src == theNIC || b.src == thePort || r.to.folded && b.src >= 0 && !b.same():
				hint[here] = "plane"
			case r.from == r.to && len(b.steps) > 0:
				hint[here] = []string{"x", "y", "z", "u", "v", "w"}[min(p, 5)]
			}
		}
	}
	members := map[seat][]seat{}
	var order []seat
	for _, g := range f.groups {
		for p := range g.pad {
			k := find(seat{g, p})
			if members[k] == nil {
				order = append(order, k)
			}
			members[k] = append(members[k], seat{g, p})
		}
	}
	for _, k := range order {
		f.name(members[k], hint)
	}
}

var isWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// name picks a word that none of the groups has for another place.
func (f *finder) name(of []seat, hint map[seat]string) {
	var try []string
	for _, s := range of {
		if hint[s] != "" {
			try = append(try, hint[s])
		}
	}
	last, servers, texts := true, false, []string(nil)
	for _, s := range of {
		last = last && s.p == len(s.g.pad)-1 && s.g.countable()
		servers = servers || s.g.kind == cabling.Server
		if s.g.folded {
			continue
		}
		if w := strings.Trim(noWord.ReplaceAllString(s.g.text[s.p], ""),
			"-_0123456789"); s.p < len(s.g.pad)-1 || len(of) > 1 {
			if w != "" && w != s.g.name {
				texts = append(texts, w)
			}
		}
	}
	if last && len(try) == 0 {
		try = append(try, "n")
	}
	try = append(texts, try...)
	if servers {
		try = append(try, "segment")
	}
	try = append(try, "pod", "block", "row", "x", "y", "z", "u", "v", "w")
	for _, w := range try {
		clash := !isWord.MatchString(w) || w == "nic" || w == "port" || w == "n" && !last
		for _, s := range of {
			clash = clash || slices.Contains(s.g.word, w)
		}
		if !clash {
			for _, s := range of {
				s.g.word[s.p] = w
			}
			return
		}
	}
}

// countable reports whether a group's last place counts from 1 in every box.
func (g *group) countable() bool {
	if len(g.pad) == 0 {
		return false
	}
	for _, b := range g.boxes {
		if v := b.vals[len(g.pad)-1]; v[0] != 1 || v[len(v)-1] != len(v) {
			return false
		}
	}
	return true
}
