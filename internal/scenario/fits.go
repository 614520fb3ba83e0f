package scenario

import (
	"railyard/cc"
	"railyard/internal/field"
	"railyard/internal/queue"
	"railyard/internal/topo"
	"railyard/rc"
)

// fits rejects an algorithm if the scenario lacks one of its requirements (cc.Needs), and notes a missing signal.
func (p *resolver) fits() error {
	for i := range p.Services {
		s := &p.Services[i]
		there := p.features(s)
		if s.Carried != nil {
			if fault := s.Carried.Needs.Missing(s.Carried.Name, there); fault != "" {
				return field.New("transport.kind", "%s", fault)
			}
			if deaf := s.Carried.Needs.Deaf(there); deaf != "" {
				p.note("%s listens to %s, and not all switches have that in queue %d", s.Carried.Title, deaf,
					p.Spec.DSCP[s.DSCP])
			}
		}
		if fault := s.CC.Missing(there); fault != "" {
			return field.New("cc.algorithm", "%s", fault)
		}
		if there&cc.Trimming != 0 && there&cc.Selective == 0 {
			p.note("headers of trimmed packets go before data, and go-back-N reports a gap once: a packet trimmed again is retransmitted after the time-out of %v; transport.recovery selective retransmits each immediately", p.RC.Timeout)
		}
		if deaf := s.CC.Deaf(there); deaf != "" && p.Document.tunnels() {
			p.note("%s reacts to %s, and edges mark nothing: it reduces no rate, and packets wait at the edge", s.CC.Title, deaf)
		} else if deaf != "" {
			p.note("%s reacts to %s, and not all switches have that in queue %d: it reduces no rate there",
				s.CC.Title, deaf, p.Spec.DSCP[s.DSCP])
		}
	}
	return nil
}

// features returns the features for a service's data on all switches, and at their ends.
func (p *resolver) features(s *Service) cc.Feature {
	if p.Document.tunnels() { // edges lose nothing, mark nothing and keep the order
		return cc.Lossless | cc.OwnOrder
	}
	there := cc.Lossless | cc.Trimming | cc.Marking
	for n, node := range p.Graph.Nodes {
		if node.Role == topo.Host {
			continue
		}
		class := &p.specs[n].Queues[p.specs[n].DSCP[s.DSCP]]
		there &= ofClass(class)
	}
	if p.RC.Recovery == rc.Selective {
		there |= cc.Selective
	}
	if p.RC.WriteOnly {
		there |= cc.OwnOrder
	}
	if s.Carried != nil { // all events are of that kind
		there |= cc.Selective | cc.OwnOrder
	}
	return there
}

// ofClass returns the features of a switch's queue.
func ofClass(c *queue.Class) (there cc.Feature) {
	if c.Lossless {
		there |= cc.Lossless
	}
	if c.Trim {
		there |= cc.Trimming
	}
	if c.WRED.Max > 0 && c.WRED.ECN {
		there |= cc.Marking
	}
	return there
}

// lossy takes PFC away from a class. A queue without another limit shares the memory by alpha.
func lossy(c *queue.Class) {
	c.Lossless, c.XOff, c.XOn, c.XOnOffset, c.Headroom = false, 0, 0, 0, 0
	if c.Limit == 0 && c.Alpha == 0 {
		c.Alpha = 1
	}
}
