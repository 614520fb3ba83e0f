package mrc

import (
	"testing"

	"railyard/transport"

	"pgregory.net/rapid"
)

// Packets arrive in any order within the window, some of them twice. The receiver accepts each once, and its bitmap is
// the set of those that arrived, near and far ahead of the oldest missing packet.
func TestReceiverTracksWhatArrived(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		_, r := ends(1)
		came, expect := map[uint32]bool{}, uint32(0)
		for range rapid.IntRange(1, 300).Draw(rt, "packets") {
			far := rapid.SampledFrom([]uint32{1, 3, 64, 200, 1000, uint32(r.m.Window)}).Draw(rt, "far")
			psn := expect + rapid.Uint32Range(0, far-1).Draw(rt, "psn")
			fresh := r.Take(0, &transport.Packet{Kind: transport.Data, PSN: psn, Payload: 1000, Bytes: 1 << 30})
			if fresh == came[psn] {
				rt.Fatalf("packet %d is new: %v", psn, fresh)
			}
			for came[psn] = true; came[expect]; expect++ {
			}
			for base := expect &^ 63; base < expect+uint32(r.m.Window); base += 64 {
				var want uint64
				for i := range uint32(64) {
					if base+i < expect || came[base+i] {
						want |= 1 << i
					}
				}
				if got := r.bitmap(base); got != want {
					rt.Fatalf("from %d on %064b has arrived, found %064b", base, want, got)
				}
			}
		}
		if r.Close(); len(came) == int(expect) && len(r.came) != 1 {
			rt.Errorf("a closed receiver tracks %d words", len(r.came))
		}
	})
}
