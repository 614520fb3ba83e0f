package scenario

import (
	"railyard/cc"
	"railyard/internal/field"
	"railyard/internal/route"
	"railyard/internal/topo"
	"railyard/roce"
	"railyard/unit"
)

// telemetry checks that the fabric supports the telemetry of the algorithm. The header must have room for a path's
// switches and for its own bytes, and a stamp must have a code for every port's rate.
func (p *resolver) telemetry() error {
	for i := range p.Services {
		if err := p.reported(&p.Services[i]); err != nil {
			return err
		}
	}
	return nil
}

// reported checks it for the algorithm of one service.
func (p *resolver) reported(s *Service) error {
	kind := roce.Telemetry(s.CC.Reports(s.Values))
	if kind == roce.NoTelemetry {
		return nil
	}
	most, longest := p.longest()
	t, size := &p.File.Transport, kind.Len()+kind.Grows()*min(most, cc.MostHops)
	if all := unit.Bytes(t.MTU) + p.headers() + unit.Bytes(size); all > p.smallestMTU() {
		return field.New("transport.mtu", "%d bytes, up to %d of headers and %d of telemetry for %s do not fit the switches' mtu of %v", t.MTU, p.headers(), size, s.CC.Name, p.smallestMTU())
	}
	if kind == roce.TelemetryIFA {
		if err := p.analyzed(s); err != nil {
			return err
		}
	} else if kind != roce.TelemetryINT {
		return nil
	}
	if p.LB.Reorders(p.LBValues) {
		return field.New("lb", "%s compares the telemetry of a port in two consecutive packets, and %s sends them by different ports; accepted: policies that keep a flow's packets on one path, such as ecmp", s.CC.Name, p.LB.Name)
	}
	if err := p.stamped(s.CC); err != nil {
		return err
	}
	if most > cc.MostHops {
		g := p.Graph
		nic := func(i int) string { return g.Nodes[g.Hosts[g.NICs[i].Host]].Name }
		return field.New("cc.algorithm", "%s: telemetry holds %s, and packets from %s to %s pass up to %d; accepted: fabrics with shorter paths, or an algorithm without telemetry",
			s.CC.Name, unit.Plural(cc.MostHops, "switch"), nic(longest.From), nic(longest.To), most)
	}
	return nil
}

// analyzed refuses IFA if a switch lacks it, and in combination with tags.
func (p *resolver) analyzed(s *Service) error {
	key := "cc." + s.CC.Name
	if cc.Value[int](s.Values, "csig") > 0 {
		return field.New(key+".csig", "switches write its tags or the metadata of %s.ifa, not both; accepted: csig 0, or ifa false", key)
	}
	for n, node := range p.Graph.Nodes {
		if node.Role != topo.Host && p.specs[n].NoIFA {
			return field.New(key+".ifa", "%s does not support the in-band flow analyzer (switch.ifa, or ifa of deviations); accepted: false, for INT, or %s.csig of 4 or 8 bytes",
				node.Name, key)
		}
	}
	return nil
}

// longest returns the maximum number of switches of a packet's path, with detours, and the ends of the longest path
// without detours.
func (p *resolver) longest() (most int, way topo.Way) {
	way = p.Graph.Longest()
	most = way.Switches
	if route.Is[route.Steerer](p.LB) {
		most += p.Graph.Farthest()
	}
	return most, way
}

// stamped refuses rates that a stamp has no code for.
func (p *resolver) stamped(a *cc.Algorithm) error {
	refuse := func(port string, r unit.Rate) error {
		return field.New("cc.algorithm", "%s: telemetry names a port's rate as one of %s, and %s has %v",
			a.Name, roce.StampRates(), port, r)
	}
	for i := range p.Graph.Links {
		l := &p.Graph.Links[i]
		if _, ok := roce.StampRate(l.Rate); !ok {
			return refuse(p.Graph.End(i, l.B), l.Rate)
		}
	}
	for _, e := range p.Events {
		for _, rate := range []unit.Rate{e.Rate, e.Back} {
			if _, ok := roce.StampRate(rate); !ok {
				return refuse(p.Graph.End(e.Link, p.Graph.Links[e.Link].B)+" from "+e.At.String()+" on", rate)
			}
		}
	}
	return nil
}
