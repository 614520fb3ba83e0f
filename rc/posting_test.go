package rc

import (
	"bytes"
	"errors"
	"testing"

	"railyard/roce"
)

// in returns a queue pair in a state, reached by the steps of IBTA 10.3.1.
func in(t *testing.T, to State) *QP {
	t.Helper()
	cfg := &Config{MTU: 256, AckEvery: 1, Reads: 1, ReadsIn: 1}
	q := NewQP(cfg, NewMemory(1))
	for _, s := range map[State][]State{
		Init: {Init}, ReadyToReceive: {Init, ReadyToReceive}, ReadyToSend: {Init, ReadyToReceive, ReadyToSend},
		SendQueueDrain: {Init, ReadyToReceive, ReadyToSend, SendQueueDrain}, Error: {Init, Error},
	}[to] {
		if err := q.Modify(s, 5); err != nil {
			t.Fatal(err)
		}
	}
	if q.State() != to {
		t.Fatalf("state %v, want %v", q.State(), to)
	}
	return &q
}

// states are all of them, in the order of IBTA 10.3.1.
var states = []State{Reset, Init, ReadyToReceive, ReadyToSend, SendQueueDrain, Error}

// TestModifyFollowsTheStandard tries every step from every state (IBTA 10.3.1, figure of the state diagram;
// ibv_modify_qp).
func TestModifyFollowsTheStandard(t *testing.T) {
	legal := map[State]string{ // to: by state from, in the order of states
		Reset:          "yyyyyy",
		Init:           "yy----",
		ReadyToReceive: "-y----",
		ReadyToSend:    "--yyy-",
		SendQueueDrain: "---yy-",
		Error:          "-yyyyy",
	}
	for to, row := range legal {
		for i, from := range states {
			q := in(t, from)
			err := q.Modify(to, 9)
			if want := row[i] == 'y'; (err == nil) != want || err != nil && !errors.Is(err, ErrState) {
				t.Errorf("%v to %v: %v, legal is %v", from, to, err, want)
			}
			if want := map[bool]State{true: to, false: from}[err == nil]; q.State() != want {
				t.Errorf("%v to %v leaves it in %v", from, to, q.State())
			}
		}
	}
}

// TestPostingByState posts in every state. Receives are accepted from INIT on, so that none is missing when the
// peer begins; sends are accepted in RTS and SQD (IBTA 10.3.1, 10.8.2).
func TestPostingByState(t *testing.T) {
	for i, s := range states {
		q := in(t, s)
		for what, c := range map[string]struct {
			err  error
			take string
		}{
			"receive": {q.PostReceive(Receive{}), "-yyyy-"},
			"send":    {q.Post(&Request{Len: 1}), "---yy-"},
		} {
			if want := c.take[i] == 'y'; (c.err == nil) != want || c.err != nil && !errors.Is(c.err, ErrState) {
				t.Errorf("posting a %s in %v: %v, legal is %v", what, s, c.err, want)
			}
		}
	}
}

// TestWhatPostRefuses posts requests at the limits and beyond. The limits are 2^31 bytes for a message (IBTA
// 9.7.1), 8 aligned bytes for an atomic (9.4.5), a buffer as long as the message, and for a READ half of the
// sequence numbers that may be outstanding.
func TestWhatPostRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		good, poor []Request
	}{
		"length": {[]Request{{Len: 0}, {Len: 1 << 31}}, []Request{{Len: -1}, {Len: 1<<31 + 1}}},
		"buffer": {[]Request{{Len: 3, Data: make([]byte, 3)}, {Len: 0, Data: []byte{}}},
			[]Request{{Len: 3, Data: make([]byte, 2)}, {Len: 3, Data: make([]byte, 4)}}},
		"atomic's length": {[]Request{{Verb: CompareSwap, Len: 8}, {Verb: FetchAdd, Len: 8}, {Verb: Read, Len: 7}},
			[]Request{{Verb: CompareSwap, Len: 7}, {Verb: CompareSwap, Len: 16}, {Verb: FetchAdd, Len: 7},
				{Verb: FetchAdd, Len: 9}}},
		"atomic's address": {[]Request{{Verb: CompareSwap, Len: 8, VA: 16}, {Verb: FetchAdd, Len: 8, VA: 8},
			{Verb: Read, Len: 8, VA: 4}, {Verb: SendInv, Len: 8, VA: 1}},
			[]Request{{Verb: CompareSwap, Len: 8, VA: 12}, {Verb: FetchAdd, Len: 8, VA: 1}}},
		"verb": {[]Request{{Verb: FetchAdd, Len: 8}}, []Request{{Verb: FetchAdd + 1, Len: 8}, {Verb: 255, Len: 8}}},
		"READ of 256-byte packets": {[]Request{{Verb: Read, Len: 256 << 22}, {Verb: Write, Len: 1 << 31}},
			[]Request{{Verb: Read, Len: 256<<22 + 1}}},
	} {
		for taken, requests := range map[bool][]Request{true: c.good, false: c.poor} {
			for _, r := range requests {
				q := in(t, ReadyToSend)
				if err := q.Post(&r); (err == nil) != taken {
					t.Errorf("%s: %v of %d bytes at %d with a buffer of %d: %v", name, r.Verb, r.Len, r.VA,
						len(r.Data), err)
				}
				if q.Pending() != taken {
					t.Errorf("%s: %v of %d bytes is pending: %v", name, r.Verb, r.Len, q.Pending())
				}
			}
		}
	}
	deaf := in(t, ReadyToSend)
	deaf.cfg.Reads = 0
	for _, v := range []Verb{Read, CompareSwap, FetchAdd} {
		if deaf.Post(&Request{Verb: v, Len: 8}) == nil {
			t.Errorf("%v is posted on a queue pair whose read depth is 0", v)
		}
	}
	if err := deaf.Post(&Request{Verb: SendInv}); err != nil {
		t.Error(err)
	}
}

// TestLargestReadAtTheResponder accepts a READ of the maximum number of packets, and rejects one packet more.
func TestLargestReadAtTheResponder(t *testing.T) {
	for length, want := range map[uint32]Verdict{256 << 22: Accepted, 256<<22 + 1: Refused} {
		q := in(t, ReadyToSend)
		key := q.mem.Register(0, 1<<33, RemoteRead)
		var ans Answer
		q.Data(&Packet{Opcode: roce.ReadRequest, PSN: 5, RKey: key, Len: length}, &ans)
		if ans.Verdict != want || want == Refused && ans.Packet.Syndrome != roce.NakInvalid {
			t.Errorf("READ of %d bytes in packets of 256: %v, %v", length, ans.Verdict, ans.Packet.Syndrome)
		}
	}
}

// TestScatter spreads SENDs over the buffers of a receive in turn, empty ones too (IBTA 9.7.4.1.7). The last byte
// fits, and one more is rejected.
func TestScatter(t *testing.T) {
	for _, sizes := range [][]int{{3000}, {100, 2900}, {1, 0, 1023, 1024, 952}, {1024, 1976}, {0, 2999, 1}} {
		for _, n := range []int{0, 1, 1023, 1024, 1025, 2048, 2999, 3000, 3001} {
			e := connected(t, nil)
			var r Receive
			for _, s := range sizes {
				r.Data = append(r.Data, make([]byte, s))
			}
			e.b.PostReceive(r)
			e.post(Request{Verb: Send, Data: pattern(n)})
			e.run(nil)
			if n > 3000 {
				e.want(RemoteInvalidRequest)
				if got, _ := e.b.PopReceived(); got.Status != LocalLengthError {
					t.Errorf("%d bytes into %v: the receive ends with %v", n, sizes, got.Status)
				}
				continue
			}
			e.want(Success)
			all := bytes.Join(r.Data, nil)
			if !bytes.Equal(all[:n], pattern(n)) || !bytes.Equal(all[n:], make([]byte, 3000-n)) {
				t.Errorf("%d bytes into %v: misplaced", n, sizes)
			}
		}
	}
}

// TestRegions finds exactly the ranges inside a region, with exactly the rights that it has (IBTA 9.7.4.1.5,
// 10.6.3.1).
func TestRegions(t *testing.T) {
	m := NewMemory(1)
	if err := m.RegisterBuffer(7, 100, make([]byte, 50), LocalWrite|RemoteWrite); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key    uint32
		va     uint64
		n      uint32
		inside bool
	}{
		{7, 100, 50, true}, {7, 100, 0, true}, {7, 150, 0, true}, {7, 149, 1, true}, {7, 120, 30, true},
		{7, 99, 1, false}, {7, 99, 51, false}, {7, 150, 1, false}, {7, 151, 0, false}, {7, 100, 51, false},
		{7, 120, 31, false}, {7, 1<<64 - 1, 2, false}, {8, 100, 1, false},
	} {
		b, ok := m.Target(c.key, c.va, c.n)
		if ok != c.inside || ok && len(b) != int(c.n) {
			t.Errorf("key %d, %d bytes at %d: %v, %d bytes", c.key, c.n, c.va, ok, len(b))
		}
		if m.find(c.key, c.va, c.n, RemoteRead) != nil || m.find(c.key, c.va, c.n, RemoteWrite|RemoteRead) != nil {
			t.Errorf("key %d may be read", c.key)
		}
	}
	for name, err := range map[string]error{
		"a key that is taken":      m.RegisterBuffer(7, 500, make([]byte, 1), LocalWrite),
		"a range that wraps":       m.RegisterBuffer(9, 1<<64-4, make([]byte, 5), LocalWrite),
		"remote write, not local":  m.RegisterBuffer(9, 0, make([]byte, 5), RemoteWrite),
		"remote atomic, not local": m.RegisterBuffer(9, 0, make([]byte, 5), RemoteAtomic|RemoteRead),
	} {
		if err == nil {
			t.Errorf("%s is registered", name)
		}
	}
	if err := m.RegisterBuffer(9, 1<<63, make([]byte, 5), RemoteRead); err != nil {
		t.Error(err)
	}
	if !m.Deregister(7) || m.Deregister(7) {
		t.Error("a key is forgotten twice, or never")
	}
}
