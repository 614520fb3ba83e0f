package ranks

import (
	"net/netip"
	"testing"

	"pgregory.net/rapid"
)

// An address is 127, the upper 7 and the lower 8 bits of the job's network, and the rank from 1.
func TestLoopback(t *testing.T) {
	for _, c := range []struct {
		port uint16
		rank int
		want string
	}{
		{0, 0, "127.64.0.1"}, {0, 249, "127.64.0.250"}, {0, 250, "127.64.1.1"}, {0, 501, "127.64.2.2"},
		{255, 250, "127.65.0.1"}, {0x1234, 5, "127.82.52.6"}, {0x7fff, 0, "127.191.255.1"}, {0x8000, 0, "127.64.0.1"},
		{0xffff, 250, "127.64.0.1"},
	} {
		if got := Loopback(c.port, c.rank); got != netip.MustParseAddr(c.want) {
			t.Errorf("port %#x, rank %d: %v, want %s", c.port, c.rank, got, c.want)
		}
	}
}

// Two ranks have one address only where port + rank / 250 is the same network in 15 bits.
func TestLoopbackIsUnique(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		port, rank := rapid.Uint16(), rapid.IntRange(0, 5000)
		p, q := port.Draw(t, "port"), port.Draw(t, "other port")
		r, s := rank.Draw(t, "rank"), rank.Draw(t, "other rank")
		same := (int(p)+r/250)%(1<<15) == (int(q)+s/250)%(1<<15) && r%250 == s%250
		a, b := Loopback(p, r), Loopback(q, s)
		if (a == b) != same || !a.IsLoopback() || a.As4()[3] == 0 || a.As4()[3] == 255 {
			t.Fatalf("%v and %v", a, b)
		}
	})
}
