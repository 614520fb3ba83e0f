package result

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/parquet-go/parquet-go"

	"railyard/internal/input"
	"railyard/unit"
)

// Manifest is run.json.
type Manifest struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Seed        uint64            `json:"seed"`
	Scenario    string            `json:"scenario"`          // the file's contents
	Set         []string          `json:"set,omitempty"`     // overrides, as passed to --set
	Configs     map[string]string `json:"configs,omitempty"` // files that the scenario refers to, by name
	Resolved    map[string]string `json:"resolved"`          // every value the run used
	Complete    bool              `json:"complete"`          // the run ended, also by an outcome without result
	WallSeconds float64           `json:"wall_seconds"`
	Tables      []string          `json:"tables"`
	// files of this directory; only these are removed with it
	Files []string `json:"files"`
	// Contents lists the size and hash of the tables and topology.json. Digest is one value for all of them, which
	// summary.json also has.
	Contents map[string]Content `json:"contents,omitempty"`
	Digest   string             `json:"contents_sha256,omitempty"`
	Limits   []string           `json:"limits,omitempty"` // truncated tables, and their limits
}

// File is a further file of a run directory.
type File struct {
	Name  string
	Write func(io.Writer) error
}

// tableFile is a table as a file.
type tableFile struct {
	File
	rows int64
}

// files are the tables as files of a run directory.
func (t *Tables) files() []tableFile {
	files := []tableFile{table("flows", t.Flows), table("links", t.Links), table("ports", t.Ports),
		table("pauses", t.Pauses), table("pause_roots", t.PauseRoots), table("pause_flows", t.PauseHeld),
		table("ranks", t.Ranks), table("paths", t.Paths), table("qps", t.QPs), table("signals", t.Signals),
		table("collectives", t.Collectives), table("causes", t.Causes), table("critical", t.Critical)}
	if len(t.NICs) > 0 { // most runs store nothing
		files = append(files, table(NICsTable, t.NICs))
	}
	return files
}

// fill writes a run's files into a folder.
func fill(dir string, m *Manifest, s *Summary, t *Tables, further ...File) error {
	m.Tables, m.Files, m.Contents = nil, nil, map[string]Content{}
	var files []File
	rows := map[string]int64{"topology.json": 0} // row counts of the files whose content run.json lists
	for _, f := range t.files() {
		m.Tables = append(m.Tables, strings.TrimSuffix(f.Name, ".parquet"))
		files, rows[f.Name] = append(files, f.File), f.rows
	}
	files = append(files, File{"topology.json", asJSON(t.Topology)})
	files = append(files, further...)
	sum := *s
	files = append(files, File{"summary.json", asJSON(&sum)}, File{"run.json", asJSON(m)})
	for _, f := range files {
		if !ours(f.Name) {
			return fmt.Errorf("writing the run: %s is missing in the list of a run's files: a fault of Railyard", f.Name)
		}
		m.Files = append(m.Files, f.Name)
	}
	for _, f := range files {
		if f.Name == "summary.json" {
			m.Digest = digest(m.Contents)
			sum.Digest = m.Digest
		}
		n, listed := rows[f.Name]
		c := counted{hash: sha256.New()}
		err := writeFile(filepath.Join(dir, f.Name), func(w io.Writer) error {
			if !listed {
				return f.Write(w)
			}
			c.w = w
			return f.Write(&c)
		})
		if err != nil {
			return fmt.Errorf("writing the run: %w", err)
		}
		if listed {
			m.Contents[f.Name] = Content{Bytes: c.bytes, Rows: n, SHA256: hex.EncodeToString(c.hash.Sum(nil))}
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

func table[T any](name string, rows []T) tableFile {
	write := func(w io.Writer) error {
		p := parquet.NewGenericWriter[T](w, parquet.Compression(&parquet.Zstd))
		if _, err := p.Write(rows); err != nil {
			return err
		}
		return p.Close()
	}
	return tableFile{File{name + ".parquet", write}, int64(len(rows))}
}

// MaxJSON bounds run.json, summary.json and topology.json, MaxTable a table's file.
const (
	MaxJSON  = 64 << 20
	MaxTable = 512 << 20
)

// ReadSummary reads a run's summary.
func ReadSummary(dir string) (*Summary, error) {
	if at, err := os.Stat(dir); err == nil && !at.IsDir() {
		return nil, fmt.Errorf("%s is a file, expected a run directory", dir)
	}
	b, err := input.Read(filepath.Join(dir, "summary.json"), MaxJSON)
	if err != nil {
		return nil, err
	}
	s := &Summary{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", filepath.Join(dir, "summary.json"), typeless(err))
	}
	if s.Version == "" {
		return nil, fmt.Errorf("%s has no version: no run has written it", filepath.Join(dir, "summary.json"))
	}
	if err := checkSummary(s, dir); err != nil {
		return nil, err
	}
	s.LimitSavings() // not in runs of earlier versions
	return s, nil
}

// typeless returns an error of JSON without the types of the language.
func typeless(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%s: unexpected %s", wrong.Field[strings.LastIndex(wrong.Field, ".")+1:], wrong.Value)
	}
	return err
}

// ReadManifest reads a run's manifest.
func ReadManifest(dir string) (*Manifest, error) { return readManifest(dir) }

// ReadTable reads one table of a run.
func ReadTable[T any](dir, name string) (rows []T, err error) {
	err = open(dir, name, true, func(f *input.File, _ *parquet.File) (err error) {
		rows, err = parquet.Read[T](f, f.Size)
		return err
	})
	return rows, err
}

// TableRows returns the number of rows of a run's table without reading them.
func TableRows(dir, name string) (n int64, err error) {
	err = open(dir, name, false, func(_ *input.File, p *parquet.File) error {
		n = p.NumRows()
		return nil
	})
	return n, err
}

// rowsPerByte is more than any table of ours has: rows without a change cost a thousandth of a byte each. Readers
// allocate the number of rows that the file declares.
const rowsPerByte = 10_000

// footer checks that a table's footer, whose length precedes the last four bytes, fits the file. The library
// allocates it, up to 4 GiB, before it checks.
func footer(f *input.File) error {
	var tail [8]byte
	if f.Size < 12 {
		return fmt.Errorf("%d bytes are not table", f.Size)
	}
	if _, err := f.ReadAt(tail[:], f.Size-8); err != nil {
		return err
	}
	if n := binary.LittleEndian.Uint32(tail[:4]); int64(n) > f.Size-12 {
		return fmt.Errorf("%d bytes give a footer length of %d", f.Size, n)
	}
	return nil
}

// open opens a table and compares its size with its entry in run.json and, if it is read whole, its hash. The
// library trusts the declared sizes of a file's parts. Damaged files can therefore cause a panic, which is
// converted to an error here.
func open(dir, name string, whole bool, read func(*input.File, *parquet.File) error) (err error) {
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
	if c, ok := listed(dir, name+".parquet"); ok {
		if err := c.same(path, f, whole); err != nil {
			return err
		}
	}
	if err := footer(f); err != nil {
		return fmt.Errorf("%s is damaged: %w", path, err)
	}
	p, err := parquet.OpenFile(f, f.Size)
	if err != nil {
		return fmt.Errorf("%s is damaged: %w", path, err)
	}
	if n := p.NumRows(); n < 0 || n > f.Size*rowsPerByte {
		return fmt.Errorf("%s is damaged: %s should be %s", path, unit.Plural(f.Size, "byte"),
			unit.Plural(n, "row"))
	}
	if err := read(f, p); err != nil {
		return fmt.Errorf("%s is damaged: %w", path, err)
	}
	return nil
}

// Variant is one setting of a comparison with its runs, one per seed.
type Variant struct {
	Label  string
	Runs   []*Summary
	Failed string // reason why there is none, or not one per seed

	Over        string // estimated memory of the training if it exceeds the GPUs' memory; "": it fits
	Switch, NIC string // required hardware support of its congestion control, if compared
}

// Unfit is a variant that was not run, and why.
type Unfit struct{ Label, Why string }

// IsDir reports whether a path is a directory: a run, in places that accept a scenario file or a run.
func IsDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}
