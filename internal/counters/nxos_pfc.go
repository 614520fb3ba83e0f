package counters

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	pfcLine = regexp.MustCompile(`^(\S*\d[\d/.]*)\s+(On|Off|Auto)\s+(On|Off)\s*(?:\(\s*([0-9a-fA-F]+|` +
		`\w+)\s*\))?` +
		`\s+([\d,]+)\s+([\d,]+)\s*$`)
	legend     = regexp.MustCompile(`^[RT]xPPP:`) // "RxPPP: No. of PPP (pfc) frames received"
	detailPort = regexp.MustCompile(`^(Ethernet\S+|Eth\S+|port-channel\d+)\s*:?$`)
	// otherPort matches a heading whose interface cannot be read.
	otherPort  = regexp.MustCompile(`^(?:Eth|port-channel)`)
	detailRow  = regexp.MustCompile(`^(Rx|Tx)\s*\|`)
	watched    = regexp.MustCompile(`^([A-Za-z]\S*) Interface PFC watchdog:`)
	watchGroup = regexp.MustCompile(`^\|\s*QOS GROUP (\d+)\b.*?(?:PFC-COS \[(\d)\])?`)
)

// readPFC parses one row per interface: mode, whether PFC runs and for which priorities (a bit map), pause frames
// received and sent.
func readPFC(r *reading) {
	for _, l := range r.lines {
		s := strings.TrimSpace(l.text)
		if s == "" || rule(s) || strings.HasPrefix(s, "Port ") || strings.HasPrefix(s, "slot ") || legend.MatchString(s) {
			continue
		}
		m := pfcLine.FindStringSubmatch(s)
		if m == nil {
			r.not(l, "is not a row of an interface, its mode and its pause frames")
			continue
		}
		p := r.port(longName(m[1]), l)
		p.PFC = Said[bool]{m[3] == "On", l.n, true}
		if bits, err := strconv.ParseUint(m[4], 16, 8); err == nil {
			p.Lossless = Said[uint8]{uint8(bits), l.n, true}
		}
		take(m[5:], l, &p.RxPFCAll, &p.TxPFCAll)
	}
}

func writePFC(w *bytes.Buffer, s *Snapshot) {
	line := strings.Repeat("=", 60) + "\n"
	for i := range s.Ports {
		p := &s.Ports[i]
		if !p.PFC.Is && !p.got().Is {
			continue
		}
		if w.Len() == 0 {
			w.WriteString(line + "Port               Mode Oper(VL bmap)  RxPPP      TxPPP\n" + line + "\n")
		}
		fmt.Fprintf(w, "%-18s %s %-10s %-10s %s\n", p.Name, "Auto", p.oper(), p.got().zero(), p.sent().zero())
	}
}

// oper is On  (8) or Off.
func (p *Port) oper() string {
	if !p.PFC.V {
		return "Off"
	}
	return fmt.Sprintf("On  (%x)", p.Lossless.V)
}

// readPFCDetail reads a block an interface with a row of eight for frames got, and for
// those sent.
func readPFCDetail(r *reading) {
	name := r.port2()
	seen := map[string]bool{} // rows of the interface
	for _, l := range r.lines {
		s := strings.TrimSpace(l.text)
		if m := detailPort.FindStringSubmatch(s); m != nil {
			name = longName(m[1])
			clear(seen)
			r.port(name, l)
			continue
		}
		if otherPort.MatchString(l.text) {
			r.not(l, "names no interface")
			name = ""
		}
		if s == "" || rule(s) {
			continue
		}
		if key, _, is := strings.Cut(s, ":"); is && name != "" && r.again(seen, key, name, l) {
			p := r.port(name, l)
			p.PFC.Is, p.Lossless.Is, name = false, false, ""
		}
		if strings.HasPrefix(s, "|") {
			continue
		}
		if name == "" {
			r.not(l, "precedes the first interface name")
			continue
		}
		p := r.port(name, l)
		if detailRow.MatchString(s) {
			cells := strings.Split(s, "|")
			if r.again(seen, cells[0][:2], name, l) {
				p.PFC.Is, p.Lossless.Is, name = false, false, ""
				continue
			}
			to := &p.RxPFC
			if cells[0][:2] == "Tx" {
				to = &p.TxPFC
			}
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			if wrong := take(cells[1:], l, eight(to)...); wrong != "" {
				r.not(l, "%s", wrong)
			}
			continue
		}
		key, value, _ := strings.Cut(s, ":")
		switch value = strings.TrimSpace(value); key {
		case "Oper Mode":
			if value == "On" || value == "Off" {
				p.PFC = Said[bool]{value == "On", l.n, true}
			}
		case "VL bitmap":
			if bits, err := strconv.ParseUint(strings.Trim(value, "()"), 16, 8); err == nil {
				p.Lossless = Said[uint8]{uint8(bits), l.n, true}
			}
		case "Total Rx PFC Frames":
			take([]string{value}, l, &p.RxPFCAll)
		case "Total Tx PFC Frames":
			take([]string{value}, l, &p.TxPFCAll)
		}
	}
}

func writePFCDetail(w *bytes.Buffer, s *Snapshot) {
	line := "    " + strings.Repeat("-", 117) + "\n"
	for i := range s.Ports {
		p := &s.Ports[i]
		if !said(&p.RxPFC) && !said(&p.TxPFC) {
			continue
		}
		mode := map[bool]string{true: "On", false: "Off"}[p.PFC.V]
		fmt.Fprintf(w, "\n%s\n\n    Admin Mode: Auto\n    Oper Mode: %s\n    VL bitmap: (%x)\n    Total Rx PFC Frames: %s\n    Total Tx PFC Frames: %s\n%s        |", p.Name, mode, p.Lossless.V,
			p.got().zero(), p.sent().zero(), line)
		for k := range Priorities {
			fmt.Fprintf(w, "  Priority%d  |", k)
		}
		w.WriteString("\n" + line)
		for _, way := range []struct {
			name string
			of   *[Priorities]Count
		}{{"Rx", &p.RxPFC}, {"Tx", &p.TxPFC}} {
			fmt.Fprintf(w, "    %s  ", way.name)
			for k := range way.of {
				fmt.Fprintf(w, "|%-13s", way.of[k].zero())
			}
			w.WriteString("\n")
			if way.name == "Rx" {
				w.WriteString(line)
			}
		}
	}
}

// readPFCQueue parses the watchdog's counters of each class. Shutdown counts how often it found the class stuck.
func readPFCQueue(r *reading) {
	name, queue := "", -1
	seen := map[string]bool{} // groups of the interface
	for _, l := range r.lines {
		s := strings.TrimSpace(l.text)
		if m := watched.FindStringSubmatch(s); m != nil {
			name, queue = longName(m[1]), -1
			clear(seen)
			r.port(name, l)
			continue
		}
		if otherPort.MatchString(l.text) {
			r.not(l, "names no interface")
			name = ""
		}
		if m := watchGroup.FindStringSubmatch(s); m != nil {
			if queue = -1; name != "" && r.again(seen, m[1], name, l) {
				name = ""
			}
			if n, err := strconv.Atoi(m[1]); err == nil && n < Priorities {
				queue = n
			}
			continue
		}
		cells := strings.Split(strings.Trim(s, "| "), "|")
		if rule(s) || len(cells) != 2 {
			continue
		}
		if name == "" || queue < 0 {
			continue
		}
		q := &r.port(name, l).Queues[queue]
		var to *Count
		switch strings.TrimSpace(cells[0]) {
		case "Shutdown":
			to = &q.Detected
		case "Restored":
			to = &q.Restored
		case "Total pkts dropped":
			to = &q.Flushed
		default:
			continue
		}
		if wrong := take([]string{strings.TrimSpace(cells[1])}, l, to); wrong != "" {
			r.not(l, "%s", wrong)
		}
	}
}

func writePFCQueue(w *bytes.Buffer, s *Snapshot) {
	line := "+----------------------------------------------------+\n"
	for i := range s.Ports {
		p := &s.Ports[i]
		head := false
		for k := range p.Queues {
			q := &p.Queues[k]
			if !q.Detected.Is {
				continue
			}
			if !head {
				head = true
				fmt.Fprintf(w, "%s Interface PFC watchdog: [Enabled]\n", p.Name)
			}
			state := "Active"
			if q.Detected.V > q.Restored.V {
				state = "Shutdown"
			}
			fmt.Fprintf(w, "%s| QOS GROUP %d [%s] PFC [YES] PFC-COS [%d]\n%s|%31s|  Stats             |\n%s",
				line,
				k, state, k, line, "", line)
			fmt.Fprintf(w, "|%31s|%20s|\n|%31s|%20s|\n|%31s|%20s|\n%s", "Shutdown", q.Detected, "Restored",
				q.Restored.zero(), "Total pkts dropped", q.Flushed.zero(), line)
		}
	}
}
