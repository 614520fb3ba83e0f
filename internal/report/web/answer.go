package web

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"

	"railyard/internal/cause"
	"railyard/internal/report"
	"railyard/internal/result"
)

// Answer is the first view of the page: the parts of the step, the remedies, and the ports to inspect.
type Answer struct {
	// Parts are the step along its critical path, by blocking operation; they sum to the step.
	Parts []StepPart `json:"parts"`
	// Causes are those that any part has, in the order of bars.
	Causes []CauseInfo `json:"causes_present"`
	// Fidelity names the model used instead of packets, and the expected error, as the terminal's first line does;
	// Method has the details. Both are empty for packets.
	Fidelity string `json:"fidelity,omitempty"`
	Method   string `json:"method,omitempty"`
	Signals  string `json:"signals"` // what happened to packets, and what did not
	// Main is the main cause as the terminal's first line names it; AtBound: a bound limits the run, and no cause.
	// Idle is the pipeline's bubble and the wait for other ranks, where worth a line.
	Main    string   `json:"main,omitempty"`
	AtBound bool     `json:"at_bound,omitempty"`
	Idle    []string `json:"idle,omitempty"`
	// Lost is the time above line rate on the critical path. Rows are the terminal's, and Below are those below 0.5
	// %. Bound describes the contents of the bound for a run of one collective near it, which is not a loss.
	// Gain is what a run at its bound can save at most where it loses more, in words; Left is that time.
	Bound string    `json:"bound,omitempty"`
	Gain  string    `json:"gain,omitempty"`
	Left  int64     `json:"left_ps"`
	Lost  int64     `json:"lost_ps"`
	Rows  []LossRow `json:"rows"`
	Below []LossRow `json:"below"`
	// Reason says why the main cause is that, where its cost does not show it.
	Reason string `json:"reason,omitempty"`
	// Losses are the causes of rows, the leading one first; Minor are the others.
	Losses []StepLoss         `json:"losses"`
	Minor  []StepLoss         `json:"minor"`
	Place  *result.CausePlace `json:"place,omitempty"` // of the first loss
	// Losing is the shortest window with nine tenths of that time; absent where it is most of the run.
	Losing *[2]int64 `json:"losing_ps,omitempty"`
	Tied   int       `json:"tied"` // messages that take as long as the slowest, which is one of them
	// Remedies are changes, sorted by their causes' saving, without duplicates.
	Remedies []result.Remedy `json:"remedies"`
	Failure  *FailurePicture `json:"failure,omitempty"` // of a run that lost most of its time to one
	Victim   *VictimPicture  `json:"victim,omitempty"`
	Port     *PortPicture    `json:"port,omitempty"`
	Link     *LinkPicture    `json:"link,omitempty"` // of a run without queues
	Ends     *EndPicture     `json:"ends,omitempty"`
	Pause    *PausePicture   `json:"pause,omitempty"`
	Rate     *RatePicture    `json:"rate,omitempty"` // of a run without pauses
}

// StepPart is a part of the step along its critical path, and its causes, which sum to the part.
type StepPart struct {
	Key    string      `json:"key"` // compute, tp, pp, dp, ep, cp, transfers, storage, idle
	Name   string      `json:"name"`
	Time   int64       `json:"time_ps"`
	Causes []CauseTime `json:"causes"`
}

// LossRow is a row of the time above line rate: what a cause costs, or the part of that in which congestion control
// recovers.
type LossRow struct {
	Key   string `json:"key"` // of the cause
	After bool   `json:"after"`
	Name  string `json:"name"`
	Time  int64  `json:"time_ps"`
	Saves string `json:"saves"` // saving of a run without the cause, with its source; "" if none is stated
}

// CauseTime is the time of a cause.
type CauseTime struct {
	Key  string `json:"key"`
	Time int64  `json:"time_ps"`
}

// PortPicture is the queue of the place, or else the longest of a switch port, over time.
type PortPicture struct {
	Longest bool    `json:"longest"` // no switch port had a longer one
	Port    int32   `json:"port"`
	Name    string  `json:"name"`
	Peak    int64   `json:"peak_bytes"` // of its counters
	At      int64   `json:"at_ps"`      // of the sample with the longest queue
	Width   float64 `json:"width_ps"`   // of a column
	Queue   []int64 `json:"queue_bytes"`
	WRED    int64   `json:"wred_min_bytes"` // 0: none
}

// LinkPicture is the busiest link over time.
type LinkPicture struct {
	Port  int32     `json:"port"`
	Name  string    `json:"name"`
	Mean  float64   `json:"mean"` // share of line rate, over the run
	At    int64     `json:"at_ps"`
	Width float64   `json:"width_ps"` // of a column
	Load  []float64 `json:"load"`     // share of line rate
}

// EndPicture is the times of ranks' last operations, as a histogram.
type EndPicture struct {
	Rank   int32  `json:"rank"` // rank that ended last
	Name   string `json:"name"`
	First  int64  `json:"first_ps"` // when the first rank ended
	Median int64  `json:"median_ps"`
	Last   int64  `json:"last_ps"`
	Ranks  int    `json:"ranks"`
	Counts []int  `json:"counts"` // between First and Last
}

// PausePicture is the longest PFC pause, and the ports that it was paused for, up to the root.
type PausePicture struct {
	At    int64       `json:"at_ps"` // in the middle of the pause
	Time  int64       `json:"pause_ps"`
	From  int64       `json:"from_ps"` // of the picture
	To    int64       `json:"to_ps"`
	Ports []PauseLane `json:"ports"` // the root first
}

// PauseLane is a port and its pauses in the picture.
type PauseLane struct {
	Port  int32      `json:"port"`
	Name  string     `json:"name"`
	Spans [][2]int64 `json:"spans"`
}

// RatePicture is the queue pair whose rate was reduced most often.
type RatePicture struct {
	QP     int32     `json:"qp"`
	From   string    `json:"from"`
	To     string    `json:"to"`
	Line   int64     `json:"line_bps"`
	Cuts   int64     `json:"rate_cuts"`
	At     []int64   `json:"at_ps"`
	Values []float64 `json:"values"` // bit/s
}

// pictureColumns is the number of time columns of a small picture.
const pictureColumns = 120

// answer explains the step.
func (r *Directory) answer() (any, error) {
	a := Answer{}
	var err error
	if a.Parts, err = r.stepParts(); err != nil {
		return nil, err
	}
	has := map[string]bool{}
	for _, p := range a.Parts {
		for _, c := range p.Causes {
			has[c.Key] = true
		}
	}
	for _, c := range cause.All() {
		if has[c.Key] {
			a.Causes = append(a.Causes, CauseInfo{c.Key, c.Name, c.Color, c.About})
		}
	}
	s := &r.Summary
	a.Fidelity, a.Method = report.Approximation(s.Fidelity, s.Expected), report.FidelityLine(s)
	if a.Method == "" { // packets
		a.Fidelity = ""
	}
	a.Fidelity, a.Signals = strings.Trim(a.Fidelity, " ()"), report.Signals(s)
	a.lost(s)
	a.Place = placeOf(s, a.Losses)
	if err = a.failed(r); err != nil {
		return nil, err
	}
	if err = a.delayed(r); err != nil {
		return nil, err
	}
	if a.Losing, err = r.losing(); err != nil {
		return nil, err
	}
	if a.Tied, err = r.tied(); err != nil {
		return nil, err
	}
	a.Remedies = r.advised()
	if a.Port, err = r.portPicture(a.Place); err != nil {
		return nil, err
	}
	if a.Port == nil {
		if a.Link, err = r.linkPicture(); err != nil {
			return nil, err
		}
	}
	if a.Ends, err = r.endPicture(); err != nil {
		return nil, err
	}
	if a.Pause, err = r.pausePicture(); err != nil {
		return nil, err
	}
	if a.Pause == nil {
		a.Rate, err = r.ratePicture()
	}
	return a, err
}

// tied counts the messages that take as long as the slowest one, as shown with three digits.
func (r *Directory) tied() (n int, err error) {
	s := r.Summary.Slowest
	rows, err := table[result.FlowRow](r, "flows")
	if s == nil || err != nil {
		return 0, err
	}
	for i := range rows {
		m := &rows[i]
		if off := m.Done - m.Posted - s.Time; m.Bytes == s.Bytes && m.Done >= 0 && 2000*max(off, -off) < s.Time {
			n++
		}
	}
	return n, nil
}

// placeOf returns the place of the first loss; nil: it has none.
func placeOf(s *result.Summary, losses []StepLoss) *result.CausePlace {
	for i := range s.Places {
		if len(losses) > 0 && s.Places[i].Cause == losses[0].Key {
			return &s.Places[i]
		}
	}
	return nil
}

// portPicture draws the queue of a place, or the longest of a switch port.
func (r *Directory) portPicture(place *result.CausePlace) (*PortPicture, error) {
	top := -1
	for i := range r.ports {
		p := &r.ports[i]
		if p.Role != "host" && p.QueuePeak > 0 && (top < 0 || p.QueuePeak > r.ports[top].QueuePeak) {
			top = i
		}
	}
	if top < 0 {
		return nil, nil
	}
	longest := r.ports[top].QueuePeak
	reaches := func(port int) bool { return r.ports[port].QueuePeak >= r.wredMin(port) }
	if place != nil && r.ports[place.Port].Role != "host" && r.ports[place.Port].QueuePeak > 0 &&
		(reaches(int(place.Port)) || !reaches(top)) {
		top = int(place.Port)
	}
	links, err := table[result.LinkRow](r, "links")
	if err != nil {
		return nil, err
	}
	p := &PortPicture{Longest: r.ports[top].QueuePeak == longest, Port: int32(top),
		Name: r.ports[top].Name, Peak: r.ports[top].QueuePeak, WRED: r.wredMin(top),
		Width: float64(r.span()) / pictureColumns, Queue: make([]int64, pictureColumns)}
	most := int64(-1)
	for i := range links {
		l := &links[i]
		if int(l.Port) != top || l.Length <= 0 || l.Start < 0 {
			continue
		}
		end := min(pictureColumns, int(math.Ceil(float64(l.Start+l.Length)/p.Width)))
		for c := int(float64(l.Start) / p.Width); c < end; c++ {
			p.Queue[c] = max(p.Queue[c], l.Longest())
		}
		if l.Longest() > most {
			most, p.At = l.Longest(), l.Start
		}
	}
	return p, nil
}

// wredMin is the threshold at which a port's switch begins to mark; 0: none.
func (r *Directory) wredMin(port int) int64 {
	for i := range r.Topology.Nodes {
		if n := &r.Topology.Nodes[i]; n.Name == r.ports[port].Node && n.Config >= 0 {
			return r.Topology.Configs[n.Config].WREDMin
		}
	}
	return 0
}

// linkPicture draws the load of the link that carried most for its rate.
func (r *Directory) linkPicture() (*LinkPicture, error) {
	top, mean := -1, 0.0
	for i := range r.ports {
		p := &r.ports[i]
		if share := float64(p.WireBytes) * 8e12 / float64(max(p.Rate, 1)) / float64(r.span()); share > mean {
			top, mean = i, share
		}
	}
	if top < 0 {
		return nil, nil
	}
	links, err := table[result.LinkRow](r, "links")
	if err != nil {
		return nil, err
	}
	p := &LinkPicture{Port: int32(top), Name: r.ports[top].Name, Mean: mean, Width: float64(r.span()) / pictureColumns,
		Load: make([]float64, pictureColumns)}
	most := -1.0
	for i := range links {
		l := &links[i]
		if int(l.Port) != top || l.Length <= 0 || l.Start < 0 {
			continue
		}
		load := float64(l.Bytes) * 8e12 / float64(l.Length) / float64(r.ports[top].Rate)
		if load > most {
			most, p.At = load, l.Start
		}
		end := min(pictureColumns, int(math.Ceil(float64(l.Start+l.Length)/p.Width)))
		for c := int(float64(l.Start) / p.Width); c < end; c++ {
			from, to := max(float64(c)*p.Width, float64(l.Start)), min(float64(c+1)*p.Width, float64(l.Start+l.Length))
			p.Load[c] += load * max(0, to-from) / p.Width
		}
	}
	return p, nil
}

// endPicture computes the ranks' end times.
func (r *Directory) endPicture() (*EndPicture, error) {
	rows, err := table[result.RankRow](r, "ranks")
	if err != nil {
		return nil, err
	}
	end := map[int32]int64{}
	for i := range rows {
		if rows[i].End <= r.Summary.StepTime { // else it is written in the background
			end[rows[i].Rank] = max(end[rows[i].Rank], rows[i].End)
		}
	}
	if len(end) < 2 {
		return nil, nil
	}
	p := &EndPicture{Rank: -1, Ranks: len(end), Counts: make([]int, 40)}
	all := make([]int64, 0, len(end))
	for rank, at := range end {
		all = append(all, at)
		if at > p.Last || at == p.Last && rank < p.Rank {
			p.Rank, p.Last = rank, at
		}
	}
	// Of several ranks that end last, one of the slowest message's.
	if s := r.Summary.Slowest; s != nil {
		for rank, at := range end {
			if at < p.Last {
				continue
			}
			if name := r.gpu(rank); name == s.To || name == s.From && r.gpu(p.Rank) != s.To {
				p.Rank = rank
			}
		}
	}
	slices.Sort(all)
	if all[0] == p.Last {
		return nil, nil // one time is no histogram
	}
	p.Name, p.First, p.Median = r.gpu(p.Rank), all[0], all[len(all)/2]
	for _, at := range all {
		bin := int((at - p.First) * int64(len(p.Counts)) / max(1, p.Last-p.First))
		p.Counts[min(bin, len(p.Counts)-1)]++
	}
	return p, nil
}

// gpu names the GPU of a rank.
func (r *Directory) gpu(rank int32) string {
	left := int(rank)
	for i := range r.Topology.Nodes {
		n := &r.Topology.Nodes[i]
		gpus := n.GPUs
		if n.Role == "host" && gpus == 0 {
			gpus = r.Topology.GPUs
		}
		if n.Role != "host" || left >= gpus {
			if n.Role == "host" {
				left -= gpus
			}
			continue
		}
		return n.Name + "/gpu-" + itoa(left+1)
	}
	return "rank " + itoa(int(rank))
}

// pausePicture follows the longest pause to its root.
func (r *Directory) pausePicture() (*PausePicture, error) {
	halts, _, err := r.halts()
	if err != nil || len(halts) == 0 {
		return nil, err
	}
	top := slices.MaxFunc(halts, func(a, b halt) int {
		return cmp.Or(cmp.Compare(a.to-a.from, b.to-b.from), cmp.Compare(b.port, a.port))
	})
	long, at := top.to-top.from, top.from+(top.to-top.from)/2
	p := &PausePicture{At: at, Time: long, From: max(0, top.from-long), To: min(r.span(), top.to+long)}
	chain := []int32{top.port}
	for next, root := top.cause, top.root; next >= 0 && len(chain) < 6 && !slices.Contains(chain, next); {
		chain = append(chain, next)
		i := slices.IndexFunc(halts, func(h halt) bool { return h.port == next && h.from <= at && at < h.to })
		if i < 0 {
			if root >= 0 && !slices.Contains(chain, root) {
				chain = append(chain, root)
			}
			break
		}
		next, root = halts[i].cause, halts[i].root
	}
	slices.Reverse(chain)
	for _, port := range chain {
		lane := PauseLane{Port: port, Name: r.ports[port].Name}
		for _, h := range halts {
			if h.port == port && h.from < p.To && h.to > p.From && len(lane.Spans) < 200 {
				lane.Spans = append(lane.Spans, [2]int64{max(h.from, p.From), min(h.to, p.To)})
			}
		}
		p.Ports = append(p.Ports, lane)
	}
	return p, nil
}

// pieces is the time of one class along the critical path, to sum up between two times.
type pieces struct {
	from, to []int64
	before   []int64 // time of the class up to from
}

func (p *pieces) add(from, to int64) {
	sum := int64(0)
	if n := len(p.from); n > 0 {
		sum = p.before[n-1] + p.to[n-1] - p.from[n-1]
	}
	p.from, p.to, p.before = append(p.from, from), append(p.to, to), append(p.before, sum)
}

// until is the time of the class up to a time.
func (p *pieces) until(t int64) int64 {
	i := sort.Search(len(p.from), func(i int) bool { return p.from[i] >= t }) - 1
	if i < 0 {
		return 0
	}
	return p.before[i] + min(p.to[i], t) - p.from[i]
}
