package trace

import (
	"bytes"
	"encoding/binary"

	"railyard/unit"
)

// A binary schedule (LogGOPSim's txt2bin; docs/references.md, formats), little endian, packed:
//
//	u64 4223  u32 ranks  u8 most cores  u8 most NICs
//	per rank: u64 start, u64 end, from byte 8 of the file
//	a rank: u32 nodes, u32 roots, the roots u32 each, nodes of 39 bytes, the appendix u32 each
//	a node: u32 operations it waits for, u8 type, u32 peer, u64 size, u32 tag, u8 core, u8 NIC,
//	        u32 dependents, u32 where in the appendix they begin, both again for those of its start
const (
	goalMagic = 4223
	goalNode  = 39
	goalHead  = 14
)

func isGoalBinary(_ string, head []byte) bool {
	return len(head) >= goalHead && binary.LittleEndian.Uint64(head) == goalMagic
}

// goalBytes reads a file from a place on, and remembers whether it has ended before.
type goalBytes struct {
	b     []byte
	at    int
	short bool
}

func (r *goalBytes) take(n int) []byte {
	if n < 0 || r.at+n > len(r.b) || r.at+n < r.at {
		r.short = true
		return make([]byte, min(max(n, 0), 64))
	}
	r.at += n
	return r.b[r.at-n : r.at]
}

func (r *goalBytes) u8() uint8   { return r.take(1)[0] }
func (r *goalBytes) u32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *goalBytes) u64() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }

func readGoalBinary(_ *Options, files []File) (*Trace, error) {
	if len(files) != 1 {
		return nil, at(files[1].Name, 0, "a GOAL schedule is one file with all ranks; found %d", len(files))
	}
	f := files[0]
	r := &goalBytes{b: f.Text}
	if r.u64() != goalMagic {
		return nil, at(f.Name, 0, "does not begin with %d, as GOAL's binary schedules do", goalMagic)
	}
	s := &schedule{file: f.Name, ranks: int(r.u32())}
	r.take(2)
	if s.ranks < 1 || s.ranks > maxRanks {
		return nil, at(f.Name, 0, "announces %d ranks, expected 1 to %d", s.ranks, maxRanks)
	}
	var report Report
	took := uint64(0)
	for rank := range s.ranks {
		start, end := r.u64(), r.u64()
		if r.short || start > end || end > uint64(len(f.Text)-8) {
			return nil, at(f.Name, 0, "ends early, or rank %d lies from byte %d to %d of its %d", rank,
				start+8,
				end+8, len(f.Text))
		}
		if took += end - start; took > uint64(len(f.Text)) {
			return nil, at(f.Name, 0, "rank %d lies from byte %d to %d, where other ranks lie too", rank,
				start+8, end+8)
		}
		if err := s.binaryRank(rank, f.Text[start+8:end+8], &report); err != nil {
			return nil, err
		}
	}
	if len(s.steps) == 0 {
		return nil, at(f.Name, 0, "no rank does anything")
	}
	t, err := s.trace()
	if err != nil {
		return nil, err
	}
	t.Report.Left = append(t.Report.Left, report.Left...)
	return t, nil
}

// binaryRank reads the operations of a rank.
func (s *schedule) binaryRank(rank int, b []byte, report *Report) error {
	if len(bytes.TrimRight(b, "\x00")) == 0 {
		return nil // an operation without effect
	}
	r := &goalBytes{b: b}
	nodes, roots := int(r.u32()), int(r.u32())
	if nodes > len(b)/goalNode || roots > nodes {
		return at(s.file, 0, "rank %d announces %d operations, %d of which depend on none; its %d bytes hold %d", rank, nodes, roots, len(b), len(b)/goalNode)
	}
	r.take(4 * roots)
	first := int32(len(s.steps))
	type list struct{ n, at uint32 }
	after := make([][2]list, nodes)
	waits := make([]uint32, nodes)
	for i := range nodes {
		waits[i] = r.u32()
		x := step{rank: int32(rank), kind: kind(r.u8()), peer: int32(r.u32())}
		size := r.u64()
		x.tag = int64(int32(r.u32()))
		if r.take(2)[0] != 0 {
			note(&report.Left, "operations on a core other than the first: cores are not distinguished", s.file, 0)
		}
		after[i] = [2]list{{r.u32(), r.u32()}, {r.u32(), r.u32()}}
		if why := s.fits(&x, size); why != "" {
			return at(s.file, 0, "rank %d, operation %d %s", rank, i, why)
		}
		s.steps = append(s.steps, x)
	}
	entries := (len(b) - r.at) / 4
	appendix := r.take(4 * entries)
	if r.short {
		return at(s.file, 0, "rank %d ends early", rank)
	}
	var named uint64
	for i := range after {
		for k, l := range after[i] {
			if uint64(l.at)+uint64(l.n) > uint64(entries) {
				return at(s.file, 0, "rank %d, operation %d names dependents beyond its %d", rank, i, entries)
			}
			if named += uint64(l.n); named > uint64(entries) {
				return at(s.file, 0, "rank %d, operation %d names dependents that another one names", rank, i)
			}
			for _, e := range chunks(appendix[4*l.at : 4*(l.at+l.n)]) {
				if int(e) >= nodes {
					return at(s.file, 0, "rank %d, operation %d lets operation %d go on, of %d", rank, i, e, nodes)
				}
				s.edges = append(s.edges, edge{first + int32(i), first + int32(e), k == 1})
				waits[e]--
			}
		}
	}
	for i, n := range waits {
		if n != 0 {
			return at(s.file, 0, "rank %d, operation %d depends on %d more than name it", rank, i, int32(n))
		}
	}
	return nil
}

// chunks are the numbers of an appendix.
func chunks(b []byte) (all []uint32) {
	for ; len(b) >= 4; b = b[4:] {
		all = append(all, binary.LittleEndian.Uint32(b))
	}
	return all
}

// fits sets a step's size and returns an error if it is too large.
func (s *schedule) fits(x *step, size uint64) string {
	switch {
	case x.kind < send || x.kind > calc:
		return "is neither send, recv nor calc"
	case x.kind == calc && size > uint64(unit.Never/unit.Nanosecond)/4:
		return "computes longer than time can be"
	case x.kind == calc:
		x.dur, x.peer = unit.Time(size)*unit.Nanosecond, anybody
	case size > 1<<50:
		return "has more bytes than any message"
	case x.peer == x.rank || int(x.peer) >= s.ranks || x.peer < 0 && (x.kind == send || x.peer != anybody):
		return "exchanges bytes with a rank that there is not"
	default:
		x.bytes = unit.Bytes(size)
	}
	return ""
}
