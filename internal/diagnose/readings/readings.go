// Package readings reads the outputs of show commands from files and directories for package diagnose: [Snapshots]
// returns the counters of all devices at one or two times, and notes on unrecognized parts.
package readings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"railyard/internal/counters"
	"railyard/internal/diagnose"
	"railyard/internal/field"
	"railyard/internal/input"
)

// Snapshots reads the outputs of devices at two times: those of earlier and of paths. A directory with before and
// after, or two paths of these names, contain both. notes lists unrecognized parts; Before is nil for one snapshot.
func Snapshots(earlier string, paths []string) (in diagnose.Input, notes []string, err error) {
	var first, second []string
	if earlier != "" {
		first = []string{earlier}
	}
	for _, a := range paths {
		switch was, is, two := Two(a); {
		case two:
			first, second = append(first, was), append(second, is)
		case len(paths) == 2 && len(first) == 0 && filepath.Base(a) == "before" && folder(a):
			first = append(first, a)
		default:
			second = append(second, a)
		}
	}
	r := &reader{}
	if in.After, err = r.read(second); err != nil {
		return in, nil, err
	}
	if first != nil {
		in.Before, err = r.read(first)
	}
	in.Unread = r.unread
	return in, r.summary(), err
}

// Two returns the folders of two snapshots in a directory, and whether it has both.
func Two(dir string) (before, after string, is bool) {
	before, after = filepath.Join(dir, "before"), filepath.Join(dir, "after")
	return before, after, folder(before) && folder(after)
}

// folder reports whether a path is a directory.
func folder(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// reader reads outputs and records unrecognized parts.
type reader struct {
	unknown []counters.Unknown
	passed  []string
	unread  []diagnose.Unread
	total   int
}

// maxOutputs and maxOutputBytes bound the files of a folder, and the bytes of all files.
const (
	maxOutputs     = 20_000
	maxOutputBytes = 512 << 20
)

// read reads files, and folders in the order of names. Other files in folders are skipped; a file that was named must
// be an output.
func (r *reader) read(paths []string) (all []counters.Snapshot, err error) {
	for _, p := range paths {
		if !folder(p) {
			s, err := r.file(p)
			if err != nil {
				return nil, input.Fault(err)
			}
			all = append(all, s...)
			continue
		}
		some, err := r.folder(p)
		if err != nil {
			return nil, input.Fault(err)
		}
		all = append(all, some...)
	}
	if len(all) == 0 {
		return nil, input.Fault(fmt.Errorf("%s: contains no output of a switch or a host (accepted: railyard diagnose --help)", strings.Join(paths, ", ")))
	}
	return all, nil
}

// folder reads a folder.
func (r *reader) folder(dir string) (all []counters.Snapshot, err error) {
	err = input.Walk(dir, maxOutputs, func(path string) error {
		s, err := r.file(path)
		var no *noOutput
		if errors.As(err, &no) {
			r.passed = append(r.passed, err.Error())
			var d *counters.Damaged
			if errors.As(err, &d) {
				r.unread = append(r.unread, diagnose.Unread{File: path, Why: d.Of.Msg})
			}
			return nil
		}
		all = append(all, s...)
		return err
	})
	return all, err
}

// noOutput is the error of a file without supported output.
type noOutput struct{ err error }

func (n *noOutput) Error() string { return n.err.Error() }
func (n *noOutput) Unwrap() error { return n.err }

// file reads a file.
func (r *reader) file(path string) ([]counters.Snapshot, error) {
	text, err := input.Text(path, counters.MaxSize)
	if err != nil {
		return nil, err
	}
	if r.total += len(text); r.total > maxOutputBytes {
		return nil, fmt.Errorf("%s: with this file there are more than %d MiB to read", path,
			maxOutputBytes>>20)
	}
	s, unknown, err := counters.Read(path, text)
	r.unknown = append(r.unknown, unknown...)
	if err != nil && s == nil {
		var e *field.Error
		if looks := diagnose.Looks(text); looks != "" && errors.As(err, &e) && e.Line == 0 {
			e.Msg += "; it looks like " + looks
		}
		return nil, &noOutput{err}
	}
	return s, err
}

// summary lists unrecognized parts in a few lines.
func (r *reader) summary() (notes []string) {
	const few = 3
	for i, u := range r.unknown {
		if i == few {
			notes = append(notes, fmt.Sprintf("%d more lines were not understood", len(r.unknown)-few))
			break
		}
		notes = append(notes, fmt.Sprintf("%s:%d: %s: %s", u.File, u.Line, u.Why, clipLine(u.Text)))
	}
	slices.Sort(r.passed)
	for i, p := range r.passed {
		if i == few {
			notes = append(notes, fmt.Sprintf("%d more files hold no output that is read", len(r.passed)-few))
			break
		}
		notes = append(notes, "ignored: "+p)
	}
	return notes
}

// clipLine shortens a line to the length needed to find it.
func clipLine(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "..."
	}
	return s
}
