package sim

import (
	"railyard/internal/explain"
	"railyard/unit"
)

// teller records the events of queues and rates: each kind of event at each port, or queue pair, with its first
// time and its count.
type teller struct {
	run  *Run
	most int
	rows []explain.Happening
	at   map[happening]int // place in rows
	rate map[int32]unit.Rate
	// queue pairs that were slowed and are not yet within one percent of their line rate
	low map[int32]bool
}

type happening struct {
	what string
	who  int32 // port and priority, or queue pair
}

// newTeller listens to a run from its beginning.
func newTeller(r *Run, most int) *teller {
	t := &teller{run: r, most: most, at: map[happening]int{}, rate: map[int32]unit.Rate{}, low: map[int32]bool{}}
	r.Hosts.OnRate = t.paced
	return t
}

// tell adds an event, or counts it.
func (t *teller) tell(who int32, h explain.Happening) {
	h.At, h.Last, h.Times = t.run.Net.Q.Now(), t.run.Net.Q.Now(), 1
	key := happening{h.What, who}
	if i, told := t.at[key]; told {
		t.rows[i].Times++
		t.rows[i].Last = h.At
		return
	}
	if len(t.rows) < t.most {
		t.at[key] = len(t.rows)
		t.rows = append(t.rows, h)
	}
}

// hear processes the trace of marks and pauses.
func (t *teller) hear(what string, port int32, prio int) {
	h := explain.Happening{What: what, Port: port, Priority: prio, Cause: -1, Conn: -1}
	switch net := t.run.Net; what {
	case "mark":
		h.Bytes = net.QueueBytes(port, prio)
	case "pause":
		h.Cause = net.PauseCause(port, prio)
	}
	t.tell(at(port, prio), h)
}

// paced records a sender's new rate.
func (t *teller) paced(conn int32, rate unit.Rate) {
	was, known := t.rate[conn]
	if !known {
		was = t.run.Hosts.Line(conn)
	}
	t.rate[conn] = rate
	h := explain.Happening{Port: -1, Cause: -1, Conn: conn, From: was, To: rate}
	switch {
	case rate < was:
		h.What, t.low[conn] = "cut", true
	case rate > was && t.low[conn] && rate >= t.run.Hosts.Line(conn)/100*99:
		h.What = "recovered"
		t.low[conn] = false
	case rate > was:
		h.What = "raise"
	default:
		return
	}
	t.tell(conn, h)
}
