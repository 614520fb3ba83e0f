package swconf

import "railyard/internal/queue"

// trimming checks queues that trim packets for which they have no room.
func (l *linter) trimming() {
	l.queues(func(v variant, i int, q *Queue) {
		t := &v.c.Trim
		switch at := q.Trim.At; {
		case !q.Trim.V:
		case v.q.Lossless(i, v.port):
			l.say(at, "take the queue off PFC, or let it drop", "queue %d trims and is lossless: it drops nothing that could be trimmed", i)
		case !t.DSCP.Is():
			l.say(at, "set the size and DSCP of trimmed packets: SWITCH_TRIMMING|GLOBAL with size and dscp_value",
				"queue %d trims, and the size is not configured", i)
		default:
			l.trimmed(v, t)
			if mtu, ok := v.q.mtu(v.port); ok && q.Limit.Is() && q.Limit.V < 2*mtu {
				l.say(q.Limit.At, "let it hold several packets", "queue %d trims above %v, less than two frames of %v", i, q.Limit.V, mtu)
			}
		}
	})
}

// trimmed checks the forwarding of trimmed packets.
func (l *linter) trimmed(v variant, t *Trim) {
	if t.Size.Is() && t.Size.V < queue.MinTrim {
		l.say(t.Size.At, "keep at least 64 bytes", "packets are cut to %v, less than their headers", t.Size.V)
	}
	for _, dscp := range []Said[uint8]{t.DSCP, t.LastHop} {
		if q := v.q.DSCP[dscp.V&63].V & 7; dscp.Is() && !v.q.Queues[q].Strict.V {
			l.say(dscp.At, "map the DSCP to a queue with strict priority", "trimmed packets (DSCP %d) go to queue %d, which has no strict priority: they queue after the data that they report",
				dscp.V, q)
		}
	}
}
