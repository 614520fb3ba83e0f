package scenario

import (
	"fmt"

	"railyard/unit"
)

// PoolFirst describes the switch whose ports together may hold most below a lossless class's xOFF, if that exceeds
// its buffer; "" otherwise. Such a switch pauses when the shared buffer is full, before a port reaches xOFF, if
// many ports are congested.
func (p *Plan) PoolFirst() string {
	ports := make([]int, len(p.Graph.Nodes))
	for i := range p.Graph.Links {
		ports[p.Graph.Links[i].A]++
		ports[p.Graph.Links[i].B]++
	}
	text, most := "", 1.0
	for i, n := range ports {
		s := p.SpecOf(i)
		if s == nil {
			continue
		}
		for c := range s.Queues {
			k := &s.Queues[c]
			sum := k.XOff * unit.Bytes(n)
			if share := float64(sum) / float64(s.Buffer); k.Lossless && share > most {
				most = share
				const first = "xOFF %s on %s of %s is %s together, above its buffer of %s: if more than %d are congested, the full buffer pauses before xOFF does"
				text = fmt.Sprintf(first, k.XOff.Show(), unit.Plural(n, "port"), p.Graph.Nodes[i].Name, sum.Show(),
					s.Buffer.Show(), s.Buffer/k.XOff)
			}
		}
	}
	return text
}
