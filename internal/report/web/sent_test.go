package web

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"railyard/internal/result"
)

// area is the bytes below a sending rate.
func area(s Series) (bytes float64) {
	for i := range len(s.At) - 1 {
		bytes += s.Values[i] * float64(s.At[i+1]-s.At[i]) / 8e12
	}
	return bytes
}

// A sending rate is the bytes that were sent: the area below it is that of the queue pair's messages and retransmitted
// packets within 5 %, and it lies between the start of its first message and the end of its last one. The rate that
// congestion control allows, drawn from line rate at its first sample, was 3 MB of a message of 2 MB, and lasted beyond
// the end.
func TestSentIsWhatMessagesHave(t *testing.T) {
	s, incast := server(t, "")
	runs := map[string]string{"incast": incast}
	for name, text := range map[string]string{"three": three, "step": step, "flow": step + "fidelity: flow\n"} {
		j, err := s.jobs.start(request{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		runs[name] = await(t, s, j.ID).Run
	}
	for name, run := range runs {
		sentOf(t, name, filepath.Join(s.Root, run))
	}
}

func sentOf(t *testing.T, name, dir string) {
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	flows, err := table[result.FlowRow](r, "flows")
	if err != nil {
		t.Fatal(err)
	}
	qps, err := table[result.QPRow](r, "qps")
	if err != nil {
		t.Fatal(err)
	}
	for i := range qps[:min(len(qps), 48)] {
		bytes, first, last := int64(0), int64(math.MaxInt64), int64(0)
		for _, f := range flows {
			if f.QP == int32(i) {
				bytes, first, last = bytes+f.Bytes, min(first, f.Posted), max(last, f.Done)
			}
		}
		bytes += 4096 * qps[i].Retrans
		var v QPView
		viewed(t, r, "qp", fmt.Sprintf("id=%d", i), &v)
		n := len(v.Sent.At)
		if bytes == 0 || n == 0 {
			if bytes > 0 {
				t.Errorf("%s, queue pair %d: no rate of %d bytes", name, i, bytes)
			}
			continue
		}
		if got := area(v.Sent) / float64(bytes); math.Abs(got-1) > 0.05 {
			t.Errorf("%s, queue pair %d: %.3f times its %d bytes", name, i, got, bytes)
		}
		if v.Sent.At[0] < first || v.Sent.At[n-1] > last || v.Sent.Values[n-1] != 0 {
			t.Errorf("%s, queue pair %d: from %d to %d of %d to %d", name, i, v.Sent.At[0], v.Sent.At[n-1], first, last)
		}
		for _, x := range v.Signals {
			if k := len(x.At); k > 0 && x.At[k-1] > last {
				t.Errorf("%s, queue pair %d: %s at %d, after the end %d", name, i, x.Signal, x.At[k-1], last)
			}
		}
	}
}
