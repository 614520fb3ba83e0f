package sim

import (
	"railyard/internal/engine"
	"railyard/internal/result"
	"railyard/unit"
)

// sampler turns port counters into a time series. It starts with a short interval and doubles it, merging the rows,
// whenever the table would exceed its limit. A run of any length therefore fits. While nothing is in flight it
// samples less and less often, so an hour of computation has two dozen samples.
type sampler struct {
	net      *Network
	interval unit.Time
	wait     unit.Time // time until the next sample; more than interval while nothing is in flight
	turn     int32     // samples scheduled for an earlier turn are void
	began    unit.Time
	rows     []result.LinkRow
	lastTx   []int64
	lastPau  []unit.Time
	lastMark []int64
	lastDrop []int64
	signals  signals
	nics     nicMemory
	limit    int
}

func newSampler(n *Network, interval unit.Time, limit int) *sampler {
	ports := len(n.Net.Ports)
	return &sampler{net: n, interval: interval, wait: interval, lastTx: make([]int64, ports),
		lastPau: make([]unit.Time, ports), lastMark: make([]int64, ports),
		lastDrop: make([]int64, ports), limit: max(limit, 4*ports)}
}

// due takes a sample and schedules the next. quiet: nothing is in flight.
func (s *sampler) due(turn int32, quiet bool) {
	if turn != s.turn {
		return
	}
	s.take()
	s.fold()
	s.next(quiet, s.net.Net.Idle())
}

// next schedules the next sample; idle: no other event is pending.
func (s *sampler) next(quiet, idle bool) {
	switch {
	case !quiet:
		s.wait = s.interval
	case s.wait < unit.Never/4:
		s.wait *= 2
	}
	// The sampler alone must not keep a dead run alive.
	if !idle {
		s.net.Net.Q.Push(engine.OfRun, s.net.Net.Q.Now()+s.wait, kindSample, s.turn, 0)
	}
}

// wake ends a long wait: data are about to be sent.
func (s *sampler) wake() {
	if s.wait <= s.interval {
		return
	}
	s.take()
	s.turn, s.wait = s.turn+1, s.interval
	now := s.net.Net.Q.Now()
	s.net.Net.Q.Push(engine.OfRun, now-now%s.interval+s.interval, kindSample, s.turn, 0)
}

// take closes the interval that ends now. No row has more bytes than its time allows: a byte that is half sent
// counts in the next row.
func (s *sampler) take() {
	now := s.net.Net.Q.Now()
	if now == s.began {
		return
	}
	s.links(now)
	s.signals.take(s.net)
	s.nics.take(s.net, s.began, now)
	s.began = now
}

// links takes the rows of links.
func (s *sampler) links(now unit.Time) {
	for i := range 2 * len(s.net.Graph.Links) { // those inside edges follow
		p := &s.net.Net.Ports[i]
		paused, st := s.net.Net.PausedFor(int32(i)), &s.net.Net.Stats[i]
		marks, drops := st.Marks, st.Drops+st.Lost
		if p.TxBytes == s.lastTx[i] && paused == s.lastPau[i] && p.Queued == 0 && drops == s.lastDrop[i] {
			continue
		}
		most := int64(unit.InTime(s.net.Net.Highest(int32(i)), now-s.began))
		bytes := min(s.net.Net.Sent(int32(i))-s.lastTx[i], most)
		s.rows = append(s.rows, result.LinkRow{Start: int64(s.began), Length: int64(now - s.began),
			Port:  int32(i),
			Bytes: bytes, Queued: int64(p.Queued), Paused: int64(paused - s.lastPau[i]),
			Marks: marks - s.lastMark[i], Peak: int64(s.net.Net.TakePeak(int32(i))), Drops: drops - s.lastDrop[i]})
		s.lastTx[i] += bytes
		s.lastPau[i], s.lastMark[i], s.lastDrop[i] = paused, marks, drops
	}
}

// fold makes intervals longer while there are too many rows.
func (s *sampler) fold() {
	for len(s.rows) > s.limit && s.merge() {
	}
}

// merge doubles the interval and merges rows of one port in neighbouring intervals.
func (s *sampler) merge() bool {
	s.interval *= 2
	last := make([]int, len(s.lastTx)) // row+1 of a port in the current double interval
	out := s.rows[:0]
	slot := int64(-1)
	base := 0
	for _, r := range s.rows {
		if k := r.Start / int64(s.interval); k != slot {
			slot, base = k, len(out)
		}
		if j := last[r.Port] - 1; j >= base {
			o := &out[j]
			o.Length = r.Start + r.Length - o.Start
			o.Bytes += r.Bytes
			o.Queued = r.Queued
			o.Peak = max(o.Peak, r.Peak)
			o.Paused += r.Paused
			o.Marks += r.Marks
			o.Drops += r.Drops
			continue
		}
		out = append(out, r)
		last[r.Port] = len(out)
	}
	s.nics.merge(s.interval)
	shrunk := len(out) < len(s.rows)
	s.rows = out
	return shrunk
}
