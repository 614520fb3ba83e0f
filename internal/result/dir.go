package result

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"railyard/internal/input"

	"github.com/parquet-go/parquet-go"
	"golang.org/x/sys/unix"
)

// Manifest is run.json.
type Manifest struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Seed        uint64            `json:"seed"`
	Scenario    string            `json:"scenario"`          // the file's text
	Configs     map[string]string `json:"configs,omitempty"` // texts of switch configurations, by file
	Resolved    map[string]string `json:"resolved"`          // every value the run used
	Complete    bool              `json:"complete"`
	WallSeconds float64           `json:"wall_seconds"`
	Tables      []string          `json:"tables"`
	Limits      []string          `json:"limits,omitempty"` // what was cut short, and where
}

// ErrExists is returned when a run directory is already there.
var ErrExists = errors.New("the run directory exists already")

// Prepare makes sure dir can be written before a long run starts: its parent
// takes files, and it does not exist, is empty, or holds an earlier run and
// force is set.
func Prepare(dir string, force bool) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0:
		return probe(filepath.Dir(filepath.Clean(dir)))
	case err != nil:
		return err
	case !force:
		return fmt.Errorf("%w: %s; choose another --out or add --force to replace it", ErrExists, dir)
	}
	if _, err := os.Stat(filepath.Join(dir, "run.json")); err != nil {
		return fmt.Errorf("%s holds files but no run.json: it is no run directory and is left alone", dir)
	}
	return probe(filepath.Dir(filepath.Clean(dir)))
}

// probe makes sure that a folder exists and takes new entries.
func probe(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(dir, ".railyard-*")
	if err != nil {
		return err
	}
	return os.Remove(tmp)
}

// File is a further file of a run directory.
type File struct {
	Name  string
	Write func(io.Writer) error
}

// Write puts a run into dir. Everything is written to a temporary directory
// beside it first and renamed at the end, so dir is whole or not there.
func Write(dir string, m *Manifest, s *Summary, t *Tables, files ...File) (err error) {
	dir = filepath.Clean(dir)
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".railyard-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	m.Tables = []string{"flows", "links", "ports", "pauses", "ranks", "paths", "qps", "rates", "collectives", "critical"}
	steps := []func() error{
		func() error { return writeJSON(filepath.Join(tmp, "run.json"), m) },
		func() error { return writeJSON(filepath.Join(tmp, "summary.json"), s) },
		func() error { return writeTable(tmp, "flows", t.Flows) },
		func() error { return writeTable(tmp, "links", t.Links) },
		func() error { return writeTable(tmp, "ports", t.Ports) },
		func() error { return writeTable(tmp, "pauses", t.Pauses) },
		func() error { return writeTable(tmp, "ranks", t.Ranks) },
		func() error { return writeTable(tmp, "paths", t.Paths) },
		func() error { return writeTable(tmp, "qps", t.QPs) },
		func() error { return writeTable(tmp, "rates", t.Rates) },
		func() error { return writeTable(tmp, "collectives", t.Collectives) },
		func() error { return writeTable(tmp, "critical", t.Critical) },
		func() error { return writeJSON(filepath.Join(tmp, "topology.json"), t.Topology) },
	}
	for _, f := range files {
		steps = append(steps, func() error { return writeFile(filepath.Join(tmp, f.Name), f.Write) })
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("writing the run: %w", err)
		}
	}
	return replace(tmp, dir)
}

// replace moves tmp to dir. An earlier run there is exchanged in one step, so that
// whoever is killed, or reads meanwhile, finds the one or the other; where the file
// system cannot do that it is set aside first. It is removed at the end.
func replace(tmp, dir string) error {
	switch err := unix.Renameat2(unix.AT_FDCWD, tmp, unix.AT_FDCWD, dir, unix.RENAME_EXCHANGE); {
	case err == nil:
		return os.RemoveAll(tmp)
	case errors.Is(err, os.ErrNotExist):
		return os.Rename(tmp, dir)
	}
	old := tmp + ".old"
	err := os.Rename(dir, old)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	had := err == nil
	if err := os.Rename(tmp, dir); err != nil {
		if had {
			return errors.Join(err, os.Rename(old, dir))
		}
		return err
	}
	return os.RemoveAll(old)
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if err := errors.Join(write(w), w.Flush()); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func writeJSON(path string, v any) error {
	return writeFile(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(v)
	})
}

func writeTable[T any](dir, name string, rows []T) error {
	return writeFile(filepath.Join(dir, name+".parquet"), func(w io.Writer) error {
		p := parquet.NewGenericWriter[T](w, parquet.Compression(&parquet.Zstd))
		if _, err := p.Write(rows); err != nil {
			return err
		}
		return p.Close()
	})
}

// MaxJSON bounds run.json, summary.json and topology.json, MaxTable a table's file.
const (
	MaxJSON  = 64 << 20
	MaxTable = 512 << 20
)

// ReadSummary reads a run's summary.
func ReadSummary(dir string) (*Summary, error) {
	b, err := input.Read(filepath.Join(dir, "summary.json"), MaxJSON)
	if err != nil {
		return nil, err
	}
	s := &Summary{}
	return s, json.Unmarshal(b, s)
}

// ReadTable reads one table of a run.
func ReadTable[T any](dir, name string) ([]T, error) {
	f, err := input.Open(filepath.Join(dir, name+".parquet"), MaxTable)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parquet.Read[T](f, f.Size)
}

// TableRows says how many rows a table of a run has, without reading them.
func TableRows(dir, name string) (int64, error) {
	f, err := input.Open(filepath.Join(dir, name+".parquet"), MaxTable)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	p, err := parquet.OpenFile(f, f.Size)
	if err != nil {
		return 0, err
	}
	return p.NumRows(), nil
}
