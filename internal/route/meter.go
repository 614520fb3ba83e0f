package route

import (
	"railyard/param"
	"railyard/unit"
)

// interval is over which utilisation is measured.
var interval = param.Param{Name: "interval", Doc: "utilisation is measured over this",
	Kind: param.Duration, Min: "100ns", Max: "1s"}

// meters measure the load of a switch's ports.
type meters struct {
	interval unit.Time
	of       map[int32]*meter
}

type meter struct {
	at    unit.Time
	seen  int64   // TxBytes at that time
	bytes float64 // discounted
}

func newMeters(interval unit.Time) meters { return meters{interval, map[int32]*meter{}} }

// load returns a port's share of line rate. It is a discounting rate estimator over an interval (CONGA's DRE with a
// continuous decay). Bytes sent since the last sample are discounted like earlier ones, so the sampling interval
// has no influence. At a steady rate R the sum stays at R times the interval.
func (c *meters) load(now unit.Time, port int32, ports []Port) float64 {
	m := c.of[port]
	if m == nil {
		m = &meter{}
		c.of[port] = m
	}
	p := &ports[port]
	tau := float64(c.interval)
	m.bytes = (m.bytes + float64(p.TxBytes-m.seen)) * (tau / (tau + float64(now-m.at)))
	m.at, m.seen = now, p.TxBytes
	return m.bytes * 8 * float64(unit.Second) / (float64(p.Rate) * tau)
}
