package fidelity

import (
	"fmt"

	"railyard/internal/flows"
	"railyard/internal/result"
	"railyard/internal/scenario"
)

// flow simulates messages as flows that share links.
var flow = Fidelity{Name: flows.Name, Words: "messages as flows that share links fairly", Before: packet.Before,
	Offer: "faster and approximate", Refuse: flows.Refuse,
	Prepare: func(p *scenario.Plan) (Cost, func() (Run, error)) { return asFlows(p, 0) }}

// asFlows prepares a run of flows. auto has chosen it because of the given packet-hops; 0: not chosen by auto.
func asFlows(p *scenario.Plan, instead int64) (Cost, func() (Run, error)) {
	c := flows.Estimate(p)
	words := fmt.Sprintf("%s messages as flows, %s of memory, about %s", round(float64(c.Messages)),
		memory(c.Memory), duration(c.Seconds+c.Causes))
	cost := Cost{Memory: c.Memory, Seconds: c.Seconds, Causes: c.Causes, Ahead: c.Ahead, Words: words}
	return cost, func() (Run, error) {
		r, err := flows.Build(p, c)
		if err != nil {
			return nil, err
		}
		e := Expect(p)
		return &flowRun{r, &result.Expected{Worst: e.Worst, Mean: e.Mean, Cases: e.Rows, Of: e.Of,
			PacketHops: instead}}, nil
	}
}

// flowRun is a run of flows whose summary has the error to expect.
type flowRun struct {
	*flows.Run
	expected *result.Expected
}

// Outcome adds the expected error.
func (r *flowRun) Outcome(version string) (*result.Summary, *result.Tables, []string) {
	s, t, limits := r.Run.Outcome(version)
	s.Expected = r.expected
	return s, t, limits
}
