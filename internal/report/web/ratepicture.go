package web

import (
	"cmp"
	"slices"

	"railyard/internal/result"
)

// slowestPair is the queue pair of the slowest message; -1 where none is known.
func (r *Directory) slowestPair() (int32, error) {
	x := r.Summary.Slowest
	flows, err := table[result.FlowRow](r, "flows")
	if err != nil || x == nil {
		return -1, err
	}
	i := slices.IndexFunc(flows, func(f result.FlowRow) bool {
		return f.From == x.From && f.To == x.To && f.Done-f.Posted == x.Time
	})
	if i < 0 {
		return -1, nil
	}
	return flows[i].QP, nil
}

// ratePicture is the sending rate of the slowest message's queue pair, if congestion control reduced its rate, else of
// the one that it reduced most often.
func (r *Directory) ratePicture() (*RatePicture, error) {
	qps, err := table[result.QPRow](r, "qps")
	if err != nil || len(qps) == 0 {
		return nil, err
	}
	top := slices.MaxFunc(qps, func(a, b result.QPRow) int {
		return cmp.Or(cmp.Compare(a.Cuts, b.Cuts), cmp.Compare(b.QP, a.QP))
	})
	if top.Cuts == 0 {
		return nil, nil
	}
	if own, err := r.slowestPair(); err != nil {
		return nil, err
	} else if i := slices.IndexFunc(qps, func(q result.QPRow) bool { return q.QP == own && q.Cuts > 0 }); i >= 0 {
		top = qps[i]
	}
	p := &RatePicture{QP: top.QP, From: top.From, To: top.To, Line: top.Line, Cuts: top.Cuts}
	s, err := r.sent(top.QP, 600)
	p.At, p.Values = s.At, s.Values
	return p, err
}
