package counters

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	queuingFor = regexp.MustCompile(`^(Egress|Ingress) Queuing for (\S*[A-Za-z]\S*\d)(?: \[\w+\])?$`)
	otherFor   = regexp.MustCompile(`^(Egress|Ingress) Queuing for `)
	qosGroup   = regexp.MustCompile(`^\|?\s*([A-Z]+ )?QOS GROUP(?: (\d+)\b)?`) // CONTROL and SPAN have no number
	total      = regexp.MustCompile(`TxPPP:\s*(\d+),?\s+RxPPP:\s*(\d+)\s*$`)
	pfcRow     = regexp.MustCompile(`^\s*(\d+)\s+\S+\s+(?:\S+\s+)?(?:Ina|A)ctive\s+(\d+)\s+(?:Ina|` +
		`A)ctive\s+(\d+)\s*$`)
	portLine = regexp.MustCompile(`^\s*([A-Z][A-Za-z& ]+(?:Pkts|Bytes|Byts))\s+(\d+)\s*$`)
)

// readQueuing parses the egress queues of each interface, the drops at its ingress, and its pause frames by
// priority. Queues are qos-groups, numbered as the queues in the default templates; rows name a PFC priority of
// their own.
func readQueuing(r *reading) {
	name, queue, other := r.port2(), -1, ""
	groups := map[string]bool{} // of the interface
	for _, l := range r.lines {
		s := strings.TrimSpace(l.text)
		if m := queuingFor.FindStringSubmatch(s); m != nil {
			name, queue = longName(m[2]), -1
			clear(groups)
			r.port(name, l)
			continue
		} else if otherFor.MatchString(s) {
			r.not(l, "names no interface")
			name, queue = "", -1
			clear(groups)
			continue
		}
		if m := qosGroup.FindStringSubmatch(s); m != nil {
			queue, other = -1, m[1]+"QOS GROUP "+m[2]
			if name != "" && r.again(groups, other, name, l) {
				name = ""
			}
			groups[other] = true
			if n, err := strconv.Atoi(m[2]); err == nil && n < Priorities && m[1] == "" {
				queue = n
			}
			continue
		}
		if s == "" || rule(s) {
			continue
		}
		counters := strings.HasPrefix(s, "|") || total.MatchString(s) || pfcRow.MatchString(s) ||
			portLine.MatchString(s)
		switch {
		case !counters: // a heading, or a configured value
		case name == "" && len(groups) > 0: // set at the group
		case name == "":
			r.not(l, "counts before an interface is named")
		case strings.HasPrefix(s, "|"):
			if queue >= 0 {
				r.queueRow(&r.port(name, l).Queues[queue], s, l)
			} else {
				r.otherRow(other, s, l)
			}
		default:
			r.queuingLine(r.port(name, l), s, l)
		}
	}
}

// port2 is the interface that the command itself names.
func (r *reading) port2() string {
	if m := queuingIf.FindStringSubmatch(r.command); m != nil {
		return longName("Ethernet" + m[1])
	}
	return ""
}

var queuingIf = regexp.MustCompile(`(?i)\bint\w*\s+e\w*\s*(\d+/[\d/]+)`)

// queueRow reads | Tx Pkts | 12 | 0 |: unicast, multicast and other packets of the queue are summed.
func (r *reading) queueRow(q *Queue, s string, l line) {
	var to *Count
	label := ""
	if strings.HasPrefix(s, "|") && !strings.HasSuffix(s, "|") {
		r.not(l, "ends within a column")
		return
	}
	for _, cell := range strings.Split(strings.Trim(s, "|"), "|") {
		cell = strings.TrimSpace(cell)
		n, ok := number(cell, l)
		switch { // a label has words, none of which is a number
		case to != nil && !n.Is && (ok || cell == "" && to.Line != l.n ||
			cell != "" && (!strings.Contains(cell, " ") || digits.MatchString(cell))):
			*to, to = Count{}, nil // a sum without one of its parts is none
			r.not(l, "has %s where a counter is expected", quote(cell))
			continue
		case !ok:
			label, to = cell, q.row(strings.ToLower(cell))
			continue
		}
		if to == nil && label != "" && !strings.Contains(strings.ToLower(label), "byts") {
			r.skip(label, cell, l)
		}
		if to != nil && n.Is {
			n.V += to.V
			if to.Line != l.n {
				n.V -= to.V
			}
			*to = n
		}
	}
}

// digits matches a text that has numbers.
var digits = regexp.MustCompile(`(?:^|\s)[0-9]`)

// otherRow parses the losses of queues without a priority: the switch's own queues and those of mirrored packets.
func (r *reading) otherRow(group, s string, l line) {
	cells := strings.Split(strings.Trim(s, "|"), "|")
	label := strings.Join(strings.Fields(cells[0]), " ")
	if lower := strings.ToLower(label); !strings.Contains(lower, "drop") || strings.Contains(lower, "byts") {
		return
	}
	for _, cell := range cells[1:] {
		r.skip(strings.TrimSpace(group)+" "+label, strings.TrimSpace(cell), l)
	}
}

// row is the counter that a row of a queue is about.
func (q *Queue) row(label string) *Count {
	bytes := strings.Contains(label, "byts") || strings.Contains(label, "bytes")
	switch {
	case strings.Contains(label, "ecn") && !bytes:
		return &q.Marked
	case strings.HasPrefix(label, "wd "):
		if !bytes {
			return &q.Flushed
		}
	case strings.HasPrefix(label, "tx pkts"):
		return &q.TxPackets
	case strings.HasPrefix(label, "tx byts"):
		return &q.TxBytes
	case strings.Contains(label, "depth"):
		return &q.Depth
	case strings.Contains(label, "drop") && bytes:
		return &q.DropBytes
	case strings.Contains(label, "drop"):
		return &q.DropPackets
	}
	return nil
}

// queuingLine reads the lines below the queues.
func (r *reading) queuingLine(p *Port, s string, l line) {
	count := func(s string) Count { n, _ := number(s, l); return n }
	if m := total.FindStringSubmatch(s); m != nil {
		p.TxPFCAll, p.RxPFCAll = count(m[1]), count(m[2])
	} else if m := pfcRow.FindStringSubmatch(s); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n < Priorities {
			p.TxPFC[n], p.RxPFC[n] = count(m[2]), count(m[3])
		}
	} else if m := portLine.FindStringSubmatch(s); m != nil && m[1] == "Ingress MMU Drop Pkts" {
		p.InDiscards = count(m[2])
	} else if m != nil && !strings.HasPrefix(m[1], "Ingress MMU Drop") {
		r.skip(m[1], m[2], l)
	}
}

const queuingRule = "+-------------------------------------------------------------+\n"

// writeQueuing writes queues and pauses of each interface. Rows of marks are of no public
// document that was at hand: their name is from memory.
func writeQueuing(w *bytes.Buffer, s *Snapshot) {
	for i := range s.Ports {
		p := &s.Ports[i]
		if !anyOf(p.Queues[0].TxPackets, p.Queues[3].TxPackets, p.RxPFC[3]) {
			continue
		}
		if w.Len() == 0 {
			w.WriteString("slot  1\n=======\n\n")
		}
		fmt.Fprintf(w, "\nEgress Queuing for %s [System]\n", p.Name)
		for k := range p.Queues {
			p.Queues[k].writeQueuing(w, k)
		}
		fmt.Fprintf(w, "Ingress Queuing for %s\n\nPort Ingress Statistics\n%s\nIngress MMU Drop Pkts %28s\n\n",
			p.Name, strings.Repeat("-", 56), p.InDiscards.zero())
		line := strings.Repeat("-", 78)
		fmt.Fprintf(w, "PFC Statistics\n%s\nTxPPP: %20s,   RxPPP: %20s\n%s\n", line, p.sent().zero(),
			p.got().zero(), line)
		w.WriteString("PFC_COS QOS_GROUP   TxPause             TxCount   RxPause             RxCount\n")
		for k := range Priorities {
			fmt.Fprintf(w, "%7d %9d  Inactive %19s  Inactive %19s\n", k, k, p.TxPFC[k].zero(), p.RxPFC[k].zero())
		}
		w.WriteString(line + "\n")
	}
}

func (q *Queue) writeQueuing(w *bytes.Buffer, k int) {
	w.WriteString(queuingRule)
	fmt.Fprintf(w, "|                              QOS GROUP %d                    |\n", k)
	w.WriteString(queuingRule)
	w.WriteString("|                           |  Unicast       |Multicast       |\n" + queuingRule)
	for _, row := range []struct {
		label string
		c     *Count
	}{{"Tx Pkts", &q.TxPackets}, {"Tx Byts", &q.TxBytes}, {"WRED/AFD & Tail Drop Pkts", &q.DropPackets},
		{"WRED/AFD & Tail Drop Byts", &q.DropBytes}, {"Q Depth Byts", &q.Depth},
		{"WD & Tail Drop Pkts", &q.Flushed}, {"ECN Marked Pkts", &q.Marked}} {
		if row.c.Is {
			fmt.Fprintf(w, "| %25s |%16s|%16d|\n", row.label, row.c, 0)
		}
	}
	w.WriteString(queuingRule)
}

// sent and got are pause frames of all priorities.
func (p *Port) sent() Count { return total8(p.TxPFCAll, &p.TxPFC) }
func (p *Port) got() Count  { return total8(p.RxPFCAll, &p.RxPFC) }

func total8(all Count, by *[Priorities]Count) Count {
	if all.Is || !said(by) {
		return all
	}
	for i := range by {
		all.V += by[i].V
	}
	all.Is = true
	return all
}
