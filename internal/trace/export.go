package trace

import (
	"fmt"
	"slices"

	"railyard/internal/field"
	"railyard/internal/tally"
	"railyard/internal/workload"
	"railyard/unit"
)

// Writer is an output format for workloads that other tools can read.
type Writer struct {
	Name, About string
	write       func(x *export) error
}

// writers are the available writers.
var writers = []Writer{
	{"goal", "GOAL as text, for LogGOPSim and ATLAHS", writeGoal},
	{"goal-binary", "GOAL as LogGOPSim's txt2bin packs it", writeGoalBinary},
	{"chakra", "Chakra execution traces, one per rank, sends and receives", writeChakra},
	{"htsim-cm", "htsim connection matrix: transfers and triggers only", writeMatrix},
	{"simai", "SimAI workload: collectives of all ranks in sequence", writeSimAI},
}

// Writers lists them.
func Writers() []Writer { return slices.Clone(writers) }

// maxExport is the maximum number of exported operations.
const maxExport = 4_000_000

// export is a graph being written.
type export struct {
	name   string
	d      *workload.DAG
	files  []File
	report Report
}

// Export writes a graph in a format. Files are called by the name, with the format's own ending.
func Export(format, name string, d *workload.DAG) ([]File, Report, error) {
	i := slices.IndexFunc(writers, func(w Writer) bool { return w.Name == format })
	if i < 0 {
		var names []string
		for _, w := range writers {
			names = append(names, w.Name)
		}
		return nil, Report{}, field.Choice("", format, names, "%s is not written", field.Quote(format)).ListedBy("railyard export --help")
	}
	if len(d.Ops) > maxExport {
		return nil, Report{}, field.New("", "has %d operations, %d at most are written", len(d.Ops),
			maxExport)
	}
	x := &export{name: name, d: d}
	err := writers[i].write(x)
	return x.files, x.report, err
}

// rounding rounds times to a unit and carries a rank's remainder to its next time, so that sums are correct.
type rounding struct {
	to    unit.Time
	short []unit.Time // by rank
	off   bool        // some time was not a whole number of units
}

func (w *rounding) of(rank int32, d unit.Time) int64 {
	sum := d + w.short[rank]
	n := max(0, (sum+w.to/2)/w.to)
	w.short[rank] = sum - n*w.to
	w.off = w.off || d%w.to != 0
	return int64(n)
}

// placed is a graph as steps of ranks: a transfer is a send and a receive.
type placed struct {
	schedule
	of []int32 // by rank: its first step; last entry: number of steps
}

// place makes steps of a graph's operations, rank by rank. An operation that depends on a message depends on the
// receive at its receiver, and on the send at its sender. On another rank it depends on an additional message of
// one byte.
func (x *export) place() *placed {
	d := x.d
	p := &placed{of: make([]int32, d.Ranks+1)}
	p.ranks = d.Ranks
	type told struct{ from, to int32 } // the message of an operation, to a rank
	tell := map[told]int32{}
	var news []told
	count := func(rank int32) { p.of[rank+1]++ }
	each := func(visit func(from, to int32)) {
		for i := range d.Ops {
			for _, s := range d.Succ[d.First[i]:d.First[i+1]] {
				visit(int32(i), s)
			}
		}
	}
	for i := range d.Ops {
		if count(d.Ops[i].Rank); !d.Ops[i].Compute() {
			count(d.Ops[i].Peer)
		}
	}
	each(func(from, to int32) {
		o, r := &d.Ops[from], d.Ops[to].Rank
		at := o.Rank
		if !o.Compute() {
			at = o.Peer
		}
		if _, has := tell[told{from, r}]; at == r || !o.Compute() && o.Rank == r || has {
			return
		}
		tell[told{from, r}] = int32(len(news))
		news = append(news, told{from, r})
		count(at)
		count(r)
	})
	for r := range d.Ranks {
		p.of[r+1] += p.of[r]
	}
	next := slices.Clone(p.of)
	p.steps = make([]step, p.of[d.Ranks])
	put := func(s step) int32 {
		k := next[s.rank]
		next[s.rank]++
		p.steps[k] = s
		return k
	}
	begin, end := make([]int32, len(d.Ops)), make([]int32, len(d.Ops))
	for i := range d.Ops {
		o := &d.Ops[i]
		if o.Compute() {
			begin[i] = put(step{kind: calc, rank: o.Rank, dur: o.Dur, peer: anybody})
			end[i] = begin[i]
			continue
		}
		begin[i] = put(step{kind: send, rank: o.Rank, peer: o.Peer, bytes: o.Bytes, tag: int64(i)})
		end[i] = put(step{kind: recv, rank: o.Peer, peer: o.Rank, bytes: o.Bytes, tag: int64(i)})
	}
	heard := make([]int32, len(news))
	for k, n := range news {
		at, tag := p.steps[end[n.from]].rank, int64(len(d.Ops)+k)
		out := put(step{kind: send, rank: at, peer: n.to, bytes: 1, tag: tag})
		heard[k] = put(step{kind: recv, rank: n.to, peer: at, bytes: 1, tag: tag})
		p.edges = append(p.edges, edge{from: end[n.from], to: out})
	}
	tally.Add(&x.report.Guessed, len(news), "operations blocked on an operation of another rank, which a message of one byte reports", "", 0)
	atSender := 0
	each(func(from, to int32) {
		o, r := &d.Ops[from], d.Ops[to].Rank
		on := end[from]
		switch k, has := tell[told{from, r}]; {
		case has:
			on = heard[k]
		case !o.Compute() && o.Peer != r:
			on = begin[from]
			atSender++
		}
		p.edges = append(p.edges, edge{from: on, to: begin[to]})
	})
	tally.Add(&x.report.Guessed, atSender, "senders blocked until their bytes have arrived, which depend on the send", "", 0)
	slices.SortFunc(p.edges, func(a, b edge) int {
		if a.to != b.to {
			return int(a.to - b.to)
		}
		return int(a.from - b.from)
	})
	return p
}

// mapped counts the written operations.
func (x *export) mapped(p *placed) {
	count := map[kind]int{}
	for i := range p.steps {
		count[p.steps[i].kind]++
	}
	tally.Add(&x.report.Mapped, count[calc], "computations", "", 0)
	tally.Add(&x.report.Mapped, count[send], "transfers, as sends and receives", "", 0)
}

// rounded notes that times were rounded.
func (x *export) rounded(w *rounding) {
	if w.off {
		tally.Note(&x.report.Guessed, fmt.Sprintf("times of computations are rounded to %v, their sum per rank is right", w.to), "", 0)
	}
}
