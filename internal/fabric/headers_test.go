package fabric

import (
	"testing"
	"unsafe"

	"railyard/transport"
)

// Headers take two cache lines; those of a data packet are in the first. Blank returns empty headers, whatever used
// the slot before.
func TestHeaders(t *testing.T) {
	size, rest := unsafe.Sizeof(headers{}), unsafe.Offsetof(transport.Packet{}.Expect)
	if size != 128 || rest > 64 {
		t.Errorf("headers have %d bytes, those of data %d", size, rest)
	}
	n := &Net{Partition: Partition{Packets: make([]Packet, 1)}}
	n.KeepHeaders()
	data := transport.Packet{Flags: transport.Last, Plane: 1, Verdict: 2, Code: 3, Penalty: 4, EV: 5, PSN: 6,
		Message: 7, Payload: 8, Offset: 9, Bytes: 10, Sent: 11, Delay: 12}
	answer := data
	answer.Kind, answer.Expect, answer.Base, answer.Bits, answer.EchoEV, answer.Late = transport.Ack, 1, 2,
		[2]uint64{3, 4}, 5, 6
	for _, p := range []transport.Packet{data, answer, data, {}} {
		*n.Headers(0) = p
		if left := *n.Blank(0); left != (transport.Packet{}) {
			t.Errorf("behind %+v there is %+v", p, left)
		}
	}
}
