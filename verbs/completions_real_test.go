package verbs

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"railyard/rcudp"
)

// flushed waits until count receives are flushed.
func (n *node) flushed(t *testing.T, count int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	wc := make([]WC, 1)
	for i := range count {
		if k, err := n.cq.Wait(ctx, wc); k != 1 || wc[0].Status != StatusWRFlushErr {
			t.Fatalf("receive %d of %d is not flushed, state %v: %+v %v", i, count, n.qp.State(), wc[0], err)
		}
	}
}

// A request that is rejected while READ data are still to be sent is answered after that data. Then the queue pair
// fails, and its receives are flushed at once (IBTA 10.3.1.7), not at the next packet.
func TestRealFlushBehindReadData(t *testing.T) {
	a, b := newNode(t, nil), newNode(t, nil)
	pairUp(t, a, b, patient())
	for i := range 3 {
		if err := b.qp.PostRecv(&RecvWR{WRID: uint64(i), SGList: []SGE{b.mr.SGE(0, 100)}}); err != nil {
			t.Fatal(err)
		}
	}
	a.post(t, SendWR{WRID: 1, Opcode: Read, SGList: []SGE{a.mr.SGE(0, 200_000)}, RemoteAddr: b.mr.Addr,
		RKey: b.mr.RKey})
	a.post(t, SendWR{WRID: 2, Opcode: Write, SGList: []SGE{a.mr.SGE(0, 4)}, RemoteAddr: b.mr.Addr, RKey: 1})
	if w := a.wait(t, 2); w[0].Status != StatusSuccess || w[1].Status != StatusRemAccessErr {
		t.Fatalf("%v, %v", w[0].Status, w[1].Status)
	}
	b.flushed(t, 3)
}

// The same holds if the region is removed during READ data or, in a fast run, before the last READ.
func TestRealFlushWhenRegionGoes(t *testing.T) {
	a, b := newNode(t, nil), newNode(t, nil)
	pairUp(t, a, b, patient())
	if err := b.qp.PostRecv(&RecvWR{WRID: 7}); err != nil {
		t.Fatal(err)
	}
	going, err := b.pd.RegMR(make([]byte, 1<<20), RemoteRead)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		a.post(t, SendWR{WRID: uint64(i), Opcode: Read, SGList: []SGE{a.mr.SGE(0, 1<<20)},
			RemoteAddr: going.Addr, RKey: going.RKey})
	}
	a.until(t, "READ data has come", func() bool { return a.cq.waiting.Load() > 0 })
	if err := going.Dereg(); err != nil {
		t.Fatal(err)
	}
	a.post(t, SendWR{WRID: 50, Opcode: Read, SGList: []SGE{a.mr.SGE(0, 1)}, RemoteAddr: going.Addr,
		RKey: going.RKey})
	if w := a.wait(t, 51); w[50].Status == StatusSuccess {
		t.Error("a READ of a region that is gone succeeds")
	}
	b.flushed(t, 1)
}

// byte_len of RECV_RDMA_WITH_IMM is the number of bytes written, even if every packet is a message of its own on
// the wire.
func TestRealImmediateByteLen(t *testing.T) {
	for _, writeOnly := range []bool{false, true} {
		a, b := newNode(t, func(c *DeviceConfig) {
			c.WriteOnly = writeOnly
		}), newNode(t, func(c *DeviceConfig) { c.WriteOnly = writeOnly })
		pairUp(t, a, b, patient())
		if err := b.qp.PostRecv(&RecvWR{}); err != nil {
			t.Fatal(err)
		}
		a.post(t, SendWR{Opcode: Write, SGList: []SGE{a.mr.SGE(0, 9000)}, RemoteAddr: b.mr.Addr,
			RKey: b.mr.RKey})
		a.post(t, SendWR{Opcode: WriteWithImm, ImmData: 3, SGList: []SGE{a.mr.SGE(0, 50_000)},
			RemoteAddr: b.mr.Addr, RKey: b.mr.RKey})
		if w := b.wait(t, 1)[0]; w.ByteLen != 50_000 || w.Opcode != WCRecvRDMAWithImm || w.ImmData != 3 {
			t.Errorf("write only %v: %+v", writeOnly, w)
		}
	}
}

// A READ that fails, or never leaves, writes nothing into its scattered memory.
func TestRealFailedReadLeavesMemoryAlone(t *testing.T) {
	for _, how := range []string{"flushed behind a fence", "never sent", "refused"} {
		a, b := newNode(t, nil), newNode(t, nil)
		pairUp(t, a, b, patient())
		for i := range a.buf {
			a.buf[i] = 0xaa
		}
		want := bytes.Clone(a.buf)
		read := SendWR{WRID: 2, Opcode: Read, SGList: []SGE{a.mr.SGE(1000, 100), a.mr.SGE(5000, 100)},
			RemoteAddr: b.mr.Addr, RKey: b.mr.RKey}
		n := 1
		switch how {
		case "flushed behind a fence":
			a.post(t, SendWR{WRID: 1, Opcode: Write, SGList: []SGE{a.mr.SGE(0, 4)},
				RemoteAddr: b.mr.Addr, RKey: 1})
			read.Fence, n = true, 2
			a.post(t, read)
		case "never sent":
			if err := a.qp.Modify(QPAttr{State: SQD}); err != nil {
				t.Fatal(err)
			}
			a.post(t, read)
			if err := a.qp.Modify(QPAttr{State: Err}); err != nil {
				t.Fatal(err)
			}
		case "refused":
			read.RKey = 1
			a.post(t, read)
		}
		if w := a.wait(t, n); w[n-1].Status == StatusSuccess {
			t.Errorf("%s: %v", how, w[n-1].Status)
		}
		a.sync()
		if !bytes.Equal(a.buf, want) {
			t.Errorf("%s: the READ left %x in memory", how, a.buf[1000:1004])
		}
	}
}

// SQ_DRAINED is raised when everything begun has completed (ibv_get_async_event). Here that is half a second after
// a receiver that was not ready and, with a READ of several requests on the wire, after the last of them.
func TestRealDrainedAfterTheLastCompletion(t *testing.T) {
	a, b := newNode(t, nil), newNode(t, nil)
	o := patient()
	o.MinRNR = 26 // 82 ms
	pairUp(t, a, b, o)
	a.post(t, SendWR{WRID: 1, Opcode: Send, SGList: []SGE{a.mr.SGE(0, 4)}})
	a.until(t, "the receiver is not ready", func() bool { return a.qp.conn.QP.WaitsForReceiver() })
	drains := func(wrs int) {
		t.Helper()
		if err := a.qp.Modify(QPAttr{State: SQD, SQDNotify: true}); err != nil {
			t.Fatal(err)
		}
		if err := b.qp.PostRecv(&RecvWR{SGList: []SGE{b.mr.SGE(0, 4)}}); err != nil {
			t.Fatal(err)
		}
		select {
		case e := <-a.dev.Events():
			if n, _ := a.cq.Poll(make([]WC, 4)); n != wrs || e.Type != EventSQDrained {
				t.Errorf("%v with %d of %d completions there", e.Type, n, wrs)
			}
		case <-time.After(patience):
			t.Error("never drained")
		}
	}
	drains(1)
	if err := a.qp.Modify(QPAttr{State: RTS}); err != nil {
		t.Fatal(err)
	}
	a.post(t, SendWR{WRID: 2, Opcode: Read, SGList: []SGE{a.mr.SGE(0, 1<<20)}, RemoteAddr: b.mr.Addr,
		RKey: b.mr.RKey})
	a.until(t, "the READ has begun", func() bool {
		return !a.qp.conn.QP.Drained() || a.cq.waiting.Load() > 0
	})
	drains(1)
}

// until waits for an asynchronous event of a queue pair.
func (n *node) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	eventually(t, what, func() (yes bool) {
		n.qp.do(func(*rcudp.Endpoint) { yes = holds() })
		return yes
	})
}

// Lengths that no message has are refused instead of wrapping around: 4 GiB and a
// byte was one byte.
func TestRealImpossibleLengths(t *testing.T) {
	a, b := newNode(t, nil), newNode(t, nil)
	pairUp(t, a, b, patient())
	for _, n := range []int{-1, 1<<31 + 1, 1 << 32, 1<<32 + 1, -1 << 32} {
		w := SendWR{Opcode: Write, SGList: []SGE{a.mr.SGE(0, n)}, RemoteAddr: b.mr.Addr, RKey: b.mr.RKey}
		if err := a.qp.PostSend(&w); !errors.Is(err, ErrTooLong) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// A queue pair that is reset or destroyed as soon as its receive has completed still acknowledges, so its peer has
// no time-outs.
func TestRealLeavingAcknowledges(t *testing.T) {
	for i := range 40 {
		a, b := newNode(t, nil), newNode(t, nil)
		o := patient()
		o.Timeout, o.RetryCount = 26, 3 // 275 s; no peer answers the retransmissions
		pairUp(t, a, b, o)
		if err := b.qp.PostRecv(&RecvWR{}); err != nil {
			t.Fatal(err)
		}
		left := make(chan struct{})
		go func() {
			defer close(left)
			b.wait(t, 1)
			if i%2 == 0 {
				b.qp.Destroy()
			} else if err := b.qp.Modify(QPAttr{State: Reset}); err != nil {
				t.Error(err)
			}
		}()
		a.post(t, SendWR{Opcode: WriteWithImm, SGList: []SGE{a.mr.SGE(0, 100)}, RemoteAddr: b.mr.Addr,
			RKey: b.mr.RKey})
		if w := a.wait(t, 1); w[0].Status != StatusSuccess {
			t.Fatalf("%d: %v", i, w[0].Status)
		}
		<-left
	}
}

// A request that cannot complete is rejected: on a queue pair destroyed once or twice, and on a closed device.
func TestRealPostAfterTheEnd(t *testing.T) {
	a, b := newNode(t, nil), newNode(t, nil)
	pairUp(t, a, b, patient())
	w := SendWR{Opcode: Write, SGList: []SGE{a.mr.SGE(0, 4)}, RemoteAddr: b.mr.Addr, RKey: b.mr.RKey}
	refused := func(when string, n *node) {
		t.Helper()
		for what, err := range map[string]error{
			"a send":    n.qp.PostSend(&w),
			"a receive": n.qp.PostRecv(&RecvWR{}),
			"a step":    n.qp.Modify(QPAttr{State: Reset}),
		} {
			if err == nil {
				t.Errorf("%s %s is taken", when, what)
			}
		}
	}
	a.qp.Destroy()
	a.qp.Destroy()
	refused("destroyed:", a)
	b.dev.Close()
	refused("closed:", b)
	if _, err := b.pd.CreateQP(QPInitAttr{SendCQ: b.cq, RecvCQ: b.cq}); err == nil {
		t.Error("a closed device makes queue pairs")
	}
}
