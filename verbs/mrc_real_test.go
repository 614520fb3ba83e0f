package verbs

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"railyard/rcudp"
	"railyard/unit"
)

// mrcNode is a node with an MRC queue pair.
func mrcNode(t testing.TB, change func(*DeviceConfig)) *node {
	t.Helper()
	n := newNode(t, change)
	n.qp.Destroy()
	var err error
	init := QPInitAttr{SendCQ: n.cq, RecvCQ: n.cq, SignalAll: true, Transport: MRC}
	if n.qp, err = n.pd.CreateQP(init); err != nil {
		t.Fatal(err)
	}
	return n
}

// MRC WRITEs place every byte, over many source ports. The last WRITE's immediate is delivered when all data are in
// memory.
func TestRealMRCWrites(t *testing.T) {
	a, b := mrcNode(t, nil), mrcNode(t, nil)
	pairUp(t, a, b, patient())
	if err := b.qp.PostRecv(&RecvWR{WRID: 77}); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range a.buf {
		a.buf[i] = byte(r.Uint32())
	}
	at, posts := 0, 0
	for i := 0; at < len(a.buf); i++ {
		posts++
		n := min(len(a.buf)-at, r.IntN(100_000))
		wr := SendWR{WRID: uint64(i), SGList: []SGE{a.mr.SGE(at, n)}, RemoteAddr: b.mr.Addr + uint64(at),
			RKey: b.mr.RKey}
		if at += n; at == len(a.buf) {
			wr.Opcode, wr.ImmData = WriteWithImm, 4711
		}
		if err := a.qp.PostSend(&wr); err != nil {
			t.Fatal(err)
		}
	}
	in := b.wait(t, 1)[0]
	if in.WRID != 77 || in.ImmData != 4711 || in.Opcode != WCRecvRDMAWithImm {
		t.Errorf("received %+v", in)
	}
	if !bytes.Equal(a.buf, b.buf) {
		t.Error("the memories differ")
	}
	for i, w := range a.wait(t, posts) {
		if w.Status != StatusSuccess || w.WRID != uint64(i) {
			t.Errorf("completion %d is %+v", i, w)
		}
	}
	c, _, _, _ := a.dev.Counters()
	if c.Malformed > 0 || c.BadICRC > 0 || c.Refused > 0 { // time-outs are possible, because the host is shared
		t.Errorf("counted %+v", c)
	}
}

// A WRITE with immediate waits for its receive without missing a timeout, however late the receive is posted. A
// timeout would take a minute here.
func TestRealMRCLateReceive(t *testing.T) {
	a, b := mrcNode(t, nil), mrcNode(t, nil)
	o := patient()
	o.Timeout = 26 // 275 s, of which MRC takes a quarter
	pairUp(t, a, b, o)
	for i := range 3 {
		wr := SendWR{WRID: uint64(i), SGList: []SGE{a.mr.SGE(0, 3000)}, RemoteAddr: b.mr.Addr,
			RKey: b.mr.RKey, Opcode: WriteWithImm, ImmData: uint32(i)}
		before, _ := a.qp.Counter("nack_no_resource")
		if err := a.qp.PostSend(&wr); err != nil {
			t.Fatal(err)
		}
		// Only rejected packets count as too early.
		a.until(t, "a WRITE without a receive is refused", func() bool {
			away, _ := a.qp.conn.Counter("nack_no_resource")
			return away > before
		})
		if err := b.qp.PostRecv(&RecvWR{WRID: 70}); err != nil {
			t.Fatal(err)
		}
		if in := b.wait(t, 1)[0]; in.WRID != 70 || in.ImmData != uint32(i) {
			t.Errorf("received %+v", in)
		}
		if w := a.wait(t, 1)[0]; w.Status != StatusSuccess {
			t.Errorf("completion %+v", w)
		}
	}
	late, _ := a.qp.Counter("timeouts")
	if away, _ := a.qp.Counter("nack_no_resource"); away < 3 || late > 0 {
		t.Errorf("%d refusals, %d timeouts", away, late)
	}
}

// A log of rates has those of MRC queue pairs, and their statistics report the window to the peer.
func TestRealMRCRates(t *testing.T) {
	var mu sync.Mutex
	seen := map[uint32][]unit.Rate{}
	a := mrcNode(t, func(c *DeviceConfig) {
		c.OnRate = func(qpn uint32, _ unit.Time, r unit.Rate) {
			mu.Lock()
			defer mu.Unlock()
			seen[qpn] = append(seen[qpn], r)
		}
	})
	b := mrcNode(t, nil)
	pairUp(t, a, b, patient())
	told := func() []unit.Rate {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(seen[a.qp.QPN])
	}
	wr := SendWR{WRID: 1, SGList: []SGE{a.mr.SGE(0, len(a.buf))}, RemoteAddr: b.mr.Addr, RKey: b.mr.RKey}
	// If a whole message is acknowledged at one poll, it has one rate.
	for posts := 0; posts < 200 && len(told()) < 2; posts++ {
		if err := a.qp.PostSend(&wr); err != nil {
			t.Fatal(err)
		}
		a.wait(t, 1)
	}
	s := a.qp.Stats()
	mu.Lock()
	defer mu.Unlock()
	if rates := seen[a.qp.QPN]; len(rates) < 2 || len(seen) != 1 || slices.Min(rates) <= 0 {
		t.Errorf("queue pair %#x: rates are %v", a.qp.QPN, seen)
	}
	if cuts, ok := a.qp.Counter("cuts"); !ok || cuts != s.Cuts || s.Rate <= 0 {
		t.Errorf("%d cuts, %v; the statistics are %+v", cuts, ok, s)
	}
}

// Unsupported features of MRC are rejected by name, and so are incompatible peers.
func TestRealMRCRefuses(t *testing.T) {
	a, b := mrcNode(t, nil), mrcNode(t, nil)
	pairUp(t, a, b, patient())
	err := a.qp.PostSend(&SendWR{Opcode: Read, SGList: a.mr.All(), RemoteAddr: b.mr.Addr, RKey: b.mr.RKey})
	if !errors.Is(err, rcudp.ErrMRCVerb) || !strings.Contains(err.Error(), "READ") {
		t.Errorf("a READ on a queue pair of MRC: %v", err)
	}
	rc := newNode(t, nil)
	for _, c := range []struct {
		err  error
		says string
	}{
		{a.qp.Connect(rc.qp.Info(rc.mr), patient()), "the peer's queue pair is RC, the local one MRC"},
		{rc.qp.Connect(a.qp.Info(a.mr), patient()), "the peer's queue pair is MRC, the local one RC"},
		{(&MRCInfo{Range: 4096, Immediates: 1}).agrees(&MRCInfo{Range: 128, Immediates: 1}),
			"the peer tracks 128 packets, we track 4096"},
		{(&MRCInfo{Immediates: 1}).agrees(&MRCInfo{Immediates: 1, Planes: make([]netip.Addr, 2)}),
			"the peer has 2 planes, we have 1"},
		{(&MRCInfo{Immediates: 1}).agrees(&MRCInfo{}), "takes 0 WRITEs with immediate"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("%v, want %q", c.err, c.says)
		}
	}
	dcqcn := newNode(t, func(c *DeviceConfig) { c.CC = "dcqcn" })
	_, err = dcqcn.pd.CreateQP(QPInitAttr{SendCQ: dcqcn.cq, RecvCQ: dcqcn.cq, Transport: MRC})
	if err == nil || !strings.Contains(err.Error(), "MRC runs under nscc, dctcp, none, not under dcqcn") {
		t.Errorf("MRC under DCQCN: %v", err)
	}
	_, err = a.pd.CreateQP(QPInitAttr{SendCQ: a.cq, RecvCQ: a.cq, Transport: "srd"})
	if err == nil || !strings.Contains(err.Error(), `rc or mrc, found "srd"`) {
		t.Errorf("a queue pair of another transport: %v", err)
	}
}

// A WRITE to memory without permission ends both queue pairs, and the memory does not change.
func TestRealMRCForbidden(t *testing.T) {
	a, b := mrcNode(t, nil), mrcNode(t, nil)
	pairUp(t, a, b, patient())
	a.buf[0] = 1
	if err := a.qp.PostSend(&SendWR{WRID: 1, SGList: []SGE{a.mr.SGE(0, 100)}, RKey: b.mr.RKey,
		RemoteAddr: b.mr.Addr + uint64(b.mr.Length) - 99}); err != nil {
		t.Fatal(err)
	}
	if w := a.wait(t, 1)[0]; w.Status != StatusRemOpErr {
		t.Errorf("it completed with %v", w.Status)
	}
	if a.qp.State() != Err || b.qp.State() != Err {
		t.Errorf("the queue pairs are in %v and %v", a.qp.State(), b.qp.State())
	}
	if b.buf[len(b.buf)-99] != 0 {
		t.Error("it was written")
	}
	if e := <-b.dev.Events(); e.Type != EventCommEst && e.Type != EventQPAccessErr {
		t.Errorf("event %v", e.Type)
	}
}

// Over IPv6 entropy values have a flow label if the kernel permits one.
func TestRealMRCOverIPv6(t *testing.T) {
	for _, none := range []bool{false, true} {
		labels := 0
		node6 := func(addr string) *node {
			n := newNode(t, func(c *DeviceConfig) { c.Addr, c.NoLabels = netip.MustParseAddr(addr), none })
			n.qp.Destroy()
			var err error
			if n.qp, err = n.pd.CreateQP(QPInitAttr{SendCQ: n.cq, RecvCQ: n.cq, SignalAll: true,
				Transport: MRC}); err != nil {
				t.Fatal(err)
			}
			if n.dev.Labels() {
				labels++
			}
			return n
		}
		a := node6("::1")
		pairUpSelf(t, a)
		if err := a.qp.PostSend(&SendWR{SGList: []SGE{a.mr.SGE(0, 500_000)}, RKey: a.mr.RKey,
			RemoteAddr: a.mr.Addr + 500_000}); err != nil {
			t.Fatal(err)
		}
		if w := a.wait(t, 1)[0]; w.Status != StatusSuccess {
			t.Errorf("it completed with %v", w.Status)
		}
		if none && labels > 0 {
			t.Error("labels are used that were not wanted")
		}
		t.Logf("%d devices with flow labels", labels)
		if n, ok := a.qp.Counter("ev_bad"); !ok || n > 0 {
			t.Errorf("%d paths are bad, %v", n, ok)
		}
		a.dev.Close()
	}
}

// pairUpSelf connects a queue pair to itself.
func pairUpSelf(t *testing.T, a *node) {
	t.Helper()
	o := patient()
	o.Timeout = 26 // a path is bad if packets are lost on it, not if they wait for their turn
	if err := a.qp.Connect(a.qp.Info(a.mr), o); err != nil {
		t.Fatal(err)
	}
}
