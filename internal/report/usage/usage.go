// Package usage prints the help of the program, of a group of commands, and of a command, in 80 to 100 columns. A
// Section lists commands by the reader's task; Print reads everything else from the command line's grammar.
package usage

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"railyard/internal/report/screen"

	"github.com/alecthomas/kong"
)

// Section is a part of the summary of all commands: a heading, then commands with a description of each.
type Section struct {
	Title    string
	Commands [][2]string // a name, or several of a group by commas
}

// Program is the content of the whole program's help.
type Program struct {
	About    string
	Sections []Section
	Notes    []string // last lines: an example, further help
}

// NameWidth is the number of columns of names in lists of commands.
const NameWidth = 19

// leastColumns is the least width of help.
const leastColumns = 80

// Print prints the help of the selected command, group of commands, or the program p.
func Print(ctx *kong.Context, p Program) {
	w := helpScreen{ctx.Stdout, screen.Of(ctx.Stdout)}
	if w.layout.Width == 0 {
		w.layout.Width = leastColumns
	}
	w.layout.Width = min(w.layout.Width, 100)
	if n := ctx.Selected(); n != nil {
		w.command(n)
	} else {
		w.program(p)
	}
}

// helpScreen is a screen of 80 to 100 columns.
type helpScreen struct {
	io.Writer
	layout screen.Layout
}

// Layout returns the screen's layout.
func (w helpScreen) Layout() screen.Layout { return w.layout }

// title prints a heading.
func (w helpScreen) title(s string) { fmt.Fprintln(w, w.layout.Paint(screen.Answer, s)) }

// program prints the summary of all commands.
func (w helpScreen) program(p Program) {
	screen.Labelled(w, "", p.About)
	fmt.Fprintf(w, "Usage: railyard COMMAND [ARGUMENTS] [FLAGS]\n")
	for _, s := range p.Sections {
		w.title(s.Title)
		for _, c := range s.Commands {
			w.row("  ", c[0], NameWidth, c[1])
		}
	}
	for _, n := range p.Notes {
		fmt.Fprintln(w, n)
	}
}

// row prints a name, and a text in the columns after it. A name of more than width columns has its own line.
func (w helpScreen) row(indent, name string, width int, text string) {
	if screen.Width(name)+1 > width {
		fmt.Fprintf(w, "%s%s\n", indent, name)
		indent, name = strings.Repeat(" ", screen.Width(indent)), ""
	}
	screen.Labelled(w, indent+name+strings.Repeat(" ", width-screen.Width(name)), text)
}

// command prints the help of a command or of a group of commands.
func (w helpScreen) command(n *kong.Node) {
	text, examples := "", ""
	if n.Detail != "" {
		text, examples = parted(n.Detail)
	}
	w.title(n.Help)
	fmt.Fprintln(w, "Usage: "+typed(n))
	for _, par := range strings.Split(text, "\n\n") {
		if par != "" {
			screen.Labelled(w, "", par)
		}
	}
	for _, c := range n.Children {
		if c.Type == kong.CommandNode && !c.Hidden {
			w.row("  ", c.Name, NameWidth, c.Help)
		}
	}
	w.flags(n)
	if examples != "" {
		for line := range strings.SplitSeq(continued.ReplaceAllString(examples, " "), "\n") {
			w.example(line)
		}
	}
}

// continued matches a command's line break in the source of examples.
var continued = regexp.MustCompile(` *\\\n *`)

// example prints a line of examples with the continuations of a shell. The note of a command that does not fit the
// screen is on a line above it.
func (w helpScreen) example(line string) {
	if command, note, ok := strings.Cut(line, "  # "); ok && screen.Width(line) > w.layout.Width {
		fmt.Fprintf(w, "  # %s\n", note)
		line = strings.TrimRight(command, " ")
	}
	for screen.Width(line) > w.layout.Width {
		at := lastBreak(line, w.layout.Width-len(" \\"))
		if at == 0 {
			break
		}
		fmt.Fprintln(w, line[:at]+" \\")
		line = "     " + line[at:]
	}
	fmt.Fprintln(w, line)
}

// lastBreak returns the last blank before a flag or an operator of the shell, outside quotes, in the first n
// columns of a line after its indentation, or 0.
func lastBreak(line string, n int) (at int) {
	quoted := false
	for i, c := range line[:min(n+1, len(line))] {
		rest := line[i:]
		switch {
		case c == '\'':
			quoted = !quoted
		case quoted || strings.TrimSpace(line[:i]) == "":
		case strings.HasPrefix(rest, " --"), strings.HasPrefix(rest, " | "), strings.HasPrefix(rest, " && "),
			strings.HasPrefix(rest, " > "):
			at = i
		}
	}
	return at
}

// typed returns how a command is typed.
func typed(n *kong.Node) string {
	line := "railyard " + n.Path()
	for _, p := range n.Positional {
		switch name := strings.ToUpper(p.Name); {
		case !p.Required:
			line += " [" + placed(p, name) + "]"
		default:
			line += " " + placed(p, name)
		}
	}
	if len(n.Children) > 0 {
		line += " COMMAND"
	}
	for _, f := range n.Flags {
		if f.Required {
			line += " " + flagName(f)
		}
	}
	return line + " [FLAGS]"
}

// parted splits the details of a command into paragraphs, and examples and lists, which are printed unchanged.
func parted(detail string) (text, rest string) {
	for _, head := range []string{"Examples:", "Example:"} {
		if i := strings.Index(detail, head+"\n"); i >= 0 {
			return strings.TrimSpace(detail[:i]), strings.TrimSuffix(head, ":") + detail[i+len(head):]
		}
	}
	return detail, ""
}

// placed returns the name of an argument's value.
func placed(p *kong.Value, name string) string {
	if p.Tag.PlaceHolder != "" {
		name = p.Tag.PlaceHolder
	}
	if p.IsSlice() {
		name += " …"
	}
	return name
}

// flagGroups assigns flags to groups by name. A group tag takes precedence, and other flags are Options.
var flagGroups = map[string]string{
	"set": "Input", "seed": "Input", "format": "Input", "fabric": "Input", "config": "Input", "os": "Input",
	"cabling": "Input", "host": "Input", "link": "Input", "cluster": "Input", "prices": "Input", "rates": "Input",
	"json": "Output", "out": "Output", "force": "Output", "plot": "Output", "png": "Output", "svg": "Output",
	"html": "Output", "pcap": "Output", "parquet": "Output", "markdown": "Output", "sarif": "Output",
	"rate-plot": "Output", "rate-log": "Output", "scenario": "Output", "dot": "Output", "top": "Output",
	"memory": "Limits", "jobs": "Limits", "trials": "Limits", "runs": "Limits", "cpuprofile": "Limits",
	"packets": "Limits", "limit": "Limits", "timeout": "Limits", "wait": "Limits", "patience": "Limits",
}

// flagRows returns the groups of a command's arguments and flags in order, and their rows: a name and its help.
func flagRows(n *kong.Node) (order []string, rows map[string][][2]string) {
	order, rows = []string{"Input"}, map[string][][2]string{}
	for _, p := range n.Positional {
		rows["Input"] = append(rows["Input"], [2]string{placed(p, strings.ToUpper(p.Name)), valueHelp(p)})
	}
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			if f.Name == "help" {
				continue
			}
			key := "Options"
			if g := flagGroups[f.Name]; g != "" {
				key = g
			}
			if f.Group != nil {
				key = f.Group.Key
			}
			if rows[key] == nil && key != "Input" && key != "Output" && key != "Limits" {
				order = append(order, key)
			}
			rows[key] = append(rows[key], [2]string{flagName(f), valueHelp(f.Value)})
		}
	}
	return append(order, "Output", "Limits"), rows
}

// flags prints the arguments and flags of a command in groups.
func (w helpScreen) flags(n *kong.Node) {
	order, rows := flagRows(n)
	width := 0
	for _, list := range rows {
		for _, r := range list {
			if n := screen.Width(r[0]) + 2; n <= 26 {
				width = max(width, n)
			}
		}
	}
	for _, key := range order {
		for i, r := range rows[key] {
			head := ""
			if i == 0 {
				head = key
			}
			w.row(w.layout.Paint(screen.Answer, head)+strings.Repeat(" ", 9-len(head)), r[0], max(width, 12), r[1])
		}
	}
}

// flagName returns a flag with the name of its value.
func flagName(f *kong.Flag) string {
	name := "--" + f.Name
	if f.Short != 0 {
		name = fmt.Sprintf("-%c, %s", f.Short, name)
	}
	if f.IsBool() {
		return name
	}
	value := f.PlaceHolder
	switch _, duration := f.Target.Interface().(time.Duration); {
	case value != "":
	case duration:
		value = "TIME"
	case f.Target.CanInt() || f.Target.CanUint() || f.Target.CanFloat() || f.Name == "seed":
		value = "N"
	default:
		value = strings.ToUpper(f.Name)
	}
	return name + " " + value
}

// valueHelp returns the help of an argument or flag, with its default unless the help names it.
func valueHelp(v *kong.Value) string {
	switch {
	case !v.HasDefault || v.IsBool() || v.Default == "" || v.Default == "0" || v.Default == "0s" || v.Default == "-1":
		return v.Help
	case strings.HasSuffix(v.Help, ")"):
		return v.Help
	}
	return v.Help + " (" + v.Default + ")"
}
