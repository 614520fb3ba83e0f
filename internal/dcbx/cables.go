package dcbx

import (
	"io"
	"strings"

	"railyard/internal/capture"
	"railyard/internal/field"
	"railyard/internal/swconf"
	"railyard/internal/topo"
)

// Marking is the DSCPs of RoCE traffic.
type Marking struct{ Data, CNP int }

// station makes a switch port's side; index keeps MAC addresses apart.
func (m Marking) station(cfg *swconf.Config, p *swconf.Port, index int) Station {
	return FromPort(cfg, p, m.Data, m.CNP, index)
}

// Switches are the configurations of switches with QoS, the first of each name.
type Switches []*swconf.Config

// Among returns the switches of some configurations.
func Among(configs []*swconf.Config) (s Switches) {
	for _, c := range configs {
		if s.named(c.Name()) == nil && c.HasQoS() {
			s = append(s, c)
		}
	}
	return s
}

func (s Switches) named(name string) *swconf.Config {
	for _, c := range s {
		if c.Name() == name {
			return c
		}
	}
	return nil
}

// Fabric simulates the exchange on every cable with a configuration at both ends, or with one at one end and a
// server at the other. NICs are willing, fixed or silent.
func (m Marking) Fabric(g *topo.Graph, s Switches, nics string) (out []*Result) {
	side := func(link, node int, port string, index int) (Station, bool) {
		n := &g.Nodes[node]
		if n.Role == topo.Host {
			nic := NIC(n.Name, port, index, nics == "willing", 0)
			if nics == "fixed" {
				nic.Enable, nic.Mode = 1<<3, swconf.PFCOn
			}
			nic.LLDP = nics != "silent"
			return nic, true
		}
		cfg := s.named(n.Name)
		if cfg == nil {
			return Station{}, false
		}
		p := cfg.Plugged(n.Panel, g.Jack(link, node))
		if p == nil {
			return Station{}, false
		}
		return m.station(cfg, p, index), true
	}
	for i, l := range g.Links {
		a, ok1 := side(i, l.A, l.APort, 2*i)
		b, ok2 := side(i, l.B, l.BPort, 2*i+1)
		if ok1 && ok2 {
			out = append(out, Exchange(a, b))
		}
	}
	return out
}

// Links simulates DCBX on the named links.
func (m Marking) Links(s Switches, links []string) (out []*Result, err error) {
	for i, l := range links {
		var ends [2]Station
		named := strings.Split(l, "=")
		for j, end := range named {
			name, port, ok := strings.Cut(end, ":")
			if !ok || len(named) != len(ends) {
				return nil, field.New("--link "+l, "expected SWITCH:PORT=SWITCH:PORT")
			}
			cfg := s.named(name)
			if cfg == nil {
				return nil, field.New("--link "+l, "no configuration has the hostname %q", name)
			}
			p := cfg.Port(port)
			if p == nil {
				return nil, field.New("--link "+l, "%s configures no port %q", name, port)
			}
			ends[j] = m.station(cfg, p, 2*i+j)
		}
		out = append(out, Exchange(ends[0], ends[1]))
	}
	return out, nil
}

// Described simulates the links derived from interface descriptions.
func (m Marking) Described(s Switches) (out []*Result) {
	for i, k := range swconf.Described(s) {
		out = append(out, Exchange(m.station(k.From, k.A, 2*i), m.station(k.To, k.B, 2*i+1)))
	}
	return out
}

// Capture writes the frames, an interface per end of a cable.
func Capture(w io.Writer, program string, results []*Result) error {
	var names []string
	for _, r := range results {
		names = append(names, r.A.Name, r.B.Name)
	}
	c, err := capture.NewWriter(w, program, names...)
	if err != nil {
		return err
	}
	for i, r := range results {
		for _, x := range r.Frames {
			iface := 2 * i
			if !x.FromA {
				iface++
			}
			c.Simulated(x.At, iface, x.Bytes, x.Comment)
		}
	}
	_, err = c.Close()
	return err
}

// Row is a cable's result as JSON.
type Row struct {
	A        string   `json:"a"`
	B        string   `json:"b"`
	Version  string   `json:"version"`
	OperA    string   `json:"a_pfc"`
	OperB    string   `json:"b_pfc"`
	WhyA     string   `json:"a_why"`
	WhyB     string   `json:"b_why"`
	Problems []string `json:"problems"`
	Frames   int      `json:"frames"`
}

// Rows returns results as JSON has them.
func Rows(results []*Result) []Row {
	out := []Row{}
	for _, r := range results {
		out = append(out, Row{r.A.Name, r.B.Name, r.Version.String(), swconf.Priorities(r.OperA),
			swconf.Priorities(r.OperB), r.WhyA, r.WhyB,
			append([]string{}, r.Problems...), len(r.Frames)})
	}
	return out
}
