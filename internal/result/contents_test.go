package result

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTablesOfAnotherRun: a table of another run next to a summary is an error that names it, whatever its length.
// So is another run's summary or topology.
func TestTablesOfAnotherRun(t *testing.T) {
	root := t.TempDir()
	dir, other := written(t, root, "a", 1), written(t, root, "b", 2)
	file := func(dir, name string) []byte {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if string(file(dir, "flows.parquet")) != string(file(other, "flows.parquet")) {
		t.Fatal("equal tables are written differently")
	}
	p, err := Reserve(other, true)
	if err != nil {
		t.Fatal(err)
	}
	rows := []FlowRow{{Message: 2, From: "a", To: "b", Bytes: 9}, {Message: 3, From: "a", To: "c", Bytes: 9}}
	if err := p.Write(manifest(2), &Summary{Version: "x", Seed: 2}, &Tables{Flows: rows,
		Topology: &Topology{Kind: "rail"}}); err != nil {
		t.Fatal(err)
	}
	p.Release()
	m, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	if c := m.Contents["flows.parquet"]; c.Rows != 1 || c.Bytes != int64(len(file(dir, "flows.parquet"))) ||
		len(m.Contents) != len(m.Tables)+1 {
		t.Errorf("listed: %+v", m.Contents)
	}
	mine := map[string][]byte{}
	put := func(name string, b []byte) {
		t.Helper()
		mine[name] = file(dir, name)
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(what, name string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, name)) ||
			!strings.Contains(err.Error(), "of another run") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
	}
	put("flows.parquet", file(other, "flows.parquet"))
	_, err = ReadTable[FlowRow](dir, "flows")
	refused("another's table", "flows.parquet", err)
	_, err = TableRows(dir, "flows")
	refused("another's table, counted", "flows.parquet", err)
	if _, err := ReadTable[LinkRow](dir, "links"); err != nil {
		t.Errorf("its own table: %v", err)
	}
	same := bytes.Clone(mine["flows.parquet"])
	same[len(same)/2] ^= 1
	put("flows.parquet", same)
	_, err = ReadTable[FlowRow](dir, "flows")
	refused("a table as long", "flows.parquet", err)

	put("summary.json", file(other, "summary.json"))
	_, err = ReadSummary(dir)
	refused("another's summary", "summary.json", err)
	if _, err := ReadSummary(other); err != nil {
		t.Errorf("its own summary: %v", err)
	}
	put("topology.json", file(other, "topology.json"))
	refused("another's topology", "topology.json", CheckContent(m, dir, "topology.json"))
	put("summary.json", mine["summary.json"])
	if _, err := ReadSummary(dir); err != nil {
		t.Errorf("its own summary again: %v", err)
	}
}

// TestContentsOfEarlierVersions: a run.json that lists no contents refuses nothing.
func TestContentsOfEarlierVersions(t *testing.T) {
	dir := written(t, t.TempDir(), "r", 1)
	path := filepath.Join(dir, "run.json")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	delete(m, "contents")
	delete(m, "contents_sha256")
	b, _ = json.Marshal(m)
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSummary(dir); err != nil {
		t.Error(err)
	}
	if rows, err := ReadTable[FlowRow](dir, "flows"); err != nil || len(rows) != 1 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}
