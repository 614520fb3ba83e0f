package sim

import (
	"railyard/cc"
	"railyard/internal/result"
	"railyard/unit"
)

// maxRateRows bounds the table of rates.
const maxRateRows = 200_000

// rates records a queue pair's congestion control when it changed since the last
// sample.
type rates struct {
	rows   []result.RateRow
	last   []result.RateRow // by queue pair
	missed int64
	next   unit.Time // when to look again
}

// rateEvery is how often rates are looked at, at most: the timers that raise them take
// 55 us or longer. A NIC may cut every 4 us; the table's cuts count them all.
const rateEvery = 50 * unit.Microsecond

// take looks at all queue pairs.
func (x *rates) take(n *Network) {
	now := n.Net.Q.Now()
	if now < x.next {
		return
	}
	x.next = now + rateEvery
	for c := len(x.last); c < n.Hosts.Conns(); c++ {
		x.last = append(x.last, result.RateRow{QP: int32(c)})
	}
	for c := range x.last {
		ctl := n.Hosts.Controller(int32(c))
		cuts, _ := ctl.Counter(cc.CounterCuts)
		if cuts == 0 {
			continue
		}
		rate, _ := ctl.Signal(now, cc.SignalRate)
		target, _ := ctl.Signal(now, cc.SignalTarget)
		alpha, _ := ctl.Signal(now, cc.SignalAlpha)
		row := result.RateRow{At: int64(now), QP: int32(c), Rate: int64(rate), Target: int64(target), Alpha: alpha, Cuts: cuts}
		if l := &x.last[c]; l.Rate == row.Rate && l.Cuts == row.Cuts {
			continue
		}
		x.last[c] = row
		if len(x.rows) >= maxRateRows {
			x.missed++
			continue
		}
		x.rows = append(x.rows, row)
	}
}
