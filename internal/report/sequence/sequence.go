// Package sequence describes parts of a run as sequence diagrams: senders, receivers, contents and times. A
// [Sequence] has lanes (GPUs, NICs and switches) and steps between them, each from a table of the run. Only real
// events are drawn. [Names] lists the sequences, and [Run.Of] builds one. [Sequence.Text] prints it; [Sequence.SVG]
// and [Sequence.PNG] draw it.
package sequence

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/result"
	"railyard/unit"
)

// Kind is the kind of a step, which determines its colour.
type Kind string

// Kinds of steps.
const (
	Data   Kind = "data"
	Answer Kind = "answer" // ACK, NAK, CNP
	Mark   Kind = "mark"   // ECN, and what congestion control does
	Pause  Kind = "pause"
	Lost   Kind = "lost"
	Here   Kind = "here" // an event of one lane
)

// Step leads from one lane to another, or happens at one.
type Step struct {
	At     int64  `json:"at_ps"`
	Begin  int64  `json:"begin_ps"` // of a bar: end of the lane's previous one, if At is earlier
	Until  int64  `json:"until_ps"` // equal: without duration
	From   int    `json:"from"`     // a lane
	To     int    `json:"to"`
	Kind   Kind   `json:"kind"`
	Label  string `json:"label"`
	Detail string `json:"detail"`
	When   string `json:"when"`  // time as printed
	Group  int    `json:"group"` // of a bar: chunk, which determines the colour
}

// blocked reports whether a bar waits for its lane's previous one for more than 1 % of its time.
func (x *Step) blocked() bool { return 100*(x.Begin-x.At) > x.Until-x.At }

// Sequence is a diagram.
type Sequence struct {
	Name     string   `json:"name"`
	Shows    string   `json:"shows"`
	Title    string   `json:"title"`
	Lanes    []string `json:"lanes"`
	Steps    []Step   `json:"steps"`
	Notes    []string `json:"notes"`    // further remarks
	Timeless bool     `json:"timeless"` // steps have an order and no times
	Chart    bool     `json:"chart"`    // steps are bars on a time axis, in rows of their senders
	Slowest  int      `json:"slowest"`  // step of a chart that takes longest; -1: none
	QP       int32    `json:"qp"`       // queue pair of these packets; -1: of several or none
	Port     int32    `json:"port"`     // port that marks them; -1: none
}

// lane returns the lane of a name; a new name creates one.
func (s *Sequence) lane(name string) int {
	if i := slices.Index(s.Lanes, name); i >= 0 {
		return i
	}
	s.Lanes = append(s.Lanes, name)
	return len(s.Lanes) - 1
}

// add adds a step.
func (s *Sequence) add(at, until int64, from, to string, kind Kind, label, detail string) {
	s.Steps = append(s.Steps, Step{At: at, Until: until, From: s.lane(from), To: s.lane(to), Kind: kind,
		Label: label, Detail: detail})
}

// when formats the time of a step. It is relative to the first packet if three digits would not distinguish the
// times.
func (s *Sequence) when(x *Step) string {
	first := slices.IndexFunc(s.Steps, func(y Step) bool { return y.Kind != Here })
	if s.Timeless {
		return ""
	}
	if first >= 0 {
		if base := s.Steps[first].At; x.At > base && x.At-base < base/10 {
			return "+" + dur(x.At-base)
		}
	}
	return dur(x.At)
}

// Run is a run directory with the data for sequences.
type Run struct {
	Dir      string
	Manifest *result.Manifest
	Summary  *result.Summary
	Topology *result.Topology
}

type run = *Run

// mostRows is the maximum size of tables that are read.
const mostRows = 4_000_000

// table reads a table of the run.
func table[T any](r run, name string) ([]T, error) {
	if n, err := result.TableRows(r.Dir, name); err == nil && n > mostRows {
		return nil, fmt.Errorf("%s.parquet has %d rows; sequences are of runs with at most %d", name, n, mostRows)
	}
	rows, err := result.ReadTable[T](r.Dir, name)
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// kind is one of the sequences: its title and its constructor.
type kind struct {
	name, shows string
	make        func(run, *Sequence) error
	needs       string // what flow fidelity does not simulate; "": nothing of it
}

var kinds = []kind{
	{"rank", "from rank to GPU, NIC and rail switch", ranks, ""},
	{"setup", "state that the two ends of a queue pair exchange", setup, "packets"},
	{"packet", "a packet from GPU to GPU, switch by switch", packet, "packets"},
	{"hosts", "a message inside both servers: copies by the kernel, or none", hosts, "packets"},
	{"ring", "chunks on their way around a ring all-reduce", ring, ""},
	{"mark", "from CE mark to CNP to a lower rate", marks, "ECN marks"},
	{"pause", "how a PFC pause spreads upstream", pauses, "PFC pauses"},
	{"nak", "a lost packet, the NAK, and the retransmission", naks, "drops"},
	{"completion", "from the last packet of a message to the next one", completion, "packets"},
}

// Names lists the names of sequences, and a description of each.
func Names() (names, shows []string) {
	for _, k := range kinds {
		names, shows = append(names, k.name), append(shows, k.shows)
	}
	return names, shows
}

// Of makes a sequence of a run. Errors describe the missing data of the run, and how to record them.
func (r *Run) Of(name string) (*Sequence, error) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		names, _ := Names()
		return nil, fmt.Errorf("no sequence is called %q; accepted: %s", name, strings.Join(names, ", "))
	}
	if k := &kinds[i]; k.needs != "" && r.Summary.Fidelity == "flow" {
		return nil, fmt.Errorf("%s: %s are not simulated at flow fidelity; simulate the run with --set fidelity=packet",
			name, k.needs)
	}
	s := &Sequence{Name: name, Shows: kinds[i].shows, QP: -1, Port: -1, Slowest: -1}
	if err := kinds[i].make(r, s); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for i := range s.Steps {
		s.Steps[i].When = s.when(&s.Steps[i])
	}
	return s, nil
}

// server returns the server of a GPU or NIC.
func server(name string) string {
	host, _, _ := strings.Cut(name, "/")
	return host
}

func dur(ps int64) string     { return unit.Time(ps).Show() }
func bytes(n int64) string    { return unit.Bytes(n).Show() }
func rate(bps float64) string { return unit.Rate(bps).Show() }
