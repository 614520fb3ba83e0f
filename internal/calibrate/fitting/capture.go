package fitting

import (
	"fmt"
	"io"
	"strings"

	"railyard/cc"
	"railyard/internal/calibrate"
	"railyard/internal/capture"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/unit"
)

// Capture holds the response of receivers to marks, from captures.
type Capture struct {
	Packets    int64    `json:"packets"`
	Marks      int      `json:"marks"`
	CNPs       int      `json:"cnps"`
	Openings   int      `json:"openings"`   // marks for which a CNP is due, whatever preceded them
	Unanswered int      `json:"unanswered"` // of these
	Delay      Spread   `json:"cnp_delay"`
	Interval   *Spread  `json:"cnp_interval,omitempty"`
	Errors     Off      `json:"residuals_us"`
	Answers    []Answer `json:"answers"`
	Notes      []string `json:"notes,omitempty"`

	was, found calibrate.Receiver
	cal        scenario.Calibration
}

// Off is the median difference between delays and the simulator's delay, uncalibrated and calibrated.
type Off struct {
	Fitted [2]float64  `json:"fitted"`
	Aside  *[2]float64 `json:"aside,omitempty"`
	aside  int
}

// Spread is the median of values, with their quartiles.
type Spread struct {
	Was    float64 `json:"was_us"`
	Median float64 `json:"median_us"`
	Low    float64 `json:"quarter_below_us"`
	High   float64 `json:"quarter_above_us"`
	Values int     `json:"values"`
	Pairs  int     `json:"queue_pairs"`
}

// Answer is the delay of one CNP.
type Answer struct {
	Pair  string  `json:"queue_pair"`
	At    float64 `json:"at_us"`
	Delay float64 `json:"delay_us"`
	Aside bool    `json:"aside"`
}

// Captures finds out how the receivers of the captures answer marks.
func (c *Question) Captures(progress func(share float64, label string)) (*Capture, error) {
	r := &Capture{}
	if err := r.receiver(c); err != nil {
		return nil, err
	}
	var pairs []calibrate.Marked
	for _, path := range c.Capture {
		n, err := notices(progress, path)
		if err != nil {
			return nil, err
		}
		r.Packets += n.Packets
		r.note(path, n)
		for _, p := range n.Pairs {
			pairs = append(pairs, calibrate.Marked(p))
		}
	}
	a, err := calibrate.Answering(pairs, r.was, c.Aside)
	if err != nil {
		return nil, input.Fault(fmt.Errorf("--capture: %w", err))
	}
	return r, r.take(a, pairs)
}

func notices(progress func(share float64, label string), path string) (*capture.Notices, error) {
	f, err := capture.Open(path)
	if err != nil {
		return nil, input.Fault(err)
	}
	defer f.Close()
	n, err := capture.Note(f, func(n int64) { progress(f.Share(), unit.Plural(n, "packet")) })
	if err != nil {
		return nil, input.Fault(fmt.Errorf("%s: %w", path, err))
	}
	return n, nil
}

// receiver reads the scenario's settings.
func (r *Capture) receiver(c *Question) error {
	doc, err := scenariofile.Read(c.Fabric, c.Set)
	if err != nil {
		return err
	}
	network, err := doc.Network(scenariofile.Beside(c.Fabric))
	if err != nil {
		return input.Fault(err)
	}
	for _, h := range network.Graph.Hosts { // independent of the workload: NICs are measured, not jobs
		gpu := network.Graph.Nodes[h].Name + "/gpu-1"
		rest := scenario.Op{ID: "rest", GPU: gpu, Compute: unit.Microsecond}
		doc.Instead(scenario.Workload{Ops: []scenario.Op{rest}}, nil)
		break
	}
	p, err := doc.Resolve(scenariofile.Beside(c.Fabric))
	if err != nil {
		return input.Fault(err)
	}
	if doc.File.Calibration != nil {
		r.cal = *doc.File.Calibration
	}
	for _, s := range p.Services {
		if s.CC.CNPGap != nil && s.Carried == nil {
			r.was = calibrate.Receiver{Delay: cc.Value[unit.Time](s.Values, "cnp_delay"),
				Interval: s.CC.CNPGap(s.Values)}
			return nil
		}
	}
	return field.New("--capture", "contains CNPs, and the scenario's receivers send none: cc.algorithm is %s",
		p.Default().CC.Name)
}

// note records faults of a capture.
func (r *Capture) note(path string, n *capture.Notices) {
	say := func(format string, args ...any) { r.Notes = append(r.Notes, path+": "+fmt.Sprintf(format, args...)) }
	if n.Strange > 0 {
		say("%s without an acknowledgement that identifies the queue pair", unit.Plural(n.Strange, "CNP"))
	}
	if n.Coarse {
		say("time stamps have a resolution of 1 us")
	}
	if n.Stopped > 0 {
		say("read until packet %d: no more marks are kept", n.Stopped)
	}
	if n.Damaged != "" {
		say("%s", n.Damaged)
	}
}

// take adopts the result; the block's delay is added to that of cc.
func (r *Capture) take(a *calibrate.Answers, pairs []calibrate.Marked) error {
	r.Marks, r.CNPs, r.Openings, r.Unanswered = a.Marks, a.CNPs, a.Openings, a.Unanswered
	r.Delay = spreadOf(&a.Delay, a.Was.Delay)
	own := r.was.Delay - r.cal.CNPDelay
	r.found = calibrate.Receiver{Delay: a.Delay.Median, Interval: r.was.Interval}
	if r.found.Delay < own {
		return field.New("cc.dcqcn.cnp_delay", "is %v, and %v is measured: leave it out", own, r.found.Delay)
	}
	r.cal.CNPDelay = (r.found.Delay - own + unit.Nanosecond/2) / unit.Nanosecond * unit.Nanosecond
	if a.Why == "" {
		x := spreadOf(&a.Interval, a.Was.Interval)
		r.Interval = &x
		r.cal.CNPInterval = (a.Interval.Median + unit.Nanosecond/2) / unit.Nanosecond * unit.Nanosecond
		r.found.Interval = r.cal.CNPInterval
	} else {
		r.Notes = append(r.Notes, "cnp_interval is not fitted: "+a.Why)
	}
	r.Errors.Fitted = [2]float64{a.FittedWas.Micros(), a.FittedIs.Micros()}
	if r.Errors.aside = a.Aside; a.Aside > 0 {
		r.Errors.Aside = &[2]float64{a.HeldWas.Micros(), a.HeldIs.Micros()}
	}
	for _, s := range a.Samples {
		r.Answers = append(r.Answers, Answer{pairs[s.Pair].Name, s.At.Micros(),
			s.Delay.Micros(), s.Held})
	}
	return nil
}

func spreadOf(s *calibrate.Spread, was unit.Time) Spread {
	return Spread{was.Micros(), s.Median.Micros(), s.Low.Micros(), s.High.Micros(), s.Values,
		s.Pairs}
}

// put adds the results to a calibration.
func (r *Capture) put(c *scenario.Calibration) {
	if r != nil {
		c.CNPDelay, c.CNPInterval = r.cal.CNPDelay, r.cal.CNPInterval
	}
}

// comments describe the residuals in a written scenario.
func (r *Capture) comments(w io.Writer) {
	if r == nil {
		return
	}
	fmt.Fprintf(w, "# CNPs: %s\n", strings.Join(r.Words(), "; "))
	for _, x := range r.Rows() {
		fmt.Fprintf(w, "#   %s %s\n", x.Name, x.Words())
	}
}

// Named is a value with its spread.
type Named struct {
	Name string
	*Spread
}

// Rows returns the results by name.
func (r *Capture) Rows() []Named {
	v := []Named{{"cnp_delay", &r.Delay}}
	if r.Interval != nil {
		v = append(v, Named{"cnp_interval", r.Interval})
	}
	return v
}

// Words describes the range of the middle half of the values.
func (s *Spread) Words() string {
	return fmt.Sprintf("half of %d values within %.4g–%.4g us, %s", s.Values, s.Low, s.High,
		unit.Plural(s.Pairs, "queue pair"))
}

// Words describe the errors of the delays.
func (r *Capture) Words() (out []string) {
	say := func(of string, n int, x [2]float64) {
		out = append(out, fmt.Sprintf("median error of delays %.4g us before, %.4g us after (%d %s)",
			x[0], x[1], n, of))
	}
	say("fitted", len(r.Answers)-r.Errors.aside, r.Errors.Fitted)
	if r.Errors.Aside != nil {
		say("held out", r.Errors.aside, *r.Errors.Aside)
	}
	return out
}
