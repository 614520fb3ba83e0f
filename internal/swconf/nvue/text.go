package nvue

import (
	"fmt"
	"regexp"
	"strings"

	"railyard/internal/swconf/cli"
	"railyard/internal/swconf/tree"
)

// prompt matches the prompt of a session's transcript: cumulus@leaf01:mgmt:~$.
var prompt = regexp.MustCompile(`^[\w.-]+@[\w.-]+:[\w.:~/-]*[$#]\s*`)

// commands reads nv set and nv unset, one command a line.
func (p *parser) commands(lines []string) error {
	total, last := 0, 0
	for i := 0; i < len(lines); i++ {
		text, num := lines[i], i+1
		for strings.HasSuffix(text, `\`) && i+1 < len(lines) {
			i++
			text = strings.TrimSuffix(text, `\`) + " " + strings.TrimSpace(lines[i])
		}
		if end := cli.Quoted(lines, i, text, "nv "); end > i {
			text, i = strings.Join(append([]string{text}, lines[i+1:end+1]...), "\n"), end
		}
		col := 1
		if head := prompt.FindString(text); head != "" {
			text, col = text[len(head):], col+len(head)
		}
		if s := strings.TrimSpace(text); s == "" || s[0] == '#' || s[0] == '!' {
			continue
		}
		total++
		last = num
		for _, words := range split(text, num, col) {
			if err := p.command(words); err != nil {
				return err
			}
		}
	}
	p.tell(total)
	p.last = last
	return nil
}

// odd is a line that is not a statement.
type odd struct {
	at        tree.Word
	text, why string
}

// split splits a line into its commands, which && and ; separate, and their words.
func split(text string, num, col int) (out [][]tree.Word) {
	var words []tree.Word
	done := func() {
		if len(words) > 0 {
			out = append(out, words)
		}
		words = nil
	}
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == ' ' || c == '\t' || c == '\r':
			i++
			continue
		case c == ';':
			done()
			i++
			continue
		case strings.HasPrefix(text[i:], "&&"):
			done()
			i += 2
			continue
		case c == '#' && len(words) > 0:
			done()
			return out
		}
		start, word := i, strings.Builder{}
		for quote := byte(0); i < len(text); i++ {
			c := text[i]
			switch {
			case quote != 0 && c == quote:
				quote = 0
			case quote == 0 && (c == '\'' || c == '"'):
				quote = c
			case quote == 0 && strings.IndexByte(" \t\r;", c) >= 0:
				quote = 1 // ends the word
			default:
				word.WriteByte(c)
			}
			if quote == 1 {
				break
			}
		}
		words = append(words, tree.Word{Text: word.String(), Line: num, Col: col + start})
	}
	done()
	return out
}

// command processes one: set, unset, or another action.
func (p *parser) command(words []tree.Word) error {
	if words[0].Text == "sudo" && len(words) > 1 {
		words = words[1:]
	}
	at := words[0]
	if words[0].Text != "nv" || len(words) < 2 {
		p.odd = append(p.odd, odd{at, strings.Join(tree.Texts(words), " "), "is not an nv command"})
		return nil
	}
	switch verb := words[1].Text; {
	case verb == "set" && len(words) > 2:
		return p.set(words[2:])
	case verb == "unset":
		return p.unset(words[2:])
	case verb == "config" && len(words) > 2 && (words[2].Text == "patch" || words[2].Text == "replace"):
		return &cli.SyntaxError{File: p.c.File, Line: at.Line, Col: at.Col,
			Msg: "includes are not followed: put the file's settings in their place, one file is one switch"}
	case verb == "config" || verb == "show" || verb == "action" || verb == "list":
		p.known = append(p.known, words)
	case verb == "set":
		return p.cut(words)
	default:
		p.odd = append(p.odd, odd{words[1], strings.Join(tree.Texts(words), " "),
			fmt.Sprintf("found %q, expected \"set\", \"unset\", \"config\", \"show\", \"action\"", verb)})
	}
	return nil
}

// cut reports that a text ends in the middle of a command.
func (p *parser) cut(words []tree.Word) error {
	w := words[len(words)-1]
	return &cli.SyntaxError{File: p.c.File, Line: w.Line, Col: w.Col + len(w.Text),
		Msg: "the command ends early; the file ends here: is it truncated?"}
}
