package fitting

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"railyard/internal/calibrate"
	"railyard/internal/capture"
	"railyard/internal/fidelity"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/runner"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/unit"
)

const incastCluster = `name: inc
fabric: {kind: rail, hosts: 5, spines: 1, host_link: {rate: 200Gbps}}
server: {gpu: a100, gpus: 1, nics: 1}
workload: {traffic: {incast: {fan_in: 4, bytes: 20MB}}}
`

// captured simulates a scenario with changed values and returns a capture of 3 ms at the receiver.
func captured(t *testing.T, path string, set ...string) string {
	t.Helper()
	p, err := scenariofile.Plan(path, set, nil)
	if err != nil {
		t.Fatal(err)
	}
	run, err := runner.New(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	tap, err := run.Run.(fidelity.Capturer).Capture([]string{"host-1:nic1"}, 0, 3*unit.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	job := &runner.Runner{Plan: p, Run: run, Version: "test", Capture: tap}
	if err := job.Reserve(filepath.Join(t.TempDir(), "run"), false); err != nil {
		t.Fatal(err)
	}
	if _, goErr, err := job.Go(nil); goErr != nil || err != nil {
		t.Fatal(goErr, err)
	}
	return filepath.Join(job.Dir, "capture.pcapng")
}

// A capture at the receiver gives back the NICs' known delay and interval, and the written scenario has them. A
// second calibration from that scenario's capture finds no error.
func TestCaptures(t *testing.T) {
	t.Parallel()
	cluster, _, _ := strings.Cut(incastCluster, "workload:")
	plain := file(t, "plain.yaml", incastCluster)
	pcap := captured(t, plain, "cc.dcqcn.cnp_delay=1300ns", "cc.dcqcn.cnp_interval=7us")
	for name, path := range map[string]string{"with work": plain, "a cluster alone": file(t, "bare.yaml", cluster)} {
		q := &Question{Fabric: path, Capture: []string{pcap}, Aside: 3, Out: filepath.Join(t.TempDir(), "out.yaml")}
		r, b, err := q.Fitted(nil, quiet)
		if err == nil {
			r.Capture, err = q.Captures(quiet)
		}
		if err != nil {
			t.Fatal(name, err)
		}
		c := r.Capture
		if d := c.Delay.Median; d < 1.3 || d > 1.301 || c.Delay.Pairs != 4 || c.Unanswered > 0 {
			t.Errorf("%s: delay %+v", name, c)
		}
		if c.Interval == nil || c.Interval.Median < 7 || c.Interval.Median > 7.2 || c.Interval.Was != 4 {
			t.Errorf("%s: interval %+v", name, c.Interval)
		}
		if x := c.Errors.Aside; x == nil || x[0] < 1.29 || x[1] > 0.001 {
			t.Errorf("%s: residuals %+v", name, c.Errors)
		}
		if err := q.Write(b, r); err != nil {
			t.Fatal(err)
		}
		written := contents(t, q.Out)
		if !strings.Contains(written, "\n  cnp_delay: 1.3us\n  cnp_interval: 7.") ||
			!strings.Contains(written, "\n#   cnp_delay half of ") {
			t.Errorf("%s: %s", name, written)
		}
		if path != plain {
			continue
		}
		again := &Question{Fabric: q.Out, Capture: []string{captured(t, q.Out)}, Aside: 3}
		if c, err = again.Captures(quiet); err != nil || c.Errors.Fitted != [2]float64{} {
			t.Errorf("again: %v, %+v", err, c)
		}
	}
}

// An error is of the input.
func TestCapturesRefuses(t *testing.T) {
	t.Parallel()
	plain := file(t, "plain.yaml", incastCluster)
	calm := captured(t, plain, "workload.traffic.incast.fan_in=1")
	for _, c := range []struct {
		pcap string
		set  []string
		want string
	}{
		{calm, nil, "--capture: no packet is marked congestion experienced"},
		{captured(t, plain, "cc.dcqcn.cnp_delay=900us"), nil, "--capture: "},
		{file(t, "empty.pcap", ""), nil, "shorter than a file header"},
		{plain, nil, "not a pcap or pcapng file"},
		{t.TempDir(), nil, "directory"},
		{"none.pcap", nil, "no such file"},
		{"/dev/zero", nil, "not a regular file"},
		{calm, []string{"cc.algorithm=swift"}, "receivers send none: cc.algorithm is swift"},
		{captured(t, plain), []string{"cc.dcqcn.cnp_delay=1us"},
			"cc.dcqcn.cnp_delay: is 1us, and 0ps is measured: leave it out"},
	} {
		_, err := (&Question{Fabric: plain, Set: c.set, Capture: []string{c.pcap}, Aside: 3}).Captures(quiet)
		if err == nil || !strings.Contains(err.Error(), c.want) || field.All(err) == nil && !input.IsFault(err) {
			t.Errorf("want %s: %v", c.want, err)
		}
	}
}

// The delay of the block adds to that of cc, both in whole nanoseconds. Without an interval only the delay is
// found.
func TestTake(t *testing.T) {
	t.Parallel()
	r := &Capture{was: calibrate.Receiver{Delay: 1500 * unit.Nanosecond, Interval: 4 * unit.Microsecond},
		cal: scenario.Calibration{CNPDelay: 500 * unit.Nanosecond}} // cc has 1 us
	a := &calibrate.Answers{Why: "too few", Aside: 1, FittedWas: unit.Microsecond, HeldIs: 2 * unit.Microsecond,
		Samples: []calibrate.Answer{{Pair: 1, At: 7 * unit.Microsecond, Delay: 2 * unit.Microsecond},
			{At: 9 * unit.Microsecond, Held: true}}}
	a.Delay.Median, a.Delay.Values, a.Delay.Pairs = 2*unit.Microsecond+600, 3, 1
	if err := r.take(a, []calibrate.Marked{{Name: "a"}, {Name: "b"}}); err != nil {
		t.Fatal(err)
	}
	if r.cal.CNPDelay != unit.Microsecond+unit.Nanosecond || r.cal.CNPInterval != 0 || r.Interval != nil ||
		!slices.Equal(r.Notes, []string{"cnp_interval is not fitted: too few"}) {
		t.Errorf("%+v", r)
	}
	if !slices.Equal(r.Answers, []Answer{{"b", 7, 2, false}, {"a", 9, 0, true}}) {
		t.Errorf("%+v", r.Answers)
	}
	if got, want := r.Words(), []string{"median error of delays 1 us before, 0 us after (1 fitted)",
		"median error of delays 0 us before, 2 us after (1 held out)"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	a.Why, a.Interval.Median = "", 5*unit.Microsecond+400
	if err := r.take(a, []calibrate.Marked{{Name: "a"}, {Name: "b"}}); err != nil || len(r.Rows()) != 2 ||
		r.cal.CNPInterval != 5*unit.Microsecond {
		t.Errorf("%v, %+v", err, r)
	}
}

// The notes on a capture's defects name the capture.
func TestNotes(t *testing.T) {
	t.Parallel()
	r := &Capture{}
	r.note("a.pcap", &capture.Notices{})
	r.note("b.pcap", &capture.Notices{Strange: 2, Coarse: true, Stopped: 9, Damaged: "ends early"})
	want := []string{"b.pcap: 2 CNPs without an acknowledgement that identifies the queue pair",
		"b.pcap: time stamps have a resolution of 1 us",
		"b.pcap: read until packet 9: no more marks are kept", "b.pcap: ends early"}
	if !slices.Equal(r.Notes, want) {
		t.Errorf("%q, want %q", r.Notes, want)
	}
}

func TestSpreadWords(t *testing.T) {
	t.Parallel()
	s := spreadOf(&calibrate.Spread{Median: 3 * unit.Microsecond, Low: unit.Microsecond, High: 4123456, Values: 8,
		Pairs: 1}, 2*unit.Microsecond)
	if s.Was != 2 || s.Median != 3 {
		t.Errorf("%+v", s)
	}
	if got, want := s.Words(), "half of 8 values within 1–4.123 us, 1 queue pair"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
