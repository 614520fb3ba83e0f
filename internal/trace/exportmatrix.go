package trace

import (
	"bytes"
	"fmt"
	"slices"

	"railyard/internal/field"
	"railyard/internal/tally"
	"railyard/unit"
)

// writeMatrix writes the transfers of a graph as htsim's connections. A flow with dependencies starts when the last
// of them has arrived: they pull its trigger. Computations before everything are the start of a connection; others
// have no place there. A connection pulls one trigger. A graph in which one transfer releases several transfers
// with different other dependencies therefore cannot be expressed.
func writeMatrix(x *export) error {
	d := x.d
	before, start, err := x.transfersBefore()
	if err != nil {
		return err
	}
	type trigger struct {
		id   int
		pull []int32
	}
	byKey, pulls := map[string]*trigger{}, map[int32]*trigger{}
	var triggers []*trigger
	waits := make([]*trigger, len(d.Ops))
	for i := range d.Ops {
		if d.Ops[i].Compute() || len(before[i]) == 0 {
			continue
		}
		key := fmt.Sprint(before[i])
		t := byKey[key]
		if t == nil {
			t = &trigger{id: len(triggers) + 1, pull: before[i]}
			byKey[key], triggers = t, append(triggers, t)
			for _, by := range t.pull {
				if pulls[by] != nil {
					return field.New("", "has a transfer of GPU %d's to GPU %d's that two kinds of others wait for, each for more besides: a connection of htsim pulls one trigger", d.Ops[by].Rank,
						d.Ops[by].Peer)
				}
				pulls[by] = t
			}
		}
		waits[i] = t
	}
	var rows, ends bytes.Buffer
	n := 0
	for i := range d.Ops {
		o := &d.Ops[i]
		if o.Compute() {
			continue
		}
		n++
		fmt.Fprintf(&rows, "%d->%d id %d ", o.Rank, o.Peer, n)
		if t := waits[i]; t != nil {
			fmt.Fprintf(&rows, "trigger %d", t.id)
		} else {
			fmt.Fprintf(&rows, "start %d", int64(start[i]))
		}
		fmt.Fprintf(&rows, " size %d", max(1, int64(o.Bytes)))
		if t := pulls[int32(i)]; t != nil {
			fmt.Fprintf(&rows, " recv_done_trigger %d", t.id)
		}
		rows.WriteString("\n")
	}
	if n == 0 {
		return field.New("", "sends nothing")
	}
	for _, t := range triggers {
		if len(t.pull) == 1 {
			fmt.Fprintf(&ends, "trigger id %d oneshot\n", t.id)
		} else {
			fmt.Fprintf(&ends, "trigger id %d barrier count %d\n", t.id, len(t.pull))
		}
	}
	text := fmt.Appendf(nil, "Nodes %d\nConnections %d\nTriggers %d\n%s%s", d.Ranks, n, len(triggers),
		rows.Bytes(), ends.Bytes())
	x.files = []File{{x.name + ".cm", text}}
	tally.Add(&x.report.Mapped, n, "transfers, as connections", "", 0)
	return nil
}

// mostBefore bounds the number of dependencies in total.
const mostBefore = 20_000_000

// transfersBefore finds for every operation the transfers on which it depends, also through computations. For
// operations without dependencies it finds their start.
func (x *export) transfersBefore() (before [][]int32, start []unit.Time, err error) {
	d := x.d
	before, start = make([][]int32, len(d.Ops)), make([]unit.Time, len(d.Ops))
	left, total := 0, 0
	d.Ordered(func(i int32) {
		o := &d.Ops[i]
		slices.Sort(before[i])
		before[i] = slices.Compact(before[i])
		if total += len(before[i]); total > mostBefore {
			return
		}
		end := start[i] + o.Dur
		if len(before[i]) > 0 && o.Dur > 0 {
			left++
		}
		for _, s := range d.After(i) {
			if o.Compute() {
				before[s] = append(before[s], before[i]...)
				start[s] = max(start[s], end)
			} else {
				before[s] = append(before[s], i)
			}
		}
	})
	if total > mostBefore {
		return nil, nil, field.New("", "has operations that wait for more than %d others together", mostBefore)
	}
	tally.Add(&x.report.Left, left, "computations after transfers, which a matrix cannot express", "", 0)
	return before, start, nil
}
