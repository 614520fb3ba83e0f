package explain

import (
	"railyard/internal/cause"
	"railyard/internal/coll"
	"railyard/internal/result"
	"railyard/internal/workload"
	"railyard/unit"
)

// maxCollectiveRows bounds the table of collectives.
var maxCollectiveRows = 100_000 // a variable for tests

// blamer divides the time of operations above line rate among causes.
type blamer struct {
	r        *reading
	share    *sharing
	pauses   pauseIndex
	flows    map[int32]int // queue pairs that waited at a port
	senders  map[int32]map[int32]bool
	ops      [][2]int  // by collective: its first operation and the one behind its last
	first    []int32   // by operation: its first message, -1 for none
	next     []int32   // by message: the operation's next one
	late     unit.Time // the part of the retransmission time that was spent waiting for answers
	timeouts int32     // and how many of those ended in the local ACK timeout
	earlier  bool      // the transfer that lost most was slowed by an earlier message of its queue pair
	shared   int       // flows at the port with the largest loss
	failed   string    // failed components on its paths meanwhile, with their times
	worst    int32     // the message that lost most there; -1: none
	acc      *accounts
	step     *cause.Account // of the step; nil: unknown
}

func (r *reading) newBlamer() *blamer {
	b := &blamer{r: r, share: r.newSharing(), pauses: r.pauseIntervals(), flows: map[int32]int{},
		senders: map[int32]map[int32]bool{},
		first:   make([]int32, len(r.dag.Ops)), next: make([]int32, len(r.seen.Messages))}
	r.eachWait(func(w Wait) {
		if w.Total > 0 {
			b.flows[w.Port]++
			if b.senders[w.Port] == nil {
				b.senders[w.Port] = map[int32]bool{}
			}
			src, _ := r.seen.peers(w.Conn)
			b.senders[w.Port][src] = true
		}
	})
	b.ops = make([][2]int, len(r.dag.Colls))
	for i := range b.first {
		b.first[i] = -1
		if c := r.dag.Ops[i].Coll; c >= 0 {
			if b.ops[c][1] == 0 {
				b.ops[c][0] = i
			}
			b.ops[c][1] = i + 1
		}
	}
	for m := len(r.seen.Messages) - 1; m >= 0; m-- {
		op := r.seen.Messages[int32(m)].Op
		b.next[m], b.first[op] = b.first[op], int32(m)
	}
	return b
}

// causes fills the table of collectives. It returns the number of rows without a limit.
func (b *blamer) causes(t *result.Tables) (all int) {
	n := len(b.r.dag.Colls)
	from, last, whole := make([]unit.Time, n), make([]int32, n), make([]bool, n)
	for i := range from {
		from[i], last[i], whole[i] = unit.Never, -1, true
	}
	for i := range b.r.dag.Ops {
		c := b.r.dag.Ops[i].Coll
		if c < 0 {
			continue
		}
		switch {
		case b.r.exec.End[i] == unit.Never:
			whole[c] = false
		default:
			if from[c] = min(from[c], b.r.exec.Start[i]); last[c] < 0 || b.r.exec.End[i] > b.r.exec.End[last[c]] {
				last[c] = int32(i)
			}
		}
	}
	for c := range from {
		if last[c] < 0 || !whole[c] {
			continue
		}
		if all++; all <= maxCollectiveRows {
			t.Collectives = append(t.Collectives, b.collective(int32(c), from[c], last[c]))
		}
	}
	return all
}

// link is one piece of a chain of operations, each blocked on the one before.
type piece struct {
	op, message int32 // message: -1 for a computation, or inside a server
	from, to    unit.Time
}

// chain follows dependencies backwards from an operation's end to a given time. It goes to the operation that
// released the current one. If a message waited for older messages of its queue pair, it goes to the last of those.
// Only is the collective whose messages count for that, -1 for all.
func (b *blamer) chain(last int32, from unit.Time, only int32) (pieces []piece) {
	at := piece{op: last, message: b.lastMessage(last), from: b.r.exec.Start[last], to: b.r.exec.End[last]}
	for {
		older := int32(-1)
		if at.message >= 0 {
			older = b.share.older(at.message)
		}
		if older >= 0 && (only < 0 || b.r.dag.Ops[b.r.seen.Messages[older].Op].Coll == only) {
			at.from = b.share.done(older)
			pieces = append(pieces, at)
			op := b.r.seen.Messages[older].Op
			at = piece{op: op, message: older, from: b.r.exec.Start[op], to: b.share.done(older)}
			continue
		}
		pieces = append(pieces, at)
		op := b.r.exec.Cause[at.op]
		if op < 0 || at.from <= from {
			return pieces
		}
		at = piece{op: op, message: b.lastMessage(op), from: b.r.exec.Start[op], to: b.r.exec.End[op]}
	}
}

// lastMessage is the message of an operation that was delivered last.
func (b *blamer) lastMessage(op int32) int32 {
	last := b.first[op]
	for m := last; m >= 0; m = b.next[m] {
		if b.r.seen.Messages[m].Done > b.r.seen.Messages[last].Done {
			last = m
		}
	}
	return last
}

// collective divides the time of a collective. Along the chain of transfers that ended last, it also finds where
// most time was lost to the largest cause.
func (b *blamer) collective(c int32, from unit.Time, last int32) result.CollectiveRow {
	k := &b.r.dag.Colls[c]
	row := result.CollectiveRow{Instance: c, Name: k.Name, Kind: k.Kind.String(), Class: k.Class.String(),
		Ranks: int32(len(k.Ranks)), FirstRank: int32(k.Ranks[0]), Bytes: int64(k.Bytes),
		Start: int64(from), End: int64(b.r.exec.End[last]), Port: -1, At: int64(from),
		Job: b.r.jobName(b.r.exec.Work.OfCollective(c))}
	if b.acc == nil {
		return row // the run is in progress: the cost of its messages is not known yet
	}
	var messages []int32
	for _, p := range b.chain(last, from, c) {
		if p.message >= 0 && b.r.dag.Ops[p.op].Coll == c {
			messages = append(messages, p.message)
		}
	}
	b.acc.collective(&row.Lost, c, b.r.exec.End[last]-from)
	b.acc.victims(&row.Lost, messages)
	b.acc.outside.collective(&row.Lost, last, from, c)
	if !b.locate(&row, messages) && row.Lost.Lost() > 0 {
		b.locate(&row, b.messagesOf(c)) // others would end the collective if only this cause were left
	}
	return row
}

// message divides the time of one message, without the time that it waited for older messages of its queue pair, and
// locates its leading cause.
func (b *blamer) message(x int32) *result.CollectiveRow {
	msg := &b.r.seen.Messages[x]
	row := &result.CollectiveRow{Start: int64(b.share.turn(x)), End: int64(msg.Done), Port: -1}
	if b.acc == nil {
		return row
	}
	b.lostBy(&row.Lost, x)
	b.locate(row, []int32{x})
	return row
}

// lostBy divides the time of one message. A message that is the whole critical path has the step's account.
func (b *blamer) lostBy(to *cause.Account, x int32) {
	ends := b.r.exec.End[b.r.seen.Messages[x].Op]
	if b.step != nil && b.share.turn(x) == 0 && b.step.Own[cause.Compute] == 0 && b.r.seen.Messages[x].Done == ends {
		if last, _ := b.r.lastOf(b.r.all()); b.r.exec.End[last] == ends {
			*to = *b.step
			return
		}
	}
	b.acc.message(to, x)
}

// message divides the time of a message from the moment when its queue pair had sent all older messages. Replays of
// long collectives drift, so that one may post a message when it is about to be done: then what replays differ by
// says nothing of the message, which waited for others of its NIC as the run itself shows.
func (a *accounts) message(to *cause.Account, x int32) {
	msg, share := &a.m.b.r.seen.Messages[x], a.m.b.share
	took, older := msg.Done-share.turn(x), share.prev[x]
	began := func(p *replay) unit.Time {
		if older < 0 {
			return p.posted[x]
		}
		return max(p.posted[x], min(p.done[older]-a.m.latency(older, p.v), p.done[x]))
	}
	in := func(p *replay) unit.Time { return p.done[x] - began(p) }
	if p := a.base; in(p) < a.m.alone(p.net, p.over(msg.Conn), a.m.bytes(x, p.v))+a.m.latency(x, p.v) {
		p.crossed(x, p.done[x]-took, p.done[x], to)
		a.outside.message(to, x)
		return
	}
	a.divide(to, took, in, func(rest *cause.Account) {
		p := a.last()
		p.crossed(x, began(p), p.done[x], rest)
	})
	a.victims(to, []int32{x})
	a.outside.message(to, x)
}

// synchronises reports whether an operation is a wait by which a collective's protocol
// synchronises. Before single transfers it is a rank that starts later, or computes.
func synchronises(d *workload.DAG, o *workload.Op, next int32) bool {
	return o.Compute() && o.Class == workload.Other && next >= 0 && d.Colls[next].Kind != coll.SendRecv
}

// computes returns what the time of an operation before another of a collective is spent on.
func computes(d *workload.DAG, o *workload.Op, next int32) cause.ID {
	switch {
	case o.Copies():
		return cause.LineRate
	case synchronises(d, o, next):
		return cause.Latency
	}
	return cause.Compute
}
