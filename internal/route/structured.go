package route

import (
	"fmt"
	"math/bits"

	"railyard/param"
	"railyard/unit"
)

// Structured makes switches read packets' entropy values instead of hashing. Some bits of the value are the port
// number at switches of tier 1, some at those of tier 2, and so on (MRC; docs/references.md, mrc). The value thus
// determines the path. NICs structure their values for it (Fields.Values).
//
// The choice of bits is Railyard's, because the digests contain only widths: the lowest bits belong to tier 1. A
// value's low half is a UDP source port, and ports below 1024 belong to the system. Bit 15 is therefore always set
// and carries no information. This leaves 15 bits over IPv4, and 31 over IPv6, where the flow label carries 16 of
// them.
var Structured = Policy{
	Name: "structured", Title: "structured entropy values",
	Params:   []param.Param{tierBits(1), tierBits(2), tierBits(3)},
	Defaults: param.Values{tierKeys[0]: 0, tierKeys[1]: 0, tierKeys[2]: 0},
	New: func(v param.Values, s Site) Chooser {
		f := fieldsOf(v)
		at := min(max(s.Tier, 1), Tiers) - 1
		return &structured{shift: f.shift(at), mask: 1<<f.Bits[at] - 1}
	},
}

// Tiers is the number of tiers of switches that can have bits of a value.
const Tiers = 3

var tierKeys = [Tiers]string{"tier1_bits", "tier2_bits", "tier3_bits"}

func tierBits(tier int) param.Param {
	return param.Param{Name: tierKeys[tier-1], Kind: param.Count, Min: "1", Max: "16", Zero: true,
		Doc: fmt.Sprintf("bits of a value that select the port at switches of tier %d; 0: as many as they need",
			tier)}
}

// structured returns the port of a value. Numbers beyond the last port wrap to the first, as after routing has
// removed a broken link.
type structured struct {
	memoryless
	shift, mask uint32
}

// Steady: tracing a packet's path changes no state.
func (c *structured) Steady() {}

func (*structured) ReadsEVs() {}

func (c *structured) Pick(_ unit.Time, group []int32, _ int, flow uint32, _ []Port) int32 {
	return group[int(word(flow)>>c.shift&c.mask)%len(group)]
}

// Fields are the bits of values that tiers read, from the lowest on.
type Fields struct{ Bits [Tiers]int }

func fieldsOf(v param.Values) (f Fields) {
	for i, key := range tierKeys {
		f.Bits[i] = param.Value[int](v, key)
	}
	return f
}

// LayOut sets the bits of tiers without a setting to the bits of the largest number of ports of any switch, and refuses
// fewer. The error names the key, or none if the total is too wide. It writes the result to the values.
func LayOut(v param.Values, ports [Tiers]int, room int) (f Fields, key, fault string) {
	f = fieldsOf(v)
	sum := 0
	for i, n := range ports {
		need := bits.Len(uint(max(n, 1) - 1))
		if f.Bits[i] != 0 && f.Bits[i] < need {
			return f, tierKeys[i], fmt.Sprintf("is too narrow: %d bits select one of %d ports, and switches of tier %d choose among %d, which takes %d bits", f.Bits[i], 1<<f.Bits[i], i+1, n, need)
		}
		f.Bits[i] = max(f.Bits[i], need)
		v[tierKeys[i]] = f.Bits[i]
		sum += f.Bits[i]
	}
	if sum > room {
		return f, "", fmt.Sprintf("entropy values are too narrow: the tiers' ports take %d + %d + %d bits, and one has %d for them", f.Bits[0], f.Bits[1], f.Bits[2], room)
	}
	return f, "", ""
}

// shift is the lowest bit of a tier, from 0.
func (f *Fields) shift(tier int) (n uint32) {
	for _, b := range f.Bits[:tier] {
		n += uint32(b)
	}
	return n
}

// Values returns n values for each plane, the planes in turn. The values of a plane enumerate all paths before one
// repeats; tier 1's port changes first. The bits above the fields distinguish values of the same path, and planes. An
// error reports that these bits are too few.
func (f *Fields) Values(ports [Tiers]int, planes, each, room int) ([]uint32, error) {
	ways := 1
	for _, n := range ports {
		ways = min(ways*max(n, 1), each)
	}
	above := f.shift(Tiers)
	if again := (each + ways - 1) / ways * planes; uint64(again) > 1<<(uint32(room)-above) {
		return nil, fmt.Errorf("%d values for each of %d planes take %d bits besides the %d that select ports, and an entropy value has %d", each, planes, bits.Len(uint(again-1)), above, room)
	}
	out := make([]uint32, 0, planes*each)
	for k := range each {
		w, rest := uint32(0), k%ways
		for i, n := range ports {
			w |= uint32(rest%max(n, 1)) << f.shift(i)
			rest /= max(n, 1)
		}
		for plane := range planes {
			out = append(out, value(w|uint32(k/ways*planes+plane)<<above))
		}
	}
	return out, nil
}

// evFixed is the bit of a value that is not part of its word.
const evFixed = 15

// word removes that bit from a value; value adds it to a word.
func word(ev uint32) uint32 { return ev>>1&^(1<<evFixed-1) | ev&(1<<evFixed-1) }

func value(w uint32) uint32 { return w&^(1<<evFixed-1)<<1 | 1<<evFixed | w&(1<<evFixed-1) }

// Room returns the number of bits of values that are available for structure.
func Room(ipv6 bool) int {
	if ipv6 {
		return 31
	}
	return evFixed
}
