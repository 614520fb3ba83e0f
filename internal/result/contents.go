package result

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"railyard/internal/input"
	"railyard/unit"
)

// Content is the digest of a file of a run: run.json lists it, and readers of the file compare. A table of another
// run next to a summary is therefore detected.
type Content struct {
	Bytes  int64  `json:"bytes"`
	Rows   int64  `json:"rows,omitempty"` // of a table
	SHA256 string `json:"sha256"`
}

// digest is one value for all contents, equal for equal runs of one version.
func digest(all map[string]Content) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(h, "%s %s\n", name, all[name].SHA256)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// counted counts and hashes the bytes written to a file.
type counted struct {
	w     io.Writer
	hash  hash.Hash
	bytes int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.bytes += int64(n)
	c.hash.Write(b[:n])
	return n, err
}

// listed returns run.json's entry for a file. ok is false without one: for runs of earlier versions, or without
// run.json, which another check reports.
func listed(dir, file string) (c Content, ok bool) {
	m, err := readManifest(dir)
	if err != nil {
		return c, false
	}
	c, ok = m.Contents[file]
	return c, ok
}

// foreign is the error of a file that differs from run.json's list.
func foreign(path, found, want string) error {
	return fmt.Errorf("%s is damaged, or of another run: found %s, run.json lists %s; run the scenario again", path,
		found, want)
}

// same compares a file with its entry in run.json. whole: also its hash.
func (c *Content) same(path string, f *input.File, whole bool) error {
	if f.Size != c.Bytes {
		return foreign(path, unit.Plural(f.Size, "byte"), fmt.Sprint(c.Bytes))
	}
	if !whole {
		return nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, f.Size)); err != nil {
		return err
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != c.SHA256 {
		return foreign(path, "SHA-256 "+sum[:12], c.SHA256[:min(12, len(c.SHA256))])
	}
	return nil
}

// CheckContent compares a file of a run with its entry in the manifest, if there is one.
func CheckContent(m *Manifest, dir, file string) error {
	c, ok := m.Contents[file]
	if !ok {
		return nil
	}
	path := filepath.Join(dir, file)
	f, err := input.Open(path, MaxTable)
	if err != nil {
		return err
	}
	defer f.Close()
	return c.same(path, f, true)
}

// CheckSummary compares a run's summary with its manifest: both have the digest of the same tables.
func CheckSummary(m *Manifest, s *Summary, dir string) error {
	if m.Digest == "" || m.Digest == s.Digest {
		return nil
	}
	return fmt.Errorf("%s is damaged, or of another run than its run.json; run the scenario again",
		filepath.Join(dir, "summary.json"))
}

// checkSummary is CheckSummary for a summary whose manifest may be missing.
func checkSummary(s *Summary, dir string) error {
	m, err := readManifest(dir)
	if err != nil {
		return nil
	}
	return CheckSummary(m, s, dir)
}

// CheckSizes returns an error that names the first file of a run, by name, that is missing or whose size differs
// from its manifest.
func CheckSizes(m *Manifest, dir string) error {
	for _, name := range slices.Sorted(maps.Keys(m.Contents)) {
		path, want := filepath.Join(dir, name), m.Contents[name].Bytes
		switch at, err := os.Stat(path); {
		case err != nil:
			return foreign(path, "no file", fmt.Sprint(want)+" bytes")
		case at.Size() != want:
			return foreign(path, unit.Plural(at.Size(), "byte"), fmt.Sprint(want))
		}
	}
	return nil
}
