// Package measured parses measurements of real hardware, for comparison or calibration: the output of nccl-tests
// (text and JSON), of perftest (ib_write_bw, ib_write_lat and related programs; text and JSON), and the JSON of
// NCCL's profiler plugin Inspector.
//
//	set, err := measured.Read(measured.File{Name: "out.txt", Text: f}, ...)
//	for _, c := range set.Collectives { c.Kind, c.Bytes, c.Ranks, c.Nodes, c.Time, c.BusBW() ... }
//	for _, p := range set.Pairs       { p.Verb, p.Latency, p.Bytes, p.Time, p.Rate ... }
//	set.Report // what was mapped, assumed and left out, with counts and places
//
// Set.Table merges repeated measurements into medians. Files are read as streams, gzipped or not, in bounded memory.
package measured

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/internal/stream"
	"railyard/internal/tally"
	"railyard/unit"
)

// File is a file's contents with its name.
type File struct {
	Name string
	Text io.Reader
}

// Collective is the measured time of a collective.
type Collective struct {
	Source string // nccl-tests, inspector
	Kind   coll.Kind
	// Bytes is nccl-tests' size: of a rank's buffer; in all-gathers, reduce-scatters and all-to-alls of the larger one,
	// with the parts of all ranks.
	Bytes   unit.Bytes
	Ranks   int // 0: unknown
	Nodes   int // 0: unknown
	Time    unit.Time
	InPlace bool
	Samples int // number of measurements in Time: iterations, or merged instances; 0: unknown
	// Low and High are the quartiles where several instances were merged, else 0.
	Low, High unit.Time
	Type      string // data type, in the source's notation; "" if unknown
	GPU       string // "NVIDIA H100 80GB HBM3"; "" if unknown
	Command   string // all_reduce_perf, or the communicator's name
	File      string
	Line      int
}

// BusBW is the bus bandwidth in GB/s (10^9 bytes), 0 if the ranks are unknown.
func (c *Collective) BusBW() float64 {
	if c.Ranks < 2 || c.Time <= 0 {
		return 0
	}
	return c.AlgBW() * c.Kind.BusFactor(c.Ranks)
}

// AlgBW is bytes over time in GB/s.
func (c *Collective) AlgBW() float64 {
	if c.Time <= 0 {
		return 0
	}
	return float64(c.Bytes) / c.Time.Seconds() / 1e9
}

// Pair is a measurement between two hosts.
type Pair struct {
	Verb    string // write, read, send, atomic
	Latency bool   // latency: one message at a time; otherwise bandwidth, many messages
	Bytes   unit.Bytes

	// Latency, one way (round trip for reads and atomics): Time is the typical value, then mean, minimum, maximum
	// and percentiles; 0 if unknown.
	Time, Mean, Least, Most, P99, P999 unit.Time
	// Of bandwidth: payload per second on average and at its peak, the sum of both directions if Both; messages per
	// second.
	Rate, Peak unit.Rate
	Messages   float64
	Both       bool

	QPs        int // 0: unknown
	MTU        unit.Bytes
	Transport  string // RC, UC, UD, XRC, DC
	Link       string // Ethernet, IB
	Device     string // mlx5_0
	Iterations int64
	File       string
	Line       int
}

// Set is the measurements of some files.
type Set struct {
	Collectives []Collective
	Pairs       []Pair
	Report      tally.Report
}

// Limits of stored data.
const (
	maxPoints = 1 << 20 // maximum of points of collectives and of pairs
	maxRanks  = 1 << 20
)

// longestTime is the maximum time of a row: an hour for one collective.
const longestTime = 3600 * unit.Second

// Read reads files in any of the formats, each detected separately. Files without a measurement are an error that names
// them.
func Read(files ...File) (*Set, error) {
	if len(files) == 0 {
		return nil, field.New("", "no file is named")
	}
	set := &Set{}
	x := newInspector(set)
	for _, f := range files {
		src, err := stream.New(f.Name, f.Text)
		if err != nil {
			return nil, err
		}
		had := len(set.Collectives) + len(set.Pairs) + x.seen
		head := bytes.TrimLeft(src.Head(1<<12), " \t\r\n[")
		switch {
		case bytes.HasPrefix(head, []byte("{")):
			err = set.json(f.Name, src, x)
		default:
			err = set.text(f.Name, src)
		}
		if err != nil {
			return nil, err
		}
		if had == len(set.Collectives)+len(set.Pairs)+x.seen {
			return nil, set.nothing(f.Name)
		}
	}
	x.finish()
	return set, nil
}

// nameless stands for the command of nccl-tests in a file that has none.
const nameless = "a collective that nothing names"

// unnamed says how to name the collective of a file that has rows of a nameless one; "" for other files.
func (s *Set) unnamed(file string) string {
	if slices.ContainsFunc(s.Report.Left, func(c tally.Count) bool {
		return c.File == file && strings.HasSuffix(c.What, nameless)
	}) {
		return "; name the collective: keep the line of the command in the file, or name the file all_reduce_perf.txt"
	}
	return ""
}

// nothing returns the error for a file without usable measurements.
func (s *Set) nothing(file string) error {
	for _, c := range s.Report.Left {
		if c.File == file {
			return &field.Error{File: file,
				Msg: "has no measurement that can be used; left out: " + c.Words() + s.unnamed(file)}
		}
	}
	return &field.Error{File: file, Msg: "contains no measurement; accepted: text or JSON output of nccl-tests or perftest, the JSON of NCCL's Inspector"}
}

// full refuses what would fill memory.
func (s *Set) full() bool { return len(s.Collectives)+len(s.Pairs) >= maxPoints }

// micros is a time in microseconds, as in the source.
func micros(us float64) (unit.Time, bool) {
	t := us * float64(unit.Microsecond)
	if !(t > 0 && t <= float64(longestTime)) {
		return 0, false
	}
	return unit.Time(math.Round(t)), true
}

// kinds are the collectives that have a bus bandwidth here, by NCCL's names without case and marks.
var kinds = map[string]coll.Kind{"allreduce": coll.AllReduce, "allgather": coll.AllGather,
	"reducescatter": coll.ReduceScatter, "alltoall": coll.ToAll, "broadcast": coll.Bcast,
	"sendrecv": coll.SendRecv}

// Kinds returns the measured kinds of collectives, each once, in order.
func (s *Set) Kinds() (kinds []coll.Kind) {
	for _, c := range s.Collectives {
		kinds = append(kinds, c.Kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// AllReduces reports whether some of the collectives are all-reduces.
func (s *Set) AllReduces() bool { return slices.Contains(s.Kinds(), coll.AllReduce) }

// Table merges equal points, measured at different times, in place or not, into medians with quartiles. They are
// sorted by kind, ranks, nodes and bytes.
func (s *Set) Table() []Collective {
	type key struct {
		kind         coll.Kind
		bytes        unit.Bytes
		ranks, nodes int
	}
	all := map[key][]*Collective{}
	var keys []key
	for i := range s.Collectives {
		c := &s.Collectives[i]
		k := key{c.Kind, c.Bytes, c.Ranks, c.Nodes}
		if all[k] == nil {
			keys = append(keys, k)
		}
		all[k] = append(all[k], c)
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.ranks, b.ranks),
			cmp.Compare(a.nodes, b.nodes), cmp.Compare(a.bytes, b.bytes))
	})
	var out []Collective
	for _, k := range keys {
		c := *all[k][0]
		if many := all[k]; len(many) > 1 {
			var times []unit.Time
			c.Samples = 0
			for _, x := range many {
				times = append(times, x.Time)
				c.Samples += max(1, x.Samples)
			}
			c.Low, c.Time, c.High = quartiles(times)
			c.InPlace = false
		}
		out = append(out, c)
	}
	return out
}

// quartiles returns the quartiles of times, and sorts them.
func quartiles(t []unit.Time) (low, mid, high unit.Time) {
	slices.Sort(t)
	n := len(t)
	mid = t[n/2]
	if n%2 == 0 {
		mid = t[n/2-1] + (mid-t[n/2-1])/2
	}
	return t[(n-1)/4], mid, t[(3*n-1)/4]
}

// String formats a point as a line.
func (c *Collective) String() string {
	where := fmt.Sprintf("%d ranks", c.Ranks)
	if c.Ranks == 0 {
		where = "? ranks"
	}
	if c.Nodes > 0 {
		where += " on " + unit.Plural(c.Nodes, "node")
	}
	return fmt.Sprintf("%v %v, %s: %v, %.2f GB/s of bus bandwidth", c.Kind, c.Bytes, where, c.Time, c.BusBW())
}

// String formats a point as a line.
func (p *Pair) String() string {
	if p.Latency {
		return fmt.Sprintf("%s latency %v: %v", p.Verb, p.Bytes, p.Time)
	}
	return fmt.Sprintf("%s bandwidth %v: %v", p.Verb, p.Bytes, p.Rate)
}
