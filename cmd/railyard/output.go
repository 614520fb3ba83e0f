package main

import (
	"encoding/json"
	"errors"
	"io"
	"syscall"

	"railyard/internal/result"
)

// printJSON prints a value; lists without entries are [], not null.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(result.Filled(v))
}

// printer is standard output that remembers when something could not be printed: a report
// that has gone nowhere is a failure.
type printer struct {
	io.Writer
	err error
}

// terminal is standard output itself, for a program that may want to know what it is.
func (e *env) terminal() io.Writer {
	if p, ok := e.stdout.(*printer); ok {
		return p.Writer
	}
	return e.stdout
}

func (p *printer) Write(b []byte) (int, error) {
	n, err := p.Writer.Write(b)
	if p.err == nil {
		p.err = err
	}
	return n, err
}

// enough reports whether the reader has closed its end: it has seen what it wanted.
func (p *printer) enough() bool { return errors.Is(p.err, syscall.EPIPE) }
