package junos

import (
	"slices"

	"railyard/internal/swconf/tree"
)

// line executes a line outside the hierarchy: a command, or a prompt with a typed command.
func (r *reader) line(t []token, last bool) (done bool, err error) {
	if t[0].sign && t[0].text == "[" && len(t) > 1 && t[1].text == "edit" { // level of the following prompt
		r.base = nil
		for _, x := range t[2:] {
			if !x.sign {
				r.base = append(r.base, word(x))
			}
		}
		return true, nil
	}
	typed := prompt.MatchString(t[0].text)
	if typed {
		if t = t[1:]; len(t) == 0 {
			return true, nil
		}
	}
	verb, rest := t[0], t[1:]
	switch verb.text {
	case "set", "delete", "deactivate", "activate":
		return true, r.command(verb, rest, last)
	case "wildcard":
		if len(rest) > 2 && rest[0].text == "range" {
			return true, r.wildcard(rest[1], rest[2:])
		}
	case "edit":
		for _, x := range rest {
			r.base = append(r.base[:len(r.base):len(r.base)], word(x))
		}
		return true, nil
	case "up":
		r.base = r.base[:max(0, len(r.base)-1)]
		return true, nil
	case "top", "exit", "quit", "configure":
		r.base = nil
		if len(rest) > 0 && verb.text == "top" {
			return r.line(rest, last)
		}
		return true, nil
	case "commit", "rollback", "load", "save", "run":
		return true, nil
	case "show":
		if !typed && r.braces {
			return false, nil
		}
		r.shown(rest)
		return true, nil
	}
	if typed || !r.braces {
		r.p.odd = append(r.p.odd, strange{word(verb), "is not a set, delete or deactivate"})
		return true, nil
	}
	return false, nil
}

// shown sets the level of the hierarchy below a typed show: show class-of-service.
func (r *reader) shown(rest []token) {
	if len(rest) > 0 && rest[0].text == "configuration" {
		r.base, rest = nil, rest[1:]
	}
	for _, x := range rest {
		if x.text == "|" {
			break
		}
		r.base = append(r.base[:len(r.base):len(r.base)], word(x))
	}
}

// command does set, delete, deactivate and activate.
func (r *reader) command(verb token, rest []token, last bool) error {
	p := r.p
	r.words, r.listed, r.mark = nil, false, plain
	switch verb.text {
	case "delete":
		r.mark = deleted
	case "deactivate":
		r.mark = inactive
	}
	if len(rest) == 0 && verb.text == "set" {
		if last {
			return p.wrong(verb, "the command ends early; is the file truncated?")
		}
		p.odd = append(p.odd, strange{word(verb), "sets nothing"})
		return nil
	}
	for i := 0; i < len(rest); {
		t := rest[i]
		switch {
		case t.sign && t.text == "[":
			n, err := r.list(rest[i:])
			if err != nil {
				return err
			}
			i += n
			continue
		case !t.sign:
			r.words = append(r.words, word(t))
		case t.text != ";":
			return p.wrong(t, "%q within a command", t.text)
		}
		i++
	}
	switch verb.text {
	case "set":
		r.file()
	case "activate":
		at := tree.Texts(append(append([]tree.Word(nil), r.base...), r.words...))
		p.off = slices.DeleteFunc(p.off, func(w []tree.Word) bool { return slices.Equal(tree.Texts(w), at) })
	default:
		if !r.listed {
			r.marked(append(append([]tree.Word(nil), r.base...), r.words...))
		}
	}
	r.words, r.listed, r.mark = nil, false, plain
	return nil
}

// wildcard does wildcard range set interfaces et-0/0/[0-3] ...
func (r *reader) wildcard(verb token, rest []token) error {
	for i, t := range rest {
		names := bracket(t.text)
		if t.sign || t.quoted || len(names) < 2 {
			continue
		}
		at := word(t)
		if !r.p.c.Room(place(r.p.c.File, at), len(names)) {
			return nil
		}
		for _, n := range names {
			one := slices.Clone(rest)
			one[i].text = n
			if err := r.command(verb, one, false); err != nil {
				return err
			}
		}
		return nil
	}
	return r.command(verb, rest, false)
}
