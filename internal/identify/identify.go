// Package identify detects the kind and contents of a file or directory, and the next useful commands.
//
// A Kind is a kind of file. One function recognizes it by its beginning, and another reads it with the package of
// its format. Of returns the Account of a path by the first kind that recognizes it; a new kind is a line in the
// registry. Print prints an account.
package identify

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"railyard/internal/counters"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/measured"
)

// Account is a file's kind, contents, and next commands.
type Account struct {
	Path  string   `json:"path"`
	Kind  string   `json:"kind"`  // key in the registry
	What  string   `json:"what"`  // description: nccl-tests output
	Shows []string `json:"shows"` // findings, a sentence each
	Next  []Next   `json:"next"`

	// Of simulated measurements: whether they are as expected, the assumptions, and the omissions.
	Verdict string `json:"verdict,omitempty"`
	Assumed string `json:"assumed,omitempty"`
	Skipped string `json:"skipped,omitempty"`

	// Measured are the measurements of the file, for callers that compare them with a scenario; nil: it has none.
	Measured *measured.Set `json:"-"`
	// Algorithm is NCCL_ALGO's value: ring, tree, nvls; "": unknown.
	Algorithm string `json:"-"`
}

// Next is a command with its purpose.
type Next struct {
	Command string `json:"command"` // without the program's name
	Purpose string `json:"purpose"`
}

// File is a path with the data for its recognition.
type File struct {
	Path     string
	Scenario string // scenario of the fabric that the file belongs to; "": not set
	Dir      bool
	Head     []byte // its first bytes
}

// headSize is the number of bytes by which a file is recognized, maxText the maximum size of one that is read whole.
const (
	headSize = 64 << 10
	maxText  = 64 << 20
)

// text returns the whole file.
func (f *File) text() ([]byte, error) { return input.Text(f.Path, maxText) }

// quoted returns the path quoted for a shell.
func (f *File) quoted() string { return shellWord(f.Path) }

// fabric returns the flags that name the scenario, or a placeholder's.
func (f *File) fabric(flag string) string {
	if f.Scenario == "" {
		return ""
	}
	return " " + flag + " " + shellWord(f.Scenario)
}

// shellWord returns a word quoted for a shell.
func shellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:=,+@") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Kind is a kind of file.
type Kind struct {
	Name  string
	What  string
	is    func(f *File) bool
	shows func(f *File, a *Account) error // adds findings and commands
}

// Of returns the account of a file or folder.
func Of(path, scenario string) (*Account, error) {
	f := &File{Path: path, Scenario: scenario}
	st, err := os.Stat(path)
	if err != nil {
		return nil, input.Fault(field.New(path, "no such file or directory"))
	}
	if f.Dir = st.IsDir(); !f.Dir {
		if f.Head, err = head(path); err != nil {
			return nil, input.Fault(err)
		}
		if len(bytes.TrimSpace(f.Head)) == 0 {
			return nil, input.Fault(field.New(path, "is empty"))
		}
	}
	var refused error // error of a kind that recognized the file and could not read it
	for i := range kinds {
		k := &kinds[i]
		if !k.is(f) {
			continue
		}
		a := &Account{Path: path, Kind: k.Name, What: k.What, Shows: []string{}, Next: []Next{}}
		if err := k.shows(f, a); err != nil {
			refused = errors.Join(refused, err)
			continue
		}
		return a, nil
	}
	if refused != nil {
		return nil, input.Fault(refused)
	}
	return nil, input.Fault(field.New(path, "unsupported format; supported: output of nccl-tests and perftest, counters, captures, configurations, cabling, traces, job scripts, scenarios, runs%s", counters.Exposed(f.Head)))
}

// head returns the first bytes of a file, or of a pipe's data.
func head(path string) ([]byte, error) {
	if input.Pipe(path) {
		b, err := input.Text(path, maxText)
		return b[:min(len(b), headSize)], err
	}
	from, _, err := input.Stream(path, 0)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	b, err := io.ReadAll(io.LimitReader(from, headSize))
	return bytes.TrimPrefix(b, []byte("\ufeff")), err
}

// show adds a finding.
func (a *Account) show(format string, args ...any) {
	a.Shows = append(a.Shows, fmt.Sprintf(format, args...))
}

// next adds a command.
func (a *Account) next(purpose, format string, args ...any) {
	a.Next = append(a.Next, Next{fmt.Sprintf(format, args...), purpose})
}
