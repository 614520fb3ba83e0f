package verbs

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"railyard/rcudp"
	"railyard/unit"
)

// everyState and everyAttr list the states and attributes of the tables below.
var everyState = []State{Reset, Init, RTR, RTS, SQD, Err}

// full are attributes with a value each, different from those set on the way to a state.
func full(to State, peer netip.Addr) QPAttr {
	return QPAttr{State: to, SQDNotify: true, Access: RemoteRead, PathMTU: 512, DestQPN: 77, RQPSN: 5,
		DestAddr: peer, Entropy: 2,
		MaxDestReads: 3, MinRNRTimer: 9, SQPSN: 6, Timeout: 11, RetryCount: 4, RNRRetry: 5, MaxReads: 2,
		InFlight: 64 << 10}
}

// in brings a new queue pair of the node into a state.
func (n *node) in(t *testing.T, s State) *QP {
	t.Helper()
	qp, err := n.pd.CreateQP(QPInitAttr{SendCQ: n.cq, RecvCQ: n.cq, SignalAll: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(qp.Destroy)
	way := map[State][]State{
		Init: {Init},
		RTR:  {Init, RTR},
		RTS:  {Init, RTR, RTS},
		SQD:  {Init, RTR, RTS, SQD},
		Err:  {Init, Err},
	}
	for _, to := range way[s] {
		a := QPAttr{State: to, PathMTU: 1024, DestQPN: 5, DestAddr: netip.MustParseAddr("127.0.0.1"),
			Timeout: 14, MaxReads: 4, MaxDestReads: 4}
		if err := qp.Modify(a); err != nil {
			t.Fatal(err)
		}
	}
	return qp
}

// libibverbs' table of transitions for RC queue pairs: the required and the optional attributes of each, by the
// names of enum ibv_qp_attr_mask (man ibv_modify_qp, "minimum list of attributes"; the kernel's table for
// ib_modify_qp_is_ok). PKEY_INDEX, PORT, ALT_PATH and PATH_MIG_STATE are omitted, because a device here has one
// port, one partition and one path. Unlisted transitions return EINVAL there.
var documented = map[string]struct{ needs, takes string }{
	"RESET to RESET": {}, "RESET to INIT": {needs: "ACCESS_FLAGS"},
	"INIT to RESET": {}, "INIT to ERR": {}, "INIT to INIT": {takes: "ACCESS_FLAGS"},
	"INIT to RTR":  {"AV PATH_MTU DEST_QPN RQ_PSN MAX_DEST_RD_ATOMIC MIN_RNR_TIMER", "ACCESS_FLAGS"},
	"RTR to RESET": {}, "RTR to ERR": {},
	"RTR to RTS": {"TIMEOUT RETRY_CNT RNR_RETRY SQ_PSN MAX_QP_RD_ATOMIC",
		"CUR_STATE ACCESS_FLAGS MIN_RNR_TIMER"},
	"RTS to RESET": {}, "RTS to ERR": {},
	"RTS to RTS":   {takes: "CUR_STATE ACCESS_FLAGS MIN_RNR_TIMER"},
	"RTS to SQD":   {takes: "EN_SQD_ASYNC_NOTIFY"},
	"SQD to RESET": {}, "SQD to ERR": {},
	"SQD to RTS": {takes: "CUR_STATE ACCESS_FLAGS MIN_RNR_TIMER"},
	"SQD to SQD": {
		takes: "AV TIMEOUT RETRY_CNT RNR_RETRY MAX_QP_RD_ATOMIC MAX_DEST_RD_ATOMIC ACCESS_FLAGS " +
			"MIN_RNR_TIMER"},
	"ERR to RESET": {}, "ERR to ERR": {},
}

// maskNames are our attributes by libibverbs' names.
var maskNames = map[string]Attr{"CUR_STATE": AttrCurState, "EN_SQD_ASYNC_NOTIFY": AttrSQDNotify,
	"ACCESS_FLAGS": AttrAccess, "AV": AttrAddr,
	"PATH_MTU": AttrPathMTU, "TIMEOUT": AttrTimeout, "RETRY_CNT": AttrRetryCount, "RNR_RETRY": AttrRNRRetry,
	"RQ_PSN":           AttrRQPSN,
	"MAX_QP_RD_ATOMIC": AttrMaxReads, "MIN_RNR_TIMER": AttrMinRNRTimer, "SQ_PSN": AttrSQPSN,
	"MAX_DEST_RD_ATOMIC": AttrMaxDestReads,
	"DEST_QPN":           AttrDestQPN}

func maskOf(names string) (m Attr) {
	for _, n := range strings.Fields(names) {
		m |= maskNames[n]
	}
	return m
}

// Every transition between two states, with every attribute, with one more and with one less than libibverbs
// requires. Whatever libibverbs rejects is rejected here and changes nothing.
func TestRealEveryStep(t *testing.T) {
	n := newNode(t, nil)
	peer := netip.MustParseAddr("127.0.0.1")
	for _, from := range everyState {
		for _, to := range everyState {
			step := fmt.Sprintf("%v to %v", from, to)
			doc, legal := documented[step]
			needs, takes := maskOf(doc.needs), maskOf(doc.takes)
			try := func(what string, mask Attr, want bool) {
				t.Helper()
				qp := n.in(t, from)
				a, before, ports := full(to, peer), qp.Query(), slices.Clone(qp.conn.Ports)
				a.CurState = from
				err := qp.Modify(a, AttrState|mask)
				if (err == nil) != want {
					t.Errorf("%s %s: taken %v, want %v (%v)", step, what, err == nil, want, err)
				}
				after := qp.Query()
				if err != nil && (after != before || !slices.Equal(ports, qp.conn.Ports)) {
					t.Errorf("%s %s: refused, and yet\n%+v became\n%+v", step, what, before, after)
				}
				if err == nil && after.State != to {
					t.Errorf("%s %s: in %v", step, what, after.State)
				}
				if err == nil && to != Reset {
					want := before
					want.set(&a, mask)
					want.State = to
					if after != want {
						t.Errorf("%s %s: attributes\n%+v, want\n%+v", step, what, after, want)
					}
				}
				qp.Destroy()
			}
			try("with what it needs", needs, legal)
			if !legal {
				try("with everything", needs|takes, false)
				continue
			}
			for name, bit := range maskNames {
				switch {
				case needs&bit != 0:
					try("without "+name, needs&^bit, false)
				default:
					try("with "+name, needs|bit, takes&bit != 0)
				}
			}
			try("with all it takes", needs|takes, true)
		}
	}
}

// Impossible values are refused by the attribute's name; nothing changes.
func TestRealEveryAttributeIsChecked(t *testing.T) {
	n := newNode(t, nil)
	for what, c := range map[string]struct {
		to    State
		wrong func(a *QPAttr)
	}{
		"access":           {Init, func(a *QPAttr) { a.Access = 1 << 7 }},
		"path MTU":         {RTR, func(a *QPAttr) { a.PathMTU = 1500 }},
		"destination":      {RTR, func(a *QPAttr) { a.DestAddr = netip.MustParseAddr("::1") }},
		"queue pair":       {RTR, func(a *QPAttr) { a.DestQPN = 1 << 24 }},
		"entropy":          {RTR, func(a *QPAttr) { a.Entropy = 1000 }},
		"expected PSN":     {RTR, func(a *QPAttr) { a.RQPSN = 1 << 24 }},
		"MaxDestReads":     {RTR, func(a *QPAttr) { a.MaxDestReads = 129 }},
		"MinRNRTimer":      {RTR, func(a *QPAttr) { a.MinRNRTimer = 32 }},
		"first PSN":        {RTS, func(a *QPAttr) { a.SQPSN = 1 << 24 }},
		"timeout":          {RTS, func(a *QPAttr) { a.Timeout = 32 }},
		"RetryCount":       {RTS, func(a *QPAttr) { a.RetryCount = 8 }},
		"RNRRetry":         {RTS, func(a *QPAttr) { a.RNRRetry = -1 }},
		"MaxReads":         {RTS, func(a *QPAttr) { a.MaxReads = -1 }},
		"InFlight":         {RTS, func(a *QPAttr) { a.InFlight = -1 }},
		"state":            {Init, func(a *QPAttr) { a.State = 17 }},
		"is in RTR, not":   {RTS, func(a *QPAttr) { a.CurState = SQD }},
		"unknown attribut": {RTS, nil},
	} {
		qp := n.in(t, map[State]State{Init: Reset, RTR: Init, RTS: RTR}[c.to])
		a, mask := full(c.to, netip.MustParseAddr("127.0.0.1")), requiredOf[c.to]
		if c.wrong != nil {
			c.wrong(&a)
		} else {
			mask |= 1 << 30
		}
		if a.CurState != 0 {
			mask |= AttrCurState
		}
		if a.InFlight < 0 {
			mask |= AttrInFlight
		}
		before := qp.Query()
		if err := qp.Modify(a, mask); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("a wrong %s: %v", what, err)
		}
		if after := qp.Query(); after != before {
			t.Errorf("a wrong %s changed %+v to %+v", what, before, after)
		}
	}
}

// requiredOf lists the required attributes of the three transitions of connection set-up.
var requiredOf = map[State]Attr{Init: AttrState | AttrAccess,
	RTR: AttrState | maskOf(documented["INIT to RTR"].needs),
	RTS: AttrState | maskOf(documented["RTR to RTS"].needs)}

// Which requests may be posted in which state (IBTA 10.3.1; man ibv_post_recv): none in RESET, receives from INIT
// on, sends from RTS on; in ERR both are flushed.
func TestRealPostingByState(t *testing.T) {
	n := newNode(t, nil)
	for _, c := range []struct {
		state                State
		send, recv, complete bool
	}{{Reset, false, false, false}, {Init, false, true, false}, {RTR, false, true, false},
		{RTS, true, true, false}, {SQD, true, true, false},
		{Err, true, true, true}} {
		qp := n.in(t, c.state)
		s := qp.PostSend(&SendWR{WRID: 1, Opcode: Write, SGList: []SGE{n.mr.SGE(0, 4)}, RemoteAddr: n.mr.Addr,
			RKey: n.mr.RKey})
		r := qp.PostRecv(&RecvWR{WRID: 2})
		if (s == nil) != c.send || (r == nil) != c.recv {
			t.Errorf("%v: send %v, receive %v", c.state, s, r)
		}
		if c.complete {
			if w := n.wait(t, 2); w[0].Status != StatusWRFlushErr || w[0].WRID != 1 ||
				w[1].Status != StatusWRFlushErr || w[1].WRID != 2 {
				t.Errorf("%v: %+v", c.state, w)
			}
		}
		qp.Destroy()
	}
}

// SQD returns attributes unchanged, accepts new ones once it is drained, and reports that only on request
// (en_sqd_async_notify).
func TestRealSQDKeepsAttributes(t *testing.T) {
	a, b := newNode(t, nil), newNode(t, nil)
	pairUp(t, a, b, patient())
	before := a.qp.Query()
	for _, s := range []State{SQD, RTS} {
		if err := a.qp.Modify(QPAttr{State: s}); err != nil {
			t.Fatal(err)
		}
	}
	if after := a.qp.Query(); after != before {
		t.Errorf("before SQD %+v\nafter it %+v", before, after)
	}
	select {
	case e := <-a.dev.Events():
		t.Errorf("%v, which nobody asked for", e.Type)
	default:
	}
	if err := b.qp.Modify(QPAttr{State: SQD}); err != nil {
		t.Fatal(err)
	}
	if err := b.qp.Modify(QPAttr{State: RTS}); err != nil {
		t.Fatal(err)
	}
	// a's SEND finds no receive; while it waits, attributes cannot change.
	a.post(t, SendWR{Opcode: Send, SGList: []SGE{a.mr.SGE(0, 4)}})
	a.until(t, "the SEND has begun", func() bool { return !a.qp.conn.QP.Drained() })
	if err := a.qp.Modify(QPAttr{State: SQD, SQDNotify: true}); err != nil {
		t.Fatal(err)
	}
	if q := a.qp.Query(); !q.Draining {
		t.Error("nobody sees that it drains")
	}
	if err := a.qp.Modify(QPAttr{Timeout: 18}, AttrTimeout); err == nil ||
		!strings.Contains(err.Error(), "drain") {
		t.Errorf("attributes of a queue that drains: %v", err)
	}
	if err := b.qp.PostRecv(&RecvWR{SGList: []SGE{b.mr.SGE(0, 4)}}); err != nil {
		t.Fatal(err)
	}
	if e := <-a.dev.Events(); e.Type != EventSQDrained {
		t.Error(e.Type)
	}
	if err := a.qp.Modify(QPAttr{Timeout: 18}, AttrTimeout); err != nil || a.qp.Query().Timeout != 18 ||
		a.qp.cfg.Timeout != 4096*unit.Nanosecond<<18 {
		t.Errorf("a new timeout: %v, %+v", err, a.qp.Query())
	}
}

// A queue pair that was reset starts anew: another PSN, no counters, no ports, and possibly another peer. (Its
// rate: rcudp.TestRestart.)
func TestRealResetForgets(t *testing.T) {
	a, b, c := newNode(t, nil), newNode(t, nil), newNode(t, nil)
	pairUp(t, a, b, patient())
	a.post(t, SendWR{Opcode: Write, SGList: []SGE{a.mr.SGE(0, 4)}, RemoteAddr: b.mr.Addr, RKey: b.mr.RKey})
	a.wait(t, 1)
	psn := a.qp.Info(nil).PSN
	a.qp.do(func(*rcudp.Endpoint) { a.qp.conn.CNPs, a.qp.conn.CE, a.qp.conn.Timeouts = 3, 2, 1 })
	if err := a.qp.Modify(QPAttr{State: Reset}); err != nil {
		t.Fatal(err)
	}
	if s := a.qp.Stats(); s != (Stats{Rate: 100 * unit.Gbps}) || a.qp.Query() != (QPAttr{}) ||
		len(a.qp.conn.Ports) != 0 {
		t.Errorf("after RESET %+v, %+v, ports %v", s, a.qp.Query(), a.qp.conn.Ports)
	}
	if again := a.qp.Info(nil).PSN; again == psn {
		t.Errorf("both lives start at PSN %d", psn)
	}
	pairUp(t, a, c, patient())
	a.buf[0] = 42
	a.post(t, SendWR{Opcode: Write, SGList: []SGE{a.mr.SGE(0, 4)}, RemoteAddr: c.mr.Addr, RKey: c.mr.RKey})
	if w := a.wait(t, 1); w[0].Status != StatusSuccess {
		t.Fatal(w[0].Status)
	}
	if c.sync(); c.buf[0] != 42 {
		t.Error("nothing arrived at the new peer")
	}
}

// Source ports change by accepted transitions, not by rejected ones, and not while packets leave from them.
func TestRealRefusedStepKeepsPorts(t *testing.T) {
	a, b := newNode(t, nil), newNode(t, nil)
	o := patient()
	o.Entropy = 8
	pairUp(t, a, b, o)
	for range 30 {
		a.post(t, SendWR{Opcode: Write, SGList: []SGE{a.mr.SGE(0, 1<<19)}, RemoteAddr: b.mr.Addr,
			RKey: b.mr.RKey})
		if err := a.qp.Modify(QPAttr{State: RTR, PathMTU: 1024, DestQPN: 5, DestAddr: b.dev.Addr(),
			Entropy: 1}); err == nil {
			t.Fatal("RTS to RTR is taken")
		}
	}
	if w := a.wait(t, 30); w[29].Status != StatusSuccess || len(a.qp.conn.Ports) != 8 {
		t.Errorf("%v from %d of 8 ports", w[29].Status, len(a.qp.conn.Ports))
	}
}

// Asynchronous events report what no completion reports (IBTA 11.6.3). A responder that ended the connection gives
// the reason. A requester has its completion, and a transition to ERR by the application needs no event.
func TestRealEventsTellWhatCompletionsDoNot(t *testing.T) {
	for what, c := range map[string]struct {
		wr   SendWR
		want EventType
	}{"a wrong key": {SendWR{Opcode: Write, RKey: 1}, EventQPAccessErr},
		"a range outside": {SendWR{Opcode: Read, RemoteAddr: 1 << 30}, EventQPAccessErr},
		"a right that the queue pair does not give": {SendWR{Opcode: FetchAdd}, EventQPReqErr},
		"too many bytes": {SendWR{Opcode: Send}, -1}} {
		a, b := newNode(t, nil), newNode(t, nil)
		o := patient()
		o.Access = RemoteWrite | RemoteRead
		pairUp(t, a, b, o)
		if err := b.qp.PostRecv(&RecvWR{SGList: []SGE{b.mr.SGE(0, 50)}}); err != nil {
			t.Fatal(err)
		}
		c.wr.SGList = []SGE{a.mr.SGE(0, 100)}
		if c.wr.Opcode == FetchAdd {
			c.wr.SGList, c.wr.RemoteAddr = []SGE{a.mr.SGE(0, 8)}, b.mr.Addr+uint64(-b.mr.Addr&7)
		}
		if c.wr.RKey == 0 {
			c.wr.RKey = b.mr.RKey
		}
		a.post(t, c.wr)
		a.wait(t, 1)
		b.wait(t, 1) // in error, or flushed
		if c.want >= 0 {
			if e := <-b.dev.Events(); e.Type != c.want || e.QP != b.qp {
				t.Errorf("%s: %v, want %v", what, e.Type, c.want)
			}
		}
		b.nextEvent(t, what+", once more at the responder", a)
		a.nextEvent(t, what+", at the requester", b)
	}
	a, b := newNode(t, nil), newNode(t, nil)
	pairUp(t, a, b, patient())
	if err := a.qp.PostRecv(&RecvWR{WRID: 1}); err != nil {
		t.Fatal(err)
	}
	if err := a.qp.Modify(QPAttr{State: Err}); err != nil {
		t.Fatal(err)
	}
	a.nextEvent(t, "the user's own ERR", b)
	if w := a.wait(t, 1); w[0].Status != StatusWRFlushErr {
		t.Error(w[0].Status)
	}
}

// The first packet that reaches a queue pair in RTR raises IBV_EVENT_COMM_EST, once.
func TestRealCommunicationEstablished(t *testing.T) {
	a, b := newNode(t, nil), newNode(t, nil)
	ia, ib := a.qp.Info(a.mr), b.qp.Info(b.mr)
	if err := a.qp.Connect(ib, patient()); err != nil {
		t.Fatal(err)
	}
	if err := b.qp.Modify(QPAttr{State: Init, Access: RemoteWrite}); err != nil {
		t.Fatal(err)
	}
	mtu := a.qp.Query().PathMTU
	if err := b.qp.Modify(QPAttr{State: RTR, PathMTU: mtu, DestQPN: ia.QPN, RQPSN: ia.PSN, DestAddr: ia.Addr,
		MaxDestReads: 1}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		a.post(t, SendWR{Opcode: Write, SGList: []SGE{a.mr.SGE(0, 100)}, RemoteAddr: b.mr.Addr,
			RKey: b.mr.RKey})
		a.wait(t, 1)
	}
	if e := <-b.dev.Events(); e.Type != EventCommEst || e.QP != b.qp {
		t.Error(e.Type)
	}
	b.nextEvent(t, "the connection stands", a)
}

// nextEvent returns any event of the node's device before that of a WRITE with a wrong key, which is sent last to
// another queue pair of the device.
func (n *node) nextEvent(t *testing.T, what string, peer *node) {
	t.Helper()
	var qps [2]*QP
	for i, end := range []*node{n, peer} {
		cq, err := end.dev.CreateCQ(16, nil)
		if err != nil {
			t.Fatal(err)
		}
		if qps[i], err = end.pd.CreateQP(QPInitAttr{SendCQ: cq, RecvCQ: cq, SignalAll: true}); err != nil {
			t.Fatal(err)
		}
		defer qps[i].Destroy()
	}
	own, other := qps[0], qps[1]
	for _, err := range []error{own.Connect(other.Info(nil), patient()), other.Connect(own.Info(nil), patient()),
		other.PostSend(&SendWR{Opcode: Write, SGList: []SGE{peer.mr.SGE(0, 4)}, RemoteAddr: n.mr.Addr})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if e := <-n.dev.Events(); e.Type != EventQPAccessErr || e.QP != own {
		t.Errorf("%s: %v", what, e.Type)
	}
}
