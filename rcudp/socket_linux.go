package rcudp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
	"golang.org/x/sys/unix"
)

// socket is one bound UDP socket.
type socket struct {
	conn  *net.UDPConn
	v4    *ipv4.PacketConn
	v6    *ipv6.PacketConn
	port  uint16
	size  int // receive buffer as counted by the kernel
	users int // connections that send from it
}

// PortInUseError reports that another process, or another device of this one, uses the address and port.
type PortInUseError struct{ Addr netip.AddrPort }

func (e *PortInUseError) Error() string {
	return fmt.Sprintf("UDP %v is in use: another RoCE endpoint runs on this address", e.Addr)
}

// listen binds an unconnected socket. It sets "don't fragment", so that the kernel sends the identification 0. To
// receive, it enables type of service, drop counts and, unless disabled, receive offload.
func listen(at netip.AddrPort, opt Options, receive bool) (*socket, error) {
	s := &socket{}
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		if e := c.Control(func(fd uintptr) { err = s.configure(int(fd), at.Addr().Is4(), opt, receive) }); e != nil {
			return e
		}
		return err
	}}
	c, err := lc.ListenPacket(context.Background(), "udp", at.String())
	if err != nil {
		switch {
		case errors.Is(err, syscall.EADDRINUSE):
			return nil, &PortInUseError{at}
		case errors.Is(err, syscall.EADDRNOTAVAIL):
			return nil, fmt.Errorf("%v is not an address of this host", at.Addr())
		case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
			return nil, fmt.Errorf("no permission to bind UDP %v", at)
		}
		return nil, err
	}
	s.conn = c.(*net.UDPConn)
	s.port = s.conn.LocalAddr().(*net.UDPAddr).AddrPort().Port()
	if at.Addr().Is4() {
		s.v4 = ipv4.NewPacketConn(s.conn)
	} else {
		s.v6 = ipv6.NewPacketConn(s.conn)
	}
	return s, nil
}

func (s *socket) configure(fd int, is4 bool, opt Options, receive bool) error {
	level, discover, do, tos := unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DO, unix.IP_RECVTOS
	leaves := unix.IP_TTL
	if !is4 {
		level, discover, do, tos = unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_DO,
			unix.IPV6_RECVTCLASS
		leaves = unix.IPV6_UNICAST_HOPS
	}
	if err := unix.SetsockoptInt(fd, level, discover, do); err != nil {
		return fmt.Errorf("setting don't fragment: %w", err)
	}
	if !receive {
		_ = unix.SetsockoptInt(fd, level, leaves, ttl) // to receive the TTL of a datagram
		return nil
	}
	if err := unix.SetsockoptInt(fd, level, tos, 1); err != nil {
		return fmt.Errorf("asking for the type of service of datagrams: %w", err)
	}
	// The remaining options improve speed or reports; the socket works without them.
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, opt.SocketSize) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, opt.SocketSize)
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1)
	if !is4 {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, flowInfo, 1)
	}
	if !opt.NoOffload {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_GRO, 1)
	}
	n, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
	s.size = n
	return err
}

// stampArrivals requests the time and the TTL of each datagram.
func (s *socket) stampArrivals() {
	c, err := s.conn.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, 1)
		if s.v4 != nil {
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_RECVTTL, 1)
		} else {
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_IPV6, unix.IPV6_RECVHOPLIMIT, 1)
		}
	})
}

// readBatch waits for datagrams or, with look, returns immediately if there are none.
func (s *socket) readBatch(ms []ipv4.Message, look bool) (int, error) {
	flags := 0
	if look {
		flags = unix.MSG_DONTWAIT
	}
	if s.v4 != nil {
		return s.v4.ReadBatch(ms, flags)
	}
	return s.v6.ReadBatch(ms, flags)
}

// pending reports whether a datagram waits to be read.
func (s *socket) pending() (some bool) {
	c, err := s.conn.SyscallConn()
	if err != nil {
		return false
	}
	_ = c.Control(func(fd uintptr) {
		var b [1]byte
		_, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		some = err == nil
	})
	return some
}

func wouldBlock(err error) bool { return errors.Is(err, syscall.EAGAIN) }

// yield lets other goroutines and processes run.
func yield() {
	runtime.Gosched()
	_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
}

func (s *socket) writeBatch(ms []ipv4.Message) (int, error) {
	if s.v4 != nil {
		return s.v4.WriteBatch(ms, 0)
	}
	return s.v6.WriteBatch(ms, 0)
}

// received is the kernel's control messages of a datagram.
type received struct {
	tos     uint8
	segment int
	label   uint32 // low bits of the flow label
	drops   uint32
	ttl     uint8
	stamp   time.Time // time of reception by the kernel; zero: not reported
}

func parseControl(oob []byte) (r received) {
	for len(oob) >= unix.CmsgLen(0) {
		h, data, rest, err := unix.ParseOneSocketControlMessage(oob)
		if err != nil {
			return r
		}
		switch {
		case h.Level == unix.IPPROTO_IP && h.Type == unix.IP_TOS && len(data) >= 1:
			r.tos = data[0]
		case h.Level == unix.IPPROTO_IPV6 && h.Type == unix.IPV6_TCLASS && len(data) >= 4:
			r.tos = uint8(binary.NativeEndian.Uint32(data))
		case h.Level == unix.IPPROTO_IPV6 && h.Type == flowInfo && len(data) >= 4:
			r.label = binary.BigEndian.Uint32(data) & 0xffff
		case h.Level == unix.IPPROTO_UDP && h.Type == unix.UDP_GRO && len(data) >= 2:
			r.segment = int(binary.NativeEndian.Uint16(data))
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SO_RXQ_OVFL && len(data) >= 4:
			r.drops = binary.NativeEndian.Uint32(data)
		case h.Level == unix.IPPROTO_IP && h.Type == unix.IP_TTL && len(data) >= 4,
			h.Level == unix.IPPROTO_IPV6 && h.Type == unix.IPV6_HOPLIMIT && len(data) >= 4:
			r.ttl = uint8(binary.NativeEndian.Uint32(data))
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SO_TIMESTAMPNS_NEW && len(data) >= 16:
			r.stamp = time.Unix(int64(binary.NativeEndian.Uint64(data)), int64(binary.NativeEndian.Uint64(data[8:])))
		}
		oob = rest
	}
	return r
}

// controlOf builds in b the control messages of a batch: its type of service and, for more than one segment, their
// size.
func controlOf(b []byte, tos uint8, label uint16, seg, segs int, is4 bool) []byte {
	level, typ := unix.IPPROTO_IP, unix.IP_TOS
	if !is4 {
		level, typ = unix.IPPROTO_IPV6, unix.IPV6_TCLASS
	}
	putHeader(b, unix.CmsgLen(4), level, typ)
	binary.NativeEndian.PutUint32(b[unix.CmsgLen(0):], uint32(tos))
	n := unix.CmsgSpace(4)
	if label != 0 && !is4 {
		putHeader(b[n:], unix.CmsgLen(4), unix.IPPROTO_IPV6, flowInfo)
		binary.BigEndian.PutUint32(b[n+unix.CmsgLen(0):], uint32(label))
		n += unix.CmsgSpace(4)
	}
	if segs > 1 {
		putHeader(b[n:], unix.CmsgLen(2), unix.IPPROTO_UDP, unix.UDP_SEGMENT)
		binary.NativeEndian.PutUint16(b[n+unix.CmsgLen(0):], uint16(seg))
		n += unix.CmsgSpace(2)
	}
	return b[:n]
}

// flowInfo is IPV6_FLOWINFO (linux/in6.h). As an option it enables reports of flow labels; as a control message it
// is a datagram's label.
const flowInfo = 11

// labelled reports whether the kernel accepts the requested flow label of a datagram. The kernel may restrict
// labels to leased ones.
func labelled(addr netip.Addr) bool {
	to, err := listen(netip.AddrPortFrom(addr, 0), Options{SocketSize: 1 << 16, NoOffload: true}, true)
	if err != nil {
		return false
	}
	defer to.conn.Close()
	const label = 0x1234
	var oob [128]byte
	dst := net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr, to.port))
	m := []ipv4.Message{{Buffers: [][]byte{{0}}, Addr: dst, OOB: controlOf(oob[:], 0, label, 1, 1, false)}}
	if _, err := to.writeBatch(m); err != nil {
		return false
	}
	if to.conn.SetReadDeadline(time.Now().Add(100*time.Millisecond)) != nil {
		return false
	}
	m = []ipv4.Message{{Buffers: [][]byte{make([]byte, 16)}, OOB: oob[:]}}
	if n, err := to.readBatch(m, false); err != nil || n != 1 {
		return false
	}
	return parseControl(oob[:m[0].NN]).label == label
}

// putHeader writes a control message header: a length as wide as a pointer,
// then level and type.
func putHeader(b []byte, length, level, typ int) {
	at := unix.CmsgLen(0) - 8
	if at == 8 {
		binary.NativeEndian.PutUint64(b, uint64(length))
	} else {
		binary.NativeEndian.PutUint32(b, uint32(length))
	}
	binary.NativeEndian.PutUint32(b[at:], uint32(level))
	binary.NativeEndian.PutUint32(b[at+4:], uint32(typ))
}

// offloadRefused reports whether an error means that a kernel or driver cannot segment.
func offloadRefused(err error) bool {
	return errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP)
}

// nap sleeps for a short time with the precision of the kernel's timers.
func nap(d time.Duration) {
	t := unix.NsecToTimespec(d.Nanoseconds())
	_ = unix.Nanosleep(&t, nil)
}
