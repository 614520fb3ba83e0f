package explain_test

import (
	"slices"
	"testing"

	"railyard/internal/explain"
	"railyard/internal/result"
)

// TestTablesCut compares the rows that a summary names for a table that was cut with those of the table in a run
// without a limit.
func TestTablesCut(t *testing.T) {
	const text = `
name: steps
fabric: {kind: rail-only, hosts: 2, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 2, nics: 2}
workload:
  training: {model: gpt3-125m, tp: 2, dp: 2, sequence: 256, micro_batch: 1, global_batch: 4, bucket: 25MB}
`
	_, s, all := runAll(t, text)
	if len(s.TablesCut) > 0 {
		t.Fatalf("cut: %v", s.TablesCut)
	}
	defer explain.LimitRows(2, 5)()
	_, s, some := runAll(t, text)
	want := []result.TableCut{{Table: "collectives", Rows: 2, Total: int64(len(all.Collectives))},
		{Table: "causes", Rows: int64(len(some.Causes))}, {Table: "ranks", Rows: 5, Total: int64(len(all.Ranks))}}
	if !slices.Equal(s.TablesCut, want) || len(some.Collectives) != 2 || len(some.Ranks) != 5 ||
		want[0].Total < 3 || want[2].Total < 6 {
		t.Errorf("cut: %v, want %v", s.TablesCut, want)
	}
}
