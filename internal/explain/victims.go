package explain

import (
	"slices"

	"railyard/internal/cause"
	"railyard/unit"
)

// victims books to PFC pauses what messages lose to an incast in which they do not end: pauses are what reaches them.
// For as long as ports of their paths are paused, that is the pauses' own time. The rest is the reaction to them,
// unless congestion control reduced no rate. Of several messages, what each loses without the incast decides.
func (a *accounts) victims(to *cause.Account, messages []int32) {
	p := a.alone[cause.Incast]
	if p == nil || to.Costs(cause.Incast) == 0 {
		return
	}
	all, theirs, paused, cuts := unit.Time(0), unit.Time(0), unit.Time(0), false
	for _, x := range messages {
		lost := max(0, a.base.done[x]-a.base.posted[x]-(p.done[x]-p.posted[x]))
		if all += lost; a.m.meets(x) {
			continue
		}
		conn, turn := a.m.b.r.seen.Messages[x].Conn, a.m.b.share.turn(x)
		if long, _ := a.m.b.paused(conn, &window{turn, a.m.b.r.seen.Messages[x].Done}); long > 0 {
			theirs, paused = theirs+lost, paused+long
			cuts = cuts || a.m.b.r.seen.Conns[conn].Cuts > 0
		}
	}
	if theirs == 0 {
		return
	}
	share := float64(theirs) / float64(all)
	own, reaction := int64(share*float64(to.Own[cause.Incast])), int64(share*float64(to.Reaction[cause.Incast]))
	to.Own[cause.Incast] -= own
	to.Reaction[cause.Incast] -= reaction
	if to.Costs(cause.Incast) == 0 {
		to.Saving[cause.Incast] = 0 // what costs nothing saves nothing
	}
	if room := max(0, int64(paused)-to.Own[cause.Pause]); cuts && own > room {
		own, reaction = room, reaction+own-room
	}
	to.Own[cause.Pause] += own
	to.Reaction[cause.Pause] += reaction
}

// meets reports whether a message ends at a NIC that several NICs send to.
func (m *model) meets(x int32) bool {
	n := m.b.r.graph.NICs[m.b.r.seen.Conns[m.b.r.seen.Messages[x].Conn].To]
	return slices.ContainsFunc(n.Links, func(link int) bool {
		cable := m.b.r.seen.Ports[m.b.r.port(link, m.b.r.graph.Hosts[n.Host])].Peer
		return len(m.b.senders[cable]) > 1
	})
}
