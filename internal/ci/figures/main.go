// Command figures writes the outputs that documents quote, by running the command that each quotation names.
//
//	figures FILE …           # run and rewrite
//	figures --check FILE …   # run and compare; exit 1 where a document is stale
//	figures --slow …         # with those that take minutes; --timed: with those that change from run to run
//
// A quotation is a comment and the indented lines that follow it:
//
//	<!-- figures: railyard run scenarios/three-flows.yaml | ^three-flows.., incast -->
//	    three-flows: …
//
// After the bar stand the lines to quote, in order: a regular expression picks the next line that it matches,
// "A..B" all lines from one that matches A to the next that matches B, and lines left out in between become
// "...". Without a bar the whole output is quoted. "figures, slow:" and "figures, timed:" mark the others.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// marker is a quotation's comment: its kind, its command, and the lines to quote.
var marker = regexp.MustCompile(`^<!-- figures(?:, (slow|timed))?: railyard (.+?)(?: \| (.+))? -->$`)

func main() {
	check := flag.Bool("check", false, "compare and do not write")
	slow := flag.Bool("slow", false, "run slow quotations too")
	timed := flag.Bool("timed", false, "run timed quotations too")
	flag.Parse()
	if err := run(flag.Args(), *check, map[string]bool{"": true, "slow": *slow, "timed": *timed}); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

// run builds railyard, and treats each document.
func run(files []string, check bool, kinds map[string]bool) error {
	dir, err := os.MkdirTemp("", "figures")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := os.Symlink(filepath.Join(here, "scenarios"), filepath.Join(dir, "scenarios")); err != nil {
		return err
	}
	program := filepath.Join(dir, "railyard")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/railyard").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	printed := map[string]string{} // by command: two quotations of one run cost one
	call := func(args string) (string, error) {
		if text, ok := printed[args]; ok {
			return text, nil
		}
		cmd := exec.Command(program, strings.Fields(args)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "COLUMNS=80")
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("railyard %s: %w\n%s", args, err, errs.String())
		}
		printed[args] = string(out)
		return string(out), nil
	}
	stale := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		text, err := rewrite(string(b), kinds, call)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		switch {
		case text == string(b):
		case check:
			stale++
			fmt.Print(differences(file, string(b), text))
		default:
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				return err
			}
		}
	}
	if stale > 0 {
		return fmt.Errorf("%d of %d documents are stale: go run ./internal/ci/figures %s", stale, len(files),
			strings.Join(files, " "))
	}
	return nil
}

// rewrite returns a document with its quotations as call prints them.
func rewrite(text string, kinds map[string]bool, call func(args string) (string, error)) (string, error) {
	var out []string
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		out = append(out, lines[i])
		m := marker.FindStringSubmatch(lines[i])
		if m == nil {
			if strings.HasPrefix(lines[i], "<!-- figures") {
				return "", fmt.Errorf("line %d: expected <!-- figures: railyard COMMAND | LINES -->, found %q",
					i+1, lines[i])
			}
			continue
		}
		if !kinds[m[1]] {
			continue
		}
		printed, err := call(m[2])
		if err != nil {
			return "", fmt.Errorf("line %d: %w", i+1, err)
		}
		quoted, err := pick(printed, m[3])
		if err != nil {
			return "", fmt.Errorf("line %d: railyard %s: %w", i+1, m[2], err)
		}
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "    ") {
			i++
		}
		for _, l := range quoted {
			out = append(out, strings.TrimRight("    "+l, " "))
		}
	}
	return strings.Join(out, "\n"), nil
}

// pick returns the lines of a text that a list of patterns names, without empty ones.
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
	return 0, fmt.Errorf("no line matches %q in its output", pattern)
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
