package design

import (
	"fmt"
	"strings"
)

// File is one file of a rendered fabric, its path relative to the output.
type File struct {
	Path string
	Text string
}

// Writer writes one switch's configuration line by line.
type Writer struct {
	strings.Builder
	D    *Design
	S    *Switch
	Step int // columns of one level of indentation
}

// Line writes a command at a level of indentation.
func (w *Writer) Line(level int, format string, args ...any) {
	fmt.Fprintf(w, "%*s", w.Step*level, "")
	fmt.Fprintf(w, format, args...)
	w.WriteByte('\n')
}

// Description is what a port's text says of it, in words that lint reads back (swconf.Described): whose it
// is, and whose rail's where a map decides that.
func (p *Port) Description() string {
	to := "to " + p.FarName + " " + p.FarLabel
	if p.Mapped {
		return fmt.Sprintf("rail-%d %s", p.Rail+1, to)
	}
	return to
}
