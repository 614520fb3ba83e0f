package mrc

import (
	"strings"
	"testing"

	"railyard/param"
	"railyard/roce"
	"railyard/transport"
	"railyard/transport/transporttest"
	"railyard/unit"

	"pgregory.net/rapid"
)

// overWire passes a packet through the codec: its headers become bytes, and are decoded some time later.
func overWire(t testing.TB) func(p *transport.Packet) {
	const later = 3 * unit.Millisecond
	buf := make([]byte, 0, 128)
	return func(p *transport.Packet) {
		var h, h2 roce.Header
		var m, m2 roce.MRC
		Encode(p, &h, &m, 1, 2)
		buf = m.Append(&h, buf[:0])
		if _, err := m2.Decode(&h2, buf); err != nil {
			t.Fatalf("%+v becomes %s: %v", p, m.Text(&h), err)
		}
		ip, was := transport.Marked|transport.Trimmed|transport.LastHop, *p
		if !Decode(was.Sent+later, &h2, &m2, int(was.Payload), p) {
			t.Fatalf("%+v becomes %s, which MRC does not say", was, m.Text(&h))
		}
		p.EV, p.Plane, p.Flags = was.EV, was.Plane, p.Flags|was.Flags&ip
		if p.Kind != was.Kind || p.Flags != was.Flags || p.Code != was.Code {
			t.Fatalf("%+v became %+v over %s", was, *p, m.Text(&h))
		}
	}
}

// MRC passes transporttest if its ends exchange only what headers carry.
func TestConformsOverWire(t *testing.T) {
	transporttest.Run(t, transporttest.Suite{Protocol: &Protocol, Carry: overWire(t),
		Values: with(param.Values{"retries": 64, "exponential": false})})
}

// All fields of a packet survive the codec, within their units.
func TestCodecRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		u := func(name string, most uint64) uint64 { return rapid.Uint64Range(0, most).Draw(rt, name) }
		flag := func(f transport.Flags) transport.Flags {
			return f * transport.Flags(u("flag", 1))
		}
		expect := uint32(u("expect", 1<<32-1))
		p := transport.Packet{PSN: uint32(u("PSN", roce.PSNMask)), Sent: unit.Time(u("sent", 1e13))}
		now := p.Sent + unit.Time(u("age", 8e9))
		switch u("kind", 4) {
		case 0:
			p.Kind, p.Message = transport.Data, uint32(u("message", 1<<16-1))
			p.Bytes = u("bytes", maxMessage)
			p.Offset, p.Payload = u("offset", p.Bytes), uint32(u("payload", 4096))
			if p.Flags = flag(transport.Again) | flag(transport.Asks) | flag(transport.Last); p.Flags&
				transport.Last != 0 {
				p.Flags |= flag(transport.Tells)
			}
		case 1:
			p.Kind, p.Expect = transport.Ack, expect&roce.PSNMask
			p.PSN = (expect + uint32(u("about", 2e4)) - 1e4) & roce.PSNMask
			p.Base, p.Bits = p.PSN&^63, [2]uint64{u("bitmap", 1<<63), 128 * u("range", 255)}
			p.Verdict, p.Penalty = uint8(u("verdict", 2)), uint8(u("penalty", 127))
			p.EchoEV = uint32(u("EV", 1<<32-1))
			p.Late, p.Bytes = uint32(u("late", 1<<15-1)), 256*u("received", 1<<24-1)
		case 2:
			p.Kind, p.Code, p.EchoEV = transport.Nack, uint8(u("reason", 255)), uint32(u("EV", 1<<32-1))
		case 3:
			p.Kind, p.Code, p.PSN = transport.Probe, uint8(u("about", 1)), p.PSN&0xffff
		case 4:
			p.Kind, p.Code, p.PSN = transport.Control, AboutPorts, p.PSN&0xffff
			p.Bits[0] = u("planes", 1<<32-1)
		}
		if p.Flags |= transport.Stamped; p.Kind == transport.Data || p.Kind == transport.Nack {
			p.Flags &^= flag(transport.Stamped)
		}
		var h roce.Header
		var m roce.MRC
		var q transport.Packet
		Encode(&p, &h, &m, 7, 8)
		if !Decode(now, &h, &m, int(p.Payload), &q) {
			rt.Fatalf("%+v is refused", p)
		}
		if q.Flags&transport.Stamped != 0 {
			if q.Sent > p.Sent || p.Sent-q.Sent >= 128*unit.Nanosecond {
				rt.Fatalf("sent at %v, read as %v", p.Sent, q.Sent)
			}
		}
		if p.Sent = q.Sent; p.Kind == transport.Data && p.Offset == 0 { // the first packet of its message
			p.Offset = q.Offset
		}
		if p != q {
			rt.Fatalf("%+v\nbecame %+v over %s", p, q, m.Text(&h))
		}
	})
}

// A repeated packet from long ago is answered with the report up to the cumulative PSN.
func TestOffsetsThatDoNotFit(t *testing.T) {
	p := transport.Packet{Kind: transport.Ack, PSN: 100, Expect: 200_000, Base: 64,
		Bits: [2]uint64{1<<64 - 1}}
	var h roce.Header
	var m roce.MRC
	var q transport.Packet
	if Encode(&p, &h, &m, 7, 8); !Decode(0, &h, &m, 0, &q) || q.Expect != 200_000 || q.Bits[0] != 0 ||
		q.PSN != 199_999 {
		t.Errorf("%+v", q)
	}
}

// Packets that no MRC end sends are rejected.
func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct {
		op roce.Opcode
		m  roce.MRC
	}{{roce.WriteOnly, roce.MRC{}}, {roce.MRCAck, roce.MRC{}},
		{roce.MRCEndpointRequest, roce.MRC{ERTH: roce.ERTH{Op: 3}}},
		{roce.MRCEndpointResponse, roce.MRC{EETH: roce.EETH{Op: 2}}}} {
		h := roce.Header{Opcode: c.op}
		if Decode(0, &h, &c.m, 0, &transport.Packet{}) {
			t.Errorf("%s is taken", c.m.Text(&h))
		}
	}
}

func TestCodecAllocatesNothing(t *testing.T) {
	carry := overWire(t)
	p := transport.Packet{Kind: transport.Data, Payload: 4096, Bytes: 8192, Flags: transport.Stamped,
		Sent: 1e9}
	if n := testing.AllocsPerRun(100, func() { carry(&p) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Given entropy values must fit the packet and be ports from which programs may send.
func TestGivenEVs(t *testing.T) {
	for _, c := range []struct {
		ev   uint32
		ipv6 bool
		says string
	}{{0xc000, false, ""}, {0x1c000, true, ""}, {0x1c000, false, "does not fit the 16 bits"},
		{80, true, "those below 1024 are the system's"}} {
		common := transport.Common{MTU: 4096, Planes: 1, IPv6: c.ipv6, EVs: []uint32{49152, c.ev}}
		name, fault := Protocol.Check(with(param.Values{"evs": 2, "active_evs": 2}), common)
		if c.says == "" && fault != "" || c.says != "" && (name != "evs" ||
			!strings.Contains(fault, c.says)) {
			t.Errorf("%#x: %s %s", c.ev, name, fault)
		}
	}
}

// Data packets have a payload after the headers; other packets have none.
func TestSpelledPayload(t *testing.T) {
	for kind, want := range map[transport.Kind]int{transport.Data: 4096, transport.Ack: 0, transport.Control: 0} {
		var f roce.Frame
		p := transport.Packet{Kind: kind, PSN: 7, Payload: 4096}
		if got := (&maker{}).Spell(&p, &f, 1, 2); got != want || f.BTH.DestQP != 2 {
			t.Errorf("kind %v: %d bytes behind the headers, to queue pair %d", kind, got, f.BTH.DestQP)
		}
	}
}
