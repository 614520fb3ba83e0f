package explain

import (
	"slices"

	"railyard/internal/cause"
	"railyard/internal/facts"
	"railyard/internal/result"
	"railyard/internal/topo"
)

// places returns where each cause of a step cost most, the leading cause first: in a message of the critical path,
// else in the collective that it cost most.
func (b *blamer) places(s *result.Summary, t *result.Tables) (all []result.CausePlace) {
	if s.Chain == nil || b.acc == nil {
		return nil
	}
	var messages []int32
	last, _ := b.r.lastOf(b.r.all())
	for _, p := range b.chain(last, 0, -1) {
		if p.message >= 0 {
			messages = append(messages, p.message)
		}
	}
	var ids []cause.ID
	var rows []result.CollectiveRow
	for _, id := range s.Chain.Ranked(0) {
		if float64(s.Chain.Costs(id)) < facts.LeastCost*float64(s.StepTime) {
			continue
		}
		row := result.CollectiveRow{Port: -1}
		if lost, x, port := b.lost(id, messages); lost > 0 && b.queuesFor(id, s, t, port) {
			row.Port, row.At, row.End = port, int64(b.acc.m.extra[x].began), int64(b.r.seen.Messages[x].Done)
		} else if most := b.mostOf(id, t.Collectives); most != nil {
			row = *most
		}
		if at, port := longestFor(id, s, t.PauseRoots); port >= 0 {
			row = result.CollectiveRow{Port: port, At: at, End: at}
		}
		if at, port := b.outageOf(id, s, t.Ports); port >= 0 {
			row = result.CollectiveRow{Port: port, At: at, End: at}
		}
		if row.Port < 0 || !b.queuesFor(id, s, t, row.Port) {
			continue
		}
		row.Lost = cause.Account{}
		row.Lost.Own[id] = 1
		ids, rows = append(ids, id), append(rows, row)
	}
	momentsOf(rows, t.Links)
	for i, id := range ids {
		all = append(all, result.CausePlace{Cause: id.Get().Key, Port: rows[i].Port, Name: b.r.portName(rows[i].Port),
			At: rows[i].At})
	}
	return all
}

// queuesFor reports whether a port may be the place of a cause. None is that of memory in NICs, or of latency, which
// a whole path has, and NVLink. Of CC recovering it is not a NIC's own, where its packets waited in no queue, nor one
// that marked nothing where others did.
func (b *blamer) queuesFor(id cause.ID, s *result.Summary, t *result.Tables, port int32) bool {
	if id != cause.Recovering || port < 0 {
		return port >= 0 && id != cause.ReorderMemory && id != cause.Latency
	}
	return b.r.graph.Nodes[b.r.seen.Ports[port].Node].Role != topo.Host && (s.ECNMarks == 0 || t.Ports[port].Marks > 0)
}

// mostOf returns the row that lost most to its leading cause, of those with a given one and a port; nil for none.
func (b *blamer) mostOf(id cause.ID, rows []result.CollectiveRow) (most *result.CollectiveRow) {
	for i := range rows {
		c := &rows[i]
		top, _ := c.Lost.Leading(0)
		if top == id && c.Port >= 0 && (most == nil || c.Lost.Costs(id) > most.Lost.Costs(id)) {
			most = c
		}
	}
	return most
}

// longestFor returns the root that holds most bytes x pause, and the middle of its longest pause, as the place of PFC
// pauses and of an incast that pauses the slowest message. Port is -1 for other causes.
func longestFor(id cause.ID, s *result.Summary, pauses []result.PauseRootRow) (at int64, port int32) {
	if s.PauseRoots == nil || len(s.PauseRoots.Roots) == 0 {
		return 0, -1
	}
	root, longest := &s.PauseRoots.Roots[0], int64(-1)
	paused := s.Slowest != nil && slices.Contains(s.Slowest.PausedBy, root.Name)
	if id != cause.Pause && (id != cause.Incast || !paused) {
		return 0, -1
	}
	for _, p := range pauses {
		if p.Root == root.Port && p.To-p.From > longest {
			at, longest = p.From+(p.To-p.From)/2, p.To-p.From
		}
	}
	return at, root.Port
}

// outageOf returns the failed link's port that lost most packets, and the middle of the time until routes had left it,
// as the place of failed capacity and of retransmissions of what failures lost. Port is -1 for other causes, and where
// no failed link lost a packet.
func (b *blamer) outageOf(id cause.ID, s *result.Summary, ports []result.PortRow) (at int64, port int32) {
	port = -1
	if id != cause.FailedCapacity && (id != cause.Retransmission || 2*s.DropsDown < s.Drops) || s.DropsDown == 0 {
		return 0, port
	}
	most := int64(1)
	for link, events := range b.r.lives {
		for i := range events {
			e := &events[i]
			if e.Up {
				continue
			}
			end := s.StepTime
			if e.Heard {
				end = min(end, int64(e.At+e.Converge))
			}
			if i+1 < len(events) {
				end = min(end, int64(events[i+1].At))
			}
			for _, p := range []int32{int32(2 * link), int32(2*link + 1)} {
				if lost := ports[p].Drops; lost > most || lost == most && (port < 0 || p < port) {
					most, port, at = lost, p, (int64(e.At)+end)/2
				}
			}
		}
	}
	return at, port
}
