package swconf

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The first matching entry decides. Entries with further conditions decide nothing and are reported.
func TestAccessList(t *testing.T) {
	every := func() (all []int) {
		for d := range 64 {
			all = append(all, d)
		}
		return all
	}()
	for _, c := range []struct {
		entries        []string
		want           []int
		partly, byPort bool
	}{
		{[]string{"permit udp any any eq 4791"}, every, false, true},
		{[]string{"permit udp any any eq 4791 dscp 26"}, []int{26}, false, true},
		{[]string{"permit udp any any range 4790 4792 dscp af31 log"}, []int{26}, false, true},
		{[]string{"permit ip any any dscp cs3"}, []int{24}, false, false},
		{[]string{"permit ip any any precedence 3"}, []int{24, 25, 26, 27, 28, 29, 30, 31}, false, false},
		{[]string{"deny udp any any eq 4791 dscp 48", "permit udp any any gt 1024"},
			slices.DeleteFunc(slices.Clone(every), func(d int) bool { return d == 48 }), false, true},
		{[]string{"permit ip any any dscp 10", "deny ip any any", "permit ip any any"}, []int{10},
			false, false},
		{[]string{"permit tcp any any eq 4791", "permit udp any any eq domain", "permit icmp any any"},
			nil, false,
			false},
		{[]string{"permit udp any any eq 53", "permit udp any any neq 4791", "permit udp any any " +
			"lt 4791"}, nil,
			false, false},
		{[]string{"permit udp 10.0.0.0/8 any eq 4791"}, nil, true, true},
		{[]string{"permit udp 10.0.0.0 0.255.255.255 10.0.0.0 0.255.255.255 eq 4791"}, nil, true, true},
		{[]string{"permit udp host 10.0.0.1 any eq 22"}, nil, false, false},
		{[]string{"permit udp any eq 4791 any"}, nil, true, false},
		{[]string{"permit udp any any eq 4791 ttl eq 1"}, nil, true, true},
		{[]string{"permit ip any any dscp 99"}, nil, true, false},
		{[]string{"permit udp any any eq"}, nil, true, false},
		{[]string{"permit", "permit udp", "permit udp any", "permit udp host"}, nil, true, false},
	} {
		var l AccessList
		for _, e := range c.entries {
			rest, permit := e[len("deny"):], e[0] == 'p'
			if permit {
				rest = e[len("permit"):]
			}
			l.Add(0, permit, strings.TrimSpace(rest))
		}
		var got []int
		x := l.Takes()
		for d := range 64 {
			if x.DSCP[d] {
				got = append(got, d)
			}
		}
		if !slices.Equal(got, c.want) || x.Partly != c.partly || x.ByPort != c.byPort {
			t.Errorf("%q: %v, partly %v, by port %v", c.entries, got, x.Partly, x.ByPort)
		}
	}
}

// Entries are ordered by their numbers, however they are typed, and are removed by number or by content.
func TestAccessListNumbers(t *testing.T) {
	var l AccessList
	takes := func() (got []int) {
		for d, is := range l.Takes().DSCP {
			if is {
				got = append(got, d)
			}
		}
		return got
	}
	step := func(what string, want ...int) {
		t.Helper()
		if got := takes(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	l.Add(20, true, "ip any any dscp 26")
	l.Add(0, true, "ip any any dscp 10")
	step("behind the last", 10, 26)
	l.Add(5, false, "ip any any dscp 26")
	step("before the first", 10)
	l.Add(5, true, "ip any any dscp 48")
	step("over another", 10, 26, 48)
	l.Remove(30, true, "")
	step("by number", 26, 48)
	l.Remove(0, false, "ip any any dscp 26")
	step("another of the words", 26, 48)
	l.Remove(0, true, "IP any any DSCP 26")
	step("by words", 48)
}

// Long lists typed in reverse, and removed again, are parsed as fast as others, because each step reads one entry.
func TestLongAccessList(t *testing.T) {
	const n = 300_000
	var l AccessList
	for i := int64(n); i > 0; i-- {
		l.Add(i, i != 7, "ip any any dscp "+strconv.Itoa(int(i&63)))
	}
	for i := int64(n); i > 64; i-- {
		l.Remove(i, false, "")
	}
	l.Add(math.MaxInt64, true, "ip any any dscp 7")
	l.Add(0, true, "ip any any dscp 7") // no number is left after it
	for d, is := range l.Takes().DSCP {
		if is != (d != 7) {
			t.Errorf("DSCP %d: %v", d, is)
		}
	}
}
