package main

import (
	"errors"
	"fmt"
	"time"

	"railyard/internal/planner"
	"railyard/internal/scenario"
	"railyard/unit"
)

// lockup is what plan fabric --check says of a design.
type lockup struct {
	GPUs    int     `json:"gpus"`
	Routing string  `json:"lb"`
	Ring    string  `json:"ring,omitempty"` // of buffers that may wait for one another
	Seconds float64 `json:"seconds"`
}

// check loads a design's scenario and looks whether pauses could deadlock in it.
func check(d *planner.Design) (*lockup, error) {
	began := time.Now()
	doc, err := scenario.Parse(d.Name, []byte(d.Scenario), nil)
	if err != nil {
		return nil, err
	}
	plan, err := doc.Network(func(string) ([]byte, error) { return nil, errors.New("no file is named") })
	if err != nil {
		return nil, err
	}
	return &lockup{plan.Graph.TotalGPUs(), plan.LB.Name, plan.Ring(), time.Since(began).Seconds()}, nil
}

// words say what was found.
func (l *lockup) words() string {
	if l.Ring != "" {
		return fmt.Sprintf("with lb %s pauses can deadlock: %s", l.Routing, l.Ring)
	}
	return fmt.Sprintf("no deadlock by pauses among %s with lb %s, whatever the load (%.1f s to look)",
		unit.Plural(l.GPUs, "GPU"), l.Routing, l.Seconds)
}
