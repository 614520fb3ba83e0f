package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/term"

	"railyard/internal/report/screen"
	"railyard/internal/result"
)

// printJSON prints a value; lists without entries are [], not null.
func printJSON(w io.Writer, v any) error {
	err := result.WriteJSON(w, v, jsontext.EscapeForHTML(false), jsontext.WithIndent("  "))
	if err == nil {
		_, err = io.WriteString(w, "\n")
	}
	return err
}

// show prints a value as JSON with --json, else calls text.
func (e *env) show(asJSON bool, v any, text func()) error {
	if asJSON {
		return printJSON(e.stdout, v)
	}
	text()
	return nil
}

// list prints the paths of files that were written.
func (e *env) list(paths []string) {
	for _, path := range paths {
		fmt.Fprintln(e.stdout, path)
	}
}

// printer is standard output that records a failed write: a report that was not printed is a failure.
type printer struct {
	io.Writer
	err error
}

// terminal returns standard output itself, for a program that checks its kind.
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

// Layout is that of the terminal: its width, and colours unless NO_COLOR is set (no-color.org). Other output is as wide
// as COLUMNS, or not wrapped, and has neither colours nor bars.
func (p *printer) Layout() screen.Layout { return layout(p.Writer) }

func layout(w io.Writer) screen.Layout {
	if !onTerminal(w) {
		columns, _ := strconv.Atoi(os.Getenv("COLUMNS"))
		if columns > 0 {
			columns = max(columns, leastColumns)
		}
		return screen.Layout{Width: columns}
	}
	wide, _, err := term.GetSize(int(w.(*os.File).Fd()))
	if err != nil {
		wide = leastColumns
	}
	plain := os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb"
	return screen.Layout{Width: max(wide, leastColumns), Color: !plain, Bars: true}
}

// leastColumns is the least width that reports are laid out for.
const leastColumns = 80

// enough reports whether the reader has closed its end.
func (p *printer) enough() bool { return errors.Is(p.err, syscall.EPIPE) }
