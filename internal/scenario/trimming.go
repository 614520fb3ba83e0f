package scenario

import (
	"fmt"

	"railyard/internal/field"
	"railyard/internal/queue"
	"railyard/internal/topo"
	"railyard/unit"
)

// What a trimmed packet is where a scenario does not say: as long as SONiC makes it, and in the class of
// CNPs, which has strict priority.
const (
	trimSize = 128 * unit.Byte
	trimDSCP = 48
)

// trimming fills in what the switch block leaves open of trimming, where a queue trims, and refuses what is
// said of it where none does.
func (p *resolver) trimming(spec *queue.Spec) error {
	t := &p.File.Switch.Trim
	if spec.TrimMask() == 0 {
		if *t != (Trim{}) && len(p.File.Switches) == 0 {
			return field.New("switch.trim", "no queue trims; switch.queues.N.trim makes one")
		}
		return nil
	}
	if t.Size == nil {
		t.Size = new(trimSize)
	}
	if t.DSCP == nil {
		t.DSCP = new(trimDSCP)
	}
	if t.LastHop == nil {
		t.LastHop = new(*t.DSCP)
	}
	if t.Either == nil {
		t.Either = new(false)
	}
	spec.Trim = queue.Trim{Size: *t.Size, DSCP: uint8(*t.DSCP), LastHop: uint8(*t.LastHop), Either: *t.Either}
	return nil
}

// trimOf is what a Spec says of trimming, as the switch block would.
func trimOf(s *queue.Spec) Trim {
	if s.TrimMask() == 0 {
		return Trim{}
	}
	t := s.Trim
	return Trim{new(t.Size), new(int(t.DSCP)), new(int(t.LastHop)), new(t.Either)}
}

// trimRoom holds what trims to what the packets of the run need, room for two of them, and notes where other
// switches put trimmed packets behind data.
func (p *resolver) trimRoom() error {
	frame := unit.Bytes(p.File.Transport.MTU) + p.headers()
	var first []int // switch with each distinct Spec
	seen := map[*queue.Spec]bool{}
	for n, node := range p.Graph.Nodes {
		spec := p.specs[n]
		if node.Role == topo.Host || seen[spec] {
			continue
		}
		seen[spec] = true
		first = append(first, n)
		for i := range spec.Queues {
			if room := spec.Room(i); spec.Queues[i].Trim && room < 2*frame {
				return field.New(fmt.Sprintf("switch.queues.%d.limit", i), "%v is less than two packets "+
					"of %v (transport.mtu and headers): a queue that trims would cut most of what comes",
					room, frame)
			}
		}
	}
	for _, a := range first {
		for _, b := range first {
			dscp := p.specs[a].Trim.DSCP
			q := p.specs[b].DSCP[dscp]
			if p.specs[a].TrimMask() != 0 && !p.specs[b].Queues[q].Strict {
				p.note("%s trims packets to DSCP %d, which %s puts into queue %d without strict priority: "+
					"they wait behind data there", p.Graph.Nodes[a].Name, dscp, p.Graph.Nodes[b].Name, q)
			}
		}
	}
	return nil
}
