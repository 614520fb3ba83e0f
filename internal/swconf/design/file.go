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
