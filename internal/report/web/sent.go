package web

import (
	"cmp"
	"slices"

	"railyard/internal/result"
)

// sentSpan is a span of time and the bytes sent in it.
type sentSpan struct {
	from, to int64
	bytes    float64
}

// sent returns the sending rate of a queue pair in bit/s: the bytes that its NIC's ports carried, headers and
// retransmissions included, while one of its messages was outstanding. A value holds until the next; the last is 0,
// after its last byte. It is empty if nothing was recorded, and has at most twice as many values as points.
func (r *Directory) sent(qp int32, points int) (Series, error) {
	s := Series{Signal: "sent", At: []int64{}, Values: []float64{}}
	spans, err := r.sentSpans(qp)
	spans = slices.DeleteFunc(spans, func(x sentSpan) bool { return x.bytes == 0 })
	for len(spans) > points {
		half := spans[:0]
		for i := 0; i < len(spans); i += 2 {
			x, o := spans[i], spans[min(i+1, len(spans)-1)]
			if o != x {
				x.to, x.bytes = o.to, x.bytes+o.bytes
			}
			half = append(half, x)
		}
		spans = half
	}
	for i, x := range spans {
		s.At, s.Values = append(s.At, x.from), append(s.Values, x.bytes*8e12/float64(x.to-x.from))
		if i+1 == len(spans) || spans[i+1].from > x.to {
			s.At, s.Values = append(s.At, x.to), append(s.Values, 0)
		}
	}
	return s, err
}

// sentSpans divides the samples of a queue pair's NIC among its queue pairs and returns the queue pair's part of each.
func (r *Directory) sentSpans(qp int32) ([]sentSpan, error) {
	if !slices.Contains(r.Manifest.Tables, "links") {
		return nil, nil
	}
	qps, err := table[result.QPRow](r, "qps")
	if err != nil || qp < 0 || int(qp) >= len(qps) {
		return nil, err
	}
	flows, err := table[result.FlowRow](r, "flows")
	if err != nil {
		return nil, err
	}
	samples, err := r.samplesOf(qps[qp].From)
	if err != nil || len(samples) == 0 {
		return nil, err
	}
	var list []int32 // queue pairs of the NIC
	var shares [][]sentSpan
	for i := range flows {
		f := &flows[i]
		if f.QP < 0 || int(f.QP) >= len(qps) || qps[f.QP].From != qps[qp].From || f.Bytes <= 0 {
			continue
		}
		q := slices.Index(list, f.QP)
		if q < 0 {
			q, list, shares = len(list), append(list, f.QP), append(shares, make([]sentSpan, len(samples)))
		}
		outstanding(shares[q], samples, f)
	}
	divide(shares, samples)
	if q := slices.Index(list, qp); q >= 0 {
		return shares[q], nil
	}
	return nil, nil
}

// outstanding adds a message's bytes to samples, evenly from its start to its end.
func outstanding(own, samples []sentSpan, f *result.FlowRow) {
	done := f.Done
	if done < 0 {
		done = max(samples[len(samples)-1].to, f.Posted)
	}
	end := func(s sentSpan, at int64) int { return cmp.Compare(s.to, at) }
	i, _ := slices.BinarySearchFunc(samples, f.Posted+1, end)
	for ; i < len(samples) && samples[i].from < done; i++ {
		a, b := max(f.Posted, samples[i].from), min(done, samples[i].to)
		x := &own[i]
		if x.bytes == 0 {
			x.from, x.to = a, b
		}
		x.from, x.to = min(x.from, a), max(x.to, b)
		x.bytes += float64(f.Bytes) * float64(b-a) / float64(done-f.Posted)
	}
}

// divide scales queue pairs' shares of samples, in turn until a sample's shares add up to the bytes that were carried,
// and until each queue pair has a part of all in proportion to its messages.
func divide(shares [][]sentSpan, samples []sentSpan) {
	total := func(list []sentSpan) (sum float64) {
		for _, x := range list {
			sum += x.bytes
		}
		return sum
	}
	goals, all := make([]float64, len(shares)), 0.0
	for q, own := range shares {
		goals[q] = total(own)
		all += goals[q]
	}
	for range 20 {
		carried := 0.0
		for i, s := range samples {
			sum := 0.0
			for _, own := range shares {
				sum += own[i].bytes
			}
			if sum == 0 {
				continue // none of its messages was outstanding: acknowledgements
			}
			carried += s.bytes
			for _, own := range shares {
				own[i].bytes *= s.bytes / sum
			}
		}
		if len(shares) < 2 {
			return
		}
		for q, own := range shares {
			scale := goals[q] / all * carried / max(1, total(own))
			for i := range own {
				own[i].bytes *= scale
			}
		}
	}
}

// samplesOf returns the samples in which a NIC's ports sent, in order.
func (r *Directory) samplesOf(nic string) (samples []sentSpan, err error) {
	ports := map[int32]bool{}
	for _, n := range r.Topology.NICs {
		if n.Name != nic {
			continue
		}
		for _, l := range n.Links {
			if x := r.Topology.Links[l]; x.A == n.Host {
				ports[x.FromA] = true
			} else {
				ports[x.FromB] = true
			}
		}
	}
	links, err := table[result.LinkRow](r, "links")
	for i := range links {
		if l := &links[i]; ports[l.Port] && l.Length > 0 && l.Bytes > 0 {
			samples = append(samples, sentSpan{l.Start, l.Start + l.Length, float64(l.Bytes)})
		}
	}
	slices.SortStableFunc(samples, func(a, b sentSpan) int { return cmp.Compare(a.from, b.from) })
	merged := samples[:0] // of several ports
	for _, s := range samples {
		if n := len(merged) - 1; n >= 0 && merged[n].from == s.from {
			merged[n].to, merged[n].bytes = max(merged[n].to, s.to), merged[n].bytes+s.bytes
		} else {
			merged = append(merged, s)
		}
	}
	return merged, err
}
