package result

import (
	"cmp"
	"slices"
	"sort"
)

// Kinds of a pause's root.
const (
	RootEgress   = "egress"   // the queues of a switch's egress port hold the bytes
	RootReceiver = "receiver" // the server of the root port receives its data too slowly
	RootCircular = "circular" // paused ports wait for one another: a circular pause dependency
)

// PauseRootRow is the part of one port's pause caused by one root: pause_roots.parquet. The rows of one pause add
// up to its time.
type PauseRootRow struct {
	From int64 `parquet:"from_ps,delta" json:"from_ps"` // of the pause
	To   int64 `parquet:"to_ps" json:"to_ps"`
	Port int32 `parquet:"port" json:"port"` // paused port
	// egress port of its peer with most of its bytes; -1: a server paused it, or it is unknown
	By   int32 `parquet:"by_port" json:"by_port"`
	Root int32 `parquet:"root_port" json:"root_port"`
	// egress; receiver: the server at the root port; circular: ports blocked on one another
	Kind  string `parquet:"kind,dict" json:"kind"`
	Time  int64  `parquet:"time_ps" json:"time_ps"`       // of the pause
	Bytes int64  `parquet:"held_bytes" json:"held_bytes"` // bytes in the root's queue, mean
}

// PauseHeldRow is the bytes of one queue pair in the queue of an egress port while ports were paused for that
// queue: pause_flows.parquet. It samples up to 256 packets, and has the 16 queue pairs with most bytes.
type PauseHeldRow struct {
	At    int64 `parquet:"at_ps,delta" json:"at_ps"`
	Port  int32 `parquet:"port" json:"port"`
	QP    int32 `parquet:"qp" json:"qp"` // row of qps.parquet
	Bytes int64 `parquet:"bytes" json:"bytes"`
}

// PauseRanking ranks the causes of pauses in an interval: by root, by the queue pairs whose bytes the roots held, and
// by job. Each list is sorted by bytes held x pause caused, and truncated to 20.
type PauseRanking struct {
	From      int64       `json:"from_ps"`
	To        int64       `json:"to_ps"`
	Time      int64       `json:"paused_ps"` // summed over ports; total of all roots
	Ports     int         `json:"paused_ports"`
	Count     int         `json:"root_count"` // number of roots, including those beyond Roots
	Roots     []PauseRoot `json:"roots"`
	FlowCount int         `json:"flow_count"` // likewise
	Flows     []PauseHeld `json:"flows"`
	Jobs      []PauseHeld `json:"jobs,omitempty"` // for several jobs
}

// PauseRoot is a root, and the pauses due to it.
type PauseRoot struct {
	Port  int32  `json:"port"`
	Name  string `json:"name"`
	Kind  string `json:"kind"` // egress, receiver or circular
	Time  int64  `json:"pause_ps"`
	Ports int    `json:"paused_ports"`
	Bytes int64  `json:"held_bytes"` // mean over the pauses that it caused
}

// PauseHeld is a queue pair, or a job, whose bytes roots held.
type PauseHeld struct {
	From  string `json:"from,omitempty"`
	To    string `json:"to,omitempty"`
	Job   string `json:"job,omitempty"`
	Time  int64  `json:"pause_ps"`   // share, by bytes, of the pause time due to the roots
	Bytes int64  `json:"held_bytes"` // bytes of the flow, mean over the pauses due to the roots
}

// maxRanked bounds the lists of a ranking.
const maxRanked = 20

// weight is a time and its integral of bytes.
type weight struct {
	time, moment float64
	ports        map[int32]bool
}

func (w *weight) add(time, bytes float64) {
	w.time += time
	w.moment += time * bytes
}

func (w *weight) bytes() int64 {
	if w.time == 0 {
		return 0
	}
	return int64(w.moment / w.time)
}

// RankPauses ranks the causes of pauses between two times; pauses that overlap the interval count with the overlapping
// part. It is nil without pauses. Ports and queue pairs are rows of their tables.
func RankPauses(rows []PauseRootRow, held []PauseHeldRow, from, to int64, ports []PortRow, qps []QPRow) *PauseRanking {
	type key struct {
		port int32
		kind string
	}
	roots, paused, samples := map[key]*weight{}, map[int32]bool{}, byPort(held)
	flows, jobs := map[int32]*weight{}, map[string]*weight{}
	total := 0.0
	for i := range rows {
		x := &rows[i]
		part := min(x.To, to) - max(x.From, from)
		if part <= 0 || x.To <= x.From {
			continue
		}
		d := float64(x.Time) * (float64(part) / float64(x.To-x.From))
		total += d
		paused[x.Port] = true
		k := key{x.Root, x.Kind}
		if roots[k] == nil {
			roots[k] = &weight{ports: map[int32]bool{}}
		}
		roots[k].add(d, float64(x.Bytes))
		roots[k].ports[x.Port] = true
		near, sum := samples.near(x.Root, max(x.From, from), min(x.To, to))
		for _, h := range near {
			if h.QP < 0 || int(h.QP) >= len(qps) {
				continue
			}
			share := d * float64(h.Bytes) / float64(sum)
			add(flows, h.QP, share, h.Bytes)
			add(jobs, qps[h.QP].Job, share, h.Bytes)
		}
	}
	if len(roots) == 0 {
		return nil
	}
	out := &PauseRanking{From: from, To: to, Time: int64(total + 0.5), Ports: len(paused), Count: len(roots),
		Roots: []PauseRoot{}, Flows: []PauseHeld{}}
	for k, w := range roots {
		row := PauseRoot{Port: k.port, Kind: k.kind, Time: int64(w.time + 0.5), Ports: len(w.ports), Bytes: w.bytes()}
		if k.port >= 0 && int(k.port) < len(ports) {
			row.Name = ports[k.port].Name
		}
		out.Roots = append(out.Roots, row)
	}
	for qp, w := range flows {
		q := &qps[qp]
		out.Flows = append(out.Flows, PauseHeld{From: q.From, To: q.To, Job: q.Job, Time: int64(w.time + 0.5),
			Bytes: w.bytes()})
	}
	for job, w := range jobs {
		if job != "" {
			out.Jobs = append(out.Jobs, PauseHeld{Job: job, Time: int64(w.time + 0.5), Bytes: w.bytes()})
		}
	}
	slices.SortFunc(out.Roots, func(a, b PauseRoot) int {
		return cmp.Or(cmp.Compare(cost(b.Time, b.Bytes), cost(a.Time, a.Bytes)), cmp.Compare(b.Time, a.Time),
			cmp.Compare(a.Port, b.Port), cmp.Compare(a.Kind, b.Kind))
	})
	for _, list := range [][]PauseHeld{out.Flows, out.Jobs} {
		slices.SortFunc(list, func(a, b PauseHeld) int {
			return cmp.Or(cmp.Compare(cost(b.Time, b.Bytes), cost(a.Time, a.Bytes)), cmp.Compare(b.Time, a.Time),
				cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Job, b.Job))
		})
	}
	out.FlowCount = len(out.Flows)
	out.Roots = out.Roots[:min(len(out.Roots), maxRanked)]
	out.Flows = out.Flows[:min(len(out.Flows), maxRanked)]
	out.Jobs = out.Jobs[:min(len(out.Jobs), maxRanked)]
	return out
}

func add[K comparable](to map[K]*weight, k K, time float64, bytes int64) {
	if to[k] == nil {
		to[k] = &weight{}
	}
	to[k].add(time, float64(bytes))
}

func cost(time, bytes int64) float64 { return float64(time) * float64(bytes) }

// heldSamples are the samples of each port, in the order of time.
type heldSamples map[int32][]PauseHeldRow

func byPort(held []PauseHeldRow) heldSamples {
	s := heldSamples{}
	for _, h := range held {
		s[h.Port] = append(s[h.Port], h)
	}
	for _, list := range s {
		sort.SliceStable(list, func(i, j int) bool { return list[i].At < list[j].At })
	}
	return s
}

// near returns a port's last sample in an interval, or the nearest one before or after it, and the sum of its bytes.
func (s heldSamples) near(port int32, from, to int64) (rows []PauseHeldRow, sum int64) {
	list := s[port]
	if len(list) == 0 {
		return nil, 0
	}
	end := sort.Search(len(list), func(i int) bool { return list[i].At > to })
	at := list[max(0, end-1)].At
	if next := min(end, len(list)-1); at < from && list[next].At-to < from-at && list[next].At > to {
		at = list[next].At
	}
	first := sort.Search(len(list), func(i int) bool { return list[i].At >= at })
	last := first
	for ; last < len(list) && list[last].At == at; last++ {
		sum += list[last].Bytes
	}
	return list[first:last], sum
}
