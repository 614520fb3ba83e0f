package trace

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/workload"
	"railyard/unit"
)

// mscclSlots is the number of messages of a connection that may be in flight before the receiver takes the first
// (NCCL_STEPS).
const mscclSlots = 8

// mscclPair is a connection between two GPUs.
type mscclPair struct{ from, to, channel int32 }

// mscclRun sorts the steps topologically.
type mscclRun struct {
	*msccl
	succ  [][]int32
	waits []int32
	met   []int32 // for a step that sends: the receiving step; for one that only receives: the sending step
	from  []int32 // for a step that receives: the sending step
	order []int32
}

// trace runs the algorithm twice. The first run moves names of chunks and checks that they end where the collective
// requires; the second makes transfers.
func (m *msccl) trace(size unit.Bytes) (*Trace, error) {
	x := &mscclRun{msccl: m, succ: make([][]int32, len(m.steps)), waits: make([]int32, len(m.steps)),
		met: make([]int32, len(m.steps)), from: make([]int32, len(m.steps))}
	if err := x.connect(); err != nil {
		return nil, err
	}
	if err := x.sort(); err != nil {
		return nil, err
	}
	if err := x.check(); err != nil {
		return nil, err
	}
	return x.build(size)
}

func (x *mscclRun) edge(from, to int32) {
	x.succ[from] = append(x.succ[from], to)
	x.waits[to]++
}

// connect finds the dependencies of steps: the previous step, a step of another thread block, the sender's step,
// and a free slot of the connection.
func (x *mscclRun) connect() error {
	where := map[[2]int32]int32{}
	for i, tb := range x.tbs {
		where[[2]int32{tb.gpu, tb.id}] = int32(i)
	}
	sends, recvs := map[mscclPair][]int32{}, map[mscclPair][]int32{}
	owner := [2]map[mscclPair]int32{{}, {}}
	var pairs []mscclPair
	for i := range x.steps {
		s, k := &x.steps[i], int32(i)
		tb := &x.tbs[s.tb]
		if k > tb.first {
			x.edge(k-1, k)
		}
		if s.depID >= 0 && s.dep >= 0 {
			other, has := where[[2]int32{tb.gpu, s.depID}]
			if !has || s.dep >= x.tbs[other].n {
				return at(x.file, int(s.line), "depends on step %d of thread block %d, which GPU %d does not have",
					s.dep, s.depID, tb.gpu)
			}
			x.edge(x.tbs[other].first+s.dep, k)
		}
		use := func(side int, p mscclPair, list map[mscclPair][]int32) error {
			if was, has := owner[side][p]; has && was != s.tb {
				return at(x.file, int(s.line), "two thread blocks of GPU %d use channel %d with the same GPU: on lines %d and %d", tb.gpu, tb.channel, x.tbs[was].line, tb.line)
			}
			if owner[side][p] = s.tb; side == 0 && list[p] == nil {
				pairs = append(pairs, p)
			}
			list[p] = append(list[p], k)
			return nil
		}
		if s.recv {
			if err := use(1, mscclPair{tb.recv, tb.gpu, tb.channel}, recvs); err != nil {
				return err
			}
		}
		if s.send {
			if err := use(0, mscclPair{tb.gpu, tb.send, tb.channel}, sends); err != nil {
				return err
			}
		}
	}
	for _, p := range pairs {
		out, in := sends[p], recvs[p]
		if len(out) > len(in) {
			return at(x.file, int(x.steps[out[len(in)]].line), "sends to GPU %d on channel %d, which receives %d times there and not %d", p.to, p.channel, len(in), len(out))
		}
		for k := range out {
			if a, b := x.steps[out[k]].cnt, x.steps[in[k]].cnt; a != b {
				return at(x.file, int(x.steps[in[k]].line), "receives %d chunks of the %d that line %d sends",
					b, a,
					x.steps[out[k]].line)
			}
			x.met[out[k]], x.from[in[k]] = in[k], out[k]+1
			x.edge(out[k], in[k])
			if k >= mscclSlots {
				x.edge(in[k-mscclSlots], out[k])
			}
		}
	}
	for i := range x.steps {
		if s := &x.steps[i]; s.recv && x.from[i] == 0 {
			return at(x.file, int(s.line), "receives from GPU %d on channel %d, which does not send that many times",
				x.tbs[s.tb].recv, x.tbs[s.tb].channel)
		}
	}
	return nil
}

// sort orders the steps.
func (x *mscclRun) sort() error {
	waits := slices.Clone(x.waits)
	for i, n := range waits {
		if n == 0 {
			x.order = append(x.order, int32(i))
		}
	}
	for k := 0; k < len(x.order); k++ {
		for _, s := range x.succ[x.order[k]] {
			if waits[s]--; waits[s] == 0 {
				x.order = append(x.order, s)
			}
		}
	}
	if len(x.order) == len(x.steps) {
		return nil
	}
	before, last := make([]int32, len(x.steps)), int32(-1)
	for i := range x.steps {
		if waits[i] == 0 {
			continue
		}
		last = int32(i)
		for _, s := range x.succ[i] {
			before[s] = last
		}
	}
	seen := make([]bool, len(x.steps))
	for ; !seen[last]; last = before[last] {
		seen[last] = true
	}
	lines := []string{}
	for i := before[last]; i != last && len(lines) < 8; i = before[i] {
		lines = append(lines, fmt.Sprintf("line %d", x.steps[i].line))
	}
	return at(x.file, int(x.steps[last].line), "the algorithm hangs: this step is blocked on %s",
		strings.Join(append(lines, fmt.Sprintf("line %d", x.steps[last].line)), ", which is blocked on "))
}

// build makes transfers of the steps. A sending step ends when the bytes are in flight, and a receiving step when
// they have arrived. Copying and adding within a GPU takes no time.
func (x *mscclRun) build(size unit.Bytes) (*Trace, error) {
	b := workload.NewBuilder(x.gpus)
	done, wire := make([]int32, len(x.steps)), make([]int32, len(x.steps))
	after := make([][]int32, len(x.steps))
	chunks := unit.Bytes(x.perBuffer())
	name := x.name
	if name == "" {
		name = "msccl"
	}
	locals := 0
	b.Collective(workload.Collective{Name: name, Kind: x.kind, Ranks: seqOf(x.gpus), Bytes: size, By: "msccl"},
		func() {
			for _, i := range x.order {
				s := &x.steps[i]
				tb := &x.tbs[s.tb]
				deps := after[i]
				if s.recv {
					deps = append(deps, wire[x.from[i]-1])
				}
				slices.Sort(deps)
				deps = slices.Compact(deps)
				switch {
				case len(deps) == 1:
					done[i] = deps[0]
				default:
					done[i] = b.Compute(int(tb.gpu), 0, workload.Other, deps...)
				}
				if s.send {
					bytes := max(1, (size*unit.Bytes(s.cnt)+chunks/2)/chunks)
					wire[i] = b.Transfer(int(tb.gpu), int(tb.send), bytes, done[i])
				}
				if s.local {
					locals++
				}
				for _, k := range x.succ[i] {
					after[k] = append(after[k], done[i])
				}
				after[i] = nil
			}
		})
	d, err := b.Seal()
	if err != nil {
		return nil, at(x.file, 0, "%v", err)
	}
	x.report.Mapped = append(x.report.Mapped, Count{What: "steps of thread blocks", N: len(x.steps), File: x.file})
	if n := x.loops(size); n > 1 {
		x.report.Guessed = append(x.report.Guessed,
			Count{What: "loops over 2 MiB of each chunk, as MSCCL's runtime makes with buffers of 4 MiB, which run as one here", N: n, File: x.file})
	}
	if locals > 0 {
		x.report.Left = append(x.report.Left, Count{What: "time that copying and adding within a GPU takes",
			N:    locals,
			File: x.file})
	}
	return &Trace{Ranks: x.gpus, DAG: d, Report: x.report}, nil
}

// mscclPiece is the number of bytes that a loop of the runtime moves of a chunk with protocol Simple. It is four of
// the eight slots of NCCL_BUFFSIZE, which is 4 MiB unless set (MSCCL_CHUNKSTEPS of msccl.h).
const mscclPiece = 2 * unit.MiB

// loops returns the number of times that the runtime repeats the algorithm for a buffer of a given size. It is 0
// with LL and LL128, whose pieces are smaller and depend on threads.
func (x *mscclRun) loops(size unit.Bytes) int {
	if p := strings.ToLower(x.proto); p != "" && p != "simple" {
		return 0
	}
	return int((size/unit.Bytes(x.perBuffer()) + mscclPiece - 1) / mscclPiece)
}

// perBuffer returns the number of chunks that the larger of the buffers has.
func (m *msccl) perBuffer() int {
	if m.chunks > 0 {
		return m.chunks
	}
	return max(1, slices.Max(m.inChunks), slices.Max(m.outChunks))
}
