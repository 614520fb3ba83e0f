package rcudp

// batch is the content of one message of a system call.
type batch struct {
	conn  *Conn
	tos   uint8
	plane uint8
	label uint16
	seg   int // bytes of each segment but the last
	segs  int
	heads []byte // headers and trailers of all segments
	open  int    // start of the part of heads that is not yet in parts
	parts [][]byte
	oob   [96]byte
}

// same reports whether a datagram has the destination of the batch.
func (b *batch) same(dg *Datagram) bool { return dg.Plane == b.plane && dg.Label == b.label }

// add appends a datagram whose head and tail are already at the end of heads.
func (b *batch) add(dg *Datagram) {
	b.heads = b.heads[:len(b.heads)+len(dg.Head)]
	if len(dg.Payload) > 0 {
		b.parts = append(b.parts, b.heads[b.open:], dg.Payload)
		b.open = len(b.heads)
	}
	b.heads = b.heads[:len(b.heads)+len(dg.Tail)]
	b.segs++
}

func (b *batch) control(is4 bool) []byte {
	return controlOf(b.oob[:], b.tos, b.label, b.seg, b.segs, is4)
}
