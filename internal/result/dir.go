package result

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"railyard/internal/input"
	"railyard/unit"

	"github.com/parquet-go/parquet-go"
)

// Manifest is run.json.
type Manifest struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Seed        uint64            `json:"seed"`
	Scenario    string            `json:"scenario"`          // the file's text
	Configs     map[string]string `json:"configs,omitempty"` // texts of switch configurations, by file
	Resolved    map[string]string `json:"resolved"`          // every value the run used
	Complete    bool              `json:"complete"`          // the run ended, also by an outcome without result
	WallSeconds float64           `json:"wall_seconds"`
	Tables      []string          `json:"tables"`
	// of this directory; no others are removed with it
	Files  []string `json:"files"`
	Limits []string `json:"limits,omitempty"` // what was cut short, and where
}

// File is a further file of a run directory.
type File struct {
	Name  string
	Write func(io.Writer) error
}

// files are the tables as files of a run directory.
func (t *Tables) files() []File {
	return []File{{"flows.parquet", table(t.Flows)}, {"links.parquet", table(t.Links)},
		{"ports.parquet", table(t.Ports)},
		{"pauses.parquet", table(t.Pauses)}, {"pause_roots.parquet", table(t.PauseRoots)},
		{"pause_flows.parquet", table(t.PauseHeld)}, {"ranks.parquet", table(t.Ranks)},
		{"paths.parquet", table(t.Paths)},
		{"qps.parquet", table(t.QPs)}, {"signals.parquet", table(t.Signals)},
		{"collectives.parquet", table(t.Collectives)}, {"causes.parquet", table(t.Causes)},
		{"critical.parquet", table(t.Critical)}}
}

// fill writes a run's files into a folder.
func fill(dir string, m *Manifest, s *Summary, t *Tables, further ...File) error {
	m.Tables, m.Files = nil, nil
	files := t.files()
	for _, f := range files {
		m.Tables = append(m.Tables, strings.TrimSuffix(f.Name, ".parquet"))
	}
	files = append(files, File{"topology.json", asJSON(t.Topology)})
	files = append(files, further...)
	files = append(files, File{"summary.json", asJSON(s)}, File{"run.json", asJSON(m)})
	for _, f := range files {
		if !ours(f.Name) {
			return fmt.Errorf("writing the run: %s is missing in the list of a run's files: a fault of "+
				"Railyard", f.Name)
		}
		m.Files = append(m.Files, f.Name)
	}
	for _, f := range files {
		if err := writeFile(filepath.Join(dir, f.Name), f.Write); err != nil {
			return fmt.Errorf("writing the run: %w", err)
		}
	}
	return nil
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

func asBytes(b []byte) func(io.Writer) error {
	return func(w io.Writer) error { _, err := w.Write(b); return err }
}

func asJSON(v any) func(io.Writer) error {
	return func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(v)
	}
}

func table[T any](rows []T) func(io.Writer) error {
	return func(w io.Writer) error {
		p := parquet.NewGenericWriter[T](w, parquet.Compression(&parquet.Zstd))
		if _, err := p.Write(rows); err != nil {
			return err
		}
		return p.Close()
	}
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
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", filepath.Join(dir, "summary.json"), err)
	}
	if s.Version == "" {
		return nil, fmt.Errorf("%s says no version: no run has written it",
			filepath.Join(dir, "summary.json"))
	}
	return s, nil
}

// ReadManifest reads what a run was of.
func ReadManifest(dir string) (*Manifest, error) { return readManifest(dir) }

// ReadTable reads one table of a run.
func ReadTable[T any](dir, name string) (rows []T, err error) {
	err = open(dir, name, func(f *input.File, _ *parquet.File) (err error) {
		rows, err = parquet.Read[T](f, f.Size)
		return err
	})
	return rows, err
}

// TableRows says how many rows a table of a run has, without reading them.
func TableRows(dir, name string) (n int64, err error) {
	err = open(dir, name, func(_ *input.File, p *parquet.File) error {
		n = p.NumRows()
		return nil
	})
	return n, err
}

// rowsPerByte is more than any table of ours has: rows without a change cost a
// thousandth of a byte each. Whoever reads makes room for as many as the file says.
const rowsPerByte = 10_000

// footer makes sure that a table's footer, whose length stands before the last four bytes, fits the
// file: the library makes room for it, up to 4 GiB, before it looks.
func footer(f *input.File) error {
	var tail [8]byte
	if f.Size < 12 {
		return fmt.Errorf("%d bytes are no table", f.Size)
	}
	if _, err := f.ReadAt(tail[:], f.Size-8); err != nil {
		return err
	}
	if n := binary.LittleEndian.Uint32(tail[:4]); int64(n) > f.Size-12 {
		return fmt.Errorf("%d bytes say that their footer is %d long", f.Size, n)
	}
	return nil
}

// open opens a table. The library trusts what a file says of its own parts, so what is damaged
// can end it in a panic, which is an error here.
func open(dir, name string, read func(*input.File, *parquet.File) error) (err error) {
	path := filepath.Join(dir, name+".parquet")
	f, err := input.Open(path, MaxTable)
	if err != nil {
		return err
	}
	defer f.Close()
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("%s is damaged: %v", path, x)
		}
	}()
	if err := footer(f); err != nil {
		return fmt.Errorf("%s is damaged: %w", path, err)
	}
	p, err := parquet.OpenFile(f, f.Size)
	if err != nil {
		return fmt.Errorf("%s is damaged: %w", path, err)
	}
	if n := p.NumRows(); n < 0 || n > f.Size*rowsPerByte {
		return fmt.Errorf("%s is damaged: %s say that they are %s", path, unit.Plural(f.Size, "byte"),
			unit.Plural(n, "row"))
	}
	if err := read(f, p); err != nil {
		return fmt.Errorf("%s is damaged: %w", path, err)
	}
	return nil
}
