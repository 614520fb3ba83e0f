package slurm

import (
	"strings"

	"railyard/internal/field"
)

// Place is a file and a line.
type Place struct {
	File      string
	Line, Col int
}

// Fail is an error at a place.
func (p Place) Fail(path, format string, args ...any) *field.Error {
	e := field.New(path, format, args...)
	e.File, e.Line, e.Col = p.File, p.Line, p.Col
	return e
}

// choice is an error about a word that is not one of the accepted ones.
func (p Place) choice(path, found string, accepted []string, format string, args ...any) *field.Error {
	e := field.Choice(path, found, accepted, format, args...)
	e.File, e.Line, e.Col = p.File, p.Line, p.Col
	return e
}

// Word is a word of a command line, and its place.
type Word struct {
	Text string
	At   Place
}

// Note is a remark with its place.
type Note struct {
	At   Place
	Text string
}

// Unknown and Known enclose the name of an unknown value in a text: a variable that is set nowhere, the output of a
// command. Characters with a meaning for a shell are moved out of ASCII in such a name.
const (
	Unknown = '\uE000'
	Known   = '\uE001'
	lifted  = '\uE100'
)

// Closed returns the text of an unknown value, by its name.
func Closed(name string) string {
	return string(Unknown) + strings.Map(func(r rune) rune {
		if r < 0x80 && !(r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r == '_') {
			return lifted + r
		}
		return r
	}, name) + string(Known)
}

// Open returns a text with the names of unknown values in readable form.
func Open(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == Unknown:
			b.WriteByte('$')
		case r == Known:
		case r >= lifted && r < lifted+0x80:
			b.WriteRune(r - lifted)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
