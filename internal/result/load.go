package result

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Load is the latency and throughput of messages that arrive at random times, independent of earlier ones.
type Load struct {
	Drawn     float64 `json:"drawn"`     // arrived share of the senders' rate
	Delivered float64 `json:"delivered"` // likewise, in an equally long period
	// standard deviation of drawn - delivered, due to messages in only one of them
	Noise    float64 `json:"noise"`
	Messages int     `json:"messages"` // messages counted
	Mean     int64   `json:"mean_ps"`
	P99      int64   `json:"p99_ps"`
}

// Alone is the time of a message without load, linear in its bytes, in picoseconds.
type Alone struct{ Base, PerByte float64 }

// NewAlone returns the least squares of messages at a low load; their mean time if all have equal sizes.
func NewAlone(flows []FlowRow) (a Alone) {
	var sizes, times []float64
	for i := range flows {
		if f := &flows[i]; f.Done >= 0 {
			sizes, times = append(sizes, float64(f.Bytes)), append(times, float64(f.Done-f.Posted))
		}
	}
	if len(sizes) == 0 {
		return a
	}
	if slices.Min(sizes) == slices.Max(sizes) {
		return Alone{Base: stat.Mean(times, nil)}
	}
	a.Base, a.PerByte = stat.LinearRegression(sizes, times, nil, false)
	return a
}

// NewLoad computes the statistics of messages without the first third, in which the network fills. Deliveries are
// counted over the period of arrivals, each shifted by the message's time without load. The rate is the sum over all
// senders, in bits per second.
func NewLoad(flows []FlowRow, rate float64, alone Alone) (l Load) {
	end := int64(0)
	for i := range flows {
		end = max(end, flows[i].Posted)
	}
	from := end / 3
	var times []int64
	came, sum, bytes := 0.0, 0.0, 0.0
	for i := range flows {
		if f := &flows[i]; f.Posted >= from && f.Done >= 0 {
			times = append(times, f.Done-f.Posted)
			sum += float64(f.Done - f.Posted)
			came += float64(f.Bytes)
		}
	}
	if l.Messages = len(times); l.Messages == 0 || end == from {
		return l
	}
	slices.Sort(times)
	l.Mean, l.P99 = int64(sum/float64(l.Messages)), times[NearestRank(l.Messages, 99)]
	squares := 0.0
	for i := range flows {
		f := &flows[i]
		due := float64(f.Done) - alone.Base - alone.PerByte*float64(f.Bytes) // post time, without load
		counts, done := f.Posted >= from && f.Done >= 0, f.Done >= 0 && due >= float64(from) && due <= float64(end)
		if done {
			bytes += float64(f.Bytes)
		}
		if counts != done {
			squares += float64(f.Bytes) * float64(f.Bytes)
		}
	}
	share := 8 / (rate * float64(end-from) / 1e12)
	l.Drawn, l.Delivered, l.Noise = float64(came*share), float64(bytes*share), math.Sqrt(squares)*share
	return l
}

// Backlogged reports whether less than 95 % of the drawn bytes are delivered and messages in flight at the ends of
// the period do not explain that. The test is that zero is outside the difference's 95 % confidence interval.
func (l Load) Backlogged() bool {
	return l.Delivered < 0.95*l.Drawn && l.Drawn-l.Delivered > 1.96*l.Noise
}
