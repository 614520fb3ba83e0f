package rcudp

import (
	"net"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// links detects link changes of the device's ports: the kernel reports a change (rtnetlink 7), and the state of all
// planes is read again.
type links struct {
	file  *os.File
	ports []int // interface of each plane; 0: none that can be cut
}

// watch starts to listen; it returns nil if there is nothing to receive.
func watch(planes []netip.Addr) *links {
	l := &links{}
	for _, a := range planes {
		l.ports = append(l.ports, portOf(a))
	}
	const kind = unix.SOCK_RAW | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK
	fd, err := unix.Socket(unix.AF_NETLINK, kind, unix.NETLINK_ROUTE)
	if err != nil {
		return nil
	}
	group := &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: unix.RTMGRP_LINK}
	if err := unix.Bind(fd, group); err != nil {
		unix.Close(fd)
		return nil
	}
	l.file = os.NewFile(uintptr(fd), "rtnetlink")
	return l
}

// portOf is the interface that has an address.
func portOf(a netip.Addr) int {
	ifs, _ := net.Interfaces()
	for _, i := range ifs {
		addrs, _ := i.Addrs()
		for _, x := range addrs {
			if p, err := netip.ParsePrefix(x.String()); err == nil && p.Addr() == a {
				return i.Index
			}
		}
	}
	return 0
}

// next waits for a change of any link; false: the socket is closed.
func (l *links) next() bool {
	var b [8192]byte
	_, err := l.file.Read(b[:])
	return err == nil
}

// up reports whether a plane's port has a cable that works.
func (l *links) up(plane int) bool {
	if l.ports[plane] == 0 {
		return true
	}
	i, err := net.InterfaceByIndex(l.ports[plane])
	return err == nil && i.Flags&net.FlagUp != 0 && i.Flags&net.FlagRunning != 0
}

func (l *links) close() { l.file.Close() }
