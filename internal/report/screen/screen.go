// Package screen formats text for readers: paragraphs and tables of a terminal's width, colours and bars.
//
// A writer that implements Screen sets the width of lines, and whether colours and bars may be printed. Of returns
// these settings; for any other writer it returns 80 columns without either. Output into a file or a pipe has no
// colours and no bars, and its paragraphs are not wrapped (the transcripts in testdata follow that).
//
//	screen.Labelled(w, "Remedy: ", "fewer senders at a time")
//	t := screen.Table{Columns: []screen.Column{{Head: "Link"}, {Head: "ECN marks"}}}
//	t.Add("rail-1:Eth5 → spine-1", "129")
//	t.Print(w)
//
// Widths are widths of grapheme clusters (Unicode Standard Annex 29, as github.com/rivo/uniseg measures them),
// without the escape sequences of colours. Tables are implemented here because the shown columns depend on width
// and content. Table writers leave that to their callers.
package screen

import (
	"io"
	"strings"

	"github.com/rivo/uniseg"

	"railyard/unit"
)

// Layout is the capabilities of a screen.
type Layout struct {
	Width int  // columns; 0: lines are not wrapped
	Color bool // escape sequences of colours
	Bars  bool // bars of block characters
}

// Screen is a writer with a layout.
type Screen interface {
	io.Writer
	Layout() Layout
}

// Of returns a writer's layout, or 80 columns without colours.
func Of(w io.Writer) Layout {
	if s, ok := w.(Screen); ok {
		return s.Layout()
	}
	return Layout{Width: 80}
}

// Style is the emphasis of text on a screen with colours.
type Style string

// The styles, by meaning.
const (
	Answer   Style = "1"  // bold: the first line
	Error    Style = "31" // red: errors and lost ranks
	Warning  Style = "33" // yellow: warnings and causes
	Remedy   Style = "32" // green
	Baseline Style = "2"  // dim: baselines, zeros, where results lie
	Share    Style = "36" // cyan: bars
)

// Paint returns s in a style, or unchanged without colours.
func (l Layout) Paint(style Style, s string) string {
	if !l.Color || s == "" {
		return s
	}
	return "\x1b[" + string(style) + "m" + s + "\x1b[0m"
}

// Bar returns a bar of n columns for a share of 1, or nothing where bars are not shown.
func (l Layout) Bar(share float64, n int) string {
	if !l.Bars {
		return ""
	}
	return l.Paint(Share, strings.Repeat("█", min(max(int(share*float64(n)+0.5), 0), n)))
}

// Width returns how many columns s takes.
func Width(s string) int {
	if !strings.Contains(s, "\x1b") {
		return uniseg.StringWidth(s)
	}
	n := 0
	for {
		before, after, escape := strings.Cut(s, "\x1b[")
		n += uniseg.StringWidth(before)
		if !escape {
			return n
		}
		_, s, _ = strings.Cut(after, "m")
	}
}

// Clip returns s, or as much of it as n columns hold, with an ellipsis.
func Clip(s string, n int) string {
	if Width(s) <= n {
		return s
	}
	var b strings.Builder
	used := 1
	for g := uniseg.NewGraphemes(s); g.Next(); {
		if used += g.Width(); used > n {
			break
		}
		b.WriteString(g.Str())
	}
	return b.String() + "…"
}

// Wrap prints a paragraph after an indent, in lines of the screen's width at most. Lines break at spaces, but not
// between a number and its unit.
func Wrap(w io.Writer, indent, text string) { Labelled(w, indent, text) }

// Labelled prints a paragraph after a label, its further lines indented to the label's width.
func Labelled(w io.Writer, label, text string) {
	write(w, label, strings.Repeat(" ", Width(label)), text, "")
}

// Painted is Labelled in a style.
func Painted(w io.Writer, style Style, label, text string) {
	write(w, label, strings.Repeat(" ", Width(label)), text, style)
}

func write(w io.Writer, label, indent, text string, style Style) {
	layout := Of(w)
	var b strings.Builder
	for i, line := range Fold(text, layout.Width-Width(label), layout.Width > 0) {
		if i > 0 {
			label = indent
		}
		line = strings.TrimRight(label+line, " ")
		if style != "" {
			line = layout.Paint(style, line)
		}
		b.WriteString(line + "\n")
	}
	io.WriteString(w, b.String())
}

// Fold returns the lines of a text, each of n columns at most unless one word is longer.
func Fold(text string, n int, wraps bool) (lines []string) {
	words := strings.Fields(text)
	for i := len(words) - 1; i > 0; i-- {
		if last := words[i-1][len(words[i-1])-1]; last >= '0' && last <= '9' && unit.IsShown(words[i]) {
			words[i-1] += " " + words[i]
			words = append(words[:i], words[i+1:]...)
		}
	}
	line := ""
	for _, word := range words {
		if line != "" && wraps && Width(line)+1+Width(word) > n {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
