package fabric

import (
	"cmp"
	"slices"

	"railyard/unit"
)

// Wait is the waiting time of the sampled packets of one flow at one port.
type Wait struct {
	QP, Port int32
	Total    unit.Time
	Samples  int32
	MaxQueue int32

	next        int32 // row+1 of the flow's next port
	seenSamples int32 // samples seen until the last lap
	seen        unit.Time
	born        Moment // time at which its first packet was counted
}

// Moment orders events in a network in parts: by time, and by the place among the events of that time.
type Moment struct {
	At    unit.Time
	Place uint64
}

// Compare orders moments, as cmp.Compare does.
func (m Moment) Compare(o Moment) int {
	return cmp.Or(cmp.Compare(m.At, o.At), cmp.Compare(m.Place, o.Place))
}

// WaitTable sums queueing delay by (flow, port) over every sixteenth packet. It shows afterwards which queue slowed
// a flow, and the flows that shared that queue.
type WaitTable struct {
	rows  []Wait
	index []int32         // row+1 by hash, open addressing
	first map[int32]int32 // by flow: row+1 of its latest port
	born  func() Moment   // the current event, of a network in parts; nil: not recorded
}

// NewWaitTable returns an empty table.
func NewWaitTable() *WaitTable {
	return &WaitTable{index: make([]int32, 1<<12), first: map[int32]int32{}}
}

func (t *WaitTable) add(qp, port int32, d unit.Time, queued int32) {
	r := t.find(qp, port)
	r.Total += d
	r.Samples++
	r.MaxQueue = max(r.MaxQueue, queued)
}

func (t *WaitTable) find(qp, port int32) *Wait {
	i := t.slot(qp, port)
	if t.index[i] == 0 {
		if 2*len(t.rows) >= len(t.index) {
			t.grow()
			i = t.slot(qp, port)
		}
		t.rows = append(t.rows, Wait{QP: qp, Port: port, next: t.first[qp]})
		t.index[i] = int32(len(t.rows))
		t.first[qp] = t.index[i]
		if t.born != nil {
			t.rows[len(t.rows)-1].born = t.born()
		}
	}
	return &t.rows[t.index[i]-1]
}

// slot returns the index of a flow's port in the table, or of a free slot for it.
func (t *WaitTable) slot(qp, port int32) uint32 {
	mask := uint32(len(t.index) - 1)
	h := (uint32(qp)*0x9e3779b1 ^ uint32(port)*0x85ebca6b)
	h ^= h >> 15
	for i := h & mask; ; i = (i + 1) & mask {
		if n := t.index[i]; n == 0 || t.rows[n-1].QP == qp && t.rows[n-1].Port == port {
			return i
		}
	}
}

func (t *WaitTable) grow() {
	t.index = make([]int32, 2*len(t.index))
	for n := range t.rows {
		t.index[t.slot(t.rows[n].QP, t.rows[n].Port)] = int32(n + 1)
	}
}

// Each calls f for every row, in the order of their first packets.
func (t *WaitTable) Each(f func(Wait)) {
	for _, r := range t.rows {
		f(r)
	}
}

// Lap returns the port at which a flow's packets were queued longest since its last lap, with Total and Samples of
// that period. It then begins the next lap. Samples is 0 if no packet was sampled.
func (t *WaitTable) Lap(qp int32) (top Wait) {
	top.Port = -1
	for n := t.first[qp]; n > 0; n = t.rows[n-1].next {
		r := &t.rows[n-1]
		d, samples := r.Total-r.seen, r.Samples-r.seenSamples
		r.seen, r.seenSamples = r.Total, r.Samples
		if samples > 0 && (top.Samples == 0 || d > top.Total || d == top.Total && r.Port < top.Port) {
			top = Wait{QP: qp, Port: r.Port, Total: d, Samples: samples, MaxQueue: r.MaxQueue}
		}
	}
	return top
}

// adopt adds the rows of another part's table, which has other ports, in the order of first packets.
func (t *WaitTable) adopt(o *WaitTable) {
	t.rows = append(t.rows, o.rows...)
	slices.SortFunc(t.rows, func(a, b Wait) int { return a.born.Compare(b.born) })
	t.index, t.first = nil, nil // the table is read-only from now on
}
