// Package field has the common error for an invalid value of a user: in a scenario, with --set, in a flag, in the
// page's editor.
//
// The function that refuses a value sets its name and the error (New, Choice). Callers add the outer names (Under);
// the reader of the text adds the position. So a package below reports tp, and the output is pod.yaml:31:9:
// workload.training.tp.
package field

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Error is a value that cannot be.
type Error struct {
	File      string // source: a file, or the --set that contains the value; "" if unknown (yet)
	Line, Col int    // position in File, from 1; 0: unknown
	Path      string // path of the value: fabric.host_link.rate, failures[0].at, --gpus
	Msg       string // the error, and the accepted form

	Accepted []string // accepted words, if the set is finite
	Hint     string   // the accepted word nearest to the value
	Lists    string   // command that lists all of them
	found    string
}

// New returns an error about the value at a path.
func New(path, format string, args ...any) *Error {
	return &Error{Path: path, Msg: fmt.Sprintf(format, args...)}
}

// Choice reports a word that is not accepted; what describes the kind.
func Choice(path, found string, accepted []string, format string, args ...any) *Error {
	e := New(path, format, args...)
	e.Accepted, e.Hint, e.found = accepted, nearest(found, accepted), found
	return e
}

// ListedBy sets the command that lists all accepted words.
func (e *Error) ListedBy(command string) *Error {
	e.Lists = command
	return e
}

// Outside reports a value out of range.
func Outside(path string, least, most, found any) *Error {
	return New(path, "%[3]v is out of range %[1]v–%[2]v", least, most, found)
}

// Text returns the error without its position and path.
func (e *Error) Text() string {
	s := e.Msg
	if e.Hint != "" {
		s += fmt.Sprintf(" (did you mean %q?)", e.Hint)
	}
	if len(e.Accepted) > 0 {
		s += "; accepted: " + e.accepted()
	}
	return s
}

// mostAccepted is the maximum number of accepted words that an error lists if a command lists the rest, and mostListed
// the maximum without one.
const (
	mostAccepted = 8
	mostListed   = 64
)

// accepted lists the accepted words, or the first of many, nearest to the value if one resembles it, and the command
// that lists the rest.
func (e *Error) accepted() string {
	words, show, rest := slices.Clone(e.Accepted), mostListed, ""
	if e.Lists != "" {
		show, rest = mostAccepted, fmt.Sprintf(" (%s lists all)", e.Lists)
	}
	more := len(words) - show
	if more <= 0 {
		return strings.Join(words, ", ")
	}
	if e.Hint != "" {
		far := func(word string) int {
			found, word := strings.ToLower(e.found), strings.ToLower(word)
			if found != "" && strings.HasPrefix(word, found) {
				return 1 // the beginning of a word
			}
			return Distance(found, word)
		}
		slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(far(a), far(b)) })
	}
	return fmt.Sprintf("%s and %d more%s", strings.Join(words[:show], ", "), more, rest)
}

// Error returns position, path and text, as far as they are known.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d:%d", e.Line, e.Col)
		}
		b.WriteString(": ")
	}
	if e.Path != "" && !strings.HasPrefix(e.File, Set(e.Path+"=")) { // the path is already in the flag's name
		b.WriteString(Clip(e.Path) + ": ")
	}
	b.WriteString(e.Text())
	return b.String()
}

// Set is the File of a value that an override gives.
func Set(override string) string { return "--set " + Clip(override) }

// List is several errors, for input in which parsing continues after the first.
type List []*Error

// most is the maximum number of printed errors of a list.
const most = 10

// Error returns a line for each, up to most.
func (l List) Error() string {
	var lines []string
	for i, e := range l {
		if i == most {
			lines = append(lines, fmt.Sprintf("%s: and %d more like these", e.File, len(l)-most))
			break
		}
		lines = append(lines, e.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find them.
func (l List) Unwrap() []error {
	out := make([]error, len(l))
	for i, e := range l {
		out[i] = e
	}
	return out
}

// Err is the list as an error: none, one, or all.
func (l List) Err() error {
	switch len(l) {
	case 0:
		return nil
	case 1:
		return l[0]
	}
	return l
}

// All finds the errors of this kind in an error.
func All(err error) List {
	var l List
	if errors.As(err, &l) {
		return l
	}
	var e *Error
	if errors.As(err, &e) {
		return List{e}
	}
	return nil
}

// Under is an error of a part, with the part's path before its own. An error of another kind concerns the part, and so
// does one with a position in another file: it is printed in full.
func Under(path string, err error) error {
	if err == nil {
		return nil
	}
	l := All(err)
	if l == nil {
		return New(path, "%v", err)
	}
	out := make(List, len(l))
	for i, e := range l {
		c := *e
		if c.Path = Join(path, e.Path); e.File != "" {
			c = *New(path, "%v", e)
		}
		out[i] = &c
	}
	return out.Err()
}

// Join returns the path of a value below another: with a dot, unless it is an index of a list.
func Join(path, name string) string {
	if path == "" || name == "" || name[0] == '[' {
		return path + name
	}
	return path + "." + name
}

// At is the path of a place in a list.
func At(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

// Clip shortens a quoted text for an error of one line.
func Clip(s string) string {
	if r := []rune(s[:min(len(s), 400)]); len(r) > 60 {
		return string(r[:57]) + "..."
	}
	return s
}

// Quote returns a value in quotation marks.
func Quote(s string) string { return strconv.Quote(Clip(s)) }

// Flags turns the paths of values that a package below refuses into the flags that gave
// them: global_batch is --global-batch.
func Flags(err error) error {
	for _, e := range All(err) {
		if e.File == "" && e.Path != "" && !strings.HasPrefix(e.Path, "--") {
			e.Path = "--" + strings.ReplaceAll(e.Path, "_", "-")
		}
	}
	return err
}
