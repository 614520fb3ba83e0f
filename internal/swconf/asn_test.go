package swconf

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// RFC 5396, section 2: asdot writes numbers below 65536 plainly and others as two halves; a parser accepts either.
// RFC 4893 reserves 0.
func TestASN(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint32Min(1).Draw(t, "AS")
		for _, s := range []string{fmt.Sprint(n), fmt.Sprintf("%d.%d", n>>16, n&0xffff)} {
			if got, ok := ASN(s); !ok || got != n {
				t.Fatalf("%s is read as %d, %v", s, got, ok)
			}
		}
	})
	for _, s := range []string{"", "0", "0.0", "4294967296", "65536.1", "1.65536", "1.2.3", "-1", "+1", "1.",
		".1", "65000 ", "external", "0x10", "1e3"} {
		if n, ok := ASN(s); ok || n != 0 {
			t.Errorf("%q is read as %d", s, n)
		}
	}
}

// FRR: external is any AS except one's own, internal is one's own, and auto is the AS of the other end.
func TestRemoteAS(t *testing.T) {
	for _, c := range []struct {
		remote   string
		own, far uint32
		want     bool
	}{
		{"external", 65001, 65002, true}, {"external", 65001, 65001, false},
		{"internal", 65001, 65001, true}, {"internal", 65001, 65002, false},
		{"auto", 65001, 65002, true}, {"auto", 65001, 65001, true},
		{"65002", 65001, 65002, true}, {"65003", 65001, 65002, false},
		{"1.1", 65001, 65537, true}, {"1.1", 65001, 11, false},
		{"", 65001, 65002, false}, {"0", 65001, 0, false},
	} {
		if got := takes(c.remote, c.own, c.far); got != c.want {
			t.Errorf("remote-as %q from AS %d to AS %d: %v", c.remote, c.own, c.far, got)
		}
	}
}
