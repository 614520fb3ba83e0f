package lab

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Tap reads ports' counters from the kernel, and sets ports down, without a process per request: with a socket of
// rtnetlink(7) in the namespace of each.
type Tap struct{ ports []tapped }

type tapped struct {
	fd, index int
}

// Tap opens one for ports such as leaf-1:Eth2.
func (s *State) Tap(ports ...string) (*Tap, error) {
	t := &Tap{}
	for _, name := range ports {
		l, node, err := s.FindPort(name)
		if err != nil {
			t.Close()
			return nil, err
		}
		own, _, _ := s.Links[l].end(node)
		p, err := tap(s.Nodes[node].Namespace, own)
		if err != nil {
			t.Close()
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		t.ports = append(t.ports, p)
	}
	return t, nil
}

// tap opens a socket in a namespace. A thread that cannot return to its namespace ends with its goroutine.
func tap(namespace, port string) (tapped, error) {
	type opened struct {
		tapped
		err error
	}
	done := make(chan opened)
	go func() {
		runtime.LockOSThread()
		o := opened{tapped: tapped{fd: -1}}
		back, err := os.Open("/proc/thread-self/ns/net")
		if err == nil {
			defer back.Close()
			o.fd, err = socketIn("/run/netns/" + namespace)
			if e := unix.Setns(int(back.Fd()), unix.CLONE_NEWNET); e == nil {
				runtime.UnlockOSThread()
			}
		}
		o.err = err
		done <- o
	}()
	o := <-done
	if o.err != nil {
		return o.tapped, o.err
	}
	m, err := o.tapped.ask(port)
	if err != nil {
		unix.Close(o.fd)
		return o.tapped, err
	}
	o.index = int(int32(binary.NativeEndian.Uint32(m.Data[4:])))
	return o.tapped, nil
}

func socketIn(namespace string) (int, error) {
	ns, err := os.Open(namespace)
	if err != nil {
		return -1, err
	}
	defer ns.Close()
	if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
		return -1, err
	}
	return unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
}

// request sends a message about an interface and returns the answer.
func (p *tapped) request(kind, flags uint16, index, set, change uint32, name string) (*syscall.NetlinkMessage,
	error) {
	b := make([]byte, unix.SizeofNlMsghdr+unix.SizeofIfInfomsg)
	binary.NativeEndian.PutUint16(b[4:], kind)
	binary.NativeEndian.PutUint16(b[6:], unix.NLM_F_REQUEST|flags)
	binary.NativeEndian.PutUint32(b[20:], index)
	binary.NativeEndian.PutUint32(b[24:], set)
	binary.NativeEndian.PutUint32(b[28:], change)
	if name != "" {
		attr := append(append(make([]byte, 4), name...), 0)
		binary.NativeEndian.PutUint16(attr, uint16(len(attr)))
		binary.NativeEndian.PutUint16(attr[2:], unix.IFLA_IFNAME)
		for len(attr)%4 != 0 {
			attr = append(attr, 0)
		}
		b = append(b, attr...)
	}
	binary.NativeEndian.PutUint32(b, uint32(len(b)))
	if err := unix.Sendto(p.fd, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, err
	}
	answer := make([]byte, 1<<16)
	n, _, err := unix.Recvfrom(p.fd, answer, 0)
	if err != nil {
		return nil, err
	}
	all, err := syscall.ParseNetlinkMessage(answer[:n])
	if err != nil || len(all) == 0 {
		return nil, fmt.Errorf("rtnetlink: %d messages, %v", len(all), err)
	}
	if m := &all[0]; m.Header.Type == unix.NLMSG_ERROR {
		if code := int32(binary.NativeEndian.Uint32(m.Data)); code != 0 {
			return nil, syscall.Errno(-code)
		}
	}
	return &all[0], nil
}

// ask requests an interface, by name or by its index.
func (p *tapped) ask(name string) (*syscall.NetlinkMessage, error) {
	return p.request(unix.RTM_GETLINK, 0, uint32(p.index), 0, 0, name)
}

// Read returns how many bytes each port has sent and received.
func (t *Tap) Read(sent, received []int64) error {
	for i := range t.ports {
		m, err := t.ports[i].ask("")
		if err != nil {
			return err
		}
		attrs, err := syscall.ParseNetlinkRouteAttr(m)
		if err != nil {
			return err
		}
		for _, a := range attrs {
			if a.Attr.Type == unix.IFLA_STATS64 && len(a.Value) >= 32 { // struct rtnl_link_stats64
				received[i] = int64(binary.NativeEndian.Uint64(a.Value[16:]))
				sent[i] = int64(binary.NativeEndian.Uint64(a.Value[24:]))
			}
		}
	}
	return nil
}

// Cut takes a port down: the one at the other end of its cable has no carrier then.
func (t *Tap) Cut(port int) error {
	p := &t.ports[port]
	_, err := p.request(unix.RTM_NEWLINK, unix.NLM_F_ACK, uint32(p.index), 0, unix.IFF_UP, "")
	return err
}

// Close closes its sockets.
func (t *Tap) Close() {
	for _, p := range t.ports {
		unix.Close(p.fd)
	}
	t.ports = nil
}
