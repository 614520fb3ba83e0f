package web

import (
	"cmp"
	"slices"

	"railyard/internal/cause"
	"railyard/internal/report"
	"railyard/internal/result"
)

// Curve is a port over time.
type Curve struct {
	Name   string
	Mean   float64 // share of line rate
	Points []Point
}

// Most returns the highest value.
func (c *Curve) Most(queue bool) (most float64) {
	for _, p := range c.Points {
		most = max(most, p.Value(queue))
	}
	return most
}

// Busy returns from when to when a port sent, and its share of line rate meanwhile, if that is at most half of the
// run; −1 if it is more.
func (c *Curve) Busy(run int64) (from, to, share float64) {
	from = float64(run)
	for _, p := range c.Points {
		if p.Use > 0 {
			from, to = min(from, p.At), max(to, p.At+p.Length)
		}
	}
	if to-from > float64(run)/2 || to <= from {
		return 0, 0, -1
	}
	return from, to, c.Mean * float64(run) / (to - from)
}

// Point is one sample: times in picoseconds, use as a share of line rate, bytes.
type Point struct{ At, Length, Use, Queue float64 }

// Value returns the queue in bytes, or the share of line rate.
func (p Point) Value(queue bool) float64 {
	if queue {
		return p.Queue
	}
	return p.Use
}

// Hottest returns the curves of the ports that sent most for their rate, or of the switch ports with the longest
// queues.
func (r *Directory) Hottest(n int, queue bool) ([]Curve, error) {
	links, err := table[result.LinkRow](r, "links")
	if err != nil {
		return nil, err
	}
	order := make([]int, len(r.ports))
	for i := range order {
		order[i] = i
	}
	use := func(i int) float64 { return float64(r.ports[i].WireBytes) / float64(max(r.ports[i].Rate, 1)) }
	by := use
	if queue {
		by = func(i int) float64 {
			if r.ports[i].Role == "host" {
				return 0
			}
			return float64(r.ports[i].QueuePeak)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(by(b), by(a)) })
	at := map[int32]int{}
	var out []Curve
	for _, i := range order[:min(n, len(order))] {
		at[int32(i)] = len(out)
		out = append(out, Curve{Name: r.ports[i].Name, Mean: use(i) * 8e12 / float64(r.span())})
	}
	for _, l := range links {
		if k, ok := at[l.Port]; ok && l.Length > 0 {
			out[k].Points = append(out[k].Points,
				Point{float64(l.Start), float64(l.Length),
					float64(l.Bytes) * 8e12 / float64(l.Length) / float64(r.ports[l.Port].Rate),
					float64(l.Longest())})
		}
	}
	return out, nil
}

// Flows returns the messages of the run.
func (r *Directory) Flows() ([]result.FlowRow, error) { return table[result.FlowRow](r, "flows") }

// Curves returns the tables of the run that plots of comparisons read: messages, ports over time, and queue pairs with
// their congestion control.
func (r *Directory) Curves() (*result.Tables, error) {
	t, err := &result.Tables{Ports: r.ports}, error(nil)
	if t.Flows, err = r.Flows(); err != nil {
		return nil, err
	}
	if t.Links, err = table[result.LinkRow](r, "links"); err != nil {
		return nil, err
	}
	if t.QPs, err = table[result.QPRow](r, "qps"); err != nil {
		return nil, err
	}
	t.Signals, err = table[result.SignalRow](r, "signals")
	return t, err
}

// Queued returns how many switch ports had a queue longer than a limit, and how many there are.
func (r *Directory) Queued(limit int64) (n, of int) {
	for i := range r.ports {
		if r.ports[i].Role == "host" {
			continue
		}
		of++
		if r.ports[i].QueuePeak > limit {
			n++
		}
	}
	return n, of
}

// Part is a collective, all instances together, and the shares of its time.
type Part struct {
	Name   string
	Count  int
	Time   float64   // of all instances, in picoseconds
	Shares []float64 // by cause, as Account.Costs
	Top    cause.ID  // that it lost most to; of a run's only part the run's main cause
}

// Parts sums the collectives up by name.
func (r *Directory) Parts() ([]Part, error) {
	rows, err := r.accounts()
	if err != nil {
		return nil, err
	}
	var out []Part
	at := map[string]int{}
	for _, x := range rows {
		k, ok := at[x.Name]
		if !ok {
			k = len(out)
			at[x.Name] = k
			out = append(out, Part{Name: x.Name, Shares: make([]float64, len(cause.All()))})
		}
		for i := range out[k].Shares {
			out[k].Shares[i] += float64(x.Lost.Costs(cause.ID(i)))
		}
		out[k].Count++
		out[k].Time += float64(x.End - x.Start)
	}
	for k := range out {
		for i := range out[k].Shares {
			out[k].Shares[i] /= max(out[k].Time, 1)
		}
		out[k].Top = cause.Latency
		for _, c := range cause.All() {
			if c.Loss && out[k].Shares[c.ID] > out[k].Shares[out[k].Top] {
				out[k].Top = c.ID
			}
		}
	}
	if id, is := report.MainID(&r.Summary); is && len(out) == 1 {
		out[0].Top = id
	}
	return out, nil
}
