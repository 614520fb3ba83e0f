package tcp

import (
	"maps"
	"testing"

	"railyard/cc"
	"railyard/transport"
	"railyard/transport/transporttest"
	"railyard/unit"
)

func TestConformance(t *testing.T) {
	values := maps.Clone(Protocol.Defaults)
	values["rto_min"] = 5 * unit.Millisecond // the suite has a second after its last fault
	values["copy"], values["receive_packet"] = 800*unit.Gbps, unit.Time(0)
	values["stage"], values["send_packet"] = 800*unit.Gbps, unit.Time(0)
	transporttest.Run(t, transporttest.Suite{Protocol: &Protocol, Values: values, Planes: []int{1}}) // one path
}

// end is a DCTCP sender at a network that delivers all.
type end struct {
	*sender
	now unit.Time
}

func newEnd() *end {
	values := maps.Clone(Protocol.Defaults)
	values["dctcp"] = true
	made := Protocol.New(values, transport.Common{MTU: 4096, Planes: 1})
	path := cc.Path{Line: 100 * unit.Gbps, MTU: 4096, RTT: 10 * unit.Microsecond}
	return &end{sender: made.Peer(path, 1).Sender(1).(*sender)}
}

// send sends all that the window permits, and returns the number of packets.
func (e *end) send() (n int) {
	for {
		var p transport.Packet
		switch {
		case e.Next(e.now, 0, &p):
			n++
		case min(e.chunkAt, e.copyAt) < unit.Never:
			e.now = max(e.now, min(e.chunkAt, e.copyAt))
			e.Tick(e.now)
		default:
			return n
		}
	}
}

// acknowledge lets n packets arrive, of which marked says which are marked.
func (e *end) acknowledge(n int, marked func(i int) bool) {
	for i := range n {
		una, _ := e.out.Range()
		ack := transport.Packet{Kind: transport.Ack, Expect: uint32(una + 1)}
		if e.now += 100 * unit.Nanosecond; marked(i) {
			ack.Flags |= transport.Marked
		}
		e.Take(e.now, &ack)
	}
}

// TestOneCutForEachWindow: DCTCP reduces once for each window of data, by marks or by a loss. The window begins with
// the reduction (RFC 8257, 3.3; RFC 3168, 6.1.2).
func TestOneCutForEachWindow(t *testing.T) {
	e := newEnd()
	if err := e.Post(0, transport.Request{Bytes: 64 << 20}); err != nil {
		t.Fatal(err)
	}
	never, always := func(int) bool { return false }, func(int) bool { return true }
	n := 0
	for n < 100 { // slow start
		n = e.send()
		e.acknowledge(n, never)
	}
	n = e.send()
	before := e.control.Size
	e.control.Cut(e.now) // a loss, as overtaken processes it
	_, e.recover = e.out.Range()
	if e.acknowledge(n-1, always); e.control.Cuts != 1 || e.control.Size < before/2 {
		t.Errorf("a loss and %d marks of its window: %d reductions, from %.0f to %.0f segments", n-1, e.control.Cuts,
			before, e.control.Size)
	}
	for round := range int64(5) {
		if e.acknowledge(e.send(), always); e.control.Cuts > round+3 {
			t.Errorf("%d reductions in %d windows of data", e.control.Cuts, round+2)
		}
	}
	if e.control.Cuts < 5 {
		t.Errorf("%d reductions in six windows of data", e.control.Cuts)
	}
}

// TestUnusedWindowCountsMarks: a sender that does not fill its window estimates the share of marked packets from all
// acknowledgements (RFC 8257, 3.3).
func TestUnusedWindowCountsMarks(t *testing.T) {
	e := newEnd()
	for range 200 {
		if err := e.Post(e.now, transport.Request{Bytes: 5 * 4096}); err != nil {
			t.Fatal(err)
		}
		n := e.send()
		e.acknowledge(n, func(i int) bool { return i%5 == 0 })
	}
	if a := e.control.Alpha; a < 0.1 || a > 0.3 {
		t.Errorf("alpha %.2f where a fifth is marked", a)
	}
}
