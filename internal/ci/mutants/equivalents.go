package main

// equivalent is a mutation that was looked at: no test can tell it from the code as it is.
type equivalent struct {
	file, fn string
	line     string // the line of code, without the space around it
	what     string
	why      string
}

// equivalents are keyed by content, so they move with their lines and go with them.
var equivalents = []equivalent{
	{"internal/exec/pipes.go", "newPipes",
		"p.of, p.first, p.start = append(p.of, nil), append(p.first, 0), append(p.start, 0)", "0 becomes 1",
		"the numbers of a server without GPUs are never read, and those of others are set below"},
	{"internal/fabric/granter.go", "pickGrant",
		"spec, best, sum := n.Sw[tx.Node].Spec, -1, int32(0)", "1 becomes 2", "any number below 0 is none yet"},
	{"internal/engine/wheel.go", "New", "l0:     make([]list, 1<<level0Bits),", "1 becomes 2",
		"slots beyond the first 1<<level0Bits are reached by nothing: numbers of slots have so many bits"},
	{"cc/swift.go", "endTarget", "return math.Inf(1)", "1 becomes 2", "math.Inf looks at the sign alone"},
	{"cc/swift.go", "endTarget", "return math.Inf(1)", "1 becomes 0", "0 is no negative sign: still +Inf"},
	{"cc/swiftfar.go", "newEndWindow",
		"func newEndWindow() endWindow { return endWindow{packets: math.Inf(1), cutAt: -unit.Never / 2} }",
		"1 becomes 2", "math.Inf looks at the sign alone"},
	{"cc/swiftfar.go", "newEndWindow",
		"func newEndWindow() endWindow { return endWindow{packets: math.Inf(1), cutAt: -unit.Never / 2} }",
		"1 becomes 0", "0 is no negative sign: still +Inf"},
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
