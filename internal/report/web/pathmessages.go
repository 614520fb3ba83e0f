package web

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// sending is the time of a message that its account divides, after its wait for earlier messages.
type sending struct {
	from, to int64
	lost     *cause.Account
}

// sendings are the messages that lost most, by the GPUs at their ends, the last one first. No other message lost more
// than least, which is unlimited without any.
func (r *Directory) sendings() (by map[[2]string][]sending, least int64, err error) {
	at, err := r.messageAccounts()
	if err != nil || len(at) == 0 {
		return nil, math.MaxInt64, err
	}
	rows, err := table[result.FlowRow](r, "flows")
	if err != nil {
		return nil, 0, err
	}
	by, least = map[[2]string][]sending{}, math.MaxInt64
	for i := range rows {
		if m := &rows[i]; at[m.Message] != nil && m.Done >= 0 {
			a, k := at[m.Message], [2]string{m.From, m.To}
			by[k] = append(by[k], sending{m.Done - a.Total(), m.Done, a})
			least = min(least, max(0, m.Done-m.Posted-m.Ideal))
		}
	}
	for _, list := range by {
		slices.SortStableFunc(list, func(a, b sending) int { return cmp.Compare(b.to, a.to) })
	}
	return by, least, nil
}

// divided is the critical path in a window, cut where one of its messages ends and another's time begins, with the
// causes of each piece as shares of its time: those of its own message if that is one of those that lost most, else
// those of the collectives of its class at the time. Computation has none.
func (r *Directory) divided(path []result.CriticalRow, from, to int64) (out []result.CriticalRow,
	of []*[cause.Max]float64, err error) {
	all, err := r.mixes(from, to)
	if err != nil {
		return nil, nil, err
	}
	by, least, err := r.sendings()
	if err != nil {
		return nil, nil, err
	}
	names := map[int32]string{}
	name := func(rank int32) string {
		if _, known := names[rank]; !known {
			names[rank] = r.gpu(rank)
		}
		return names[rank]
	}
	for i := range path {
		p := path[i]
		if p.Peer < 0 || len(by) == 0 {
			out, of = append(out, p), append(of, mixed(all, &p, from, to, math.MaxInt64))
			continue
		}
		for _, x := range cut(p, by[[2]string{name(p.Rank), name(p.Peer)}]) {
			out = append(out, x.CriticalRow)
			switch a, b := name(p.Rank), name(p.Peer); {
			case x.lost != nil:
				of = append(of, sharesOf(x.lost))
			case hostOf(a) == hostOf(b): // it loses nothing in the network
				of = append(of, mixed(all, &x.CriticalRow, from, to, 0))
			default:
				of = append(of, mixed(all, &x.CriticalRow, from, to, least))
			}
		}
	}
	return out, of, nil
}

// hostOf is the host of a GPU.
func hostOf(gpu string) string {
	host, _, _ := strings.Cut(gpu, "/")
	return host
}

// cutPiece is a part of a piece of the path, and the account of its message; nil: unknown.
type cutPiece struct {
	result.CriticalRow
	lost *cause.Account
}

// cut divides a piece by the messages that it waited for, in order. Parts below a thousandth of it belong to their
// neighbour.
func cut(p result.CriticalRow, list []sending) (out []cutPiece) {
	fine := (p.End - p.Start) / 1000
	end := p.End
	part := func(a, b int64, lost *cause.Account) {
		x := cutPiece{p, lost}
		x.Start, x.End = a, b
		out = append(out, x)
	}
	for _, s := range list {
		a, b := max(s.from, p.Start), min(s.to, end)
		if b-a <= fine {
			continue
		}
		if end-b > fine {
			part(b, end, nil)
		} else {
			b = end
		}
		if a-p.Start <= fine {
			a = p.Start
		}
		part(a, b, s.lost)
		if end = a; end == p.Start {
			break
		}
	}
	if end > p.Start {
		part(p.Start, end, nil)
	}
	slices.Reverse(out)
	for i := range out[1:] {
		out[i].Ops = 0 // the operation counts once
	}
	return out
}

func sharesOf(a *cause.Account) *[cause.Max]float64 {
	of, total := &[cause.Max]float64{}, float64(max(1, a.Total()))
	for _, c := range cause.All() {
		of[c.ID] = float64(a.Costs(c.ID)) / total
	}
	return of
}

// mixed returns the shares of a piece without an account: those of its class at the time, with no more time lost than
// least. It returns nil where no collective accounts for it.
func mixed(all map[string]mix, p *result.CriticalRow, from, to, least int64) *[cause.Max]float64 {
	of, ok := shares(all, p, from, to)
	if !ok {
		return nil
	}
	lost := 0.0
	for _, c := range cause.All() {
		if c.Loss && c.ID != cause.Latency {
			lost += of[c.ID]
		}
	}
	if most := float64(least) / float64(max(1, p.End-p.Start)); lost > most {
		for _, c := range cause.All() {
			if c.Loss && c.ID != cause.Latency {
				of[cause.LineRate] += of[c.ID] * (1 - most/lost)
				of[c.ID] *= most / lost
			}
		}
	}
	return &of
}
