package workload

import (
	"reflect"
	"testing"

	"railyard/unit"
)

// TestSlowOps compares what ranks of a ring compute, in two phases.
func TestSlowOps(t *testing.T) {
	const us = unit.Microsecond
	for _, c := range []struct {
		name  string
		times [2][]unit.Time // by phase and rank
		more  int            // rank that sends twice as many bytes, -1: none
		want  []Slow
	}{
		{"one of three", [2][]unit.Time{{5 * us, 9 * us, 5 * us}, {us, us, us}}, -1, []Slow{{1, 5 * us}}},
		{"each phase its own", [2][]unit.Time{{5 * us, 9 * us, 5 * us, 5 * us}, {us, us, us, 2 * us}}, -1,
			[]Slow{{1, 5 * us}, {11, us}}},
		{"two have no median", [2][]unit.Time{{5 * us, 9 * us}, {us, us}}, -1, nil},
		{"half are not slow", [2][]unit.Time{{5 * us, 9 * us, 5 * us, 9 * us}, {us, us, us, us}}, -1, nil},
		{"within 5 %", [2][]unit.Time{{100 * us, 105 * us, 100 * us}, {us, us, us}}, -1, nil},
		{"spread", [2][]unit.Time{{5 * us, 6 * us, 7 * us, 8 * us, 9 * us, 10 * us}, {0, 0, 0, 0, 0, 0}}, -1, nil},
		{"other bytes", [2][]unit.Time{{5 * us, 9 * us, 5 * us, 5 * us, 5 * us}, {us, us, us, us, us}}, 1, nil},
	} {
		n := len(c.times[0])
		b := NewBuilder(n)
		for phase := range c.times {
			for rank, d := range c.times[phase] {
				b.Compute(rank, d, Computing)
			}
			for rank := range n {
				bytes := unit.MB
				if rank == c.more {
					bytes *= 2
				}
				b.Transfer(rank, (rank+1)%n, bytes)
			}
		}
		d, err := b.Seal()
		if err != nil {
			t.Fatal(err)
		}
		if got := SlowOps(d.Ops); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		for _, s := range c.want {
			if even := (&Job{DAG: d}).Even().Ops[s.Op].Dur; even != s.Usual {
				t.Errorf("%s: even, operation %d takes %v", c.name, s.Op, even)
			}
			if d.Ops[s.Op].Dur == s.Usual {
				t.Errorf("%s: the graph itself has changed", c.name)
			}
		}
		if got := (&Job{DAG: d, Training: &Training{}}).Even(); got != d {
			t.Errorf("%s: a training has changed", c.name)
		}
	}
}

// TestSlowOpsOfStages checks that ranks with equal operations in another order are not compared: the last two of
// six stages begin backward passes earlier.
func TestSlowOpsOfStages(t *testing.T) {
	const forward, backward = 10 * unit.Microsecond, 20 * unit.Microsecond
	b := NewBuilder(8)
	for rank := 1; rank < 7; rank++ {
		ahead := min(6-rank, 2)
		for k := range 4 + ahead {
			if k < 4 {
				b.Transfer(rank, rank+1, unit.MB, b.Compute(rank, forward, Computing))
			}
			if k >= ahead {
				b.Transfer(rank, rank-1, unit.MB, b.Compute(rank, backward, Computing))
			}
		}
	}
	d, err := b.Seal()
	if err != nil {
		t.Fatal(err)
	}
	if slow := SlowOps(d.Ops); len(slow) > 0 {
		t.Errorf("%v", slow)
	}
}
