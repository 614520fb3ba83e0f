package roce

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// anyTag returns a random tag as senders and switches make them.
func anyTag(rt *rapid.T) CSIG {
	t := NewCSIG(rapid.Bool().Draw(rt, "wide"), Signal(rapid.IntRange(0, 2).Draw(rt, "signal")))
	for range rapid.IntRange(0, 5).Draw(rt, "hops") {
		t.Replace(rapid.Float64Range(0, 1e13).Draw(rt, "x"), rapid.Uint32().Draw(rt, "port"))
	}
	return t
}

// A tag has 4 or 8 bytes (OCP SAI) between the addresses and the IP header. It decodes unchanged, and the ICRC does
// not cover it. In an acknowledgement the same bytes are covered.
func TestCSIGOnTheWire(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tag := anyTag(rt)
		f := stamped(0)
		f.BTH.Telemetry = NoTelemetry
		f.Complete()
		plain := f.Append(nil)
		f.Tagged, f.CSIG = true, tag
		b := f.Append(nil)
		if len(b) != len(plain)+tag.Len() || tag.Len() != map[bool]int{false: 4, true: 8}[tag.Wide] {
			rt.Fatalf("%d bytes became %d", len(plain), len(b))
		}
		var g Frame
		if err := g.Decode(b); err != nil || g.CSIG != tag || g.ComputeICRC() != g.ICRC ||
			!strings.Contains(g.String(), "CSIG") {
			rt.Fatalf("%v: %v, want %v", err, &g, &tag)
		}
		for n := EthernetLen; n < EthernetLen+tag.Len(); n++ {
			if g.Decode(b[:n]) == nil {
				rt.Fatalf("%d bytes are decoded", n)
			}
		}
		h := Header{Opcode: Acknowledge, PKey: DefaultPKey, Telemetry: TelemetryCSIG, Reflected: tag}
		if tag.Wide {
			h.Telemetry = TelemetryCSIGWide
		}
		var back Header
		wire := h.Append(nil)
		if n, err := back.Decode(wire); err != nil || n != BTHLen+AETHLen+tag.Len() || back.Reflected != tag {
			rt.Fatalf("%v: %v", err, &back)
		}
	})
}

// Along a path a tag gets the worst of its switches' values, with the port of that value.
func TestCSIGKeepsTheWorst(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tag := NewCSIG(rapid.Bool().Draw(rt, "wide"), Signal(rapid.IntRange(0, 2).Draw(rt, "signal")))
		want, where := tag.Value, uint32(0)
		for i, x := range rapid.SliceOfN(rapid.Float64Range(0, 4e11), 1, 6).Draw(rt, "ports") {
			if tag.Type == SignalABWC {
				x /= 4e11
			} else if tag.Type == SignalDelay {
				x /= 1e5
			}
			q := tag.Quantise(x)
			if worst := min(want, q); tag.Type == SignalDelay {
				worst = max(want, q)
				if worst != want {
					want, where = worst, uint32(i+1)
				}
			} else if worst != want {
				want, where = worst, uint32(i+1)
			}
			tag.Replace(x, uint32(i+1))
			middle := float64(q)*tag.step() + tag.step()/2
			if float64(q) < tag.buckets()-1 && math.Abs(middle-x) > 0.51*tag.step() {
				rt.Fatalf("%v is in bucket %d of %v", x, q, tag.step())
			}
		}
		if tag.Value != want || tag.Where != where {
			rt.Fatalf("%v, want value %d of port %d", &tag, want, where)
		}
	})
}
