package verbs

import (
	"testing"

	"railyard/rc"
	"railyard/rcudp"
	"railyard/roce"
	"railyard/unit"
)

// Every completion status of libibverbs for a reliable connection without memory windows (IBTA 11.6.2), with its
// cause. For statuses that cannot occur here, the reason.
func TestRealEveryCompletionStatus(t *testing.T) {
	write := func(a, b *node) SendWR {
		return SendWR{WRID: 1, Opcode: Write, SGList: []SGE{a.mr.SGE(0, 100)}, RemoteAddr: b.mr.Addr,
			RKey: b.mr.RKey}
	}
	send := func(a *node) SendWR { return SendWR{WRID: 1, Opcode: Send, SGList: []SGE{a.mr.SGE(0, 100)}} }
	receive := func(t *testing.T, b *node, list ...SGE) {
		if err := b.qp.PostRecv(&RecvWR{WRID: 5, SGList: list}); err != nil {
			t.Fatal(err)
		}
	}
	caused := map[Status]func(t *testing.T, a, b *node) (sender, receiver Status){
		StatusSuccess: func(t *testing.T, a, b *node) (Status, Status) {
			receive(t, b, b.mr.SGE(0, 100))
			a.post(t, send(a))
			return a.wait(t, 1)[0].Status, b.wait(t, 1)[0].Status
		},
		// more than the receive has room for
		StatusLocLenErr: func(t *testing.T, a, b *node) (Status, Status) {
			receive(t, b, b.mr.SGE(0, 99))
			a.post(t, send(a))
			return a.wait(t, 1)[0].Status, b.wait(t, 1)[0].Status
		},
		StatusLocProtErr: func(t *testing.T, a, b *node) (Status, Status) { // a buffer that is not ours
			receive(t, b, SGE{b.mr.Addr, 100, b.mr.LKey + 1})
			a.post(t, send(a))
			return a.wait(t, 1)[0].Status, b.wait(t, 1)[0].Status
		},
		StatusWRFlushErr: func(t *testing.T, a, b *node) (Status, Status) {
			receive(t, b)
			if err := b.qp.Modify(QPAttr{State: Err}); err != nil {
				t.Fatal(err)
			}
			if err := a.qp.Modify(QPAttr{State: Err}); err != nil {
				t.Fatal(err)
			}
			a.post(t, write(a, b))
			return a.wait(t, 1)[0].Status, b.wait(t, 1)[0].Status
		},
		StatusBadRespErr: func(t *testing.T, a, b *node) (Status, Status) { // READ data for a WRITE
			a.qp.do(func(*rcudp.Endpoint) {
				wr := write(a, b)
				if err := a.qp.postSend(&wr); err != nil {
					t.Fatal(err)
				}
				var p rc.Packet
				a.qp.conn.QP.Next(0, &p)
				a.qp.conn.QP.Acknowledged(unit.Second,
					&rc.Packet{Opcode: roce.ReadRespOnly, Syndrome: roce.Ack, PSN: p.PSN})
			})
			if err := a.qp.Modify(QPAttr{State: Err}); err != nil { // reports the event
				t.Fatal(err)
			}
			return a.wait(t, 1)[0].Status, StatusSuccess
		},
		// a message longer than the receive
		StatusRemInvReqErr: func(t *testing.T, a, b *node) (Status, Status) {
			receive(t, b)
			a.post(t, send(a))
			return a.wait(t, 1)[0].Status, b.wait(t, 1)[0].Status
		},
		StatusRemAccessErr: func(t *testing.T, a, b *node) (Status, Status) {
			receive(t, b)
			wr := write(a, b)
			wr.RKey++
			a.post(t, wr)
			return a.wait(t, 1)[0].Status, b.wait(t, 1)[0].Status
		},
		StatusRemOpErr: func(t *testing.T, a, b *node) (Status, Status) { // the receiver's own error
			receive(t, b, SGE{b.mr.Addr, 100, b.mr.LKey + 1})
			a.post(t, send(a))
			return a.wait(t, 1)[0].Status, b.wait(t, 1)[0].Status
		},
		StatusRetryExcErr: func(t *testing.T, a, b *node) (Status, Status) {
			b.dev.Close()
			a.post(t, write(a, b))
			return a.wait(t, 1)[0].Status, StatusSuccess
		},
		StatusRNRRetryExcErr: func(t *testing.T, a, b *node) (Status, Status) {
			a.post(t, send(a))
			return a.wait(t, 1)[0].Status, StatusSuccess
		},
	}
	atReceiver := map[Status]Status{
		StatusSuccess:    StatusSuccess,
		StatusLocLenErr:  StatusRemInvReqErr,
		StatusLocProtErr: StatusRemOpErr,
	}
	never := map[Status]string{
		StatusLocQPOpErr:   "a malformed request is refused when it is posted",
		StatusLocEECOpErr:  "reliable datagrams only",
		StatusMWBindErr:    "there are no memory windows",
		StatusLocAccessErr: "a WRITE with immediate that is not allowed takes no receive",
	}
	for s := StatusSuccess; s <= StatusRNRRetryExcErr; s++ {
		cause, ok := caused[s]
		if !ok {
			if never[s] == "" {
				t.Errorf("nobody knows what brings %v about", s)
			}
			continue
		}
		t.Run(s.String(), func(t *testing.T) {
			a, b := newNode(t, nil), newNode(t, nil)
			o := patient()
			o.RNRRetry, o.MinRNR = 1, 1
			if s == StatusRetryExcErr {
				o.Timeout, o.RetryCount = 14, 3
			}
			pairUp(t, a, b, o)
			sender, receiver := cause(t, a, b)
			if want, ok := atReceiver[s]; ok {
				if receiver != s || sender != want {
					t.Errorf("receiver %v, sender %v; want %v and %v", receiver, sender, s, want)
				}
			} else if sender != s {
				t.Errorf("sender %v, receiver %v; want %v", sender, receiver, s)
			}
			if s != StatusSuccess && a.qp.State() != Err {
				t.Errorf("%v and the queue pair is in %v", s, a.qp.State())
			}
		})
	}
}
