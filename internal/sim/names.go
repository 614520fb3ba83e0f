package sim

import (
	"railyard/internal/fabric"
	"railyard/unit"
)

// LeafOf returns the first switch of a GPU's NIC.
func (n *Network) LeafOf(gpu string) string {
	g, err := n.Graph.FindGPU(gpu)
	if err != nil {
		return ""
	}
	nic := n.Graph.NICs[n.Graph.NICOf[g]]
	l := n.Graph.Links[nic.Links[0]]
	return n.Graph.Nodes[l.A+l.B-n.Graph.Hosts[nic.Host]].Name
}

// WaitSum returns the queueing delay of all packets at a port, scaled up from
// the sampled sixteenth of them.
func (r *Run) WaitSum(port int32) (total unit.Time) {
	r.Net.Waits.Each(func(w fabric.Wait) {
		if w.Port == port {
			total += 16 * w.Total
		}
	})
	return total
}
