// Package verbs is RDMA as libibverbs programmers know it, in Go and over UDP:
// device, protection domain, memory region, completion queue, reliable
// connection queue pair, PostSend, PostRecv, Poll. Behind it package rc is the
// NIC's transport and package rcudp its port.
//
//	dev, _ := verbs.OpenDevice(verbs.DeviceConfig{Addr: netip.MustParseAddr("127.0.0.1")})
//	pd := dev.AllocPD()
//	mr, _ := pd.RegMR(buf, verbs.LocalWrite|verbs.RemoteWrite)
//	cq, _ := dev.CreateCQ(128, nil)
//	qp, _ := pd.CreateQP(verbs.QPInitAttr{SendCQ: cq, RecvCQ: cq})
//	remote, _ := verbs.Exchange(tcp, qp.Info(mr))
//	qp.Connect(remote)
//	qp.PostSend(&verbs.SendWR{Opcode: verbs.Write, SGList: mr.All(), RemoteAddr: remote.VA, RKey: remote.RKey})
//
// # Differences from libibverbs
//
// Functions return errors instead of errno. A READ longer than 256 KiB, or than
// the receive buffer can hold, travels as several, which complete as one.
package verbs
