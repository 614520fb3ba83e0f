package lab

import (
	"context"
	"encoding/json"
	"regexp"
	"strconv"
)

// PortStatus is one end of a cable.
type PortStatus struct {
	Port    string `json:"port"`
	Peer    string `json:"peer"`
	Up      bool   `json:"up"`
	Rate    int64  `json:"rate_bps"`
	TxBytes int64  `json:"tx_bytes"`
	Packets int64  `json:"tx_packets"`
	Dropped int64  `json:"dropped"`
	Marked  int64  `json:"ce_marked"`
}

// NodeStatus is a host or switch.
type NodeStatus struct {
	Name        string       `json:"name"`
	Namespace   string       `json:"namespace"`
	There       bool         `json:"there"`
	Addrs       []string     `json:"addresses,omitempty"`
	Established int          `json:"bgp_established,omitempty"`
	Sessions    int          `json:"bgp_sessions,omitempty"`
	Ports       []PortStatus `json:"ports"`
}

var marks = regexp.MustCompile(`oifname "([^"]+)".*counter packets (\d+)`)

// Status looks at every node and port.
func Status(ctx context.Context, s *State) ([]NodeStatus, error) {
	if err := ready("ip", "tc"); err != nil {
		return nil, err
	}
	have, err := namespaces(ctx)
	if err != nil {
		return nil, err
	}
	var out []NodeStatus
	for i, n := range s.Nodes {
		st := NodeStatus{Name: n.Name, Namespace: n.Namespace, There: have[n.Namespace]}
		for _, nic := range s.NICs {
			if nic.Node == i {
				st.Addrs = append(st.Addrs, nic.Addr.String())
			}
		}
		if st.There {
			if err := s.ports(ctx, i, &st); err != nil {
				return nil, err
			}
			if n.Switch && s.Routing == RoutingFRR {
				// A daemon that has ended shows as no session.
				st.Established, st.Sessions, _ = s.sessions(ctx, i)
			}
		}
		out = append(out, st)
	}
	return out, nil
}

// ports reads counters of the kernel, the shaper and the marking rules.
func (s *State) ports(ctx context.Context, node int, st *NodeStatus) error {
	ns := s.Nodes[node].Namespace
	b, err := command(ctx, "ip", "-n", ns, "-j", "-s", "link")
	if err != nil {
		return err
	}
	var links []struct {
		Name  string `json:"ifname"`
		State string `json:"operstate"`
		Stats struct {
			Tx struct{ Bytes, Packets int64 } `json:"tx"`
		} `json:"stats64"`
	}
	if err := json.Unmarshal(b, &links); err != nil {
		return err
	}
	b, err = command(ctx, "tc", "-n", ns, "-j", "-s", "qdisc")
	if err != nil {
		return err
	}
	var qdiscs []struct {
		Dev   string `json:"dev"`
		Kind  string `json:"kind"`
		Drops int64  `json:"drops"`
	}
	if err := json.Unmarshal(b, &qdiscs); err != nil {
		return err
	}
	marked := map[string]int64{}
	if b, err := command(ctx, "ip", "netns", "exec", ns, "nft", "list", "ruleset"); err == nil {
		for _, m := range marks.FindAllStringSubmatch(string(b), -1) {
			marked[m[1]], _ = strconv.ParseInt(m[2], 10, 64)
		}
	}
	for i := range s.Links {
		l := &s.Links[i]
		if l.A != node && l.B != node {
			continue
		}
		name, _, _ := l.end(node)
		far := l.A + l.B - node
		farPort, _, _ := l.end(far)
		p := PortStatus{Port: s.Nodes[node].Name + ":" + name, Peer: s.Nodes[far].Name + ":" + farPort,
			Rate: int64(l.Rate), Marked: marked[name]}
		for _, k := range links {
			if k.Name == name {
				p.Up, p.TxBytes, p.Packets = k.State == "UP", k.Stats.Tx.Bytes, k.Stats.Tx.Packets
			}
		}
		for _, q := range qdiscs {
			if q.Dev == name && q.Kind == "tbf" {
				p.Dropped = q.Drops
			}
		}
		st.Ports = append(st.Ports, p)
	}
	return nil
}
