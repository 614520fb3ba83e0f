package result

import "slices"

// Load is the latency and throughput of messages that arrive at random times, independent of earlier ones.
type Load struct {
	Drawn     float64 `json:"drawn"`     // share of senders' rate that came
	Delivered float64 `json:"delivered"` // likewise, in as long a time
	Messages  int     `json:"messages"`  // messages counted
	Mean      int64   `json:"mean_ps"`
	P99       int64   `json:"p99_ps"`
}

// NewLoad computes the statistics of messages without the first third, in which the network fills. Deliveries are
// counted over the period of arrivals, shifted by a message's time without load: 0 for deliveries here. The rate is the
// sum over all senders, in bits per second.
func NewLoad(flows []FlowRow, rate float64, least int64) (l Load) {
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
	l.Mean, l.P99 = int64(sum/float64(l.Messages)), times[(l.Messages*99+99)/100-1]
	if least == 0 {
		least = l.Mean
	}
	for i := range flows {
		if f := &flows[i]; f.Done >= from+least && f.Done <= end+least {
			bytes += float64(f.Bytes)
		}
	}
	share := 8 / (rate * float64(end-from) / 1e12)
	l.Drawn, l.Delivered = float64(came*share), float64(bytes*share)
	return l
}
