package explain

import (
	"fmt"
	"slices"

	"railyard/internal/cause"
	"railyard/internal/fluid"
	"railyard/internal/topo"
)

// bundled finds whether a connection's queue pairs are fewer than the ports of its NIC, of which each uses one, and
// where its bytes would go by all of them.
func (m *model) bundled(c int32, w *wayOf) {
	r := m.b.r
	src, dst := r.seen.peers(c)
	ports := m.b.share.nicPorts(src, true)
	if w.egress == w.egressAll || r.plan.QPs >= len(ports) || r.plan.Default().Carried != nil {
		return
	}
	w.bundle = len(ports)
	for i, routes := range []*topo.Routes{r.seen.Routes, m.whole} {
		if routes == nil {
			w.around[i] = w.around[0]
			break
		}
		m.hops(ports, dst, spreadOver{routes: routes}, func(hop *topo.Hop) {
			w.around[i] = append(w.around[i], m.set(m.portsOver(hop)))
		})
	}
}

// overBundle returns what a connection uses up to its receiver's NIC where its packets take all ports of its own: each
// port's share of it, of the links behind its port as much, and of those behind all ports together all.
func (m *model) overBundle(w *wayOf, uses []fluid.Use, v without) []fluid.Use {
	routes := 0
	if v.has(cause.FailedCapacity) {
		routes = 1
	}
	around := w.around[routes]
	uses = slices.DeleteFunc(uses, func(u fluid.Use) bool { return slices.Contains(around, u.Link) })
	for i := range uses[1:] {
		uses[1+i].Share /= float64(w.bundle)
	}
	for _, s := range around {
		uses = append(uses, fluid.Use{Link: s, Share: 1, Holds: true})
	}
	return append(m.each(w.egressAll, false), uses[1:]...)
}

// each returns the ports of a set with an equal share each, as queue pairs of equal size have them, whatever the ports
// carry.
func (m *model) each(set int32, holds bool) (uses []fluid.Use) {
	ports := m.portsOf(set)
	for _, p := range ports {
		uses = append(uses, fluid.Use{Link: p, Share: 1 / float64(len(ports)), Holds: holds})
	}
	return uses
}

// onePort describes the ports of the NIC whose message lost most.
func (b *blamer) onePort() string {
	s := cause.ID(cause.OnePort).Get().Name
	if b.worst < 0 {
		return s
	}
	src, _ := b.r.seen.peers(b.r.seen.Messages[b.worst].Conn)
	return fmt.Sprintf("%s: a queue pair of %s uses one of its %d ports", s, b.r.graph.NICName(int(src)),
		len(b.r.graph.NICs[src].Links))
}
