package rcudp

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"time"

	"railyard/roce"
	"railyard/unit"

	"golang.org/x/net/ipv4"
)

// Options are the settings of a Device's sockets.
type Options struct {
	Config
	NoLabels   bool // entropy values of MRC over IPv6 in the source port alone
	NoOffload  bool // no UDP segmentation and receive offload: one packet per datagram
	SocketSize int  // requested receive buffer, bytes [8 MiB]
	// Tap receives every datagram sent and received, with the device locked. It gets its time, direction,
	// addresses, type of service, IPv4 identification (over IPv6 the low half of the flow label) and bytes.
	Tap func(at time.Time, out bool, src, dst netip.AddrPort, tos uint8, id uint16, data []byte)
}

// Limits of one system call and one batch of segments.
const (
	maxDatagram = 4096 + 128
	batchBytes  = 64000
	spin        = 50 * unit.Microsecond // time for which the reader polls before it sleeps; waking takes as long
	maxSegments = 60
	maxHeads    = (maxSegments + 1) * 128
	sendBatches = 8
	recvBatches = 4
)

// Device is one address of this host with UDP port 4791, as a RoCE NIC.
type Device struct {
	Addr netip.Addr

	mu      sync.Mutex
	ep      *Endpoint
	opt     Options
	start   time.Time
	recv    []*socket // by plane
	out     map[outgoing]*socket
	links   *links   // links of the device's ports, with several planes
	entropy []uint16 // source ports of MRC's entropy values, planes in turn
	gso     bool
	msgs    []ipv4.Message
	batches [sendBatches]batch
	next    Datagram
	spill   []byte
	drops   uint32
	sendEr  error
	sendNo  int64

	sleepAt unit.Time     // time until which the pacer sleeps
	wake    chan struct{} // wakes the pacer
	stamps  sync.Once
	closed  chan struct{}
	done    sync.WaitGroup
}

// Open binds port 4791 of an address of this host.
func Open(opt Options) (*Device, error) {
	opt.Addr = opt.Addr.Unmap()
	if !opt.Addr.IsValid() || opt.Addr.IsUnspecified() || opt.Addr.IsMulticast() {
		return nil, fmt.Errorf("a device needs an address of this host, found %v", opt.Addr)
	}
	if opt.SocketSize == 0 {
		opt.SocketSize = 8 << 20
	}
	if opt.Burst == 0 {
		opt.Burst = 100 * unit.Microsecond
	}
	// A thread that sleeps for less keeps other threads of its process from running, and no timer of MRC is that
	// precise.
	opt.Coarse = unit.Millisecond
	recv, err := listenAll(&opt)
	if err != nil {
		return nil, err
	}
	d := &Device{Addr: opt.Addr, ep: NewEndpoint(opt.Config), opt: opt, start: time.Now(), recv: recv,
		out: map[outgoing]*socket{},
		gso: !opt.NoOffload, wake: make(chan struct{}, 1), closed: make(chan struct{}),
		spill: make([]byte, 0, maxDatagram)}
	for i := range d.batches {
		d.batches[i].heads = make([]byte, 0, maxHeads)
	}
	d.done.Add(1 + len(recv))
	for plane := range recv {
		go d.reader(uint8(plane))
	}
	go d.pacer()
	if len(opt.Planes) > 1 {
		if d.links = watch(opt.Planes); d.links != nil {
			d.done.Add(1)
			go d.monitor()
		}
	}
	return d, nil
}

// listenAll binds the port of RoCE on each plane's address, and finds out whether packets can have a flow
// label.
func listenAll(opt *Options) (all []*socket, err error) {
	addrs := opt.Planes
	if len(addrs) == 0 {
		addrs = []netip.Addr{opt.Addr}
	}
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
		s, err := listen(netip.AddrPortFrom(addrs[i], roce.Port), *opt, true)
		if err != nil {
			for _, s := range all {
				s.conn.Close()
			}
			return nil, err
		}
		all = append(all, s)
	}
	opt.Labels = !opt.NoLabels && addrs[0].Is6() && labelled(addrs[0])
	return all, nil
}

func (d *Device) stampAll() {
	for _, s := range d.recv {
		s.stampArrivals()
	}
}

// Labels reports whether entropy values of MRC are sent with a flow label besides the source port.
func (d *Device) Labels() bool { return d.opt.Labels }

// Close stops the device. Queue pairs stay unchanged.
func (d *Device) Close() error {
	d.mu.Lock()
	select {
	case <-d.closed:
		d.mu.Unlock()
		return nil
	default:
	}
	close(d.closed)
	var err error
	for _, s := range d.recv {
		err = errors.Join(err, s.conn.Close())
	}
	for _, s := range d.out {
		s.conn.Close()
	}
	if d.links != nil {
		d.links.close()
	}
	d.mu.Unlock()
	d.done.Wait()
	return err
}

// now is the device's clock: monotonic, from zero.
func (d *Device) now() unit.Time { return unit.Time(time.Since(d.start)) * unit.Nanosecond }

// Do calls f with the device locked and its time, and then sends the packets that became possible. All work on
// queue pairs passes this function.
func (d *Device) Do(f func(e *Endpoint, now unit.Time)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	f(d.ep, now)
	d.flush(now)
	d.rearm(now)
}

// Counters returns the endpoint's counters, the datagrams that the kernel dropped at a full socket, and the
// datagrams that it rejected on sending, with the last reason.
func (d *Device) Counters() (c Counters, kernelDrops int64, unsent int64, why error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ep.Count, int64(d.drops), d.sendNo, d.sendEr
}

// ReceiveBuffer returns the size of the kernel's receive buffer as the kernel counts it: with its overhead, about
// twice the payload.
func (d *Device) ReceiveBuffer() int { return d.recv[0].size }

// StampArrivals makes the kernel report arrival time and TTL of datagrams: for connections with FarEnd. Without
// these stamps only the time spent in this process is excluded.
func (d *Device) StampArrivals() { d.stamps.Do(func() { d.stampAll() }) }

// Forget frees the memory that was sent last, which may be a gigabyte.
func (d *Device) Forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.batches {
		b := &d.batches[i]
		clear(b.parts[:cap(b.parts)])
		b.conn, b.parts = nil, nil
	}
	clear(d.msgs[:cap(d.msgs)])
	d.next = Datagram{}
}

// reader processes arriving datagrams.
func (d *Device) reader(plane uint8) {
	defer d.done.Done()
	ms := make([]ipv4.Message, recvBatches)
	size := 1 << 16
	if d.opt.NoOffload {
		size = maxDatagram
	}
	for i := range ms {
		ms[i].Buffers = [][]byte{make([]byte, size)}
		ms[i].OOB = make([]byte, 192)
	}
	var busy unit.Time // time of the latest arrival
	for {
		n, err := d.recv[plane].readBatch(ms, d.now()-busy < spin)
		if err != nil {
			switch {
			case errors.Is(err, net.ErrClosed):
				return
			case wouldBlock(err):
				yield()
			}
			continue // otherwise it is an ICMP error for another process's datagram
		}
		d.mu.Lock()
		now, wall := d.now(), time.Now()
		busy = now
		finished := d.ep.finished
		for i := range ms[:n] {
			d.take(now, wall, plane, &ms[i])
		}
		if d.ep.finished != finished {
			// The woken caller will probably answer: send that in one system call with the acknowledgement.
			d.mu.Unlock()
			runtime.Gosched()
			d.mu.Lock()
			now = d.now()
		}
		d.flush(now)
		d.rearm(now)
		d.mu.Unlock()
	}
}

// take splits a received batch into its datagrams. It is now on the device's clock and on the wall clock.
func (d *Device) take(now unit.Time, wall time.Time, plane uint8, m *ipv4.Message) {
	ua, ok := m.Addr.(*net.UDPAddr)
	if !ok {
		return
	}
	src := ua.AddrPort()
	src = netip.AddrPortFrom(src.Addr().Unmap().WithZone(""), src.Port())
	info := parseControl(m.OOB[:m.NN])
	if info.drops != 0 {
		d.drops = info.drops
	}
	waited := unit.Time(0)
	if !info.stamp.IsZero() { // the wall clock, which may be adjusted
		waited = unit.Time(min(max(0, wall.Sub(info.stamp)), time.Second)) * unit.Nanosecond
	}
	b := m.Buffers[0][:m.N]
	size := info.segment
	if size <= 0 {
		size = len(b)
	}
	for seg := 0; len(b) > 0; seg++ {
		n := min(size, len(b))
		if d.opt.Tap != nil {
			id := uint16(info.label)
			if n >= roce.BTHLen+roce.ICRCLen && src.Addr().Is4() && d.Addr.Is4() {
				id, _ = d.ep.identifyBy(plane, src, seg, b[:n]) // the kernel does not report it
			}
			d.opt.Tap(time.Now(), false, src, netip.AddrPortFrom(d.ep.local(plane), roce.Port), info.tos, id, b[:n])
		}
		d.ep.Met(waited, info.ttl)
		d.ep.InputBy(now, src, plane, uint16(info.label), info.tos, seg, b[:n])
		b = b[n:]
	}
}

// flush sends the packets that are due, in batches of segments. Consecutive datagrams of one connection and one
// size leave in one system call, and the kernel separates them. Payload is sent from the application's buffer.
func (d *Device) flush(now unit.Time) {
	dg := &d.next
	d.ep.LetData()
	have := d.ep.Next(now, d.spill[:0], 0, dg)
	for have {
		msgs := d.msgs[:0]
		by := outgoing{dg.Plane, dg.Port}
		for len(msgs) < sendBatches && have && dg.Port == by.port && dg.Plane == by.plane {
			b := &d.batches[len(msgs)]
			have = d.fill(now, b)
			msgs = append(msgs, ipv4.Message{Buffers: b.parts, Addr: b.conn.addr(by.plane),
				OOB: b.control(d.Addr.Is4())})
		}
		d.send(by, msgs)
		d.msgs, now = msgs, d.now()
	}
}

// fill puts d.next and further fitting datagrams into a batch. On return d.next is the first datagram that does not
// fit, if any.
func (d *Device) fill(now unit.Time, b *batch) (have bool) {
	dg := &d.next
	*b = batch{conn: dg.Conn, tos: dg.TOS, plane: dg.Plane, label: dg.Label, seg: dg.Len(),
		heads: append(append(b.heads[:0], dg.Head...), dg.Tail...)[:0], parts: b.parts[:0]}
	b.add(dg)
	d.tap(dg, 0)
	port, last := dg.Port, b.seg
	for {
		room := d.spill[:0]
		joinable := d.gso && b.segs < maxSegments && (b.segs+1)*b.seg <= batchBytes && last == b.seg
		if joinable {
			room = b.heads[len(b.heads):]
		}
		if have = d.ep.Next(now, room, uint16(b.segs), dg); !have {
			break
		}
		if !joinable || dg.Conn != b.conn || dg.Port != port || dg.TOS != b.tos || !b.same(dg) || dg.Len() > b.seg {
			if joinable { // the datagram is in this batch's buffer, which is reused
				n := len(dg.Head)
				d.spill = append(append(d.spill[:0], dg.Head...), dg.Tail...)
				dg.Head, dg.Tail = d.spill[:n], d.spill[n:]
			}
			d.ep.Reseal(dg, 0)
			break
		}
		d.tap(dg, uint16(b.segs))
		last = dg.Len()
		b.add(dg)
	}
	if b.open < len(b.heads) {
		b.parts = append(b.parts, b.heads[b.open:])
	}
	return have
}

func (d *Device) tap(dg *Datagram, id uint16) {
	if d.opt.Tap != nil {
		if d.Addr.Is6() {
			id = dg.Label
		}
		d.opt.Tap(time.Now(), true, netip.AddrPortFrom(d.ep.local(dg.Plane), dg.Port),
			netip.AddrPortFrom(dg.Conn.remote(dg.Plane), roce.Port), dg.TOS, id, dg.Append(nil))
	}
}

// send hands messages to the kernel. A refused datagram is lost, and recovered like any loss.
func (d *Device) send(by outgoing, msgs []ipv4.Message) {
	s := d.out[by]
	for len(msgs) > 0 && s != nil {
		n, err := s.writeBatch(msgs)
		if err != nil && n <= 0 {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if d.gso && offloadRefused(err) {
				d.gso = false // the path has no segmentation: from now on send one by one
			}
			d.sendEr = err
			d.sendNo++
			n = 1
		}
		msgs = msgs[n:]
	}
}

// rearm wakes the pacer if it would sleep for too long.
func (d *Device) rearm(now unit.Time) {
	if d.ep.Wake(now) < d.sleepAt {
		select {
		case d.wake <- struct{}{}:
		default:
		}
	}
}

// pacer runs timers and sends paced packets.
func (d *Device) pacer() {
	defer d.done.Done()
	for {
		d.mu.Lock()
		now := d.now()
		for i := 0; i < mostDrains && d.ep.MRCDue(now) && d.pending(); i++ {
			d.mu.Unlock()
			time.Sleep(time.Duration(spin / unit.Nanosecond))
			d.mu.Lock()
			now = d.now()
		}
		d.ep.Tick(now)
		d.flush(now)
		at := d.ep.Wake(now)
		d.sleepAt = at
		d.mu.Unlock()
		if !d.sleep(at - d.now()) {
			return
		}
	}
}

// mostDrains is the number of naps during which a timer of MRC lets the reader run first. After this process was
// descheduled, the answers are still in the socket, and their packets have not timed out.
const mostDrains = 100

// pending reports whether a datagram waits to be read.
func (d *Device) pending() bool {
	for _, s := range d.recv {
		if s.pending() {
			return true
		}
	}
	return false
}

// sleep waits for a time, a wake-up or the end (false). Waits below a millisecond are slept through: Go's timers
// are coarser than that when a process idles.
func (d *Device) sleep(t unit.Time) bool {
	if t < unit.Millisecond {
		select {
		case <-d.closed:
			return false
		default:
		}
		if t > 0 {
			nap(time.Duration(t / unit.Nanosecond))
		}
		return true
	}
	var timeout <-chan time.Time
	if t < 3600*unit.Second {
		tm := time.NewTimer(time.Duration(t / unit.Nanosecond))
		defer tm.Stop()
		timeout = tm.C
	}
	select {
	case <-d.closed:
		return false
	case <-d.wake:
	case <-timeout:
	}
	return true
}

// addr returns the peer on a plane in the form of the socket package.
func (c *Conn) addr(plane uint8) *net.UDPAddr {
	for len(c.udp) <= int(plane) {
		to := netip.AddrPortFrom(c.remote(uint8(len(c.udp))), roce.Port)
		c.udp = append(c.udp, net.UDPAddrFromAddrPort(to))
	}
	return c.udp[plane]
}
