package trace

import (
	"fmt"
	"slices"

	"railyard/internal/coll"
)

// A chunk is a reduction of input chunks of GPUs. Lists are sorted and shared, never changed.
type mscclChunk []int64

// mscclSlot is the place of a chunk.
type mscclSlot struct {
	gpu, off int32
	buf      byte
}

// mscclMost bounds the names that a check writes down, mscclBuffers the chunks of all buffers.
const (
	mscclMost    = 10_000_000
	mscclBuffers = 1_000_000
)

// mscclName is an input chunk.
func mscclName(gpu, chunk int) int64 { return int64(gpu)<<32 | int64(chunk) }

// slot returns the position of a chunk if input and output are one buffer.
func (m *msccl) slot(gpu int32, buf byte, off int32) mscclSlot {
	if m.aliased {
		switch {
		case buf == 'i' && m.kind == coll.AllGather:
			buf, off = 'o', off+gpu*int32(m.share())
		case buf == 'o' && m.kind == coll.ReduceScatter:
			buf, off = 'i', off+gpu*int32(m.share())
		case buf == 'o' && m.kind != coll.AllGather:
			buf = 'i'
		}
	}
	return mscclSlot{gpu: gpu, buf: buf, off: off}
}

// inputs returns the number of a GPU's initial chunks; files declare the used size of a buffer.
func (m *msccl) inputs(gpu int32) int {
	switch {
	case m.known && m.kind == coll.AllGather:
		return m.share()
	case m.known:
		return m.perBuffer()
	}
	return max(0, m.inChunks[gpu])
}

// share returns the number of a buffer's chunks per GPU, if they are distributed.
func (m *msccl) share() int { return max(1, m.perBuffer()/m.gpus) }

// check runs the algorithm on names and compares the output with the collective's definition.
func (x *mscclRun) check() error {
	at0 := map[mscclSlot]mscclChunk{}
	if x.gpus > mscclBuffers/max(x.perBuffer(), slices.Max(x.inChunks)) {
		x.unchecked()
		return nil
	}
	for g := range int32(x.gpus) {
		for c := range int32(x.inputs(g)) {
			at0[x.slot(g, 'i', c)] = mscclChunk{mscclName(int(g), int(c))}
		}
	}
	sent := make([][]mscclChunk, len(x.steps))
	written := len(at0)
	for _, i := range x.order {
		s := &x.steps[i]
		gpu := x.tbs[s.tb].gpu
		if !s.recv && !s.send && !s.local {
			continue
		}
		var all []mscclChunk
		if s.recv {
			all = sent[x.from[i]-1]
			sent[x.from[i]-1] = nil
		}
		if written += int(s.cnt); written > mscclMost {
			x.unchecked()
			return nil
		}
		out := make([]mscclChunk, s.cnt)
		for c := range s.cnt {
			var v mscclChunk
			src := at0[x.slot(gpu, s.src, s.srcOff+c)]
			switch {
			case s.recv && s.add:
				v = merged(all[c], src)
			case s.recv:
				v = all[c]
			case s.add:
				v = merged(src, at0[x.slot(gpu, s.dst, s.dstOff+c)])
			default:
				v = src
			}
			if s.add {
				written += len(v)
			}
			if s.keeps {
				at0[x.slot(gpu, s.dst, s.dstOff+c)] = v
			}
			out[c] = v
		}
		if s.send {
			sent[i] = out
		}
	}
	if !x.known {
		return nil
	}
	return x.promised(at0)
}

// unchecked reports that the check would be too large.
func (x *mscclRun) unchecked() {
	note(&x.report.Left, "check of the result: too many chunks", x.file, 0)
}

// merged merges two sorted lists; common elements occur twice.
func merged(a, b mscclChunk) mscclChunk {
	out := make(mscclChunk, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0] <= b[0] {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// promised compares each output chunk with its definition.
func (x *mscclRun) promised(at0 map[mscclSlot]mscclChunk) error {
	n, chunks := x.gpus, x.perBuffer()
	share := x.share()
	root := -1
	for g := range n {
		outs := chunks
		if x.kind == coll.ReduceScatter {
			outs = share
		}
		for c := range outs {
			want := make(mscclChunk, 0, n)
			switch x.kind {
			case coll.AllReduce:
				for q := range n {
					want = append(want, mscclName(q, c))
				}
			case coll.ReduceScatter:
				for q := range n {
					want = append(want, mscclName(q, g*share+c))
				}
			case coll.AllGather:
				want = append(want, mscclName(c/share, c%share))
			case coll.ToAll:
				want = append(want, mscclName(c/share, g*share+c%share))
			}
			got := at0[x.slot(int32(g), 'o', int32(c))]
			if x.kind == coll.Bcast {
				if root < 0 && len(got) == 1 {
					root = int(got[0] >> 32)
				}
				want = append(want, mscclName(max(root, 0), c))
			}
			if !slices.Equal(got, want) {
				return at(x.file, 0, "is not a valid %s: chunk %d of GPU %d's output ends as %s and must be %s",
					x.kind, c, g,
					chunkWords(got), chunkWords(want))
			}
		}
	}
	note(&x.report.Mapped, fmt.Sprintf("%s: every output chunk is correct, checked by name", x.kind),
		x.file,
		0)
	return nil
}

// chunkWords describes the contents of a chunk.
func chunkWords(c mscclChunk) string {
	if len(c) == 0 {
		return "nothing"
	}
	s := ""
	for i, name := range c {
		switch {
		case i == 4:
			return s + fmt.Sprintf(" and %d more", len(c)-i)
		case i > 0:
			s += " + "
		}
		s += fmt.Sprintf("input %d of GPU %d", name&0xffffffff, name>>32)
	}
	return s
}
