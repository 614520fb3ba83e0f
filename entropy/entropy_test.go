package entropy

import (
	"testing"

	"pgregory.net/rapid"
)

// In any run of packets, the packets per port differ by at most one. A port is reused after all others.
func TestTurnsAreEven(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ports := rapid.IntRange(1, 256).Draw(rt, "ports")
		var turn Turn
		for range rapid.IntRange(0, 1000).Draw(rt, "sent before") {
			turn.Next(ports)
		}
		packets := rapid.IntRange(0, 2000).Draw(rt, "packets")
		sent, last := make([]int, ports), -1
		for range packets {
			at := turn.Next(ports)
			if last >= 0 && at != (last+1)%ports {
				rt.Fatalf("port %d after %d of %d", at, last, ports)
			}
			sent[at]++
			last = at
		}
		for i, n := range sent {
			if n < packets/ports || n > packets/ports+1 {
				rt.Fatalf("port %d sent %d of %d packets, %d ports", i, n, packets, ports)
			}
		}
	})
}

// A queue pair's ports are distinct dynamic ports.
func TestPortsDiffer(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		digest := rapid.Uint32().Draw(rt, "digest")
		seen := map[uint16]bool{}
		for i := range Most {
			p := Port(digest, i)
			if p < 0xc000 || seen[p] {
				rt.Fatalf("port %d of %#x is %#x", i, digest, p)
			}
			seen[p] = true
		}
	})
}
