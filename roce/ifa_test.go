package roce

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"railyard/unit"
)

// ifaPacket is bytes after the figures of draft-kumar-ippm-ifa-08 and Scapy's table of the metadata. It is an ACK
// that returns two switches' metadata, the newer on top. Its ICRC is that of the packet without IFA.
const ifaPacket = "020000000002 020000000001 0800" +
	"4560 0078 0000 4000 40 83 25a1 0a000001 0a000002" + // protocol 131, 120 bytes
	"2 f 11 00 28" + // version 2, GNS 15, UDP next, no flags, 40 words at most
	"c000 12b7 001c 0000" + // UDP: 28 bytes, which leave out the metadata
	"ff 00 00 10" + // all requested, hop limit 0, 16 words
	"1 00007 3f" + "6 dc 00004" + "0002 0001" + "00000fa0" + "00000064" + "80000001" + "0000 0003" + "00000000" +
	"1 00003 40" + "4 8c 00004" + "0009 0011" + "00000bb8" + "00000002" + "00000000" + "0000 ffff" + "00000000" +
	"11 40 ffff 00 000011 80 001388" + "1f 000003" // BTH, AETH

// field returns the bits of a frame from a bit on.
func field(b []byte, at, n int) (v uint64) {
	for i := at; i < at+n; i++ {
		v = v<<1 | uint64(b[i/8]>>(7-i%8)&1)
	}
	return v
}

// ifaFields reads metadata by the draft's figures: widths of 4, 20, 8, 4, 2, 6, 20, 16, 16, 32, 32, 32, 16, 16 and
// 32 bits.
func ifaFields(b []byte, at int) IFAHop {
	at *= 8
	next := func(n int) (v uint64) {
		v = field(b, at, n)
		at += n
		return v
	}
	h := IFAHop{LNS: uint8(next(4)), Device: uint32(next(20)), TTL: uint8(next(8)), Rate: uint8(next(4)),
		ECN: uint8(next(2)), Queue: uint8(next(6))}
	seconds := unit.Time(next(20))
	h.Egress, h.Ingress = uint16(next(16)), uint16(next(16))
	h.Received = seconds*unit.Second + unit.Time(next(32))*unit.Nanosecond
	h.Residence, h.Sent = uint32(next(32)), uint32(next(32))
	next(16)
	h.Cells, h.Reserved = uint16(next(16)), uint32(next(32))
	return h
}

func TestIFAByHand(t *testing.T) {
	b, err := hex.DecodeString(strings.ReplaceAll(ifaPacket, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, 0, 0, 0, 0) // ICRC
	var f Frame
	if err := f.Decode(b); err != nil {
		t.Fatal(err)
	}
	want := IFA{GNS: 15, Next: 17, Max: 40, Request: 255, Meta: b[14+20+4+8+4 : 14+20+4+8+4+64]}
	if !f.Analyzed || !reflect.DeepEqual(f.IFA, want) || f.BTH.Opcode != Acknowledge || f.BTH.MSN != 3 ||
		f.BTH.PSN != 5000 || f.UDP.SrcPort != 0xc000 || len(f.Body) != 0 {
		t.Errorf("%+v\nwant %+v", f, want)
	}
	hops, ok := f.IFA.Hops()
	older, newer := ifaFields(b, 14+20+4+8+4+32), ifaFields(b, 14+20+4+8+4)
	if !ok || !reflect.DeepEqual(hops, []IFAHop{older, newer}) {
		t.Errorf("%v", hops)
	}
	wanted := []IFAHop{{LNS: 1, Device: 3, TTL: 64, Rate: 4, ECN: 2, Queue: 12, Egress: 9, Ingress: 17,
		Received: 4*unit.Second + 3*unit.Microsecond, Residence: 2, Cells: 65535},
		{LNS: 1, Device: 7, TTL: 63, Rate: 6, ECN: 3, Queue: 28, Egress: 2, Ingress: 1,
			Received: 4*unit.Second + 4*unit.Microsecond, Residence: 100, Sent: 1<<31 + 1, Cells: 3}}
	if !reflect.DeepEqual(hops, wanted) {
		t.Errorf("%+v\nwant %+v", hops, wanted)
	}
	if hops[1].Speed() != 400*unit.Gbps || hops[0].Speed() != 100*unit.Gbps || hops[1].Waiting() != 3*254 ||
		hops[1].At() != 4*unit.Second+4100*unit.Nanosecond {
		t.Errorf("%v, %v", &hops[0], &hops[1])
	}
	f.ICRC = f.ComputeICRC()
	plain := f
	plain.Analyzed, plain.IFA = false, IFA{}
	plain.Complete()
	if f.ICRC != plain.ICRC {
		t.Error("the ICRC covers IFA's headers, which the terminating node removes")
	}
	f.Complete()
	copy(b[len(b)-4:], f.Append(nil)[len(b)-4:])
	if got := f.Append(nil); !bytes.Equal(got, b) {
		t.Errorf("written anew:\n%x\nwant\n%x", got, b)
	}
}

// TestIFAOnTheWire: a packet with random metadata decodes unchanged with a valid ICRC. Each byte counts in IP's
// length and none in UDP's, and no prefix decodes.
func TestIFAOnTheWire(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := stamped(0)
		f.BTH.Telemetry = NoTelemetry
		if rapid.Bool().Draw(rt, "IPv6") {
			f.IP.Src, f.IP.Dst = addr("2001:db8::1"), addr("2001:db8::2")
		}
		f.Complete()
		plain := f.Append(nil)
		f.Analyzed, f.IFA = true, NewIFA()
		var pushed []IFAHop
		for range rapid.IntRange(0, IFAHops).Draw(rt, "switches") {
			h := IFAHop{LNS: 1, Device: rapid.Uint32Max(1<<20-1).Draw(rt, "device"),
				TTL: rapid.Uint8().Draw(rt, "TTL"), Rate: rapid.Uint8Max(15).Draw(rt, "rate"),
				ECN: rapid.Uint8Max(3).Draw(rt, "ECN"), Queue: rapid.Uint8Max(63).Draw(rt, "queue"),
				Egress: rapid.Uint16().Draw(rt, "egress"), Ingress: rapid.Uint16().Draw(rt, "ingress"),
				Received:  unit.Time(rapid.Int64Range(0, 1<<20*1e9-1).Draw(rt, "ns")) * unit.Nanosecond,
				Residence: rapid.Uint32().Draw(rt, "residence"), Sent: rapid.Uint32().Draw(rt, "sent"),
				Cells: rapid.Uint16().Draw(rt, "cells")}
			pushed = append(pushed, h)
			f.IFA.Push(&h)
		}
		f.Complete()
		b := f.Append(nil)
		var g Frame
		if err := g.Decode(b); err != nil || len(b) != len(plain)+f.IFA.Len() || g.ComputeICRC() != g.ICRC ||
			g.UDP != f.UDP || int(g.IP.Proto) != ProtoIFA || g.IFA.Limit != uint8(IFAHops-len(pushed)) {
			rt.Fatalf("%v: %v", err, &g)
		}
		hops, ok := g.IFA.Hops()
		if !ok || len(hops) != len(pushed) || len(pushed) > 0 && !reflect.DeepEqual(hops, pushed) {
			rt.Fatalf("%v, want %v", hops, pushed)
		}
		at := EthernetLen + len(b) - len(plain) - f.IFA.Len() // start of IP
		at += map[uint8]int{4: IPv4Len, 6: IPv6Len}[g.IP.Version] + 4 + UDPLen + 4
		for i := range pushed { // the newest first
			if got := ifaFields(b, at+32*i); got != pushed[len(pushed)-1-i] {
				rt.Fatalf("by the figures %v, want %v", &got, &pushed[len(pushed)-1-i])
			}
		}
		for n := EthernetLen; n < len(b); n++ {
			if g.Decode(b[:n]) == nil {
				rt.Fatalf("%d of %d bytes decode", n, len(b))
			}
		}
	})
}

// TestIFAOfOthers: what deployed switches send. Broadcom's SONiC exports headers 2f1100ff ffff1e10 under protocol
// 253. Its metadata has another format than LNS 1 and is kept as bytes. Packets with a stack at their end,
// fragments of metadata and other versions are not RoCE.
func TestIFAOfOthers(t *testing.T) {
	f := stamped(0)
	f.BTH.Telemetry = NoTelemetry
	f.Analyzed, f.IFA = true, IFA{GNS: 15, Next: 17, Max: 255, Request: 255, Action: 255, Limit: 30,
		Meta: make([]byte, 64)}
	f.Complete()
	f.IP.Proto = ProtoIFAExperimental
	f.IP.Checksum = 0
	f.IP.Checksum = ^checksum(0, f.IP.append(nil))
	b := f.Append(nil)
	at := EthernetLen + IPv4Len
	if head := hex.EncodeToString(b[at:at+4]) + hex.EncodeToString(b[at+12:at+16]); head != "2f1100ffffff1e10" {
		t.Error(head)
	}
	var g Frame
	if err := g.Decode(b); err != nil || !g.Analyzed || g.ComputeICRC() != g.ICRC {
		t.Errorf("%v: %v", err, &g)
	}
	if _, ok := g.IFA.Hops(); ok || !strings.Contains(g.String(), "64 bytes of metadata in a format other than LNS 1") {
		t.Error(&g)
	}
	for _, c := range []struct {
		at   int
		with byte
	}{{0, 0x3f}, {1, 6}, {2, 8}, {2, 16}, {2, 1}} {
		bad := bytes.Clone(b)
		bad[at+c.at] = c.with
		if err := g.Decode(bad); err != ErrNotRoCE {
			t.Errorf("byte %d is %#x: %v", c.at, c.with, err)
		}
	}
	b[at+15] = 255 // more words of metadata than the packet has bytes
	if err := g.Decode(b); err == nil {
		t.Error("metadata beyond the packet")
	}
}
