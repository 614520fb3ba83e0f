package interference

import (
	"context"
	"math"
	"testing"

	"railyard/internal/scenario"
	"railyard/internal/study"
)

const jobs = `
name: jobs
fabric: {kind: rail-only, hosts: 4, host_link: {rate: 100Gbps}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
jobs:
  - {name: a, gpus: 2, traffic: {incast: {fan_in: 1, bytes: 8MB}}}
  - {name: b, gpus: 2, traffic: {incast: {fan_in: 1, bytes: 4MB}}}
`

// Jobs that share no port take as long as alone, to the picosecond, and the result lists no meetings.
func TestApart(t *testing.T) {
	again := func(uint64) (*scenario.Plan, error) {
		d, err := scenario.Parse("jobs", []byte(jobs), nil)
		if err != nil {
			return nil, err
		}
		return d.Resolve(nil)
	}
	plan, err := again(0)
	if err != nil {
		t.Fatal(err)
	}
	x, err := Simulate(context.Background(), &study.Pool{Workers: 2}, plan, 1, again)
	if err != nil || len(x.Jobs) != 2 || len(x.Meetings) != 0 || x.Lost() {
		t.Fatalf("%+v, %v", x, err)
	}
	for _, j := range x.Jobs {
		if j.Alone <= 0 || j.Alone != j.Together || j.Slowdown != 1 || j.GPUs != 2 || j.Messages.P99 != 1 {
			t.Errorf("%+v", j)
		}
	}
	if long, short := x.Jobs[0].Alone, x.Jobs[1].Alone; math.Abs(float64(long)/float64(short)-2) > 0.02 {
		t.Errorf("8 MB take %d ps, 4 MB %d", long, short)
	}
}
