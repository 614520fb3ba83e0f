package trace

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"railyard/unit"
)

// writeGoal writes a graph in GOAL's text format.
func writeGoal(x *export) error {
	p := x.place()
	ns := &rounding{to: unit.Nanosecond, short: make([]unit.Time, p.ranks)}
	var b bytes.Buffer
	fmt.Fprintf(&b, "num_ranks %d\n", p.ranks)
	edges := p.edges
	for r := range p.ranks {
		first, end := p.of[r], p.of[r+1]
		fmt.Fprintf(&b, "\nrank %d {\n", r)
		for i := first; i < end; i++ {
			s := &p.steps[i]
			fmt.Fprintf(&b, "l%d: ", i-first+1)
			switch s.kind {
			case calc:
				fmt.Fprintf(&b, "calc %d\n", ns.of(s.rank, s.dur))
			case send:
				fmt.Fprintf(&b, "send %db to %d tag %d\n", int64(s.bytes), s.peer, s.tag)
			default:
				fmt.Fprintf(&b, "recv %db from %d tag %d\n", int64(s.bytes), s.peer, s.tag)
			}
		}
		for ; len(edges) > 0 && edges[0].to < end; edges = edges[1:] {
			fmt.Fprintf(&b, "l%d requires l%d\n", edges[0].to-first+1, edges[0].from-first+1)
		}
		b.WriteString("}\n")
	}
	x.files = []File{{x.name + ".goal", b.Bytes()}}
	x.mapped(p)
	x.rounded(ns)
	return nil
}

// writeGoalBinary writes a graph as txt2bin would (goalbin.go has the layout).
func writeGoalBinary(x *export) error {
	p := x.place()
	ns := &rounding{to: unit.Nanosecond, short: make([]unit.Time, p.ranks)}
	for i := range p.steps {
		if s := &p.steps[i]; s.kind == calc {
			s.dur = unit.Time(ns.of(s.rank, s.dur)) * unit.Nanosecond
		}
	}
	x.files = []File{{x.name + ".bin", packed(&p.schedule)}}
	x.mapped(p)
	x.rounded(ns)
	return nil
}

// packed is a schedule in GOAL's binary form; its steps may be in any order.
func packed(s *schedule) []byte {
	le := binary.LittleEndian
	b := le.AppendUint64(nil, goalMagic)
	b = append(le.AppendUint32(b, uint32(s.ranks)), 0, 0) // the highest core and NIC in use
	table := len(b)
	b = append(b, make([]byte, 16*s.ranks)...)
	mine, local := make([][]int32, s.ranks), make([]uint32, len(s.steps))
	for i := range s.steps {
		r := s.steps[i].rank
		local[i] = uint32(len(mine[r]))
		mine[r] = append(mine[r], int32(i))
	}
	waits, after := make([]uint32, len(s.steps)), make([][2][]uint32, len(s.steps))
	for _, e := range s.edges {
		k := 0
		if e.begun {
			k = 1
		}
		waits[e.to]++
		after[e.from][k] = append(after[e.from][k], local[e.to])
	}
	for rank := range s.ranks {
		start := len(b)
		b = le.AppendUint32(b, uint32(len(mine[rank])))
		count := len(b)
		b = le.AppendUint32(b, 0)
		roots := uint32(0)
		for _, i := range mine[rank] {
			if waits[i] == 0 {
				b = le.AppendUint32(b, local[i])
				roots++
			}
		}
		le.PutUint32(b[count:], roots)
		var appendix []uint32
		for _, i := range mine[rank] {
			x := &s.steps[i]
			size, peer := uint64(x.bytes), uint32(x.peer)
			if x.kind == calc {
				size, peer = uint64(x.dur/unit.Nanosecond), 0
			}
			b = append(le.AppendUint32(b, waits[i]), byte(x.kind))
			b = le.AppendUint32(le.AppendUint64(le.AppendUint32(b, peer), size), uint32(x.tag))
			b = append(b, 0, 0)
			for k := range 2 {
				b = le.AppendUint32(le.AppendUint32(b, uint32(len(after[i][k]))), uint32(len(appendix)))
				appendix = append(appendix, after[i][k]...)
			}
		}
		for _, a := range appendix {
			b = le.AppendUint32(b, a)
		}
		le.PutUint64(b[table+16*rank:], uint64(start-8))
		le.PutUint64(b[table+16*rank+8:], uint64(len(b)-8))
	}
	return b
}
