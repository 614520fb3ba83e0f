package report_test

import (
	"strings"
	"testing"

	"railyard/internal/report"
	"railyard/internal/result"
	"railyard/internal/story"
)

// A packet's path as printed: one that was marked and trimmed, its retransmission, one dropped at a full queue, one
// in flight at the run's end, and one that was never sent.
func TestFollowedPages(t *testing.T) {
	us := func(x float64) int64 { return ms(x / 1000) }
	way := func(from float64) []result.Hop {
		return []result.Hop{{Name: "host-1:nic1 → rail-1", Left: us(from)},
			{Name: "rail-1:Eth5 → spine-1", Came: us(from + .1), Ready: us(from + .6), Found: 84_512,
				Left: us(from + 2.3)},
			{Name: "spine-1:Eth2 → rail-2", Came: us(from + 2.4), Ready: us(from + 2.9),
				Left: us(from + 2.9)}}
	}
	trimmed, arrived := way(10), way(40)
	trimmed[1].Marked, trimmed[2].Marked, trimmed[2].Trimmed = true, true, true
	arrived[1].Paused = true
	var b strings.Builder
	report.Followed(&b, &result.Followed{Asked: "0/+17", QP: 0, PSN: 16147974, From: "host-1/nic-1",
		To: "host-4/nic-2", More: 3, Copies: []result.Copy{
			{Kind: "WRITE Only", Bytes: 4178, Hops: trimmed, End: "arrived", EndAt: us(13.1),
				EndedAt: "host-4"},
			{Kind: "WRITE Only", Again: true, Bytes: 4178, Hops: arrived, End: "arrived", EndAt: us(43.1),
				EndedAt: "host-4"},
			{Kind: "WRITE Only", Again: true, Bytes: 4178, Hops: way(90)[:1], End: "dropped", EndAt: us(90.6),
				EndedAt: "rail-1:Eth5 → spine-1"},
			{Kind: "WRITE Only", Again: true, Bytes: 4178, Hops: way(95)[:1], End: "dropped", EndAt: us(95.6),
				EndedAt: "rail-1:Eth5 → spine-1"},
			{Kind: "ACKNOWLEDGE", Bytes: 70, Hops: way(99)[:2], End: "under way"}}})
	report.Followed(&b, &result.Followed{Asked: "9/5", QP: 9, PSN: 5, From: "host-2/nic-1",
		To: "host-4/nic-1"})
	report.Followed(&b, &result.Followed{Asked: "3/+40", QP: 3, PSN: 40})
	for _, line := range strings.Split(b.String(), "\n") {
		if len([]rune(line)) > 100 {
			t.Errorf("%d columns: %s", len([]rune(line)), line)
		}
	}
	story.Check(t, "followed", b.String())
}
