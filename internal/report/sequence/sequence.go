// Package sequence tells parts of a run as sequence diagrams: who sends what to whom, and when. A [Sequence] has
// lanes, which are GPUs, NICs and switches, and steps between them, each from a table of the run: nothing is drawn
// that did not happen. [Names] lists what there is, [Of] makes one, [Sequence.Text] prints it, [Sequence.SVG] and
// [Sequence.PNG] draw it.
package sequence

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"railyard/internal/report/web"
	"railyard/internal/result"
	"railyard/unit"
)

// Kind is what a step is, and gives it its colour.
type Kind string

// Kinds of steps.
const (
	Data   Kind = "data"
	Answer Kind = "answer" // ACK, NAK, CNP
	Mark   Kind = "mark"   // ECN, and what congestion control does
	Pause  Kind = "pause"
	Lost   Kind = "lost"
	Here   Kind = "here" // what happens at one lane
)

// Step goes from one lane to another, or happens at one.
type Step struct {
	At, Until int64 // ps; equal: in a moment
	From, To  int   // lanes
	Kind      Kind
	Label     string
	Detail    string
}

// Sequence is a diagram.
type Sequence struct {
	Name, Title string
	Lanes       []string
	Steps       []Step
	Notes       []string // what else one should know
	Timeless    bool     // steps have an order and no times
}

// lane returns the lane of a name, a new one where it has none.
func (s *Sequence) lane(name string) int {
	if i := slices.Index(s.Lanes, name); i >= 0 {
		return i
	}
	s.Lanes = append(s.Lanes, name)
	return len(s.Lanes) - 1
}

// add adds a step.
func (s *Sequence) add(at, until int64, from, to string, kind Kind, label, detail string) {
	s.Steps = append(s.Steps, Step{at, until, s.lane(from), s.lane(to), kind, label, detail})
}

// when formats the time of a step: since the first packet left, where three digits would not tell them apart.
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

// run is what sequences are made from.
type run struct{ *web.Directory }

// table reads a table of the run.
func table[T any](r run, name string) ([]T, error) {
	rows, err := result.ReadTable[T](r.Dir, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(r.Dir, name+".parquet"), err)
	}
	return rows, nil
}

// kind is one of the sequences: what it shows, and how it is made.
type kind struct {
	name, shows string
	make        func(run, *Sequence) error
}

var kinds = []kind{
	{"rank", "from rank to GPU, NIC and rail switch", ranks},
	{"setup", "what the two ends of a queue pair know of each other", setup},
	{"packet", "a packet from GPU to GPU, switch by switch", packet},
	{"ring", "chunks on their way around a ring all-reduce", ring},
	{"mark", "from CE mark to CNP to a lower rate", marks},
	{"pause", "how a PFC pause spreads upstream", pauses},
	{"nak", "a lost packet, the NAK, and what is sent again", naks},
	{"completion", "from the last packet of a message to the next one", completion},
}

// Names lists the sequences, each with what it shows.
func Names() (list []string) {
	for _, k := range kinds {
		list = append(list, fmt.Sprintf("%s (%s)", k.name, k.shows))
	}
	return list
}

// Of makes a sequence of a run. Errors say what the run lacks, and how a run has it.
func Of(r *web.Directory, name string) (*Sequence, error) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		var names []string
		for _, k := range kinds {
			names = append(names, k.name)
		}
		return nil, fmt.Errorf("no sequence is called %q; accepted: %s", name, strings.Join(names, ", "))
	}
	s := &Sequence{Name: name}
	if err := kinds[i].make(run{r}, s); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// server is where a GPU or NIC is.
func server(name string) string {
	host, _, _ := strings.Cut(name, "/")
	return host
}

func dur(ps int64) string     { return unit.Time(ps).Show() }
func bytes(n int64) string    { return unit.Bytes(n).Show() }
func rate(bps float64) string { return unit.Rate(bps).Show() }
