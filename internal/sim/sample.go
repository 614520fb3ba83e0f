package sim

import (
	"railyard/internal/result"
	"railyard/unit"
)

// sampler turns port counters into a time series. It starts fine and doubles
// its interval, merging what it has, whenever the table would grow beyond its
// limit, so a run of any length fits.
type sampler struct {
	net      *Network
	interval unit.Time
	began    unit.Time
	rows     []result.LinkRow
	lastTx   []int64
	lastPau  []unit.Time
	lastMark []int64
	rates    rates
	limit    int
}

func newSampler(n *Network, interval unit.Time, limit int) *sampler {
	ports := len(n.Net.Ports)
	return &sampler{net: n, interval: interval, lastTx: make([]int64, ports), lastPau: make([]unit.Time, ports), lastMark: make([]int64, ports), limit: max(limit, 4*ports)}
}

// take closes the interval that ends now.
func (s *sampler) take() {
	now := s.net.Net.Q.Now()
	if now == s.began {
		return
	}
	for i := range s.net.Net.Ports {
		p := &s.net.Net.Ports[i]
		tx, paused, marks := p.TxBytes, s.net.Net.PausedFor(int32(i)), s.net.Net.Stats[i].Marks
		if tx == s.lastTx[i] && paused == s.lastPau[i] && p.Queued == 0 {
			continue
		}
		s.rows = append(s.rows, result.LinkRow{Start: int64(s.began), Length: int64(now - s.began), Port: int32(i),
			Bytes: tx - s.lastTx[i], Queued: int64(p.Queued), Paused: int64(paused - s.lastPau[i]), Marks: marks - s.lastMark[i]})
		s.lastTx[i], s.lastPau[i], s.lastMark[i] = tx, paused, marks
	}
	s.rates.take(s.net)
	s.began = now
	for len(s.rows) > s.limit && s.merge() {
	}
}

// merge doubles the interval and folds rows of one port in neighbouring
// intervals together.
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
			o.Paused += r.Paused
			o.Marks += r.Marks
			continue
		}
		out = append(out, r)
		last[r.Port] = len(out)
	}
	shrunk := len(out) < len(s.rows)
	s.rows = out
	return shrunk
}
