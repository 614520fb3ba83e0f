package rcudp_test

import (
	"fmt"
	"net/netip"

	"railyard/rc"
	"railyard/rcudp"
	"railyard/roce"
	"railyard/unit"
)

// Two endpoints without sockets; each datagram of one is passed to the other. Device does the same with a kernel in
// between.
func Example() {
	cfg := rc.Config{MTU: 1024, AckEvery: 16, Timeout: rc.LocalAckTimeout(10), Retries: 7}
	addrs := [2]netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")}
	memory := make([]byte, 4096)
	regions := rc.NewMemory(1)
	if err := regions.RegisterBuffer(9, 0x1000, memory, rc.LocalWrite|rc.RemoteWrite); err != nil {
		fmt.Println(err)
	}
	var ends [2]*rcudp.Endpoint
	var conns [2]*rcudp.Conn
	for i := range ends {
		ends[i] = rcudp.NewEndpoint(rcudp.Config{Addr: addrs[i]})
		c := rcudp.NewConn(&cfg, regions, nil, 100*unit.Gbps, unit.MiB)
		c.QPN, c.DestQPN = uint32(17+i), uint32(18-i)
		c.Peer, c.Ports = addrs[1-i], []uint16{49152}
		if err := ends[i].Add(c); err != nil {
			fmt.Println(err)
		}
		for _, s := range []rc.State{rc.Init, rc.ReadyToReceive, rc.ReadyToSend} {
			c.Modify(s, 100)
		}
		conns[i] = c
	}
	conns[0].OnComplete = func(c rc.Completion) { fmt.Println("request", c.ID, c.Status) }
	hello := []byte("hello over UDP 4791")
	conns[0].Post(&rc.Request{ID: 7, VA: 0x1000, RKey: 9, Len: int64(len(hello)), Data: hello})

	buf := make([]byte, 0, 256) // headers and ICRC only; the payload is not copied
	for i := range ends {       // the WRITE, then its ACK
		var d rcudp.Datagram
		for ends[i].Next(0, buf, 0, &d) {
			bytes := d.Append(nil)
			var h roce.Header
			h.Decode(bytes)
			fmt.Println(len(bytes), "bytes:", &h)
			ends[1-i].Input(0, netip.AddrPortFrom(addrs[i], d.Port), d.TOS, 0, bytes)
		}
	}
	fmt.Printf("%s\n", memory[:len(hello)])
	// Output:
	// 52 bytes: WRITE Only QP 0x000012 PSN 100 va 0x1000 rkey 0x9 len 19 AckReq
	// 20 bytes: ACK QP 0x000011 PSN 100 ACK MSN 1
	// request 7 success
	// hello over UDP 4791
}
