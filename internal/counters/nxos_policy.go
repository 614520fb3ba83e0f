package counters

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	policyPort  = regexp.MustCompile(`^(Ethernet\S+|Eth\S+|port-channel\d+)$`)
	policyClass = regexp.MustCompile(`^Class-map \((queuing|qos)\):\s+(\S+)`)
	policyWay   = regexp.MustCompile(`^Service-policy \((queuing|qos)\) (input|output):\s+(\S+)`)
	policyCount = regexp.MustCompile(`^queue (dropped pkts|dropped bytes|transmit pkts|transmit bytes|` +
		`depth in bytes)\s*:\s*([\d,]+)$`)
	policySeen  = regexp.MustCompile(`^([\d,]+) packets\b(?:,?\s+([\d,]+) bytes)?`)
	policyGroup = regexp.MustCompile(`^set qos-group (\d)$`)
	classQueue  = regexp.MustCompile(`q(\d)$`)
)

// readPolicyMap parses the sent, dropped and queued data of the classes of queueing policies, and the packets that
// a policy of type qos assigned to a qos-group. A class with a custom name does not identify its queue; it is
// ignored with a note.
func readPolicyMap(r *reading) {
	name, class, way := "", "", ""
	var seen [2]Count
	queue, classes := -1, map[string]bool{} // of the interface
	for _, l := range r.lines {
		s := strings.TrimSpace(l.text)
		if m := policyPort.FindStringSubmatch(s); m != nil {
			name, class, queue = longName(m[1]), "", -1
			clear(classes)
			r.port(name, l)
		} else if otherPort.MatchString(l.text) {
			r.not(l, "names no interface")
			name = ""
		} else if m := policyWay.FindStringSubmatch(s); m != nil {
			way, class, queue = m[1]+" "+m[2], "", -1
		} else if m := policyClass.FindStringSubmatch(s); m != nil {
			class, queue, seen = m[2], -1, [2]Count{}
			if name != "" && r.again(classes, way+" "+class, name, l) {
				name = ""
			}
			if q := classQueue.FindStringSubmatch(class); q != nil && int(q[1][0]-'0') < Priorities {
				queue = int(q[1][0] - '0')
			} else if strings.HasSuffix(class, "q-default") {
				queue = 0
			}
		} else if name == "" || class == "" {
			continue
		} else if m := policyCount.FindStringSubmatch(s); m != nil && way != "queuing input" {
			if queue < 0 {
				r.not(l, "counts for class %s, whose name does not contain its queue", quote(class))
				continue
			}
			q := &r.port(name, l).Queues[queue]
			to := map[string]*Count{"dropped pkts": &q.DropPackets, "dropped bytes": &q.DropBytes,
				"transmit pkts": &q.TxPackets, "transmit bytes": &q.TxBytes, "depth in bytes": &q.Depth}[m[1]]
			take(m[2:], l, to)
		} else if m := policySeen.FindStringSubmatch(s); m != nil && strings.HasPrefix(way, "qos") {
			if m[2] == "" {
				m[2] = "-"
			}
			take(m[1:], l, &seen[0], &seen[1])
		} else if m := policyGroup.FindStringSubmatch(s); m != nil && way == "qos input" && seen[0].Is {
			if n, err := strconv.Atoi(m[1]); err == nil && n < Priorities {
				g := &r.port(name, l).Groups[n]
				add(&g.RxPackets, seen[0])
				if seen[1].Is {
					add(&g.RxBytes, seen[1])
				}
			}
		}
	}
}

// add sums the counts that several classes have for one queue.
func add(to *Count, c Count) {
	c.V += to.V
	*to = c
}

func writePolicyMap(w *bytes.Buffer, s *Snapshot) {
	for i := range s.Ports {
		p := &s.Ports[i]
		if !p.Queues[0].TxPackets.Is && !p.Queues[0].DropPackets.Is {
			continue
		}
		if w.Len() == 0 {
			w.WriteString("\nGlobal statistics status :   enabled\n")
		}
		fmt.Fprintf(w, "\n%s\n\n", p.Name)
		if p.Groups[0].RxPackets.Is {
			fmt.Fprintf(w, "  Service-policy (qos) input:   ROCE-CLASSIFY\n    SNMP Policy Index:  285212672\n\n")
			for k := range p.Groups {
				if g := &p.Groups[k]; g.RxPackets.Is {
					fmt.Fprintf(w, "    Class-map (qos):   GROUP%d (match-any)\n      %s packets, %s bytes\n"+
						"      set qos-group %d\n\n", k, g.RxPackets, g.RxBytes.zero(), k)
				}
			}
		}
		w.WriteString("  Service-policy (queuing) output:   default-8q-out-policy\n" +
			"    SNMP Policy Index:  301991214\n\n")
		for k := Priorities - 1; k >= 0; k-- {
			q, class := &p.Queues[k], fmt.Sprintf("c-out-8q-q%d", k)
			if k == 0 {
				class = "c-out-8q-q-default"
			}
			fmt.Fprintf(w, "    Class-map (queuing):   %s (match-any)\n", class)
			for _, row := range []struct {
				name string
				c    *Count
			}{{"dropped pkts", &q.DropPackets}, {"dropped bytes", &q.DropBytes}, {"transmit pkts",
				&q.TxPackets},
				{"transmit bytes", &q.TxBytes}, {"depth in bytes", &q.Depth}} {
				if row.c.Is {
					fmt.Fprintf(w, "      queue %s : %s\n", row.name, row.c)
				}
			}
			w.WriteByte('\n')
		}
	}
}
