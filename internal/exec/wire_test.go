package exec

import (
	"container/heap"

	"railyard/unit"
)

// wire is a carrier with a latency and a rate. Each GPU's NIC sends one transfer after another at its rate, and
// receivers are not limited. Each transfer arrives a latency after its last bit has left. It has no packets, no
// queue pairs and no switches.
type wire struct {
	x       *Execution
	rate    unit.Rate
	latency unit.Time
	cut     map[[2]int]bool // pairs that the network does not connect

	now    unit.Time
	free   map[int]unit.Time // by GPU: its NIC
	queue  events
	pushed int
	sent   [][2]int // pairs of GPUs, in order
}

type event struct {
	at    unit.Time
	order int
	do    func()
}

type events []event

func (q events) Len() int { return len(q) }
func (q events) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].order < q[j].order
}
func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *events) Push(e any)   { *q = append(*q, e.(event)) }
func (q *events) Pop() any {
	e := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return e
}

func (w *wire) at(t unit.Time, do func()) {
	w.pushed++
	heap.Push(&w.queue, event{t, w.pushed, do})
}

func (w *wire) Now() unit.Time            { return w.now }
func (w *wire) After(d unit.Time, b Bell) { w.at(w.now+d, func() { w.x.Ring(b) }) }
func (w *wire) Reaches(from, to int) bool { return !w.cut[[2]int{from, to}] }
func (w *wire) Send(op int32, from, to int, b unit.Bytes) {
	w.sent = append(w.sent, [2]int{from, to})
	out := max(w.now, w.free[from]) + unit.Serialize(b, w.rate)
	w.free[from] = out
	w.at(out+w.latency, func() { w.x.Delivered(op) })
}

// run executes to the end and returns the time of the end.
func (w *wire) run() unit.Time {
	w.x.Begin()
	for len(w.queue) > 0 {
		e := heap.Pop(&w.queue).(event)
		w.now = e.at
		e.do()
	}
	return w.now
}
