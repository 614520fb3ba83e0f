package result

// CriticalRow is a piece of the chain of operations that the end of the step waited for: critical.parquet. The
// pieces are contiguous, from the beginning of the run to the end of the step.
type CriticalRow struct {
	Start int64 `parquet:"start_ps" json:"start_ps"`
	End   int64 `parquet:"end_ps" json:"end_ps"`
	Rank  int32 `parquet:"rank" json:"rank"`
	Peer  int32 `parquet:"peer" json:"peer"` // peer of the longest of several transfers; -1: a computation
	// class of its operations; or not started, unfinished
	Class string `parquet:"class,dict" json:"class"`
	Ops   int32  `parquet:"operations" json:"operations"` // merged operations; 0: it is not an operation
}

// Classes of pieces without an operation.
const (
	NotStarted = "not started" // before the first operation began
	Unfinished = "unfinished"  // after the last operation that ended, in a run that did not end
)

func (c *CriticalRow) computes() bool { return c.Peer < 0 }

// MergeCritical merges neighbours of one rank and class. While there are more than most pieces, it merges
// neighbours whose total is no longer than a part of the path. Such a piece has rank, peer and class of its longest
// part. No time is lost: the pieces' sum stays.
func MergeCritical(rows []CriticalRow, most int) []CriticalRow {
	path := merge(rows, func(a, b *CriticalRow) bool {
		return a.Rank == b.Rank && a.Class == b.Class && a.computes() == b.computes()
	})
	if len(path) <= most || most < 1 {
		return path
	}
	// The total of any two remaining neighbours is longer than this, so at most most pieces remain.
	limit := 2*(path[len(path)-1].End-path[0].Start)/int64(most) + 1
	return merge(path, func(a, b *CriticalRow) bool { return b.End-a.Start <= limit })
}

// merge merges neighbours of the same kind.
func merge(rows []CriticalRow, alike func(a, b *CriticalRow) bool) []CriticalRow {
	out := make([]CriticalRow, 0, len(rows))
	longest := int64(0) // part of the last piece
	for i := range rows {
		x := &rows[i]
		if n := len(out); n > 0 && out[n-1].End == x.Start && alike(&out[n-1], x) {
			to := &out[n-1]
			if d := x.End - x.Start; d > longest {
				to.Rank, to.Peer, to.Class, longest = x.Rank, x.Peer, x.Class, d
			}
			to.End = x.End
			to.Ops += x.Ops
			continue
		}
		out = append(out, *x)
		longest = x.End - x.Start
	}
	return out
}
