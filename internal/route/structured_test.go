package route

import (
	"strings"
	"testing"

	"railyard/param"
	"railyard/roce"

	"pgregory.net/rapid"
)

// For any sizes of tiers: packets can carry the values, which are distinct, and each switch uses the port of the
// value. A plane's values cover all paths before one repeats.
func TestStructuredWays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var ports [Tiers]int
		for i := range ports {
			ports[i] = rapid.IntRange(0, 32).Draw(rt, "ports")
		}
		planes, each := rapid.IntRange(1, 8).Draw(rt, "planes"), rapid.IntRange(1, 64).Draw(rt, "values")
		ipv6 := rapid.Bool().Draw(rt, "IPv6")
		room, bits := Room(ipv6), roce.EVBits4
		if ipv6 {
			bits = roce.EVBits6
		}
		v := param.Values{}
		for i, key := range tierKeys {
			v[key] = 0
			if i == 1 && rapid.Bool().Draw(rt, "wider than needed") {
				v[key] = 6
			}
		}
		f, key, fault := LayOut(v, ports, room)
		if fault != "" {
			if key != "" || f.Bits[0]+f.Bits[1]+f.Bits[2] <= room {
				rt.Fatalf("%v: %s %s", f, key, fault)
			}
			return
		}
		evs, err := f.Values(ports, planes, each, room)
		if err != nil {
			if strings.Contains(err.Error(), "bits besides") {
				return
			}
			rt.Fatal(err)
		}
		checkWays(rt, v, ports, evs, planes, each, bits)
	})
}

func checkWays(rt *rapid.T, v param.Values, ports [Tiers]int, evs []uint32, planes, each, bits int) {
	if len(evs) != planes*each {
		rt.Fatalf("%d values, want %d", len(evs), planes*each)
	}
	ways := 1
	var choosers [Tiers]Chooser
	var groups [Tiers][]int32
	for i, n := range ports {
		choosers[i] = Structured.Make(v, Site{Tier: i + 1})
		for p := range int32(max(n, 1)) {
			groups[i] = append(groups[i], 100*p)
		}
		ways *= max(n, 1)
	}
	seen, taken := map[uint32]bool{}, make([]map[[Tiers]int32]int, planes)
	for k, ev := range evs {
		if err := roce.CheckEV(roce.EV(ev), bits); err != nil || seen[ev] {
			rt.Fatalf("value %d: %#x, again %v: %v", k, ev, seen[ev], err)
		}
		seen[ev] = true
		var way [Tiers]int32
		for i := range way {
			way[i] = choosers[i].Pick(0, groups[i], 0, ev, nil)
		}
		if taken[k%planes] == nil {
			taken[k%planes] = map[[Tiers]int32]int{}
		}
		taken[k%planes][way]++
	}
	for plane, by := range taken {
		if len(by) != min(ways, each) {
			rt.Errorf("plane %d: %d values take %d of %d ways", plane, each, len(by), ways)
		}
		for way, n := range by {
			if n > (each+ways-1)/ways {
				rt.Errorf("plane %d: way %v is taken %d times", plane, way, n)
			}
		}
	}
}

// Fields too narrow for the ports are rejected, each with its key. The example of 10, 8 and 4 bits in
// docs/references.md, mrc, does not fit IPv4.
func TestStructuredTooNarrow(t *testing.T) {
	for _, c := range []struct {
		bits [Tiers]int
		ipv6 bool
		want string
	}{
		{[Tiers]int{2, 0, 0}, false, "tier1_bits is too narrow: 2 bits select one of 4 ports, and switches of tier 1 choose among 8, which takes 3 bits"},
		{[Tiers]int{0, 0, 1}, false, "tier3_bits is too narrow: 1 bits select one of 2"},
		{[Tiers]int{10, 8, 4}, false, " entropy values are too narrow: the tiers' ports take 10 + 8 + 4 bits, and one has 15"},
		{[Tiers]int{10, 8, 4}, true, ""},
		{[Tiers]int{16, 16, 16}, true, " entropy values are too narrow: the tiers' ports take 16 + 16 + 16"},
	} {
		v := param.Values{tierKeys[0]: c.bits[0], tierKeys[1]: c.bits[1], tierKeys[2]: c.bits[2]}
		_, key, fault := LayOut(v, [Tiers]int{8, 4, 3}, Room(c.ipv6))
		if got := key + " " + fault; fault == "" && c.want != "" || !strings.HasPrefix(strings.TrimSpace(got),
			strings.TrimSpace(c.want)) {
			t.Errorf("%v: %q, want %q", c.bits, got, c.want)
		}
	}
	f := Fields{[Tiers]int{10, 4, 0}}
	if evs, err := f.Values([Tiers]int{1000, 16, 0}, 2, 256, Room(false)); err != nil || len(evs) != 512 {
		t.Errorf("one bit tells two planes apart: %v", err)
	}
	if _, err := f.Values([Tiers]int{10, 16, 0}, 2, 256, Room(false)); err == nil ||
		!strings.Contains(err.Error(), "256 values for each of 2 planes take 2 bits besides the 14") {
		t.Error(err)
	}
}
