package counters

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"railyard/internal/field"
	"railyard/unit"
)

// Limits of one file: its bytes, the interfaces in all of its outputs, and reported unrecognized lines.
const (
	MaxSize    = 64 << 20
	maxPorts   = 20_000
	maxUnknown = 10_000
	maxLine    = 1 << 20
)

// Unknown is a line that was not understood.
type Unknown struct {
	File string
	Line int
	Text string
	Why  string
}

// line is a line of a section and its number from 1.
type line struct {
	n    int
	text string
}

// section is the output of one command.
type section struct {
	format  *Format // nil: unsupported
	device  string
	command string
	port    string // port in the command
	at      int    // line of the command, or the output's first
	begun   bool   // its heading has been read
	lines   []line
}

// reading is a section being read into a snapshot.
type reading struct {
	section
	Snapshot
	byName map[string]int
	all    *text
}

// text is one file.
type text struct {
	name    string
	lines   int
	whole   bool // whether it ends at the end of a line
	ports   int
	unknown []Unknown
	skipped []skipped
	fault   *field.Error
	cut     bool // fault is a truncated line
}

// Damaged is the error of a file that is empty, truncated or no text.
type Damaged struct{ Of *field.Error }

func (d *Damaged) Error() string { return d.Of.Error() }

// Unwrap returns the place and the reason.
func (d *Damaged) Unwrap() error { return d.Of }

// skipped is a counter that no Port holds, and by how much ports of one output counted it.
type skipped struct {
	name  string
	most  Count
	ports int
}

// Read finds the outputs of commands in a file and reads each. Names of devices come from prompts, or from the file's
// name.
func Read(name string, data []byte) ([]Snapshot, []Unknown, error) {
	t := &text{name: name}
	sections, err := t.split(data)
	if err != nil {
		return nil, nil, err
	}
	systems := settle(sections)
	var out []Snapshot
	for _, s := range sections {
		if s.format == nil {
			t.pass(&s)
			continue
		}
		if len(s.lines) == 0 {
			t.unknown = append(t.unknown, Unknown{name, s.at, s.command, "printed nothing"})
			continue
		}
		r := &reading{section: s, byName: map[string]int{}, all: t}
		r.Snapshot = Snapshot{Device: s.device, Kind: Switch, Format: s.format.Name, Command: s.command, File: name,
			Line: s.at}
		if s.format.System == "host" && !slices.ContainsFunc(systems[s.device], isSwitch) {
			r.Kind = Host // SONiC runs Linux's commands, too
		}
		r.lines = t.unbroken(s.format, s.lines)
		s.format.read(r)
		if t.fault != nil {
			if t.cut {
				return nil, nil, &Damaged{t.fault}
			}
			return nil, nil, t.fault
		}
		t.unended(data, &r.Snapshot)
		t.saySkipped()
		out = append(out, r.Snapshot)
	}
	if len(out) == 0 {
		return nil, t.unknown, &field.Error{File: name, Msg: "holds no output that is read: expected what show commands of NX-OS, EOS or SONiC print, or ethtool, rdma and lldpcli on a host; prompts with the commands help" + Exposed(data)}
	}
	return out, t.unknown, nil
}

// unended discards a number at the end of a file's last line: 12 may be the beginning of 1294.
func (t *text) unended(data []byte, s *Snapshot) {
	last := data[bytes.LastIndexByte(data, '\n')+1:]
	if !endsInNumber.Match(last) {
		return
	}
	lost := false
	take := func(is *bool, line int) {
		if *is && line == t.lines {
			*is, lost = false, true
		}
	}
	for i := range s.Ports {
		p := &s.Ports[i]
		p.Each(func(_ string, c *Count, _ bool) { take(&c.Is, c.Line) })
		take(&p.Speed.Is, p.Speed.Line)
		take(&p.MTU.Is, p.MTU.Line)
		take(&p.Lossless.Is, p.Lossless.Line)
	}
	if lost {
		t.unknown = append(t.unknown, Unknown{t.name, t.lines, strings.TrimSpace(string(last)),
			"the file ends without the end of this line, whose number may be truncated: not read"})
	}
}

// unbroken joins each two lines between which a line break divides a number, as that of a narrow terminal, by a
// question mark: the first line ends with a digit, and the second begins with one, or a comma, and is neither a row of
// the format nor a clock. The number remains unread.
func (t *text) unbroken(f *Format, lines []line) (out []line) {
	for i, l := range lines {
		if i > 0 && l.text != "" && strings.IndexByte("0123456789,", l.text[0]) >= 0 && l.n == lines[i-1].n+1 &&
			endsInNumber.MatchString(lines[i-1].text) && !f.is(l.text) &&
			!(clock.MatchString(l.text) && (i+1 == len(lines) || lines[i+1].text == "" || f.is(lines[i+1].text))) {
			t.unknown = append(t.unknown, Unknown{t.name, l.n, strings.TrimSpace(l.text),
				"a line break divides a number, which is not read"})
			out[len(out)-1] = line{l.n, out[len(out)-1].text + broken + l.text}
			continue
		}
		out = append(out, l)
	}
	return out
}

// broken stands for a line break within a number.
const broken = "?"

// clock matches seconds since 1970 as date prints them behind an output without a prompt, from 2001 to 2096. Without
// the fraction they may be the rest of a number.
var clock = regexp.MustCompile(`^[1-3]\d{9}\.\d+$`)

var endsInNumber = regexp.MustCompile(`[0-9][,.]?$`)

var (
	// pager matches the prompt of a pager, which a carriage return then overwrites.
	pager = regexp.MustCompile(`^\s*--\s*[Mm]ore\s*--(?:\(\d+%\))?\s*$`)
	// logged matches a message of the log of NX-OS and EOS, which the terminal prints between lines.
	logged = regexp.MustCompile(`%[A-Z][A-Z0-9_]*-(?:[A-Z0-9_]+-)?[0-7]-[A-Z0-9_]+: `)
)

// printed returns a line without a pager's prompt before it. It returns false if nothing else is in the line, or it
// is a log message.
func printed(s string) (string, bool) {
	if i := strings.LastIndexByte(s, '\r'); i >= 0 && pager.MatchString(s[:i]) {
		return s[i+1:], true
	}
	return s, !(strings.Contains(s, "--") && pager.MatchString(s) || strings.Contains(s, "%") && logged.MatchString(s))
}

// pass notes a command whose output is not read.
func (t *text) pass(s *section) {
	for _, l := range s.lines {
		if strings.TrimSpace(l.text) != "" && !rule(l.text) {
			what := "precedes the first supported output"
			if s.command != "" {
				what = fmt.Sprintf("the output of %s is not read", field.Quote(s.command))
			}
			t.not(l, what)
			return
		}
	}
}

func (t *text) not(l line, why string) {
	if len(t.unknown) < maxUnknown {
		t.unknown = append(t.unknown, Unknown{t.name, l.n, strings.TrimSpace(l.text), why})
	}
	if l.n == t.lines && !t.whole {
		t.fail(l.n, "the file ends within this line (%s): is it truncated?", why)
		t.cut = true
	}
}

// fail keeps the first error.
func (t *text) fail(n int, format string, args ...any) {
	if t.fault == nil {
		t.fault = &field.Error{File: t.name, Line: n, Col: 1, Msg: fmt.Sprintf(format, args...)}
	}
}

// prompt matches a device's prompt with a command after it.
var prompt = regexp.MustCompile(`^\[?(?:[\w.-]+@)?([A-Za-z0-9][\w.-]*)(?:\([^)]*\))?` +
	`(?:[: ][~/][^\s#$>]*| ~)?\]?[#$>]\s*(\S.*)$`)

// idle is a prompt at which nothing was typed.
var idle = regexp.MustCompile(`^[A-Za-z0-9][\w.@-]*(?:\([^)]*\))?(?::[~/]\S*)?[#>$]\s*$`)

// bare is a command without a device before it.
var bare = regexp.MustCompile(`^[#$>]?\s*((?:sudo\s+)?(?:show|ethtool|rdma|grep|redis-dump|sonic-db-dump|` + `ip|` +
	`sonic-db-cli|pfcstat|queuestat|portstat|lldpcli|lldpctl)\s.*)$`)

// split splits a file into the outputs of commands.
func (t *text) split(data []byte) ([]section, error) {
	switch {
	case len(data) > MaxSize:
		return nil, &field.Error{File: t.name, Msg: "is larger than 64 MiB: that is not an output of commands"}
	case len(strings.TrimSpace(string(data[:min(len(data), 1<<16)]))) == 0 && len(data) < 1<<16:
		return nil, &Damaged{&field.Error{File: t.name, Msg: "is empty"}}
	}
	all := string(data)
	if i := strings.IndexByte(all, 0); i >= 0 || !utf8.ValidString(all) {
		return nil, &Damaged{&field.Error{File: t.name, Msg: "is a binary file, expected text"}}
	}
	t.whole = strings.HasSuffix(all, "\n")
	var out []section
	device := DeviceOf(t.name)
	cur := section{device: device, at: 1}
	flush := func() {
		if len(cur.lines) > 0 || cur.format != nil {
			out = append(out, cur)
		}
	}
	for len(all) > 0 {
		s, rest, _ := strings.Cut(all, "\n")
		all = rest
		t.lines++
		s = strings.TrimSuffix(s, "\r")
		if len(s) > maxLine {
			return nil, &field.Error{File: t.name, Line: t.lines, Col: 1, Msg: "a line of more than 1 MiB: that is not an output of commands"}
		}
		s, ok := printed(s)
		if !ok {
			continue
		}
		l := line{t.lines, s}
		if who, command, ok := typed(s); ok {
			flush()
			if who != "" {
				device = who
			}
			cur = section{device: device, command: command, at: l.n}
			cur.format, cur.port = byCommand(command, "")
			continue
		}
		if s != "" && strings.IndexByte("#$> ", s[len(s)-1]) >= 0 && idle.MatchString(s) {
			flush()
			cur = section{device: device, at: l.n}
			continue
		}
		if f := begins(s, all); f != nil && f != cur.format && !cur.goesOn(s) {
			if cur.format != nil && cur.begun || cur.command == "" {
				flush()
				cur = section{device: device, at: l.n, format: f}
			}
			cur.format = f // for any command, this is its output
		}
		cur.begun = cur.begun || cur.format.is(s)
		cur.lines = append(cur.lines, l)
	}
	flush()
	return out, nil
}

// settle sets the format of outputs with an ambiguous heading by their device's system. Systems share commands,
// such as show interfaces counters. A device runs one system, which headings identify. It returns systems by
// device.
func settle(all []section) map[string][]string {
	systems := map[string][]string{}
	for i := range all {
		if s := &all[i]; s.begun && s.format.System != "" && !slices.Contains(systems[s.device], s.format.System) {
			systems[s.device] = append(systems[s.device], s.format.System)
		}
	}
	for i := range all {
		s := &all[i]
		is := slices.DeleteFunc(slices.Clone(systems[s.device]), func(system string) bool { return !isSwitch(system) })
		if s.format != nil && !s.begun && isSwitch(s.format.System) && len(is) == 1 && s.format.System != is[0] {
			s.format, s.port = byCommand(s.command, is[0])
		}
	}
	return systems
}

// isSwitch reports whether a system is one of switches.
func isSwitch(system string) bool { return system != "" && system != "host" }

// typed reports whether a line is a typed command, and on which device.
func typed(s string) (device, command string, ok bool) {
	if len(s) > 4096 {
		return "", "", false
	}
	if strings.IndexAny(s[:min(len(s), 200)], "#$>") > 0 { // most lines have none
		if m := prompt.FindStringSubmatch(s); m != nil && !heading(s, m[1], m[2]) {
			return m[1], m[2], true
		}
	}
	if s != "" && strings.IndexByte("#$>serlgip", s[0]) >= 0 {
		if m := bare.FindStringSubmatch(s); m != nil {
			return "", m[1], true
		}
	}
	return "", "", false
}

// numbered are words that tables put before a # for a number, and no switch is called: QoS-Group# Bandwidth%.
var numbered = regexp.MustCompile(`(?i)^(?:qos-?group|pg|queue|que|q|cos|class|vl|lane|priority|port|slot)$`)

// heading reports whether a line with a word before a # is a heading and not a prompt. Then the word is one of
// numbered, or words are in columns, three spaces or more apart.
func heading(s, word, rest string) bool {
	const column = "   "
	return numbered.MatchString(word) || strings.Contains(rest, column) ||
		strings.HasSuffix(strings.ReplaceAll(s[:len(s)-len(rest)], "\t", column), column)
}

// byCommand finds the format of a command's output on a system, "" for any.
func byCommand(command, system string) (*Format, string) {
	command = strings.TrimSpace(strings.TrimPrefix(command, "sudo "))
	for i := range formats {
		if system != "" && formats[i].System != system {
			continue
		}
		if m := formats[i].command.FindStringSubmatch(command); m != nil {
			if len(m) > 1 {
				return &formats[i], m[1]
			}
			return &formats[i], ""
		}
	}
	return nil, ""
}

// is reports whether a line begins a format.
func (f *Format) is(s string) bool {
	if f == nil || f.head == nil {
		return false
	}
	// Some interfaces of NX-OS have the form of all of EOS.
	return f.head.MatchString(s) || strings.HasSuffix(f.Name, "-interface") && ifHead.MatchString(s)
}

// goesOn reports whether a line that begins another format still belongs to the output. Before its heading, only a
// line of its own form does.
func (s *section) goesOn(line string) bool {
	return s.format.is(line) && (s.begun || s.format.head.MatchString(line))
}

// begins finds the format that a line begins; for JSON, the following text decides.
func begins(s, rest string) *Format {
	object := strings.TrimSpace(s) == "{"
	for i := range formats {
		if t := formats[i].tell; t != "" && object && strings.Contains(rest[:min(len(rest), 4096)], t) {
			return &formats[i]
		}
	}
	for i := range formats {
		if h := formats[i].head; h != nil && strings.Contains(s, literals[i]) && h.MatchString(s) {
			return &formats[i]
		}
	}
	return nil
}

// literals are, by format, strings that a heading must contain; searching for them is faster than matching.
var literals = func() (all []string) {
	for i := range formats {
		all = append(all, "")
		if h := formats[i].head; h != nil {
			re, err := syntax.Parse(h.String(), syntax.Perl)
			if err == nil {
				all[i] = literal(re)
			}
		}
	}
	return all
}()

// literal returns the longest string that every match of an expression contains.
func literal(re *syntax.Regexp) (longest string) {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return string(re.Rune)
		}
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
		for _, sub := range re.Sub {
			if l := literal(sub); len(l) > len(longest) {
				longest = l
			}
		}
	}
	return longest
}

// DeviceOf is the device that a file is named after.
func DeviceOf(file string) string {
	base := path.Base(strings.ReplaceAll(file, "\\", "/"))
	if ext := path.Ext(base); len(ext) > 1 && strings.Trim(ext[1:], "0123456789") != "" {
		base = strings.TrimSuffix(base, ext)
	}
	return base
}

// port returns a port by its name; a new name creates one. The pointer holds until the next call. The counters of a
// name that a line break divides are not kept.
func (r *reading) port(name string, at line) *Port {
	if strings.Contains(name, broken) {
		return &Port{}
	}
	i, ok := r.byName[name]
	if !ok {
		if r.all.ports++; r.all.ports > maxPorts {
			r.all.fail(at.n, "counters of more than %d interfaces in one file", maxPorts)
			return &Port{}
		}
		i = len(r.Ports)
		r.byName[name] = i
		r.Ports = append(r.Ports, Port{Name: name, Line: at.n})
	}
	return &r.Ports[i]
}

// skip records an unsupported counter, if it is not zero.
func (r *reading) skip(name, cell string, l line) {
	c, ok := number(cell, l)
	if !ok || c.V == 0 {
		return
	}
	i := slices.IndexFunc(r.all.skipped, func(s skipped) bool { return s.name == name })
	if i < 0 {
		i = len(r.all.skipped)
		r.all.skipped = append(r.all.skipped, skipped{name: name})
	}
	s := &r.all.skipped[i]
	if s.ports++; c.V > s.most.V {
		s.most = c
	}
}

// saySkipped notes the unsupported counters of an output.
func (t *text) saySkipped() {
	for _, s := range t.skipped {
		t.unknown = append(t.unknown, Unknown{t.name, s.most.Line, fmt.Sprintf("%s %d", s.name, s.most.V),
			fmt.Sprintf("a counter that is not read has counted (%s)", unit.Plural(s.ports, "row"))})
	}
	t.skipped = nil
}

// again reports whether a paragraph's heading or row occurs a second time below the name of one interface. The name
// of another interface is then missing in between, and the counters of neither are read.
func (r *reading) again(seen map[string]bool, heading, name string, l line) bool {
	if !seen[heading] {
		seen[heading] = true
		return false
	}
	r.not(l, "comes a second time for %s: the name of an interface is missing between them; none of both is read", name)
	r.port(name, l).Uncount()
	return true
}

// not notes a line that was not understood.
func (r *reading) not(l line, why string, args ...any) { r.all.not(l, fmt.Sprintf(why, args...)) }
