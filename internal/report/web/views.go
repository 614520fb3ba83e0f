package web

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math"
	"net/url"
	"slices"
	"sort"
	"strconv"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// InputError is a request for something that does not exist.
type InputError struct{ Msg string }

func (e *InputError) Error() string { return e.Msg }

// View answers one question about a run as JSON. Views are bounded: they send slices and sums, never whole tables.
//
//	info                        summary, manifest, topology, ports
//	answer                      where the step's time went, what would shorten it, where to look
//	grid?metric=util&cols=240   two bytes per port in use and moment: util, queue, marks, pause
//	tiers?from=&to=             quantiles of the ports of each tier over time, and who held most
//	port?id=7                   one port over time, and who went through it
//	qp?id=3                     one queue pair: its path and its rate over time
//	flows                       the messages that lost most against their ideal
//	ranks?from=&to=&first=&n=   what ranks did, and when something was paused
//	pauses                      which ports are paused in which columns of a grid
//	roots?from=&to=             what ports were paused for: roots, and whose bytes they held
//	collectives                 where the time of collectives went
//	critical?from=&to=          the chain of operations that the end waited for
//	lanes?from=&to=             queues, marks and pauses in a window
//	total?cols=240              all servers' sending, marks and pauses over time
//	packets?from=&skip=         the capture, decoded
//	followed                    packets that were followed, hop by hop
//	sequence?name=packet        a part of the run as a sequence diagram
func (r *Directory) View(name string, q url.Values) ([]byte, error) {
	var v any
	var err error
	switch name {
	case "info":
		v = r.info(q)
	case "answer":
		v, err = r.answer()
	case "grid":
		v, err = r.grid(q)
	case "lanes":
		v, err = r.lanes(q)
	case "tiers":
		v, err = r.tiers(q)
	case "port":
		v, err = r.port(q)
	case "qp":
		v, err = r.qp(q)
	case "flows":
		v, err = r.flows()
	case "ranks":
		v, err = r.rankSpans(q)
	case "pauses":
		v, err = r.pauseColumns()
	case "roots":
		v, err = r.roots(q)
	case "collectives":
		v, err = r.collectives()
	case "critical":
		v, err = r.critical(q)
	case "total":
		v, err = r.total(q)
	case "messages":
		v, err = r.messages(q)
	case "packets":
		v, err = r.packets(q)
	case "followed":
		v, err = r.followed()
	case "sequence":
		v, err = r.sequence(q)
	default:
		return nil, &InputError{fmt.Sprintf("unknown view %q", name)}
	}
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = result.WriteJSON(&b, v)
	return b.Bytes(), err
}

// number parses an integer from a query, within bounds.
func number(q url.Values, key string, without, low, high int64) (int64, error) {
	s := q.Get(key)
	if s == "" {
		return without, nil
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || v < low || v > high {
		return 0, &InputError{fmt.Sprintf("%s=%q: expected a whole number from %d to %d", key, s, low, high)}
	}
	return v, nil
}

// span is the time of a run.
func (r *Directory) span() int64 { return max(r.Summary.Recorded(), 1) }

// window reads from and to.
func (r *Directory) window(q url.Values) (from, to int64, err error) {
	if from, err = number(q, "from", 0, 0, r.span()); err != nil {
		return 0, 0, err
	}
	if to, err = number(q, "to", r.span(), 0, math.MaxInt64); err != nil {
		return 0, 0, err
	}
	if to = min(to, r.span()); to <= from {
		return 0, 0, &InputError{"to must be after from"}
	}
	return from, to, nil
}

// metrics are the link metrics for colouring, with their units.
var metrics = map[string]string{"util": "share of line rate", "queue": "bytes",
	"marks": "marked packets per column", "pause": "share of time"}

// columns of time in a grid, fewer above maxCells ports times columns.
const (
	columns  = 240
	maxCells = 1_000_000 // 2.7 MB as text; pauses are drawn over the load, in two grids
)

// columns returns the number of time columns of a grid of this run if n are requested. Every response with columns
// contains the number.
func (r *Directory) columns(n int64) int { return max(1, min(int(n), maxCells/max(1, len(r.ports)))) }

// grid sums samples into columns: mean utilisation, longest queue, marks, share of
// time paused.
func (r *Directory) grid(q url.Values) (any, error) {
	metric := q.Get("metric")
	if metric == "" {
		metric = "util"
	}
	if metrics[metric] == "" {
		return nil, &InputError{fmt.Sprintf("metric %q is not known; accepted: util, queue, marks, pause", metric)}
	}
	from, to, err := r.window(q)
	if err != nil {
		return nil, err
	}
	n, err := number(q, "cols", columns, 1, 2000)
	if err != nil {
		return nil, err
	}
	cols := r.columns(n)
	links, err := table[result.LinkRow](r, "links")
	if err != nil {
		return nil, err
	}
	sums := make([]float64, len(r.ports)*cols)
	width := float64(to-from) / float64(cols)
	for i := range links {
		l := &links[i]
		if int(l.Port) >= len(r.ports) || l.Port < 0 || l.Length <= 0 || l.Start >= to || l.Start+l.Length <= from {
			continue
		}
		a, b := float64(max(l.Start, from)-from)/width, float64(min(l.Start+l.Length, to)-from)/width
		for c := int(a); c < cols && float64(c) < b; c++ {
			part := (math.Min(b, float64(c+1)) - math.Max(a, float64(c))) * width // of this column, in ps
			at := &sums[int(l.Port)*cols+c]
			switch metric {
			case "util":
				*at += float64(l.Bytes) * 8e12 / float64(l.Length) / float64(r.ports[l.Port].Rate) * part / width
			case "queue":
				*at = math.Max(*at, float64(l.Longest()))
			case "marks":
				*at += float64(l.Marks) * part / float64(l.Length)
			case "pause":
				*at += float64(l.Paused) / float64(l.Length) * part / width
			}
		}
	}
	scale := 0.0
	for _, s := range sums {
		scale = math.Max(scale, s)
	}
	if metric == "util" || metric == "pause" {
		scale = 1
	}
	rows := []int{}
	for port := range r.ports {
		if row := sums[port*cols:][:cols]; slices.Max(row) > 0 {
			copy(sums[len(rows)*cols:], row)
			rows = append(rows, port)
		}
	}
	return Grid{metric, from, to, cols, len(r.ports), scale, metrics[metric], rows,
		base64.StdEncoding.EncodeToString(coded(sums[:len(rows)*cols], scale))}, nil
}

// coded returns the data of a grid.
func coded(values []float64, scale float64) []byte {
	unit := 1.0
	if scale <= 1 {
		unit = 1e-4
	}
	data, full := make([]byte, 2*len(values)), math.Log1p(scale/unit)
	for i, v := range values {
		if v > 0 && scale > 0 {
			n := uint16(max(1, math.Round(math.Log1p(min(v, scale)/unit)/full*65535)))
			data[i], data[len(values)+i] = byte(n>>8), byte(n)
		}
	}
	return data
}

// maxSeries is the maximum number of points of a curve.
const maxSeries = 4000

// port is one port over time and the queue pairs whose packets it carried.
func (r *Directory) port(q url.Values) (any, error) {
	id, err := number(q, "id", 0, 0, int64(len(r.ports)-1))
	if err != nil {
		return nil, err
	}
	from, to, err := r.window(q)
	if err != nil {
		return nil, err
	}
	links, err := table[result.LinkRow](r, "links")
	if err != nil {
		return nil, err
	}
	rate := float64(r.ports[id].Rate)
	series := [][6]float64{} // start, length, share of line rate, queue, marks, share paused
	for i := range links {
		l := &links[i]
		if int64(l.Port) == id && l.Length > 0 && l.Start < to && l.Start+l.Length > from {
			// A packet is counted in the sample in which it starts, so a short sample may seem too full.
			use := math.Min(1, float64(l.Bytes)*8e12/float64(l.Length)/rate)
			series = append(series, [6]float64{float64(l.Start), float64(l.Length), use, float64(l.Longest()),
				float64(l.Marks), float64(l.Paused) / float64(l.Length)})
		}
	}
	series = thin(series)
	paths, err := table[result.PathRow](r, "paths")
	if err != nil {
		return nil, err
	}
	qps, err := table[result.QPRow](r, "qps")
	if err != nil {
		return nil, err
	}
	list := []Through{}
	for _, p := range paths {
		if int64(p.Port) == id && p.QP >= 0 && int(p.QP) < len(qps) {
			list = append(list, Through{p.QP, qps[p.QP].From, qps[p.QP].To, p.Wait, p.Packets})
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Wait > list[j].Wait })
	count := len(list)
	return PortView{r.ports[id], series, list[:min(200, count)], count}, nil
}

// thin merges neighbouring points until few enough are left: the longest queue, the sums of marks, and means of
// other values.
func thin(s [][6]float64) [][6]float64 {
	for len(s) > maxSeries {
		half := s[:0]
		for i := 0; i < len(s); i += 2 {
			p := s[i]
			if i+1 < len(s) {
				o := s[i+1]
				length := o[0] + o[1] - p[0]
				p[2], p[5] = (p[2]*p[1]+o[2]*o[1])/length, (p[5]*p[1]+o[5]*o[1])/length
				p[1], p[3], p[4] = length, math.Max(p[3], o[3]), p[4]+o[4]
			}
			half = append(half, p)
		}
		s = half
	}
	return s
}

// qp is one queue pair.
func (r *Directory) qp(q url.Values) (any, error) {
	qps, err := table[result.QPRow](r, "qps")
	if err != nil {
		return nil, err
	}
	id, err := number(q, "id", 0, 0, int64(len(qps)-1))
	if err != nil {
		return nil, err
	}
	paths, err := table[result.PathRow](r, "paths")
	if err != nil {
		return nil, err
	}
	mine := []result.PathRow{}
	for _, p := range paths {
		if int64(p.QP) == id {
			mine = append(mine, p)
		}
	}
	sent, err := r.sent(int32(id), maxSeries/2)
	if err != nil {
		return nil, err
	}
	series, err := r.signals(int32(id))
	if err != nil {
		return nil, err
	}
	if n := len(sent.At); n > 0 { // what congestion control does after the last byte limits nothing
		for i := range series {
			s := &series[i]
			k, _ := slices.BinarySearch(s.At, sent.At[n-1])
			s.At, s.Values = s.At[:k], s.Values[:k]
		}
	}
	return QPView{qps[id], mine, sent, series}, nil
}

// rateRow is a row of rates.parquet, which runs of earlier versions have instead of signals.parquet.
type rateRow struct {
	At     int64   `parquet:"at_ps,delta"`
	QP     int32   `parquet:"qp"`
	Rate   int64   `parquet:"rate_bps"`
	Target int64   `parquet:"target_bps"`
	Alpha  float64 `parquet:"alpha"`
}

// rates are the signals of a queue pair in a run of an earlier version.
func (r *Directory) rates(qp int32) (all []Series, err error) {
	if !slices.Contains(r.Manifest.Tables, "rates") {
		return []Series{}, nil
	}
	rows, err := table[rateRow](r, "rates")
	if err != nil {
		return nil, err
	}
	all = []Series{{Signal: "rate"}, {Signal: "target"}, {Signal: "alpha"}}
	for _, x := range rows {
		if x.QP != qp {
			continue
		}
		for i, v := range []float64{float64(x.Rate), float64(x.Target), x.Alpha} {
			all[i].At, all[i].Values = append(all[i].At, x.At), append(all[i].Values, v)
		}
	}
	if len(all[0].At) == 0 {
		return []Series{}, nil
	}
	return thinned(all), nil
}

// signals returns a queue pair's signals, each reduced to a chart's resolution.
func (r *Directory) signals(qp int32) (all []Series, err error) {
	all = []Series{}
	if !slices.Contains(r.Manifest.Tables, "signals") {
		return r.rates(qp)
	}
	rows, err := table[result.SignalRow](r, "signals")
	if err != nil {
		return nil, err
	}
	for _, x := range rows {
		if x.QP != qp {
			continue
		}
		i := slices.IndexFunc(all, func(s Series) bool { return s.Signal == x.Signal })
		if i < 0 {
			i, all = len(all), append(all, Series{Signal: x.Signal})
		}
		all[i].At, all[i].Values = append(all[i].At, x.At), append(all[i].Values, x.Value)
	}
	return thinned(all), nil
}

// thinned keeps as many points as a chart can show.
func thinned(all []Series) []Series {
	for i := range all {
		for s := &all[i]; len(s.At) > maxSeries; {
			s.At, s.Values = everyOther(s.At), everyOther(s.Values)
		}
	}
	return all
}

func everyOther[T any](list []T) []T {
	half := list[:0]
	for i := 0; i < len(list); i += 2 {
		half = append(half, list[i])
	}
	return half
}

// maxList bounds lists of rows.
const maxList = 500

// flows are the messages that lost most against their ideal.
func (r *Directory) flows() (any, error) {
	rows, err := table[result.FlowRow](r, "flows")
	if err != nil {
		return nil, err
	}
	index := make([]int, 0, len(rows))
	for i := range rows {
		index = append(index, i)
	}
	lost := func(f *result.FlowRow) int64 {
		if f.Done < 0 {
			return math.MaxInt64
		}
		return f.Done - f.Posted - f.Ideal
	}
	sort.SliceStable(index, func(i, j int) bool { return lost(&rows[index[i]]) > lost(&rows[index[j]]) })
	out := []result.FlowRow{}
	for _, i := range index[:min(maxList, len(index))] {
		out = append(out, rows[i])
	}
	return Flows{out, len(rows)}, nil
}

// maxAlike is the maximum number of instances of one name among those that lost most, because a step has thousands
// of equal ones.
const maxAlike = 8

// accounts returns the collectives with each one's losses by cause.
func (r *Directory) accounts() ([]result.CollectiveRow, error) {
	rows, err := table[result.CollectiveRow](r, "collectives")
	if err != nil {
		return nil, err
	}
	parts, err := table[result.CauseRow](r, "causes")
	if err != nil {
		return nil, err
	}
	rows = slices.Clone(rows)
	at := make(map[int32]int, len(rows))
	for i := range rows {
		at[rows[i].Instance] = i
	}
	for _, p := range parts {
		c, known := cause.Find(p.Cause)
		i, ok := at[p.Instance]
		if !known || !ok || p.Scope != "collective" {
			continue
		}
		rows[i].Lost.Own[c.ID] += p.Time
		rows[i].Lost.Reaction[c.ID] += p.Reaction
	}
	return rows, nil
}

// collectives are the instances that lost most, and sums by name.
func (r *Directory) collectives() (any, error) {
	rows, err := r.accounts()
	if err != nil {
		return nil, err
	}
	sorted := append([]result.CollectiveRow(nil), rows...)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].Lost.Lost() > sorted[j].Lost.Lost() })
	sums := map[string]*result.CollectiveRow{}
	counts := map[string]int{}
	var names []string
	worst := []result.CollectiveRow{}
	for i := range sorted {
		x := &sorted[i]
		if counts[x.Name] < maxAlike && len(worst) < maxList {
			worst = append(worst, *x)
		}
		s := sums[x.Name]
		if s == nil {
			c := *x
			c.Start, c.End = 0, x.End-x.Start
			sums[x.Name], counts[x.Name] = &c, 1
			names = append(names, x.Name)
			continue
		}
		counts[x.Name]++
		s.End += x.End - x.Start
		s.Lost.Add(&x.Lost)
	}
	total := []CollectiveSum{}
	for _, n := range names {
		total = append(total, CollectiveSum{*sums[n], counts[n]})
	}
	var all cause.Account
	for i := range total {
		all.Add(&total[i].Lost)
	}
	present := []CauseInfo{}
	for _, c := range cause.All() {
		if all.Costs(c.ID) > 0 {
			present = append(present, CauseInfo{c.Key, c.Name, c.Color, c.About})
		}
	}
	return Collectives{Worst: worst, Sums: total, Causes: present, Count: len(rows)}, nil
}
