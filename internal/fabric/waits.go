package fabric

import "railyard/unit"

// Wait is how long the sampled packets of one flow waited at one port.
type Wait struct {
	QP, Port int32
	Total    unit.Time
	Samples  int32
	MaxQueue int32
}

// WaitTable sums queueing delay by (flow, port) over every sixteenth packet:
// what tells later which queue made a flow slow, and with whom it was shared.
type WaitTable struct {
	rows []Wait
	used int
}

// NewWaitTable returns an empty table.
func NewWaitTable() *WaitTable { return &WaitTable{rows: make([]Wait, 1<<12)} }

func (t *WaitTable) add(qp, port int32, d unit.Time, queued int32) {
	r := t.find(qp, port)
	r.Total += d
	r.Samples++
	r.MaxQueue = max(r.MaxQueue, queued)
}

func (t *WaitTable) find(qp, port int32) *Wait {
	mask := uint32(len(t.rows) - 1)
	h := (uint32(qp)*0x9e3779b1 ^ uint32(port)*0x85ebca6b)
	h ^= h >> 15
	for i := h & mask; ; i = (i + 1) & mask {
		r := &t.rows[i]
		if r.Samples == 0 {
			if t.used*2 > len(t.rows) {
				t.grow()
				return t.find(qp, port)
			}
			t.used++
			r.QP, r.Port = qp, port
			return r
		}
		if r.QP == qp && r.Port == port {
			return r
		}
	}
}

func (t *WaitTable) grow() {
	old := t.rows
	t.rows = make([]Wait, 2*len(old))
	t.used = 0
	for _, r := range old {
		if r.Samples > 0 {
			*t.find(r.QP, r.Port) = r
		}
	}
}

// Each calls f for every row, in table order.
func (t *WaitTable) Each(f func(Wait)) {
	for _, r := range t.rows {
		if r.Samples > 0 {
			f(r)
		}
	}
}
