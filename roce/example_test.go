package roce_test

import (
	"fmt"
	"net/netip"
	"strings"

	"railyard/roce"
	"railyard/unit"
)

// A WRITE of five bytes, from its fields to the wire and back.
func Example() {
	f := roce.Frame{Kind: roce.KindRoCEv2}
	f.Src, f.Dst = roce.MAC{2, 0, 0, 0, 0, 1}, roce.MAC{2, 0, 0, 0, 0, 2}
	f.IP.Src, f.IP.Dst = netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	f.IP.TOS, f.IP.TTL = 26<<2|2, 64 // DSCP 26, ECT(0)
	f.UDP.SrcPort = 49152            // input of the ECMP hash
	f.BTH = roce.Header{Opcode: roce.WriteOnly, PKey: roce.DefaultPKey, DestQP: 0x12, PSN: 5000, AckReq: true,
		VA: 0x1000, RKey: 0x1234, Len: 5, Pad: 3}
	f.Body = []byte("hello\x00\x00\x00") // padded to four bytes, as Pad counts
	f.Complete()                         // lengths, checksum, ICRC
	wire := f.Append(nil)

	var g roce.Frame
	if err := g.Decode(wire); err != nil {
		fmt.Println(err)
	}
	addresses, packet, _ := strings.Cut(g.String(), " WRITE")
	fmt.Println(len(wire), "bytes:", addresses)
	fmt.Println("WRITE" + packet)
	fmt.Printf("%q, ICRC holds: %v\n", g.Payload(), g.ICRC == g.ComputeICRC())
	// Output:
	// 82 bytes: 10.0.0.1.49152 > 10.0.0.2 dscp 26 ECT(0)
	// WRITE Only QP 0x000012 PSN 5000 va 0x1000 rkey 0x1234 len 5 AckReq payload 5
	// "hello", ICRC holds: true
}

// A switch pauses priority 3 for the maximum time of one frame.
func ExampleAppendPFC() {
	wire := roce.AppendPFC(nil, roce.MAC{2, 0, 0, 0, 0, 1}, 1<<3, [8]uint16{3: roce.MaxQuanta})
	var f roce.Frame
	if err := f.Decode(wire); err != nil {
		fmt.Println(err)
	}
	fmt.Println(&f)
	fmt.Println(roce.PauseTime(roce.MaxQuanta, 400*unit.Gbps))
	// Output:
	// 02:00:00:00:00:01 > 01:80:c2:00:00:01 PFC prio 3 pause 65535 quanta
	// 83.885us
}

// Packet sequence numbers have 24 bits: a PSN after the wrap is later.
func ExamplePSNDiff() {
	fmt.Println(roce.PSNDiff(5, 0xfffffe))
	fmt.Printf("%#x\n", roce.Extend(5, 0x1fffffe))
	// Output:
	// 7
	// 0x2000005
}

// A WRITE of MRC: its headers, in a frame on the path of an entropy value.
func ExampleMRC() {
	f := roce.Frame{Kind: roce.KindRoCEv2,
		BTH: roce.Header{Opcode: roce.MRCWriteOnly, PKey: roce.DefaultPKey, DestQP: 0x2a, PSN: 7,
			VA: 0x1000, RKey: 0x5678, Len: 4},
		MRC:  roce.MRC{METH: roce.METH{MSN: 3}, Stamped: true, TSETH: roce.NewTSETH(2560 * unit.Nanosecond)},
		Body: []byte("four")}
	f.IP = roce.IP{TTL: 64, Src: netip.MustParseAddr("2001:db8::1"), Dst: netip.MustParseAddr("2001:db8::2")}
	roce.EV(0x0015_0c07).Put(&f.IP, &f.UDP)
	f.Complete()

	var g roce.Frame
	if err := g.Decode(f.Append(nil)); err != nil {
		fmt.Println(err)
	}
	fmt.Println(g.MRC.Text(&g.BTH))
	fmt.Printf("EV %#x, ICRC holds: %v\n", roce.EVOf(&g.IP, &g.UDP), g.ComputeICRC() == g.ICRC)
	// Output:
	// MRC WRITE Only QP 0x00002a PSN 7 message 3 stamp 20 va 0x1000 rkey 0x5678 len 4
	// EV 0x150c07, ICRC holds: true
}
