package scenario

import (
	"fmt"

	"railyard/internal/field"
	"railyard/internal/queue"
	"railyard/internal/topo"
	"railyard/unit"
)

// trimming sets open values of trimming in the switch block if a queue trims, and rejects settings of trimming if
// none does.
func (p *resolver) trimming(spec *queue.Spec) error {
	t := &spec.Trim
	if spec.TrimMask() == 0 {
		if *t != (queue.Trim{}) && len(p.File.Switches) == 0 {
			return field.New("switch.trim", "no queue trims; switch.queues.N.trim makes one")
		}
		*t = queue.Trim{}
		return nil
	}
	if *t == (queue.Trim{}) {
		t.Silent()
	}
	if preset := presetOf(p.Preset); !p.says("switch.trim.last_hop_dscp") && (preset == nil || !preset.trims) {
		t.LastHop = t.DSCP
	}
	p.File.Switch.Trim = *t
	return nil
}

// trimRoom checks trimming against the packet sizes of the run and memory for two of them, and warns of switches
// that queue trimmed packets after data.
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
				return field.New(fmt.Sprintf("switch.queues.%d.limit", i), "%v is less than two packets of %v (transport.mtu and headers): a queue that trims would trim most packets",
					room, frame)
			}
		}
	}
	for _, a := range first {
		for _, b := range first {
			dscp := p.specs[a].Trim.DSCP
			q := p.specs[b].DSCP[dscp]
			if p.specs[a].TrimMask() != 0 && !p.specs[b].Queues[q].Strict {
				p.note("%s trims packets to DSCP %d, which %s puts into queue %d without strict priority: they wait after data there", p.Graph.Nodes[a].Name, dscp, p.Graph.Nodes[b].Name, q)
			}
		}
	}
	return nil
}
