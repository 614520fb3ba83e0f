package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A block is a command block of a document.
type block struct {
	text      string
	slow      bool
	elsewhere bool // not executed here
	exit      int
}

// comment matches a comment that fills a line, pictured one that names a picture.
var (
	comment  = regexp.MustCompile(`^<!-- (.+) -->$`)
	pictured = regexp.MustCompile(`^<!-- picture: (\S+) -->$`)
)

// A machine executes the commands of a document.
type machine struct {
	execute func(text string, exit int) (string, error) // a command block
	picture func(name string) error                     // a file that a command block has written
}

// rewrite executes the command blocks of a document in order and returns the document with the outputs that it quotes.
func rewrite(document string, slow bool, m machine) (string, error) {
	var out []string
	lines := strings.Split(document, "\n")
	printed, fresh := "", false // output of the last command block, and whether it was executed
	for i := 0; i < len(lines); i++ {
		out = append(out, lines[i])
		language, fenced := strings.CutPrefix(lines[i], "```")
		if p := pictured.FindStringSubmatch(lines[i]); p != nil && fresh {
			if err := m.picture(p[1]); err != nil {
				return "", fmt.Errorf("line %d: %w", i+1, err)
			}
		}
		patterns, quotes := quotation(lines[i])
		if !fenced && !quotes {
			continue
		}
		start := i + 1
		if quotes {
			if i+1 >= len(lines) || lines[i+1] != "```text" {
				return "", fmt.Errorf("line %d: expected ```text after the comment", i+1)
			}
			out, start = append(out, lines[i+1]), i+2
		}
		end := start
		for end < len(lines) && lines[end] != "```" {
			end++
		}
		if end == len(lines) {
			return "", fmt.Errorf("line %d: the block has no end", i+1)
		}
		body := lines[start:end]
		switch {
		case quotes && fresh:
			quoted, err := pick(printed, patterns)
			if err != nil {
				return "", fmt.Errorf("line %d: %w", i+1, err)
			}
			body = quoted
		case language == "sh":
			above := ""
			if i > 0 {
				above = lines[i-1]
			}
			b, err := commandBlock(above, strings.Join(body, "\n")+"\n")
			if err != nil {
				return "", fmt.Errorf("line %d: %w", i, err)
			}
			if fresh = !b.elsewhere && (slow || !b.slow); fresh {
				if printed, err = m.execute(b.text, b.exit); err != nil {
					return "", fmt.Errorf("line %d: %w", i+1, err)
				}
			}
		}
		out = append(append(out, body...), "```")
		i = end
	}
	return strings.Join(out, "\n"), nil
}

// quotation reports whether a line begins a quotation of output, and returns the lines to quote.
func quotation(line string) (patterns string, ok bool) {
	m := comment.FindStringSubmatch(line)
	if m == nil || m[1] != "output" && !strings.HasPrefix(m[1], "output: ") {
		return "", false
	}
	return strings.TrimPrefix(strings.TrimPrefix(m[1], "output"), ": "), true
}

// commandBlock returns a block with the settings of the comment above it.
func commandBlock(above, text string) (b block, err error) {
	b.text = text
	m := comment.FindStringSubmatch(above)
	if m == nil {
		return b, nil
	}
	if strings.HasPrefix(m[1], "elsewhere: ") {
		b.elsewhere = true
		return b, nil
	}
	for _, word := range strings.Split(m[1], ", ") {
		code, exits := strings.CutPrefix(word, "exit ")
		switch {
		case word == "slow":
			b.slow = true
		case exits:
			if b.exit, err = strconv.Atoi(code); err != nil {
				return b, fmt.Errorf("expected an exit code, found %q", code)
			}
		default:
			return b, fmt.Errorf("expected slow, exit N or elsewhere: REASON, found %q", word)
		}
	}
	return b, nil
}

// pick returns the lines of a text that match a list of patterns, without empty ones.
func pick(text, patterns string) (quoted []string, err error) {
	var lines []string
	for _, l := range strings.Split(text, "\n") {
		if strings.TrimSpace(l) != "" {
			lines = append(lines, strings.TrimRight(l, " "))
		}
	}
	if patterns == "" {
		return lines, nil
	}
	next := 0
	for _, p := range strings.Split(patterns, ", ") {
		from, to, isRange := strings.Cut(p, "..")
		first, err := find(lines, next, from)
		if err != nil {
			return nil, err
		}
		last := first
		if isRange {
			if last, err = find(lines, first+1, to); err != nil {
				return nil, err
			}
		}
		if first > next && len(quoted) > 0 {
			quoted = append(quoted, "...")
		}
		quoted = append(quoted, lines[first:last+1]...)
		next = last + 1
	}
	return quoted, nil
}

// find returns the index of the first line from a place on that a pattern matches.
func find(lines []string, from int, pattern string) (int, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return 0, err
	}
	for i := from; i < len(lines); i++ {
		if re.MatchString(lines[i]) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("no line matches %q in the output\n%s", pattern, strings.Join(lines, "\n"))
}

// differences lists the lines that only one of two texts has, each with its number.
func differences(file, old, text string) string {
	var b strings.Builder
	was, is := strings.Split(old, "\n"), strings.Split(text, "\n")
	for _, side := range []struct {
		sign         string
		lines, other []string
	}{{"-", was, is}, {"+", is, was}} {
		has := map[string]bool{}
		for _, l := range side.other {
			has[l] = true
		}
		for i, l := range side.lines {
			if !has[l] {
				fmt.Fprintf(&b, "%s:%d: %s%s\n", file, i+1, side.sign, l)
			}
		}
	}
	return b.String()
}
