package scenario

import (
	"fmt"
	"slices"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/topo"
)

// noteDSCP warns if a switch has another lossless DSCP than the data's: in its own configuration, then the scenario's
// DSCP is usually not the one of the real NICs, or by the default of switch.dscp, which does not follow transport.
func (p *resolver) noteDSCP(n *topo.Node, spec *queue.Spec) {
	of := p.Default().DSCP
	_, text := p.textFor(n)
	byDefault := !text && p.says("transport.data_dscp") && p.Default().Carried == nil
	if !text && !byDefault || spec.Queues[spec.DSCP[of]].Lossless {
		return
	}
	for d, q := range spec.DSCP {
		if !spec.Queues[q].Lossless {
			continue
		}
		remedy := fmt.Sprintf("--set transport.data_dscp=%d if the NICs send that", d)
		if byDefault {
			remedy = fmt.Sprintf("--set switch.dscp.%d=%d protects it", of, q)
		}
		p.note("data (DSCP %d) goes to queue %d of %s, which PFC does not protect, and DSCP %d to queue %d, which it does: %s",
			of, spec.DSCP[of], n.Name, d, q, remedy)
		return
	}
}

// noteTags warns if a switch's own configuration classifies by 802.1p priority into a lossless queue that no DSCP
// selects. Simulated packets have no tags, so none reaches that queue, and the rendered configuration has no such
// class.
func (p *resolver) noteTags(n *topo.Node, spec *queue.Spec) {
	i := slices.IndexFunc(p.configs, func(c *swconf.Config) bool { return c.Hostname.V == n.Name })
	if i < 0 {
		return
	}
	for _, port := range p.configs[i].Ports {
		if port.QoS == nil {
			continue
		}
		for cos, q := range port.QoS.COS {
			if q.Is() && spec.Queues[q.V&7].Lossless && !slices.Contains(spec.DSCP[:], q.V&7) {
				p.note("%s: CoS %d selects queue %d, and no DSCP does: packets have no tags here, so the queue stays empty, and config render does not write the class",
					n.Name, cos, q.V)
				return
			}
		}
	}
}
