package mrc

import (
	"testing"
	"unsafe"

	"railyard/cc"
	"railyard/transport"
)

// TestLines checks that the fields of both ends and of their peer that every packet reads are in the minimum of
// cache lines. With a thousand connections none of them is cached when the next packet arrives, so each line costs
// a memory access. The allocator's header before an object counts.
func TestLines(t *testing.T) {
	m := newMaker(Protocol.Defaults, transport.Common{MTU: 4096})
	p := newPeer(m, testPath, 1)
	s, r := newSender(p, 1), newReceiver(m, testPath, 1)
	type field struct {
		name     string
		at, size uintptr
	}
	for _, of := range []struct {
		what   string
		base   unsafe.Pointer
		lines  int
		fields []field
	}{
		{"a sender", unsafe.Pointer(s), 5, []field{
			{"peer", unsafe.Offsetof(s.peer), 8}, {"since", unsafe.Offsetof(s.since), 8},
			{"slots", unsafe.Offsetof(s.slots), 64},
			{"open", unsafe.Offsetof(s.open), unsafe.Sizeof(s.open)},
			{"one", unsafe.Offsetof(s.one), unsafe.Sizeof(s.one)},
			{"messages", unsafe.Offsetof(s.messages), 24}, {"inFlight", unsafe.Offsetof(s.inFlight), 8},
			{"retry", unsafe.Offsetof(s.retry), unsafe.Sizeof(s.retry)},
			{"silence", unsafe.Offsetof(s.silence), 8},
			{"ports", unsafe.Offsetof(s.ports), unsafe.Offsetof(s.ports.answer)},
		}},
		{"a receiver", unsafe.Pointer(r), 6, []field{
			{"m", unsafe.Offsetof(r.m), 8}, {"dead", unsafe.Offsetof(r.dead), 1},
			{"arrivals", unsafe.Offsetof(r.arrivals), 24},
			{"sacks", unsafe.Offsetof(r.sacks), unsafe.Sizeof(r.sacks)},
			{"ports", unsafe.Offsetof(r.ports), unsafe.Offsetof(r.ports.answer)},
			{"answers", unsafe.Offsetof(r.answers), 24},
			{"reverse", unsafe.Offsetof(r.reverse) + unsafe.Offsetof(r.reverse.at), 32},
			{"n", unsafe.Offsetof(r.n), 24},
			{"blocks", unsafe.Offsetof(r.blocks), unsafe.Sizeof(r.blocks)},
		}},
		{"a peer", unsafe.Pointer(p), 4, []field{
			{"m", unsafe.Offsetof(p.m), 8}, {"penalty", unsafe.Offsetof(p.penalty), 1},
			{"pace", unsafe.Offsetof(p.pace), unsafe.Sizeof(cc.Pacer{})},
			{"planes", unsafe.Offsetof(p.evs), 24 + unsafe.Sizeof(planeEVs{})},
		}},
	} {
		lines := map[uintptr]bool{}
		for _, f := range of.fields {
			for at := f.at; at < f.at+f.size; at++ {
				lines[(uintptr(of.base)+at)/64] = true
			}
		}
		if len(lines) != of.lines {
			t.Errorf("%s has what packets read in %d lines, want %d", of.what, len(lines), of.lines)
			for _, f := range of.fields {
				t.Logf("%s from %d to %d", f.name, uintptr(of.base)%64+f.at, uintptr(of.base)%64+f.at+f.size)
			}
		}
	}
}
