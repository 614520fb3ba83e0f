package main

// equivalent is a reviewed mutation that no test can distinguish from the original code.
type equivalent struct {
	file, fn string
	line     string // the line of code, without the space around it
	what     string
	why      string
}

// equivalents are keyed by content. An entry stays valid when its line moves, and has no effect when its line is
// deleted.
var equivalents = []equivalent{
	{"internal/exec/pipes.go", "newPipes",
		"p.of, p.first, p.start = append(p.of, nil), append(p.first, 0), append(p.start, 0)", "0 becomes 1",
		"the numbers of a server without GPUs are never read, and those of others are set below"},
	{"internal/fabric/granter.go", "pickGrant",
		"spec, best, sum := n.Sw[tx.Node].Spec, -1, int32(0)", "1 becomes 2", "any number below 0 is none yet"},
	{"internal/engine/wheel.go", "New", "l0:     make([]list, 1<<level0Bits),", "1 becomes 2",
		"slots beyond the first 1<<level0Bits are reached by nothing: numbers of slots have so many bits"},
	{"internal/engine/wheel.go", "advance", "b := q.bucket&^(1<<level0Bits-1) | uint64(i)",
		"level0Bits becomes level0Bits - 1",
		"slot i is not before the current one: where the highest bit of that is set, so is i's, which is put in"},
	{"internal/fabric/build.go", "Finish", "n.Packets = make([]Packet, 0, 48*len(n.Ports)+1024)", "removed",
		"room that is made at once instead of when packets need it"},
	{"transport/window/in.go", "Arrived", "return 0, false", "0 becomes 1", "without a message its number is none"},
	{"cc/swift.go", "endTarget", "return math.Inf(1)", "1 becomes 2", "math.Inf looks at the sign alone"},
	{"cc/swift.go", "endTarget", "return math.Inf(1)", "1 becomes 0", "0 is no negative sign: still +Inf"},
	{"cc/swiftfar.go", "newEndWindow",
		"func newEndWindow() endWindow { return endWindow{packets: math.Inf(1), cutAt: -unit.Never / 2} }",
		"1 becomes 2", "math.Inf looks at the sign alone"},
	{"cc/swiftfar.go", "newEndWindow",
		"func newEndWindow() endWindow { return endWindow{packets: math.Inf(1), cutAt: -unit.Never / 2} }",
		"1 becomes 0", "0 is no negative sign: still +Inf"},
	{"internal/engine/late.go", "popLate", "if c+1 < last && h[c+1].before(&h[c]) {", "+ becomes -",
		"h[last] is e itself: where it is taken for a child, the loop ends there as e is not before e"},
	{"internal/engine/wheel.go", "New", "l0bits: make([]uint64, (1<<level0Bits)/64)}", "64 becomes 32",
		"words beyond the first have no slot that sets them"},
	{"cc/granter.go", "Next", "r.tail = -1", "1 becomes 2", "any number below 0 is none"},
	{"internal/engine/wheel.go", "advance", "if i := nextBit(q.l0bits, int(q.bucket&(1<<level0Bits-1))); i >= 0 {",
		"level0Bits becomes level0Bits - 1", "slots before the current bucket's are empty: the search only begins earlier"},
	{"internal/engine/wheel.go", "wait", "q.bucket = max(q.bucket, uint64(q.now)>>q.shift)", "removed",
		"an empty wheel that lags behind the clock keeps the order: only the slot in which an event waits changes"},
	{"internal/engine/wheel.go", "wait", "q.nextAt = unit.Never", "removed",
		"what is left there is the time of a bucket that has been drained: the wheel is searched once for nothing"},
	{"rc/check.go", "parts", "roce.SendLast: partSend | partEnds, roce.SendLastImm: partSend | partEnds,",
		"partEnds becomes partEnds + 1", "the bit that is added is partSend, which is set"},
	{"rc/check.go", "parts", "roce.SendLastInv: partSend | partEnds,", "partEnds becomes partEnds + 1",
		"the bit that is added is partSend, which is set"},
	{"rc/check.go", "checkWrite", "if q.region = q.mem.find(p.RKey, p.VA, p.Len, RemoteWrite); q.region == nil {",
		"RemoteWrite becomes RemoteWrite + 1", "the bit that is added is LocalWrite, without which no region has RemoteWrite"},
	{"srd/sender.go", "At", "if s.sendable() && s.rate.nextAt > 0 && s.rate.flying < s.rate.limit() {", "0 becomes 1",
		"a packet takes longer than a picosecond at any rate, so no pace ends at 1 ps"},
	{"internal/coll/hierarchy.go", "TreeBroadcast", "if n < 2 {", "2 becomes 1",
		"a root alone has no children to send to: what follows makes no transfer"},
	{"rc/check.go", "checkWrite", "if is&partStarts != 0 {", "partStarts becomes partStarts + 1",
		"the bit that is added is partSend, which no part of a WRITE has"},
	{"rc/responder.go", "takeWrite", "if is&partStarts != 0 {", "partStarts becomes partStarts + 1",
		"the bit that is added is partSend, which no part of a WRITE has"},
	{"rc/responder.go", "takeWrite", "q.inWrite = is&partEnds == 0", "partEnds becomes partEnds + 1",
		"the bit that is added is partSend, which no part of a WRITE has"},
	{"rc/requester.go", "advance", "q.special &^= specialReads", "removed",
		"with no such request posted the look at the queue that the flag asks for finds nothing"},
	{"rc/requester.go", "advance", "if q.special&specialReads != 0 {", "& becomes |",
		"protect does nothing unless a request without a usable buffer is posted, which sets the flag"},
	{"rc/selective.go", "cut", "if s.to <= from {", "<= becomes <",
		"a span that ends where the cut begins is taken out and put back as it was"},
	{"rc/qp.go", "Modify", "return nil", "early return removed",
		"what follows sets the state that Reset and fail have set"},
	{"rc/reorder.go", "openWindow", "for s := q.expect; r.held > 0 && s < q.expect+had; s++ {", "> becomes >=",
		"where nothing is held no slot is in use, and nothing is moved"},
}

// equivalent returns the entry for a mutant, or nil.
func (m *mutant) equivalent() *equivalent {
	for i := range equivalents {
		e := &equivalents[i]
		if e.file == m.site.file.name && e.fn == m.site.fn && e.what == m.what && e.line == m.source() {
			return e
		}
	}
	return nil
}
