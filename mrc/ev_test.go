package mrc

import (
	"slices"
	"testing"

	"railyard/internal/rng"
	"railyard/transport"

	"pgregory.net/rapid"
)

func testProfile(values, active, planes int) *profile {
	m := maker{common: transport.Common{Planes: planes}, knobs: knobs{EVs: values, Active: active, Burst: 1}}
	p := newProfile(&m, rng.New(1, "test"))
	return &p
}

// taking returns the values that take turns on a plane.
func (p *profile) taking(plane int) (numbers []uint16) {
	for _, v := range p.planes[plane].active {
		numbers = append(numbers, v.number)
	}
	return numbers
}

// Values are distinct, are ports that programs may send from, and equally many per plane.
func TestProfile(t *testing.T) {
	for _, ipv6 := range []bool{false, true} {
		m := maker{common: transport.Common{Planes: 4, IPv6: ipv6}, knobs: knobs{EVs: 256, Active: 128, Burst: 1}}
		p := newProfile(&m, rng.New(1, "test"))
		seen := map[uint32]bool{}
		for i, v := range p.values {
			if seen[v] || v&0xffff < firstPort || !ipv6 && v>>16 != 0 {
				t.Errorf("value %d is %#x", i, v)
			}
			seen[v] = true
			if at, ok := p.find(v); !ok || int(at) != i {
				t.Errorf("value %d is found at %d, %v", i, at, ok)
			}
		}
		for plane := range p.planes {
			if a, r := len(p.planes[plane].active), len(p.reserve[plane]); a != 32 || r != 32 {
				t.Errorf("plane %d has %d active and %d in reserve", plane, a, r)
			}
		}
	}
}

// A round uses each active value once, in another order than the last round. A skipped value is omitted until the
// next round.
func TestRounds(t *testing.T) {
	p := testProfile(64, 32, 2)
	round := func(n int) (all []uint16) {
		for range n {
			v, _ := p.next(1)
			all = append(all, v.number)
		}
		return all
	}
	first, second := round(16), round(16)
	if slices.Equal(first, second) {
		t.Error("two rounds are in the same order")
	}
	slices.Sort(first)
	slices.Sort(second)
	if !slices.Equal(first, second) || slices.Compact(first)[15] != second[15] {
		t.Errorf("rounds take %v and %v", first, second)
	}
	third := round(1)
	left := second[3]
	if left == third[0] {
		left = second[4]
	}
	p.skip(left)
	if third = round(14); slices.Contains(third, left) {
		t.Error("a skipped value has its turn")
	}
	if fourth := round(16); !slices.Contains(fourth, left) {
		t.Error("a skipped value is not back in the next round")
	}
}

// A value is assumed bad until a probe is answered; a reserve value of its plane replaces it.
func TestReserve(t *testing.T) {
	p := testProfile(12, 6, 2)
	active := p.taking(0)
	reserve := slices.Clone(p.reserve[0])
	for _, i := range active {
		p.condemn(i)
		p.condemn(i) // once is enough
	}
	got := slices.Sorted(slices.Values(p.taking(0)))
	slices.Sort(reserve)
	if !slices.Equal(got, reserve) || p.replaced != 3 || len(p.reserve[0]) != 0 {
		t.Errorf("%v are active, %v were the reserve, %d replaced", got, reserve, p.replaced)
	}
	if got := len(p.planes[1].active); got != 3 {
		t.Errorf("the other plane has %d", got)
	}
	p.condemn(got[0])
	if len(p.planes[0].active) != 2 || len(p.bad) != 4 {
		t.Errorf("%d active, %d bad", len(p.planes[0].active), len(p.bad))
	}
	p.skip(active[0])
	if p.restore(active[0], false); p.states[active[0]] != good || len(p.planes[0].active) != 3 {
		t.Errorf("restored, it is %d, and %d are active", p.states[active[0]], len(p.planes[0].active))
	}
	if p.restore(active[1], true); p.states[active[1]] != skipped || len(p.reserve[0]) != 1 {
		t.Errorf("restored by a marked probe it is %d, %d in reserve", p.states[active[1]],
			len(p.reserve[0]))
	}
}

// After any operations each value is in one list of its plane, and its state names that list.
func TestProfileAccount(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		planes := rapid.IntRange(1, 4).Draw(rt, "planes")
		p := testProfile(8*planes, rapid.IntRange(planes, 8*planes).Draw(rt, "active"), planes)
		for range rapid.IntRange(1, 100).Draw(rt, "events") {
			i := uint16(rapid.IntRange(0, len(p.values)-1).Draw(rt, "value"))
			switch rapid.IntRange(0, 4).Draw(rt, "event") {
			case 0:
				p.condemn(i)
			case 1:
				p.restore(i, i%2 == 0)
			case 2:
				p.skip(i)
			case 3:
				v, ok := p.next(p.plane(i))
				if s := p.states[v.number]; ok && (s != good || v.value != p.values[v.number]) {
					rt.Fatalf("%v in state %d has its turn", v, s)
				}
			case 4:
				p.probed()
			}
			checkAccount(rt, p)
		}
	})
}

func checkAccount(rt *rapid.T, p *profile) {
	places := make([]int, len(p.values))
	for plane := range p.planes {
		for _, i := range append(p.taking(plane), p.reserve[plane]...) {
			if places[i]++; p.plane(i) != plane || p.states[i] != good && p.states[i] != skipped {
				rt.Fatalf("value %d in state %d is used on plane %d", i, p.states[i], plane)
			}
		}
		if n := len(p.planes[plane].active); n > p.wanted {
			rt.Fatalf("%d active where %d are wanted", n, p.wanted)
		}
	}
	for _, i := range p.bad {
		if places[i]++; p.states[i] != assumedBad {
			rt.Fatalf("value %d in state %d is probed", i, p.states[i])
		}
	}
	for i, n := range places {
		if n != 1 {
			rt.Fatalf("value %d in state %d is in %d places", i, p.states[i], n)
		}
	}
}

// A burst stays on one value. Given values are used, with planes in turn.
func TestGivenValuesInBursts(t *testing.T) {
	m := maker{common: transport.Common{Planes: 2, EVs: []uint32{7001, 7002, 7003, 7004}},
		knobs: knobs{EVs: 4, Active: 4, Burst: 3}}
	p := newProfile(&m, rng.New(1, "test"))
	for range 4 {
		first, _ := p.next(1)
		second, _ := p.next(1)
		third, _ := p.next(1)
		if first != second || second != third || first.value%2 != 0 {
			t.Errorf("a burst on plane 1 goes by %v, %v and %v", first, second, third)
		}
	}
	v, _ := p.next(1)
	i := v.number
	if p.condemn(i); p.states[i] != assumedBad {
		t.Fatal("it is not bad")
	}
	if v, _ := p.next(1); v.number == i {
		t.Error("a burst goes on by a value that is bad")
	}
}
