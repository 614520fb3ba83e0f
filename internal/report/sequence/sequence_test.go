package sequence

import (
	stdbytes "bytes"
	"fmt"
	"image/png"
	"regexp"
	"strings"
	"testing"

	"railyard/internal/result"
	"railyard/unit"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

// The chunks of a ring, followed along its arrows, give the complete sum of every chunk at every rank. Each arrow
// has exactly what its sender has by then.
func TestChunksAddUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, mostRing).Draw(rt, "ranks")
		c := result.CollectiveRow{Ranks: int32(n), Bytes: int64(n) * 1000, Start: 0, End: 1e9}
		var flows []result.FlowRow
		for round := range 2 * (n - 1) {
			for i := range n {
				flows = append(flows, result.FlowRow{From: fmt.Sprint("gpu-", i), To: fmt.Sprint("gpu-", (i+1)%n),
					Bytes: 1000, Done: int64(round)*1000 + 950,
					Posted: int64(round)*1000 + rapid.Int64Range(0, 900).Draw(rt, "late")})
			}
		}
		s := &Sequence{}
		if err := s.rounds(&c, lapsOf(&c, flows)); err != nil {
			rt.Fatal(err)
		}
		has := make([]map[string]map[int]bool, n) // by rank and chunk: the ranks whose share is in it
		for i := range has {
			has[i] = map[string]map[int]bool{}
			for k := range n {
				has[i][letter(k)] = map[int]bool{i: true}
			}
		}
		for _, x := range s.Steps {
			chunk, sum, _ := strings.Cut(strings.TrimPrefix(x.Label, "chunk "), ", ")
			want := n
			switch sum {
			case "whole sum":
			case "its own":
				want = 1
			default:
				fmt.Sscanf(sum, "sum of %d", &want)
			}
			if got := len(has[x.From][chunk]); got != want {
				rt.Fatalf("%s says %q of a chunk with %d shares", s.Lanes[x.From], x.Label, got)
			}
			for share := range has[x.From][chunk] {
				has[x.To][chunk][share] = true
			}
		}
		for i := range has {
			for chunk, shares := range has[i] {
				if len(shares) != n {
					rt.Fatalf("rank %d has %d shares of chunk %s in the end", i, len(shares), chunk)
				}
			}
		}
	})
}

// TestRingInTime checks that transfers are in order of time, that a transfer behind its rank's previous one begins with
// its end, and that the slowest one is the longest.
func TestRingInTime(t *testing.T) {
	c := result.CollectiveRow{Ranks: 3, Bytes: 3000, End: 9000}
	var flows []result.FlowRow
	at := []int64{0, 0, 0}
	for range 4 {
		for i, took := range []int64{100, 400, 100} { // rank 1 posts before its previous transfer is complete
			flows = append(flows, result.FlowRow{From: fmt.Sprint("gpu-", i), To: fmt.Sprint("gpu-", (i+1)%3),
				Bytes: 1000, Posted: at[i], Done: at[i] + took})
			at[i] += 300
		}
	}
	flows[7].Done += 50
	s := &Sequence{Slowest: -1}
	if err := s.rounds(&c, lapsOf(&c, flows)); err != nil {
		t.Fatal(err)
	}
	for i, x := range s.Steps[1:] {
		if x.At < s.Steps[i].At {
			t.Errorf("step %d begins at %d, after one at %d", i+1, x.At, s.Steps[i].At)
		}
	}
	x := s.Steps[s.Slowest]
	if x.At != 600 || x.Begin != 700 || x.Until != 1050 || s.Lanes[x.From] != "gpu-1" || s.Lanes[x.To] != "gpu-2" {
		t.Errorf("slowest %+v", x)
	}
	if len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "450 ps, 100 ps of it blocked") {
		t.Errorf("%q", s.Notes)
	}
	var svg stdbytes.Buffer
	if err := s.SVG(&svg); err != nil || !strings.Contains(svg.String(), "gpu-1 → gpu-2") {
		t.Errorf("%v: no row of the slowest rank", err)
	}
}

// A ring with a missing or misdirected transfer is not shown.
func TestNoRing(t *testing.T) {
	c := result.CollectiveRow{Ranks: 2, End: 1e9}
	whole := []result.FlowRow{{From: "a", To: "b"}, {From: "b", To: "a"}, {From: "a", To: "b"}, {From: "b", To: "a"}}
	if lapsOf(&c, whole) == nil {
		t.Fatal("a ring of two is none")
	}
	if lapsOf(&c, whole[1:]) != nil {
		t.Error("a ring without its first transfer passes")
	}
	whole[2].To = "c"
	if lapsOf(&c, whole) != nil {
		t.Error("a rank that sends to two passes")
	}
}

// TestRingsAtOnce: of two rings at the same time the one that ends with its collective is drawn. Messages of two
// queue pairs are one transfer of a round.
func TestRingsAtOnce(t *testing.T) {
	c := result.CollectiveRow{Ranks: 2, End: 90}
	var flows []result.FlowRow
	for round := range int64(2) {
		for _, x := range []string{"ab", "ba", "cd", "dc"} {
			for qp := range int32(2) {
				end := 40*(round+1) + int64(x[0]-'a') + int64(qp)
				flows = append(flows, result.FlowRow{From: x[:1], To: x[1:], QP: qp, Bytes: 5, Posted: 40 * round,
					Done: end})
			}
		}
	}
	laps := lapsOf(&c, flows)
	if len(laps) != 2 || laps[0].from != "c" || len(laps[0].sent) != 2 {
		t.Fatalf("%+v", laps)
	}
	if second := laps[0].sent[1]; second.Bytes != 10 || second.Done != 83 {
		t.Errorf("%+v", second)
	}
}

// TestNoRate checks the reason why a run has no samples of a rate: its fidelity or its congestion control.
func TestNoRate(t *testing.T) {
	for want, s := range map[string]*result.Summary{
		"fidelity reuse records no rates; simulate the run with --set fidelity=packet": {
			Fidelity: "reuse", Congestion: "DCQCN"},
		"congestion control NSCC has no rate: this sequence is of controls by rate": {
			Fidelity: "packet", Congestion: "NSCC"},
	} {
		if err := noRate(s, 0); err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A drawing has every lane and label, and both formats can be read.
func TestDraw(t *testing.T) {
	s := &Sequence{Title: "three", Notes: []string{"a note"}}
	s.add(0, 0, "alpha", "alpha", Here, "posts", "1 MB")
	s.add(1000, 2000, "alpha", "beta", Data, "WRITE Only", "PSN 7")
	s.add(int64(3*unit.Microsecond), int64(4*unit.Microsecond), "beta", "alpha", Answer, "ACK", "")
	var svg, img, text stdbytes.Buffer
	if err := s.SVG(&svg); err != nil {
		t.Fatal(err)
	}
	if err := s.PNG(&img); err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(&img); err != nil {
		t.Fatal(err)
	}
	s.Text(&text)
	for _, word := range []string{"three", "a note", "alpha", "beta", "posts", "1 MB", "WRITE Only", "PSN 7", "ACK"} {
		if !strings.Contains(svg.String(), ">"+word+"<") || !strings.Contains(text.String(), word) {
			t.Errorf("%q is missing", word)
		}
	}
}

// The message of a packet follows from the number of packets of earlier messages, and its last packet from its
// bytes. An empty message is one packet.
func TestPlace(t *testing.T) {
	r := &Run{Manifest: &result.Manifest{Resolved: map[string]string{"transport.mtu": "1024"}}}
	flows := []result.FlowRow{{QP: 1, Message: 9}, {QP: 0, Message: 1, Bytes: 2049, Posted: 5},
		{QP: 0, Message: 2, Posted: 6}, {QP: 0, Message: 0, Bytes: 1024}}
	first := uint32(psnMask) // the next PSN is 0
	for n, want := range []struct {
		message int64
		last    bool
	}{{0, true}, {1, false}, {1, false}, {1, true}, {2, true}} {
		p := &packetOf{Followed: &result.Followed{PSN: (first + uint32(n)) & psnMask, FirstPSN: &first}}
		if err := r.place(p, flows); err != nil || p.of.Message != want.message || p.last != want.last {
			t.Errorf("packet %d: %v, message %+v, last %v, want %+v", n, err, p.of, p.last, want)
		}
	}
	p := &packetOf{Followed: &result.Followed{PSN: 4, FirstPSN: &first}}
	if err := r.place(p, flows); err == nil {
		t.Error("a packet behind all messages has one")
	}
}

// TestFlowFidelity checks that a run by flows says what it did not simulate, instead of that none of it occurred.
func TestFlowFidelity(t *testing.T) {
	r := Run{Dir: t.TempDir(), Summary: &result.Summary{Fidelity: "flow"}}
	names, _ := Names()
	said := 0
	for _, name := range names {
		if name == "rank" || name == "ring" {
			continue
		}
		if _, err := r.Of(name); err != nil && strings.Contains(err.Error(), "are not simulated at flow fidelity") {
			said++
		}
	}
	if said != len(names)-2 { // all but the ranks and the ring
		t.Errorf("%d of %d sequences", said, len(names))
	}
}

// All text of a drawing is inside it: a long title, a long note, and what is written beside the outer lanes.
func TestDrawingHasRoom(t *testing.T) {
	long := strings.Repeat("state of both ends before the first packet ", 4)
	for _, s := range []*Sequence{
		{Title: long, Notes: []string{long + long}, Slowest: -1},
		{Title: "short", Chart: true, Slowest: -1},
	} {
		from, to := "a-host-with-a-long-name-1/gpu-11", "another-host-with-a-long-name-22/gpu-22"
		s.add(0, 1000, from, to, Data, "chunk A, its own", "")
		if !s.Chart {
			s.add(1000, 1000, to, to, Here, "x", long)
		}
		var svg stdbytes.Buffer
		if err := s.SVG(&svg); err != nil {
			t.Fatal(err)
		}
		width := vg.Length(0)
		fmt.Sscanf(svg.String()[strings.Index(svg.String(), "viewBox"):], "viewBox=\"0 0 %f", &width)
		text := regexp.MustCompile(`(?s)<text textLength="([0-9.]+)" lengthAdjust="spacingAndGlyphs" x="([-0-9.]+)"`)
		shift := vg.Length(0)
		if m := regexp.MustCompile(`translate\(([0-9.]+), 0\)`).FindStringSubmatch(svg.String()); m != nil {
			fmt.Sscan(m[1], &shift)
		}
		all := text.FindAllStringSubmatch(svg.String(), -1)
		if len(all) < 4 {
			t.Fatalf("%d texts", len(all))
		}
		for _, m := range all {
			var wide, x vg.Length
			fmt.Sscan(m[1]+" "+m[2], &wide, &x)
			if x += shift; x < 0 || x+wide > width {
				t.Errorf("text from %.0f to %.0f of %.0f", x, x+wide, width)
			}
		}
	}
}
