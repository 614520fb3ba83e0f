// Package configuration reads configurations of switches and of servers from files and directories: Files lists
// candidates, ParseAll parses those of switches concurrently, HostsAmong extracts those of servers. ParseAll
// reports each file of a folder that is no configuration, with the reason. A file that cannot be read gives a
// *PartlyRead.
package configuration

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"railyard/internal/input"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/internal/swconf/dialect"
)

// maxConfigs bounds how many files one command reads.
const maxConfigs = 20_000

// File is a file that holds a configuration, or may hold one.
type File struct {
	Path string
	// Perhaps reports that the file is in a given directory and that its name is not that of a configuration. Its
	// contents decide.
	Perhaps bool
	inside  bool // whether it is in a directory of the command line
}

// PartlyRead lists the unreadable configurations of directories, if others could be read.
type PartlyRead struct {
	of  int
	bad []error
}

func (e *PartlyRead) Error() string {
	const most = 8
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d configurations could not be read; the others were", len(e.bad), e.of)
	for _, err := range e.bad[:min(len(e.bad), most)] {
		fmt.Fprintf(&b, "\n%v", err)
	}
	if n := len(e.bad) - most; n > 0 {
		fmt.Fprintf(&b, "\nand %d more", n)
	}
	return b.String()
}

// Files lists configurations: each given file, and all files in given directories that are not hidden.
func Files(args []string) ([]File, error) {
	var out []File
	for _, a := range args {
		st, err := os.Stat(a)
		if err != nil {
			return nil, input.Fault(err)
		}
		if !st.IsDir() {
			out = append(out, File{Path: a})
			continue
		}
		before := len(out)
		err = input.Walk(a, maxConfigs, func(path string) error {
			name := filepath.Base(path)
			called := strings.HasSuffix(name, ".cfg") || name == "frr.conf" ||
				strings.HasSuffix(name, "config_db.json")
			out = append(out, File{Path: path, Perhaps: !called, inside: true})
			return nil
		})
		if err != nil {
			return nil, input.Fault(err)
		}
		if len(out) == before {
			return nil, input.Fault(fmt.Errorf("%s: no file in it", a))
		}
	}
	return out, nil
}

// ParseAll reads configurations concurrently. Its error is the first one, or a *partlyRead with all other
// configurations if the file was in a given directory. Uncertain files that are not configurations are listed with
// the reason.
func ParseAll(files []File, os string) (read []*swconf.Config, none []string, err error) {
	out, errs := make([]*swconf.Config, len(files)), make([]error, len(files))
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(files)); i = next.Add(1) - 1 {
				out[i], errs[i] = Parse(files[i].Path, os)
			}
		})
	}
	all.Wait()
	var silent []string // files in no recognized language
	part := &PartlyRead{of: len(files)}
	for i, f := range files {
		var syntax *cli.SyntaxError
		switch c := out[i]; {
		case errs[i] == nil && f.Perhaps && 2*(c.Read+c.Passed) < c.Total:
			none = append(none, fmt.Sprintf("%s: reads like %s, but %d of its %d lines are not understood",
				f.Path, dialect.Title(c.OS), c.Total-c.Read-c.Passed, c.Total))
		case errs[i] == nil:
			read = append(read, c)
		case f.Perhaps && errors.As(errs[i], &syntax) && strings.HasPrefix(syntax.Msg, dialect.NoLanguage):
			silent = append(silent, f.Path)
		case f.Perhaps:
			none = append(none, errs[i].Error())
		case f.inside:
			part.bad = append(part.bad, errs[i])
		default:
			return nil, nil, errs[i]
		}
	}
	const most = 8
	if n := len(silent); n > most {
		silent = append(silent[:most], fmt.Sprintf("%d more", n-most))
	}
	if len(silent) > 0 {
		none = append(none, strings.TrimPrefix(dialect.NoLanguage, "is ")+": "+strings.Join(silent, ", "))
	}
	if len(read) == 0 && len(part.bad) > 0 {
		return nil, nil, part.bad[0]
	}
	if len(read) == 0 && len(files) > 0 {
		return nil, nil, input.Fault(fmt.Errorf("no configuration among %d files; the first: %s", len(files),
			none[0]))
	}
	read, none = distinct(read, none)
	if len(part.bad) > 0 {
		return read, none, input.Fault(part)
	}
	return read, none, nil
}

// distinct removes duplicates: a file, or another with the same contents of the same device. Two different
// configurations of one device both remain, with a note, because it is unknown which one is in use.
func distinct(read []*swconf.Config, none []string) (out []*swconf.Config, all []string) {
	type name struct {
		os   swconf.OS
		name string
	}
	seen := map[name]*swconf.Config{}
	for _, c := range read {
		n := name{c.OS, c.Name()}
		switch first := seen[n]; {
		case first == nil || c.Hostname.V == "" && filepath.Clean(first.File) != filepath.Clean(c.File):
			seen[n] = c
			out = append(out, c)
		case filepath.Clean(first.File) == filepath.Clean(c.File) || same(first.File, c.File):
			none = append(none, fmt.Sprintf("%s: the configuration of %s again, as in %s", c.File, c.Name(), first.File))
		default:
			none = append(none, fmt.Sprintf("note: %s and %s are different configurations of %s, and both are read; leave out the one that it does not run", first.File, c.File, c.Name()))
			out = append(out, c)
		}
	}
	return out, none
}

// same reports whether two files that were read hold the same bytes.
func same(a, b string) bool {
	x, errX := input.Text(a, cli.MaxSize)
	y, errY := input.Text(b, cli.MaxSize)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
