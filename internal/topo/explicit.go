package topo

import (
	"fmt"
	"regexp"

	"railyard/internal/field"
	"railyard/unit"
)

// Explicit builds a graph node by node.
type Explicit struct {
	g      *Graph
	server Server
}

// NewExplicit starts a graph whose servers all have the given shape.
func NewExplicit(s Server) *Explicit {
	g := newGraph("graph")
	return &Explicit{g, s}
}

// Has reports whether a node exists, IsHost whether it is a server.
func (e *Explicit) Has(name string) bool { return e.g.Node(name) >= 0 }

// IsHost reports whether a name is a server's.
func (e *Explicit) IsHost(name string) bool {
	n := e.g.Node(name)
	return n >= 0 && e.g.Nodes[n].Role == Host
}

// nodeName is a host name (RFC 1123, section 2.1), with the underscore that switches also allow. Names become
// folders, namespaces, and lines of configurations.
var nodeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

func (e *Explicit) fresh(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if e.Has(name) {
		return fmt.Errorf("%q is repeated", name)
	}
	return nil
}

// CheckName refuses invalid names of nodes.
func CheckName(name string) error { return checkName(name) }

func checkName(name string) error {
	if name == "" {
		return fmt.Errorf("the name is missing")
	}
	if !nodeName.MatchString(name) {
		return fmt.Errorf("%q is not a name of a node: up to 63 letters a-z, digits, dots, hyphens and underscores, a letter or digit first", name)
	}
	return nil
}

// Host adds a server.
func (e *Explicit) Host(name string) error {
	if err := e.fresh(name); err != nil {
		return err
	}
	e.g.AddNode(name, Host, 0)
	return nil
}

// Switch adds a switch.
func (e *Explicit) Switch(name string, r Role, tier int) error {
	if err := e.fresh(name); err != nil {
		return err
	}
	if r == Host || tier < 0 || tier > 16 {
		return fmt.Errorf("%q cannot be a %v of tier %d", name, r, tier)
	}
	if tier == 0 {
		tier = 1
		if r == Spine || r == Aggregation {
			tier = 2
		} else if r == SuperSpine || r == Core {
			tier = 3
		}
	}
	e.g.AddNode(name, r, tier)
	return nil
}

// Link runs a cable.
func (e *Explicit) Link(a, b string, c Cable) error {
	_, err := e.Joined(a, b, c)
	return err
}

// Joined adds a link and returns its number.
func (e *Explicit) Joined(a, b string, c Cable) (link int, err error) {
	defer bounded(&err)
	na, nb := e.g.Node(a), e.g.Node(b)
	if na == nb {
		return 0, fmt.Errorf("%q is cabled to itself", a)
	}
	if e.g.Nodes[na].Role == Host && e.g.Nodes[nb].Role == Host {
		return 0, fmt.Errorf("%q and %q are both servers; a cable needs a switch", a, b)
	}
	if c.Rate <= 0 {
		return 0, fmt.Errorf("the rate is missing")
	}
	return e.g.Connect(na, nb, c), nil
}

// Finish deals the servers' cables out to their NICs, in order.
func (e *Explicit) Finish() (*Graph, error) {
	g, s := e.g, e.server
	if err := s.Check(); err != nil {
		return nil, err
	}
	if s.Ports < 1 || s.Ports > 2 {
		return nil, field.New("server.nic_ports", "a NIC has 1 or 2 ports, found %d", s.Ports)
	}
	if len(g.Hosts) == 0 {
		return nil, fmt.Errorf("the fabric has no hosts")
	}
	if len(g.Hosts) > MaxGPUs/s.GPUs {
		return nil, fmt.Errorf("%d hosts are more than packet fidelity takes", len(g.Hosts))
	}
	cables := make(map[int][]int)
	for i, l := range g.Links {
		for _, n := range []int{l.A, l.B} {
			if g.Nodes[n].Role == Host {
				cables[n] = append(cables[n], i)
			}
		}
	}
	for h, node := range g.Hosts {
		c := cables[node]
		if len(c) != s.NICs*s.Ports {
			return nil, fmt.Errorf("%s has %s, its %s of %s need %d", g.Nodes[node].Name,
				unit.Plural(len(c), "cable"), unit.Plural(s.NICs, "NIC"), unit.Plural(s.Ports, "port"),
				s.NICs*s.Ports)
		}
		for i := range s.NICs {
			g.NICs = append(g.NICs, NIC{Host: h, Index: i, Rail: i, Links: c[i*s.Ports : (i+1)*s.Ports]})
		}
		g.deal(s.GPUs, s.NICs)
	}
	return g, nil
}
