package counters

import (
	"bytes"
	"fmt"
	"iter"
	"regexp"
	"strings"
)

// mac reports whether a port's name is a MAC address.
var mac = regexp.MustCompile(`(?i)^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$|^([0-9a-f]{4}\.){2}[0-9a-f]{4}$`)

var nxosNeighbour = regexp.MustCompile(`^(.*?)\s+([A-Za-z][A-Za-z-]*[\d/.:]+)\s+(\d+)\s+` +
	`((?:[RBTCWPSO](?:[, ]*[RBTCWPSO])*\s+)?)(\S.*?)\s*$`)

// readNXOSLLDP parses one row per neighbour; a long name has a separate line.
func readNXOSLLDP(r *reading) {
	name, inside := "", false
	for _, l := range r.lines {
		s := strings.TrimSpace(l.text)
		switch {
		case strings.HasPrefix(s, "Device ID"):
			inside, name = true, ""
			continue
		case !inside || s == "" || strings.HasPrefix(s, "Total entries"):
			continue
		}
		m := nxosNeighbour.FindStringSubmatch(l.text)
		if m == nil || strings.Contains(m[5], "  ") { // columns: a space divides a number before them
			if name != "" {
				r.not(l, "is not a neighbour: expected device, local interface, hold-time, capability, port")
			}
			name = s
			continue
		}
		if far := strings.TrimSpace(m[1]); far != "" {
			name = far
		}
		r.port(longName(m[2]), l).Peer = Peer{Device: name, Port: longName(m[5]), Line: l.n}
		name = ""
	}
	if name != "" {
		r.not(r.lines[len(r.lines)-1], "the neighbour %s has no interface", quote(name))
	}
}

// heard yields the ports with a neighbour, with their index.
func (s *Snapshot) heard() iter.Seq2[int, *Port] {
	return func(yield func(int, *Port) bool) {
		for i := range s.Ports {
			if p := &s.Ports[i]; p.Peer.Is() && !yield(i, p) {
				return
			}
		}
	}
}

func writeNXOSLLDP(w *bytes.Buffer, s *Snapshot) {
	n := 0
	for _, p := range s.heard() {
		if n++; n == 1 {
			w.WriteString("Capability codes:\n  (R) Router, (B) Bridge, (T) Telephone, (C) DOCSIS Cable Device\n" +
				"  (W) WLAN Access Point, (P) Repeater, (S) Station, (O) Other\n" +
				"Device ID            Local Intf      Hold-time  Capability  Port ID\n")
		}
		name := p.Peer.Device
		if len(name) > 20 {
			w.WriteString(name + "\n")
			name = ""
		}
		fmt.Fprintf(w, "%-20s %-15s %-10d %-11s %s\n", name, short(p.Name, "Eth"), 120, "BR", p.Peer.Port)
	}
	if n > 0 {
		fmt.Fprintf(w, "Total entries displayed: %d\n", n)
	}
}

// readNXOSLLDPDetail reads a paragraph a neighbour: its announcements precede the receiving port.
func readNXOSLLDPDetail(r *reading) {
	var peer Peer
	local, at := "", line{}
	flush := func() {
		if local != "" && peer.Device != "" {
			r.port(local, at).Peer = peer
		} else if local != "" {
			r.not(at, "the neighbour has no name")
		}
		peer, local = Peer{}, ""
	}
	for _, l := range r.lines {
		key, value, ok := strings.Cut(strings.TrimSpace(l.text), ": ")
		if !ok {
			continue
		}
		switch value = strings.TrimSpace(value); key {
		case "Chassis id":
			flush()
			peer.Line = l.n
		case "Port id":
			peer.Port = longName(value)
		case "Local Port id":
			local, at = longName(value), l
		case "System Name":
			peer.Device = value
		}
	}
	flush()
}

func writeNXOSLLDPDetail(w *bytes.Buffer, s *Snapshot) {
	for i, p := range s.heard() {
		fmt.Fprintf(w, "Chassis id: 0000.0000.%04x\nPort id: %s\nLocal Port id: %s\nPort Description: %s\n"+
			"System Name: %s\nSystem Description: railyard\nTime remaining: 91 seconds\n\n", i+1, p.Peer.Port,
			short(p.Name, "Eth"), p.Peer.Port, p.Peer.Device)
	}
}

// readEOSLLDP reads a row a neighbour: port, device, port, time to live.
func readEOSLLDP(r *reading) {
	inside := false
	for _, l := range r.lines {
		s := strings.TrimSpace(l.text)
		cells := strings.Fields(s)
		switch {
		case strings.HasPrefix(s, "Port ") && strings.Contains(s, "Neighbor Device ID"):
			inside = true
		case !inside || s == "" || rule(s):
		case len(cells) < 4 || strings.Trim(cells[len(cells)-1], "0123456789") != "":
			r.not(l, "is not a neighbour: expected port, device, its port, time to live")
		default:
			last := len(cells) - 2
			r.port(longName(cells[0]), l).Peer = Peer{Device: strings.Join(cells[1:last], " "),
				Port: longName(cells[last]), Line: l.n}
		}
	}
}

func writeEOSLLDP(w *bytes.Buffer, s *Snapshot) {
	n := 0
	for _, p := range s.heard() {
		if n++; n == 1 {
			w.WriteString("\nPort          Neighbor Device ID       Neighbor Port ID    TTL\n" +
				"---------- ------------------------ ---------------------- ---\n")
		}
		fmt.Fprintf(w, "%-13s %-24s %-19s 120\n", short(p.Name, "Et"), p.Peer.Device, p.Peer.Port)
	}
}

var eosHeard = regexp.MustCompile(`^Interface (\S+) detected (\d+) LLDP neighbors`)

// readEOSLLDPDetail reads a paragraph an interface, of the last neighbour on it.
func readEOSLLDPDetail(r *reading) {
	name := ""
	for _, l := range r.lines {
		s := strings.TrimLeft(l.text, " -")
		if m := eosHeard.FindStringSubmatch(s); m != nil {
			if name = longName(m[1]); m[2] == "0" {
				name = ""
			} else {
				r.port(name, l).Peer.Line = l.n
			}
			continue
		}
		key, value, ok := strings.Cut(s, ":")
		if !ok || name == "" {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch strings.TrimSpace(key) {
		case "Port ID":
			if p := &r.port(name, l).Peer; p.Port == "" {
				p.Port = longName(value)
			}
		case "System Name":
			r.port(name, l).Peer.Device = value
		}
	}
}

func writeEOSLLDPDetail(w *bytes.Buffer, s *Snapshot) {
	for _, p := range s.heard() {
		fmt.Fprintf(w, "Interface %s detected 1 LLDP neighbors:\n\n  - Port ID type: Interface name (5)\n    Port ID     : %q\n  - System Name: %q\n\n", p.Name, p.Peer.Port, p.Peer.Device)
	}
}
