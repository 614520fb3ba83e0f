package explain

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"railyard/internal/result"
	"railyard/unit"
)

// Pauses begin and end in pairs; one that has not ended lasts until now, and a cause is
// followed to the port that was congested without being paused.
func TestPauses(t *testing.T) {
	row := func(at int64, what string, port, cause int32) result.PauseRow {
		return result.PauseRow{At: at, What: what, Port: port, Cause: cause}
	}
	r := &reading{seen: &Observation{At: 100, Recorded: result.Tables{Pauses: []result.PauseRow{
		row(10, "pause", 1, 2), row(12, "xoff", 2, -1), row(15, "pause", 1, 3), row(20, "resume", 1, -1),
		row(22, "resume", 4, -1), row(14, "pause", 2, 5), row(30, "pause", 1, 2)}}}}
	p := r.pauseIntervals()
	want := []pauseSpan{{from: 10, to: 20, cause: 2}, {from: 30, to: 100, cause: 2}}
	same := func(a, b pauseSpan) bool { return a.from == b.from && a.to == b.to && a.cause == b.cause }
	if !slices.EqualFunc(p[1], want, same) || len(p[4]) != 0 {
		t.Errorf("port 1 was paused %v, port 4 %v", p[1], p[4])
	}
	if got := p.within(1, 20, 30); len(got) != 0 {
		t.Errorf("paused between 20 and 30: %v", got)
	}
	if got := p.within(1, 19, 31); len(got) != 2 {
		t.Errorf("paused from 19 to 31: %v", got)
	}
}

// Completion times by nearest rank: half and 99 % of them are no longer.
func TestFlowTimes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		times := rapid.SliceOfN(rapid.Int64Range(0, 1e12), 0, 300).Draw(rt, "times")
		f := flowTimes(slices.Clone(times))
		if len(times) == 0 {
			if f != (result.FlowTimes{}) {
				rt.Fatalf("of nothing: %+v", f)
			}
			return
		}
		notLonger := func(x int64) (n int) {
			for _, y := range times {
				if y <= x {
					n++
				}
			}
			return n
		}
		if f.Max != slices.Max(times) || f.Count != int64(len(times)) || f.Mean > f.Max ||
			!slices.Contains(times, f.P50) {
			rt.Fatalf("%+v of %v", f, times)
		}
		for share, x := range map[int]int64{50: f.P50, 99: f.P99} {
			if n := notLonger(x); 100*n < share*len(times) || 100*(notLonger(x-1)) >= share*len(times) {
				rt.Fatalf("%d of %d are no longer than %d", n, len(times), x)
			}
		}
	})
}

// Bytes become frames of at most an MTU; each costs its headers, preamble and gap.
func TestWireBytes(t *testing.T) {
	r := &reading{seen: &Observation{Rules: Rules{MTU: 4096}}}
	for bytes, packets := range map[unit.Bytes]unit.Bytes{0: 1, 1: 1, 4096: 1, 4097: 2, 1 << 20: 256} {
		least, most := bytes+packets*(62+20), bytes+3+packets*(62+20)+16
		if w := r.wireBytes(bytes); w < least || w > most {
			t.Errorf("%d bytes are %d on the wire, not %d to %d", bytes, w, least, most)
		}
	}
}
