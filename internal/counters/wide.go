package counters

import (
	"bytes"
	"fmt"
	"strings"
)

// words are headings of tables in words, with their counters; nil is known and ignored.
type words map[string]func(p *Port) *Count

// wideWords are the columns of NX-OS' and EOS' tables of errors, discards, bytes and pauses; they do not contradict
// one another.
var wideWords = words{
	"FCS-Err":      func(p *Port) *Count { return &p.CRC },
	"Rcv-Err":      func(p *Port) *Count { return &p.InErrors },
	"Xmit-Err":     func(p *Port) *Count { return &p.OutErrors },
	"OutDiscards":  func(p *Port) *Count { return &p.OutDiscards },
	"InDiscards":   func(p *Port) *Count { return &p.InDiscards },
	"Giants":       func(p *Port) *Count { return &p.Giants },
	"InOctets":     func(p *Port) *Count { return &p.RxBytes },
	"InUcastPkts":  func(p *Port) *Count { return &p.RxPackets },
	"OutOctets":    func(p *Port) *Count { return &p.TxBytes },
	"OutUcastPkts": func(p *Port) *Count { return &p.TxPackets },
	"FCS":          func(p *Port) *Count { return &p.CRC },
	"Rx":           func(p *Port) *Count { return &p.InErrors },
	"Tx":           func(p *Port) *Count { return &p.OutErrors },
	"Symbol":       func(p *Port) *Count { return &p.Symbol },
	"Symbol-Err":   func(p *Port) *Count { return &p.Symbol },
	"RxPfc":        func(p *Port) *Count { return &p.RxPFCAll },
	"TxPfc":        func(p *Port) *Count { return &p.TxPFCAll },

	"InMcastPkts": nil, "InBcastPkts": nil, "OutMcastPkts": nil, "OutBcastPkts": nil,
}

// readWide parses tables with a heading of words, the first of which is Port. A row has as many words. A heading
// begins another table of the same output.
func readWide(r *reading) {
	var heads []string
	for _, l := range r.lines {
		cells := strings.Fields(l.text)
		switch {
		case len(cells) == 0 || rule(l.text):
		case cells[0] == "Port" || cells[0] == "Interface":
			heads = cells
		case heads == nil:
			r.not(l, "precedes the first heading")
		case cells[0] == "Total" || cells[0] == "Totals" || cells[0] == "---------":
		case len(cells) != len(heads):
			r.not(l, "has %d words under %d headings", len(cells), len(heads))
		default:
			p := r.port(longName(cells[0]), l)
			for i, h := range heads[1:] {
				at, known := wideWords[h]
				if !known {
					r.skip(h, cells[i+1], l)
				}
				if at != nil {
					if wrong := take(cells[i+1:], l, at(p)); wrong != "" {
						r.not(l, "%s", wrong)
						break
					}
				}
			}
		}
	}
}

// block is a table of such an output; name shortens interfaces.
type block struct {
	heads []string
	at    []func(p *Port) *Count // nil: a column of dashes
}

func writeWide(w *bytes.Buffer, s *Snapshot, name, line string, blocks ...block) {
	for _, b := range blocks {
		head := false
		for i := range s.Ports {
			p := &s.Ports[i]
			row, is := fmt.Sprintf("%-10s", short(p.Name, name)), false
			for k, at := range b.at {
				cell := "--"
				if at != nil && at(p).Is {
					cell, is = at(p).String(), true
				}
				row += fmt.Sprintf(" %*s", max(11, len(b.heads[k])), cell)
			}
			if !is {
				continue
			}
			if !head {
				head = true
				w.WriteString("\n" + line + fmt.Sprintf("%-10s", "Port"))
				for _, h := range b.heads {
					fmt.Fprintf(w, " %11s", h)
				}
				w.WriteString("\n" + line)
			}
			w.WriteString(row + "\n")
		}
	}
}

func writeNXOSErrors(w *bytes.Buffer, s *Snapshot) {
	at := func(heads ...string) block {
		b := block{heads: heads}
		for _, h := range heads {
			b.at = append(b.at, wideWords[h])
		}
		return b
	}
	writeWide(w, s, "Eth", strings.Repeat("-", 80)+"\n",
		at("Align-Err", "FCS-Err", "Xmit-Err", "Rcv-Err", "UnderSize", "OutDiscards"),
		at("Giants", "SQETest-Err", "Deferred-Tx", "IntMacTx-Er", "IntMacRx-Er", "Symbol-Err"),
		at("InDiscards"))
}

func writeOctets(w *bytes.Buffer, s *Snapshot) {
	line := strings.Repeat("-", 80) + "\n"
	for _, way := range []string{"In", "Out"} {
		writeWide(w, s, "Eth", line, block{heads: []string{way + "Octets", way + "UcastPkts"},
			at: []func(p *Port) *Count{wideWords[way+"Octets"], wideWords[way+"UcastPkts"]}})
	}
}

// writeEOSOctets writes both tables; counters of multicast and broadcast are not stored.
func writeEOSOctets(w *bytes.Buffer, s *Snapshot) {
	for _, way := range []string{"In", "Out"} {
		writeWide(w, s, "Et", "", block{heads: []string{way + "Octets", way + "UcastPkts", way + "McastPkts", way + "BcastPkts"},
			at: []func(p *Port) *Count{wideWords[way+"Octets"], wideWords[way+"UcastPkts"], nil, nil}})
	}
}

func writeEOSErrors(w *bytes.Buffer, s *Snapshot) {
	b := block{heads: []string{"FCS", "Align", "Symbol", "Rx", "Runts", "Giants", "Tx"}}
	for _, h := range b.heads {
		b.at = append(b.at, wideWords[h])
	}
	writeWide(w, s, "Et", "", b)
}

func writeEOSDiscards(w *bytes.Buffer, s *Snapshot) {
	writeWide(w, s, "Et", "", block{heads: []string{"InDiscards", "OutDiscards"},
		at: []func(p *Port) *Count{wideWords["InDiscards"], wideWords["OutDiscards"]}})
}

// writeEOSPFC writes frames got and sent, of all priorities.
func writeEOSPFC(w *bytes.Buffer, s *Snapshot) {
	writeWide(w, s, "Et", "", block{heads: []string{"RxPfc", "TxPfc"}, at: []func(p *Port) *Count{
		func(p *Port) *Count { c := p.got(); return &c }, func(p *Port) *Count { c := p.sent(); return &c }}})
}
