package counters

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// rowQueue reads a queue's packets, bytes and drops. Queues of multicast, and those above the eighth, which belong
// to the switch's own processor, are ignored.
func rowQueue(r *reading, t *table, cells []string, l line) string {
	if len(cells) < 6 {
		return "has fewer columns than the headings"
	}
	i, known := txq(cells[1])
	if !known {
		return quote(cells[1]) + " is not a queue"
	}
	if strings.HasPrefix(cells[1], "VOQ") {
		return "counts a virtual output queue, which is not kept"
	}
	p := r.port(cells[0], l)
	if i < 0 {
		return ""
	}
	q := &p.Queues[i]
	return take(cells[2:], l, &q.TxPackets, &q.TxBytes, &q.DropPackets, &q.DropBytes)
}

// rowWred reads what WRED did to a queue.
func rowWred(r *reading, t *table, cells []string, l line) string {
	if len(cells) < 5 {
		return "has fewer columns than the headings"
	}
	i, known := txq(cells[1])
	if !known {
		return quote(cells[1]) + " is not a queue"
	}
	p := r.port(cells[0], l)
	if i < 0 {
		return ""
	}
	r.skip(t.heads[2], cells[2], l)
	return take(cells[2:], l, nil, nil, &p.Queues[i].Marked)
}

// txq returns the number of a unicast queue, -1 for an unsupported one.
func txq(s string) (i int, known bool) {
	for _, kind := range []string{"UC", "ALL", "MC", "VOQ"} {
		if digits, is := strings.CutPrefix(s, kind); is {
			n, err := strconv.Atoi(digits)
			if err != nil || n < 0 {
				return 0, false
			}
			if n >= Priorities || kind == "MC" || kind == "VOQ" {
				n = -1
			}
			return n, true
		}
	}
	return 0, false
}

func writeSonicQueue(w *bytes.Buffer, s *Snapshot) {
	for i := range s.Ports {
		g := grid{heads: []string{"Port", "TxQ", "Counter/pkts", "Counter/bytes", "Drop/pkts", "Drop/bytes"}}
		for k := range s.Ports[i].Queues {
			q := &s.Ports[i].Queues[k]
			if anyOf(q.TxPackets, q.TxBytes, q.DropPackets, q.DropBytes) {
				g.add(s.Ports[i].Name, fmt.Sprintf("UC%d", k), q.TxPackets.grouped(), q.TxBytes.grouped(),
					q.DropPackets.grouped(), q.DropBytes.grouped())
			}
		}
		g.write(w)
	}
}

func writeSonicWred(w *bytes.Buffer, s *Snapshot) {
	for i := range s.Ports {
		g := grid{heads: []string{"Port", "TxQ", "WredDrp/pkts", "WredDrp/bytes", "EcnMarked/pkts",
			"EcnMarked/bytes"}}
		for k := range s.Ports[i].Queues {
			if q := &s.Ports[i].Queues[k]; q.Marked.Is {
				g.add(s.Ports[i].Name, fmt.Sprintf("UC%d", k), "N/A", "N/A", q.Marked.grouped(), "N/A")
			}
		}
		g.write(w)
	}
}

// rowWatchdog reads a queue's storms: Ethernet0:3, stormed, 1/0, 100/300, ...
func rowWatchdog(r *reading, t *table, cells []string, l line) string {
	name, queue, ok := strings.Cut(cells[0], ":")
	i, err := strconv.Atoi(queue)
	if !ok || err != nil || i < 0 || len(cells) < 5 {
		return quote(cells[0]) + " is not a queue with its storms"
	} else if i >= Priorities {
		return ""
	}
	q := &r.port(name, l).Queues[i]
	storms, drops := strings.Split(cells[2], "/"), strings.Split(cells[3], "/")
	if len(storms) != 2 || len(drops) != 2 {
		return quote(cells[2]) + " is not how many storms were detected and restored"
	}
	if wrong := take(storms, l, &q.Detected, &q.Restored); wrong != "" {
		return wrong
	}
	return take(drops, l, nil, &q.Flushed)
}

func writeSonicWatchdog(w *bytes.Buffer, s *Snapshot) {
	g := grid{heads: []string{"QUEUE", "STATUS", "STORM DETECTED/RESTORED", "TX OK/DROP", "RX OK/DROP",
		"TX LAST OK/DROP", "RX LAST OK/DROP"}}
	for i := range s.Ports {
		for k := range s.Ports[i].Queues {
			q := &s.Ports[i].Queues[k]
			if !q.Detected.Is {
				continue
			}
			state := "operational"
			if q.Detected.V > q.Restored.V {
				state = "stormed"
			}
			g.add(fmt.Sprintf("%s:%d", s.Ports[i].Name, k), state, q.Detected.zero()+"/"+q.Restored.zero(),
				"0/"+q.Flushed.zero(), "0/0", "0/0", "0/0")
		}
	}
	g.write(w)
}
