package explain

import (
	"slices"

	"railyard/internal/cause"
	"railyard/unit"
)

// earlierQueue is the cause of the queue in which a queue pair waits longest, of an earlier message: congestion control
// holds this one below line rate for it though its own packets wait in none. Recovering where there is none.
func (m *model) earlierQueue(x int32, met Trouble) cause.ID {
	msg := &m.b.r.seen.Messages[x]
	top := m.b.r.worstQueue(msg.Conn)
	if top == nil || top.Port == met.Port {
		return cause.Recovering
	}
	if m.entered == nil {
		m.entered = m.enteredAt()
	}
	if m.entered[msg.Conn] >= msg.Done {
		return cause.Recovering // only later ones wait there
	}
	met.Port = top.Port
	return m.queueCause(x, &met)
}

// enteredAt is when the first message ends that waited in the queue in which its queue pair waits longest, by
// connection.
func (m *model) enteredAt() []unit.Time {
	r := m.b.r
	at := slices.Repeat([]unit.Time{unit.Never}, len(r.seen.Conns))
	worst := make([]int32, len(r.seen.Conns))
	for conn := range worst {
		if worst[conn] = -1; r.first[conn] < r.first[conn+1] {
			if top := r.worstQueue(int32(conn)); top != nil {
				worst[conn] = top.Port
			}
		}
	}
	for y := range r.seen.Messages {
		msg := &r.seen.Messages[y]
		if met := r.trouble(int32(y)); met.Port >= 0 && met.Port == worst[msg.Conn] && !met.Earlier {
			at[msg.Conn] = min(at[msg.Conn], msg.Done)
		}
	}
	return at
}
