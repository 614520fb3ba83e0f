package main

// equivalent is a mutation that was looked at: no test can tell it from the code as it is.
type equivalent struct {
	file, fn string
	line     string // the line of code, without the space around it
	what     string
	why      string
}

// equivalents are keyed by content, so they move with their lines and go with them.
var equivalents = []equivalent{}

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
