package web

import (
	"testing"

	"railyard/internal/result"
)

// TestMessagesBehindOthers checks how long a message waits for earlier ones of its queue pair. Message 2 is posted
// at 20 and starts when message 1 is complete, at 90. Messages of other queue pairs and complete ones do not count.
func TestMessagesBehindOthers(t *testing.T) {
	rows := []result.FlowRow{{Message: 0, QP: 1, Bytes: 1, Posted: 0, Done: 15},
		{Message: 1, QP: 1, Bytes: 1, Posted: 10, Done: 90},
		{Message: 2, QP: 1, Bytes: 1, Posted: 20, Done: 100}, {Message: 3, QP: 2, Bytes: 1, Posted: 5, Done: 99}}
	r := made(100, map[string]any{})
	list := []Message{{FlowRow: rows[2]}}
	r.number(list, rows)
	if m := list[0]; m.Earlier != 1 || m.Behind != 70 || m.First != 2 {
		t.Errorf("%d earlier, %d behind them, first packet %d", m.Earlier, m.Behind, m.First)
	}
}
