package measured

import (
	"encoding/json"
	"errors"
	"strings"

	"railyard/internal/coll"
	"railyard/internal/stream"
	"railyard/internal/tally"
	"railyard/unit"
)

// Record is Inspector's record of one collective, or of one send or receive, at one rank. A file of a newer version
// has header and metadata once, before the records that they are about.
type Record struct {
	Header   *Header   `json:"header"`
	Metadata *Metadata `json:"metadata"`
	Coll     *CollPerf `json:"coll_perf"`
	P2P      *P2PPerf  `json:"p2p_perf"`
}

// Header is the communicator.
type Header struct {
	ID    string `json:"id"`
	Name  string `json:"comm_name"`
	Rank  int    `json:"rank"`
	Ranks int    `json:"n_ranks"`
	Nodes int    `json:"nnodes"`
}

// Metadata is the host, process and time of a record.
type Metadata struct {
	Version string `json:"inspector_output_format_version"`
	Micros  int64  `json:"dump_timestamp_us"`
	Host    string `json:"hostname"`
	PID     int64  `json:"pid"`
}

// CollPerf is a collective. Bytes are count times the type's size as in the call: for all-gathers and
// reduce-scatters one rank's part.
type CollPerf struct {
	Coll   string  `json:"coll"`
	Number int64   `json:"coll_sn"`
	Bytes  int64   `json:"coll_msg_size_bytes"`
	Micros float64 `json:"coll_exec_time_us"`
	Source string  `json:"coll_timing_source"`
	AlgBW  float64 `json:"coll_algobw_gbs"`
	BusBW  float64 `json:"coll_busbw_gbs"`
}

// P2PPerf is a send or a receive.
type P2PPerf struct {
	Op     string  `json:"p2p"`
	Number int64   `json:"p2p_sn"`
	Peer   int     `json:"p2p_peer"`
	Bytes  int64   `json:"p2p_msg_size_bytes"`
	Micros float64 `json:"p2p_exec_time_us"`
}

// Records calls f with every record of a file of Inspector. A record without header or metadata has those of the
// previous one. Impossible records are omitted and reported. A truncated file, as of a killed job, ends there.
func Records(file string, src *stream.Source, report *tally.Report, f func(r *Record, line int) error) error {
	var header *Header
	var meta *Metadata
	err := src.Objects(func(raw []byte, line int) error {
		var r Record
		if raw == nil || json.Unmarshal(raw, &r) != nil {
			tally.Note(&report.Left, "objects that are not as Inspector writes them", file, line)
			return nil
		}
		if r.Header != nil {
			header = r.Header
		}
		if r.Metadata != nil {
			meta = r.Metadata
		}
		if r.Coll == nil && r.P2P == nil {
			return nil
		}
		if r.Header, r.Metadata = header, meta; meta == nil {
			r.Metadata = &Metadata{}
		}
		h := r.Header
		if h == nil || h.Rank < 0 || h.Ranks < 1 || h.Rank >= h.Ranks || h.Ranks > maxRanks || h.Nodes < 0 ||
			h.Nodes > h.Ranks {
			tally.Note(&report.Left, "records of a communicator that cannot be", file, line)
			return nil
		}
		return f(&r, line)
	})
	var cut *stream.CutError
	if errors.As(err, &cut) {
		tally.Note(&report.Left, "records truncated by the end of the file", file, cut.At.Line)
		return nil
	}
	return err
}

// Whole returns the size as nccl-tests defines it, and false for an unsupported kind of collective.
func (c *CollPerf) Whole(ranks int) (coll.Kind, unit.Bytes, bool) {
	name := strings.ToLower(strings.TrimPrefix(c.Coll, "nccl"))
	kind, ok := kinds[strings.ReplaceAll(name, "_", "")]
	n := c.Bytes
	if n < 0 || n > 1<<50 {
		return kind, 0, false
	}
	if kind == coll.AllGather || kind == coll.ReduceScatter || kind == coll.ToAll {
		n *= int64(ranks)
	}
	return kind, unit.Bytes(n), ok
}

// inspector merges ranks' records of the same collective, and equal collectives.
type inspector struct {
	set   *Set
	seen  int // records
	calls map[call]*merged
	point map[alike]*samples
	order []alike
}

// call is one collective of a communicator.
type call struct {
	comm   string
	number int64
}

// merged is the time of a collective: that of the last rank to arrive, which is the shortest because all other
// ranks waited for it.
type merged struct {
	at    alike
	least unit.Time
}

// alike is the key of averaged points.
type alike struct {
	kind         coll.Kind
	bytes        unit.Bytes
	ranks, nodes int
	name         string
}

type samples struct {
	times []unit.Time

	file string
	line int
}

// maxCalls is the maximum number of collectives merged over ranks; maxAlike is the maximum number of their kinds.
const maxCalls, maxAlike = 1 << 20, 1 << 16

func newInspector(s *Set) *inspector {
	return &inspector{set: s, calls: map[call]*merged{}, point: map[alike]*samples{}}
}

// read takes a file.
func (x *inspector) read(file string, src *stream.Source) error {
	report := &x.set.Report
	return Records(file, src, report, func(r *Record, line int) error {
		x.seen++
		if r.Coll == nil {
			tally.Note(&report.Left, "sends and receives of Inspector: it does not contain which of them belong together", file, line)
			return nil
		}
		kind, bytes, ok := r.Coll.Whole(r.Header.Ranks)
		time, can := micros(r.Coll.Micros)
		switch {
		case !ok:
			tally.Note(&report.Left, "collectives of Inspector of a kind without bus bandwidth", file, line)
			return nil
		case !can || bytes == 0:
			tally.Note(&report.Left, "collectives of Inspector with a time or size that cannot be", file, line)
			return nil
		case r.Coll.Source != "" && r.Coll.Source != "kernel_gpu":
			tally.Note(&report.Guessed, "collectives of Inspector timed by the CPU, which counts its own work too", file, line)
		}
		tally.Note(&report.Mapped, "records of Inspector, as "+kind.String()+"s", file, line)
		x.add(call{r.Header.ID, r.Coll.Number}, alike{kind, bytes, r.Header.Ranks, r.Header.Nodes,
			r.Header.Name}, time, file, line)
		return nil
	})
}

// add merges a record.
func (x *inspector) add(c call, at alike, time unit.Time, file string, line int) {
	report := &x.set.Report
	if m := x.calls[c]; m != nil {
		if m.at != at {
			tally.Note(&report.Left, "records of ranks that disagree about a collective", file, line)
			return
		}
		m.least = min(m.least, time)
		return
	}
	if len(x.calls) >= maxCalls || x.point[at] == nil && len(x.point) >= maxAlike {
		tally.Note(&report.Left, "records beyond those that are kept", file, line)
		return
	}
	x.calls[c] = &merged{at, time}
	if x.point[at] == nil {
		x.point[at] = &samples{file: file, line: line}
		x.order = append(x.order, at)
	}
}

// finish builds points from the merged records.
func (x *inspector) finish() {
	for _, m := range x.calls { // into sorted lists
		p := x.point[m.at]
		p.times = append(p.times, m.least)
	}
	for _, at := range x.order {
		p := x.point[at]
		c := Collective{Source: "inspector", Kind: at.kind, Bytes: at.bytes, Ranks: at.ranks, Nodes: at.nodes,
			Samples: len(p.times), Command: at.name, File: p.file, Line: p.line}
		c.Low, c.Time, c.High = quartiles(p.times)
		x.set.Collectives = append(x.set.Collectives, c)
	}
}
