package explain

import (
	"slices"

	"railyard/internal/result"
	"railyard/unit"
)

// maxCriticalRows bounds the table of the critical path. Beyond it the shortest pieces are merged; the path stays
// complete.
const maxCriticalRows = 200_000

// critical follows the operation that ended last back to the beginning of the run. The pieces are contiguous from
// the run's beginning to the step's end. A piece of an operation starts at the end of the operation that blocked
// it.
func (r *reading) critical(t *result.Tables, step unit.Time) {
	op, done := r.lastOf(r.all())
	if op < 0 {
		return
	}
	last := &r.dag.Ops[op]
	end := step
	var rows []result.CriticalRow
	add := func(row result.CriticalRow, from unit.Time) {
		if from = max(0, min(from, end)); from < end {
			row.Start, row.End = int64(from), int64(end)
			rows = append(rows, row)
			end = from
		}
	}
	if !done { // the rest of the step had not ended
		add(result.CriticalRow{Rank: last.Rank, Peer: -1, Class: result.Unfinished}, r.exec.End[op])
	}
	first := op
	for ; op >= 0; op = r.exec.Cause[op] {
		from, o := r.exec.Start[op], &r.dag.Ops[op]
		if before := r.exec.Cause[op]; before >= 0 {
			from = r.exec.End[before]
		}
		add(result.CriticalRow{Rank: o.Rank, Peer: o.Peer, Class: o.Class.String(), Ops: 1}, from)
		first = op
	}
	add(result.CriticalRow{Rank: r.dag.Ops[first].Rank, Peer: -1, Class: result.NotStarted}, 0)
	slices.Reverse(rows)
	t.Critical = result.MergeCritical(rows, maxCriticalRows)
}
