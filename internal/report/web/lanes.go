package web

import (
	"cmp"
	"math"
	"net/url"
	"slices"

	"railyard/internal/result"
)

// Lanes is the fabric's activity in a window of time, by column: below the tracks of GPUs, on their axis.
type Lanes struct {
	From  int64   `json:"from_ps"`
	To    int64   `json:"to_ps"`
	Width float64 `json:"width_ps"` // of a column
	// A run by flows has none of the columns below.
	// Queue is the longest queue of all ports, in bytes. Port had the longest of the window; -1: none had one.
	Queue   []int64 `json:"queue_bytes"`
	Port    int32   `json:"port"`
	Name    string  `json:"name"`
	WREDMin int64   `json:"wred_min_bytes"` // of Port; 0: none
	// LongestAt is the middle of the sample with the longest queue. The others are those of the first samples with a
	// mark, a pause or a drop; -1: none.
	LongestAt  int64 `json:"longest_at_ps"`
	FirstMark  int64 `json:"first_mark_ps"`
	FirstPause int64 `json:"first_pause_ps"`
	FirstDrop  int64 `json:"first_drop_ps"`
	// Above is the share of ports with a queue above their WRED min; empty without thresholds.
	Above  []float64 `json:"above"`
	Paused []float64 `json:"paused"` // number of paused ports, mean of the column
	Marks  []float64 `json:"ecn_marks"`
	Drops  []float64 `json:"drops"`
	// Dropped has the ports that dropped most in the window, the worst first.
	Dropped []Dropped `json:"dropped"`
	QPs     []Through `json:"qps"` // queue pairs whose packets waited longest at Port
}

// Dropped is a port that dropped packets in a window.
type Dropped struct {
	Port  int32  `json:"port"`
	Name  string `json:"name"`
	Drops int64  `json:"drops"`
	First int64  `json:"first_ps"` // middle of its first sample with a drop
}

// maxLaneQPs is the maximum number of listed queue pairs.
const (
	maxLaneQPs = 12
	maxDropped = 5 // ports named in a window
)

// lanes sums samples up by column.
func (r *Directory) lanes(q url.Values) (any, error) {
	from, to, err := r.window(q)
	if err != nil {
		return nil, err
	}
	cols := r.columns(columns) // those of the fabric, whose drawing is beside
	if r.Summary.Fidelity == "flow" {
		return Lanes{From: from, To: to, Width: float64(to-from) / float64(cols), Queue: []int64{}, Port: -1,
			LongestAt: -1, FirstMark: -1, FirstPause: -1, FirstDrop: -1, Above: []float64{}, Paused: []float64{},
			Marks: []float64{}, Drops: []float64{}, Dropped: []Dropped{}, QPs: []Through{}}, nil
	}
	links, err := table[result.LinkRow](r, "links")
	if err != nil {
		return nil, err
	}
	v := Lanes{From: from, To: to, Width: float64(to-from) / float64(cols), Queue: make([]int64, cols), Port: -1,
		LongestAt: -1, FirstMark: -1, FirstPause: -1, FirstDrop: -1,
		Above: []float64{}, Paused: make([]float64, cols),
		Marks: make([]float64, cols), Drops: make([]float64, cols),
		Dropped: r.dropped(links, from, to), QPs: []Through{}}
	thresholds := r.thresholds()
	limited := 0 // ports with thresholds
	for _, t := range thresholds {
		if t[0] > 0 {
			limited++
		}
	}
	over := make([]bool, len(r.ports)*cols)
	longest := int64(0)
	for i := range links {
		l := &links[i]
		if l.Port < 0 || int(l.Port) >= len(r.ports) || l.Length <= 0 || l.Start >= to || l.Start+l.Length <= from {
			continue
		}
		held := l.Longest()
		middle := within(l, from, to)
		if held > longest {
			longest, v.Port, v.LongestAt = held, l.Port, middle
		}
		for _, e := range []struct {
			at *int64
			n  int64
		}{{&v.FirstMark, l.Marks}, {&v.FirstPause, l.Paused}, {&v.FirstDrop, l.Drops}} {
			if e.n > 0 && (*e.at < 0 || middle < *e.at) {
				*e.at = middle
			}
		}
		a, b := float64(l.Start-from)/v.Width, float64(l.Start+l.Length-from)/v.Width
		for c := max(0, int(a)); c < cols && float64(c) < b; c++ {
			part := math.Min(b, float64(c+1)) - math.Max(a, float64(c)) // of a column
			v.Queue[c] = max(v.Queue[c], held)
			v.Marks[c] += float64(l.Marks) * part / (b - a)
			v.Drops[c] += float64(l.Drops) * part / (b - a)
			v.Paused[c] += float64(l.Paused) / float64(l.Length) * part
			over[int(l.Port)*cols+c] = over[int(l.Port)*cols+c] ||
				thresholds[l.Port][0] > 0 && held > thresholds[l.Port][0]
		}
	}
	if limited > 0 {
		v.Above = make([]float64, cols)
		for i, is := range over {
			if is {
				v.Above[i%cols] += 1 / float64(limited)
			}
		}
	}
	if v.Port < 0 {
		return v, nil
	}
	v.Name, v.WREDMin = r.ports[v.Port].Name, thresholds[v.Port][0]
	v.QPs, err = r.through(v.Port)
	return v, err
}

// within is the middle of a sample, in a window.
func within(l *result.LinkRow, from, to int64) int64 { return min(max(from, l.Start+l.Length/2), to) }

// dropped returns the ports that dropped most in a window, the worst first.
func (r *Directory) dropped(links []result.LinkRow, from, to int64) []Dropped {
	out := []Dropped{}
	at := map[int32]int{}
	for i := range links {
		l := &links[i]
		middle := within(l, from, to)
		if l.Drops <= 0 || l.Port < 0 || int(l.Port) >= len(r.ports) || l.Start >= to || l.Start+l.Length <= from {
			continue
		}
		k, ok := at[l.Port]
		if !ok {
			k = len(out)
			at[l.Port], out = k, append(out, Dropped{l.Port, r.ports[l.Port].Name, 0, middle})
		}
		out[k].Drops, out[k].First = out[k].Drops+l.Drops, min(out[k].First, middle)
	}
	slices.SortFunc(out, func(a, b Dropped) int {
		return cmp.Or(cmp.Compare(b.Drops, a.Drops), cmp.Compare(a.Port, b.Port))
	})
	return out[:min(maxDropped, len(out))]
}

// through returns the queue pairs whose packets waited longest at a port.
func (r *Directory) through(port int32) ([]Through, error) {
	paths, err := table[result.PathRow](r, "paths")
	if err != nil {
		return nil, err
	}
	qps, err := table[result.QPRow](r, "qps")
	if err != nil {
		return nil, err
	}
	out := []Through{}
	for _, p := range paths {
		if p.Port == port && p.QP >= 0 && int(p.QP) < len(qps) {
			out = append(out, Through{p.QP, qps[p.QP].From, qps[p.QP].To, p.Wait, p.Packets})
		}
	}
	slices.SortStableFunc(out, func(a, b Through) int { return cmp.Compare(b.Wait, a.Wait) })
	return out[:min(maxLaneQPs, len(out))], nil
}

// total returns the bytes that servers send into the network, and the marks and pauses of switches.
func (r *Directory) total(q url.Values) (any, error) {
	n, err := number(q, "cols", columns, 1, 2000)
	if err != nil {
		return nil, err
	}
	links, err := table[result.LinkRow](r, "links")
	if err != nil {
		return nil, err
	}
	width := float64(r.span()) / float64(n)
	// bit/s sent by servers, marks, share paused summed over ports, longest queue, drops
	cols := make([][5]float64, n)
	for i := range links {
		l := &links[i]
		if l.Port < 0 || int(l.Port) >= len(r.ports) || l.Length <= 0 || l.Start < 0 {
			continue
		}
		a, b := float64(l.Start)/width, float64(l.Start+l.Length)/width
		for c := int(a); c < int(n) && float64(c) < b; c++ {
			part := (math.Min(b, float64(c+1)) - math.Max(a, float64(c))) * width
			if r.ports[l.Port].Role == "host" {
				cols[c][0] += float64(l.Bytes) * 8e12 / float64(l.Length) * part / width
			}
			cols[c][1] += float64(l.Marks) * part / float64(l.Length)
			cols[c][2] += float64(l.Paused) / float64(l.Length) * part / width
			cols[c][4] += float64(l.Drops) * part / float64(l.Length)
			cols[c][3] = math.Max(cols[c][3], float64(l.Longest()))
		}
	}
	return Total{width, cols}, nil
}
