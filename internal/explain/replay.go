package explain

import (
	"runtime"

	"railyard/internal/cause"
	"railyard/internal/exec"
	"railyard/internal/fluid"
	"railyard/internal/parallel"
	"railyard/unit"
)

// replay executes a run's operations once more over a model of its network, without some causes. With none left out it
// takes as long as the run.
type replay struct {
	m     *model
	v     without
	net   *fluid.Net
	parts [len(upTo)]*fluid.Net // the same messages, on parts of their way
	ahead *exec.Ahead
	x     *exec.Execution // of what ahead leaves
	now   unit.Time
	bells fluid.Bells[bell]

	nvlink, stored unit.Time // in the last walk, latency of NVLink and of whole packets at switches

	queue  [][]int32     // by connection: messages that wait for older ones
	busy   []bool        // by connection
	left   []int32       // by operation of x: messages under way
	more   []int32       // by connection: messages that have not ended
	next   int           // of the model's times
	uses   [][]fluid.Use // by connection: its path, from its first message to its last one (see over)
	sends  [len(upTo)][][]fluid.Use
	under  [1 + len(upTo)][]int32 // by connection: flow of the message under way + 1, on the whole way and on parts
	stages []int8                 // by message: that have not moved it
	other  []float64              // by message: the share of its time in which links that it shares limited it
	into   []float64              // and of these the receiver's
	sums   [3]float64             // see sum: other in the run, other in this replay, into in the run
	full   []unit.Time            // by message: how long its largest window limited it
	spared []unit.Time            // by message: how much less than in the run it takes beside the fluid

	began  []unit.Time // by message: it had nothing older before it
	done   []unit.Time // by message; unit.Never: not yet
	posted []unit.Time

	from, to []unit.Time // by collective; nil until asked for
	lastOf   []int32
	lasts    map[[2]int32]int32 // see lastIn
}

// What a replay rings for beside the execution.
const (
	ringExec  int32 = iota
	ringNext        // a connection goes on
	ringDone        // a message has arrived
	ringLinks       // links change
)

type bell struct {
	what, of int32
	exec     exec.Bell
}

// replay runs the model, once for each of what can be left out of it.
func (m *model) replay(v without) *replay {
	m.replayAll([]without{v})
	return m.replays[m.reduced(v)]
}

// reduced leaves away what makes no difference.
func (m *model) reduced(v without) without {
	v.own, v.reactions, v.deep = v.own&m.there, v.reactions&m.reacts, v.deep&m.derived
	v.alone = v.alone && m.crowds
	if v.own&m.behinds == 0 {
		v.deep = 0
	}
	return v
}

// replayAll runs the model without each of some, on all processors.
func (m *model) replayAll(all []without) {
	var jobs []parallel.Job
	for _, v := range all {
		v = m.reduced(v)
		if _, known := m.replays[v]; known {
			continue
		}
		p := &replay{ahead: m.aheadOf(v)}
		m.replays[v] = p
		jobs = append(jobs, parallel.Job{Do: func() {
			m.run(p, v)
			if v == (without{}) {
				m.others, m.into = p.other, p.into
			}
			p.parts, p.sends = [len(upTo)]*fluid.Net{}, [len(upTo)][][]fluid.Use{}
			p.queue, p.bells, p.busy, p.stages, p.left, p.uses = nil, fluid.Bells[bell]{}, nil, nil, nil, nil
			p.net.Close()
			p.other, p.into, p.full, p.spared, p.under = nil, nil, nil, nil, [1 + len(upTo)][]int32{}
		}})
	}
	parallel.Run(jobs, runtime.GOMAXPROCS(0), 0)
}

// machineOf returns the machine of a replay.
func (m *model) machineOf(v without) exec.Machine {
	machine := m.b.r.exec.Machine
	if v.has(cause.Latency) {
		machine.NVLink.Latency = 0
	}
	if v.has(cause.FailedCapacity) {
		machine.Changes = nil
	}
	if v.has(cause.StorageMedia) {
		machine.Inside = m.b.r.boundlessMedia()
	}
	return machine
}

// aheadOf returns what of the run waits for no network, with its times in a replay.
func (m *model) aheadOf(v without) *exec.Ahead {
	k := [4]bool{v.has(cause.Latency), v.has(cause.FailedCapacity), v.has(cause.SlowRank), v.has(cause.StorageMedia)}
	if m.aheads[k] == nil {
		work := m.b.r.exec.Work
		if v.has(cause.SlowRank) {
			even := *work
			even.DAG = work.DAG.With(m.slower)
			work = &even
		}
		m.aheads[k] = exec.NewAhead(m.machineOf(v), work)
	}
	return m.aheads[k]
}

func (m *model) run(p *replay, v without) {
	r := m.b.r
	*p = replay{m: m, v: v, ahead: p.ahead, net: m.newNet(v), stages: make([]int8, len(r.seen.Messages)),
		other: make([]float64, len(r.seen.Messages)), into: make([]float64, len(r.seen.Messages)),
		full: make([]unit.Time, len(r.seen.Messages)), spared: make([]unit.Time, len(r.seen.Messages)),
		queue: make([][]int32, len(r.seen.Conns)),
		busy:  make([]bool, len(r.seen.Conns)), left: make([]int32, len(p.ahead.Rest.DAG.Ops)),
		uses: make([][]fluid.Use, len(r.seen.Conns)), more: make([]int32, len(r.seen.Conns)),
		began: make([]unit.Time, len(r.seen.Messages)),
		done:  make([]unit.Time, len(r.seen.Messages)), posted: make([]unit.Time, len(r.seen.Messages))}
	for i := range p.done {
		p.done[i] = unit.Never
		p.more[r.seen.Messages[i].Conn]++
	}
	p.net.Limits = true
	for k := range p.under {
		p.under[k] = make([]int32, len(r.seen.Conns))
	}
	for k := range p.parts {
		p.parts[k], p.sends[k] = m.newNet(v.with(upTo[k])), make([][]fluid.Use, len(r.seen.Conns))
	}
	p.x = exec.New(p, m.machineOf(v), p.ahead.Rest)
	p.links()
	p.x.Begin()
	nets := append(p.parts[:len(upTo):len(upTo)], p.net)
	for {
		at, from := p.nextOf(nets)
		switch {
		case at == unit.Never:
			return
		case from == len(nets)-1:
			at, number, x := p.net.End()
			p.now, p.full[x] = at, m.filledBy(x, p.net.LimitsOf(number))
			p.other[x], p.into[x] = p.shared(number)
			p.sum(x, at)
			p.moved(0, x)
			continue
		case from >= 0:
			at, _, x := p.parts[from].End()
			p.now = at
			p.moved(1+from, x)
			continue
		}
		b := p.bells.Pop()
		p.now = b.At
		p.ring(&b.Of)
	}
}

// nextOf returns when the next bell rings or the next flow ends, and of which net; -1: a bell rings. Rates are set anew
// only once all have passed the time from which they count: which changes count together does not depend on the others.
func (p *replay) nextOf(nets []*fluid.Net) (at unit.Time, from int) {
	for settled := true; settled; {
		settled = false
		at, from = p.bells.First(), -1
		for k, n := range nets {
			if end := n.Ends(); end < at {
				at, from = end, k
			}
		}
		for _, n := range nets {
			settled = n.Settle(at) || settled
		}
	}
	return at, from
}

// links asks to be rung when links change next.
func (p *replay) links() {
	if p.next < len(p.m.times) {
		p.bells.Push(max(p.now, p.m.times[p.next]), bell{what: ringLinks})
	}
}

func (p *replay) ring(b *bell) {
	switch b.what {
	case ringExec:
		p.x.Ring(b.exec)
	case ringNext:
		p.busy[b.of] = false
		p.start(b.of)
	case ringDone:
		p.done[b.of] = p.now
		op := p.ahead.In(p.m.b.r.seen.Messages[b.of].Op)
		if p.left[op]--; p.left[op] == 0 {
			p.x.Delivered(op)
		}
	case ringLinks:
		p.m.changed(p.net, p.m.times[p.next], p.v)
		for k, part := range p.parts {
			p.m.changed(part, p.m.times[p.next], p.v.with(upTo[k]))
		}
		p.rerouted()
		p.next++
		p.links()
	}
}

// Now is the time of the replay.
func (p *replay) Now() unit.Time { return p.now }

// After rings the execution once a delay has passed.
func (p *replay) After(d unit.Time, b exec.Bell) {
	p.bells.Push(p.now+d, bell{what: ringExec, exec: b})
}

// Reaches reports whether one GPU sent to another without a relay.
func (p *replay) Reaches(from, to int) bool {
	direct, ok := p.m.direct[[2]int32{int32(from), int32(to)}]
	return direct || !ok
}

// Send posts the messages that an operation had. One that had none, or some that did not arrive, never ends.
func (p *replay) Send(op int32, _, _ int, _ unit.Bytes) {
	r, b := p.m.b.r, p.m.b
	for x := b.first[p.ahead.Of(op)]; x >= 0; x = b.next[x] {
		if p.left[op]++; r.seen.Messages[x].Done == 0 {
			continue
		}
		c := r.seen.Messages[x].Conn
		p.posted[x] = p.now
		p.queue[c] = append(p.queue[c], x)
		p.start(c)
	}
}

// start sends a connection's next message, if it is its turn.
func (p *replay) start(c int32) {
	if p.busy[c] || len(p.queue[c]) == 0 {
		return
	}
	x := p.queue[c][0]
	p.queue[c] = p.queue[c][1:]
	p.busy[c], p.began[x] = true, p.now
	if p.uses[c] == nil {
		p.uses[c] = p.m.over(c, p.now, p.v)
	}
	bytes, weight := p.m.bytes(x, p.v), 1.0
	// Otherwise who had more of a link that limits nobody now, or of one by pauses, has no more of others.
	if !p.v.elsewhere() && !(p.m.pauses && p.v.has(cause.Pause)) {
		bytes, weight = bytes*p.part(x), p.m.weights[x]
	}
	p.under[0][c] = 1 + p.net.Start(p.now, x, bytes, weight, p.m.send(x, p.uses[c], p.now == p.posted[x], p.v))
	p.stages[x] = 1
	for k, part := range p.parts {
		if !p.m.extra[x].paced[k] && !p.v.free {
			continue
		}
		if p.stages[x]++; p.sends[k][c] == nil {
			p.sends[k][c] = p.m.over(c, p.now, p.v.with(upTo[k]))
		}
		p.under[1+k][c] = 1 + part.Start(p.now, x, p.m.bytes(x, p.v), 1, p.sends[k][c])
	}
}

// part is the share of a message's bytes that it sends at its fair share of links. Where others' bytes took longer
// to arrive, a receiver's link was a message's own until then, which it is not without latency. What its queue pair
// sent of it while the message before waited for packets, it sends later where that one waits less; with go-back-N,
// nothing.
func (p *replay) part(x int32) float64 {
	part, conn, sooner := p.m.extra[x].part, p.m.b.r.seen.Messages[x].Conn, unit.Time(0)
	if part == 1 {
		return part
	}
	if p.v.has(cause.Latency) {
		sooner = p.m.apart[p.m.b.r.seen.Conns[conn].To]
	}
	if older := p.m.b.share.older(x); older >= 0 && !p.m.discards {
		sooner += p.spared[older]
	}
	if sooner == 0 {
		return part
	}
	return min(1, part+float64(sooner)/float64(max(1, p.m.alone(p.net, p.uses[conn], p.m.bytes(x, p.v)))))
}

// moved goes on with a message that the fluid has moved: no sooner than its links would alone, and behind what it
// took beside.
func (p *replay) moved(k int, x int32) {
	p.under[k][p.m.b.r.seen.Messages[x].Conn] = 0
	if p.stages[x]--; p.stages[x] > 0 {
		return
	}
	c := p.m.b.r.seen.Messages[x].Conn
	uses := p.m.send(x, p.uses[c], p.began[x] == p.posted[x], p.v)
	least := p.began[x] + min(p.m.alone(p.net, uses, p.m.bytes(x, p.v)), p.m.extra[x].took)
	fluid := max(p.now, least)
	capped := max(0, p.full[x]-p.m.filledBy(x, p.m.limits[x]))
	sends := p.m.bytes(x, p.v) / p.m.bytes(x, without{})
	e := &p.m.extra[x]
	// Shared links limit a message for a share of the fluid's time: reactions to their queues are as much shorter.
	shorter := e.shorter(fluid - p.began[x])
	still := func(id cause.ID) float64 { return shorter * p.still(x, id) }
	other := func(id cause.ID) float64 {
		switch {
		case id == cause.Collision && p.m.hot[c] && !p.v.has(cause.Oversubscription) &&
			(p.m.others == nil || p.m.others[x] > 0): // else the queue was that of an earlier message
			return 1
		case id == cause.SlowLink && p.m.spreads(c):
			return 0 // what is left are paths that are alike
		}
		return shorter * p.other[x]
	}
	trip := float64(p.m.latency(x, p.v)) / float64(max(1, p.m.latency(x, without{})))
	at := fluid + e.without(p.v, p.m.hot[c], fluid-p.began[x], capped, sends, trip, still, other)
	// Who shares links otherwise is held up no longer than it was.
	at = max(fluid, min(at, p.began[x]+e.took))
	p.spared[x] = max(0, e.took-(e.fluid-e.began)-(at-fluid))
	if p.more[c]--; p.more[c] == 0 {
		p.uses[c], p.queue[c] = nil, nil
		for k := range p.sends {
			p.sends[k][c] = nil
		}
	}
	p.bells.Push(at, bell{what: ringNext, of: c})
	p.bells.Push(at+p.m.latency(x, p.v), bell{what: ringDone, of: x})
}

// still returns how much of the time in which shared links limited a message in the run they limit it in a replay, at
// least that in which the receiver's link did of a reaction to it. Of a message that none limited it is that of all
// messages until then: its queues were theirs.
func (p *replay) still(x int32, trigger cause.ID) float64 {
	if p.m.others == nil {
		return 1
	}
	was, now, into := p.m.others[x], p.other[x], p.m.into[x]
	if was <= 0 {
		was, now, into = p.sums[0], p.sums[1], p.sums[2]
	}
	if was <= 0 {
		return 1
	}
	if trigger == cause.Incast {
		now = max(now, into)
	}
	return min(1, now/was)
}

// sum adds a message that the fluid has moved to the times for which shared links limited messages until then.
func (p *replay) sum(x int32, at unit.Time) {
	if p.m.others == nil {
		return
	}
	was, now := float64(p.m.extra[x].took), float64(at-p.began[x])
	p.sums[0] += float64(was * p.m.others[x])
	p.sums[1] += float64(now * p.other[x])
	p.sums[2] += float64(was * p.m.into[x])
}

// bytes returns what a message puts on the wire in a replay: with go-back-N also what the receiver discards. What is
// lost on a link that is down costs nothing beside, nor what a switch trims behind it: it crosses no link meanwhile.
func (m *model) bytes(x int32, v without) float64 {
	msg, met := &m.b.r.seen.Messages[x], m.b.r.trouble(x)
	bytes := m.b.r.wireBytes(msg.Bytes)
	if met.Again > met.Trimmed && m.discards && !m.b.down() && !m.leaves(x, m.b.resent(&met), v) {
		bytes += unit.Bytes(met.Again-met.Trimmed) * m.b.r.wireBytes(m.b.r.seen.Rules.MTU)
	}
	return float64(bytes)
}

// leaves reports whether a replay leaves out why packets of a message went again, or what is behind that.
func (m *model) leaves(x int32, id cause.ID, v without) bool {
	if v.has(id) || v.deep>>id&1 == 0 {
		return v.has(id)
	}
	again := m.extra[x].again
	return again != cause.LineRate && v.has(again)
}

// queueing are causes of queues.
const queueing = 1<<cause.Collision | 1<<cause.SprayImbalance | 1<<cause.Oversubscription | 1<<cause.FailedCapacity |
	1<<cause.SlowLink | 1<<cause.Incast

// isQueued reports whether a part is the time of a queue, or of a window or credit that was used up because of one.
func (p *excessPart) isQueued() bool {
	if p.id == cause.Window || p.id == cause.Credit {
		return !p.reaction && p.behind != cause.LineRate
	}
	return !p.reaction && queueing>>p.id&1 == 1
}

// perPair reports whether a part is a wait that each queue pair has for its own bytes, so that several wait at once.
func (p *excessPart) perPair() bool {
	return !p.reaction && p.id != cause.Pause && p.id != cause.Retransmission
}

// shorter returns how much of its fluid time in the run a message has in a replay, at most 1.
func (e *excess) shorter(fluid unit.Time) float64 {
	return min(1, float64(fluid)/float64(max(1, e.fluid-e.began)))
}

// without returns what is left of what a message took beside the time that the fluid takes now. Where another link is
// as full without the cause, for such a share of the message's time, congestion control reacts to that. For how much
// longer than in the run the largest window limits the fluid, it is not full beside. What paces hold up goes with the
// bytes that are sent, of which a run without resends has a share; pauses are due to what others send as well. Where
// links are others, a reaction to what is not left out is there for as long as shared links still limit the message;
// one to pauses stays, since without it a replay that leaves out pauses as well would be longer. Queues of what is not
// left out are as much shorter as the fluid's time, and so are waits of queue pairs that share a message. Round trips
// are trip times as long, and where links are others their waits go as reactions do.
func (e *excess) without(v without, hot bool, fluid, capped unit.Time, sends, trip float64,
	still, other func(id cause.ID) float64) (sum unit.Time) {
	for _, p := range e.of {
		switch {
		case p.id == cause.Pause && e.stays && v.alone && !v.has(cause.Recovering):
			sum += p.time
		case p.reaction && v.has(cause.Recovering):
		case !p.reaction && v.has(p.id):
			if v.stays {
				sum += unit.Time(p.last * float64(p.time))
			}
		case v.deep>>p.id&1 == 1 && p.behind != cause.LineRate && v.has(p.behind) &&
			!(p.id == cause.Trimmed && p.behind == cause.Collision && hot) &&
			!(p.id == cause.Retransmission && p.behind == cause.FailedCapacity && v.stays): // faster links fail too
		case p.reaction && v.reactionTo(p.id):
			still := other(p.id)
			if v.stays {
				still = max(still, p.last)
			}
			sum += unit.Time(float64(p.time) * still)
		default:
			time := p.time + min(p.beside, max(0, e.fluid-e.began-fluid))
			if p.reaction && p.id != cause.Pause && v.elsewhere() && !v.has(p.id) {
				time = unit.Time(float64(time) * still(p.id))
			}
			if v.elsewhere() && (p.isQueued() || v.has(cause.OnePort) && p.perPair()) {
				time = unit.Time(e.shorter(fluid) * float64(time))
			}
			if p.id == cause.Window && !p.reaction {
				time = max(0, time-capped)
			}
			if p.trips {
				waits := p.waits
				if v.elsewhere() {
					waits *= still(p.behind)
				}
				time = unit.Time(float64(time) * (waits + float64((1-p.waits)*trip)))
			}
			if p.id != cause.Pause && sends < 1 {
				time = unit.Time(sends * float64(time))
			}
			sum += time
		}
	}
	return sum
}
