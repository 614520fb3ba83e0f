package counters

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// rowPFC reads a row of received frames, or of sent ones.
func rowPFC(r *reading, t *table, cells []string, l line) string {
	if len(cells) != 1+Priorities || !strings.HasPrefix(t.heads[0], "Port ") {
		return "is not a row of an interface and eight counters"
	}
	p := r.port(cells[0], l)
	to := &p.RxPFC
	if t.heads[0] == "Port Tx" {
		to = &p.TxPFC
	}
	return take(cells[1:], l, eight(to)...)
}

// rowPFCPriority parses the priorities of PORT_QOS_MAP's pfc_enable. None, or N/A if the port has no such key,
// means a port without PFC.
func rowPFCPriority(r *reading, _ *table, cells []string, l line) string {
	const wrong = "is not a row of an interface and the priorities for which it runs PFC"
	if len(cells) != 2 || cells[1] == "" && l.n == r.all.lines && !r.all.whole { // the file may end before it
		return wrong
	}
	bits := uint8(0)
	if cells[1] != "" && cells[1] != "N/A" {
		for d := range strings.SplitSeq(cells[1], ",") {
			k, ok := priority(strings.TrimSpace(d))
			if !ok {
				return wrong
			}
			bits |= 1 << k
		}
	}
	p := r.port(cells[0], l)
	p.PFC, p.Lossless = Said[bool]{bits != 0, l.n, true}, Said[uint8]{bits, l.n, true}
	return ""
}

func writePFCPriority(w *bytes.Buffer, s *Snapshot) {
	g := grid{heads: []string{"Interface", "Lossless priorities"}}
	for i := range s.Ports {
		p := &s.Ports[i]
		if !p.Lossless.Is {
			continue
		}
		var all []string
		for k := range Priorities {
			if p.Lossless.V>>k&1 == 1 {
				all = append(all, strconv.Itoa(k))
			}
		}
		g.add(p.Name, strings.Join(all, ","))
	}
	g.write(w)
}

// readPFCHistory reads a table with blank lines between interfaces.
func readPFCHistory(r *reading) {
	lines := r.lines
	r.lines = slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return strings.TrimSpace(l.text) == "" })
	sonicRows(rowPFCHistory)(r)
	r.lines = lines
}

// rowPFCHistory reads how long a port was paused in one priority. How often, and the last time, are known and
// not kept.
func rowPFCHistory(r *reading, t *table, cells []string, l line) string {
	digits, is := strings.CutPrefix(cells[min(1, len(cells)-1)], "PFC")
	k, err := strconv.Atoi(digits)
	if len(cells) < 4 || !is || err != nil || k < 0 || k >= Priorities {
		return "is not a row of an interface, a priority and how long it was paused"
	}
	return take(cells[2:], l, nil, &r.port(cells[0], l).RxDur[k])
}

func writePFCHistory(w *bytes.Buffer, s *Snapshot) {
	g := grid{heads: []string{"Port", "Priority", "RX Pause Transitions", "Total RX Pause Time US",
		"Recent RX Pause Time US", "Recent RX Pause Timestamp"}}
	for i := range s.Ports {
		p := &s.Ports[i]
		for k := range p.RxDur {
			if said(&p.RxDur) {
				g.add(p.Name, fmt.Sprintf("PFC%d", k), "N/A", p.RxDur[k].grouped(), "N/A", "N/A")
			}
		}
	}
	g.write(w)
}

func eight(c *[Priorities]Count) (all []*Count) {
	for i := range c {
		all = append(all, &c[i])
	}
	return all
}

func writeSonicPFC(w *bytes.Buffer, s *Snapshot) {
	for _, way := range []string{"Rx", "Tx"} {
		g := grid{heads: []string{"Port " + way}}
		for i := range Priorities {
			g.heads = append(g.heads, fmt.Sprintf("PFC%d", i))
		}
		for i := range s.Ports {
			p := &s.Ports[i]
			from := &p.RxPFC
			if way == "Tx" {
				from = &p.TxPFC
			}
			if !said(&p.RxPFC) && !said(&p.TxPFC) {
				continue
			}
			row := []string{p.Name}
			for k := range from {
				row = append(row, from[k].grouped())
			}
			g.add(row...)
		}
		g.write(w)
	}
}

// rowGauge reads a row of eight or more columns UC0 or PG0 and on.
func rowGauge(head string, at func(p *Port, i int) *Count) func(*reading, *table, []string, line) string {
	return func(r *reading, t *table, cells []string, l line) string {
		p := r.port(cells[0], l)
		for i, h := range t.heads {
			digits, is := strings.CutPrefix(h, head)
			n, err := strconv.Atoi(digits)
			if !is || err != nil || n >= Priorities || n < 0 {
				continue
			}
			if wrong := take(cells[i:], l, at(p, n)); wrong != "" {
				return wrong
			}
		}
		return ""
	}
}

func writeSonicEight(title, head string, at func(p *Port, i int) *Count) func(*bytes.Buffer, *Snapshot) {
	return func(w *bytes.Buffer, s *Snapshot) {
		g := grid{heads: []string{"Port"}}
		for i := range Priorities {
			g.heads = append(g.heads, fmt.Sprintf("%s%d", head, i))
		}
		for i := range s.Ports {
			row, is := []string{s.Ports[i].Name}, false
			for k := range Priorities {
				c := at(&s.Ports[i], k)
				row, is = append(row, c.String()), is || c.Is
			}
			if is {
				g.add(row...)
			}
		}
		if len(g.rows) > 0 {
			w.WriteString(title + "\n")
		}
		g.write(w)
	}
}
