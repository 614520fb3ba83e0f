package lab

import (
	"fmt"
	"slices"
)

// Fault is a link to break between two hosts, and the counters that show that their traffic has left it.
type Fault struct {
	Port  string   // port that fails, or loses outgoing packets
	Path  []string // ports on the path of the sender's traffic to it: sent bytes
	Plane int      // from 0
}

// name returns a port in the form of FindPort.
func (s *State) name(link, node int) string {
	port, _, _ := s.Links[link].end(node)
	return s.Nodes[node].Name + ":" + port
}

// planes are a host's ports, in the order of its planes.
func (s *State) planes(host int) (links []int) {
	for _, n := range s.NICs {
		if n.Node == host {
			links = append(links, n.Link)
		}
	}
	return links
}

// Fault finds the effect of the failure of a link on the traffic from one host to another: packets are lost at the
// link's end nearer to the sender. The traffic before it shows the effect: the links into that switch, or the
// sender's own port if a host's link fails. At the sender's leaf it is the link itself, which the switch then
// avoids without notification.
func (s *State) Fault(port string, from, to int) (*Fault, error) {
	l, _, err := s.FindPort(port)
	if err != nil {
		return nil, err
	}
	own, far := s.planes(from), s.planes(to)
	for _, end := range [][]int{own, far} {
		if plane := slices.Index(end, l); plane >= 0 && plane < len(own) {
			host := from
			if &end[0] == &far[0] {
				host = to
			}
			return &Fault{Port: s.name(l, host), Path: []string{s.name(own[plane], from)}, Plane: plane}, nil
		}
	}
	for plane, first := range own {
		leaf := s.Links[first].A + s.Links[first].B - from
		dist := s.distances(leaf)
		near, other := s.Links[l].A, s.Links[l].B
		if dist[near] > dist[other] {
			near, other = other, near
		}
		if dist[near] < 0 || dist[other] <= dist[near] || !s.Nodes[near].Switch || !s.Nodes[other].Switch {
			continue
		}
		f := &Fault{Port: s.name(l, near), Plane: plane}
		if near == leaf {
			f.Path = []string{f.Port}
			return f, nil
		}
		for i := range s.Links {
			k := &s.Links[i]
			if before := k.A + k.B - near; (k.A == near || k.B == near) && s.Nodes[before].Switch &&
				dist[before] == dist[near]-1 {
				f.Path = append(f.Path, s.name(i, before))
			}
		}
		return f, nil
	}
	return nil, refuse("port %q is on no path from %s to %s", port, s.Nodes[from].Name, s.Nodes[to].Name)
}

// Ends are the hosts of a test: the first and the last, which need as many planes.
func (s *State) Ends() (from, to int, err error) {
	var hosts []int
	for n := range s.Nodes {
		if !s.Nodes[n].Switch {
			hosts = append(hosts, n)
		}
	}
	if len(hosts) < 2 {
		return 0, 0, refuse("a lab of %d host has no receiver", len(hosts))
	}
	from, to = hosts[0], hosts[len(hosts)-1]
	if a, b := len(s.planes(from)), len(s.planes(to)); a != b {
		return 0, 0, refuse("%s has ports in %d planes and %s in %d", s.Nodes[from].Name, a, s.Nodes[to].Name, b)
	}
	return from, to, nil
}

// Planes are the addresses of a host, one in each plane, and its ports there.
func (s *State) Planes(host int) (addrs, ports []string) {
	for _, n := range s.NICs {
		if n.Node == host {
			addrs, ports = append(addrs, n.Addr.String()), append(ports, s.name(n.Link, host))
		}
	}
	return addrs, ports
}

// Usual are the default ports: one of a spine's links to the receiver's leaf in the first plane, the receiver's port in
// the last, and another spine's link.
func (s *State) Usual(from, to int) (cut, drained, lossy string, err error) {
	far := s.planes(to)
	if len(far) == 0 {
		return "", "", "", fmt.Errorf("%s has no ports", s.Nodes[to].Name)
	}
	leaf := s.Links[far[0]].A + s.Links[far[0]].B - to
	var spines []string
	for i := range s.Links {
		l := &s.Links[i]
		if spine := l.A + l.B - leaf; (l.A == leaf || l.B == leaf) && s.Nodes[spine].Switch {
			spines = append(spines, s.name(i, spine))
		}
	}
	if len(spines) < 2 {
		return "", "", "", refuse("%s has %d uplink; rerouting needs another one", s.Nodes[leaf].Name, len(spines))
	}
	last := far[len(far)-1]
	return spines[0], s.name(last, to), spines[1], nil
}
