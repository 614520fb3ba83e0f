package counters

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

var eosQueueRow = regexp.MustCompile(`^(\S+\d)\s+((?:UC|MC|VOQ)\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s*$`)

// readEOSQueues reads a row a queue.
func readEOSQueues(r *reading) {
	for _, l := range r.lines {
		s := strings.TrimSpace(l.text)
		if s == "" || rule(s) || strings.HasPrefix(s, "Port ") || strings.HasPrefix(s, "Aggregate") {
			continue
		}
		m := eosQueueRow.FindStringSubmatch(s)
		if m == nil {
			r.not(l, "is not a row of an interface, a queue and its four counters")
			continue
		}
		p := r.port(longName(m[1]), l)
		if i, ok := txq(m[2]); ok && i >= 0 {
			q := &p.Queues[i]
			if wrong := take(m[3:], l, &q.TxPackets, &q.TxBytes, &q.DropPackets, &q.DropBytes); wrong != "" {
				r.not(l, "%s", wrong)
			}
		}
	}
}

func writeEOSQueues(w *bytes.Buffer, s *Snapshot) {
	for i := range s.Ports {
		for k := range s.Ports[i].Queues {
			q := &s.Ports[i].Queues[k]
			if !anyOf(q.TxPackets, q.DropPackets) {
				continue
			}
			if w.Len() == 0 {
				w.WriteString("Port      TxQ    Counter/pkts        Counter/bytes       Drop/pkts         Drop/bytes\n" +
					"--------- ---- --------------- -------------------- --------------- ------------------\n")
			}
			fmt.Fprintf(w, "%-9s UC%d  %15s %20s %15s %18s\n", short(s.Ports[i].Name, "Et"), k,
				q.TxPackets.zero(), q.TxBytes.zero(), q.DropPackets.zero(), q.DropBytes.zero())
		}
	}
}

// readEOSPFCStatus reads where PFC runs: Ethernet1  Yes  3  Yes  DCBX disabled.
func readEOSPFCStatus(r *reading) {
	for _, l := range r.lines {
		cells := strings.Fields(l.text)
		if len(cells) == 0 || rule(l.text) || cells[0] == "Port" || strings.HasSuffix(cells[0], ":") {
			continue
		}
		if m := shortName.FindString(cells[0]); m == "" || len(cells) < 3 || cells[1] != "Yes" && cells[1] != "No" {
			if m != "" {
				r.not(l, "is not a row of an interface and whether PFC is enabled")
			}
			continue
		}
		p := r.port(longName(cells[0]), l)
		active, bits, is := cells[1] == "Yes", uint8(0), false
		for _, c := range cells[2:] {
			if c == "Yes" || c == "No" {
				active = active && c == "Yes"
				break
			}
			for _, d := range strings.Split(c, ",") {
				if n, ok := priority(d); ok {
					bits, is = bits|1<<n, true
				}
			}
		}
		p.PFC = Said[bool]{active, l.n, true}
		if is {
			p.Lossless = Said[uint8]{bits, l.n, true}
		}
	}
}

func writeEOSPFCStatus(w *bytes.Buffer, s *Snapshot) {
	for i := range s.Ports {
		p := &s.Ports[i]
		if !p.PFC.Is {
			continue
		}
		if w.Len() == 0 {
			w.WriteString("Port       Enabled  Priorities  Active  Note\n" +
				"---------  -------  ----------  ------  -------------\n")
		}
		yes := map[bool]string{true: "Yes", false: "No"}[p.PFC.V]
		var all []string
		for k := range Priorities {
			if p.Lossless.V&(1<<k) != 0 {
				all = append(all, fmt.Sprint(k))
			}
		}
		fmt.Fprintf(w, "%-9s  %-7s  %-10s  %-6s  DCBX disabled\n", p.Name, yes, strings.Join(all, ","), yes)
	}
}
