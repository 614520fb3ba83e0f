package fidelity

import (
	"errors"
	"strings"
	"testing"

	"railyard/internal/scenario"
	"railyard/unit"
)

// Fidelities are found by their names; the error of an unknown name lists them.
func TestLookup(t *testing.T) {
	for _, f := range All {
		if got, err := Lookup(f.Name); got != f || err != nil || f.Words == "" {
			t.Errorf("%s: %v, %v", f.Name, got, err)
		}
	}
	if All[0].Name != Default {
		t.Errorf("the usual one is %s, not %s", Default, All[0].Name)
	}
	if _, err := Lookup("photon"); err == nil || !strings.Contains(err.Error(), `"photon"; there is packet`) {
		t.Error(err)
	}
}

// still is a run of zero time.
type still struct{ Run }

// Another fidelity is a line in the table.
func TestAnother(t *testing.T) {
	defer func(all []*Fidelity) { All = all }(All)
	All = append([]*Fidelity{{Name: "still", Words: "nothing moves",
		Prepare: func(*scenario.Plan) (Cost, func() (Run, error)) {
			return Cost{Memory: unit.MB, Words: "none"}, func() (Run, error) { return still{}, nil }
		}}}, All...)
	s, err := New("still", nil, unit.GB)
	if _, ok := s.Run.(still); !ok || err != nil || s.Limit != unit.GB || s.Cost.Words != "none" {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := New("still", nil, 1); err == nil {
		t.Error("a megabyte within a byte")
	}
	if _, err := New("photon", nil, 0); err == nil || !strings.Contains(err.Error(), "still, packet") {
		t.Error(err)
	}
}

const huge = `
name: huge
fabric: {kind: fat-tree, k: 16, host_link: {rate: 400Gbps, delay: 1us}}
workload: {traffic: {alltoall: {bytes: 1MB}}}
`

// A run beyond the limit is rejected before it is built.
func TestRefusedForMemory(t *testing.T) {
	d, err := scenario.Parse("huge.yaml", []byte(huge), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var refused *ErrMemory
	_, err = New(Default, p, 2*unit.GB)
	if !errors.As(err, &refused) || refused.Need < 3*unit.GB || refused.Have != 2*unit.GB {
		t.Errorf("a million flows within 2 GB: %v", err)
	}
}

// A run of flows records the switch ports of each hashed path: wherever packets queued is on it.
func TestPathsOfFlows(t *testing.T) {
	ports := func(fidelity string) map[[2]int32]bool {
		d, err := scenario.Parse("eight.yaml", []byte(huge), []string{"fabric.k=4", "fidelity=" + fidelity})
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(fidelity, p, 0)
		if err == nil {
			err = s.Run.Go(nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, tables, _ := s.Run.Outcome("test")
		out := map[[2]int32]bool{}
		for _, row := range tables.Paths {
			if row.Packets == 0 || fidelity == "flow" && row.Wait != 0 {
				t.Errorf("%s: %+v", fidelity, row)
			}
			out[[2]int32{row.QP, row.Port}] = true
		}
		return out
	}
	queued, path := ports("packet"), ports("flow")
	if len(queued) == 0 {
		t.Fatal("no packet queued")
	}
	for at := range queued {
		if !path[at] {
			t.Errorf("packets of queue pair %d queued at port %d, which is not on its path", at[0], at[1])
		}
	}
}
