package result

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// A table that an older version wrote without a column is read, the column empty.
func TestOlderTable(t *testing.T) {
	type older struct {
		Rank  int32  `parquet:"rank"`
		Start int64  `parquet:"start_ps"`
		End   int64  `parquet:"end_ps"`
		Class string `parquet:"class,dict"`
		Name  string `parquet:"name,dict"`
	}
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "ranks.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := parquet.Write(f, []older{{3, 10, 20, "forward", "layer"}}); err != nil {
		t.Fatal(err)
	}
	rows, err := ReadTable[RankRow](dir, "ranks")
	if err != nil || len(rows) != 1 || rows[0] != (RankRow{Rank: 3, Start: 10, End: 20, Class: "forward",
		Name: "layer"}) {
		t.Errorf("%+v, %v", rows, err)
	}
}
