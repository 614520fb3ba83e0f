package verbs

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"
)

// node is one end of a test: a device on its own loopback address.
type node struct {
	dev *Device
	pd  *PD
	cq  *CQ
	qp  *QP
	mr  *MR
	buf []byte
}

func newNode(t testing.TB, change func(*DeviceConfig)) *node {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		addr := netip.AddrFrom4([4]byte{127, byte(1 + rand.IntN(250)), byte(rand.IntN(250)),
			byte(1 + rand.IntN(250))})
		cfg := DeviceConfig{Addr: addr}
		if change != nil {
			change(&cfg)
		}
		dev, err := OpenDevice(cfg)
		if err != nil {
			if strings.Contains(err.Error(), "in use") { // ::1 may be in use by another package for a while
				time.Sleep(10 * time.Millisecond)
				continue
			}
			t.Fatal(err)
		}
		t.Cleanup(func() { dev.Close() })
		n := &node{dev: dev, pd: dev.AllocPD(), buf: make([]byte, 1<<20)}
		if n.mr, err = n.pd.RegMR(n.buf, LocalWrite|RemoteWrite|RemoteRead|RemoteAtomic); err != nil {
			t.Fatal(err)
		}
		if n.cq, err = dev.CreateCQ(256, nil); err != nil {
			t.Fatal(err)
		}
		if n.qp, err = n.pd.CreateQP(QPInitAttr{SendCQ: n.cq, RecvCQ: n.cq, SignalAll: true}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	t.Fatal("no free loopback address")
	return nil
}

// pairUp connects two nodes over TCP, as the source documents do.
func pairUp(t testing.TB, a, b *node, o ConnectOptions) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	errs := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			errs <- err
			return
		}
		defer c.Close()
		var r Info
		if err = Exchange(c, b.qp.Info(b.mr), &r); err == nil {
			err = b.qp.Connect(r, o)
		}
		errs <- err
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var r Info
	if err := Exchange(c, a.qp.Info(a.mr), &r); err != nil {
		t.Fatal(err)
	}
	if r.RKey != b.mr.RKey || r.VA != b.mr.Addr || r.QPN != b.qp.QPN {
		t.Fatalf("exchanged %+v", r)
	}
	if err := a.qp.Connect(r, o); err != nil {
		t.Fatal(err)
	}
	if err := <-errs; err != nil {
		t.Fatal(err)
	}
}

// patience is a timeout for a real hang.
const patience = 5 * time.Minute

// eventually waits for a condition.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in %v: %s", patience, what)
		}
	}
}

// patient is DefaultConnect for ends that may wait for seconds on a busy host.
func patient() ConnectOptions {
	o := DefaultConnect()
	o.Timeout = 20 // 4.3 s
	return o
}

func (n *node) wait(t testing.TB, count int) (out []WC) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	wc := make([]WC, 16)
	for len(out) < count {
		k, err := n.cq.Wait(ctx, wc)
		if err != nil {
			t.Fatalf("after %d of %d completions: %v", len(out), count, err)
		}
		out = append(out, wc[:k]...)
	}
	return out
}

// sync shows the race detector that the device wrote to memory before. A peer's completion implies it over the
// network, which the detector cannot see.
func (n *node) sync() { n.qp.State() }

func (n *node) post(t testing.TB, wr SendWR) {
	t.Helper()
	if err := n.qp.PostSend(&wr); err != nil {
		t.Fatal(err)
	}
}

// Every verb over real sockets: with and without segmentation offload, over IPv6, selective, and with a source port
// per packet.
func TestRealVerbsOverSockets(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*DeviceConfig)
		o      func(*ConnectOptions)
	}{
		"plain":     {},
		"mmsg only": {func(c *DeviceConfig) { c.NoOffload = true }, nil},
		"selective": {func(c *DeviceConfig) { c.Selective = true }, nil},
		"sprayed": {func(c *DeviceConfig) {
			c.Selective, c.WriteOnly = true, true
		}, func(o *ConnectOptions) { o.Entropy = 8 }},
		"sprayed by marks": {func(c *DeviceConfig) {
			c.Selective, c.WriteOnly, c.CC, c.LB = true, true, "nscc", "mixed"
		}, func(o *ConnectOptions) { o.Entropy = 8 }},
		"small MTU": {nil, func(o *ConnectOptions) { o.MTU = 256 }},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := newNode(t, c.change), newNode(t, c.change)
			o := patient()
			if c.o != nil {
				c.o(&o)
			}
			pairUp(t, a, b, o)
			for i := range a.buf {
				a.buf[i] = byte(i*31 + i>>9)
			}
			want := bytes.Clone(a.buf)
			const half = 1 << 19
			for i := range 3 {
				if err := b.qp.PostRecv(&RecvWR{WRID: uint64(100 + i),
					SGList: []SGE{b.mr.SGE(half+i*1000, 10), b.mr.SGE(half+i*1000+10, 990)}}); err != nil {
					t.Fatal(err)
				}
			}
			a.post(t,
				SendWR{WRID: 1, Opcode: Write, SGList: []SGE{a.mr.SGE(0, half-13), a.mr.SGE(half-13, 13)},
					RemoteAddr: b.mr.Addr, RKey: b.mr.RKey})
			a.post(t, SendWR{WRID: 2, Opcode: Send, SGList: []SGE{a.mr.SGE(7, 900)}})
			a.post(t, SendWR{WRID: 3, Opcode: WriteWithImm, SGList: []SGE{a.mr.SGE(0, 1)},
				RemoteAddr: b.mr.Addr + half - 1, RKey: b.mr.RKey, ImmData: 77})
			a.post(t, SendWR{WRID: 4, Opcode: SendWithImm, SGList: []SGE{a.mr.SGE(0, 5)}, ImmData: 88,
				Solicited: true})
			a.post(t,
				SendWR{WRID: 5, Opcode: Read,
					SGList:     []SGE{a.mr.SGE(half, 1000), a.mr.SGE(half+1000, half-1000)},
					RemoteAddr: b.mr.Addr, RKey: b.mr.RKey})
			counter := b.mr.Addr + 1<<20 - 64
			a.post(t, SendWR{WRID: 6, Opcode: FetchAdd, SGList: []SGE{a.mr.SGE(0, 8)}, RemoteAddr: counter,
				RKey: b.mr.RKey, CompareAdd: 5})
			a.post(t, SendWR{WRID: 7, Opcode: CmpSwap, SGList: []SGE{a.mr.SGE(8, 8)}, RemoteAddr: counter,
				RKey: b.mr.RKey, CompareAdd: 5, Swap: 9})
			for i, w := range a.wait(t, 7) {
				if w.Status != StatusSuccess || w.WRID != uint64(i+1) {
					t.Fatalf("completion %d: %+v", i, w)
				}
			}
			rs := b.wait(t, 3)
			if rs[0].ByteLen != 900 || rs[1].Opcode != WCRecvRDMAWithImm || rs[1].ImmData != 77 ||
				rs[2].ImmData != 88 || rs[2].WRID != 102 {
				t.Fatalf("received %+v", rs)
			}
			b.sync()
			want[half-1] = want[0]
			u := binary.NativeEndian.Uint64
			if !bytes.Equal(b.buf[:half], want[:half]) || !bytes.Equal(b.buf[half:half+900], want[7:907]) ||
				!bytes.Equal(a.buf[half:], want[:half]) ||
				u(a.buf) != 0 || u(a.buf[8:]) != 5 || u(b.buf[1<<20-64:]) != 9 {
				t.Fatal("bytes differ")
			}
		})
	}
}

// Invalid requests fail as specified, and other queue pairs of the same device go on.
func TestRealErrorsOverSockets(t *testing.T) {
	for name, c := range map[string]struct {
		wr   SendWR
		o    func(*ConnectOptions)
		want Status
	}{
		"wrong rkey":   {SendWR{Opcode: Write, RKey: 1}, nil, StatusRemAccessErr},
		"outside":      {SendWR{Opcode: Write, RemoteAddr: 1 << 20}, nil, StatusRemAccessErr},
		"read outside": {SendWR{Opcode: Read, RemoteAddr: 1 << 20}, nil, StatusRemAccessErr},
		"no receive": {SendWR{Opcode: Send}, func(o *ConnectOptions) {
			o.RNRRetry, o.MinRNR = 2, 1
		}, StatusRNRRetryExcErr},
		"QP denies writes": {SendWR{Opcode: Write}, func(o *ConnectOptions) {
			o.Access = RemoteRead
		}, StatusRemInvReqErr},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := newNode(t, nil), newNode(t, nil)
			o := patient()
			if c.o != nil {
				c.o(&o)
			}
			pairUp(t, a, b, o)
			other := &node{dev: a.dev, pd: a.pd, mr: a.mr, buf: a.buf}
			peer := &node{dev: b.dev, pd: b.pd, mr: b.mr, buf: b.buf}
			for _, n := range []*node{other, peer} {
				var err error
				if n.cq, err = n.dev.CreateCQ(16, nil); err != nil {
					t.Fatal(err)
				}
				if n.qp, err = n.pd.CreateQP(QPInitAttr{SendCQ: n.cq, RecvCQ: n.cq,
					SignalAll: true}); err != nil {
					t.Fatal(err)
				}
			}
			pairUp(t, other, peer, patient())
			wr := c.wr
			wr.RemoteAddr += b.mr.Addr
			if wr.RKey == 0 {
				wr.RKey = b.mr.RKey
			}
			wr.SGList = []SGE{a.mr.SGE(0, 100)}
			a.post(t, wr)
			a.post(t, SendWR{WRID: 9, Opcode: Write, SGList: []SGE{a.mr.SGE(0, 1)}, RemoteAddr: b.mr.Addr,
				RKey: b.mr.RKey})
			got := a.wait(t, 2)
			if got[0].Status != c.want || got[1].Status != StatusWRFlushErr || a.qp.State() != Err {
				t.Fatalf("%v then %v, state %v; want %v", got[0].Status, got[1].Status, a.qp.State(), c.want)
			}
			// What is posted to a queue pair in ERR is flushed, not refused.
			a.post(t, SendWR{WRID: 10, Opcode: Write, SGList: []SGE{a.mr.SGE(0, 1)}, RemoteAddr: b.mr.Addr,
				RKey: b.mr.RKey})
			if err := a.qp.PostRecv(&RecvWR{WRID: 11}); err != nil {
				t.Error(err)
			}
			if w := a.wait(t, 2); w[0].Status != StatusWRFlushErr || w[0].WRID != 10 ||
				w[1].Status != StatusWRFlushErr || w[1].WRID != 11 {
				t.Errorf("posted in ERR: %+v", w)
			}
			b.sync()
			if !bytes.Equal(b.buf, make([]byte, len(b.buf))) {
				t.Error("a byte was written")
			}
			b.sync()
			other.post(t, SendWR{WRID: 1, Opcode: Write, SGList: []SGE{a.mr.SGE(0, 100)},
				RemoteAddr: b.mr.Addr, RKey: b.mr.RKey})
			if w := other.wait(t, 1); w[0].Status != StatusSuccess || peer.qp.State() != RTS {
				t.Errorf("the other queue pair: %v, peer in %v", w[0].Status, peer.qp.State())
			}
		})
	}
}

// A peer that vanishes ends in RETRY_EXC_ERR after the configured retries.
func TestRealDeadPeer(t *testing.T) {
	a, b := newNode(t, nil), newNode(t, nil)
	o := patient()
	o.Timeout, o.RetryCount = 10, 2 // 4.2 ms, three tries
	pairUp(t, a, b, o)
	b.dev.Close()
	began := time.Now()
	a.post(t, SendWR{Opcode: Write, SGList: a.mr.All(), RemoteAddr: b.mr.Addr, RKey: b.mr.RKey})
	if w := a.wait(t, 1); w[0].Status != StatusRetryExcErr {
		t.Fatalf("%v", w[0].Status)
	}
	if d := time.Since(began); d < 12*time.Millisecond { // longer is permitted
		t.Errorf("gave up after %v, three timeouts are 12.6 ms", d)
	}
}

// Steps that the state machine or the attributes do not allow.
func TestRealModifyRefuses(t *testing.T) {
	a := newNode(t, nil)
	peer := netip.MustParseAddr("127.0.0.1")
	rtr := QPAttr{State: RTR, PathMTU: 1024, DestQPN: 5, DestAddr: peer}
	bad := func(what string, q QPAttr) {
		t.Helper()
		if err := a.qp.Modify(q); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
	bad("RESET to RTR", rtr)
	if err := a.qp.Modify(QPAttr{State: Init}); err != nil {
		t.Fatal(err)
	}
	q := rtr
	q.PathMTU = 1500
	bad("MTU 1500", q)
	q = rtr
	q.DestAddr = netip.MustParseAddr("::1")
	bad("an IPv6 peer of an IPv4 device", q)
	q = rtr
	q.DestQPN = 1 << 24
	bad("a queue pair number of 25 bits", q)
	if err := a.qp.PostSend(&SendWR{Opcode: Write}); err == nil {
		t.Error("posting in INIT is taken")
	}
	if err := a.qp.Modify(rtr); err != nil {
		t.Fatal(err)
	}
	bad("retry count 8", QPAttr{State: RTS, RetryCount: 8})
	if err := a.qp.Modify(QPAttr{State: RTS, Timeout: 14}); err != nil {
		t.Fatal(err)
	}
	bad("RTS to INIT", QPAttr{State: Init})
	if err := a.mr.Dereg(); err != nil || a.mr.Dereg() == nil {
		t.Error("deregistering works once")
	}
	if _, err := OpenDevice(DeviceConfig{Addr: a.dev.Addr()}); err == nil ||
		!strings.Contains(err.Error(), "in use") {
		t.Errorf("a second device on the address: %v", err)
	}
	for choice, want := range map[string]string{
		"cubic": "unknown congestion control", "dcqcn,min_rate=200Gbps": "above the line rate",
	} {
		_, err := OpenDevice(DeviceConfig{CC: choice})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", choice, err)
		}
	}
	if _, err := OpenDevice(DeviceConfig{Addr: netip.MustParseAddr("192.0.2.1")}); err == nil ||
		!strings.Contains(err.Error(), "not an address of this host") {
		t.Errorf("a foreign address: %v", err)
	}
}

// Queue pairs that are created and destroyed in large numbers leak no socket.
func TestRealDestroyFreesSockets(t *testing.T) {
	open := func() map[string]bool { // inodes of this process's sockets
		fds, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("no /proc: ", err)
		}
		all := map[string]bool{}
		for _, fd := range fds {
			if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(to, "socket:") {
				all[to] = true
			}
		}
		return all
	}
	a := newNode(t, nil)
	before := open()
	more := func() (n int) {
		for socket := range open() {
			if !before[socket] {
				n++
			}
		}
		return n
	}
	o := patient()
	o.Entropy = 4
	for range 50 {
		qp, err := a.pd.CreateQP(QPInitAttr{SendCQ: a.cq, RecvCQ: a.cq})
		if err != nil {
			t.Fatal(err)
		}
		if err := qp.Connect(qp.Info(nil), o); err != nil {
			t.Fatal(err)
		}
		if n := more(); n != o.Entropy {
			t.Fatalf("a connected queue pair has %d sockets to send from, want %d", n, o.Entropy)
		}
		qp.Destroy()
	}
	if n := more(); n > 0 {
		t.Errorf("50 queue pairs have left %d sockets behind", n)
	}
}

// Events: an armed queue signals its channel once, a drained queue pair reports it, and polling an overrun queue is
// an error.
func TestRealEvents(t *testing.T) {
	a, b := newNode(t, nil), newNode(t, nil)
	ch := a.dev.CreateCompChannel()
	var err error
	if a.cq, err = a.dev.CreateCQ(2, ch); err != nil {
		t.Fatal(err)
	}
	if a.qp, err = a.pd.CreateQP(QPInitAttr{SendCQ: a.cq, RecvCQ: a.cq, SignalAll: true}); err != nil {
		t.Fatal(err)
	}
	pairUp(t, a, b, patient())
	w := SendWR{Opcode: Write, SGList: []SGE{a.mr.SGE(0, 10)}, RemoteAddr: b.mr.Addr, RKey: b.mr.RKey}
	a.cq.ReqNotify(false)
	a.post(t, w)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if cq, err := ch.Get(ctx); err != nil || cq != a.cq {
		t.Fatal(err)
	}
	a.wait(t, 1)
	if err := a.qp.Modify(QPAttr{State: SQD, SQDNotify: true}); err != nil {
		t.Fatal(err)
	}
	if e := <-a.dev.Events(); e.Type != EventSQDrained {
		t.Errorf("event %v", e.Type)
	}
	if err := a.qp.Modify(QPAttr{State: RTS}); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		a.post(t, w)
	}
	if e := <-a.dev.Events(); e.Type != EventCQError {
		t.Errorf("event %v", e.Type)
	}
	if e := <-a.dev.Events(); e.Type != EventQPFatal {
		t.Errorf("event %v", e.Type)
	}
	a.wait(t, 2)
	if _, err := a.cq.Poll(make([]WC, 1)); err != ErrCQOverrun {
		t.Errorf("poll of an overrun queue: %v", err)
	}
}
