package counters

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"railyard/unit"
)

// rowInterface reads an interface's packets, errors and drops, or what FEC did (portstat of sonic-utilities).
func rowInterface(r *reading, t *table, cells []string, l line) string {
	p := r.port(cells[0], l)
	for i, h := range t.heads {
		var to *Count
		switch h {
		case "STATE":
			if cells[i] == "U" || cells[i] == "D" || cells[i] == "X" {
				p.Up = Said[bool]{cells[i] == "U", l.n, true}
				p.Enabled = Said[bool]{cells[i] != "X", l.n, true}
			}
			continue
		case "RX_OK":
			to = &p.RxPackets
		case "TX_OK":
			to = &p.TxPackets
		case "RX_ERR":
			to = &p.InErrors
		case "RX_DRP":
			to = &p.InDiscards
		case "TX_ERR":
			to = &p.OutErrors
		case "TX_DRP":
			to = &p.OutDiscards
		case "FEC_UNCORR":
			to = &p.Uncorrected
		case "FEC_CORR", "FEC_SYMBOL_ERR": // what FEC corrected, and the wrong symbols
			continue
		case "TX_UTIL":
			percent, is := strings.CutSuffix(cells[i], "%")
			if v, err := strconv.ParseFloat(percent, 64); is && err == nil && v >= 0 {
				p.TxUtil = Said[float64]{v / 100, l.n, true}
			}
			continue
		case "IFACE", "RX_BPS", "RX_UTIL", "TX_BPS", "RX_PPS", "TX_PPS":
			continue
		default:
			r.skip(h, cells[i], l)
			continue
		}
		if wrong := take(cells[i:], l, to); wrong != "" {
			return wrong
		}
	}
	return ""
}

func writeSonicInterfaces(w *bytes.Buffer, s *Snapshot) {
	g := grid{heads: []string{"IFACE", "STATE", "RX_OK", "RX_BPS", "RX_UTIL", "RX_ERR", "RX_DRP", "RX_OVR",
		"TX_OK", "TX_BPS", "TX_UTIL", "TX_ERR", "TX_DRP", "TX_OVR"}}
	for i := range s.Ports {
		p := &s.Ports[i]
		if !anyOf(p.RxPackets, p.TxPackets, p.InErrors, p.InDiscards, p.OutErrors, p.OutDiscards) {
			continue
		}
		util := "N/A"
		if p.TxUtil.Is {
			util = fmt.Sprintf("%.2f%%", 100*p.TxUtil.V)
		}
		g.add(p.Name, p.letter(), p.RxPackets.grouped(), "N/A", "N/A", p.InErrors.grouped(),
			p.InDiscards.grouped(), "N/A", p.TxPackets.grouped(), "N/A", util, p.OutErrors.grouped(),
			p.OutDiscards.grouped(), "N/A")
	}
	g.write(w)
}

func writeSonicErrors(w *bytes.Buffer, s *Snapshot) {
	g := grid{heads: []string{"IFACE", "STATE", "RX_ERR", "RX_DRP", "RX_OVR", "TX_ERR", "TX_DRP", "TX_OVR"}}
	for i := range s.Ports {
		if p := &s.Ports[i]; anyOf(p.InErrors, p.InDiscards, p.OutErrors, p.OutDiscards) {
			g.add(p.Name, p.letter(), p.InErrors.grouped(), p.InDiscards.grouped(), "N/A", p.OutErrors.grouped(),
				p.OutDiscards.grouped(), "N/A")
		}
	}
	g.write(w)
}

func writeSonicFEC(w *bytes.Buffer, s *Snapshot) {
	g := grid{heads: []string{"IFACE", "STATE", "FEC_CORR", "FEC_UNCORR", "FEC_SYMBOL_ERR"}}
	for i := range s.Ports {
		if p := &s.Ports[i]; p.Uncorrected.Is {
			g.add(p.Name, p.letter(), "N/A", p.Uncorrected.grouped(), "N/A")
		}
	}
	g.write(w)
}

// letter is the state of a port as portstat prints it.
func (p *Port) letter() string {
	if p.Enabled.Is && !p.Enabled.V {
		return "X"
	}
	return p.state("U", "D")
}

// state returns the word for a port that is up or down.
func (p *Port) state(up, down string) string {
	switch {
	case !p.Up.Is:
		return "N/A"
	case p.Up.V:
		return up
	}
	return down
}

// rowStatus reads an interface's speed, MTU and state.
func rowStatus(r *reading, t *table, cells []string, l line) string {
	p := r.port(cells[0], l)
	for i, h := range t.heads {
		switch c := cells[i]; h {
		case "Speed":
			if rate, err := unit.ParseRate(c + "bps"); err == nil && c != "" {
				p.Speed = Said[unit.Rate]{rate, l.n, true}
			} else if c != "N/A" {
				return quote(c) + " is not a speed"
			}
		case "MTU":
			n, err := strconv.ParseInt(c, 10, 32)
			if err == nil {
				p.MTU = Said[unit.Bytes]{unit.Bytes(n), l.n, true}
			} else if c != "N/A" {
				return quote(c) + " is not an MTU"
			}
		case "Alias":
			if c != p.Name && c != "N/A" {
				p.Alias = c
			}
		case "Lanes":
			if c != "N/A" {
				p.Lanes = c
			}
		case "FEC":
			if c != "N/A" {
				p.FEC = c
			}
		case "Admin":
			if c == "up" || c == "down" {
				p.Enabled = Said[bool]{c == "up", l.n, true}
			}
		case "Oper":
			if c == "up" || c == "down" {
				p.Up = Said[bool]{c == "up", l.n, true}
			}
		}
	}
	return ""
}

func writeSonicStatus(w *bytes.Buffer, s *Snapshot) {
	g := grid{heads: []string{"Interface", "Lanes", "Speed", "MTU", "FEC", "Alias", "Vlan", "Oper", "Admin",
		"Type", "Asym PFC"}}
	for i := range s.Ports {
		p := &s.Ports[i]
		if !p.Speed.Is && !p.MTU.Is && !p.Up.Is {
			continue
		}
		speed, mtu := "N/A", "N/A"
		if p.Speed.Is {
			speed = fmt.Sprintf("%dM", p.Speed.V/unit.Mbps)
			if p.Speed.V%unit.Gbps == 0 {
				speed = fmt.Sprintf("%dG", p.Speed.V/unit.Gbps)
			}
		}
		if p.MTU.Is {
			mtu = fmt.Sprint(int64(p.MTU.V))
		}
		admin := "up"
		if p.Enabled.Is && !p.Enabled.V {
			admin = "down"
		}
		g.add(p.Name, cmp.Or(p.Lanes, "N/A"), speed, mtu, cmp.Or(p.FEC, "N/A"), cmp.Or(p.Alias, p.Name),
			"routed", p.state("up", "down"), admin, "N/A", "off")
	}
	g.write(w)
}

// rowLLDP reads a neighbour. A port that announces a MAC address is named by its description, if that is one word.
// So is one of SONiC, which announces its alias.
func rowLLDP(r *reading, t *table, cells []string, l line) string {
	if len(cells) < 3 || cells[1] == "" {
		return "names no neighbour"
	}
	id, descr := cells[2], ""
	if len(cells) > 4 {
		descr = cells[4]
	}
	port := id
	if mac.MatchString(id) && descr != "" && !strings.Contains(descr, " ") ||
		sonicPort.MatchString(descr) && !sonicPort.MatchString(id) {
		port = descr
	}
	peer := Peer{Device: cells[1], Port: port, Line: l.n}
	if id != port {
		peer.ID = id
	}
	if descr != port {
		peer.Descr = descr
	}
	r.port(cells[0], l).Peer = peer
	return ""
}

// sonicPort matches SONiC's names of ports.
var sonicPort = regexp.MustCompile(`^Ethernet\d+$`)

func writeSonicLLDP(w *bytes.Buffer, s *Snapshot) {
	g := grid{heads: []string{"LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr"},
		left: 5}
	for _, p := range s.heard() {
		g.add(p.Name, p.Peer.Device, cmp.Or(p.Peer.ID, p.Peer.Port), "BR", cmp.Or(p.Peer.Descr, p.Peer.Port))
	}
	if len(g.rows) == 0 {
		return
	}
	w.WriteString("Capability codes: (R) Router, (B) Bridge, (O) Other\n")
	g.write(w)
	w.Truncate(w.Len() - 1)
	fmt.Fprintf(w, "--------------------------------------------------\nTotal entries displayed:  %d\n", len(g.rows))
}
