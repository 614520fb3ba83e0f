package importing

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"railyard/internal/input"
	"railyard/internal/output"
	"railyard/internal/scenariofile"
	"railyard/internal/trace"
)

// LargeTrace is the size in bytes from which files are streamed and a scenario names their used parts; tests reduce it.
var LargeTrace = int64(scenariofile.MaxSize)

// beginning is the size of a file's start that is sufficient for detection, after a long comment too.
func beginning(path string) ([]byte, error) {
	f, _, err := input.Stream(path, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 1<<20))
}

// readTraces reads traces of one format, whole or as streams, and returns the files that a scenario names for them.
func (c *reader) readTraces(paths []string) (*trace.Trace, []string, error) {
	options := trace.Options{Format: c.Format, Step: c.Step}
	var files []trace.File
	large := int64(0)
	for _, path := range paths {
		text, err := beginning(path)
		if err != nil {
			return nil, nil, err
		}
		f := trace.File{Name: path, Text: text}
		if options.Format == "" {
			if found, ok := trace.Detect(f); ok {
				options.Format = found.Name
			}
		}
		files = append(files, f)
		if st, err := os.Stat(path); err == nil {
			large = max(large, st.Size())
		}
	}
	if large > LargeTrace && trace.Streamed(options.Format) {
		return c.readLarge(options, files)
	}
	for i, path := range paths {
		var err error
		if files[i].Text, err = input.Text(path, scenariofile.MaxSize); err != nil {
			return nil, nil, err
		}
	}
	x, err := options.Read(files...)
	return x, paths, err
}

// keeper writes the used parts of a large file.
type keeper struct {
	to  *output.File // not embedded: its WriteString would write past zip
	zip *gzip.Writer
	n   int
	err error
}

// Write keeps the first error for the end.
func (k *keeper) Write(b []byte) (int, error) {
	k.n += len(b)
	if k.err == nil {
		_, k.err = k.zip.Write(b)
	}
	return len(b), nil
}

// readLarge streams files, and writes their used parts next to the scenario.
func (c *reader) readLarge(options trace.Options, files []trace.File) (*trace.Trace, []string, error) {
	if c.Out == "" {
		return nil, nil, fmt.Errorf("%s has more than the %d bytes that a scenario's files may have: with --out, the part in use is written next to the scenario", files[0].Name, LargeTrace)
	}
	keep := map[string]*keeper{}
	var names []string
	var err error
	for i, f := range files {
		name := fmt.Sprintf("%s-%d.json.gz", strings.TrimSuffix(c.Out, filepath.Ext(c.Out)), i)
		var to *output.File
		if to, err = output.Create(name, c.Force); err != nil {
			break
		}
		keep[f.Name], names = &keeper{to: to, zip: gzip.NewWriter(to)}, append(names, name)
	}
	var x *trace.Trace
	if err == nil {
		options.Open = func(name string) (io.ReadCloser, error) {
			f, _, err := input.Stream(name, 0)
			return f, err
		}
		options.Keep = func(name string) io.Writer { return keep[name] }
		x, err = options.Read(files...)
	}
	some := slices.ContainsFunc(files, func(f trace.File) bool { return keep[f.Name] != nil && keep[f.Name].n > 0 })
	for i, f := range files {
		k := keep[f.Name]
		switch {
		case k == nil:
			continue
		case err == nil && k.n == 0 && some: // an execution trace for which there is a profile
			k.to.Drop()
			names[i] = ""
			continue
		case err == nil && k.n == 0:
			err = input.Fault(fmt.Errorf("%s has more than the %d bytes that a scenario's files may have, and of %s no smaller file can be made: cut it to the steps that matter", f.Name,
				LargeTrace, x.Format))
		case err == nil:
			err = errors.Join(k.err, k.zip.Close())
		}
		if err != nil {
			k.to.Drop()
			continue
		}
		err = k.to.Keep()
	}
	return x, slices.DeleteFunc(names, func(name string) bool { return name == "" }), err
}
