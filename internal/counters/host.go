package counters

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"railyard/unit"
)

// Outputs of Linux hosts: ethtool, iproute2's ip and rdma, sysfs, lldpd.
var hostFormats = []Format{
	{Name: "ip-link", System: "host", About: "ip -o link: MTU, up or down",
		Command: "ip -o link",
		command: regexp.MustCompile(`^ip (?:-\S+ )*l(?:i|in|ink)?\b`),
		head:    regexp.MustCompile(`^\d+: \S+: <[A-Z_,-]*> mtu \d+`),
		read:    readIPLink, write: writeIPLink},
	{Name: "ethtool", System: "host", About: "ethtool -S: frames, pauses and drops by priority (mlx5, bnxt_en, ionic)",
		Command: "ethtool -S PORT",
		command: regexp.MustCompile(`^(?:\S*/)?ethtool (?:-S|--statistics) (\S+)`),
		head:    regexp.MustCompile(`^(?:NIC|Standard) st(?:atistics|ats)\b.*:\s*$`),
		read:    readEthtool, write: writeEthtool},
	{Name: "ethtool-link", System: "host", About: "ethtool: speed, link",
		Command: "ethtool PORT",
		command: regexp.MustCompile(`^(?:\S*/)?ethtool ([^-\s]\S*)`),
		head:    regexp.MustCompile(`^Settings for \S+:\s*$`),
		read:    readEthtoolLink, write: writeEthtoolLink},
	{Name: "rdma-link", System: "host", About: "rdma link: which interface an RDMA device belongs to",
		Command: "rdma link",
		command: regexp.MustCompile(`^(?:\S*/)?rdma l(?:i|in|ink)?\b`),
		head:    regexp.MustCompile(`^link \S+/\d+ state \S+ physical_state`),
		read:    readRDMALink, write: writeRDMALink},
	{Name: "rdma-statistic", System: "host", About: "rdma statistic show: what queue pairs lost and marked",
		Command: "rdma statistic show",
		command: regexp.MustCompile(`^(?:\S*/)?rdma (?:-\S+ )*stat\w*\b`),
		head:    regexp.MustCompile(`^link \S+/\d+ (?:\w+ \d+|$)`),
		read:    readRDMA, write: writeRDMA},
	{Name: "hw-counters", System: "host", About: "grep . /sys/class/infiniband/*/ports/*/hw_counters/*",
		Command: "grep . /sys/class/infiniband/PORT/ports/1/hw_counters/*",
		command: regexp.MustCompile(`^(?:e?grep|cat|head|tail|for) .*/sys/class/infiniband/`),
		head:    regexp.MustCompile(`^/sys/class/infiniband/\S+(?::|\s+)\d+$`),
		read:    readHWCounters, write: writeHWCounters},
	{Name: "lldpcli", System: "host", About: "lldpcli show neighbors",
		Command: "lldpcli show neighbors",
		command: regexp.MustCompile(`^lldpc(?:li|tl)\b`),
		head:    regexp.MustCompile(`^Interface:\s+\S+, via: LLDP`),
		read:    readLLDPCLI, write: writeLLDPCLI},
}

var ipLink = regexp.MustCompile(`^\d+: ([^:@\s]+)(?:@\S+)?: <([A-Z_0-9,-]*)> mtu (\d+)(?:\s|$)`)

func readIPLink(r *reading) {
	for _, l := range r.lines {
		m := ipLink.FindStringSubmatch(l.text)
		if m == nil {
			if l.text != "" && l.text[0] != ' ' {
				r.not(l, "is not an interface with its MTU")
			}
			continue
		}
		if m[1] == "lo" {
			continue
		}
		p := r.port(m[1], l)
		if n, err := strconv.ParseInt(m[3], 10, 32); err == nil {
			p.MTU = Said[unit.Bytes]{unit.Bytes(n), l.n, true}
		}
		p.Up = Said[bool]{strings.Contains(m[2], "LOWER_UP"), l.n, true}
	}
}

func writeIPLink(w *bytes.Buffer, s *Snapshot) {
	for i := range s.Ports {
		if p := &s.Ports[i]; p.MTU.Is {
			fmt.Fprintf(w, "%d: %s: <BROADCAST,MULTICAST,UP%s> mtu %d qdisc mq state %s mode DEFAULT group default qlen 1000\n", i+2, p.Name, map[bool]string{true: ",LOWER_UP"}[p.Up.V], p.MTU.V,
				p.state("UP", "DOWN"))
		}
	}
}

func readEthtoolLink(r *reading) {
	name := r.section.port
	for _, l := range r.lines {
		s := strings.TrimSpace(l.text)
		if dev, ok := strings.CutPrefix(s, "Settings for "); ok {
			name = strings.TrimSuffix(dev, ":")
		}
		key, value, ok := strings.Cut(s, ":")
		if !ok || name == "" {
			continue
		}
		switch value = strings.TrimSpace(value); key {
		case "Speed":
			if mb, ok := strings.CutSuffix(value, "Mb/s"); ok {
				if n, err := strconv.ParseInt(mb, 10, 32); err == nil {
					r.port(name, l).Speed = Said[unit.Rate]{unit.Rate(n) * unit.Mbps, l.n, true}
				}
			}
		case "Link detected":
			if state, _, _ := strings.Cut(value, " "); state == "yes" || state == "no" { // no (No cable)
				r.port(name, l).Up = Said[bool]{state == "yes", l.n, true}
			}
		}
	}
}

func writeEthtoolLink(w *bytes.Buffer, s *Snapshot) {
	for i := range s.Ports {
		if p := &s.Ports[i]; p.Speed.Is {
			fmt.Fprintf(w, "Settings for %s:\n\tSpeed: %dMb/s\n\tDuplex: Full\n\tLink detected: %s\n", p.Name,
				p.Speed.V/unit.Mbps, p.state("yes", "no"))
		}
	}
}

// readLLDPCLI reads a paragraph a neighbour, or lines of keys and values.
func readLLDPCLI(r *reading) {
	name := ""
	for _, l := range r.lines {
		s := strings.TrimSpace(l.text)
		if key, value, ok := strings.Cut(s, "="); ok && strings.HasPrefix(key, "lldp.") {
			words := strings.Split(key, ".")
			switch p := &r.port(words[1], l).Peer; strings.Join(words[2:], ".") {
			case "chassis.name":
				p.Device, p.Line = value, l.n
			case "port.ifname", "port.local":
				p.Port = longName(value)
			case "port.descr":
				if p.Port == "" {
					p.Port = longName(value)
				}
			}
			continue
		}
		key, value, ok := strings.Cut(s, ":")
		value = strings.TrimSpace(value)
		if ok && key == "Interface" {
			name, _, _ = strings.Cut(value, ",")
			r.port(name, l).Peer = Peer{Line: l.n}
			continue
		}
		if !ok || name == "" {
			continue
		}
		switch p := &r.port(name, l).Peer; key {
		case "SysName":
			p.Device = value
		case "PortID":
			kind, id, _ := strings.Cut(value, " ")
			if p.Port == "" && kind != "mac" {
				p.Port = longName(id)
			}
		case "PortDescr":
			if p.Port == "" && !strings.Contains(value, " ") {
				p.Port = longName(value)
			}
		}
	}
}

func writeLLDPCLI(w *bytes.Buffer, s *Snapshot) {
	line := strings.Repeat("-", 79) + "\n"
	n := 0
	for _, p := range s.heard() {
		if n++; n == 1 {
			w.WriteString(line + "LLDP neighbors:\n" + line)
		}
		fmt.Fprintf(w, "Interface:    %s, via: LLDP, RID: %d, Time: 0 day, 00:00:01\n  Chassis:\n    SysName:      %s\n  Port:\n    PortID:       ifname %s\n    PortDescr:    %s\n    TTL:          120\n%s",
			p.Name, n,
			p.Peer.Device, p.Peer.Port, p.Peer.Port, line)
	}
}
