package verbs_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/netip"

	"railyard/rcudp"
	"railyard/verbs"
)

// Two ends on one host: one writes into the other's memory and signals that with the immediate data; the other
// waits for it.
func Example() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	greeting := make(chan string)
	go func() {
		tcp, err := l.Accept()
		check(err)
		defer tcp.Close()
		buf := make([]byte, 32)
		dev, qp, cq, mr, _ := connect("127.42.0.1", tcp, buf)
		defer dev.Close()
		wc := make([]verbs.WC, 1)
		_, err = cq.Wait(context.Background(), wc)
		check(err)
		fmt.Println(wc[0].Opcode, wc[0].ByteLen, "bytes, immediate", wc[0].ImmData)
		qp.Destroy()
		check(mr.Dereg())
		greeting <- string(buf[:wc[0].ByteLen])
	}()
	tcp, err := net.Dial("tcp", l.Addr().String())
	check(err)
	defer tcp.Close()
	buf := []byte("hello over UDP 4791")
	dev, qp, cq, mr, remote := connect("127.42.0.2", tcp, buf)
	defer dev.Close()
	check(qp.PostSend(&verbs.SendWR{WRID: 7, Opcode: verbs.WriteWithImm, SGList: mr.All(),
		RemoteAddr: remote.VA, RKey: remote.RKey, ImmData: 42, Signaled: true}))
	wc := make([]verbs.WC, 1)
	_, err = cq.Wait(context.Background(), wc)
	check(err)
	text := <-greeting
	fmt.Println("request", wc[0].WRID, wc[0].Status)
	fmt.Println(text)
	// It prints (TestRealExample):
	//
	// RECV_RDMA_WITH_IMM 19 bytes, immediate 42
	// request 7 IBV_WC_SUCCESS
	// hello over UDP 4791
}

// connect opens a device and connects a queue pair to the one at the other end of a TCP connection, with one
// receive posted.
func connect(addr string, tcp net.Conn, buf []byte) (*verbs.Device, *verbs.QP, *verbs.CQ, *verbs.MR,
	verbs.Info) {
	at := netip.MustParseAddr(addr)
	dev, err := verbs.OpenDevice(verbs.DeviceConfig{Addr: at})
	for used := (*rcudp.PortInUseError)(nil); errors.As(err, &used); { // in use by another process
		at = at.Next().Next()
		dev, err = verbs.OpenDevice(verbs.DeviceConfig{Addr: at})
	}
	check(err)
	pd := dev.AllocPD()
	mr, err := pd.RegMR(buf, verbs.LocalWrite|verbs.RemoteWrite)
	check(err)
	cq, err := dev.CreateCQ(128, nil)
	check(err)
	qp, err := pd.CreateQP(verbs.QPInitAttr{SendCQ: cq, RecvCQ: cq})
	check(err)
	var remote verbs.Info
	check(verbs.Exchange(tcp, qp.Info(mr), &remote))
	o := verbs.DefaultConnect()
	o.Timeout = 20 // 4.3 s, for a busy host
	check(qp.Connect(remote, o))
	check(qp.PostRecv(&verbs.RecvWR{WRID: 1}))
	return dev, qp, cq, mr, remote
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
